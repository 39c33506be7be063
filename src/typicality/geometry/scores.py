"""Leave-one-out scores: how typical a row is of the other rows."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from typicality._cached import cached_property
from typicality._quantiles import weighted_quantile
from typicality._tensors import array_of
from typicality._threads import over_blocks
from typicality._typing import Doubles, Floats, Places
from typicality.spaces.gram import (
    ExpandedPrototypes,
    KernelPrototypes,
    sqdist_of_products,
)
from typicality.sums import Columns, has_compiled_sums
from typicality.sums.base import row_sums
from typicality.sums.dense import gather
from typicality.sums.tails import ExactTails

_SAME_PLACE = {8: 1e-9, 4: 1e-5}  # of the spread of the data, by the bytes of a number
BLOCK_ROWS = 2**17  # of work over threads: longer than what Python does between the arrays
_ROUNDING = 1e-12  # of sums in double precision
_TAILS = 2e-10  # of sums in logarithms, which leave out what is less
_NEARLY_ONE = 0.999
_WHOLE_WEIGHT = 1.0 - 1e-12  # without a row of this weight nothing would be left
_WELL_ABOVE = 2e3  # times the error of a sum: then its logarithm is off by 5e-4 at the most


class KnownRows(NamedTuple):
    """The training rows of a mean, and how a row is recognised as one of them.

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    weights : array of shape (n,)
        Their weights in the mean.
    copies : array of shape (n,)
        How many copies each stands for.
    nearest : float
        Half a squared distance; what is nearer coincides, but for rounding.
    """

    columns: Columns
    weights: Annotated[Doubles, "n"]
    copies: Annotated[Doubles, "n"]
    nearest: float

    def left_out_weight(self, own: Floats, copies: Floats) -> Floats:
        """The weight that is left out, of rows that coincide with a weight and so many copies.

        The result takes the place of `copies`.
        """
        one = min(1.0, float(self.copies.max()))
        unit = np.maximum(copies, one, out=copies)
        np.divide(one, unit, out=unit)
        unit *= own
        unit[unit >= _WHOLE_WEIGHT] = 0.0
        return unit

    def without_lone_row(self, log_sums: Doubles, unit: Floats) -> Doubles:
        """The sum of a row that has all the weight is nothing, and nothing was left out of it."""
        return np.where((unit == 0.0) & (self.weights > 0.0), -np.inf, log_sums)

    def quantile(self, values: Doubles, rate: float) -> float:
        """The quantile of a value of each of them."""
        weight = None if (self.copies == 1.0).all() else self.copies
        return weighted_quantile(values, rate, weight)


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    r"""One weighted mean of training rows, and scores of rows against it.

    A new row is scored plainly. A row that coincides with a training row is scored without one unit
    of the weight of that row,

    .. math:: s(x) = \frac{\sum_r w_r K(x, x_r) - w K(x, x)}{1 - w},

    where w is the weight of one copy: so a training row gets its leave-one-out score, alone or in
    any batch, and training rows and new rows of one source have the same distribution of scores.
    (A weight below one is left out as a whole; a row that has all the weight is not left out.)

    Every row is compared with all training rows; :class:`FastLeaveOneOut` spares most of that.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    mean : ExpandedPrototypes
        The mean, a single prototype.
    known : KnownRows
        The training rows that make it up.
    """

    mean: ExpandedPrototypes
    known: KnownRows

    @property
    def _columns(self) -> Columns:
        return self.known.columns

    def calibrate(
        self, rows: Floats, eta: float, rate: float, products: Floats
    ) -> tuple[float, Doubles | None]:
        """The score below which a share of the training rows is, and their `reference`."""
        scores, reference, unit = self._judge(rows, eta)
        return self.known.quantile(scores, rate), self.known.without_lone_row(reference, unit)

    def judge(self, rows: Floats, eta: float) -> tuple[Doubles, Doubles]:
        """Scores, and lower bounds of the logarithms of sums; training rows without a copy."""
        return self._judge(rows, eta)[:2]

    def _judge(self, rows: Floats, eta: float) -> tuple[Doubles, Doubles, Doubles]:
        if not self._columns.on_sphere:
            scores = self.scores(rows, eta)
            return scores, _below(scores), np.ones(len(scores))
        scores, unit = self._gather(rows, self._log_similarity).T
        return scores, _below(scores + np.log1p(-unit)), unit

    def scores(self, rows: Floats, eta: float) -> Doubles:
        """Log s where rows lie on a sphere, else the logarithm of the typicality, -d / eta."""
        if self._columns.on_sphere:
            return self._gather(rows, self._log_similarity)[:, 0]  # far rows are still told apart
        return -self.sqdist(rows) / eta

    def plain(self) -> Self:
        """The same scores where no row is taken for a training row."""
        return replace(self, known=self.known._replace(nearest=-np.inf))

    def bounds(self, rows: Floats, eta: float) -> tuple[Doubles, Doubles]:
        scores = self.plain().scores(rows, eta)
        return _below(scores), -_below(-scores)

    def compress(self, rtol: float) -> "CompressedScores":
        """The same but for `rtol` in s, without most of the training rows."""
        return CompressedScores(self.mean.compress(rtol))

    def sqdist(self, rows: Floats) -> Doubles:
        """Squared distances to the mean without the row.

        Without a weight w of the row itself the mean moves away from it by the factor 1 / (1 - w).
        """
        return self._gather(rows, self._sqdist)

    def _gather(self, rows: Floats, of_rows: Any) -> Doubles:
        return np.asarray(gather(self._columns, rows, of_rows), dtype=np.float64)

    @property
    def _weights(self) -> Doubles:
        return self.known.weights[:, None]

    def _unit(self, coincides: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The weight of the training rows a row coincides with, and the part that is left out."""
        own = row_sums(coincides.astype(np.float64), self._weights)[:, 0]
        copies = row_sums(coincides.astype(np.float64), self.known.copies[:, None])[:, 0]
        return own, self.known.left_out_weight(own, copies)

    def _sqdist(self, rows: Floats) -> Floats:
        half_sqdist = self._columns.half_sqdist(rows)
        _, unit = self._unit(half_sqdist <= self.known.nearest)
        products = row_sums(half_sqdist, self._weights)
        sqdist: Doubles = sqdist_of_products(products, self.mean.energy)[:, 0]
        return sqdist / (1.0 - unit) ** 2

    def _log_similarity(self, rows: Floats) -> Floats:
        """Log s without one copy of a row, and the weight of that copy; shape (len(rows), 2)."""
        log_kernel = self._columns.log_kernel(rows)
        known = np.flatnonzero(log_kernel.max(axis=1) >= -self.known.nearest)
        own, unit = np.zeros(len(rows)), np.zeros(len(rows))
        if len(known):
            coincides = log_kernel[known] >= -self.known.nearest
            own[known], unit[known] = self._unit(coincides)
            # Their weight is put in afterwards: taken out of a sum it would take the tail along.
            log_kernel[known] = np.where(coincides, -np.inf, log_kernel[known])
        log_kernel[:, self._weights[:, 0] == 0] = -np.inf
        with np.errstate(divide="ignore"):
            log_own = np.log(np.maximum(own - unit, 0.0))
        scores = np.logaddexp(_log_sum(log_kernel, self._weights), log_own) - np.log1p(-unit)
        near = np.flatnonzero(scores > np.log(0.5))
        if len(near):  # one minus a small number: the logarithm of the sum would be rounding
            others = np.where(np.isfinite(log_kernel[near]), log_kernel[near], 0.0)
            apart = row_sums(-np.expm1(others), self._weights)[:, 0]
            scores[near] = np.log1p(-apart / (1.0 - unit[near]))
        return np.column_stack([scores, unit])


