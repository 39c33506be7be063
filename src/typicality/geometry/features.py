"""What the features of the data look like."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from typicality._quantiles import weighted_quantile
from typicality.geometry.base import Floats, row_blocks

_EXTREME = 5.0  # times the distance between the quartiles


@dataclass(frozen=True, eq=False)
class Features:
    """What the features of the data look like, rows of weight zero left out.

    Parameters
    ----------
    mean, variance, low, high : arrays of shape (d,), float64
        Weighted mean and variance, smallest and largest value.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, X: Floats, sample_weight: Floats | None = None) -> Self:
        """Two passes over the rows, in blocks."""

        def blocks() -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
            for block in row_blocks(len(X)):
                rows = X[block].astype(np.float64)
                if sample_weight is None:
                    yield rows, np.ones(len(rows))
                    continue
                weight = sample_weight[block].astype(np.float64)
                if weight.any():
                    yield rows[weight > 0], weight[weight > 0]

        # einsum, because a product by BLAS would depend on its threads
        sums = [
            (w.sum(), np.einsum("h,hj->j", w, x), x.min(axis=0), x.max(axis=0)) for x, w in blocks()
        ]
        total, first, low, high = (np.array(column) for column in zip(*sums, strict=True))
        mean = first.sum(axis=0) / total.sum()
        with np.errstate(over="ignore"):  # judged by `check_magnitudes`
            squares = np.sum(
                [np.einsum("h,hj->j", w, (x - mean) ** 2) for x, w in blocks()], axis=0
            )
        return cls(mean, squares / total.sum(), low.min(axis=0), high.max(axis=0))


def typical_range(
    X: Floats, sample_weight: Floats | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest value of each feature, extreme values left out.

    Extreme is what lies farther beyond a quartile than five times the distance between the
    quartiles; nothing is where half of the values are the same. One feature at a time, O(n log n).
    """
    ranges = [_typical_range(column, sample_weight) for column in X.T]
    low, high = np.array(ranges, dtype=np.float64).T
    return low, high


def _typical_range(column: Floats, sample_weight: Floats | None) -> tuple[float, float]:
    counted = slice(None) if sample_weight is None else sample_weight > 0
    values = column[counted].astype(np.float64)
    weight = None if sample_weight is None else sample_weight[counted]
    first, third = (weighted_quantile(values, rate, weight) for rate in (0.25, 0.75))
    fence = _EXTREME * (third - first)
    usual = values[(values >= first - fence) & (values <= third + fence)] if fence > 0 else values
    return float(usual.min()), float(usual.max())
