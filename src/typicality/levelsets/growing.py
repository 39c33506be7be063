"""Compiled heights by near rows, and the spanning tree that they grow.

A `kernel` is the tuple `typicality.levelsets.local.LocalKernel`, and heights are logarithms.
"""

from math import ceil, log, sqrt
from typing import Any

from numpy import arange, argsort, bool_, empty, full, inf, intp, ones, zeros

from typicality.compiled.arithmetic import exp as vector_exp
from typicality.compiled.arithmetic import log as vector_log
from typicality.compiled.jit import REORDERED, cached

_MOST_POINTS = 3  # that are looked at between the ends of an edge
_STEP = 1.5  # widths between them
_DEEP = -700.0  # the logarithm of a height that underflows


@cached(**REORDERED)
def _log_height(near, sqdist, n_near, own, kernel):
    """The height of a point with the squared width `own`, from its first `n_near` near rows.

    The loops are free of branches and calls, so that they become vector instructions.
    """
    _, _, dimension, mutual, squares, weights = kernel
    half_dimension = 0.5 * dimension
    total = 0.0
    if mutual:
        twice = 2.0 * sqrt(own)
        for j in range(n_near):
            square = squares[near[j]]
            inverse = 1.0 / (own + square)
            overlap = half_dimension * vector_log(twice * sqrt(square) * inverse)
            total += weights[near[j]] * vector_exp(overlap - 0.5 * sqdist[j] * inverse, _DEEP)
        return log(total) if total > 0.0 else _DEEP
    scale = -0.5 / own
    for j in range(n_near):
        total += weights[near[j]] * vector_exp(scale * sqdist[j], _DEEP)
    return (log(total) if total > 0.0 else _DEEP) - half_dimension * log(own)


@cached()
def log_heights(first, last, near, sqdist, own, kernel, heights):
    """The heights of points `first` to `last`, from their near rows."""
    for i in range(first, last):
        heights[i] = _log_height(near[i], sqdist[i], near.shape[1], own[i], kernel)


@cached()
def _smallest(values, n_values, k):
    """The k-th smallest of some values, counted from 1; it reorders them."""
    low, high = 0, n_values - 1
    k -= 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@cached(fastmath=True)
def _sqdist(positions, given, a, b):
    """The squared distance of two rows, by their coordinates or as it is given."""
    if given:
        return positions[a, b]
    total = 0.0
    for j in range(positions.shape[1]):
        total += (positions[a, j] - positions[b, j]) ** 2
    return total


@cached()
def _near_either(near, a, b, edge, seen_by, found):
    """The rows that are near one of the ends of an edge, each once; returns their number."""
    n_found = 0
    for end in (a, b):
        for row in near[end]:
            if seen_by[row] != edge:
                seen_by[row] = edge
                found[n_found] = row
                n_found += 1
    return n_found


@cached()
def _lowest_inside(positions, given, a, b, near, n_near, kernel, scratch):
    """The lowest height at one to three points between the ends of an edge.

    The squared distance from the point a + t (b - a) to a row c is, by Stewart's theorem,
    (1 - t) |a - c|^2 + t |b - c|^2 - t (1 - t) |a - b|^2.
    """
    k, share, _, _, squares, _ = kernel
    from_a, from_b, sqdist, sorted_sqdist = scratch[0], scratch[1], scratch[2], scratch[3]
    for j in range(n_near):
        from_a[j] = _sqdist(positions, given, a, near[j])
        from_b[j] = _sqdist(positions, given, b, near[j])
    way = _sqdist(positions, given, a, b)
    step = _STEP * sqrt(min(squares[a], squares[b]))
    n_points = min(_MOST_POINTS, max(1, ceil(sqrt(way) / step) - 1))
    lowest = inf
    for point in range(1, n_points + 1):
        t = point / (n_points + 1)
        for j in range(n_near):
            square = (1 - t) * from_a[j] + t * from_b[j] - t * (1 - t) * way
            sqdist[j] = sorted_sqdist[j] = max(square, 0.0)
        own = share * share * _smallest(sorted_sqdist, n_near, min(k, n_near))
        if own > 0.0:
            lowest = min(lowest, _log_height(near, sqdist, n_near, own, kernel))
    return lowest


@cached()
def _sink(bounds, queue, n_queue):
    """Put a queue in order again, a heap of edges, where the first one has got another bound.

    The edge with the highest bound comes first, of equal ones that with the smaller number.
    """
    moved, place = queue[0], 0
    while 2 * place + 1 < n_queue:
        child = 2 * place + 1
        for other in range(child + 1, min(child + 2, n_queue)):
            a, b = queue[other], queue[child]
            if bounds[a] > bounds[b] or (bounds[a] == bounds[b] and a < b):
                child = other
        below = queue[child]
        if bounds[below] < bounds[moved] or (bounds[below] == bounds[moved] and below > moved):
            break
        queue[place] = below
        place = child
    queue[place] = moved


@cached()
def _grow(positions, given, near, kernel, edges, bounds, queue, is_exact, parent, size, seen_by,
          near_edge, scratch, chosen):  # fmt: skip
    """Fill `chosen` with the edges of the tree; the other arrays are as `grow_tree` makes them."""
    n_chosen, n_queue = 0, queue.size
    while n_chosen < chosen.size:
        e = queue[0]
        a, b = edges[e, 0], edges[e, 1]
        root_a, root_b = a, b
        while parent[root_a] != root_a:
            root_a = parent[root_a]
        while parent[root_b] != root_b:
            root_b = parent[root_b]
        if root_a != root_b and not is_exact[e]:
            is_exact[e] = True
            n_near = _near_either(near, a, b, e, seen_by, near_edge)
            inside = _lowest_inside(positions, given, a, b, near_edge, n_near, kernel, scratch)
            bounds[e] = min(bounds[e], inside)
        else:
            n_queue -= 1
            queue[0] = queue[n_queue]
            if root_a != root_b:
                if size[root_a] < size[root_b]:
                    root_a, root_b = root_b, root_a
                parent[root_b] = root_a
                size[root_a] += size[root_b]
                chosen[n_chosen] = e
                n_chosen += 1
        _sink(bounds, queue, n_queue)


def grow_tree(
    positions: Any, given: Any, near: Any, kernel: Any, heights: Any, edges: Any
) -> tuple[Any, Any]:
    """The maximum spanning tree of the rows; an edge is as high as the lowest point on it.

    Kruskal's algorithm with a queue of upper bounds: the lower end of an edge bounds its height,
    and points inside are looked at only when the edge comes first in the queue. Returns the pairs
    and their heights, by falling height. (Arrays are made here: to compile that takes a second.)
    """
    n_rows, n_near = len(heights), 2 * near.shape[1]
    bounds = heights[edges].min(axis=1)
    queue = argsort(-bounds, kind="stable")
    chosen = empty(n_rows - 1, intp)
    _grow(
        positions, given, near, kernel, edges, bounds, queue, zeros(len(edges), bool_),
        arange(n_rows), ones(n_rows, intp), full(n_rows, -1, intp), empty(n_near, intp),
        empty((4, n_near)), chosen,
    )  # fmt: skip
    return edges[chosen], bounds[chosen]
