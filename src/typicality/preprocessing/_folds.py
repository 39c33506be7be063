"""Centre and scale of columns of rows that are read block by block.

Medians and quartiles are exact: they have the bits of those of an array. Means and deviations are
sums over blocks, and may differ in the last digit.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from typicality._quantiles import IQR_OF_NORMAL, RAREST, SPIKE
from typicality._typing import Doubles, Floats
from typicality.rows import Block, OrderStatistics, Rows, order_statistics


@dataclass(frozen=True, eq=False)
class _Extent:
    """How many values columns have, and the smallest and the largest; extents add up."""

    counts: Doubles
    low: Doubles
    high: Doubles

    @classmethod
    def of(cls, X: Floats) -> "_Extent":
        low = np.fmin.reduce(X, axis=0, initial=np.inf)
        high = np.fmax.reduce(X, axis=0, initial=-np.inf)
        return cls(np.sum(~np.isnan(X), axis=0, dtype=np.float64), low, high)

    def __add__(self, other: "_Extent") -> "_Extent":
        return _Extent(
            self.counts + other.counts,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def extent(rows: Rows) -> _Extent:
    """The extent of all columns; values that are missing do not count."""
    return rows.fold(lambda block: _Extent.of(block.X))


def mean_and_deviation(rows: Rows, of: _Extent) -> tuple[Doubles, Doubles]:
    """In units of the largest value, so that squares neither overflow nor vanish."""
    unit = np.maximum(np.abs(of.low), np.abs(of.high))
    unit = np.where(unit > 0, unit, 1.0)
    mean = rows.fold(lambda block: np.nansum(block.X / unit, axis=0)) / of.counts
    widest = np.maximum(np.abs(of.low / unit - mean), np.abs(of.high / unit - mean))
    widest = np.where(widest > 0, widest, 1.0)
    squares = rows.fold(lambda block: np.nansum(((block.X / unit - mean) / widest) ** 2, axis=0))
    return mean * unit, widest * np.sqrt(squares / of.counts) * unit


def medians(rows: Rows) -> Doubles:
    """The median of each column, as :func:`numpy.median` has it."""
    return _middle(order_statistics(rows, _values, [0.5]))


def _values(block: Block) -> Floats:
    return block.X


def _middle(found: OrderStatistics) -> Doubles:
    between = (found.low[0] + found.high[0]) / 2
    return np.asarray(np.where(found.share[0] > 0, between, found.low[0]))


def robust_spreads(rows: Rows, rounding: float) -> Doubles:
    """What :func:`typicality._quantiles.robust_spread` gives for each column."""
    low, median, high = order_statistics(rows, _values, [0.25, 0.5, 0.75]).values
    is_wide = high - low > rounding * np.maximum(np.abs(low), np.abs(high))
    spread = np.where(is_wide, high - low, 0.0) / IQR_OF_NORMAL
    apart = partial(_apart, median=median, rounding=rounding)
    counts = rows.fold(lambda block: np.sum([~np.isnan(block.X), ~np.isnan(apart(block))], axis=1))
    n_rows, n_others = counts
    is_spiky = (n_others > 0) & (n_others <= (1.0 - SPIKE) * n_rows)
    if is_spiky.any():
        share = np.maximum(n_others / n_rows, RAREST)
        typical = _middle(order_statistics(rows, apart, [0.5]))
        spread = np.where(is_spiky, np.maximum(spread, np.sqrt(share) * typical), spread)
    return spread


def _apart(block: Block, *, median: Doubles, rounding: float) -> Doubles:
    """How far values are from the median; NaN for those that are equal to it."""
    far = np.abs(block.X - median)
    return np.where(far > rounding * np.abs(median), far, np.nan)


def sizes(rows: Rows, rate: float) -> Doubles:
    """A quantile of the sizes of the values of each column, zeros left out; NaN without any."""
    found: Doubles = order_statistics(rows, _sizes_of, [rate]).values[0]
    return found


def _sizes_of(block: Block) -> Floats:
    return np.where(block.X == 0, np.nan, np.abs(block.X))


def tails(rows: Rows) -> OrderStatistics:
    """What the skewness of each column follows from."""
    return order_statistics(rows, _values, [0.05, 0.5, 0.95])
