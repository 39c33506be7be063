"""What the features of the data look like."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from typicality._sparse import is_sparse
from typicality._typing import Doubles, Floats

if TYPE_CHECKING:
    from typicality.rows.base import Block


@dataclass(frozen=True, eq=False)
class Features:
    """What the features of the data look like, rows of weight zero left out.

    Parameters
    ----------
    mean, variance, low, high : arrays of shape (d,), float64
        Weighted mean and variance, smallest and largest value.
    """

    mean: Doubles
    variance: Doubles
    low: Doubles
    high: Doubles

    @classmethod
    def of(cls, X: Floats, sample_weight: Floats | None = None) -> "Features":
        """The features of rows in memory."""
        from typicality.rows.array import ArrayRows

        return ArrayRows(X, sample_weight).features


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """Sums over rows from which means follow, and the range of each feature; they add up."""

    total: float
    first: Doubles
    low: Doubles
    high: Doubles

    @classmethod
    def of(cls, block: "Block") -> "FeatureSums":
        rows, w = _counted(block.X, block.weight)
        if not len(rows):
            nothing = np.full(rows.shape[1], np.inf)
            return cls(0.0, np.zeros(rows.shape[1]), nothing, -nothing)
        if is_sparse(rows):
            low, high = (end(axis=0).toarray().ravel() for end in (rows.min, rows.max))
            return cls(float(w.sum()), rows.T @ w, low, high)
        # einsum, because a product by BLAS would depend on its threads
        first = np.einsum("h,hj->j", w, rows)
        return cls(float(w.sum()), first, rows.min(axis=0), rows.max(axis=0))

    def __add__(self, other: "FeatureSums") -> "FeatureSums":
        return FeatureSums(
            self.total + other.total,
            self.first + other.first,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def mean(self) -> Doubles:
        return self.first / self.total

    def squares(self, X: Floats, weight: Floats | None) -> Doubles:
        """Weighted sums of squares about the mean."""
        mean = self.mean
        rows, w = _counted(X, weight)
        if not is_sparse(rows):
            return np.asarray(np.einsum("h,hj->j", w, (rows - mean) ** 2))
        stored, d = np.repeat(w, np.diff(rows.indptr)), len(mean)
        apart = rows.data - mean[rows.indices]
        squares = np.bincount(rows.indices, stored * apart**2, minlength=d)
        zeros = w.sum() - np.bincount(rows.indices, stored, minlength=d)
        return np.asarray(squares + mean**2 * zeros.clip(min=0.0))

    def features(self, squares: Doubles) -> Features:
        return Features(self.mean, squares / self.total, self.low, self.high)


def _counted(X: Any, weight: Floats | None) -> tuple[Any, Doubles]:
    """Rows of positive weight and their weights, as float64."""
    if weight is not None:
        X, weight = X[weight > 0], weight[weight > 0]
    w = np.ones(len(X)) if weight is None else weight.astype(np.float64)
    return X.astype(np.float64, copy=False), w
