"""Kernel sums at points, plain and in logarithms, rows in the same place, and the nearest rows.

All of them walk down the tree of the blocks (`_next_leaf`) and skip what is too far to matter.
"""

from numpy import empty, float32, float64, inf, int64, log, sqrt

from typicality.compiled.arithmetic import bits, clear, from_bits
from typicality.compiled.blocks import (
    MANY_FEATURES,
    distance_at,
    distance_between,
    distances,
    distances_of_four,
    evaluate,
    log_profile,
    part,
    ratio,
    relative_to,
)
from typicality.compiled.distances import smallest
from typicality.compiled.jit import Loop, inlined

_DEEPEST = 128  # nodes that can wait: more than a tree has levels
_POINTS_AT_ONCE = 32  # share a block while it is in the cache
_LANES = 16  # leaves have a multiple of it
_LARGEST, _BITS_OF_INFINITY = 2**63 - 1, 0x7FF0000000000000
_A_LITTLE_MORE = 1.0 + 1e-9  # each point looks for itself at what a group of points does not skip


# ---- the walk -----------------------------------------------------------------------------------


@inlined
def _next_leaf(form, blocks, lower, upper, skips, limits, nearest_first, waiting):
    """Walk on to the next leaf: its number, or -1 at the end.

    A walk begins with one node waiting, the root: `waiting` has their number, then the nodes. It
    leaves out a node with all below it where `skips(form, distance, node, limits)`, given the
    distance of the node to the box from `lower` to `upper`. Leaves come in their order; with
    `nearest_first`, the nearer child of a node comes before the other.
    """
    while waiting[0]:
        node = waiting[waiting[0]]
        waiting[0] -= 1
        distance = distance_between(form, lower, upper, blocks.lower[node], blocks.upper[node])
        if skips(form, distance, node, limits):
            continue
        leaf = node - (blocks.columns.shape[0] - 1)
        if leaf >= 0:
            return leaf
        left, right = 2 * node + 1, 2 * node + 2
        if nearest_first:
            to_left = distance_between(form, lower, upper, blocks.lower[left], blocks.upper[left])
            to_right = distance_between(
                form, lower, upper, blocks.lower[right], blocks.upper[right]
            )
            if to_right < to_left:
                left, right = right, left
        waiting[waiting[0] + 1], waiting[waiting[0] + 2] = right, left
        waiting[0] += 2
    return -1


@inlined
def _too_far(form, distance, node, limits):
    return distance > limits[0]


@inlined
def _not_nearer(form, distance, node, limits):
    best, node_weights = limits
    return distance >= best or node_weights[node] == 0.0


@inlined
def _too_small(form, distance, node, limits):
    best, least, node_weights = limits
    return ratio(form, max(distance, best), best) < least or node_weights[node] == 0.0


# ---- sums ---------------------------------------------------------------------------------------


@inlined
def _load_points(points, start, stop, group, lower, upper):
    """A group of points, transposed, and their box; filled up with copies of the last."""
    for j in range(lower.size):
        lower[j] = upper[j] = points[start, j]
        for p in range(group.shape[1]):
            here = points[min(start + p, stop - 1), j]
            group[j, p] = here
            lower[j] = min(lower[j], here)
            upper[j] = max(upper[j], here)


@inlined
def _distances_to_box(form, group, lower, upper, out):
    """Distances of a group of points to a box, each by itself."""
    clear(out)
    for j in range(lower.size):
        low, high = lower[j], upper[j]
        for p in range(out.size):
            gap = max(low - group[j, p], group[j, p] - high, 0.0)
            out[p] += part(form, gap)


@inlined
def _add_row(form, group, p, columns, complement, weights, units, values, sums, i):
    """Add one block to the sums of one point."""
    distances(form, columns, group, p, values)
    _add_values(form, complement, weights, units, values, sums, i)


@inlined
def _add_values(form, complement, weights, units, values, sums, i):
    """The same, given the distances of the rows of the block."""
    evaluate(form, complement, values)
    for k in range(weights.shape[0]):
        total = values.dtype.type(0)
        for r in range(values.size):
            total += values[r] * weights[k, r]
        sums[i, k] += units[k] * total


@inlined
def _add_four_rows(
    form, group, chosen, columns, complement, weights, units, values, sums, start
):  # fmt: skip
    """Add one block of many features to the sums of up to four points of a group.

    A distance is the same whatever points are beside it: fewer than four are filled up.
    """
    last = chosen.size - 1
    a, b, c, d = chosen[0], chosen[min(1, last)], chosen[min(2, last)], chosen[last]
    distances_of_four(form, columns, group, a, b, c, d, values)
    for p in range(chosen.size):
        _add_values(form, complement, weights, units, values[p], sums, start + chosen[p])


