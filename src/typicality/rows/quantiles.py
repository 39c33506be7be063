"""Quantiles in which a weight k is k copies, and the spread of columns by their quartiles.

Quantiles of an array are NumPy's. Where rows are not in memory, histograms that refine find the
same numbers, and no number is gathered.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats
from typicality.rows.array import ArrayRows
from typicality.rows.base import Block, Rows

Keys = NDArray[np.uint64]
ValuesOfBlock = Callable[[Block], Floats]

_IQR_OF_NORMAL = 1.349  # the distance between the quartiles of a normal variable, in deviations
_SPIKE = 0.4  # of the values are the median: the quartiles then lie on it or next to it
_RAREST = 0.01  # no value counts as rarer, or a single one would be a hundred spreads away
_BITS = (24, 48, 64)  # of a key, pass by pass; 24: sign, exponent and twelve binary digits
_SIGN = np.uint64(1 << 63)
_BELOW_WHOLE = 1.0 - 1e-12  # a sum of fractions may end just above a whole number


def unit_of_weight(sample_weight: Floats) -> float:
    """What counts as one row: 1, or the mean of the positive weights where that is less.

    So weights that sum to one are as good as none.
    """
    return min(1.0, float(sample_weight[sample_weight > 0].mean(dtype=np.float64)))


def weighted_quantile(values: Doubles, rate: float, sample_weight: Floats | None = None) -> float:
    """The quantile below which a new value of the same source falls with probability `rate`.

    Each value is repeated as often as its weight says; weights need not be whole numbers, and those
    of zero take no part. Weights below one on average count in units of their mean, so that weights
    that sum to one are as good as none.

    It is the method "weibull" of :func:`numpy.quantile`, which has no weights: the value at
    position (n + 1) rate, because n values cut the line into n + 1 parts that are equally probable.
    The usual linear interpolation is too high by up to 1 / n.
    """
    if sample_weight is None:
        return float(np.quantile(values, rate, method="weibull"))
    counted = np.flatnonzero(sample_weight > 0)
    order = counted[np.argsort(values[counted], kind="stable")]
    upto = np.cumsum(sample_weight[order], dtype=np.float64) / unit_of_weight(sample_weight)
    position = min(max(rate * (upto[-1] + 1.0) - 1.0, 0.0), max(upto[-1] - 1.0, 0.0))
    below, above = np.floor(position), np.ceil(position)
    at = np.searchsorted(upto * _BELOW_WHOLE, [below, above], side="right")
    low, high = values[order[np.minimum(at, len(order) - 1)]]
    return float(low + (position - below) * (high - low))


def quantile(rows: Rows, value_of_block: Callable[[Block], Doubles], rate: float) -> float:
    """The exact quantile of a number for each row, as `weighted_quantile` has it.

    Parameters
    ----------
    rows : Rows
        The rows; those of weight zero take no part.
    value_of_block : callable
        `value_of_block(block)` returns a number for each row of a block, none of them NaN.
    rate : float
        Between 0 and 1.
    """
    found = _by_folds(rows, lambda block: value_of_block(block)[:, None], [rate], new_values=True)
    return float(found[0, 0])


def quantiles(rows: Rows, values_of_block: ValuesOfBlock, rates: Sequence[float]) -> Doubles:
    """Quantiles of several numbers for each row, as :func:`numpy.nanquantile` has them.

    Parameters
    ----------
    rows : Rows
        The rows. In memory, weights do not count; otherwise a weight k counts as k copies.
    values_of_block : callable
        `values_of_block(block)` returns an array with a column for each number; NaN does not count.
    rates : sequence of float
        Between 0 and 1.

    Returns
    -------
    found : array of shape (n_rates, n_columns)
        NaN for a column without any value.
    """
    if not isinstance(rows, ArrayRows):
        return _by_folds(rows, values_of_block, rates)
    columns = values_of_block(Block(rows.X, None, 0)).T
    found = np.full((len(rates), len(columns)), np.nan)
    for j, column in enumerate(columns):
        known = column[~np.isnan(column)].astype(np.float64)
        if len(known):
            found[:, j] = np.quantile(known, rates)
    return found


def robust_spreads(rows: Rows, quartiles: Doubles, rounding: float = 0.0) -> Doubles:
    r"""The spread of each column: IQR / 1.349, which survives where many values are equal.

    Where 40 % of the values or more are the median m, quartiles say nothing of the others, and the
    spread is at least :math:`\sqrt p \, D`. D is the median of :math:`|x - m|` over the other
    values and p is their share, at least 1 %. For two values this is nearly the standard deviation,
    but outliers do not inflate it.

    Parameters
    ----------
    rows : Rows
        The rows; missing values do not count.
    quartiles : array of shape (3, d)
        The quartiles of each column, with the median in the middle.
    rounding : float, default=0.0
        Numbers that differ by less, relative to their size, are equal.

    Returns
    -------
    spreads : array of shape (d,)
        0 where all values are equal.
    """
    low, median, high = quartiles
    # Relative to the quartiles, or one huge value would make all others look equal.
    is_wide = high - low > rounding * np.maximum(np.abs(low), np.abs(high))
    spread = np.where(is_wide, high - low, 0.0) / _IQR_OF_NORMAL

    def apart(block: Block) -> Floats:
        far = np.abs(block.X - median)
        return np.where(far > rounding * np.abs(median), far, np.nan)

    def count(block: Block) -> Any:
        return np.sum([~np.isnan(block.X), ~np.isnan(apart(block))], axis=1)

    n_rows, n_others = rows.fold(count)
    is_spiky = (n_others > 0) & (n_others <= (1.0 - _SPIKE) * n_rows)
    if is_spiky.any():
        share = np.maximum(n_others / n_rows, _RAREST)
        typical = quantiles(rows, apart, [0.5])[0]
        spread = np.where(is_spiky, np.maximum(spread, np.sqrt(share) * typical), spread)
    return spread


# ---- histograms that add up ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Histogram:
    """How much weight the values in each bin have; histograms of two sets of rows add up.

    A bin holds the values that begin with the same bits, so its width is relative to the value.

    Parameters
    ----------
    keys : array of shape (m,), uint64
        The first bits of the values of each bin that is not empty, zeros behind them, in rising
        order of the values.
    weight : array of shape (m,), float64
        The weight in each bin; the number of values where rows have no weights.
    n_values : int
        The number of values of positive weight.
    """

    keys: Keys
    weight: Doubles
    n_values: int

    @classmethod
    def of(
        cls,
        values: Floats,
        weight: Floats | None = None,
        *,
        n_bits: int = _BITS[0],
        within: "tuple[Keys, int] | None" = None,
    ) -> Self:
        """Count values by their first bits; or those alone that are within some coarser bins."""
        # Whole numbers in the order of the values; + 0.0: no negative zero.
        bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
        keys = np.where(bits & _SIGN, ~bits, bits | _SIGN)
        counted = ~np.isnan(values)
        if weight is not None:
            counted &= weight > 0
        if within is not None:
            bins, n_known = within
            counted &= np.isin(keys & _first(n_known), bins)
        weights = None if weight is None else weight[counted].astype(np.float64)
        found, place = np.unique(keys[counted] & _first(n_bits), return_inverse=True)
        total = np.bincount(place, weights, minlength=len(found)).astype(np.float64)
        return cls(found, total, int(np.count_nonzero(counted)))

    def __add__(self, other: Self) -> Self:
        keys = np.union1d(self.keys, other.keys)
        weight = np.zeros(len(keys))
        for one in (self, other):
            weight[np.searchsorted(keys, one.keys)] += one.weight
        return type(self)(keys, weight, self.n_values + other.n_values)

    @property
    def lower_ends(self) -> Doubles:
        """The smallest value that each bin can hold."""
        ends = _values_of(self.keys)
        return np.where(np.isnan(ends), -np.inf, ends)  # nothing else is in the bin of -inf

    @property
    def unit(self) -> float:
        """What counts as one row: 1, or the mean of the positive weights where that is less."""
        return min(1.0, float(self.weight.sum()) / self.n_values) if self.n_values else 1.0


def histogram(rows: Rows, value_of_block: Callable[[Block], Doubles]) -> Histogram:
    """The histogram of a number for each row, in bins of a relative width of 1 / 4096. One fold."""
    return rows.fold(lambda block: Histogram.of(value_of_block(block), block.weight))


def _by_folds(
    rows: Rows,
    values_of_block: ValuesOfBlock,
    rates: Sequence[float],
    *,
    new_values: bool = False,
) -> Doubles:
    """Quantiles by three folds, in memory that does not depend on the number of rows.

    A value lies in one bin of a histogram. Only the values in this bin are counted in the next
    fold, in bins that are 2^24 times as fine, until bins are single numbers. Quantiles are those of
    the values, or of new values, as in `weighted_quantile`.
    """
    counted, n_known = _count_columns(rows, values_of_block, _BITS[0]), 0
    units = np.array([found.unit for found in counted])
    totals = np.array([found.weight.sum() for found in counted]) / units
    rate = np.asarray(rates)[:, None]
    position = rate * (totals + 1.0) - 1.0 if new_values else rate * (totals - 1.0)
    position = position.clip(0.0, np.maximum(totals - 1.0, 0.0))
    ends = np.stack([np.floor(position), np.ceil(position)])  # (2, n_rates, d)
    keys = np.zeros(ends.shape, np.uint64)  # of the bins these are in
    below = np.zeros(ends.shape)  # the weight of all smaller values
    for n_bits in _BITS:
        if n_known:
            counted = _count_columns(rows, values_of_block, n_bits, within=(keys, n_known))
        for at in np.ndindex(ends.shape):
            found, unit = counted[at[-1]], units[at[-1]]
            first = np.searchsorted(found.keys, keys[at])
            last = np.searchsorted(found.keys, keys[at] | ~_first(n_known), side="right")
            if first == last:  # a column without values
                continue
            upto = below[at] + found.weight[first:last].cumsum()
            reached = np.searchsorted(upto / unit * _BELOW_WHOLE, ends[at], side="right")
            bin_ = min(int(reached), len(upto) - 1)
            below[at] = upto[bin_] - found.weight[first + bin_]
            keys[at] = found.keys[first + bin_]
        n_known = n_bits
    low, high = np.where(totals > 0, _values_of(keys), np.nan)
    share = position - ends[0]
    between = np.subtract(high, low, out=np.zeros_like(low), where=low < high)
    upper = high - between * (1.0 - share)  # as NumPy has it, bit for bit
    return np.asarray(np.where(share >= 0.5, upper, low + between * share))


def _count_columns(
    rows: Rows,
    values_of_block: ValuesOfBlock,
    n_bits: int,
    within: tuple[Keys, int] | None = None,
) -> Any:
    """The histogram of each column, or of its values within coarser bins, `keys[..., column]`."""

    def count(block: Block) -> Any:
        columns = []
        for j, values in enumerate(values_of_block(block).T):
            bins = None if within is None else (within[0][..., j], within[1])
            columns.append(Histogram.of(values, block.weight, n_bits=n_bits, within=bins))
        return np.array(columns, dtype=object)  # two of these are added entry by entry

    return rows.fold(count)


def _first(n_bits: int) -> np.uint64:
    """The mask of the first bits of 64."""
    return np.uint64(2**64 - 2 ** (64 - n_bits))


def _values_of(keys: Keys) -> Doubles:
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
