"""What the features of the data look like."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from typicality._sparse import SparseArray, is_sparse
from typicality._typing import Doubles, Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typicality.rows.base import Block

_ROWS_AT_A_TIME = 8192


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
        if is_sparse(block.X):
            rows, w = _counted(block.X, block.weight)
            if len(rows):
                ends = (end(axis=0).toarray().ravel() for end in (rows.min, rows.max))
                return cls(float(w.sum()), rows.T @ w, *(end.astype(np.float64) for end in ends))
        nothing = np.full(block.X.shape[1], np.inf)
        sums = cls(0.0, np.zeros(block.X.shape[1]), nothing, -nothing)
        for x, w in _doubles(block.X, block.weight):
            # einsum, because a product by BLAS would depend on its threads
            first = np.einsum("h,hj->j", w, x)
            sums += cls(float(w.sum()), first, x.min(axis=0), x.max(axis=0))
        return sums

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
        if is_sparse(X):
            rows, w = _counted(X, weight)
            stored, d = np.repeat(w, np.diff(rows.indptr)), len(mean)
            apart = rows.data - mean[rows.indices]
            squares = np.bincount(rows.indices, stored * apart**2, minlength=d)
            zeros = w.sum() - np.bincount(rows.indices, stored, minlength=d)
            return np.asarray(squares + mean**2 * zeros.clip(min=0.0))
        parts = [np.einsum("h,hj->j", w, (x - mean) ** 2) for x, w in _doubles(X, weight)]
        return np.asarray(np.sum([np.zeros_like(mean), *parts], axis=0))

    def features(self, squares: Doubles) -> Features:
        return Features(self.mean, squares / self.total, self.low, self.high)


def _doubles(X: Floats, weight: Floats | None) -> "Iterator[tuple[Doubles, Doubles]]":
    """Rows of positive weight and their weights, a few thousand at a time, as float64."""
    for start in range(0, len(X), _ROWS_AT_A_TIME):
        rows = X[start : start + _ROWS_AT_A_TIME].astype(np.float64, copy=False)
        if weight is None:
            yield rows, np.ones(len(rows))
            continue
        some = weight[start : start + _ROWS_AT_A_TIME].astype(np.float64)
        if some.any():
            yield rows[some > 0], some[some > 0]


def _counted(X: SparseArray, weight: Floats | None) -> tuple[SparseArray, Doubles]:
    """Sparse rows of positive weight and their weights, as float64."""
    if weight is not None:
        X, weight = X[weight > 0], weight[weight > 0]
    w = np.ones(len(X)) if weight is None else weight.astype(np.float64)
    return X.astype(np.float64, copy=False), w
