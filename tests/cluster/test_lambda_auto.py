"""SequentialPCM(lam="auto"): the path of lambda, and what is chosen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

from typicality import SequentialPCM


def test_the_path_is_kept_with_the_best_of_it(blobs):
    X, _ = blobs
    model = SequentialPCM().fit(X)
    path = model.lambda_path_
    assert (np.diff(path.lam) > 0).all()
    assert path.n_clusters[-1] == 0
    assert path.criterion == "BIC"
    assert_allclose(path.index[path.chosen], np.nanmin(path.index), rtol=1e-6)
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


def test_a_given_lambda_has_no_path(blobs):
    X, _ = blobs
    model = SequentialPCM().fit(X)
    model.set_params(lam=0.07).fit(X)
    assert model.lam_ == 0.07
    assert not hasattr(model, "lambda_path_")


@pytest.mark.parametrize("seed", range(3))
def test_one_cluster_is_one_cluster(seed):
    X = np.random.default_rng(seed).normal(size=(300, 2))
    assert SequentialPCM().fit(X).n_clusters_ == 1


@pytest.mark.parametrize("init", ["max-min", [[0.0, 0.0], [8.0, 8.0], [8.0, 0.0]]])
def test_large_data_choose_lambda_on_a_sample(rng, init):
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    truth = rng.integers(4, size=40_000)
    X = centers[truth] + rng.normal(size=(40_000, 2))
    model = SequentialPCM(assign="all", init=init, store_memberships=False).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    order = rng.permutation(len(X))
    assert_array_equal(clone(model).fit(X[order]).labels_, model.labels_[order])


def test_kernels_choose_lambda_on_a_sample(rng, monkeypatch):
    monkeypatch.setattr("typicality.cluster.sequential._KERNEL_PATH_ROWS", 90)
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    truth = rng.integers(3, size=250)
    X = centers[truth] + rng.normal(size=(250, 2))
    weight = rng.integers(0, 3, size=250)
    model = SequentialPCM(kernel="gaussian", assign="all").fit(X, sample_weight=weight)
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    given = SequentialPCM(kernel="gaussian", assign="all", init=centers[:2]).fit(X)
    assert adjusted_rand_score(truth, given.labels_) > 0.99


def test_many_features_begin_with_less_sparsity():
    X, truth = make_blobs(200, n_features=100, centers=4, cluster_std=1.5, random_state=0)
    model = SequentialPCM(assign="all").fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


@pytest.mark.parametrize(("load", "n_clusters"), [(load_iris, 3), (load_wine, 3)])
def test_real_data(load, n_clusters):
    assert SequentialPCM().fit(load().data).n_clusters_ == n_clusters


def test_s2(s2):
    X, truth = s2
    model = SequentialPCM(assign="all").fit(X)
    assert model.n_clusters_ == 15
    assert adjusted_rand_score(truth, model.labels_) > 0.93


def test_ties_along_the_path_do_not_depend_on_the_order():
    """Many values of lambda give one partition: the least sparse of them is taken."""
    X, _ = make_blobs(200, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    model = SequentialPCM().fit(X)
    assert model.lam_ == model.lambda_path_.lam[0]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        assert_array_equal(clone(model).fit(X[order]).labels_, model.labels_[order])


@pytest.mark.parametrize(("n_clusters", "n_rows"), [(3, 200), (5, 3000)])
@pytest.mark.parametrize("seed", range(3))
def test_small_gaps_do_not_make_clusters_vanish(n_clusters, n_rows, seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(10 * k, 1, n_rows) for k in range(n_clusters)])[:, None]
    assert SequentialPCM().fit(X).n_clusters_ == n_clusters
