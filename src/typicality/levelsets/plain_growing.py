"""Heights by near rows, and the spanning tree that they grow, by arrays: for few rows.

The functions do the same as those of :mod:`typicality.levelsets.growing`, to rounding.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from typicality._typing import Doubles, Places

MOST_POINTS = 3  # that are looked at between the ends of an edge
STEP = 1.5  # widths between them
DEEP = -700.0  # the logarithm of a height that underflows

_ENTRIES_AT_A_TIME = 2**15  # points times near rows: they stay in the cache


def log_heights(near: Places, sqdist: Doubles, own: Doubles, kernel: Any) -> Doubles:
    """The heights of points, from their near rows and their own squared widths."""
    heights = np.empty(len(own))
    for some in _blocks(*near.shape):
        rows = near[some]
        heights[some] = _log_heights(
            sqdist[some], own[some], kernel, kernel.squares[rows], kernel.weights[rows]
        )
    return heights


def _log_heights(
    sqdist: Doubles, own: Doubles, kernel: Any, squares: Doubles, weights: Doubles
) -> Doubles:
    """The same, given the squared widths and the weights of the near rows."""
    half_dimension = 0.5 * kernel.dimension
    column = own[:, None]
    if kernel.mutual:
        inverse = 1.0 / (column + squares)
        overlap = np.log(2.0 * np.sqrt(column) * np.sqrt(squares) * inverse)
        terms = np.exp(half_dimension * overlap - 0.5 * sqdist * inverse)
    else:
        terms = np.exp(sqdist * (-0.5 / column))
    total = np.vecdot(weights, terms)
    heights = np.full(len(own), DEEP)
    np.log(total, out=heights, where=total > 0.0)
    return heights if kernel.mutual else heights - half_dimension * np.log(own)


def grow_tree(
    sqdist: Doubles, near: Places, kernel: Any, heights: Doubles, graph: "Graph"
) -> tuple[Places, Doubles]:
    """The maximum spanning tree of the rows; an edge is as high as the lowest point on it.

    The lower end of an edge bounds its height. Points inside are looked at on the edges of the tree
    that the bounds make, until all edges of the tree are known. Returns the pairs and their
    heights, by falling height.

    Parameters
    ----------
    sqdist : array of shape (n, n)
        The squared distances of all rows.
    near : array of shape (n, m)
        The near rows of each row.
    kernel : LocalKernel
        The kernel.
    heights : array of shape (n,)
        The heights of the rows.
    graph : Graph
        The edges, which connect all rows.
    """
    edges = graph.edges
    bounds = heights[edges].min(axis=1)
    known = np.zeros(len(edges), bool)
    is_near = np.zeros(sqdist.shape, bool)
    np.put_along_axis(is_near, near, True, axis=1)
    falling = np.argsort(-bounds, kind="stable")
    while not known[tree := graph.first_tree(falling)].all():
        new = tree[~known[tree]]
        known[new] = True
        for some in _blocks(len(new), 2 * near.shape[1]):
            few = new[some]
            one, other = edges[few].T
            lowest = _lowest_inside(sqdist, one, other, near, is_near, kernel)
            bounds[few] = np.minimum(bounds[few], lowest)
        falling = falling[np.argsort(-bounds[falling], kind="stable")]  # few have moved: quick
    return edges[tree], bounds[tree]


class Graph:
    """The edges of a graph.

    Parameters
    ----------
    edges : array of shape (e, 2)
        The edges, the smaller index first.
    n_rows : int
        The number of rows.
    """

    def __init__(self, edges: Places, n_rows: int) -> None:
        self.edges = edges
        codes = edges[:, 0] * n_rows + edges[:, 1]
        self._order = np.argsort(codes)
        starts = np.searchsorted(codes[self._order], n_rows * np.arange(n_rows + 1))
        self._places = edges[self._order, 1].astype(np.int32), starts.astype(np.int32)
        self._shape = n_rows, n_rows

    def first_tree(self, order: Places) -> Places:
        """The edges that Kruskal's algorithm takes, given all edges in the order it looks at."""
        rank = np.empty(len(order))
        rank[order] = np.arange(1.0, len(order) + 1.0)
        matrix = csr_array((rank[self._order], *self._places), self._shape)
        ranks = np.sort(minimum_spanning_tree(matrix).data).astype(np.intp)
        return np.asarray(order[ranks - 1])


def _lowest_inside(
    sqdist: Doubles, a: Places, b: Places, near: Places, is_near: NDArray[np.bool_], kernel: Any
) -> Doubles:
    """The lowest height at one to three points between the ends of edges.

    The squared distance from the point a + t (b - a) to a row c is, by Stewart's theorem,
    (1 - t) |a - c|^2 + t |b - c|^2 - t (1 - t) |a - b|^2.
    """
    rows = np.concatenate([near[a], near[b]], axis=1)
    from_a, from_b = (sqdist.take(end[:, None] * len(sqdist) + rows) for end in (a, b))
    twice = is_near.take(a[:, None] * len(sqdist) + near[b])
    from_a[:, near.shape[1] :][twice] = np.inf  # each row counts once
    way, squares, weights = sqdist[a, b], kernel.squares.take(rows), kernel.weights.take(rows)
    step = STEP * np.sqrt(np.minimum(kernel.squares[a], kernel.squares[b]))
    n_points = np.clip(np.ceil(np.sqrt(way) / step) - 1, 1, MOST_POINTS).astype(np.intp)
    lowest = np.full(len(a), np.inf)
    last = min(kernel.n_neighbors, near.shape[1]) - 1
    for count in range(1, MOST_POINTS + 1):
        some = np.flatnonzero(n_points == count)
        for point in range(1, count + 1) if len(some) else ():
            t = point / (count + 1)
            between = (1 - t) * from_a[some] + t * from_b[some] - (t * (1 - t) * way[some])[:, None]
            np.maximum(between, 0.0, out=between)
            own = kernel.share**2 * np.partition(between, last, axis=1)[:, last]
            there = np.flatnonzero(own > 0.0)
            here = some[there]
            found = _log_heights(between[there], own[there], kernel, squares[here], weights[here])
            lowest[here] = np.minimum(lowest[here], found)
    return lowest


def _blocks(n_points: int, n_near: int) -> Iterator[slice]:
    step = max(1, _ENTRIES_AT_A_TIME // n_near)
    return (slice(start, start + step) for start in range(0, n_points, step))
