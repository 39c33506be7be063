"""SequentialPCM(lam="auto"): the path of lambda, and what is chosen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

from typicality import SequentialPCM

pytestmark = pytest.mark.xdist_group("lambda")  # long: it begins first


def test_the_path_is_kept_with_the_best_of_it(blobs):
    X, _ = blobs
    model = SequentialPCM().fit(X)
    path = model.lambda_path_
    assert (np.diff(path.lam) > 0).all()
    assert path.n_clusters[-1] == 0
    assert path.criterion == "BIC"
    assert_allclose(path.index[path.chosen], np.nanmin(path.index), rtol=1e-6)
    assert_allclose(path.unassigned[path.chosen], np.mean(model.labels_ < 0), atol=0.02)
    assert path.lam[path.chosen] == model.lam_
    assert path.n_clusters[path.chosen] == model.n_clusters_
    assert np.isnan(path.index[-1])


def test_the_path_in_a_kernel_space_is_judged_by_variances(blobs):
    X, truth = blobs
    model = SequentialPCM(kernel="gaussian", assign="all").fit(X)
    path = model.lambda_path_
    assert path.criterion == "Calinski-Harabasz"
    assert_allclose(path.index[path.chosen], np.nanmax(path.index), rtol=1e-6)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


def test_one_cluster_is_one_cluster():
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(300, 2)), rng.uniform(size=(300, 2))):
        model = SequentialPCM().fit(X)
        assert model.n_clusters_ == 1
        assert np.mean(model.labels_ < 0) < 0.1


def like_penguins(rng):
    """Three correlated groups of unequal size in four columns, in the units of penguins."""
    means = np.array([[38.8, 18.3, 190, 3700], [48.8, 18.4, 196, 3730], [47.6, 15.0, 217, 5090]])
    spread = np.array([2.8, 1.1, 6.6, 450.0])
    correlation = np.full((4, 4), 0.55) + 0.45 * np.eye(4)
    truth = np.repeat([0, 1, 2], [150, 70, 120])
    rows = rng.multivariate_normal(np.zeros(4), correlation, size=len(truth))
    return means[truth] + spread * rows, truth


def test_a_table_of_correlated_columns_keeps_its_rows():
    X, truth = like_penguins(np.random.default_rng(0))
    labels = SequentialPCM().fit(X).labels_
    assert np.mean(labels >= 0) >= 0.85
    assert adjusted_rand_score(truth, labels) > 0.5


def test_background_noise_stays_in_no_cluster():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    truth = np.repeat(np.arange(4), 200)
    noise = rng.uniform(-5, 15, size=(160, 2))
    X = np.concatenate([centers[truth] + rng.normal(size=(800, 2)), noise])
    labels = SequentialPCM().fit(X).labels_
    assert adjusted_rand_score(truth, labels[:800]) > 0.9
    assert np.mean(labels[:800] < 0) < 0.15
    far = np.linalg.norm(noise[:, None] - centers, axis=2).min(axis=1) > 3
    assert np.mean(labels[800:][far] < 0) > 0.6


@pytest.mark.parametrize("init", ["max-min", [[0.0, 0.0], [8.0, 8.0], [8.0, 0.0]]])
def test_large_data_choose_lambda_on_a_sample(rng, init):
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    truth = rng.integers(4, size=5_000)
    X = centers[truth] + rng.normal(size=(5_000, 2))
    model = SequentialPCM(assign="all", init=init, store_memberships=False).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    order = rng.permutation(len(X))
    assert_array_equal(clone(model).fit(X[order]).labels_, model.labels_[order])


def test_kernels_choose_lambda_on_a_sample(rng, monkeypatch):
    monkeypatch.setattr("typicality.cluster.adaptive._KERNEL_PATH_ROWS", 90)
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    truth = rng.integers(3, size=250)
    X = centers[truth] + rng.normal(size=(250, 2))
    weight = rng.integers(0, 3, size=250)
    model = SequentialPCM(kernel="gaussian", assign="all").fit(X, sample_weight=weight)
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    given = SequentialPCM(kernel="gaussian", assign="all", init=centers[:2]).fit(X)
    assert adjusted_rand_score(truth, given.labels_) > 0.99


@pytest.mark.parametrize(("load", "n_clusters"), [(load_iris, 2), (load_wine, 3)])
def test_automatic_lambda_finds_the_clusters_of_real_data(load, n_clusters):
    model = SequentialPCM().fit(load().data)
    assert model.n_clusters_ == n_clusters
    assert np.mean(model.labels_ < 0) <= 0.15


def test_automatic_lambda_finds_the_clusters_of_s2(s2):
    X, truth = s2
    model = SequentialPCM(assign="all").fit(X)
    assert model.n_clusters_ == 15
    assert adjusted_rand_score(truth, model.labels_) > 0.93


def test_ties_along_the_path_do_not_depend_on_the_order():
    """Many values of lambda give one partition: the least sparse of them is taken."""
    X, _ = make_blobs(200, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    model = SequentialPCM().fit(X)
    assert model.lam_ == model.lambda_path_.lam[0]
    order = np.random.default_rng(0).permutation(len(X))
    assert_array_equal(clone(model).fit(X[order]).labels_, model.labels_[order])
