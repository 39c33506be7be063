"""Quantiles in which a weight k is k copies."""

import numpy as np

from typicality._typing import Doubles, Floats

IQR_OF_NORMAL = 1.349  # the distance between the quartiles of a normal variable, in its deviations


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
    reached = upto * (1.0 - 1e-12)  # a sum of fractions may end just above a whole number
    at = np.minimum(np.searchsorted(reached, [below, above], side="right"), len(order) - 1)
    low, high = values[order[at]]
    return float(low + (position - below) * (high - low))
