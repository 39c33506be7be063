"""Search for the nearest rows of points."""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from typicality._cached import cached_property
from typicality._sparse import is_sparse
from typicality._threads import over_blocks, over_ranges
from typicality._typing import Doubles, Floats, Index, Places
from typicality.kernels.stationary import GaussianForm, LaplacianForm
from typicality.sums.row_tree import RowTree

_MANY_DIMENSIONS = 8  # where a k-d tree looks at most rows anyway
_POINTS_AT_A_TIME = 2**8
_POINTS_OF_A_TASK = 2**6
_A_LITTLE_MORE = 1.0 + 1e-9


class Neighbours(NamedTuple):
    """The nearest rows of points, the nearest first, and their squared distances."""

    rows: Places
    sqdist: Doubles

    def nearest(self, k: int) -> "Neighbours":
        """The nearest k of them."""
        rows, sqdist = self.rows[:, :k], self.sqdist[:, :k]
        return Neighbours(np.ascontiguousarray(rows), np.ascontiguousarray(sqdist))


def neighbours_of(search: "NearestRows | GivenDistances", asking: Floats, k: int) -> Neighbours:
    """The k nearest rows of each asking row, with distances that do not depend on the batch."""
    index = np.empty((len(asking), min(k, search.n_rows)), np.intp)
    sqdist = np.empty(index.shape)
    search.find(asking, index, sqdist)
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

    rows: Annotated[Floats, "n _coordinates"]
    norm: int = 2

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def sqdist(self, asking: Floats, index: Places) -> Doubles:
        """Squared Euclidean distances of asking rows to some rows each, pair by pair."""
        sqdist = np.zeros(index.shape)
        for column, own in zip(self.rows.T, asking.T.astype(np.float64), strict=True):
            sqdist += (column.astype(np.float64)[index] - own[:, None]) ** 2
        return sqdist

    def of(self, asking: Floats, k: int) -> Places:
        """The k nearest rows of each asking row, the nearest first, shape (len(asking), k)."""
        k = min(k, len(self.rows))
        found = np.empty((len(asking), k), np.intp)
        if not len(asking):  # scikit-learn's search refuses to look for nothing
            return found
        search = self._search
        if not isinstance(search, cKDTree):
            near = search.kneighbors(asking - self._middle, k, return_distance=False)
            return np.asarray(near, dtype=np.intp)
        every = np.arange(1, k + 1)

        def look(first: int, last: int) -> None:
            found[first:last] = search.query(asking[first:last], k=every, p=self.norm)[1]

        over_ranges(look, len(asking), at_least=_POINTS_OF_A_TASK)
        return found

    def find(self, asking: Floats, index: Places, sqdist: Doubles) -> None:
        """Fill in the nearest rows of each asking row, and their squared distances.

        As many as the arrays have columns, the nearest first.
        """
        from typicality.compiled.distances import measure_in_order  # numba takes a second to load
        from typicality.compiled.point_sums import nearest_keys

        k, form = index.shape[1], LaplacianForm(1.0) if self.norm == 1 else GaussianForm(1.0)
        rows, asking = (
            np.ascontiguousarray(each, dtype=np.float64) for each in (self.rows, asking)
        )
        in_tree = self._in_tree  # points that follow one another then are near each other
        order = cKDTree(asking).indices if in_tree else np.arange(len(asking))
        known = None if in_tree else self.of(asking, k)
        mask = (1 << len(rows).bit_length()) - 1

        def look(block: slice) -> None:
            some = order[block]
            if known is None:
                keys = np.empty((len(some), 2 * k + self._tree.columns.shape[2]), np.int64)
                nearest_keys(form, self._tree, asking[some], k, mask, keys)
                keys.sort(axis=1)
                found = keys[:, :k] & mask
            else:
                found = known[block]
            measure_in_order(rows, asking, some, found, index, sqdist)

        over_blocks(look, len(asking), _POINTS_AT_A_TIME)

    def facing(self, own: Places, others: Places) -> tuple[Places, Places]:
        """The rows of two groups that can be at the ends of their shortest bridge.

        Rows are left out that are farther from the bounding box of the other group than some
        bridge is long: one from near that row of the others which is nearest to the own box.
        """
        here, there = self.rows[own].astype(np.float64), self.rows[others].astype(np.float64)
        to_box = _sqdist_to_box(there, here)
        start = here[np.sum((here - there[to_box.argmin()]) ** 2, axis=1).argmin()]
        most = np.sum((there - start) ** 2, axis=1).min() * _A_LITTLE_MORE
        near_box = to_box <= most
        return own[_sqdist_to_box(here, there[near_box]) <= most], others[near_box]

    def among(self, k: int) -> Places:
        """The k nearest rows of each of these rows, itself one of them."""
        order = self.order  # rows that follow one another then have the same neighbours at hand
        found = np.empty((len(self.rows), min(k, len(self.rows))), np.intp)
        found[order] = self.of(self.rows[order], k)
        return found

    @property
    def order(self) -> Places:
        """The rows in an order in which rows near one another mostly are near in space."""
        tree = self._search if isinstance(self._search, cKDTree) else cKDTree(self.rows)
        return np.asarray(tree.indices, dtype=np.intp)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("rows", "norm")
        return {name: value for name, value in self.__dict__.items() if name in kept}

    @property
    def _in_tree(self) -> bool:
        return self.rows.shape[1] <= _MANY_DIMENSIONS and not is_sparse(self.rows)

    @cached_property
    def _search(self) -> Any:
        if self._in_tree:
            return cKDTree(self.rows)
        metric = "cityblock" if self.norm == 1 else "euclidean"
        return NearestNeighbors(algorithm="brute", metric=metric).fit(self.rows - self._middle)

    @cached_property
    def _tree(self) -> RowTree:
        return RowTree.of(self.rows)

    @cached_property
    def _middle(self) -> Floats:
        if is_sparse(self.rows):
            return np.zeros(())
        # Distances come from scalar products, which lose digits far from zero.
        return np.asarray(np.median(self.rows, axis=0))


def _sqdist_to_box(points: Doubles, rows: Doubles) -> Doubles:
    """Squared distances of points to the bounding box of some rows."""
    inside = points.clip(rows.min(axis=0), rows.max(axis=0))
    return np.asarray(np.sum((points - inside) ** 2, axis=1))


@dataclass(frozen=True, eq=False)
class GivenDistances:
    """A search among rows where an asking row is its squared distances to all training rows.

    Parameters
    ----------
    columns : array of shape (n,)
        The training rows that are searched.
    """

    columns: Annotated[Places, "n", Index()]

    @property
    def n_rows(self) -> int:
        return len(self.columns)

    def of(self, asking: Floats, k: int) -> Places:
        sqdist = asking[:, self.columns]
        k = min(k, sqdist.shape[1])
        some = np.sort(np.argpartition(sqdist, k - 1, axis=1)[:, :k], axis=1)
        order = np.argsort(np.take_along_axis(sqdist, some, axis=1), axis=1, kind="stable")
        return np.asarray(np.take_along_axis(some, order, axis=1))

    def facing(self, own: Places, others: Places) -> tuple[Places, Places]:
        return own, others

    def find(self, asking: Floats, index: Places, sqdist: Doubles) -> None:
        index[:] = self.of(asking, index.shape[1])
        sqdist[:] = self.sqdist(asking, index)

    def sqdist(self, asking: Floats, index: Places) -> Doubles:
        return np.take_along_axis(asking, self.columns[index], axis=1).astype(np.float64)
