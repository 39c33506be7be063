"""The parts of the tree one by one: segments, pairs, valleys, joining."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gaussian_kde

from instances import DISTANCE_KINDS
from typicality.kernels import Gaussian, Laplacian
from typicality.levelsets import Landscape, deepest_valley
from typicality.levelsets.growing import Forest, neighbour_pairs, spanning_tree
from typicality.levelsets.heights import lowest_between
from typicality.sums import KernelColumns, Tiles


def landscape(X, kernel, rtol=1e-12, **between):
    weights = np.full(len(X), 1 / len(X))
    K = kernel(X, X)
    energy = 1 - weights @ K @ weights
    columns = KernelColumns(kernel, X)
    sums = Tiles(columns, rtol=rtol).expansion(weights[:, None])
    return Landscape(columns, weights, energy, eta=energy, sums=sums, **between)


@pytest.mark.parametrize("kernel", [kind(0.4) for kind in DISTANCE_KINDS], ids=str)
def test_landscape_has_the_heights_and_typicalities_of_the_formula(rng, kernel):
    X, points = rng.normal(size=(70, 3)), rng.normal(size=(30, 3))
    land = landscape(X, kernel)
    s = kernel(points, X).mean(axis=1)
    assert_allclose(land.heights(points), s, atol=1e-12)
    sqdist = 1 - 2 * s + kernel(X, X).mean()
    assert_allclose(land.typicality(s), np.exp(-sqdist / land.eta), rtol=1e-12)
    assert (np.diff(land.typicality(np.sort(s))) >= 0).all()


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.5)], ids=str)
def test_lowest_between_looks_in_steps_of_half_a_bandwidth(rng, kernel):
    X = rng.normal(size=(60, 2))
    land = landscape(X, kernel)
    starts, stops = X[:30], X[30:]
    lowest = lowest_between(land, starts, stops)
    for i in range(30):
        length = np.linalg.norm(stops[i] - starts[i], ord=land.nearest.norm)
        m = max(1, int(np.ceil(length / (0.5 * kernel.sigma))) - 1)
        assert length / (m + 1) <= 0.5 * kernel.sigma or m == 1
        points = starts[i] + np.arange(1, m + 1)[:, None] / (m + 1) * (stops[i] - starts[i])
        assert lowest[i] == pytest.approx(kernel(points, X).mean(axis=1).min(), abs=1e-12)


def test_lowest_between_looks_at_twenty_points_when_complete(rng):
    X, kernel = rng.normal(size=(40, 2)), Gaussian(0.2)
    land = landscape(X, kernel, labelling="complete")
    share = np.arange(1, 21)[:, None, None] / 21
    points = X[:20] + share * (X[20:] - X[:20])
    heights = kernel(points.reshape(-1, 2), X).mean(axis=1).reshape(20, 20)
    assert_allclose(lowest_between(land, X[:20], X[20:]), heights.min(axis=0), atol=1e-12)


@pytest.mark.parametrize("n_edges", [0, 30, 200])
def test_forest_knows_the_level_at_which_rows_are_joined(rng, n_edges):
    """Levels of all pairs as by Floyd and Warshall; heights tie often."""
    pairs = rng.integers(0, 40, size=(n_edges, 2))
    heights = rng.integers(0, 6, n_edges) / 5
    forest = Forest.of(40, pairs, heights)
    expected = np.full((40, 40), -np.inf)
    np.maximum.at(expected, (pairs[:, 0], pairs[:, 1]), heights)
    expected = np.maximum(expected, expected.T)
    np.fill_diagonal(expected, np.inf)
    for k in range(40):
        expected = np.maximum(expected, np.minimum(expected[:, [k]], expected[[k]]))
    every = np.array(list(np.ndindex(40, 40)))
    assert_array_equal(forest.joined_at(every).reshape(40, 40), expected)
    assert len(forest.pairs) == 40 - len(np.unique(expected > -np.inf, axis=0))
    assert (np.diff(forest.saddles) <= 0).all()


def test_spanning_tree_is_that_of_kruskal_over_all_edges(rng):
    """The tree has the same heights as Kruskal's over all edges with all their points."""
    X = rng.normal(size=(120, 2))
    land = landscape(X, Gaussian(0.2), n_neighbors=12)
    heights = land.heights(X)
    tree_pairs, saddles = spanning_tree(land, heights)
    pairs = np.vstack([*neighbour_pairs(land.nearest, 12), tree_pairs])
    every = np.minimum(
        lowest_between(land, X[pairs[:, 0]], X[pairs[:, 1]]),
        heights[pairs].min(axis=1),
    )
    group, kept = np.arange(120), []
    for e in np.argsort(-every, kind="stable"):
        one, other = group[pairs[e]]
        kept += [every[e]] * int(one != other)
        group[group == other] = one
    assert_array_equal(saddles, kept)
    assert len(tree_pairs) == 119


def test_valley_is_that_of_the_density_of_scipy(rng):
    values = np.append(rng.normal(0.0, 1.0, 300), rng.normal(5.0, 0.7, 200))
    at = np.linspace(values.min(), values.max(), 1000)
    density = gaussian_kde(values, "silverman")(at)
    between = (at > 0) & (at < 5)
    valley = deepest_valley(values, np.ones(500))
    assert valley.place == pytest.approx(at[between][density[between].argmin()], abs=0.02)
    assert valley.depth == pytest.approx(
        (density[at > 3].max() - density[between].min()) / density.max(), abs=0.02
    )


def test_join_takes_the_highest_way_and_training_rows_join_themselves(rng):
    X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(6, 1, (60, 2))])
    land = landscape(X, Gaussian(0.5), n_neighbors=10)
    heights = land.heights(X)
    joined = land.join(X, heights)
    assert_array_equal(joined.node, np.arange(120))
    assert_array_equal(joined.entry, heights)
    new = rng.uniform(-3, 9, size=(50, 2))
    joined = land.join(new, heights)
    assert_allclose(joined.height, land.heights(new))
    for i, row in enumerate(new):
        near = land.nearest.of(row[None], 10)[0]
        starts = np.repeat(row[None], 10, axis=0)
        way = np.minimum(lowest_between(land, starts, X[near]), heights[near])
        assert joined.entry[i] == np.minimum(way, joined.height[i]).max()
