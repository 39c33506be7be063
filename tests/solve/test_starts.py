"""Starts depend on the data and their weights, not on the order of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from typicality.rows import DistinctRows
from typicality.solve.starts import NAMED_STARTS, plus_plus_by_distance

every_start = pytest.mark.parametrize(
    "name", ["k-means++", "k-means++ by distance", "max-min", "random"]
)


STARTS = {**NAMED_STARTS, "k-means++ by distance": plus_plus_by_distance}


def start(name, X, weight=None, *, n_clusters=4, seed=0):
    data = DistinctRows.of(X, weight)
    return data.rows[STARTS[name](data, n_clusters, np.random.RandomState(seed))]


@every_start
@pytest.mark.parametrize("ties", [False, True])
def test_start_counts_weight_k_as_k_copies_in_any_order(rng, name, ties):
    X = rng.normal(size=(40, 3))
    X[:, 0] = np.where(ties, X[:, 0].round(), X[:, 0])
    weight = rng.integers(0, 4, size=40)
    copies = rng.permutation(np.repeat(X, weight, axis=0))
    assert_array_equal(start(name, X, weight.astype(float)), start(name, copies))


@every_start
def test_start_chooses_distinct_rows_of_positive_weight(rng, name):
    X = np.repeat(rng.normal(size=(6, 2)), 5, axis=0)
    weight = np.ones(30)
    weight[:5] = 0
    points = start(name, X, weight, n_clusters=5)
    assert len(np.unique(points, axis=0)) == 5
    assert {tuple(p) for p in points} <= {tuple(x) for x in X[5:]}


def test_max_min_takes_the_row_farthest_from_the_mean_then_from_all_before():
    points = start("max-min", np.array([[0.0], [1.0], [2.0], [10.0]]), n_clusters=3)
    assert points.ravel().tolist() == [10.0, 0.0, 2.0]


def test_random_rows_follow_the_weights():
    X = np.arange(3.0)[:, None]
    weight = np.array([1.0, 8.0, 1.0])
    first = [start("random", X, weight, n_clusters=1, seed=s)[0, 0] for s in range(300)]
    assert_allclose(np.mean(np.array(first) == 1.0), 0.8, atol=0.06)


@pytest.mark.parametrize("name", ["k-means++", "k-means++ by distance"])
def test_heavy_rows_are_likely_starts(name):
    X, weight = np.array([[0.0], [1.0], [-1.0]]), np.array([1000.0, 1.0, 100.0])
    for seed in range(30):
        assert set(start(name, X, weight, n_clusters=2, seed=seed).ravel()) == {0.0, -1.0}


def test_starts_by_distance_are_as_good_as_scikit_learns(rng):
    """The sum of squared distances to the nearest start, over many draws."""
    X = rng.normal(size=(300, 2)) + 8 * rng.integers(0, 3, size=(300, 2))

    def cost(name):
        draws = [start(name, X, n_clusters=9, seed=seed) for seed in range(40)]
        return np.mean(
            [((X[:, None] - points) ** 2).sum(axis=2).min(axis=1).sum() for points in draws]
        )

    assert_allclose(cost("k-means++ by distance"), cost("k-means++"), rtol=0.1)
