"""Quantiles in which a weight k is k copies."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["weighted_quantile"]


def weighted_quantile(
    values: NDArray[np.float64], rate: float, sample_weight: NDArray[np.floating] | None = None
) -> float:
    """The quantile of the values with each repeated as often as its weight says.

    NumPy's linear interpolation, which NumPy itself does not offer with weights; weights need not
    be whole numbers, and those of zero take no part.
    """
    if sample_weight is None:
        return float(np.quantile(values, rate))
    counted = np.flatnonzero(sample_weight > 0)
    order = counted[np.argsort(values[counted], kind="stable")]
    upto = np.cumsum(sample_weight[order], dtype=np.float64)
    position = max(rate * (upto[-1] - 1.0), 0.0)
    below, above = np.floor(position), np.ceil(position)
    at = np.minimum(np.searchsorted(upto, [below, above], side="right"), len(order) - 1)
    low, high = values[order[at]]
    return float(low + (position - below) * (high - low))
