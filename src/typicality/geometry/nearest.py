"""The nearest of some rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from typicality.geometry.base import Floats

__all__ = ["NearestRows", "RememberedNearest"]

_MANY_DIMENSIONS = 8  # where a k-d tree looks at most rows anyway


@dataclass(frozen=True, eq=False)
class NearestRows:
    """A search for the nearest of some rows.

    Costs O(log n) a row in few dimensions, O(n d) in more than eight.

    Parameters
    ----------
    rows : array of shape (n, d)
        The rows.
    norm : {1, 2}
        The order of the norm.
    """

    rows: Floats
    norm: int

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
