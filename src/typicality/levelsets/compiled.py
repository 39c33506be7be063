"""Compiled code: heights by near rows, the trees that they grow, and walks through trees.

Functions fill the arrays they are given: to compile functions that make arrays takes longer. The
edges of trees come by falling height.
"""

from math import ceil, exp, log, sqrt
from typing import Any

from numba import njit
from numpy import arange, argsort, bool_, empty, inf, int8, intp, maximum, minimum, uintp, zeros

from typicality.compiled.arithmetic import LOG2_E, bits, exp2, from_bits, log2
from typicality.compiled.jit import REORDERED, cached

_LANES = 32  # rows at a time: loops of a fixed length become vector instructions without a rest
_MOST_POINTS, _MIDDLE_FIRST = 3, (0, 2, 1, 3)  # that are looked at between the ends of an edge
_STEP = 1.5  # widths between them
_DEEP, _DEEP_POWER = -700.0, -1009.0  # a height that underflows, as a power of e and of 2
_A_LITTLE_LESS = 1.0 - 1e-9
_BITS_OF_INFINITY = 0x7FF0000000000000

# No function here makes an array, so references to arrays need no counting. To count them took a
# quarter of the time, and more where threads share the arrays.
_UNCOUNTED = {"_nrt": False}

_inlined = njit(forceinline=True, **_UNCOUNTED)


# ---- heights by near rows: a `kernel` is a `LocalKernel`, heights are logarithms -----------------


