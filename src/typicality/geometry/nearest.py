"""The nearest of some rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from typicality.geometry.base import Floats

_MANY_DIMENSIONS = 8  # where a k-d tree looks at most rows anyway
_POINTS_AT_A_TIME = 2**13


class NeighbourSearch(Protocol):
    """Finds the nearest rows of points and knows how far they are."""

    @property
    def n_rows(self) -> int:
        """The number of rows that are searched."""

    def of(self, asking: Floats, k: int) -> NDArray[np.intp]:
        """The k nearest rows of each asking row, the nearest first, shape (len(asking), k)."""

    def sqdist(self, asking: Floats, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Squared distances of asking rows to some rows each, pair by pair."""


class Neighbours(NamedTuple):
    """The nearest rows of points, the nearest first, and their squared distances."""

    rows: NDArray[np.intp]
    sqdist: NDArray[np.float64]

    def nearest(self, k: int) -> "Neighbours":
        """The nearest k of them."""
        rows, sqdist = self.rows[:, :k], self.sqdist[:, :k]
        return Neighbours(np.ascontiguousarray(rows), np.ascontiguousarray(sqdist))


def neighbours_of(search: NeighbourSearch, asking: Floats, k: int) -> Neighbours:
    """The k nearest rows of each asking row, with distances that do not depend on the batch."""
    index = np.empty((len(asking), min(k, search.n_rows)), np.intp)
    sqdist = np.empty(index.shape)
    for start in range(0, len(asking), _POINTS_AT_A_TIME):
        block = slice(start, start + _POINTS_AT_A_TIME)
        found = search.of(asking[block], k)
        squares = search.sqdist(asking[block], found)
        order = np.argsort(squares, axis=1, kind="stable")  # a search may round
        index[block] = np.take_along_axis(found, order, axis=1)
        sqdist[block] = np.take_along_axis(squares, order, axis=1)
    return Neighbours(index, sqdist)


@dataclass(frozen=True, eq=False)
class NearestRows:
    """A search for the nearest of some rows.

    Costs O(log n) a row in few dimensions, O(n d) in more than eight.

    Parameters
    ----------
    rows : array of shape (n, d)
        The rows.
    norm : {1, 2}, default=2
        The order of the norm.
    """

    rows: Floats
    norm: int = 2

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def sqdist(self, asking: Floats, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Squared Euclidean distances of asking rows to some rows each, pair by pair."""
        sqdist = np.zeros(index.shape)
        for column, own in zip(self.rows.T, asking.T.astype(np.float64), strict=True):
            sqdist += (column.astype(np.float64)[index] - own[:, None]) ** 2
        return sqdist

    def of(self, asking: Floats, k: int) -> NDArray[np.intp]:
        """The k nearest rows of each asking row, the nearest first, shape (len(asking), k)."""
        k = min(k, len(self.rows))
        if isinstance(self._search, cKDTree):
            every = np.arange(1, k + 1)
            found = self._search.query(asking, k=every, p=self.norm, workers=-1)[1]
        else:
            found = self._search.kneighbors(asking - self._middle, k, return_distance=False)
        return np.asarray(found, dtype=np.intp)

    def among(self, k: int) -> NDArray[np.intp]:
        """The k nearest rows of each of these rows, itself one of them."""
        order = self.order  # rows that follow one another then have the same neighbours at hand
        found = np.empty((len(self.rows), min(k, len(self.rows))), np.intp)
        found[order] = self.of(self.rows[order], k)
        return found

    @property
    def order(self) -> NDArray[np.intp]:
        """The rows in an order in which rows near one another mostly are near in space."""
        tree = self._search if isinstance(self._search, cKDTree) else cKDTree(self.rows)
        return np.asarray(tree.indices, dtype=np.intp)

    @cached_property
    def _search(self) -> Any:
        if self.rows.shape[1] <= _MANY_DIMENSIONS:
            return cKDTree(self.rows)
        metric = "cityblock" if self.norm == 1 else "euclidean"
        return NearestNeighbors(algorithm="brute", metric=metric).fit(self.rows - self._middle)

    @cached_property
    def _middle(self) -> Floats:
        # Distances come from scalar products, which lose digits far from zero.
        return np.asarray(np.median(self.rows, axis=0))


class RememberedNearest(NearestRows):
    """A search that remembers the nearest of its own rows: the longest list anyone asked for.

    It is meant for the time of a fit: the list is many times as large as the rows.
    """

    def among(self, k: int) -> NDArray[np.intp]:
        k = min(k, len(self.rows))
        if self._longest[0].shape[1] < k:
            self._longest[0] = super().among(k)
        return self._longest[0][:, :k]

    @cached_property
    def _longest(self) -> list[NDArray[np.intp]]:
        return [np.empty((len(self.rows), 0), np.intp)]


@dataclass(frozen=True, eq=False)
class GivenDistances:
    """A search among rows where an asking row is its squared distances to all training rows.

    Parameters
    ----------
    columns : array of shape (n,)
        The training rows that are searched.
    """

    columns: NDArray[np.intp]

    @property
    def n_rows(self) -> int:
        return len(self.columns)

    def of(self, asking: Floats, k: int) -> NDArray[np.intp]:
        sqdist = asking[:, self.columns]
        k = min(k, sqdist.shape[1])
        some = np.sort(np.argpartition(sqdist, k - 1, axis=1)[:, :k], axis=1)
        order = np.argsort(np.take_along_axis(sqdist, some, axis=1), axis=1, kind="stable")
        return np.asarray(np.take_along_axis(some, order, axis=1))

    def sqdist(self, asking: Floats, index: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.take_along_axis(asking, self.columns[index], axis=1).astype(np.float64)