@inlined
def _add_leaf_at(
    form, blocks, weights, leaf, reach, complement, group, group_32, to_points,
    values, values_32, chosen, start, stop, sums, near,
):  # fmt: skip
    """Add a leaf to the sums at those points of a group that it is near enough to."""
    n_columns, n_chosen = sums.shape[1], 0
    narrow = blocks.narrow[leaf]
    if narrow:
        relative_to(group, blocks.centres[leaf], blocks.root, group_32)
        columns_32, placed_32 = blocks.columns_32[leaf], weights.placed_32[leaf]
        for p in range(stop - start):
            if to_points[p] <= reach and to_points[p] <= blocks.single_reach:
                _add_row(
                    form, group_32, p, columns_32, complement, placed_32, weights.units_32,
                    values_32, sums, start + p,
                )  # fmt: skip
    columns, placed = blocks.columns[leaf], weights.placed[leaf]
    many = columns.shape[0] > MANY_FEATURES
    for p in range(stop - start):
        if to_points[p] <= reach:
            for k in range(n_columns):
                near[start + p, k] += weights.total[leaf, k]
            near[start + p, n_columns] += 1.0
            if many:
                chosen[n_chosen] = p
                n_chosen += 1
            elif not (narrow and to_points[p] <= blocks.single_reach):
                _add_row(
                    form, group, p, columns, complement, placed, weights.units,
                    values[0], sums, start + p,
                )  # fmt: skip
    for first in range(0, n_chosen, 4):
        _add_four_rows(
            form, group, chosen[first : min(first + 4, n_chosen)], columns, complement, placed,
            weights.units, values, sums, start,
        )  # fmt: skip


@Loop
def sum_at(form, blocks, weights, reach, complement, points, first, last, sums, near):
    """Kernel sums at points `first` to `last`, each over the blocks that are near enough to it.

    What is skipped, and in which precision a block is added, depends on the point and the block
    alone, and blocks are added in their order: a point gets the same numbers alone and in any
    batch. `sums` has the shape (n_points, n_columns); for `near` see `sum_pairs`.
    """
    n_leaves, n_features, leaf_rows = blocks.columns.shape
    lower, upper = empty(n_features, float64), empty(n_features, float64)
    group = empty((n_features, _POINTS_AT_ONCE), float64)
    group_32 = empty((n_features, _POINTS_AT_ONCE), float32)
    to_points, chosen = empty(_POINTS_AT_ONCE, float64), empty(_POINTS_AT_ONCE, int64)
    values = empty((4, leaf_rows), float64)
    values_32 = empty(leaf_rows, float32)
    waiting = empty(_DEEPEST, int64)
    limits = (reach * _A_LITTLE_MORE,)
    for start in range(first, last, _POINTS_AT_ONCE):
        stop = min(start + _POINTS_AT_ONCE, last)
        _load_points(points, start, stop, group, lower, upper)
        waiting[0], waiting[1] = 1, 0
        while True:
            leaf = _next_leaf(form, blocks, lower, upper, _too_far, limits, False, waiting)
            if leaf < 0:
                break
            node = leaf + n_leaves - 1
            _distances_to_box(form, group, blocks.lower[node], blocks.upper[node], to_points)
            _add_leaf_at(
                form, blocks, weights, leaf, reach, complement, group, group_32, to_points,
                values, values_32, chosen, start, stop, sums, near,
            )  # fmt: skip


# ---- tails: rows in the same place, and sums in logarithms --------------------------------------


@Loop
def coincidences_at(form, blocks, weights, copies, nearest, points, first, last, counts):
    """Weight and copies of the rows in the same place as points `first` to `last`.

    That is where one minus the kernel is at most `nearest`. `counts` has shape (n_points, 2).
    """
    n_features, leaf_rows = blocks.columns.shape[1:]
    same_place = distance_at(form, nearest)
    limits = (same_place * _A_LITTLE_MORE,)
    point = empty((n_features, 1), float64)
    values = empty(leaf_rows, float64)
    waiting = empty(_DEEPEST, int64)
    for i in range(first, last):
        for j in range(n_features):
            point[j, 0] = points[i, j]
        waiting[0], waiting[1] = 1, 0
        while True:
            leaf = _next_leaf(form, blocks, points[i], points[i], _too_far, limits, False, waiting)
            if leaf < 0:
                break
            distances(form, blocks.columns[leaf], point, 0, values)
            for r in range(blocks.counts[leaf]):
                if values[r] <= same_place:
                    counts[i, 0] += weights[leaf, r]
                    counts[i, 1] += copies[leaf, r]


