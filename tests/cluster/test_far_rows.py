"""One row far from all others, or a few: what it may change, and what it may not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    EntropyCMeans,
    FuzzyCMeans,
    PossibilisticCMeans,
    SparseAdaptivePCM,
)
from typicality.exceptions import ClusteringWarning

CENTRES = np.array([[0.0, 0.0], [12.0, 0.0], [6.0, 10.4]])
TRUTH = np.repeat([0, 1, 2], 60)


def with_far_row(distance, seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    rows = np.repeat(CENTRES, n_rows, axis=0) + rng.normal(size=(3 * n_rows, 2))
    angle = rng.uniform(0, 2 * np.pi)
    return np.vstack([rows, distance * np.array([[np.cos(angle), np.sin(angle)]])])


POSSIBILISTIC = [
    PossibilisticCMeans(3, random_state=0),
    PossibilisticCMeans(3, objective="1993", random_state=0),
    PossibilisticCMeans(3, init="max-min"),
    PossibilisticCMeans(3, init="random", n_init=3, random_state=0),
    PossibilisticCMeans(3, kernel="polynomial", eta_scale=0.1, random_state=0),
    AdaptivePCM(),
    SparseAdaptivePCM(),
    AlphaCutClustering(),
]


@pytest.mark.filterwarnings("ignore::typicality.exceptions.FeatureWarning")
@pytest.mark.parametrize("estimator", POSSIBILISTIC, ids=str)
@pytest.mark.parametrize("distance", [30.0, 1e9])
def test_far_row_leaves_the_labels_of_the_others_alone(estimator, distance):
    labels = estimator.fit(with_far_row(distance)).labels_[:-1]
    counted = labels >= 0
    assert adjusted_rand_score(TRUTH[counted], labels[counted]) == 1.0
    assert counted.mean() > 0.9


@pytest.mark.parametrize("distance", [100.0, 1e9])
def test_far_row_has_no_typicality_and_no_prototype(distance):
    X = with_far_row(distance)
    model = PossibilisticCMeans(3, random_state=0).fit(X)
    without = PossibilisticCMeans(3, random_state=0).fit(X[:-1])
    assert model.memberships_[-1].max() < 1e-9
    order = pairwise_distances(without.cluster_centers_, model.cluster_centers_).argmin(axis=1)
    assert_allclose(model.cluster_centers_[order], without.cluster_centers_, atol=1e-3)
    assert_allclose(model.eta_[order], without.eta_, rtol=1e-3)


@pytest.mark.parametrize("kernel", ["dissimilarities", "precomputed"])
def test_far_row_of_a_matrix_is_left_out_of_the_start(kernel):
    X = with_far_row(1e5)
    matrix = pairwise_distances(X) if kernel == "dissimilarities" else X @ X.T
    labels = PossibilisticCMeans(3, kernel=kernel, random_state=0).fit(matrix).labels_[:-1]
    assert adjusted_rand_score(TRUTH, labels) == 1.0


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")  # of k-means in float32
@pytest.mark.parametrize(
    ("kind", "dtype", "distance"),
    [
        (FuzzyCMeans, np.float64, 1e3),
        (FuzzyCMeans, np.float32, 1e6),
        (EntropyCMeans, np.float32, 1e3),
        (EntropyCMeans, np.float64, 1e9),
    ],
)
def test_cluster_of_a_far_row_is_reported_and_the_rest_is_no_worse_than_k_means(
    kind, dtype, distance
):
    X = with_far_row(distance).astype(dtype)
    with pytest.warns(ClusteringWarning, match=r"\(row 180\)"):
        labels = kind(3, n_init=3, random_state=0).fit(X).labels_[:-1]
    by_k_means = KMeans(3, n_init=3, random_state=0).fit(X).labels_[:-1]
    expected = adjusted_rand_score(TRUTH, by_k_means)
    assert adjusted_rand_score(TRUTH, labels) >= expected - 1e-9


def test_far_rows_do_not_depend_on_order_and_weights_are_copies():
    X = np.vstack([with_far_row(300.0), with_far_row(1e4, seed=1)[-1:]])
    weight = np.random.default_rng(1).integers(1, 4, size=len(X))
    weight[-2:] = 1
    order = np.random.default_rng(2).permutation(len(X))
    model = PossibilisticCMeans(3, random_state=0)
    weighted = model.fit(X, sample_weight=weight).cluster_centers_
    assert_allclose(model.fit(np.repeat(X, weight, axis=0)).cluster_centers_, weighted, rtol=1e-7)
    shuffled = model.fit(X[order], sample_weight=weight[order])
    assert_allclose(shuffled.cluster_centers_, weighted, rtol=1e-7)


@pytest.mark.parametrize("share", [0.03, 0.1])
def test_small_cluster_is_typical_however_far_it_lies(share):
    rng = np.random.default_rng(0)
    n_small = int(1000 * share)
    truth = np.repeat([0, 1, 2], [1000 - 2 * n_small, n_small, n_small])
    X = np.array([[0.0, 0.0], [60.0, 0.0], [0.0, 60.0]])[truth] + rng.normal(size=(1000, 2))
    labels = PossibilisticCMeans(3, n_init=3, random_state=0).fit(X).labels_
    assert adjusted_rand_score(truth, labels) == 1.0


def test_scattered_far_rows_are_left_out_of_the_start():
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(20, 2))
    far = 1e6 * direction / np.linalg.norm(direction, axis=1)[:, None]
    X = np.vstack([with_far_row(0.0)[:-1], far])
    model = PossibilisticCMeans(3, random_state=0).fit(X)
    assert adjusted_rand_score(TRUTH, model.labels_[:180]) == 1.0
    assert model.memberships_[180:].max() == 0.0
