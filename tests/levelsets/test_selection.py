"""Which peaks of one bandwidth are clusters: nulls stay whole, small groups do not count."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from typicality import AlphaCutClustering
from typicality.geometry.rows import NearestRows
from typicality.kernels import Gaussian
from typicality.levelsets import Landscape
from typicality.levelsets.graphs import islands
from typicality.levelsets.selection import (
    _dimension_around,
    _island_neighbours,
    contrasts,
    critical_value,
    select_clusters,
)
from typicality.operators import KernelColumns, Tiles


def uniform(rng):
    return rng.uniform(size=(500, 2))


def normal(rng):
    return rng.normal(size=(500, 3))


def thick_ring(rng):
    angle, radius = rng.uniform(0, 2 * np.pi, 500), 1 + 0.1 * rng.normal(size=500)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def filament(rng):
    return np.column_stack([rng.uniform(size=500), 0.01 * rng.normal(size=500)])


def heavy_tails(rng):
    return rng.standard_t(3, size=(500, 2))


@pytest.mark.parametrize("shape", [uniform, normal, thick_ring, filament, heavy_tails])
def test_selection_does_not_split_one_cluster(shape):
    found = [
        AlphaCutClustering(kernel="gaussian").fit(shape(np.random.default_rng(seed))).n_clusters_
        for seed in range(10)
    ]
    assert found.count(1) >= 9  # the rule lets chance split about one in twenty at the most


SHAPES = {
    "blobs": make_blobs(600, centers=[[0, 0], [6, 0], [0, 6], [6, 6]], random_state=0),
    "unequal densities": make_blobs(
        600, centers=[[0, 0], [7, 0], [3, 9]], cluster_std=[0.5, 1, 2], random_state=0
    ),
    "moons": make_moons(1000, noise=0.1, random_state=0),
    "circles": make_circles(1000, factor=0.5, noise=0.05, random_state=0),
    "line": make_blobs(600, centers=[[0], [6], [12]], random_state=0),
    "five dimensions": make_blobs(600, centers=6 * np.eye(3, 5), random_state=0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_selection_finds_the_clusters_of_a_shape(name):
    X, y = SHAPES[name]
    model = AlphaCutClustering(kernel="gaussian", assign="all").fit(X)
    assert model.n_clusters_ == len(np.unique(y))
    assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize("seed", range(5))
def test_selection_finds_sparse_clusters_next_to_a_dense_one(seed):
    sizes, centers = [2000, 100, 40], [[0, 0], [30, 0], [0, 30]]
    X, y = make_blobs(sizes, centers=centers, cluster_std=[0.3, 3, 3], random_state=seed)
    model = AlphaCutClustering(kernel="gaussian", assign="all").fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1.0
    core = AlphaCutClustering(kernel="gaussian").fit(X)
    assert [np.mean(core.labels_[y == k] >= 0) > 0.5 for k in range(3)] == [True] * 3


def test_islands_are_joined_by_a_stray_row_unless_mutual():
    sparse = np.array([[i, j] for i in range(6) for j in range(6)], float)
    X = np.vstack([0.1 * sparse, 0.1 * sparse + 40.0, [[20.25, 20.25]]])
    joined, mutual = islands(NearestRows(X, 2), 15)
    assert (joined == 0).all()
    assert mutual[-1] == -1
    assert len(np.unique(mutual[:-1])) == 2


@pytest.mark.parametrize("seed", range(5))
def test_selection_finds_a_small_blob_next_to_a_large_one(seed):
    X, y = make_blobs([1000, 100], centers=[[0, 0], [8, 0]], random_state=seed)
    model = AlphaCutClustering(kernel="gaussian", assign="all").fit(X)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize("shape", [uniform, normal, thick_ring, filament, heavy_tails])
def test_islands_are_not_made_by_chance(shape):
    for seed in range(20):
        search = NearestRows(shape(np.random.default_rng(100 + seed)), 2)
        joined, _ = islands(search, _island_neighbours(500))
        assert (joined == 0).all()


def test_island_neighbours_grow_with_the_number_of_rows():
    assert [_island_neighbours(n) for n in (1, 100, 1000, 10**6)] == [8, 15, 18, 28]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_selection_leaves_out_a_few_outliers_near_each_other(rng, size):
    blobs = make_blobs(300, centers=[[0, 0], [8, 0]], random_state=0)[0]
    X = np.vstack([blobs, [30.0, 30.0] + 0.05 * rng.normal(size=(size, 2))])
    model = AlphaCutClustering(kernel="gaussian").fit(X)
    assert model.n_clusters_ == 2
    assert (model.labels_[-size:] == -1).all()


def test_selection_keeps_the_parent_of_a_cluster():
    """Branches whose child is real are real themselves, so no core is left without a label."""
    for seed in range(20):
        X = make_blobs(300, n_features=2, centers=6, center_box=(-6, 6), random_state=seed)[0]
        model = AlphaCutClustering(kernel="gaussian").fit(X)
        tree = model.tree_
        highest = tree.row_of[tree.heights.argmax()]
        assert model.labels_[highest] >= 0
        assert set(model.labels_) - {-1} == set(range(model.n_clusters_))


def test_selection_leaves_out_small_cores_on_request():
    X, _ = make_blobs([200, 40], centers=[[0, 0], [6, 0]], cluster_std=0.7, random_state=0)
    every = AlphaCutClustering(kernel="gaussian").fit(X)
    large = AlphaCutClustering(kernel="gaussian", min_cluster_size=60).fit(X)
    assert (every.n_clusters_, large.n_clusters_) == (2, 1)
    assert_array_equal(large.labels_, np.where(every.labels_ == 0, 0, -1))
    assert large.alpha_.shape == (1,)


def test_selection_depends_on_tree_and_landscape_alone():
    model = AlphaCutClustering(kernel="gaussian").fit(SHAPES["moons"][0])
    again = select_clusters(model._regions.landscape, model.tree_)
    assert_array_equal(again.labels(model.tree_.node_of, model.tree_.entry_alpha), model.labels_)
    assert_array_equal(again.alpha, model.alpha_)


@pytest.mark.parametrize("name", SHAPES)
def test_contrasts_are_complete_above_a_level(name):
    model = AlphaCutClustering(kernel="gaussian").fit(SHAPES[name][0])
    landscape, tree = model._regions.landscape, model.tree_
    every, critical = contrasts(landscape, tree), critical_value(len(model.labels_))
    some = contrasts(landscape, tree, above=critical)
    assert_array_equal(np.where(some > critical, some, 0), np.where(every > critical, every, 0))
    assert np.sum(every > critical) == model.n_clusters_ - 1
    assert (every[tree.branches.weight < 5] == 0).all()


def test_dimension_around_a_row_is_the_effective_dimension(rng):
    def around_the_middle(X):
        columns = KernelColumns(Gaussian(0.5), X)
        weights = np.full(len(X), 1 / len(X))
        sums = Tiles(columns, rtol=1e-12).expansion(weights[:, None])
        landscape = Landscape(columns, weights, 0.5, eta=0.5, sums=sums)
        middle = np.argmin(np.sum(X**2, axis=1))
        return _dimension_around(middle, landscape, np.ones(len(X)))

    line = np.column_stack([rng.uniform(-5, 5, 500), 1e-3 * rng.normal(size=500)])
    assert around_the_middle(line) == pytest.approx(1.0, abs=0.01)
    assert around_the_middle(rng.uniform(-5, 5, size=(3000, 2))) == pytest.approx(2.0, abs=0.05)
    assert around_the_middle(np.array([[0.0, 0.0], [1e6, 1e6]])) == 1.0
