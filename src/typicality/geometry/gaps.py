"""Gaps: how far rows are from the rows nearest to them, in either space.

A row is isolated when it is more than three times as far from its nearest row as 95 of 100 rows
are: an outlier. Isolated rows do not count in the largest gap and are never the farthest.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats, Places
from typicality.geometry.rows import NearestRows
from typicality.membership.base import MembershipRule
from typicality.operators import Columns
from typicality.rows import row_blocks

if TYPE_CHECKING:  # the spaces open their gaps
    from typicality.geometry.centroids import Centroids
    from typicality.geometry.kernel_prototypes import KernelPrototypes

_AT_A_TIME = 256
_MATES = 8  # neighbours in the order of the tree that bound a distance
_BLOCK_ENTRIES = 2**22
_SAMPLE_ROWS = 4096  # rows whose gaps stand for those of all
_MOST_ROWS = 0.95
_ISOLATED = 3.0  # times the gap of most rows
_CROWD = 10  # rows: how far the last of them is tells how dense it is around a row
_TIED = 100.0  # units in the last place, of distances that may be the same
_NOTHING = 0.01  # units in the last place of the largest squared distance: the same row


@dataclass(frozen=True, eq=False)
class InputGaps:
    """Squared distances to nearest rows, through a search tree.

    Parameters
    ----------
    rows : array of shape (n, d)
        The distinct rows of positive weight, in lexicographic order.
    index : array of int
        Where they stand among all rows.
    """

    rows: Floats
    index: Places

    @cached_property
    def _search(self) -> NearestRows:
        return NearestRows(self.rows, 2)

    @property
    def max_gap(self) -> float:
        return self._scan[0]

    @property
    def _isolated(self) -> NDArray[np.bool_]:
        return self._scan[1]

    @cached_property
    def _scan(self) -> tuple[float, NDArray[np.bool_]]:
        """The largest gap that is not isolated, and the rows that are.

        Rows that follow one another along the tree bound each other's gap from above; only rows
        whose bound is above the largest gap found so far are asked for their nearest row.
        """
        limit = self._limit()
        bound = self._bounds()
        order = np.argsort(-bound, kind="stable")
        isolated = np.zeros(len(self.rows), bool)
        largest = 0.0
        for start in range(0, len(self.rows), _AT_A_TIME):
            asking = order[start : start + _AT_A_TIME]
            if bound[asking[0]] <= largest:
                break
            gaps = self._of(asking)
            isolated[asking] = gaps > limit
            largest = max(largest, float(gaps[gaps <= limit].max(initial=0.0)))
        return largest, isolated

    def _limit(self) -> float:
        """The gap beyond which a row is isolated; a subclass can isolate none."""
        some = np.arange(0, len(self.rows), max(1, len(self.rows) // _SAMPLE_ROWS))
        return _isolation(self._of(some))

    def _of(self, asking: Places) -> Doubles:
        """The squared distances of some rows to their nearest row."""
        nearest = self._search.of(self.rows[asking], 2)
        others = np.where(nearest[:, 0] == asking, nearest[:, 1], nearest[:, 0])
        return _sqdist(self.rows[asking], self.rows[others])

    @cached_property
    def _crowd(self) -> Doubles:
        return _sqdist(self.rows, self.rows[self._search.among(_CROWD + 1)[:, -1]])

    def _bounds(self) -> Doubles:
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

    def farthest_row(self, prototypes: "Centroids") -> int:
        blocks = prototypes.blocks(self.rows)
        nearest = [prototypes.sqdist(self.rows[block]).min(axis=1) for block in blocks]
        return _farthest(self, np.concatenate(nearest).astype(np.float64))

    def densest(self, rule: MembershipRule, prototypes: "Centroids") -> int | None:
        return _densest(self, prototypes.labels(rule, self.rows) < 0)

    def near(self, prototypes: "Centroids", n_neighbors: int) -> Doubles:
        points = prototypes.centers
        nearest = self._search.of(points, n_neighbors + 1)
        differences = self.rows[nearest].astype(np.float64) - points[:, None]
        return _others(np.sum(differences**2, axis=2), self.rows)[:, :n_neighbors]


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
    index: Places

    @cached_property
    def max_gap(self) -> float:
        return float(self._nearest[~self._isolated].max())

    @cached_property
    def _isolated(self) -> NDArray[np.bool_]:
        return np.asarray(self._nearest > _isolation(self._nearest))

    @property
    def _nearest(self) -> Doubles:
        return self._neighbours[:, 0]

    @property
    def _crowd(self) -> Doubles:
        return self._neighbours[:, -1]

    @cached_property
    def _neighbours(self) -> Doubles:
        step = max(1, _BLOCK_ENTRIES // len(self.rows))
        parts = (self.index[first : first + step] for first in range(0, len(self.index), step))
        found = []
        for asking in parts:
            sqdist = 2.0 * self.columns.half_sqdist(self.rows[asking])[:, self.index]
            found.append(_others(sqdist.astype(np.float64), self.rows)[:, :_CROWD])
        return np.concatenate(found)

    def farthest_row(self, prototypes: "KernelPrototypes") -> int:
        return _farthest(self, prototypes.training_sqdist[self.index].min(axis=1))

    def densest(self, rule: MembershipRule, prototypes: "KernelPrototypes") -> int | None:
        return _densest(self, prototypes.labels(rule, self.rows[self.index]) < 0)

    def near(self, prototypes: "KernelPrototypes", n_neighbors: int) -> Doubles:
        return _others(prototypes.training_sqdist[self.index].T, self.rows)[:, :n_neighbors]


def _farthest(gaps: InputGaps | KernelGaps, nearest: Doubles) -> int:
    """The row that is farthest from its nearest prototype, given these squared distances."""
    nearest[gaps._isolated] = -np.inf
    # Of rows that are equally far, but for rounding, the first in the order of the distinct.
    limit = (1.0 - _TIED * np.finfo(gaps.rows.dtype).eps) * nearest.max()
    return int(gaps.index[np.flatnonzero(nearest >= limit)[0]])


def _densest(gaps: InputGaps | KernelGaps, free: NDArray[np.bool_]) -> int | None:
    """The free row whose tenth nearest row is closest; None if no row is free."""
    if not free.any():
        return None
    crowd = np.where(free, gaps._crowd, np.inf)
    limit = (1.0 + _TIED * np.finfo(gaps.rows.dtype).eps) * crowd.min()
    return int(gaps.index[np.flatnonzero(crowd <= limit)[0]])


def _isolation(gaps: Doubles) -> float:
    """The squared distance to the nearest row beyond which a row is isolated."""
    return float(_ISOLATED**2 * np.quantile(gaps, _MOST_ROWS))


def _others(sqdist: Doubles, rows: Floats) -> Doubles:
    """Each row sorted, without the distance to the row itself where it is among them."""
    ordered = np.sort(sqdist, axis=1)
    itself = ordered[:, 0] <= _NOTHING * np.finfo(rows.dtype).eps * ordered[:, -1]
    return np.where(itself[:, None], ordered[:, 1:], ordered[:, :-1])


def _sqdist(rows: Floats, others: Floats) -> Doubles:
    return np.asarray(np.sum((rows.astype(np.float64) - others) ** 2, axis=1))
