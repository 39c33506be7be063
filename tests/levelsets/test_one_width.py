"""The automatic choice on the tree of one width: nulls stay whole, small groups do not count."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from typicality import AlphaCutClustering

pytestmark = pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")


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
def test_one_width_does_not_split_one_cluster(shape):
    found = [
        AlphaCutClustering(kernel="gaussian").fit(shape(np.random.default_rng(seed))).n_clusters_
        for seed in range(6)
    ]
    assert found.count(1) >= 5  # the rule lets chance split about one in twenty at the most


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
def test_one_width_finds_the_clusters_of_a_shape(name):
    X, y = SHAPES[name]
    model = AlphaCutClustering(kernel="gaussian", assign="all").fit(X)
    assert model.n_clusters_ == len(np.unique(y))
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_one_width_finds_a_small_blob_next_to_a_large_one():
    right = []
    for seed in range(5):
        X, y = make_blobs([1000, 100], centers=[[0, 0], [8, 0]], random_state=seed)
        model = AlphaCutClustering(kernel="gaussian", assign="all").fit(X)
        right.append(adjusted_rand_score(y, model.labels_) > 0.95)
    assert right.count(True) >= 4  # the vote may take another split than the clearest


@pytest.mark.parametrize("size", [1, 4])
def test_one_width_leaves_out_a_few_outliers_near_each_other(rng, size):
    blobs = make_blobs(300, centers=[[0, 0], [8, 0]], random_state=0)[0]
    X = np.vstack([blobs, [30.0, 30.0] + 0.05 * rng.normal(size=(size, 2))])
    model = AlphaCutClustering(kernel="gaussian").fit(X)
    assert model.n_clusters_ == 2
    assert (model.labels_[-size:] == -1).all()
