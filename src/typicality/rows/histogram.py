"""Exact quantiles of a number for each row, by histograms that refine; no number is gathered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats
from typicality.rows.base import Block, Rows

Keys = NDArray[np.uint64]
ValueOfBlock = Callable[[Block], Doubles]

_BITS = 24  # of 64: sign, exponent and twelve binary digits of a number
_SIGN = np.uint64(1 << 63)


@dataclass(frozen=True, eq=False)
class Histogram:
    """How much weight the values in each bin have; histograms of two sets of rows add up.

    A bin holds the values that begin with the same bits, so its width is relative to the value.

    Parameters
    ----------
    keys : array of shape (m,), uint64
        The first bits of the values of each bin that is not empty, in rising order of the values.
    weight : array of shape (m,), float64
        The weight in each bin; the number of values where rows have no weights.
    n_bits : int
        How many of the 64 bits of a value make a key.
    n_values : int
        The number of values of positive weight.
    """

    keys: Keys
    weight: Doubles
    n_bits: int
    n_values: int

    @classmethod
    def of(
        cls,
        values: Doubles,
        weight: NDArray[np.floating] | None,
        *,
        within: "tuple[Keys, int] | None" = None,
    ) -> Self:
        """Count values; or those in some bins of a coarser histogram, in bins that are finer."""
        # Whole numbers in the order of the values; + 0.0: no negative zero.
        bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
        keys = np.where(bits & _SIGN, ~bits, bits | _SIGN)
        counted = np.ones(len(keys), bool) if weight is None else weight > 0
        n_bits = _BITS
        if within is not None:
            bins, coarse = within
            counted &= np.isin(keys >> np.uint64(64 - coarse), bins)
            n_bits = min(64, coarse + _BITS)
        weights = None if weight is None else weight[counted].astype(np.float64)
        found, place = np.unique(keys[counted] >> np.uint64(64 - n_bits), return_inverse=True)
        total = np.bincount(place, weights, minlength=len(found)).astype(np.float64)
        return cls(found, total, n_bits, int(np.count_nonzero(counted)))

    def __add__(self, other: Self) -> Self:
        keys = np.union1d(self.keys, other.keys)
        weight = np.zeros(len(keys))
        for one in (self, other):
            weight[np.searchsorted(keys, one.keys)] += one.weight
        return type(self)(keys, weight, self.n_bits, self.n_values + other.n_values)

    @property
    def lower_ends(self) -> Doubles:
        """The smallest value that each bin can hold."""
        ends = _values_of(self.keys << np.uint64(64 - self.n_bits))
        return np.where(np.isnan(ends), -np.inf, ends)  # nothing else is in the bin of -inf

    @property
    def unit(self) -> float:
        """What counts as one row: 1, or the mean of the positive weights where that is less."""
        return min(1.0, float(self.weight.sum()) / max(self.n_values, 1))


def histogram(rows: Rows, value_of_block: ValueOfBlock) -> Histogram:
    """The histogram of a number for each row, in bins of a relative width of 1 / 4096. One fold."""
    return rows.fold(lambda block: Histogram.of(value_of_block(block), block.weight))


def quantile(rows: Rows, value_of_block: ValueOfBlock, rate: float) -> float:
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
    found = order_statistics(
        rows, lambda block: value_of_block(block)[:, None], [rate], method="weibull"
    )
    low, high, share = (float(part[0, 0]) for part in (found.low, found.high, found.share))
    return low + share * (high - low) if share > 0 and low < high else low


@dataclass(frozen=True, eq=False)
class OrderStatistics:
    """The two values around each quantile of each column.

    Parameters
    ----------
    low, high : arrays of shape (n_rates, d)
        The values below and above; the same where a quantile is a value. NaN without any value.
    share : array of shape (n_rates, d)
        Where the quantile is between them, from 0 to 1.
    """

    low: Doubles
    high: Doubles
    share: Doubles

    @property
    def values(self) -> Doubles:
        """The quantiles in the method "linear" of :func:`numpy.quantile`, bit for bit."""
        between = self.high - self.low
        upper = self.high - between * (1.0 - self.share)
        return np.where(self.share >= 0.5, upper, self.low + between * self.share)


def order_statistics(
    rows: Rows,
    values_of_block: Callable[[Block], Floats],
    rates: Sequence[float],
    *,
    method: str = "linear",
) -> OrderStatistics:
    """The values around quantiles of several numbers for each row.

    A value lies in one bin of a histogram. Only the values in this bin are counted in the next
    fold, in bins that are 2^24 times as fine. Three folds find all values to the last bit, in
    memory that does not depend on the number of rows.

    Parameters
    ----------
    rows : Rows
        The rows; a weight k counts as k copies.
    values_of_block : callable
        `values_of_block(block)` returns an array with a column for each number; NaN does not count.
    rates : sequence of float
        Between 0 and 1.
    method : {"linear", "weibull"}, default="linear"
        Where quantiles are, as in :func:`numpy.quantile`.
    """
    counted = _count_columns(rows, values_of_block)
    units = np.array([found.unit or 1.0 for found in counted])
    totals = np.array([found.weight.sum() for found in counted]) / units
    rate = np.asarray(rates)[:, None]
    position = rate * (totals + 1.0) - 1.0 if method == "weibull" else rate * (totals - 1.0)
    position = position.clip(0.0, np.maximum(totals - 1.0, 0.0))
    ends = np.stack([np.floor(position), np.ceil(position)])  # (2, n_rates, d)
    keys = np.zeros(ends.shape, np.uint64)  # of the bins these are in
    below = np.zeros(ends.shape)  # the weight of all smaller values
    known = 0  # bits of the keys
    while True:
        for at in np.ndindex(ends.shape):
            found = counted[at[-1]]
            if not len(found.keys):
                continue
            inside = slice(None)
            if known:
                of = found.keys >> np.uint64(found.n_bits - known)
                inside = slice(*np.searchsorted(of, [keys[at], keys[at] + np.uint64(1)]))
            weight = found.weight[inside]
            upto = below[at] + weight.cumsum()
            # A sum of fractions may end just above a whole number.
            reached = upto / units[at[-1]] * (1.0 - 1e-12)
            bin_ = min(int(np.searchsorted(reached, ends[at], side="right")), len(upto) - 1)
            below[at] = upto[bin_] - weight[bin_]
            keys[at] = found.keys[inside][bin_]
        known = counted[0].n_bits
        if known == 64:
            break
        bins = [np.unique(keys[..., j]) for j in range(len(totals))]
        counted = _count_columns(rows, values_of_block, bins, known)
    low, high = np.where(totals > 0, _values_of(keys), np.nan)
    return OrderStatistics(low, high, position - np.floor(position))


def _count_columns(
    rows: Rows,
    values_of_block: Callable[[Block], Floats],
    bins: list[Keys] | None = None,
    n_bits: int = 0,
) -> Any:
    """The histogram of each column, or of the values in some bins of it, in bins that are finer."""

    def count(block: Block) -> Any:
        columns = []
        for j, values in enumerate(values_of_block(block).T):
            known = ~np.isnan(values)
            weight = None if block.weight is None else block.weight[known]
            within = None if bins is None else (bins[j], n_bits)
            columns.append(Histogram.of(values[known], weight, within=within))
        return np.array(columns, dtype=object)  # two of these are added entry by entry

    return rows.fold(count)


def _values_of(keys: Keys) -> Doubles:
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
