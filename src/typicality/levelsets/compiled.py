"""Compiled code: heights by near rows, the trees that they grow, and walks through trees.

Functions fill the arrays they are given: to compile functions that make arrays takes longer. The
edges of trees come by falling height.
"""

from math import ceil, log, sqrt
from typing import Any

from numpy import arange, argsort, bool_, empty, full, inf, intp, zeros

from typicality.compiled.arithmetic import exp as vector_exp
from typicality.compiled.arithmetic import log as vector_log
from typicality.compiled.distances import smallest
from typicality.compiled.jit import REORDERED, cached

_MOST_POINTS = 3  # that are looked at between the ends of an edge
_STEP = 1.5  # widths between them
_DEEP = -700.0  # the logarithm of a height that underflows


# ---- heights by near rows: a `kernel` is a `LocalKernel`, heights are logarithms -----------------


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


# ---- the spanning tree of such heights -----------------------------------------------------------


@cached()
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


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
        own = share * share * smallest(sorted_sqdist, n_near, min(k, n_near))
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
def _grow(positions, given, near, kernel, edges, bounds, queue, is_exact, parent, seen_by,
          near_edge, scratch, chosen):  # fmt: skip
    """Fill `chosen` with the edges of the tree; the other arrays are as `grow_tree` makes them."""
    n_chosen, n_queue = 0, queue.size
    while n_chosen < chosen.size:
        e = queue[0]
        a, b = edges[e, 0], edges[e, 1]
        root_a, root_b = _root(parent, a), _root(parent, b)
        if root_a != root_b and not is_exact[e]:
            is_exact[e] = True
            n_near = _near_either(near, a, b, e, seen_by, near_edge)
            inside = _lowest_inside(positions, given, a, b, near_edge, n_near, kernel, scratch)
            bounds[e] = min(bounds[e], inside)
        else:
            n_queue -= 1
            queue[0] = queue[n_queue]
            if root_a != root_b:
                parent[root_b] = root_a
                chosen[n_chosen] = e
                n_chosen += 1
        _sink(bounds, queue, n_queue)


def grow_tree(
    positions: Any, given: Any, near: Any, kernel: Any, heights: Any, edges: Any
) -> tuple[Any, Any]:
    """The maximum spanning tree of the rows; an edge is as high as the lowest point on it.

    Kruskal's algorithm with a queue of upper bounds: the lower end of an edge bounds its height,
    and points inside are looked at only when the edge comes first in the queue. Returns the pairs
    and their heights, by falling height.
    """
    n_rows, n_near = len(heights), 2 * near.shape[1]
    bounds = heights[edges].min(axis=1)
    queue = argsort(-bounds, kind="stable")
    chosen = empty(n_rows - 1, intp)
    _grow(
        positions, given, near, kernel, edges, bounds, queue, zeros(len(edges), bool_),
        arange(n_rows), full(n_rows, -1, intp), empty(n_near, intp), empty((4, n_near)), chosen,
    )  # fmt: skip
    return edges[chosen], bounds[chosen]


# ---- pairs of neighbours, forests of given edges, and walks through trees ------------------------


@cached()
def _is_in(names, wanted):
    for name in names:  # noqa: SIM110, generators are not compiled
        if name == wanted:
            return True
    return False


@cached()
def link(nearest, pairs):
    """Pairs of rows of which one names the other, each once, the smaller index first.

    `nearest` has the rows that each row names. Returns the number of pairs.
    """
    n_pairs = 0
    for i in range(len(nearest)):
        for j in nearest[i]:
            if j == i or (j < i and _is_in(nearest[j], i)):
                continue
            pairs[n_pairs, 0], pairs[n_pairs, 1] = min(i, j), max(i, j)
            n_pairs += 1
    return n_pairs


