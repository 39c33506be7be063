"""Compiled walks through graphs and trees of rows: who merges with whom, what hangs together."""

from numpy import arange, bool_, inf, int64, ones, zeros

from typicality.compiled.jit import cached


@cached()
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@cached()
def _place(names, row):
    for place in range(names.size):
        if names[place] == row:
            return place
    return names.size


@cached()
def link(nearest, n_known, pairs):
    """Pairs of rows of which one names the other, each once, the smaller index first.

    Pairs of which one names the other in the first `n_known` columns are left out. Returns the
    number of `pairs`.
    """
    n_pairs = 0
    for i in range(nearest.shape[0]):
        for j in nearest[i, n_known:]:
            back = _place(nearest[j], i)
            if j == i or back < n_known or (j < i and back < nearest.shape[1]):
                continue
            pairs[n_pairs, 0], pairs[n_pairs, 1] = min(i, j), max(i, j)
            n_pairs += 1
    return n_pairs


@cached()
def hang_together(nearest, mutual, component):
    """The component of each row where it is joined to those it names, or, `mutual`, name it too.

    Components are numbered by their first rows.
    """
    n_rows, k = nearest.shape
    parent = arange(n_rows)
    for i in range(n_rows):
        for j in nearest[i]:
            if not mutual or (j < i and _place(nearest[j], i) < k):
                a, b = _root(parent, i), _root(parent, j)
                parent[max(a, b)] = min(a, b)
    n_components = 0
    for i in range(n_rows):
        if parent[i] == i:
            component[i] = n_components
            n_components += 1
        else:
            component[i] = component[_root(parent, i)]


@cached()
def grow(pairs, heights, order, above, level, chosen):
    """Kruskal's maximum spanning forest; `order` sorts the edges by falling height.

    The root of the smaller component is hung below that of the larger one, at the height of the
    edge; `above` and `level` say where and at which. Returns the number of edges `chosen`.
    """
    size = ones(above.size, int64)
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
        if n_chosen == above.size - 1:
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


@cached()
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


@cached()
def prune(pairs, kept, heights, weight, edges, ends, total):
    """The edges that join components with kept nodes, by falling height; returns their number.

    `ends` are kept nodes of the two components: of each the lowest, whose height is nearest to
    that of the edge. What joins it without a kept node of its own counts as a part of that node:
    `total` is the weight of the kept nodes with all that is part of them.
    """
    n_nodes = heights.size
    parent = arange(n_nodes)
    lowest = arange(n_nodes)
    inside = weight.copy()
    for i in range(n_nodes):
        total[i] = weight[i] if kept[i] else 0.0
        lowest[i] = i if kept[i] else -1
    n_edges = 0
    for e in range(pairs.shape[0]):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        one, other = lowest[a], lowest[b]
        if one >= 0 and other >= 0:
            edges[n_edges], ends[n_edges, 0], ends[n_edges, 1] = e, one, other
            n_edges += 1
            low = one if heights[one] <= heights[other] else other
        else:
            low = max(one, other)
            if low >= 0:
                total[low] += inside[b] if one >= 0 else inside[a]
        root, leaf = (a, b) if inside[a] >= inside[b] else (b, a)
        parent[leaf] = root
        lowest[root] = low
        inside[root] += inside[leaf]
    return n_edges


@cached()
def merge_sides(pairs, heights, counts, peaks, sizes, means):
    """What each edge joins: the peaks, sizes and mean heights of both sides, higher peak first.

    A node counts as many times as there are copies of it.
    """
    n_rows = heights.size
    parent = arange(n_rows)
    peak = arange(n_rows)
    size = counts.copy()
    total = heights * counts
    for e in range(pairs.shape[0]):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        first, second = peak[a], peak[b]
        higher = heights[first] > heights[second]
        if not (higher or (heights[first] == heights[second] and first < second)):
            a, b = b, a
        peaks[e, 0], peaks[e, 1] = peak[a], peak[b]
        sizes[e, 0], sizes[e, 1] = size[a], size[b]
        means[e, 0], means[e, 1] = total[a] / size[a], total[b] / size[b]
        root, leaf = (a, b) if size[a] >= size[b] else (b, a)
        parent[leaf] = root
        peak[root] = peaks[e, 0]
        size[root] += size[leaf]
        total[root] += total[leaf]


@cached()
def label_cores(pairs, separates, peaks, labels):
    """Label what joins a peak before an edge separates it from another; -1 for all else.

    A separating edge gives a label to the higher peak of either side. Returns their number.
    """
    n_rows = labels.size
    parent = arange(n_rows)
    together = arange(n_rows)
    closed = zeros(n_rows, bool_)
    for e in range(pairs.shape[0]):
        a, b = _root(parent, pairs[e, 0]), _root(parent, pairs[e, 1])
        closed_now = closed[a] or closed[b] or separates[e]
        if not closed_now:
            together[_root(together, pairs[e, 1])] = _root(together, pairs[e, 0])
        parent[a] = b
        closed[b] = closed_now
    labels[:] = -1
    n_labels = 0
    for e in range(pairs.shape[0]):
        if separates[e]:
            for side in range(2):
                root = _root(together, peaks[e, side])
                if labels[root] < 0:
                    labels[root] = n_labels
                    n_labels += 1
    if n_labels == 0:
        labels[:] = 0
        return 1
    for i in range(n_rows):
        labels[i] = labels[_root(together, i)]
    return n_labels


@cached()
def fill_along(pairs, labels):
    """Rows without a label take that of the row by which they join, higher edges first."""
    n_rows = labels.size
    parent = arange(n_rows)
    last = arange(n_rows)
    after = zeros(n_rows, int64) - 1  # the rows of a component form a list, its root first
    labelled = labels >= 0
    for e in range(pairs.shape[0]):
        i, j = pairs[e, 0], pairs[e, 1]
        a, b = _root(parent, i), _root(parent, j)
        if labelled[a] != labelled[b]:
            if labelled[b]:
                a, b, i = b, a, j
            row = b
            while row >= 0:
                labels[row] = labels[i]
                row = after[row]
        parent[b] = a
        after[last[a]] = b
        last[a] = last[b]


@cached()
def ways_to(pairs, saddles, heights, target, ways):
    """The lowest height on the best way from each row to a target row."""
    n_rows = heights.size
    parent = arange(n_rows)
    last = arange(n_rows)
    after = zeros(n_rows, int64) - 1
    ways[target] = heights[target]
    for e in range(pairs.shape[0]):
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