def _below(logarithms: Doubles) -> Doubles:
    """A little less: what rounding may have added to them."""
    return logarithms - _ROUNDING * np.abs(logarithms)


def _log_sum(exponents: Floats, weights: Doubles) -> Floats:
    """Log of the weighted sums of exponentials along rows, each row by itself."""
    highest = exponents.max(axis=1)
    finite = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        sums = row_sums(np.exp(exponents - finite[:, None]), weights)[:, 0]
        return np.asarray(finite + np.log(sums))


@dataclass(frozen=True, eq=False)
class FastLeaveOneOut:
    r"""The same scores from the sums of a fast operator, exact where those say nothing.

    An isolated row has s of one row's worth or less, of which a promise relative to the total
    weight says nothing: where s is not well above the error of the sum, it is summed again over the
    rows that matter, in the domain of logarithms. So outliers are ranked by their true scores.

    Parameters
    ----------
    mean : ExpandedPrototypes
        The mean, a single prototype.
    known : KnownRows
        The training rows that make it up, under a kernel of a distance with compiled sums.
    iterations_rtol : float
        The promise of the products of the iterations.
    """

    mean: ExpandedPrototypes
    known: KnownRows
    iterations_rtol: float

    def __getstate__(self) -> dict[str, Any]:
        not_kept = ("_tails",)
        return {name: value for name, value in vars(self).items() if name not in not_kept}

    @cached_property
    def _tails(self) -> ExactTails:
        known: Any = self.known
        return ExactTails(known.columns, known.weights, known.copies, nearest=known.nearest)

    def scores(self, rows: Floats, eta: float) -> Doubles:
        """Log s; `eta` is for spaces where rows do not lie on a sphere."""
        return self._scores(rows, self.mean.sums.at(rows)[:, 0])

    def scores_and_bounds(
        self, rows: Floats, eta: float
    ) -> tuple[Doubles, tuple[Doubles, Doubles]]:
        """Both from the same sums."""
        similarity = self.mean.sums.at(rows)[:, 0]
        return self._scores(rows, similarity), self._bounds(rows, np.zeros(len(rows)), similarity)

    def judge(self, rows: Floats, eta: float) -> tuple[Doubles, Doubles]:
        """Scores, and lower bounds of the logarithms of sums; training rows without a copy."""
        similarity = self.mean.sums.at(rows)[:, 0]
        unit = self.known.left_out_weight(*self._tails.coincidences(rows))
        below, _ = self._bounds(rows, unit, similarity)
        return self._scores(rows, similarity, unit), below

    def _scores(self, rows: Floats, similarity: Floats, unit: Floats | None = None) -> Doubles:
        if unit is None:
            unit = self.known.left_out_weight(*self._tails.coincidences(rows))
        scores, low = self._quick_scores(rows, unit, similarity)
        if len(low):
            scores[low] = self._exact(rows[low], unit[low]) - np.log1p(-unit[low])
        return scores

    def plain(self) -> Self:
        """The same scores where no row is taken for a training row."""
        return replace(self, known=self.known._replace(nearest=-1.0))  # 1 - K is never so little

    def reference(self) -> Doubles:
        """Lower bounds of the logarithms of the sums of the training rows over the other rows."""
        unit = self.known.left_out_weight(*self._tails.coincidences_of_rows())
        rows = self._tails.columns.training
        below, _ = self._bounds(rows, unit, self.mean.sums.at(rows)[:, 0])
        return self.known.without_lone_row(below, unit)

    def bounds(self, rows: Floats, eta: float) -> tuple[Doubles, Doubles]:
        return self._bounds(rows, np.zeros(len(rows)), self.mean.sums.at(rows)[:, 0])

    def _bounds(self, rows: Floats, unit: Floats, similarity: Floats) -> tuple[Doubles, Doubles]:
        """Bounds of the logarithms of sums without a unit of weight."""
        sums = self.mean.sums
        error = sums.error(similarity) + _ROUNDING * similarity
        without = similarity - unit
        well_known = without > _WELL_ABOVE * error
        low = np.flatnonzero(~well_known)
        without[low], error[low] = 1.0, 0.0  # summed again below
        below, above = np.log(without - error), np.log(without + error)
        near = np.flatnonzero(well_known & (similarity > _NEARLY_ONE))
        if len(near):  # one minus a small number: the logarithm of the sum would be rounding
            apart = sums.complement_at(rows[near])[:, 0]
            error = sums.rtol + _ROUNDING * apart
            apart += unit[near]
            below[near], above[near] = np.log1p(-apart - error), np.log1p(error - apart)
        if len(low):
            exact = self._exact(rows[low], unit[low])
            below[low], above[low] = _below(exact - _TAILS), -_below(-exact - _TAILS)
        return below, above

    def calibrate(
        self, rows: Floats, eta: float, rate: float, products: Floats
    ) -> tuple[float, Doubles | None]:
        """The score below which a share of the training rows is; `reference` is not at hand.

        By the products of the last iteration where they know the scores around the quantile well
        enough; else by finer sums. Scores below it do not matter: of rows of which sums give but a
        bound, only those that may be above it are summed again.
        """
        return self._training_quantile(rows, rate, products), None

    def _training_quantile(self, rows: Floats, rate: float, products: Floats) -> float:
        least, products = _WELL_ABOVE * (self.iterations_rtol + _ROUNDING), array_of(products)
        unit = self.known.left_out_weight(*self._tails.coincidences_of_rows())
        scores, low = self._by_products(products, unit, least)
        quantile, doubtful = self._quantile(scores, low, rate)
        if len(doubtful):
            some = rows[doubtful]
            similarity = self.mean.sums.at(some)[:, 0]
            scores[doubtful], low = self._quick_scores(some, unit[doubtful], similarity)
            quantile, doubtful = self._quantile(scores, doubtful[low], rate)
        if len(doubtful):
            exact = self._exact(rows[doubtful], unit[doubtful])
            scores[doubtful] = exact - np.log1p(-unit[doubtful])
            quantile = self.known.quantile(scores, rate)
        return quantile

    def _quantile(self, scores: Doubles, low: Places, rate: float) -> tuple[float, Places]:
        """The quantile if all `low` rows are below it, and those that may not be."""
        at_most, scores[low] = scores[low], -np.inf
        with np.errstate(invalid="ignore"):  # between two of the lowest
            quantile = self.known.quantile(scores, rate)
        return quantile, low[~(at_most < quantile)]

    def _by_products(self, products: Floats, unit: Floats, least: float) -> tuple[Doubles, Places]:
        """Scores by the products of the iterations; rows of which these give but a bound."""
        scores = np.empty(len(products))

        def fill(rows: slice) -> Places:
            apart = products[rows] / (1.0 - unit[rows])
            low = np.flatnonzero(1.0 - apart <= least)
            apart[low] = 1.0 - least
            np.log1p(-apart, out=scores[rows])
            return np.asarray(low + rows.start)

        return scores, np.concatenate(over_blocks(fill, len(scores), BLOCK_ROWS))

    def _quick_scores(
        self, rows: Floats, unit: Floats, similarity: Floats
    ) -> tuple[Doubles, Places]:
        """Scores without a unit of weight, and the rows of which the sums give but a bound."""
        sums = self.mean.sums
        least = _WELL_ABOVE * sums.error(similarity)
        scores = similarity - unit
        well_known = scores > least
        np.log(np.maximum(scores, least, out=scores), out=scores)
        scores -= np.log1p(-unit)
        near = np.flatnonzero(well_known & (similarity > _NEARLY_ONE))
        if len(near):  # one minus a small number: the logarithm of the sum would be rounding
            apart = sums.complement_at(rows[near])[:, 0]
            scores[near] = np.log1p(-apart / (1.0 - unit[near]))
        return scores, np.flatnonzero(~well_known)

    def _exact(self, rows: Floats, unit: Floats) -> Doubles:
        """Logarithms of sums without a unit of weight."""
        log_others, own, _ = self._tails.log_sums(rows)
        with np.errstate(divide="ignore"):
            log_own = np.log(np.maximum(own - unit, 0.0))
        return np.asarray(np.logaddexp(log_others, log_own))

    def compress(self, rtol: float) -> "CompressedScores":
        """The same but for `rtol` in s, without most of the training rows."""
        return CompressedScores(self.mean.compress(rtol))


