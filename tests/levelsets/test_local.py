"""Heights by the local kernel and the tree they grow, against all pairs computed by hand."""

from math import ceil, exp, log, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from typicality.kernels import LocalGaussian
from typicality.levelsets.growing import grow_trees
from typicality.levelsets.heights import LocalKernel, log_heights_at, squared_widths
from typicality.levelsets.tree import Sides
from typicality.spaces.nearest import GivenDistances, NearestRows, neighbours_of

SHARES = {True: 0.283, False: 0.4}  # of the local kernel, of the density
both = pytest.mark.parametrize("mutual", [True, False], ids=["local kernel", "density"])


def rows_and_weights(rng, n=60, d=2):
    X = np.concatenate([rng.normal(0, 0.3, (n // 2, d)), rng.normal(3, 1.0, (n - n // 2, d))])
    return X, rng.integers(1, 4, n) / n


def local_tree(X, weight, k):
    search = lambda some: NearestRows(X[some])  # noqa: E731
    return grow_trees(X, search, weight, [(np.arange(len(X)), [k])])[0][0]


def log_height(sqdist, own, squares, weights, dimension, mutual):
    """The logarithm of a sum of kernel values, term by term."""
    if mutual:
        terms = [
            w
            * (2 * sqrt(own) * sqrt(other) / (own + other)) ** (dimension / 2)
            * exp(-s / (2 * (own + other)))
            for s, other, w in zip(sqdist, squares, weights, strict=True)
        ]
        return log(sum(terms))
    density = sum(w * exp(-s / (2 * own)) for s, w in zip(sqdist, weights, strict=True))
    return log(density) - 0.5 * dimension * log(own)


def widths_by_hand(sqdist, k, share):
    return share**2 * np.sort(sqdist, axis=1)[:, k]


@both
@pytest.mark.parametrize("d", [1, 3])
def test_log_heights_are_the_formula(rng, mutual, d):
    X, weight = rows_and_weights(rng, d=d)
    k, share, sqdist = 8, SHARES[mutual], cdist(X, X, "sqeuclidean")
    squares = widths_by_hand(sqdist, k, share)
    near = neighbours_of(NearestRows(X), X, 2 * k + 1)
    assert_allclose(squared_widths(near, k, share), squares, rtol=1e-12)
    kernel = LocalKernel(k, share, 1.7, mutual, squares, weight)
    found = log_heights_at(near, squares, kernel)
    for i in range(len(X)):
        near_i = np.argsort(sqdist[i])[: 2 * k + 1]
        own = squares[i]
        terms = sqdist[i, near_i], own, squares[near_i], weight[near_i]
        assert found[i] == pytest.approx(log_height(*terms, 1.7, mutual), rel=1e-10)


def edge_by_hand(a, b, near, sqdist, k, share, squares, weight, heights, dimension, mutual):
    """The lowest of the ends and of up to three points between, an eager look at each."""
    rows = np.union1d(near[a], near[b])
    n_points = min(3, max(0, ceil(sqrt(sqdist[a, b]) / (1.5 * sqrt(min(squares[[a, b]])))) - 1))
    lowest = min(heights[a], heights[b])
    for t in np.arange(1, n_points + 1) / (n_points + 1):
        there = (1 - t) * sqdist[a, rows] + t * sqdist[b, rows] - t * (1 - t) * sqdist[a, b]
        own = share**2 * np.sort(there)[k - 1]
        terms = there, own, squares[rows], weight[rows]
        lowest = min(lowest, log_height(*terms, dimension, mutual))
    return lowest


@both
@pytest.mark.parametrize("is_given", [False, True], ids=["coordinates", "distances"])
def test_scale_tree_is_that_of_kruskal_over_all_edges(rng, mutual, is_given):
    X, weight = rows_and_weights(rng)
    k, share, sqdist = 6, SHARES[mutual], cdist(X, X, "sqeuclidean")
    positions, search = (
        (sqdist, GivenDistances) if is_given else (X, lambda some: NearestRows(X[some]))
    )
    trees = grow_trees(positions, search, weight, [(np.arange(len(X)), [k])])[0]
    tree = trees[0 if mutual else 1]
    weight = weight / weight.sum()
    near = np.argsort(sqdist, axis=1)[:, : 2 * k + 1]
    squares = widths_by_hand(sqdist, k, share)
    how = share, squares, weight, tree.heights, tree.dimension, mutual
    heights = np.array([edge_by_hand(a, b, near, sqdist, k, *how) for a, b in tree.sample.edges])
    group, saddles = np.arange(len(X)), []
    for e in np.argsort(-heights, kind="stable"):
        one, other = group[tree.sample.edges[e]]
        saddles += [heights[e]] * int(one != other)
        group[group == other] = one
    assert_allclose(tree.saddles, saddles, rtol=1e-8)
    assert len(tree.pairs) == len(X) - 1
    assert (np.diff(tree.saddles) <= 0).all()
    assert (tree.saddles <= tree.heights[tree.pairs].min(axis=1)).all()


def test_local_landscape_has_the_heights_of_its_tree_at_training_rows(rng):
    """Heights at training rows are those of the tree, and elsewhere sums of kernel values."""
    X, weight = rows_and_weights(rng)
    tree = local_tree(X, weight, 29)  # two k and itself are all rows but one
    land = tree.landscape(NearestRows(X), eta_scale=1.0)
    assert_allclose(land.heights(X), np.exp(tree.heights), rtol=1e-10)
    kernel = LocalGaussian(X, 29, tree.dimension)
    new = rng.normal(1, 1, (20, 2))
    K = kernel(new, X)
    farthest = cdist(new, X).argmax(axis=1)
    K[np.arange(20), farthest] = 0.0  # of 60 rows, 59 are summed over
    assert_allclose(land.heights(new), K @ land.weights, rtol=1e-9)
    assert_array_equal(land.heights(new), [land.heights(row[None])[0] for row in new])
    joined = land.join(X, np.exp(tree.heights))
    assert_array_equal(joined.node, np.arange(60))
    assert_array_equal(joined.height, np.exp(tree.heights))


# ---- walks through a tree ------------------------------------------------------------------------


def random_tree(seed, n=40, steps=12):
    """Edges by falling height over random heights, of which many tie."""
    rng = np.random.default_rng(seed)
    heights = rng.integers(1, steps, n) / steps
    pairs = np.array([(i, rng.integers(i)) for i in range(1, n)], dtype=np.intp)
    saddles = heights[pairs].min(axis=1) * rng.choice([1.0, 0.8, 0.3], n - 1)
    order = np.argsort(-saddles, kind="stable")
    return pairs[order], saddles[order], heights


def sides(pairs, e, n):
    """The rows on the two sides of an edge when the edges before it are there."""
    group = np.arange(n)
    for one, other in pairs[:e]:
        group[group == group[other]] = group[one]
    return [np.flatnonzero(group == group[end]) for end in pairs[e]]


every_seed = pytest.mark.parametrize("seed", range(3))


@every_seed
def test_sides_describe_both_sides_of_each_edge(seed):
    pairs, saddles, heights = random_tree(seed)
    counts = np.random.default_rng(seed).integers(1, 9, 40).astype(float)
    both = Sides.of(pairs, saddles, heights, counts)
    peaks, sizes, means = both.peaks, both.sizes, both.means
    for e in range(len(pairs)):
        both_sides = sides(pairs, e, 40)
        # The higher peak first; of rows that tie, the one with the smaller index.
        best = [min(side, key=lambda i: (-heights[i], i)) for side in both_sides]
        order = sorted(range(2), key=lambda s: (-heights[best[s]], best[s]))
        assert_array_equal(heights[peaks[e]], [heights[best[s]] for s in order])
        assert_array_equal(sizes[e], [counts[both_sides[s]].sum() for s in order])
        by_counts = [np.average(heights[side], weights=counts[side]) for side in both_sides]
        assert_allclose(means[e], [by_counts[s] for s in order])
        assert all(peaks[e, side] in both_sides[s] for side, s in enumerate(order))
        low = both_sides[order[1]]
        assert both.above[e] == counts[low[heights[low] > saddles[e]]].sum()


@every_seed
@pytest.mark.parametrize("n_separating", [0, 1, 10])
def test_label_cores_ends_a_core_where_an_edge_separates(seed, n_separating):
    pairs, saddles, heights = random_tree(seed)
    both = Sides.of(pairs, saddles, heights, np.ones(40))
    peaks = both.peaks
    separates = np.zeros(39, bool)
    separates[np.random.default_rng(seed).choice(39, n_separating, replace=False)] = True
    labels, n_labels = both.label_cores(separates)
    # By hand: what hangs together below no edge that separates, and has a peak of such an edge.
    group, closed = np.arange(40), np.zeros(40, bool)
    core = np.arange(40)
    for e, (one, other) in enumerate(pairs):
        joined = np.isin(group, group[[one, other]])
        is_closed = closed[joined].any() or separates[e]
        core[np.isin(core, core[[one, other]]) & (not is_closed)] = core[one]
        group[joined], closed[joined] = group[one], is_closed
    named = np.unique(core[peaks[separates]]) if n_separating else np.unique(group)
    expected = core if n_separating else group
    assert n_labels == len(named)
    assert_array_equal(labels >= 0, np.isin(expected, named))
    assert len({(e, f) for e, f in zip(expected, labels, strict=True) if f >= 0}) == n_labels


def filled_by_hand(pairs, labels):
    """One edge after the other: the side without labels takes that of the other end."""
    labels = labels.copy()
    for e, (one, other) in enumerate(pairs):
        near_one, near_other = sides(pairs, e, len(labels))
        known_one, known_other = (labels[near_one] >= 0).any(), (labels[near_other] >= 0).any()
        if known_other and not known_one:
            labels[near_one] = labels[other]
        if known_one and not known_other:
            labels[near_other] = labels[one]
    return labels


@every_seed
def test_fill_along_takes_the_label_of_the_row_by_which_a_row_joins(seed):
    pairs, saddles, heights = random_tree(seed)
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(40) < 0.2, rng.integers(0, 5, 40), -1)
    labels[0] = 0
    found = labels.copy()
    Sides.of(pairs, saddles, heights, np.ones(40)).fill_along(found)
    assert_array_equal(found, filled_by_hand(pairs, labels))
    assert (found >= 0).all()
    assert_array_equal(found[labels >= 0], labels[labels >= 0])
