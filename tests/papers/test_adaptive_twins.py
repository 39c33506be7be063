"""The estimators of xenaki2014 against slow twins, and its bisection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from reference import adaptive as reference
from typicality.membership import SparsePossibilistic
from typicality.membership.sparse import collapse_weight
from xenaki2014.estimators import (
    Bisected,
    BisectedSAPCM,
    PaperAPCM,
    PaperSAPCM,
    PaperSeqSAPCM,
)

ROOTS = [
    (PaperSAPCM, reference.larger_root),
    (BisectedSAPCM, reference.larger_root_by_bisection),
]


def clusters(rng, n_clusters, d):
    centers = rng.uniform(0, 10, size=(n_clusters, d))
    rows = [rng.normal(c, rng.uniform(0.3, 0.8), size=(40, d)) for c in centers]
    return np.concatenate(rows)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::typicality.exceptions.EmptyClustersWarning")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("estimator", "root"), ROOTS)
@pytest.mark.parametrize("max_iter", [1, 60])
def test_sparse_adaptive_fit_is_that_of_the_slow_twin(seed, estimator, root, max_iter):
    X = clusters(np.random.default_rng(seed), 4, 2 + seed % 3)
    how = {"tol": 0.0, "max_iter": max_iter}
    boxed = reference.boxed(X)
    twin = reference.top_down(boxed, 8, 0.1, 0.2, root=root, **how)
    model = estimator(8, lam=0.1, beta=0.2, assign="all", **how).fit(X)
    centers = model.cluster_centers_
    order = cdist(twin.theta, centers).argmin(axis=1)  # ours have those without a row last
    assert sorted(order) == list(range(len(centers)))
    assert_allclose(centers[order], twin.theta, rtol=1e-6, atol=1e-6)
    assert_allclose(model.eta_[order], twin.eta, rtol=1e-6, atol=1e-9)
    expected = reference.memberships(boxed, twin)
    assert_allclose(model.memberships_[:, order], expected, rtol=1e-5, atol=1e-9)


@pytest.mark.filterwarnings("ignore::typicality.exceptions.EmptyClustersWarning")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("lam", [0.02, 0.2])
def test_sequential_fit_is_that_of_the_slow_twin(seed, lam):
    X = clusters(np.random.default_rng(seed), 5, 2 + seed % 3)
    boxed = reference.boxed(X)
    twin = reference.sequential(boxed, lam, tol=1e-9)
    model = PaperSeqSAPCM(lam=lam, assign="all", tol=1e-10).fit(X)
    assert len(model.cluster_centers_) == len(twin.theta)
    assert_allclose(model.eta_, twin.eta, rtol=1e-5)
    assert_array_equal(model.labels_, reference.labels(boxed, twin))


def test_adaptive_fit_is_that_of_the_slow_twin(rng):
    X = clusters(rng, 4, 3)
    twin = reference.top_down(reference.boxed(X), 7, 0.0, 0.1, tol=1e-9)
    model = PaperAPCM(7, beta=0.1, tol=1e-10).fit(X)
    assert_allclose(model.eta_, twin.eta, rtol=1e-6)


def test_a_cycle_ends_by_the_cap():
    model = PaperSAPCM(2, lam=0.1, max_iter=300)
    with pytest.warns(ConvergenceWarning, match="max_iter=300"):
        model.fit(load_iris().data)
    assert model.status_ == "max_iter"
    assert model.n_clusters_ == 2


@given(
    sqdist=st.floats(0, 30),
    eta=st.floats(0.1, 10),
    p=st.floats(0.05, 0.95),
    share=st.floats(1e-3, 0.99),
)
def test_bisection_is_good_to_four_digits(sqdist, eta, p, share):
    lam = share * collapse_weight(eta, p)
    rules = [rule(np.array([eta]), lam, p) for rule in (SparsePossibilistic, Bisected)]
    exact, bisected = (rule.memberships(np.array([[sqdist]]))[0, 0] for rule in rules)
    assert abs(bisected - exact) < 1e-4