@_inlined
def _filled(n_near, sqdist, squares, weights):
    """Fill up some near rows with rows that are infinitely far and weigh nothing."""
    n_filled = -(-n_near // _LANES) * _LANES
    for j in range(n_near, n_filled):
        sqdist[j], squares[j], weights[j] = inf, 1.0, 0.0
    return n_filled


@cached(**REORDERED, **_UNCOUNTED)
def _log_height(sqdist, squares, weights, n_near, own, kernel, enough):
    """The height of a point with the squared width `own`, from its near rows, the nearest first.

    Infinity if it is at least `enough`, which shows before all rows have been added.
    """
    dimension, mutual = kernel[2], kernel[3]
    per_volume = 0.0 if mutual else -0.5 * dimension * log(own)
    limit, total = exp(enough - per_volume), 0.0
    power, scale = 0.25 * dimension, -0.5 * LOG2_E
    for start in range(0, n_near, _LANES):
        if mutual:
            for j in range(start, start + _LANES):
                inverse = 1.0 / (own + squares[j])
                overlap = power * log2(4.0 * own * squares[j] * (inverse * inverse))
                total += weights[j] * exp2(overlap + scale * inverse * sqdist[j], _DEEP_POWER)
        else:
            for j in range(start, start + _LANES):
                total += weights[j] * exp2(scale / own * sqdist[j], _DEEP_POWER)
        if total >= limit:
            return inf
    return (log(total) if total > 0.0 else _DEEP) + per_volume


def scratch_for(near: Any) -> Any:
    """Room for what is asked of the rows near one row or another."""
    return empty((5, 2 * near.shape[1] + _LANES))


@cached(**_UNCOUNTED)
def log_heights(first, last, near, sqdist, own, kernel, scratch, heights):
    """The heights of points `first` to `last`, from their near rows; `scratch` is room."""
    widths, masses = kernel[4], kernel[5]
    n_near = near.shape[1]
    from_point, squares, weights = scratch[0], scratch[1], scratch[2]
    for i in range(first, last):
        for j in range(n_near):
            row = uintp(near[i, j])
            from_point[j], squares[j], weights[j] = sqdist[i, j], widths[row], masses[row]
        n_filled = _filled(n_near, from_point, squares, weights)
        heights[i] = _log_height(from_point, squares, weights, n_filled, own[i], kernel, inf)


# ---- the spanning tree of such heights -----------------------------------------------------------


@cached(**_UNCOUNTED)
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@_inlined
def _sqdist(positions, given, a, b):
    """The squared distance of two rows, by their coordinates or as it is given."""
    if given:
        return positions[a, b]
    total = 0.0
    for j in range(positions.shape[1]):
        total += (positions[a, j] - positions[b, j]) ** 2
    return total


@cached(**_UNCOUNTED)
def _near_either(positions, given, near, sqdist, a, b, kernel, scratch):
    """The rows that are near one of two rows, each once: `scratch` gets what is asked of them.

    These are their squared distances to both, their squared widths, and their weights. Rows near a
    come first, then those near b that are not near a. Returns their number.
    """
    widths, masses = kernel[4], kernel[5]
    from_a, from_b, squares, weights = scratch[0], scratch[1], scratch[2], scratch[3]
    n_near = n_found = near.shape[1]
    for j in range(n_near):
        row = uintp(near[a, j])
        from_a[j], from_b[j] = sqdist[a, j], _sqdist(positions, given, b, row)
        squares[j], weights[j] = widths[row], masses[row]
    farthest = sqdist[a, n_near - 1]
    within = (sqrt(farthest) - sqrt(_sqdist(positions, given, a, b))) * _A_LITTLE_LESS
    for j in range(n_near - 1, -1, -1):
        row, square = uintp(near[b, j]), sqdist[b, j]
        if not given and sqrt(square) < within:  # by the triangle inequality it is near a
            break
        to_a = _sqdist(positions, given, a, row)
        from_a[n_found], from_b[n_found] = to_a, square
        squares[n_found], weights[n_found] = widths[row], masses[row]
        n_found += to_a > farthest  # without a branch, which would be guessed wrongly
        if to_a == farthest:
            n_found += not _is_in(near[a, :n_near], row)
    return n_found


@cached(**REORDERED, **_UNCOUNTED)
def _kth_smallest(values, n_values, k, guess):
    """The k-th smallest of some positive values, found by counting those up to a guess.

    The bits of positive numbers are in their order, and loops over integers become vector
    instructions.
    """
    low, high, at = 0, _BITS_OF_INFINITY, bits(guess)
    n_low, n_high, halve = 0, 0, False
    while True:
        n_upto, largest, next_one = 0, 0, _BITS_OF_INFINITY
        for j in range(n_values):
            value = bits(values[j])
            n_upto += value <= at
            largest = max(largest, value if value <= at else 0)
            next_one = min(next_one, _BITS_OF_INFINITY if value <= at else value)
        if n_upto < k:
            low, n_low = next_one, n_upto
        else:
            high, n_high = largest, n_upto
        if n_upto == k or low >= high:
            return from_bits(high)
        if n_upto == k - 1:
            return from_bits(low)
        a, b = from_bits(low), from_bits(high)
        if b == inf:
            at = bits(1.25 * a)
        elif n_low == 0:
            at = bits(0.8 * b)
        elif halve:
            at = (low + high) // 2
        else:
            at = bits(a + (k - n_low - 0.5) / (n_high - n_low) * (b - a))
        halve = not halve
        if not low <= at < high:
            at = low


@cached(**_UNCOUNTED)
def _look_inside(positions, given, near, sqdist, a, b, kernel, scratch, n_looked, bound):
    """Look at points between the ends of an edge until one is lower than `bound`.

    There are up to three, of which the first `n_looked` are known; that in the middle comes first.
    An edge of less than a step has none: two Gaussians so close have no valley between them.
    Returns how many are known now, whether these are all, and the lowest height or `bound`.

    The squared distance from the point a + t (b - a) to a row c is, by Stewart's theorem,
    (1 - t) |a - c|^2 + t |b - c|^2 - t (1 - t) |a - b|^2.
    """
    k, share, _, _, widths, _ = kernel
    way = _sqdist(positions, given, a, b)
    step = _STEP * sqrt(min(widths[a], widths[b]))
    n_points = min(_MOST_POINTS, ceil(sqrt(way) / step) - 1)
    if n_points <= 0:
        return 0, True, bound
    from_a, from_b, squares, weights = scratch[0], scratch[1], scratch[2], scratch[3]
    n_near = _near_either(positions, given, near, sqdist, a, b, kernel, scratch)
    n_filled = _filled(n_near, from_a, squares, weights)
    from_b[n_near:n_filled] = inf
    from_point, k = scratch[4], min(k, near.shape[1])
    while n_looked < n_points:
        n_looked += 1
        number = n_looked if n_points < _MOST_POINTS else _MIDDLE_FIRST[n_looked]
        t = number / (n_points + 1)
        for j in range(n_filled):
            square = (1 - t) * from_a[j] + t * from_b[j] - t * (1 - t) * way
            from_point[j] = max(square, 0.0)
        guess = (1 - t) * sqdist[a, k - 1] + t * sqdist[b, k - 1]
        own = share * share * _kth_smallest(from_point, n_filled, k, guess)
        if own > 0.0:
            height = _log_height(from_point, squares, weights, n_filled, own, kernel, bound)
            if height < bound:
                return n_looked, n_looked == n_points, height
    return n_points, True, bound


@_inlined
def _comes_first(bounds, a, b):
    """Whether edge a has a higher bound than edge b, or the same and a smaller number."""
    return bounds[a] > bounds[b] or (bounds[a] == bounds[b] and a < b)


@cached(**_UNCOUNTED)
def _push(bounds, queue, n_queue, edge):
    """Put an edge into a queue, a heap whose first one comes first."""
    place = n_queue
    while place > 0 and _comes_first(bounds, edge, queue[(place - 1) // 2]):
        queue[place] = queue[(place - 1) // 2]
        place = (place - 1) // 2
    queue[place] = edge


@cached(**_UNCOUNTED)
def _pop(bounds, queue, n_queue):
    """Take the first edge out of a queue."""
    first, moved, place = queue[0], queue[n_queue - 1], 0
    while 2 * place + 1 < n_queue:
        child = 2 * place + 1
        if child + 1 < n_queue and _comes_first(bounds, queue[child + 1], queue[child]):
            child += 1
        if not _comes_first(bounds, queue[child], moved):
            break
        queue[place] = queue[child]
        place = child
    queue[place] = moved
    return first


@cached(**_UNCOUNTED)
def _grow(positions, given, near, sqdist, kernel, edges, bounds, order, queue, n_looked, is_exact,
          parent, scratch, chosen):  # fmt: skip
    """Fill `chosen` with the edges of the tree; the other arrays are as `grow_tree` makes them."""
    n_chosen, n_seen, n_queue = 0, 0, intp(0)  # for a literal, `_pop` would be compiled again
    while n_chosen < chosen.size:
        if n_queue == 0 or (n_seen < order.size and _comes_first(bounds, order[n_seen], queue[0])):
            e = order[n_seen]
            n_seen += 1
        else:
            e = _pop(bounds, queue, n_queue)
            n_queue -= 1
        a, b = edges[e, 0], edges[e, 1]
        root_a, root_b = _root(parent, a), _root(parent, b)
        if root_a == root_b:
            continue
        if not is_exact[e]:
            bound = bounds[e]
            n_looked[e], is_exact[e], bounds[e] = _look_inside(
                positions,
                given,
                near,
                sqdist,
                uintp(a),
                uintp(b),
                kernel,
                scratch,
                n_looked[e],
                bound,
            )
            if bounds[e] < bound:
                _push(bounds, queue, n_queue, e)
                n_queue += 1
                continue
        parent[root_b] = root_a
        chosen[n_chosen] = e
        n_chosen += 1


def grow_tree(
    positions: Any, given: Any, near: Any, sqdist: Any, kernel: Any, heights: Any, edges: Any
) -> tuple[Any, Any]:
    """The maximum spanning tree of the rows; an edge is as high as the lowest point on it.

    Kruskal's algorithm with upper bounds: the lower end of an edge bounds its height, and points
    inside are looked at only when the edge comes first. If one of them is lower, the edge waits in
    a queue until it comes first again. Returns the pairs and their heights, by falling height.
    """
    n_rows, n_edges = len(heights), len(edges)
    rank = empty(n_rows, intp)
    rank[argsort(-heights, kind="stable")] = arange(n_rows)
    one, other = edges.T
    bounds, later = minimum(heights[one], heights[other]), maximum(rank[one], rank[other])
    small = "u2" if n_rows <= 2**16 else "u4"  # which sorts in linear time
    order = argsort(later.astype(small), kind="stable")
    chosen = empty(n_rows - 1, intp)
    _grow(
        positions, given, near, sqdist, kernel, edges, bounds, order, empty(n_edges, intp),
        zeros(n_edges, int8), zeros(n_edges, bool_), arange(n_rows), scratch_for(near), chosen,
    )  # fmt: skip
    return edges[chosen], bounds[chosen]


# ---- pairs of neighbours, forests of given edges, and walks through trees ------------------------


@cached(**_UNCOUNTED)
def _is_in(names, wanted):
    for name in names:  # noqa: SIM110, generators are not compiled
        if name == wanted:
            return True
    return False


@cached(**_UNCOUNTED)
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


@cached(**_UNCOUNTED)
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


@cached(**_UNCOUNTED)
def label_cores(separates, peaks, place, first, middle, last, counts, cores, number, labels):
    """Fill `labels` as `Sides.label_cores` says; the next three arrays are scratch, of its size.

    Returns the number of labels.
    """
    n_rows, n_labels = len(labels), 0
    counts[:], number[:] = 0, -1
    for e in range(len(separates)):
        counts[middle[e]] = separates[e]
    for i in range(1, n_rows):
        counts[i] += counts[i - 1]
    cores[:] = 0
    for e in range(len(separates)):
        cores[middle[e]] = counts[last[e] - 1] > counts[first[e]]
    for i in range(1, n_rows):
        cores[i] += cores[i - 1]
    for e in range(len(separates)):
        for side in range(2 * separates[e]):
            core = cores[place[peaks[e, side]]]
            if number[core] < 0:
                number[core] = n_labels
                n_labels += 1
    for i in range(n_rows):
        labels[i] = number[cores[place[i]]]
    return n_labels


@cached(**_UNCOUNTED)
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


@cached(**_UNCOUNTED)
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


@cached(**_UNCOUNTED)
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


@cached(**_UNCOUNTED)
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
