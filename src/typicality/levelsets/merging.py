"""Compiled walks through graphs and trees of rows: which clusters merge, and components.

They fill the arrays they are given: to compile functions that make arrays takes longer. The edges
of trees come by falling height.
"""

from math import inf

from typicality.compiled.jit import cached


@cached()
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@cached()
def _place(names, wanted):
    for place in range(names.size):
        if names[place] == wanted:
            return place
    return names.size


@cached()
def link(nearest, n_known, pairs):
    """Pairs of rows of which one names the other, each once, the smaller index first.

    `nearest` has the rows that each row names. Pairs of which one names the other in the first
    `n_known` columns are left out. Returns the number of pairs.
    """
    n_rows, k = nearest.shape
    n_pairs = 0
    for i in range(n_rows):
        for j in nearest[i, n_known:]:
            back = _place(nearest[j], i)
            if j == i or back < n_known or (j < i and back < k):
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
def merge_peaks(
    pairs, saddles, heights,
    elder, younger, younger_weight, parent, peak, total, lowest, at_lowest,
):  # fmt: skip
    """The peaks of the two components each edge joins.

    Of two peaks the higher one is the elder, the one with the smaller index where they tie.
    `younger_weight` is the weight of what is joined to the younger peak above the edge. `parent`
    and `peak` begin with each row itself, `total` and `at_lowest` with weights, `lowest` with
    heights.
    """
    for e in range(len(pairs)):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        first, second = peak[a], peak[b]
        higher = heights[first] > heights[second]
        if not (higher or (heights[first] == heights[second] and first < second)):
            a, b = b, a
        # rows at the height of an edge are not above it
        level_a = at_lowest[a] if lowest[a] == saddles[e] else 0.0
        level_b = at_lowest[b] if lowest[b] == saddles[e] else 0.0
        elder[e], younger[e], younger_weight[e] = peak[a], peak[b], total[b] - level_b
        root, leaf = (a, b) if total[a] >= total[b] else (b, a)
        parent[leaf] = root
        peak[root] = elder[e]
        total[root] += total[leaf]
        lowest[root], at_lowest[root] = saddles[e], level_a + level_b


@cached()
def prune(pairs, heights, edges, ends, total, parent, lowest, inside):
    """The edges that join components with kept nodes; returns their number.

    The ends are kept nodes of the two components: of each the lowest, whose height is nearest to
    that of the edge. What joins it without a kept node of its own counts as a part of that node:
    `total` is the weight of the kept nodes with all that is part of them. It begins with the weight
    of kept nodes and 0 for others, `parent` with each node itself, `lowest` with kept nodes and -1
    for others, and `inside` with weights.
    """
    n_edges = 0
    for e in range(len(pairs)):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        first, second = lowest[a], lowest[b]
        if first >= 0 and second >= 0:
            edges[n_edges], ends[n_edges, 0], ends[n_edges, 1] = e, first, second
            n_edges += 1
            low = first if heights[first] <= heights[second] else second
        else:
            low = max(first, second)
            if low >= 0:
                total[low] += inside[b] if first >= 0 else inside[a]
        root, leaf = (a, b) if inside[a] >= inside[b] else (b, a)
        parent[leaf] = root
        lowest[root] = low
        inside[root] += inside[leaf]
    return n_edges


@cached()
def ways_to(pairs, saddles, target, ways, parent, last, after):
    """The lowest height on the best way from each row to a target row.

    `ways` has the height of the target, `parent` and `last` begin with each row itself, and `after`
    with -1: the rows of a component form a list, its root first.
    """
    for e in range(len(pairs)):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        here = _root(parent, target)
        if here == b:
            a, b = b, a
        if here == a:
            row = b
            while row >= 0:
                ways[row] = saddles[e]
                row = after[row]
        parent[b] = a
        after[last[a]] = b
        last[a] = last[b]


@cached()
def merge_sides(
    pairs, heights,
    high_peak, low_peak, high_first, low_first, low_rows, high_size, low_size, high_sum, low_sum,
    size, sum_of_heights, place, parent, peak, last, after,
):  # fmt: skip
    """The sides of each edge: peaks, first rows, sizes and sums of heights of both sides, and the
    number of rows of the lower one.

    `size` and `sum_of_heights` begin with those of each row. `place` becomes the place of each row
    in an order in which the lower side of every edge follows its higher side, and begins with ones.
    `parent`, `peak` and `last` begin with each row itself, `after` with -1.
    """
    a = 0
    for e in range(len(pairs)):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        first, second = peak[a], peak[b]
        higher = heights[first] > heights[second]
        if not (higher or (heights[first] == heights[second] and first < second)):
            a, b = b, a
        high_peak[e], low_peak[e] = peak[a], peak[b]
        high_first[e], low_first[e], low_rows[e] = a, b, place[b]
        high_size[e], low_size[e] = size[a], size[b]
        high_sum[e], low_sum[e] = sum_of_heights[a], sum_of_heights[b]
        size[a] += size[b]
        sum_of_heights[a] += sum_of_heights[b]
        place[a] += place[b]  # numbers of rows, until all are joined
        parent[b] = a
        after[last[a]] = b
        last[a] = last[b]
    row, number = a, 0
    while row >= 0:
        place[row] = number
        row = after[row]
        number += 1
