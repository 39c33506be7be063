"""Quantiles in which a weight k is k copies, and the spread of a column by its quartiles."""

import numpy as np

from typicality._threads import over_blocks
from typicality._typing import Doubles, Floats

IQR_OF_NORMAL = 1.349  # the distance between the quartiles of a normal variable, in its deviations
SPIKE = 0.4  # of the values are the median: the quartiles then lie on it or next to it
RAREST = 0.01  # no value counts as rarer, or a single one would be a hundred spreads away
_MANY = 2**18  # values: beyond, a sample of them finds the neighbourhood of a quantile
_SAMPLE = 2**13
_BLOCK = 2**17  # values that a thread takes at a time


def robust_spread(values: Doubles, rounding: float = 0.0) -> float:
    r"""The spread of a column: IQR / 1.349, which survives where many values are equal.

    Where 40 % of the values or more are the median m, quartiles say nothing of the others, and the
    spread is at least :math:`\sqrt p \, D`. D is the median of :math:`|x - m|` over the other
    values and p is their share, at least 1 %. For two values this is nearly the standard deviation,
    but outliers do not inflate it.

    Parameters
    ----------
    values : array of shape (n,)
        The values, none of them missing.
    rounding : float, default=0.0
        Numbers that differ by less, relative to their size, are equal.

    Returns
    -------
    spread : float
        0 where all values are equal.
    """
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    # Relative to the quartiles, or one huge value would make all others look equal.
    between = high - low if high - low > rounding * max(abs(low), abs(high)) else 0.0
    spread = float(between / IQR_OF_NORMAL)
    far = np.abs(values - median)
    others = far[far > rounding * abs(median)]
    if 0 < len(others) <= (1.0 - SPIKE) * len(values):
        share = max(len(others) / len(values), RAREST)
        spread = max(spread, float(np.sqrt(share) * np.median(others)))
    return spread


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
        return _plain_quantile(values, rate)
    counted = np.flatnonzero(sample_weight > 0)
    order = counted[np.argsort(values[counted], kind="stable")]
    upto = np.cumsum(sample_weight[order], dtype=np.float64) / unit_of_weight(sample_weight)
    position = min(max(rate * (upto[-1] + 1.0) - 1.0, 0.0), max(upto[-1] - 1.0, 0.0))
    below, above = np.floor(position), np.ceil(position)
    reached = upto * (1.0 - 1e-12)  # a sum of fractions may end just above a whole number
    at = np.minimum(np.searchsorted(reached, [below, above], side="right"), len(order) - 1)
    low, high = values[order[at]]
    return float(low + (position - below) * (high - low))


def _plain_quantile(values: Doubles, rate: float) -> float:
    """The method "weibull" of :func:`numpy.quantile`, with the same bits.

    NumPy copies all values and selects in one thread. Here only those are copied that a sample
    shows to be near the quantile; the others are counted, in threads.
    """
    n = len(values)
    position = n * rate + rate - 1.0
    if n < _MANY or not 0.0 <= position < n - 1.0:
        return float(np.quantile(values, rate, method="weibull"))
    sample = np.sort(values[:: n // _SAMPLE])
    middle, margin = rate * len(sample), 4.0 * np.sqrt(len(sample) * rate * (1.0 - rate)) + 4.0
    first, last = int(middle - margin), int(middle + margin)
    low = sample[first] if first >= 0 else -np.inf
    high = sample[last] if last < len(sample) else np.inf

    def part(block: slice) -> tuple[int, int, Doubles]:
        some = values[block]
        below, above = some < low, some > high
        near = some[~(below | above)]
        return int(below.sum()), int(np.isnan(near).sum()), near

    n_below, n_missing, near = zip(*over_blocks(part, n, _BLOCK), strict=True)
    window = np.concatenate(near)
    rank = int(position) - sum(n_below)
    if sum(n_missing) or not 0 <= rank < len(window) - 1:
        return float(np.quantile(values, rate, method="weibull"))
    window.partition([rank, rank + 1])
    left, right = window[rank : rank + 2]
    share = position - np.floor(position)
    if share < 0.5:
        return float(left + (right - left) * share)
    return float(right - (right - left) * (1.0 - share))
