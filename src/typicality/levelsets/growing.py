"""Compiled heights by near rows, and the spanning tree that they grow.

Nothing here calls other compiled code: numba's cache notices changes of this file only.
"""

from heapq import heapify, heappop, heapreplace
from math import ceil, exp, log, sqrt

from numba import njit
from numpy import arange, bool_, empty, full, int64, ones, zeros

_MOST_POINTS = 3  # that are looked at between the ends of an edge
_STEP = 1.5  # widths between them
_DEEP = -700.0  # the logarithm of a height that underflows


@njit(cache=True, nogil=True, fastmath=True)
def _log_height(near, sqdist, n_near, own, squares, weight, half_dimension, mutual):
    """The logarithm of a sum of kernel values over near rows; widths are squared.

    Mutual: the kernel of two widths. Else the Gaussian of the own width, per unit of volume.
    """
    total, width = 0.0, sqrt(own)
    for j in range(n_near):
        row = near[j]
        if mutual:
            both = own + squares[row]
            overlap = half_dimension * log(2.0 * width * sqrt(squares[row]) / both)
            total += weight[row] * exp(overlap - 0.5 * sqdist[j] / both)
        else:
            total += weight[row] * exp(-0.5 * sqdist[j] / own)
    height = log(total) if total > 0.0 else _DEEP
    return height if mutual else height - half_dimension * log(own)


@njit(cache=True, nogil=True)
def log_heights(first, last, near, sqdist, own, squares, weight, half_dimension, mutual, heights):
    """The logarithms of the heights of points `first` to `last`, of given near rows."""
    for i in range(first, last):
        heights[i] = _log_height(
            near[i], sqdist[i], near.shape[1], own[i], squares, weight, half_dimension, mutual
        )


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True, fastmath=True)
def _sqdist(positions, given, a, b):
    """The squared distance of two rows, by their coordinates or as it is given."""
    if given:
        return positions[a, b]
    total = 0.0
    for j in range(positions.shape[1]):
        total += (positions[a, j] - positions[b, j]) ** 2
    return total


@njit(cache=True, nogil=True)
def grow_tree(
    positions,
    given,
    near,
    k,
    share,
    squares,
    weight,
    half_dimension,
    mutual,
    heights,
    candidates,
    pairs,
    saddles,
):
    """The maximum spanning tree of the rows; an edge is as high as the lowest point on it.

    Kruskal's algorithm that looks at an edge when its turn comes: until then the lower of its ends
    is a bound. The near rows of a point on an edge are those of both ends, and its squared
    distance to a row c is, by Stewart's theorem,
    (1 - t) |a - c|^2 + t |b - c|^2 - t (1 - t) |a - b|^2. Heights are logarithms. Edges go into
    `pairs` and `saddles`, by falling height; returns how many were looked at.
    """
    n_rows, n_edges = heights.size, candidates.shape[0]
    queue = [
        (-min(heights[candidates[e, 0]], heights[candidates[e, 1]]), e) for e in range(n_edges)
    ]
    heapify(queue)
    known = zeros(n_edges, bool_)
    above, size = arange(n_rows), ones(n_rows, int64)
    seen_by = full(n_rows, -1, int64)
    rows = empty(2 * near.shape[1], int64)
    from_a, from_b = empty(rows.size), empty(rows.size)
    sqdist, sorted_sqdist = empty(rows.size), empty(rows.size)
    n_chosen = n_seen = 0
    while n_chosen < n_rows - 1:
        bound, e = queue[0]
        a, b = candidates[e, 0], candidates[e, 1]
        root_a, root_b = a, b
        while above[root_a] != root_a:
            root_a = above[root_a]
        while above[root_b] != root_b:
            root_b = above[root_b]
        if root_a == root_b:
            heappop(queue)
            continue
        if known[e]:
            heappop(queue)
            if size[root_a] < size[root_b]:
                root_a, root_b = root_b, root_a
            above[root_b] = root_a
            size[root_a] += size[root_b]
            pairs[n_chosen, 0], pairs[n_chosen, 1] = a, b
            saddles[n_chosen] = -bound
            n_chosen += 1
            continue
        known[e] = True
        n_seen += 1
        n_near = 0
        for end in (a, b):
            for row in near[end]:
                if seen_by[row] != e:
                    seen_by[row] = e
                    rows[n_near] = row
                    from_a[n_near] = _sqdist(positions, given, a, row)
                    from_b[n_near] = _sqdist(positions, given, b, row)
                    n_near += 1
        way = _sqdist(positions, given, a, b)
        step = _STEP * sqrt(min(squares[a], squares[b]))
        n_points = min(_MOST_POINTS, max(1, ceil(sqrt(way) / step) - 1))
        lowest = -bound
        for point in range(1, n_points + 1):
            t = point / (n_points + 1)
            for j in range(n_near):
                square = (1 - t) * from_a[j] + t * from_b[j] - t * (1 - t) * way
                sqdist[j] = max(square, 0.0)
                sorted_sqdist[j] = sqdist[j]
            own = share * share * _smallest(sorted_sqdist, n_near, min(k, n_near))
            if own > 0.0:
                height = _log_height(
                    rows, sqdist, n_near, own, squares, weight, half_dimension, mutual
                )
                lowest = min(lowest, height)
        heapreplace(queue, (-lowest, e))
    return n_seen
