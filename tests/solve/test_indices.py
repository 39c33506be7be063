"""Indices of partitions against scikit-learn and against their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import calinski_harabasz_score

from typicality.geometry import InputSpace, KernelSpace
from typicality.kernels import Gaussian, Linear
from typicality.membership import Hard
from typicality.solve import calinski_harabasz, partition_index, pooled_bic


def partition(rng, d=3, n_clusters=4, weight=None, n=200):
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5
    space = InputSpace(X, weight)
    prototypes = space.at(X[:n_clusters])
    labels = prototypes.labels(Hard(), X)
    return X, labels, space, space.labelled_sweep(Hard(), prototypes).members


def slow_bic(X, labels):
    """Twice the negative classification log-likelihood, plus parameters times ln n."""
    n, d = X.shape
    clusters, counts = np.unique(labels, return_counts=True)
    centred = [X[labels == k] - X[labels == k].mean(axis=0) for k in clusters]
    within = sum(rows.T @ rows for rows in centred)
    log_likelihood = counts @ np.log(counts / n) - n / 2 * np.linalg.slogdet(within / n)[1]
    n_parameters = len(clusters) * d + len(clusters) - 1
    return -2 * log_likelihood + n_parameters * np.log(n)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("n_clusters", [1, 2, 6])
def test_pooled_bic_is_its_formula_up_to_a_constant(rng, d, n_clusters):
    X, labels, space, members = partition(rng, d, n_clusters)
    centred = X - X.mean(axis=0)
    constant = len(X) * np.linalg.slogdet(centred.T @ centred / len(X))[1]
    expected = slow_bic(X, labels) - constant
    assert_allclose(pooled_bic(space, members), expected, rtol=1e-9)


def test_pooled_bic_does_not_depend_on_a_linear_map(rng):
    X, _, space, members = partition(rng)
    mapped = InputSpace(X @ rng.normal(size=(3, 3)) * 100 - 7)
    prototypes = mapped.prototypes(np.eye(4)[space.at(X[:4]).labels(Hard(), X)])
    # the same partition, whatever the distances are now
    by_hand = members.__class__(members.mass, prototypes, members.distance, members.sqdist)
    assert_allclose(pooled_bic(mapped, by_hand), pooled_bic(space, members), rtol=1e-7)


@pytest.mark.parametrize("d", [3, 300])
def test_pooled_bic_of_data_that_fill_no_volume(rng, d):
    """Copies of features, and more features than rows."""
    X = np.repeat(rng.normal(size=(40, 3)), d // 3, axis=1)
    space = InputSpace(X)
    members = space.labelled_sweep(Hard(), space.at(X[:3])).members
    plain = InputSpace(X[:, :: d // 3])
    expected = plain.labelled_sweep(Hard(), plain.at(X[:3, :: d // 3])).members
    assert_allclose(pooled_bic(space, members), pooled_bic(plain, expected), rtol=1e-6)


@pytest.mark.parametrize("n_clusters", [2, 5])
def test_calinski_harabasz_is_that_of_scikit_learn(rng, n_clusters):
    X, labels, space, members = partition(rng, n_clusters=n_clusters)
    assert_allclose(calinski_harabasz(space, members), calinski_harabasz_score(X, labels))


def test_calinski_harabasz_of_one_cluster_is_the_worst(rng):
    _, _, space, members = partition(rng, n_clusters=1)
    assert calinski_harabasz(space, members) == -np.inf


def test_calinski_harabasz_in_the_space_of_a_linear_kernel(rng):
    X, _, space, members = partition(rng)
    induced = KernelSpace(Linear(), X)
    start = induced.near_rows(np.arange(4), share=0.0)
    same = induced.labelled_sweep(Hard(), start).members
    assert_allclose(calinski_harabasz(induced, same), calinski_harabasz(space, members), rtol=1e-9)


@pytest.mark.parametrize("index", [pooled_bic, calinski_harabasz])
def test_weight_k_is_k_copies(rng, index):
    X = rng.normal(size=(60, 2))
    weight = rng.integers(1, 4, size=60).astype(float)
    copies = np.repeat(X, weight.astype(int), axis=0)
    values = []
    for space in (InputSpace(X, weight), InputSpace(copies)):
        members = space.labelled_sweep(Hard(), space.at(X[:3])).members
        values.append(index(space, members))
    assert_allclose(*values, rtol=1e-9)


def test_each_space_has_its_index(rng):
    X = rng.normal(size=(20, 2))
    assert partition_index(InputSpace(X)).name == "BIC"
    assert partition_index(KernelSpace(Gaussian(1.0), X)).larger_is_better
