"""Compiled walks down a spanning tree: who merges with whom, and what hangs together.

Nothing here calls other compiled code: numba's cache notices changes of this file only.
"""

from numba import njit
from numpy import arange, bool_, zeros

__all__ = ["core_edges", "joined_above", "merge_peaks"]


@njit(cache=True, nogil=True)
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(cache=True, nogil=True)
def joined_above(n_rows, edges, heights, pairs, bounds, order, joined):
    """Whether the two rows of each pair are joined by edges at least as high as its bound.

    Edges by falling height; `order` sorts the pairs by falling bound.
    """
    parent = arange(n_rows)
    e = 0
    for i in order:
        while e < heights.size and heights[e] >= bounds[i]:
            parent[_root(parent, edges[e, 1])] = _root(parent, edges[e, 0])
            e += 1
        joined[i] = _root(parent, pairs[i, 0]) == _root(parent, pairs[i, 1])


@njit(cache=True, nogil=True)
def merge_peaks(pairs, saddles, heights, weight, elder, younger, younger_weight):
    """The peaks of the two components each edge joins, edges by falling height.

    Of two peaks the higher one is the elder, the one with the smaller index where they tie.
    `younger_weight` is the weight of what is joined to the younger peak above the edge.
    """
    n_rows = heights.size
    parent = arange(n_rows)
    peak = arange(n_rows)
    total = weight.copy()
    lowest, at_lowest = heights.copy(), weight.copy()  # rows at the height of an edge are not above
    for e in range(pairs.shape[0]):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        first, second = peak[a], peak[b]
        higher = heights[first] > heights[second]
        if not (higher or (heights[first] == heights[second] and first < second)):
            a, b = b, a
        level_a = at_lowest[a] if lowest[a] == saddles[e] else 0.0
        level_b = at_lowest[b] if lowest[b] == saddles[e] else 0.0
        elder[e], younger[e], younger_weight[e] = peak[a], peak[b], total[b] - level_b
        root, leaf = (a, b) if total[a] >= total[b] else (b, a)
        parent[leaf] = root
        peak[root] = elder[e]
        total[root] += total[leaf]
        lowest[root], at_lowest[root] = saddles[e], level_a + level_b


@njit(cache=True, nogil=True)
def core_edges(pairs, saddles, heights, floors, separates, kept):
    """Which edges hold a cluster together: those within one, above the first that separates it.

    A component is closed once an edge that separates has touched it: what joins it further down is
    not its own. Nor is what joins below the floor of its highest row.
    """
    n_rows = heights.size
    parent = arange(n_rows)
    peak = arange(n_rows)
    closed = zeros(n_rows, bool_)
    for e in range(pairs.shape[0]):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        if heights[peak[b]] > heights[peak[a]]:
            a, b = b, a
        closed_now = closed[a] or closed[b] or separates[e]
        kept[e] = not closed_now and saddles[e] > floors[peak[a]]
        parent[b] = a
        closed[a] = closed_now
