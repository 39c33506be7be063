"""The density of all rows: leave-one-out scores, and p-values."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from typicality._cached import cached_property
from typicality._tensors import array_of
from typicality._typing import Doubles, Floats
from typicality.rows.quantiles import unit_of_weight, weighted_quantile
from typicality.spaces.gram import ExpandedPrototypes, Gram, KernelPrototypes, sqdist_of_products
from typicality.sums import Columns, has_compiled_sums
from typicality.sums.base import row_sums
from typicality.sums.dense import gather
from typicality.sums.tails import ExactTails

_SAME_PLACE = {8: 1e-9, 4: 1e-5}  # of the spread of the data, by the bytes of a number
_ROUNDING = 1e-12  # of sums in double precision
_TAILS = 2e-10  # of sums in logarithms, which leave out what is less
_NEARLY_ONE = 0.999
_WHOLE_WEIGHT = 1.0 - 1e-12  # without a row of this weight nothing would be left
_WELL_ABOVE = 2e3  # times the error of a sum: then its logarithm is off by 5e-4 at the most
_ENTRIES_AT_ONCE = 2**20  # of the matrix of kernel values
_STEPS = 1024


class Scored(NamedTuple):
    """Scores of rows, and how well they are known.

    Parameters
    ----------
    scores : array of shape (n,)
        Log s, or -d / eta where rows do not lie on a sphere.
    error : array of shape (n,)
        The largest error of the logarithms of the sums.
    unit : array of shape (n,)
        The weight that was left out of the sum.
    apart : array of shape (n,), optional
        The weighted means of one minus the kernel, nothing left out, where fast sums gave them:
        typicalities follow from them without another pass.
    """

    scores: Doubles
    error: Doubles
    unit: Doubles
    apart: Doubles | None = None

    @property
    def least(self) -> Doubles:
        """Lower bounds of the logarithms of the sums, which are not divided by 1 - w."""
        return self.scores + np.log1p(-self.unit) - self.error


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    r"""One weighted mean of training rows, and scores of rows against it.

    A new row is scored plainly. A row that coincides with a training row is scored without one unit
    of the weight of that row,

    .. math:: s(x) = \frac{\sum_r w_r K(x, x_r) - w K(x, x)}{1 - w},

    where w is the weight of one copy: so a training row gets its leave-one-out score, alone or in
    any batch, and training rows and new rows of one source have the same distribution of scores.
    (A weight below one is left out as a whole; a row that has all the weight is not left out.)

    Sums have an error. Where s is not well above it, the row is summed again over the other rows,
    in the domain of logarithms: so outliers are ranked by their true scores.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    mean : ExpandedPrototypes
        The mean, a single prototype. A compressed one has forgotten the training rows: all rows are
        scored as new ones, and not below the logarithm of the promise.
    eta : float
        The spread.
    copies : array of shape (n,)
        How many copies each training row stands for.
    nearest : float
        Half a squared distance; what is nearer coincides with a training row, but for rounding.
    rtol : float, optional
        The promise of the products of the iterations; None where each row is compared with all.
    """

    mean: ExpandedPrototypes
    eta: float
    copies: Annotated[Doubles, "_n"]
    nearest: float
    rtol: float | None

    @classmethod
    def of(cls, mean: KernelPrototypes, space: Gram, eta: float) -> Self:
        """The scores against a mean of the rows of a space.

        The promise of the sums is finer than that of the iterations: so few rows have sums that say
        nothing of them.
        """
        columns, weight, n_rows = space.columns, space.sample_weight, len(space.X)
        copies = np.broadcast_to(1.0, n_rows) if weight is None else weight.astype(np.float64)
        share = _SAME_PLACE[space.dtype.itemsize] ** columns.order
        nearest = share * space.total_variance + columns.distance_error
        exact = mean.operator.exact_at_rows or not has_compiled_sums(columns)
        rtol = None if exact else mean.operator.rtol
        return cls(mean.for_prediction(rtol=space.tolerance.tails), eta, copies, nearest, rtol)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tails"}

    @property
    def columns(self) -> Columns | None:
        """The kernel against the training rows; None of a compressed model."""
        return None if self.mean.source is None else self.mean.source[0]

    @property
    def weights(self) -> Doubles:
        """The weights of the training rows in the mean, shape (n, 1)."""
        return self.mean.source[1]

    def compress(self, rtol: float) -> Self:
        """The same but for `rtol` in s, without most of the training rows."""
        return replace(self, mean=self.mean.compress(rtol), copies=np.empty(0))

    # ---- scores ----------------------------------------------------------------------------------

    def scores(self, rows: Floats) -> Doubles:
        """Log s where rows lie on a sphere, else the logarithm of the typicality, -d / eta."""
        return self.judge(rows).scores

    def scores_and_bounds(self, rows: Floats) -> tuple[Doubles, Doubles]:
        """Scores, and upper bounds of the logarithms of the sums of the same rows as new rows."""
        found = self.judge(rows)
        above = found.scores + found.error
        known = np.flatnonzero(found.unit)
        if len(known):
            as_new = self.judge(rows[known], new=True)
            above[known] = as_new.scores + as_new.error
        return found.scores, above

    def judge(self, rows: Floats, *, new: bool = False) -> Scored:
        """Scores of rows, and their errors; those of `new` rows with no copy left out."""
        nearest = -1.0 if new else self.nearest
        if self.columns is None:
            return self._by_floor(rows)
        if not self.columns.on_sphere:
            scores = -self._sqdist(rows, nearest) / self.eta
            return Scored(scores, _ROUNDING * np.abs(scores), np.zeros(len(rows)))
        if self.rtol is None:
            scores, unit = gather(self.columns, rows, lambda some: self._by_pairs(some, nearest)).T
            return Scored(scores, _ROUNDING * np.abs(scores + np.log1p(-unit)), unit)
        unit = np.zeros(len(rows))
        if nearest >= 0:
            unit = self._left_out(*self._tails.coincidences(rows))
        return self._by_sums(rows, unit)

    def _left_out(self, own: Doubles, copies: Doubles) -> Doubles:
        """The weight of one copy of rows that coincide, given their weight and number of copies."""
        one = min(1.0, float(self.copies.max()))
        unit = np.asarray(own * (one / np.maximum(copies, one)))
        unit[unit >= _WHOLE_WEIGHT] = 0.0
        return unit

    def _by_floor(self, rows: Floats) -> Scored:
        sums = self.mean.sums
        apart = sums.at(rows, complement=True)[:, 0]
        scores = np.log(np.maximum(1.0 - apart, sums.rtol))
        return Scored(scores, np.log1p(sums.rtol - apart) - scores, np.zeros(len(rows)))

    def _sqdist(self, rows: Floats, nearest: float) -> Doubles:
        """Squared distances to the mean without the row, in a space that is no sphere.

        Without a weight w of the row itself the mean moves away from it by the factor 1 / (1 - w).
        """
        columns: Any = self.columns

        def of_block(some: Floats) -> Floats:
            half_sqdist = columns.half_sqdist(some)
            _, unit = self._here(half_sqdist <= nearest)
            products = row_sums(half_sqdist, self.weights)
            sqdist: Floats = sqdist_of_products(products, self.mean.energy)[:, 0]
            return sqdist / (1.0 - unit) ** 2

        return np.asarray(gather(columns, rows, of_block))

    def _here(self, coincides: NDArray[np.bool_]) -> tuple[Doubles, Doubles]:
        """The weight of the training rows a row coincides with, and the part that is left out."""
        there = coincides.astype(np.float64)
        each = (self.weights, self.copies[:, None])
        own, copies = (np.asarray(row_sums(there, w)[:, 0], np.float64) for w in each)
        return own, self._left_out(own, copies)

    def _by_pairs(self, rows: Floats, nearest: float) -> Floats:
        """Log s without one copy of a row, and the weight of that copy; shape (len(rows), 2)."""
        columns: Any = self.columns
        log_kernel, weights = columns.log_kernel(rows), self.weights
        known = np.flatnonzero(log_kernel.max(axis=1) >= -nearest)
        own, unit = np.zeros(len(rows)), np.zeros(len(rows))
        if len(known):
            coincides = log_kernel[known] >= -nearest
            own[known], unit[known] = self._here(coincides)
            # Their weight is put in afterwards: taken out of a sum it would take the tail along.
            log_kernel[known] = np.where(coincides, -np.inf, log_kernel[known])
        log_kernel[:, weights[:, 0] == 0] = -np.inf
        highest = log_kernel.max(axis=1)
        highest[~np.isfinite(highest)] = 0.0
        with np.errstate(divide="ignore", under="ignore"):
            sums = row_sums(np.exp(log_kernel - highest[:, None]), weights)[:, 0]
            log_sums = np.logaddexp(highest + np.log(sums), np.log(np.maximum(own - unit, 0.0)))
        scores = log_sums - np.log1p(-unit)
        near = np.flatnonzero(scores > np.log(0.5))
        if len(near):  # one minus a small number: the logarithm of the sum would be rounding
            others = np.where(np.isfinite(log_kernel[near]), log_kernel[near], 0.0)
            apart = row_sums(-np.expm1(others), weights)[:, 0]
            scores[near] = np.log1p(-apart / (1.0 - unit[near]))
        return np.column_stack([scores, unit])

    def _by_sums(self, rows: Floats, unit: Doubles) -> Scored:
        """The same by fast sums, exact where these say nothing."""
        scores, error, well_known, apart = self._fast(rows, unit)
        low = np.flatnonzero(~well_known)
        if len(low):
            scores[low], error[low], _ = self._exact(rows[low], unit[low])
        return Scored(scores, error, unit, apart)

    def _fast(
        self, rows: Floats, unit: Doubles
    ) -> tuple[Doubles, Doubles, NDArray[np.bool_], Doubles]:
        """Scores, errors, where they are well known, and `apart`; other scores are upper bounds."""
        sums = self.mean.sums
        similarity = np.asarray(sums.at(rows)[:, 0], np.float64)
        apart = 1.0 - similarity
        error = np.asarray(sums.error(similarity) + _ROUNDING * similarity)
        without, least = similarity - unit, _WELL_ABOVE * error
        well_known = without > least
        np.maximum(without, least, out=without)
        scores, error = np.log(without) - np.log1p(-unit), -np.log1p(-error / without)
        near = np.flatnonzero(well_known & (similarity > _NEARLY_ONE))
        if len(near):  # one minus a small number: the logarithm of the sum would be rounding
            apart[near] = small = sums.at(rows[near], complement=True)[:, 0]
            scores[near] = np.log1p(-small / (1.0 - unit[near]))
            error[near] = -np.log1p(-(sums.rtol + _ROUNDING * small) / (1.0 - small - unit[near]))
        return scores, error, well_known, apart

    def _exact(self, rows: Floats, unit: Doubles) -> tuple[Doubles, Doubles, bool]:
        """The same in the domain of logarithms, however small the sums are."""
        log_others, own, _ = self._tails.log_sums(rows)
        with np.errstate(divide="ignore"):
            log_sums = np.logaddexp(log_others, np.log(np.maximum(own - unit, 0.0)))
        return log_sums - np.log1p(-unit), _TAILS + _ROUNDING * np.abs(log_sums), True

    @cached_property
    def _tails(self) -> ExactTails:
        columns: Any = self.columns
        return ExactTails(columns, self.weights[:, 0], self.copies, nearest=self.nearest)

    # ---- the training rows -----------------------------------------------------------------------

    def calibrate(
        self, rows: Floats, rate: float, products: Floats
    ) -> tuple[float, Doubles | None]:
        """The score below which a share of the training rows is, and their sums, if at hand.

        By the products of the last iteration, where these know the scores well enough. Rows of
        which they give but a bound are summed again, unless they are below the quantile anyway.
        """
        if self.rtol is None:
            found = self.judge(rows)
            return self._quantile(found.scores, rate), self._of_others(found)
        least = _WELL_ABOVE * (self.rtol + _ROUNDING)
        unit = self._left_out(*self._tails.coincidences_of_rows())
        apart = array_of(products) / (1.0 - unit)
        well_known = 1.0 - apart > least
        scores = np.log1p(-np.where(well_known, apart, 1.0 - least))
        for sharper in (self._fast, self._exact):
            with np.errstate(invalid="ignore"):  # between two of the lowest
                quantile = self._quantile(np.where(well_known, scores, -np.inf), rate)
            doubtful = np.flatnonzero(~well_known & ~(scores < quantile))
            if not len(doubtful):
                return quantile, None
            scores[doubtful], _, well_known[doubtful], *_ = sharper(rows[doubtful], unit[doubtful])
        return self._quantile(scores, rate), None

    def reference(self) -> Doubles:
        """Lower bounds of the logarithms of the sums of the training rows over the other rows."""
        unit = self._left_out(*self._tails.coincidences_of_rows())
        columns: Any = self.columns
        return self._of_others(self._by_sums(columns.training, unit))

    def _of_others(self, found: Scored) -> Doubles:
        """The sum of a row that has all the weight is nothing: nothing was left out of it."""
        if self.columns is None or not self.columns.on_sphere:
            return found.least
        return np.where((found.unit == 0.0) & (self.weights[:, 0] > 0.0), -np.inf, found.least)

    def _quantile(self, scores: Doubles, rate: float) -> float:
        weight = None if (self.copies == 1.0).all() else self.copies
        return weighted_quantile(scores, rate, weight)


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
        self, columns: Columns, rows: Floats, above: Doubles, weight: Doubles
    ) -> Doubles:
        r"""p-values for which each new row, with its weight, also enters the sums of the others.

        .. math:: p(x) = \frac{1 + \#\{i : S_i + w(x) K(x_i, x) \le S(x)\}}{n + 1}

        Costs O(n d) a row.
        """
        counts = np.empty(len(rows))
        with np.errstate(divide="ignore"):  # of weight 0
            log_weight = np.log(weight)[:, None]
        step = max(1, _ENTRIES_AT_ONCE // columns.n_training)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            log_terms = log_weight[some] + columns.log_kernel(rows[some])
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


def false_alarm_interval(rate: float, copies: Floats) -> tuple[float, float]:
    r"""Where the false alarms of a threshold lie with probability .95, of one set of n rows.

    The threshold is the j-th smallest of n scores, :math:`j = r (n + 1)` but at least 1, so a new
    row falls below it with a probability that is Beta(j, n + 1 - j) over sets of rows.
    """
    n_rows = float(copies.sum(dtype=np.float64)) / unit_of_weight(copies)
    rank = min(max(rate * (n_rows + 1.0), min(1.0, n_rows)), n_rows)
    low, high = betaincinv(rank, n_rows + 1.0 - rank, [0.025, 0.975])
    return float(low), float(high)


def without_lowest(scores: Doubles, weight: Doubles, share: float) -> Doubles:
    """The weights, with 0 for the rows of the lowest scores, up to a share of all weight.

    Rows with equal scores are all kept or all left out, so weight k is k copies.
    """
    order = np.argsort(scores)
    upto = np.cumsum(weight[order])
    first = int(np.searchsorted(upto, share * upto[-1] * (1.0 + _ROUNDING), side="right"))
    lowest = scores[order[first]]
    return np.where(scores < lowest - _ROUNDING * max(1.0, abs(lowest)), 0.0, weight)
