"""Validity of soft partitions: the slow twins, the classical indices, rows that belong nowhere."""

import numpy as np
import pytest
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.metrics import pairwise_distances, silhouette_score

from metrics.strategies import memberships, typicalities
from reference import metrics as slow
from typicality.metrics import (
    fukuyama_sugeno_index,
    fuzzy_silhouette_score,
    kwon_index,
    partition_coefficient,
    partition_entropy,
    xie_beni_index,
)

any_memberships = st.integers(1, 12).flatmap(lambda n: typicalities(n) | memberships(n))


def scene(rng, n_rows=40, n_clusters=3):
    """Rows, centres and typicalities whose rows sum to anything from 0 to 2."""
    X, centers = rng.normal(size=(n_rows, 2)), 3 * rng.normal(size=(n_clusters, 2))
    U = rng.random((n_rows, n_clusters)) * rng.choice(
        [0.0, 0.1, 1.0], (n_rows, 1), p=[0.1, 0.2, 0.7]
    )
    return X, centers, U


# ---- partition coefficient and entropy ----------------------------------------------------------


@given(any_memberships)
def test_coefficient_and_entropy_are_those_of_the_slow_twins(U):
    assume(U.sum() > 0)
    assert_allclose(partition_coefficient(U), slow.partition_coefficient(U), rtol=1e-10)
    assert_allclose(partition_entropy(U), slow.partition_entropy(U), rtol=1e-10, atol=1e-12)


def test_coefficient_and_entropy_of_crisp_uniform_and_empty_rows_are_known():
    crisp, uniform, empty = np.eye(4), np.full((6, 4), 0.25), np.zeros((6, 4))
    assert (partition_coefficient(crisp), partition_entropy(crisp)) == (1, 0)
    assert partition_coefficient(uniform) == 0.25
    assert_allclose(partition_entropy(uniform), np.log(4))
    assert partition_coefficient(uniform, rescale=True) == 0
    assert partition_entropy(uniform, rescale=True) == 1
    for nothing in (empty, np.empty((3, 0))):
        assert np.isnan(partition_coefficient(nothing))
        assert np.isnan(partition_entropy(nothing, rescale=True))
    between = np.array([[0.75, 0.25], [0.5, 0.5]])
    assert_allclose(partition_coefficient(between, rescale=True), 2 * 0.5625 - 1)
    one = np.full((3, 1), 0.4)
    assert partition_coefficient(one, rescale=True) == 1
    assert partition_entropy(one, rescale=True) == 0


# ---- rows that belong nowhere, or hardly --------------------------------------------------------


def indices(X, centers, U):
    return [
        partition_coefficient(U),
        partition_entropy(U),
        xie_beni_index(X, centers, U),
        fuzzy_silhouette_score(X, U),
    ]


def test_rows_of_zeros_do_not_count(rng):
    X, centers, U = scene(rng)
    somewhere = U.sum(axis=1) > 0
    assert 0 < somewhere.sum() < len(U)
    expected = indices(X[somewhere], centers, U[somewhere])
    assert_allclose(indices(X, centers, U), expected, rtol=1e-12)


def test_vanishing_typicalities_are_not_rewarded(rng):
    X, centers, U = scene(rng)
    U = U / U.sum(axis=1).max()
    assert_allclose(indices(X, centers, 1e-6 * U), indices(X, centers, U), rtol=1e-9)


# ---- Xie-Beni -----------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1.0, 2])
def test_xie_beni_is_that_of_the_slow_twin(rng, m):
    X, centers, U = scene(rng)
    assert_allclose(xie_beni_index(X, centers, U, m=m), slow.xie_beni(X, centers, U, m))


def test_xie_beni_of_coincident_centres_is_infinite(rng):
    X = rng.normal(size=(5, 2))
    assert xie_beni_index(X, np.zeros((2, 2)), np.full((5, 2), 0.5)) == np.inf
    assert xie_beni_index(np.zeros((5, 2)), np.zeros((2, 2)), np.full((5, 2), 0.5)) == np.inf


# ---- fuzzy silhouette ---------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_silhouette_is_that_of_the_slow_twin(rng, alpha):
    X, _, U = scene(rng)
    expected = slow.fuzzy_silhouette(X.tolist(), U.tolist(), alpha)
    assert_allclose(fuzzy_silhouette_score(X, U, alpha=alpha), expected)


def test_silhouette_of_crisp_memberships_is_scikit_learns(blobs):
    X, y = blobs
    assert_allclose(fuzzy_silhouette_score(X, np.eye(3)[y]), silhouette_score(X, y))


def test_silhouette_in_little_memory_with_other_distances_and_sparse(rng):
    X, _, U = scene(rng)
    expected = fuzzy_silhouette_score(X, U, metric="cityblock")
    D = pairwise_distances(X, metric="cityblock")
    assert_allclose(fuzzy_silhouette_score(D, U, metric="precomputed"), expected)
    with sklearn.config_context(working_memory=1e-3):
        assert_allclose(fuzzy_silhouette_score(X, U, metric="cityblock"), expected)
    assert_allclose(
        fuzzy_silhouette_score(csr_matrix(X), csr_matrix(U)), fuzzy_silhouette_score(X, U)
    )


def test_kwon_and_fukuyama_sugeno_are_their_formulas(rng):
    X, centers, U = scene(rng)
    weights = np.minimum(U.sum(axis=1), 1.0)
    shares = U / np.where(U.sum(axis=1) > 0, U.sum(axis=1), 1.0)[:, None]
    sqdist = pairwise_distances(X, centers, "sqeuclidean")
    to_mean = ((centers - np.average(X, axis=0, weights=weights)) ** 2).sum(axis=1)
    gap = min(((centers[k] - centers[j]) ** 2).sum() for k in range(3) for j in range(k))
    pulls = weights[:, None] * shares**1.7
    within = (pulls * sqdist).sum()
    assert_allclose(kwon_index(X, centers, U, m=1.7), (within + to_mean.mean()) / gap)
    assert_allclose(fukuyama_sugeno_index(X, centers, U, m=1.7), within - (pulls * to_mean).sum())


@pytest.mark.parametrize("index", [kwon_index, fukuyama_sugeno_index, xie_beni_index])
def test_indices_of_centres_do_not_depend_on_the_place_of_the_data(rng, index):
    X, centers, U = scene(rng)
    assert_allclose(index(X + 5.0, centers + 5.0, U), index(X, centers, U), rtol=1e-9)
    assert np.isnan(index(X, centers, np.zeros_like(U)))