@inlined
def _find_nearest(form, blocks, weights, node_weights, same_place, point, values, waiting):
    """The distance and the weight of the nearest row elsewhere that has a weight."""
    best, best_weight = inf, 0.0
    at = point[:, 0]
    waiting[0], waiting[1] = 1, 0
    while True:
        limits = (best, node_weights)
        leaf = _next_leaf(form, blocks, at, at, _not_nearer, limits, True, waiting)
        if leaf < 0:
            return best, best_weight
        distances(form, blocks.columns[leaf], point, 0, values)
        for r in range(blocks.counts[leaf]):
            if same_place < values[r] < best and weights[leaf, r] > 0.0:
                best, best_weight = values[r], weights[leaf, r]


@Loop
def log_sums_at(form, blocks, weights, node_weights, nearest, share, points, first, last, log_sums):
    """Logarithms of kernel sums at points `first` to `last`, over the rows in other places.

    Relative to the nearest row, and without blocks that add less than `share` of the sum: near
    blocks come first, and each is compared with the sum so far.
    """
    n_features, leaf_rows = blocks.columns.shape[1:]
    same_place = distance_at(form, nearest)
    point = empty((n_features, 1), float64)
    values = empty(leaf_rows, float64)
    waiting = empty(_DEEPEST, int64)
    for i in range(first, last):
        for j in range(n_features):
            point[j, 0] = points[i, j]
        best, best_weight = _find_nearest(
            form, blocks, weights, node_weights, same_place, point, values, waiting
        )
        log_sums[i] = -inf
        if best == inf:
            continue
        total = 0.0
        waiting[0], waiting[1] = 1, 0
        while True:
            limits = (best, share * max(total, best_weight) / node_weights[0], node_weights)
            leaf = _next_leaf(form, blocks, points[i], points[i], _too_small, limits, True, waiting)
            if leaf < 0:
                break
            distances(form, blocks.columns[leaf], point, 0, values)
            total += _sum_elsewhere(form, weights[leaf], same_place, best, values)
        log_sums[i] = log_profile(form, best) + log(total)


@inlined
def _sum_elsewhere(form, weights, same_place, best, values):
    """The sum over the rows of a block elsewhere, relative to the kernel at distance `best`."""
    total = 0.0
    for r in range(values.size):
        relative = ratio(form, max(values[r], best), best)
        total += weights[r] * (relative if values[r] > same_place else 0.0)
    return total


# ---- the nearest rows ---------------------------------------------------------------------------


@inlined
def _beyond(form, distance, node, limits):
    return bits(distance) > limits[0]


@Loop
def nearest_keys(form, tree, points, k, mask, keys):
    """Keys of the k nearest rows of each point, of some others, and the largest number, unsorted.

    A line of `keys` has room for twice as many and a leaf. A key is the bits of the distance, with
    the number of the row in its lowest bits, which `mask` covers: keys sort as distances do. Points
    that follow one another should be near each other: the neighbours of one bound the search for
    the next.
    """
    n_features, leaf_rows = tree.columns.shape[1:]
    column, values = empty((n_features, 1)), empty(leaf_rows)
    waiting = empty(_DEEPEST, int64)
    reach = inf
    for i in range(len(points)):
        point, found, n_found = points[i], keys[i], int64(0)  # a literal compiles `smallest` again
        if reach < inf:  # so many rows are within this radius, by the triangle inequality
            way = distance_between(form, point, point, points[i - 1], points[i - 1])
            reach = (sqrt(reach) + sqrt(way)) ** 2 * _A_LITTLE_MORE
        most = bits(reach) | mask
        for j in range(n_features):
            column[j, 0] = point[j]
        waiting[0], waiting[1] = 1, 0
        while True:
            leaf = _next_leaf(form, tree, point, point, _beyond, (most,), True, waiting)
            if leaf < 0:
                break
            distances(form, tree.columns[leaf], column, 0, values)
            for start in range(0, tree.counts[leaf], _LANES):
                n_near = 0
                for r in range(start, start + _LANES):
                    n_near += bits(values[r]) <= most
                if n_near == 0:
                    continue
                for r in range(start, min(start + _LANES, tree.counts[leaf])):
                    key = (bits(values[r]) & ~mask) | tree.slots[leaf, r]
                    found[n_found] = key
                    n_found += key <= most  # without a branch, which would be guessed wrongly
            if n_found >= 2 * k:
                most, n_found = smallest(found, n_found, k), k
        reach = from_bits(most | mask) if most < _BITS_OF_INFINITY else inf
        found[n_found:] = _LARGEST
