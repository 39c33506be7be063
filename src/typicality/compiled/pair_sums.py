"""Sums of one minus the kernel over pairs of blocks of rows."""

from numpy import empty, float32, float64, int64

from typicality.compiled.arithmetic import clear
from typicality.compiled.blocks import (
    MANY_FEATURES,
    distance_between,
    distances,
    distances_of_four,
    evaluate,
    relative_to,
)
from typicality.compiled.jit import Loop, inlined


@inlined
def _fold_four(values, i, here, there, sums, onto_here, unit):
    """Add four lines of values to the sums of their rows, and to those of the columns."""
    a, b, c, d = here[i], here[i + 1], here[i + 2], here[i + 3]
    s0 = s1 = s2 = s3 = values.dtype.type(0)
    for r in range(sums.size):
        v0, v1, v2, v3, w = values[0, r], values[1, r], values[2, r], values[3, r], there[r]
        s0 += v0 * w
        s1 += v1 * w
        s2 += v2 * w
        s3 += v3 * w
        sums[r] += (v0 * a + v1 * b) + (v2 * c + v3 * d)
    onto_here[i] += unit * s0
    onto_here[i + 1] += unit * s1
    onto_here[i + 2] += unit * s2
    onto_here[i + 3] += unit * s3


@inlined
def _add_tile(
    form, rows, n_rows, columns, both, here, there, units,
    values, sums, onto_here, onto_there,
):  # fmt: skip
    """Add the tile of two blocks to the sums of the first and, where `both`, of the second."""
    n_columns, width = sums.shape
    for start in range(0, n_rows, 32):  # few enough that sums in single precision keep their digits
        for k in range(n_columns):
            clear(sums[k])
        for i in range(start, min(start + 32, n_rows), 4):
            if columns.shape[0] > MANY_FEATURES:
                distances_of_four(form, columns, rows, i, i + 1, i + 2, i + 3, values)
            else:
                for p in range(4):
                    distances(form, columns, rows, i + p, values[p])
            for p in range(4):
                evaluate(form, True, values[p])
            for k in range(n_columns):
                _fold_four(values, i, here[k], there[k], sums[k], onto_here[k], units[k])
        if both:
            for k in range(n_columns):
                for r in range(width):
                    onto_there[k, r] += units[k] * sums[k, r]


@Loop
def sum_pairs(form, blocks, weights, reach, pairs, first, last, sums, near):
    """Sums of one minus the kernel over pairs of blocks, for the pairs of nodes `first` to `last`.

    The tile of two leaves below a pair of nodes is computed once and added to the `sums`, of shape
    (n_leaves, n_columns, leaf_rows), of both. Boxes farther apart than `reach` (in the measure of
    the kernel) are skipped; `near`, of shape (n_leaves, n_columns + 1), gets the weight and the
    number of the blocks that are not. Pairs of nodes must have no node in common, so that two
    threads never add to the same leaf.
    """
    n_leaves, n_features, leaf_rows = blocks.columns.shape
    n_columns = sums.shape[1]
    values = empty((4, leaf_rows), float64)
    part = empty((n_columns, leaf_rows), float64)
    rows_32 = empty((n_features, leaf_rows), float32)
    values_32 = empty((4, leaf_rows), float32)
    part_32 = empty((n_columns, leaf_rows), float32)
    waiting = empty((256, 2), int64)
    for pair in range(first, last):
        waiting[0, 0], waiting[0, 1] = pairs[pair, 0], pairs[pair, 1]
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            a, b = waiting[n_waiting, 0], waiting[n_waiting, 1]
            distance = distance_between(
                form, blocks.lower[a], blocks.upper[a], blocks.lower[b], blocks.upper[b]
            )
            if distance > reach:
                continue
            here, there = a - (n_leaves - 1), b - (n_leaves - 1)
            if here < 0:
                n_waiting = _wait_for_children(a, b, waiting, n_waiting)
                continue
            both = here != there
            _count_near(weights.total, here, there, both, near)
            n_rows = blocks.counts[here]
            if blocks.narrow[there] and distance <= blocks.single_reach:
                relative_to(blocks.columns[here], blocks.centres[there], blocks.root, rows_32)
                _add_tile(
                    form, rows_32, n_rows, blocks.columns_32[there], both,
                    weights.placed_32[here], weights.placed_32[there], weights.units_32,
                    values_32, part_32, sums[here], sums[there],
                )  # fmt: skip
            else:
                _add_tile(
                    form, blocks.columns[here], n_rows, blocks.columns[there], both,
                    weights.placed[here], weights.placed[there], weights.units,
                    values, part, sums[here], sums[there],
                )  # fmt: skip


@inlined
def _wait_for_children(a, b, waiting, n_waiting):
    """Put the pairs of children of two nodes onto the stack; of a node with itself, each once."""
    for left in range(1, 3):
        for right in range(1, 3):
            if a != b or left <= right:
                waiting[n_waiting, 0] = 2 * a + left
                waiting[n_waiting, 1] = 2 * b + right
                n_waiting += 1
    return n_waiting


@inlined
def _count_near(total, here, there, both, near):
    n_columns = total.shape[1]
    for k in range(n_columns):
        near[here, k] += total[there, k]
        if both:
            near[there, k] += total[here, k]
    near[here, n_columns] += 1.0
    if both:
        near[there, n_columns] += 1.0