@dataclass(frozen=True, eq=False)
class CompressedScores:
    """Scores of a small model, which has forgotten the training rows and scores them as new ones.

    Parameters
    ----------
    mean : ExpandedPrototypes
        The mean, a single prototype on the sphere.
    """

    mean: ExpandedPrototypes

    def scores(self, rows: Floats, eta: float) -> Doubles:
        """Log s, or the logarithm of the promise where s is not known to be above it."""
        sums = self.mean.sums
        similarity = 1.0 - sums.complement_at(rows)[:, 0]
        return np.asarray(np.log(np.maximum(similarity, sums.rtol)))

    def bounds(self, rows: Floats, eta: float) -> tuple[Doubles, Doubles]:
        sums = self.mean.sums
        apart = sums.complement_at(rows)[:, 0]
        with np.errstate(divide="ignore"):  # a sum that may be nothing
            below = np.log1p(-np.minimum(apart + sums.rtol, 1.0))
        return below, np.log1p(sums.rtol - apart)

    def compress(self, rtol: float) -> Self:
        """The same scores from even smaller sums, if they can be made smaller."""
        return type(self)(self.mean.compress(rtol))


def leave_one_out(
    mean: KernelPrototypes,
    columns: Columns,
    sample_weight: Floats | None,
    *,
    total_variance: float,
    rtol: float | None = None,
) -> LeaveOneOut | FastLeaveOneOut:
    """Scores against a mean of training rows that have the given weights and variance.

    With a promise of `rtol` for the sums, finer than that of the iterations: so few rows have sums
    that say nothing of them.
    """
    if sample_weight is None:
        copies = np.broadcast_to(1.0, len(mean.weights))  # takes no memory
    else:
        copies = sample_weight.astype(np.float64)
    share = _SAME_PLACE[np.dtype(mean.dtype).itemsize] ** columns.order
    nearest = share * total_variance + columns.distance_error
    known = KnownRows(columns, array_of(mean.weights[:, 0]), copies, nearest)
    expanded = mean.for_prediction(rtol=rtol)
    operator = mean.operator
    if operator.exact_at_rows or not has_compiled_sums(columns):
        return LeaveOneOut(expanded, known)
    return FastLeaveOneOut(expanded, known, operator.rtol)
