"""Rows in memory: in an array of NumPy, or in a sparse matrix of SciPy."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from typicality._cached import cached_property
from typicality._sparse import SparseArray, is_sparse
from typicality._threads import tree_sum
from typicality._typing import Floats, Places
from typicality.rows.base import BLOCK_ROWS, Block, Rows, Sum


class ArrayRows(Rows):
    """Rows in memory, in blocks of 8,192 rows, whose sums are computed on all cores.

    Parameters
    ----------
    X : array of shape (n, d), C-contiguous, float32 or float64
        The rows.
    weight : array of shape (n,), optional
        Weight k counts as k copies of the row.
    cuts : sequence of int, optional
        Where blocks end and the next ones begin; after every 8,192 rows, if left out.
    """

    in_memory = True

    def __init__(
        self, X: Floats, weight: Floats | None = None, cuts: Sequence[int] | None = None
    ) -> None:
        self.X, self.weight, self.cuts = X, weight, cuts
        self.n_rows, self.n_features = X.shape
        self.dtype = X.dtype
        self.weighted = weight is not None

    def fold(self, function: Callable[[Block], Sum]) -> Sum:
        blocks = self._blocks
        if len(blocks) == 1:  # the case of small fits, hundreds of times in each
            return function(blocks[0])
        return tree_sum(lambda number: function(blocks[number]), len(blocks))

    @cached_property
    def _blocks(self) -> list[Block]:
        """The blocks, which share the memory of the rows; sparse ones keep their squared norms."""
        every = range(BLOCK_ROWS, self.n_rows, BLOCK_ROWS)
        ends = every if self.cuts is None else self.cuts
        return [
            Block(
                self.X[start:stop], None if self.weight is None else self.weight[start:stop], start
            )
            for start, stop in pairwise((0, *ends, self.n_rows))
            if start < stop
        ]

    @property
    def _whole(self) -> Block:
        return Block(self.X, self.weight, 0)

    def map(self, function: Callable[[Block], Any]) -> Any:
        return np.asarray(function(self._whole))

    def gather(self, function: Callable[[Block], Sum]) -> Sum:
        return self.fold(function) if self.cuts else function(self._whole)

    def reweighted(self, weigh: Callable[[Block], Floats]) -> Rows:
        return type(self)(self.X, weigh(self._whole), self.cuts)

    def moved(self, move: Callable[[Floats], Floats]) -> Rows:
        return ArrayRows(move(self.X), self.weight, self.cuts)

    def take(self, index: Places) -> Floats:
        return self.X[index]


class SparseRows(ArrayRows):
    """Rows in memory whose zeros are not stored.

    Sums over a block take memory for its rows times clusters and for clusters times features, and
    nothing for rows times features.

    Parameters
    ----------
    X : SparseArray of shape (n, d)
        The rows, as :func:`typicality._sparse.sparse_rows` makes them.
    weight : array of shape (n,), optional
        Weight k counts as k copies of the row.
    cuts : sequence of int, optional
        Where blocks end and the next ones begin; after every 8,192 rows, if left out.
    """

    X: SparseArray

    def moved(self, move: Callable[[Floats], Floats]) -> Rows:
        raise TypeError("a sparse matrix cannot be shifted: it would have no zeros")


def rows_in_memory(
    X: Floats | SparseArray, weight: Floats | None = None, cuts: Sequence[int] | None = None
) -> ArrayRows:
    """The engine of an array, or of sparse rows."""
    return SparseRows(X, weight, cuts) if is_sparse(X) else ArrayRows(X, weight, cuts)
