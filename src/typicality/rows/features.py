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
    """What the features of some rows look like; those of two sets of rows add up.

    Rows of weight zero are left out. Squares about two means add up to those about the
    mean of all, without a second pass.

    Parameters
    ----------
    total : float
        The sum of the weights.
    mean : array of shape (d,), float64
        The weighted mean.
    squares : array of shape (d,), float64
        The weighted sum of squared differences from the mean.
    low, high : arrays of shape (d,), float64
        The smallest and the largest value.
    """

    total: float
    mean: Doubles
    squares: Doubles
    low: Doubles
    high: Doubles

    @classmethod
    def of(cls, X: Floats, sample_weight: Floats | None = None) -> "Features":
        """The features of rows in memory."""
        from typicality.rows.array import ArrayRows

        return ArrayRows(X, sample_weight).features

    @classmethod
    def of_block(cls, block: "Block") -> "Features":
        rows: Any = block.X
        w = np.ones(len(rows)) if block.weight is None else block.weight.astype(np.float64)
        if block.weight is not None:
            rows, w = rows[w > 0], w[w > 0]
        rows, total = rows.astype(np.float64, copy=False), float(w.sum())
        if not len(rows):
            nothing = np.zeros(rows.shape[1])
            return cls(0.0, nothing, nothing, nothing + np.inf, nothing - np.inf)
        if is_sparse(rows):
            low, high = (end(axis=0).toarray().ravel() for end in (rows.min, rows.max))
            mean = rows.T @ w / total
            return cls(total, mean, _squares_of_sparse(rows, w, mean), low, high)
        # einsum, because a product by BLAS would depend on its threads
        mean = np.einsum("h,hj->j", w, rows) / total
        squares = np.einsum("h,hj->j", w, (rows - mean) ** 2)
        return cls(total, mean, squares, rows.min(axis=0), rows.max(axis=0))

    def __add__(self, other: "Features") -> "Features":
        if not (self.total and other.total):
            return self if self.total else other
        total, apart = self.total + other.total, other.mean - self.mean
        share = other.total / total
        return Features(
            total,
            self.mean + share * apart,
            self.squares + other.squares + self.total * share * apart**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def variance(self) -> Doubles:
        """The weighted variance of each feature."""
        return self.squares / self.total


def _squares_of_sparse(rows: Any, w: Doubles, mean: Doubles) -> Doubles:
    stored, d = np.repeat(w, np.diff(rows.indptr)), len(mean)
    apart = rows.data - mean[rows.indices]
    squares = np.bincount(rows.indices, stored * apart**2, minlength=d)
    zeros = w.sum() - np.bincount(rows.indices, stored, minlength=d)
    return np.asarray(squares + mean**2 * zeros.clip(min=0.0))
