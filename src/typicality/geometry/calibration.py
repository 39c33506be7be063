"""p-values: the rank of a row among reference rows."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from typicality._quantiles import unit_of_weight
from typicality._typing import Doubles, Floats
from typicality.geometry.scores import KnownRows
from typicality.sums.base import row_sums

_ENTRIES_AT_ONCE = 2**20  # of the matrix of kernel values
_STEPS = 1024


class Calibration(NamedTuple):
    r"""Sums of reference rows, with which the sums of new rows are compared.

    .. math:: p(x) = \frac{1 + \#\{i : S_i \le S(x)\}}{n + 1}

    The sums of reference rows are lower bounds and those of new rows upper bounds, so errors of
    fast sums make p-values larger, never smaller.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    log_sums : array of shape (m,)
        Lower bounds of the logarithms of the sums, or of other scores.
    copies : array of shape (m,)
        How many rows each stands for.
    of_fit : bool
        Whether the reference rows are those that were fitted, each left out of its own sum; if
        not, they took no part in the fit.
    """

    log_sums: Annotated[Doubles, "_m"]
    copies: Annotated[Floats, "_m"]
    of_fit: bool

    @property
    def n_rows(self) -> float:
        """The number of reference rows, copies counted."""
        return float(self.copies.sum(dtype=np.float64) / unit_of_weight(self.copies))

    def p_values(self, above: Doubles) -> Doubles:
        """p-values of new rows, given upper bounds of their sums. Costs a sort."""
        order = np.argsort(self.log_sums)
        upto = np.append(0.0, np.cumsum(self.copies[order], dtype=np.float64))
        return self._shares(upto[np.searchsorted(self.log_sums[order], above, side="right")])

    def full_p_values(
        self, known: KnownRows, rows: Floats, above: Doubles, weight: Doubles
    ) -> Doubles:
        r"""p-values for which each new row, with its weight, also enters the sums of the others.

        .. math:: p(x) = \frac{1 + \#\{i : S_i + w(x) K(x_i, x) \le S(x)\}}{n + 1}

        Costs O(n d) a row.
        """
        counts = np.empty(len(rows))
        with np.errstate(divide="ignore"):  # of weight 0
            log_weight = np.log(weight)[:, None]
        step = max(1, _ENTRIES_AT_ONCE // known.columns.n_training)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            log_terms = log_weight[some] + known.columns.log_kernel(rows[some])
            augmented = np.logaddexp(self.log_sums, log_terms)
            at_most = (augmented <= above[some, None]).astype(np.float64)
            counts[some] = row_sums(at_most, self.copies[:, None])[:, 0]
        return self._shares(counts)

    def thinned(self) -> "Calibration":
        """The same in at most 2,048 steps, for small models: p-values are never smaller.

        The 1,024 smallest sums stay. Others are counted in groups, each at its smallest sum; so
        p-values are larger by less than 2 % for up to 1e11 rows.
        """
        kept = np.flatnonzero(self.copies > 0)
        order = kept[np.argsort(self.log_sums[kept])]
        starts = np.arange(len(order))
        if len(order) > 2 * _STEPS:
            spaced = np.geomspace(_STEPS, len(order), _STEPS + 1)[:-1].astype(np.intp)
            starts = np.unique(np.append(np.arange(_STEPS), spaced))
        copies = self.copies[order].astype(np.float64) / unit_of_weight(self.copies)
        sums = self.log_sums[order][starts]
        return Calibration(sums, np.add.reduceat(copies, starts), self.of_fit)

    def _shares(self, counts: Doubles) -> Doubles:
        unit = unit_of_weight(self.copies)
        return np.asarray((unit + counts) / (unit + self.copies.sum(dtype=np.float64)))


def split_copies(n_rows: int, sample_weight: Floats | None, random: Any) -> tuple[Any, Any]:
    """Two random halves of the rows: how many copies of each row are in the first and the second.

    Places are drawn, whatever the rows hold, so that the halves of exchangeable rows are
    exchangeable for any seed. A row of weight k is drawn like k equal rows that follow one another.
    """
    copies = np.ones(n_rows, np.int64) if sample_weight is None else sample_weight.astype(np.int64)
    total = int(copies.sum())
    drawn = np.repeat(np.arange(n_rows), copies)[random.permutation(total)[: total // 2]]
    second = np.bincount(drawn, minlength=n_rows)
    return copies - second, second.astype(np.float64)


def false_alarm_interval(rate: float, copies: Floats) -> tuple[float, float]:
    r"""Where the false alarms of a threshold lie with probability .95, of one set of n rows.

    The threshold is the j-th smallest of n scores, :math:`j = r (n + 1)` but at least 1, so a new
    row falls below it with a probability that is Beta(j, n + 1 - j) over sets of rows.
    """
    n_rows = float(copies.sum(dtype=np.float64)) / unit_of_weight(copies)
    rank = min(max(rate * (n_rows + 1.0), min(1.0, n_rows)), n_rows)
    low, high = betaincinv(rank, n_rows + 1.0 - rank, [0.025, 0.975])
    return float(low), float(high)
