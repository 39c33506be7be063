"""Graphs of rows: pairs of neighbours, all pairs, and connected components."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from typicality._typing import Floats, Places
from typicality.spaces.nearest import NearestRows, neighbours_of

Pairs = Places

_PAIRS_AT_A_TIME = 2**16
_NEAREST_ISLANDS = 5
_FIRST_NEIGHBOURS = 6  # enough for most of the tree


def neighbour_pairs(search: NearestRows, k: int) -> Iterator[Pairs]:
    """Pairs of which one row is among the k nearest of the other, and bridges between islands.

    The graph of neighbours may have several components, the islands. Then each is linked to its
    five nearest islands, by their means, through the k closest pairs of rows, until the graph is
    connected.

    Yields
    ------
    pairs : array of shape (m, 2)
        The smaller index first; the nearest neighbours come before all others.
    """
    nearest = search.among(k + 1)
    n_first = min(_FIRST_NEIGHBOURS + 1, nearest.shape[1])
    first, more = links(nearest[:, :n_first]), links(nearest, n_known=n_first)
    yield first
    yield more
    island = components(len(nearest), np.concatenate([first, more]))
    while island.max() > 0:
        bridges = _bridges(search, island, k)
        yield bridges
        joined = components(int(island.max()) + 1, island[bridges].astype(np.intp))
        island = joined[island]


def linked_pairs(nearest: Places, asking: Floats, search_among: Callable[[Places], Any]) -> Pairs:
    """Pairs of which one row is near the other, and the shortest bridges between islands.

    Parameters
    ----------
    nearest : array of shape (n, k)
        The nearest rows of each row.
    asking : array of shape (n, ...)
        The rows in the form that a search takes.
    search_among : callable
        `search_among(rows)`: a search for the nearest of some of the rows.
    """
    pairs = links(nearest)
    island = components(len(nearest), pairs)
    while island.max() > 0:
        sizes = np.bincount(island)
        bridges = []
        for number in np.delete(np.arange(len(sizes)), sizes.argmax()):
            own, others = np.flatnonzero(island == number), np.flatnonzero(island != number)
            near = neighbours_of(search_among(others), asking[own], 1)
            shortest = int(near.sqdist.argmin())
            bridges.append((own[shortest], others[near.rows[shortest, 0]]))
        pairs = distinct_pairs(np.concatenate([pairs, np.array(bridges)]))
        island = components(len(nearest), pairs)
    return pairs


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


def links(nearest: Places, *, n_known: int = 0) -> Pairs:
    """Each row with its nearest, without pairs that the first `n_known` columns have already."""
    from typicality.levelsets.merging import link  # numba takes a second to load

    pairs = np.empty((nearest[:, n_known:].size, 2), np.intp)
    return pairs[: link(np.ascontiguousarray(nearest), n_known, pairs)]


def distinct_pairs(pairs: Pairs) -> Pairs:
    """Pairs of two rows, each once, the smaller index first, in lexicographic order."""
    one, other = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int64).T
    codes = np.unique((np.minimum(one, other) << 32) + np.maximum(one, other))  # quicker than pairs
    return np.column_stack([codes >> 32, codes & 0xFFFFFFFF]).astype(np.intp, copy=False)


def components(n_rows: int, pairs: Pairs) -> NDArray[np.int32]:
    """The connected component of each row."""
    graph = coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), (n_rows, n_rows))
    return np.asarray(connected_components(graph, directed=False)[1])


def _bridges(search: NearestRows, island: NDArray[np.int32], k: int) -> Pairs:
    """The k closest pairs of rows between each island and its nearest ones."""
    rows, norm = search.rows, search.norm
    members = np.split(np.argsort(island, kind="stable"), np.cumsum(np.bincount(island))[:-1])
    middles = np.array([rows[own].mean(axis=0, dtype=np.float64) for own in members])
    near = links(NearestRows(middles, norm).among(_NEAREST_ISLANDS + 1))
    bridges = []
    for one, other in ((members[a], members[b]) for a, b in near):
        distance, place = cKDTree(rows[other]).query(rows[one], p=norm)
        closest = np.argsort(distance, kind="stable")[:k]
        bridges.append(np.column_stack([one[closest], other[place[closest]]]))
    return np.sort(np.concatenate(bridges), axis=1)
