"""What the features of the data look like."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Floats, row_blocks


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
