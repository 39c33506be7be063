"""Rows in memory: in an array of NumPy, or in a sparse matrix of SciPy."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from typicality._cached import cached_property
from typicality._sparse import SparseArray, is_sparse
from typicality._typing import Floats, Places
from typicality.rows.base import Block, Rows, Sum, TreeSum

_BLOCK_ROWS = 2**16  # of a sparse matrix


class ArrayRows(Rows):
    """Rows in memory, by default as a single block, whose sums are computed on all cores.

    Parameters
    ----------
    X : array of shape (n, d), C-contiguous, float32 or float64
        The rows.
    weight : array of shape (n,), optional
        Weight k counts as k copies of the row.
    cuts : sequence of int, optional
        Where blocks end and the next ones begin.
    """

    in_memory = True

    def __init__(self, X: Floats, weight: Floats | None = None, cuts: Sequence[int] = ()) -> None:
        self.X, self.weight, self.cuts = X, weight, tuple(cuts)
        self.n_rows, self.n_features = X.shape
        self.dtype = X.dtype
        self.weighted = weight is not None

    def fold(self, function: Callable[[Block], Sum]) -> Sum:
        sums = TreeSum[Sum]()
        for X, start in self._blocks:
            weight = None if self.weight is None else self.weight[start : start + len(X)]
            sums.add(function(Block(X, weight, start)))
        return sums.total()

    @cached_property
    def _blocks(self) -> list[tuple[Floats, int]]:
        """The blocks, which share the memory of the rows; sparse ones keep their squared norms."""
        ends = pairwise((0, *self.cuts, self.n_rows))
        return [(self.X[start:stop], start) for start, stop in ends if start < stop]

    def map(self, function: Callable[[Block], Any]) -> Any:
        return np.asarray(function(Block(self.X, self.weight, 0)))

    def reweighted(self, weigh: Callable[[Block], Floats]) -> Rows:
        return type(self)(self.X, weigh(Block(self.X, self.weight, 0)), self.cuts)

    def moved(self, move: Callable[[Floats], Floats]) -> Rows:
        return ArrayRows(move(self.X), self.weight, self.cuts)

    def take(self, index: Places) -> Floats:
        return self.X[index]


class SparseRows(ArrayRows):
    """Rows in memory whose zeros are not stored, in blocks of at most 65,536 rows.

    Sums over a block take memory for its rows times clusters and for clusters times features, and
    nothing for rows times features.

    Parameters
    ----------
    X : SparseArray of shape (n, d)
        The rows, as :func:`typicality._sparse.sparse_rows` makes them.
    weight : array of shape (n,), optional
        Weight k counts as k copies of the row.
    cuts : sequence of int, optional
        Where blocks end and the next ones begin.
    """

    X: SparseArray

    def __init__(
        self, X: SparseArray, weight: Floats | None = None, cuts: Sequence[int] | None = None
    ) -> None:
        if cuts is None:
            cuts = range(_BLOCK_ROWS, len(X), _BLOCK_ROWS)
        super().__init__(X, weight, cuts)

    def moved(self, move: Callable[[Floats], Floats]) -> Rows:
        raise TypeError("a sparse matrix cannot be shifted: it would have no zeros")


def rows_in_memory(X: Floats | SparseArray, weight: Floats | None = None) -> ArrayRows:
    """The engine of an array, or of sparse rows."""
    return SparseRows(X, weight) if is_sparse(X) else ArrayRows(X, weight)
