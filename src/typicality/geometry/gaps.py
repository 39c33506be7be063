"""Gaps: how far rows are from the rows nearest to them, in either space."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Floats, row_blocks
from typicality.geometry.centroids import Centroids
from typicality.geometry.kernel_prototypes import KernelPrototypes, sqdist_from_products
from typicality.geometry.nearest import NearestRows
from typicality.operators import Columns

__all__ = ["InputGaps", "KernelGaps"]

_AT_A_TIME = 256
_MATES = 8  # neighbours in the order of the tree that bound a distance
_BLOCK_ENTRIES = 2**22
_NOTHING = 1e-12  # of the largest squared distance: below, rows are the same


@dataclass(frozen=True, eq=False)
class InputGaps:
    """Squared distances to nearest rows, through a search tree.

    Parameters
    ----------
    rows : array of shape (n, d)
        The distinct rows of positive weight.
    """

    rows: Floats

    @cached_property
    def _search(self) -> NearestRows:
        return NearestRows(self.rows, 2)

    @cached_property
    def largest(self) -> float:
        # Rows that follow one another along the tree bound each other's distance from above; only
        # rows whose bound is above the largest distance found so far are asked for their nearest.
        bound = self._bounds()
        order = np.argsort(-bound, kind="stable")
        largest = 0.0
        for start in range(0, len(self.rows), _AT_A_TIME):
            asking = order[start : start + _AT_A_TIME]
            if bound[asking[0]] <= largest:
                break
            nearest = self._search.of(self.rows[asking], 2)
            others = np.where(nearest[:, 0] == asking, nearest[:, 1], nearest[:, 0])
            largest = max(largest, float(_sqdist(self.rows[asking], self.rows[others]).max()))
        return largest

    def _bounds(self) -> NDArray[np.float64]:
        """Squared distances to the nearest of a few rows."""
        order = self._search.order
        bounds = np.full(len(order), np.inf)
        for step in range(1, min(_MATES, len(order) - 1) + 1):
            for block in row_blocks(len(order) - step):
                ahead, behind = order[step:][block], order[:-step][block]
                sqdist = _sqdist(self.rows[ahead], self.rows[behind])
                bounds[ahead] = np.minimum(bounds[ahead], sqdist)
                bounds[behind] = np.minimum(bounds[behind], sqdist)
        return bounds

    def around(self, prototypes: Centroids, n_neighbors: int) -> NDArray[np.float64]:
        points = prototypes.centers
        nearest = self._search.of(points, n_neighbors + 1)
        differences = self.rows[nearest].astype(np.float64) - points[:, None]
        return _others(np.sum(differences**2, axis=2))[:, :n_neighbors]


@dataclass(frozen=True, eq=False)
class KernelGaps:
    """The same in a kernel-induced space, by all distances: O(n^2) time, O(n) memory.

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    rows : array
        The training rows.
    index : array of int
        Where the distinct ones of positive weight stand.
    """

    columns: Columns
    rows: Floats
    index: NDArray[np.intp]

    @cached_property
    def largest(self) -> float:
        step = max(1, _BLOCK_ENTRIES // len(self.rows))
        parts = (self.index[first : first + step] for first in range(0, len(self.index), step))
        return max(float(self._among(part)[:, 0].max()) for part in parts)

    def _among(self, asking: NDArray[np.intp]) -> NDArray[np.float64]:
        sqdist = 2.0 * self.columns.half_sqdist(self.rows[asking])[:, self.index]
        return _others(sqdist.astype(np.float64))

    def around(self, prototypes: KernelPrototypes, n_neighbors: int) -> NDArray[np.float64]:
        sqdist = sqdist_from_products(prototypes.products, prototypes.energy)
        return _others(sqdist[self.index].T)[:, :n_neighbors]


def _others(sqdist: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row sorted, without the distance to the row itself where it is among them."""
    ordered = np.sort(sqdist, axis=1)
    itself = ordered[:, 0] <= _NOTHING * ordered[:, -1]
    return np.where(itself[:, None], ordered[:, 1:], ordered[:, :-1])


def _sqdist(rows: Floats, others: Floats) -> NDArray[np.float64]:
    sqdist: NDArray[np.float64] = np.sum((rows.astype(np.float64) - others) ** 2, axis=1)
    return sqdist
