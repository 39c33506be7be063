"""Indices of partitions against scikit-learn and against their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import calinski_harabasz_score

from typicality.solve.indices import NoiseBIC, calinski_harabasz
from typicality.spaces import Euclidean


def partition(rng, d=3, n_clusters=4, n_noise=0, n=200):
    labels = rng.integers(n_clusters, size=n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * labels[:, None]
    labels[:n_noise] = -1
    return X, labels


def slow_bic(X, labels):
    """Twice the negative classification log-likelihood, plus parameters times ln n."""
    n, d = X.shape
    clusters, counts = np.unique(labels[labels >= 0], return_counts=True)
    scatters = []
    for k in clusters:
        centred = X[labels == k] - X[labels == k].mean(axis=0)
        scatters.append(centred.T @ centred)
    common = np.linalg.inv(sum(scatters) / counts.sum())
    sizes = [
        (np.trace(common @ scatter) + d) / (d * count + d)
        for scatter, count in zip(scatters, counts, strict=True)
    ]
    shape = sum(s / size for s, size in zip(scatters, sizes, strict=True)) / counts.sum()
    value = counts.sum() * d * (1 + np.log(2 * np.pi))
    for count, size in zip(counts, sizes, strict=True):
        value += count * (np.linalg.slogdet(size * shape)[1] - 2 * np.log(count / n))
    n_noise = n - counts.sum()
    _, axes = np.linalg.eigh(np.corrcoef(X.T).reshape(d, d))
    alike = X / X.std(axis=0)
    log_volume = min(np.log(np.ptp(rows, axis=0)).sum() for rows in (alike, alike @ axes))
    log_volume += np.log(X.std(axis=0)).sum()
    value += 2 * n_noise * (log_volume - np.log(min(max(n_noise, 1) / n, 0.2)))
    n_parameters = len(clusters) * d + 2 * (len(clusters) - 1) + (n_noise > 0)
    return value + n_parameters * np.log(n)


@pytest.mark.parametrize(
    ("d", "n_clusters", "n_noise"), [(1, 2, 0), (1, 6, 90), (2, 1, 10), (2, 6, 0), (5, 2, 90)]
)
def test_bic_is_its_formula_up_to_a_constant(rng, d, n_clusters, n_noise):
    X, labels = partition(rng, d, n_clusters, n_noise)
    constant = len(X) * np.linalg.slogdet(np.cov(X.T, bias=True).reshape(d, d))[1]
    assert_allclose(NoiseBIC(Euclidean(X))(labels), slow_bic(X, labels) - constant, rtol=1e-9)


def test_bic_does_not_reward_leaving_rows_out(rng):
    """Rows at the cliff, where most belong to no cluster."""
    X = np.concatenate([rng.normal(m, 1.0, size=(200, 2)) for m in (0, 8)])
    labels = np.repeat([0, 1], 200)
    core = np.where(np.linalg.norm(X - 8.0 * labels[:, None], axis=1) < 0.5, labels, -1)
    index = NoiseBIC(Euclidean(X))
    rim = np.where(np.linalg.norm(X - 8.0 * labels[:, None], axis=1) < 1.5, labels, -1)
    assert index(labels) < index(rim) < index(core)


def test_bic_takes_noise_for_noise(rng):
    noise = rng.uniform(-20, 28, size=(100, 2))
    blobs = np.concatenate([rng.normal(m, 1.0, size=(200, 2)) for m in (0, 8)])
    known = np.repeat([0, 1, -1], [200, 200, 100])
    everywhere = np.where(known < 0, np.tile([0, 1], 250), known)
    index = NoiseBIC(Euclidean(np.concatenate([blobs, noise])))
    assert index(known) < index(everywhere)


@pytest.mark.parametrize("d", [3, 300])
def test_bic_of_data_that_fill_no_volume(rng, d):
    """Copies of features: along their axes the volume is the same for any number of them."""
    rows, labels = partition(rng, n=60)
    X = np.repeat(rows, d // 3, axis=1)
    assert_allclose(NoiseBIC(Euclidean(X))(labels), NoiseBIC(Euclidean(rows))(labels), rtol=1e-6)


@pytest.mark.parametrize("n_clusters", [2, 5])
def test_calinski_harabasz_is_that_of_scikit_learn(rng, n_clusters):
    X, labels = partition(rng, n_clusters=n_clusters)
    expected = calinski_harabasz_score(X, labels)
    assert_allclose(calinski_harabasz(Euclidean(X), labels), expected)


@pytest.mark.parametrize("index", [lambda space, y: NoiseBIC(space)(y), calinski_harabasz])
def test_index_counts_weight_k_as_k_copies(rng, index):
    X, labels = partition(rng, d=2, n=60, n_noise=5)
    weight = rng.integers(1, 4, size=60)
    copies = Euclidean(np.repeat(X, weight, axis=0))
    weighted = Euclidean(X, weight.astype(float))
    assert_allclose(index(weighted, labels), index(copies, np.repeat(labels, weight)), rtol=1e-9)
