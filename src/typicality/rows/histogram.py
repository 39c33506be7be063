"""Exact quantiles of a number for each row, by histograms that refine; no number is gathered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

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


def histogram(
    rows: Rows, value_of_block: ValueOfBlock, *, within: tuple[Keys, int] | None = None
) -> Histogram:
    """The histogram of a number for each row, in bins of a relative width of 1 / 4096. One fold.

    With some bins of a histogram and its number of bits, the values in these, in finer bins.
    """
    return rows.fold(lambda block: Histogram.of(value_of_block(block), block.weight, within=within))


def quantile(rows: Rows, value_of_block: ValueOfBlock, rate: float) -> float:
    """The exact quantile of a number for each row, as `weighted_quantile` has it.

    The value at position (n + 1) rate lies in one bin of a histogram, or between two. Only the
    values in these bins are counted in the next fold, in bins that are 2^24 times as fine. Three
    folds find the value to the last bit, in memory that does not depend on the number of rows.

    Parameters
    ----------
    rows : Rows
        The rows; those of weight zero take no part.
    value_of_block : callable
        `value_of_block(block)` returns a number for each row of a block, none of them NaN.
    rate : float
        Between 0 and 1.
    counted : Histogram, optional
        What :func:`histogram` returned for these values: it spares a fold.
    """
    found = histogram(rows, value_of_block)
    unit, total = found.unit, float(found.weight.sum()) / found.unit
    position = min(max(rate * (total + 1.0) - 1.0, 0.0), max(total - 1.0, 0.0))
    ends = [np.floor(position), np.ceil(position)]
    below = 0.0  # the weight below the bins that are looked at
    while True:
        upto = below + found.weight.cumsum()
        reached = upto / unit * (1.0 - 1e-12)  # a sum of fractions may end above a whole number
        at = np.minimum(np.searchsorted(reached, ends, side="right"), len(upto) - 1)
        if found.n_bits == 64:
            break
        # Both bins, or the one: no value lies between them, so weights go on from the first.
        below = float(upto[at[0]] - found.weight[at[0]])
        within = found.keys[np.unique(at)], found.n_bits
        found = histogram(rows, value_of_block, within=within)
    low, high = _values_of(found.keys[at])
    share = position - ends[0]
    return float(low + share * (high - low)) if share > 0 and low < high else float(low)


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
    rows: Rows, values_of_block: Callable[[Block], Floats], rates: Sequence[float]
) -> OrderStatistics:
    """The values around quantiles of several numbers for each row, all in three folds.

    Parameters
    ----------
    rows : Rows
        The rows; their weights do not count.
    values_of_block : callable
        `values_of_block(block)` returns an array with a column for each number; NaN does not count.
    rates : sequence of float
        Between 0 and 1.
    """
    counted = _count_columns(rows, values_of_block)
    totals = np.array([found.weight.sum() for found in counted])
    position = np.multiply.outer(np.asarray(rates), np.maximum(totals - 1.0, 0.0))
    ends = np.stack([np.floor(position), np.ceil(position)])  # (2, n_rates, d)
    keys, rank = np.zeros(ends.shape, np.uint64), ends
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
            upto = found.weight[inside].cumsum()
            bin_ = min(int(np.searchsorted(upto, rank[at], side="right")), len(upto) - 1)
            rank[at] -= upto[bin_] - found.weight[inside][bin_]
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
) -> list[Histogram]:
    """The histogram of each column, or of the values in some bins of it, in bins that are finer."""

    def count(block: Block) -> list[Histogram]:
        return [
            Histogram.of(
                column[~np.isnan(column)], None, within=None if bins is None else (bins[j], n_bits)
            )
            for j, column in enumerate(values_of_block(block).T)
        ]

    counted: list[Histogram] = rows.reduce(
        count, lambda one, more: [a + b for a, b in zip(one, more, strict=True)]
    )
    return counted


def _values_of(keys: Keys) -> Doubles:
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