@cached()
def grow(pairs, heights, order, above, level, size, chosen):
    """Kruskal's maximum spanning forest; `order` sorts the edges by falling height.

    The root of the smaller component is hung below that of the larger one, at the height of the
    edge; `above` and `level` say where and at which. `above` begins with each row itself, `size`
    with ones. Returns the number of edges `chosen`.
    """
    n_chosen = 0
    for e in order:
        a, b = pairs[e, 0], pairs[e, 1]
        while above[a] != a:
            a = above[a]
        while above[b] != b:
            b = above[b]
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        above[b], level[b] = a, heights[e]
        size[a] += size[b]
        chosen[n_chosen] = e
        n_chosen += 1
        if n_chosen == len(above) - 1:
            break
    return n_chosen


@cached()
def fill(pairs, parent, labels):
    """Give rows without a label, -1, that of the row by which they join, higher edges first.

    `parent` begins with each row itself. Of rows that were joined, the root has the label.
    """
    for e in range(len(pairs)):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        if labels[a] < 0:
            parent[a] = b
        elif labels[b] < 0:
            parent[b] = a
    for i in range(len(labels)):
        labels[i] = labels[_root(parent, i)]


@cached()
def pairs_together(labels, sizes, counts, together):
    """How many ordered pairs of rows are in one cluster in both of two partitions, for all two.

    `labels` has a partition a line, `sizes` their numbers of clusters. `counts` begins with zeros,
    one for every two clusters of any two partitions.
    """
    for i in range(len(labels)):
        for j in range(i + 1):
            n_pairs = 0
            for r in range(labels.shape[1]):
                place = labels[i, r] * sizes[j] + labels[j, r]
                n_pairs += 2 * counts[place]
                counts[place] += 1
            for r in range(labels.shape[1]):
                counts[labels[i, r] * sizes[j] + labels[j, r]] = 0
            together[i, j] = together[j, i] = n_pairs


@cached()
def meet(above, level, pairs, first, last, levels):
    """The level at which the rows of pairs `first` to `last` are joined in a forest of `grow`.

    Levels fall on the way up, so the row that was joined higher up goes first.
    """
    for i in range(first, last):
        a, b = pairs[i, 0], pairs[i, 1]
        levels[i] = inf
        while a != b:
            if level[a] < level[b]:
                a, b = b, a
            levels[i] = level[a]
            if above[a] == a:  # both are roots
                break
            a = above[a]


@cached()
def merge_sides(
    pairs, saddles, heights,
    peaks, low_rows, sizes, sums, above_edge,
    size, sum_of_heights, place, parent, last, after, lowest, at_lowest,
):  # fmt: skip
    """Fill in the two sides of each edge, that with the higher peak first.

    These are peaks, sizes and sums of heights; and of the lower side the number of rows and the
    weight of those above the edge. The root of a component is its peak.

    Of equal peaks, the one with the smaller index is the higher one. `size`, `sum_of_heights`,
    `lowest` and `at_lowest` begin with the weight, weighted height, height and weight of each row.
    `place` becomes the place of each row in an order in which the lower side of every edge follows
    its higher side, and begins with ones. `parent` and `last` begin with each row itself, `after`
    with -1.
    """
    a = 0
    for e in range(len(pairs)):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        if heights[b] > heights[a] or (heights[b] == heights[a] and b < a):
            a, b = b, a
        # rows at the height of an edge are not above it
        level_a = at_lowest[a] if lowest[a] == saddles[e] else 0.0
        level_b = at_lowest[b] if lowest[b] == saddles[e] else 0.0
        above_edge[e], low_rows[e] = size[b] - level_b, place[b]
        peaks[e, 0], peaks[e, 1] = a, b
        sizes[e, 0], sizes[e, 1] = size[a], size[b]
        sums[e, 0], sums[e, 1] = sum_of_heights[a], sum_of_heights[b]
        size[a] += size[b]
        sum_of_heights[a] += sum_of_heights[b]
        lowest[a], at_lowest[a] = saddles[e], level_a + level_b
        place[a] += place[b]  # numbers of rows, until all are joined
        parent[b] = a
        after[last[a]] = b
        last[a] = last[b]
    row, number = a, 0
    while row >= 0:
        place[row] = number
        row = after[row]
        number += 1
