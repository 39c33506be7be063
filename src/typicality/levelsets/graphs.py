"""Which pairs of rows are looked at: all of them, or neighbours."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from typicality.geometry.nearest import NearestRows
from typicality.kernels.base import Floats

__all__ = ["Pairs", "all_pairs", "components", "distinct_pairs", "islands", "neighbour_pairs"]

Pairs = NDArray[np.intp]
Codes = NDArray[np.int64]

_PAIRS_AT_A_TIME = 2**16
_NEAREST_ISLANDS = 5
_FIRST_NEIGHBOURS = 6  # enough for most of the tree


def neighbour_pairs(search: NearestRows, k: int) -> Iterator[Pairs]:
    """Pairs of which one row is among the k nearest of the other, and bridges between islands.

    The graph of neighbours may fall apart into islands. Then each is linked to its five nearest
    islands, by their means, through the k closest pairs of rows, until all hang together.

    Yields
    ------
    pairs : array of shape (m, 2)
        The smaller index first; the nearest neighbours come before all others.
    """
    nearest = search.among(k + 1)
    first, every = _links(nearest[:, : _FIRST_NEIGHBOURS + 1]), _links(nearest)
    yield _pairs(first)
    later = np.ones(len(every), bool)
    later[np.searchsorted(every, first)] = False
    yield _pairs(every[later])
    island = _components(_names(nearest))
    while island.max() > 0:
        bridges = _bridges(search, island, k)
        yield bridges
        joined = components(int(island.max()) + 1, island[bridges].astype(np.intp))
        island = joined[island]


def all_pairs(n_rows: int) -> Iterator[Pairs]:
    """All pairs, some at a time."""
    first = 0
    while first < n_rows - 1:
        last = min(n_rows - 1, first + max(1, _PAIRS_AT_A_TIME // (n_rows - first)))
        counts = n_rows - 1 - np.arange(first, last)
        one = np.repeat(np.arange(first, last), counts)
        other = np.concatenate([np.arange(i + 1, n_rows) for i in range(first, last)])
        yield np.column_stack([one, other])
        first = last


def islands(search: NearestRows, k: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The island of each row in the graph of the k nearest neighbours, and in that of mutual ones.

    In the first two rows are joined when one is among the k nearest of the other, in the second
    when each is. A stray row between two clusters names rows of both and is named by none: it joins
    them in the first only. Islands of k rows or fewer are none: their rows get -1.
    """
    names = _names(search.among(k + 1))
    return _large_islands(names, k), _large_islands(names.multiply(names.T), k)


def _large_islands(graph: Any, k: int) -> NDArray[np.int32]:
    island = _components(graph)
    small = np.bincount(island) <= min(k, len(island) - 1)
    return np.where(small[island], np.int32(-1), island)


def _names(nearest: NDArray[np.intp]) -> Any:
    """The graph in which each row names its nearest ones."""
    n_rows, k = nearest.shape
    starts = np.arange(0, nearest.size + 1, k)
    return csr_array((np.ones(nearest.size, bool), nearest.ravel(), starts), (n_rows, n_rows))


def _links(nearest: NDArray[np.intp]) -> Codes:
    """Each row with those it names."""
    here = np.repeat(np.arange(len(nearest)), nearest.shape[1])
    return _distinct(here, nearest.ravel())


def distinct_pairs(pairs: Pairs) -> Pairs:
    """Pairs of two rows, each once, the smaller index first, in lexicographic order."""
    return _pairs(_distinct(pairs[:, 0], pairs[:, 1]))


def _distinct(one: NDArray[np.intp], other: NDArray[np.intp]) -> Codes:
    """A number for each pair of two rows, in lexicographic order: much quicker to sort than two."""
    one, other = one.astype(np.int64), other.astype(np.int64)
    codes = (np.minimum(one, other) << 32) + np.maximum(one, other)
    codes = np.sort(codes[one != other])
    return np.asarray(codes[np.diff(codes, prepend=-1) > 0])


def _pairs(codes: Codes) -> Pairs:
    return np.column_stack([codes >> 32, codes & (2**32 - 1)]).astype(np.intp, copy=False)


def components(n_rows: int, pairs: Pairs) -> NDArray[np.int32]:
    """The connected component of each row."""
    graph = coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), (n_rows, n_rows))
    return _components(graph)


def _components(graph: Any) -> NDArray[np.int32]:
    component: NDArray[np.int32] = connected_components(graph, directed=False)[1]
    return component


def _bridges(search: NearestRows, island: NDArray[np.int32], k: int) -> Pairs:
    """The closest pairs of rows between each island and its nearest ones."""
    rows, norm = search.rows, search.norm
    members = np.split(np.argsort(island, kind="stable"), np.cumsum(np.bincount(island))[:-1])
    middles = np.array([rows[own].mean(axis=0, dtype=np.float64) for own in members])
    links = _pairs(_links(NearestRows(middles, norm).among(_NEAREST_ISLANDS + 1)))
    return np.concatenate(
        [_closest(rows, members[one], members[other], k, norm) for one, other in links]
    )


def _closest(
    rows: Floats, one: NDArray[np.intp], other: NDArray[np.intp], k: int, norm: int
) -> Pairs:
    """Rows of one island with the nearest row of another, the k closest of these pairs."""
    distance, place = cKDTree(rows[other]).query(rows[one], p=norm)
    closest = np.argsort(distance, kind="stable")[:k]
    return np.sort(np.column_stack([one[closest], other[place[closest]]]), axis=1)
