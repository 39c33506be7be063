"""Rows in an array of NumPy."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from typicality._typing import Floats, Places
from typicality.rows.base import Block, Rows, Sum, TreeSum


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
        for start, stop in zip((0, *self.cuts), (*self.cuts, self.n_rows), strict=True):
            if start < stop:
                weight = None if self.weight is None else self.weight[start:stop]
                sums.add(function(Block(self.X[start:stop], weight, start)))
        return sums.total()

    def map(self, function: Callable[[Block], Any]) -> Any:
        return np.asarray(function(Block(self.X, self.weight, 0)))

    def reweighted(self, weigh: Callable[[Block], Floats]) -> Rows:
        return ArrayRows(self.X, weigh(Block(self.X, self.weight, 0)), self.cuts)

    def moved(self, move: Callable[[Floats], Floats]) -> Rows:
        return ArrayRows(move(self.X), self.weight, self.cuts)

    def take(self, index: Places) -> Floats:
        return self.X[index]
