"""Bandwidths: each rule against its formula, and what holds for all of them."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from reference import bandwidth as slow
from typicality import bandwidth as module
from typicality.bandwidth import BANDWIDTH_RULES, bandwidth, median_distance, neighbour_distance

every_rule = pytest.mark.parametrize("rule", BANDWIDTH_RULES)


@pytest.fixture
def X(rng):  # noqa: N802
    """Two clusters of different width."""
    return np.concatenate([rng.normal(size=(45, 3)), rng.normal(4.0, 0.4, size=(35, 3))])


@pytest.mark.parametrize(
    ("rule", "twin"),
    [
        ("median", slow.median_distance),
        ("knn", slow.neighbour_distance),
        ("scott", slow.scott),
        ("silverman", slow.silverman),
        ("auto", lambda X: slow.median_distance(X) / 2),
    ],
)
def test_bandwidth_follows_the_formula_of_its_rule(X, rule, twin):
    assert_allclose(bandwidth(rule, X), twin(X), rtol=1e-13)


def test_bandwidth_is_narrower_with_novelty_for_auto_alone(X):
    assert_allclose(bandwidth("auto", X, novelty=True), slow.median_distance(X) / 8, rtol=1e-13)
    assert bandwidth("knn", X, novelty=True) == bandwidth("knn", X)


@pytest.mark.parametrize("k", [1, 3, 500])
def test_neighbour_distance_takes_any_k(X, k):
    assert_allclose(neighbour_distance(X, k=k), slow.neighbour_distance(X, k), rtol=1e-13)


def test_loo_likelihood_is_largest_at_its_bandwidth(X):
    sigma = bandwidth("loo-likelihood", X)
    best = slow.loo_log_likelihood(X, sigma)
    others = [slow.loo_log_likelihood(X, s) for s in np.geomspace(0.2, 20, 100)]
    assert best >= max(others)
    assert_allclose(best, max(others), rtol=1e-3)


def test_loo_likelihood_leaves_out_one_unit_of_weight(rng):
    X = rng.normal(size=(12, 2))
    weight = np.array([3.0, 0.5, 1.0] * 4)
    total, sigma, literal = weight.sum(), 0.7, 0.0
    for h, k in enumerate(weight):
        s = sum(
            w * math.exp(-(math.dist(X[h], x) ** 2) / 0.98)
            for x, w in zip(X, weight / total, strict=True)
        )
        unit = min(k, 1.0) / total
        literal += k * (math.log((s - unit) / (1 - unit)) - 2 * math.log(sigma))
    likelihood = module._LeaveOneOut(slow.distances(X) ** 2, weight, 2)
    assert_allclose(likelihood.at(math.log(sigma))[0], literal / total, rtol=1e-13)


@every_rule
@pytest.mark.parametrize("factor", [1e-9, 2.0**40])
def test_bandwidth_scales_with_the_data(X, rule, factor):
    assert_allclose(bandwidth(rule, X * factor), factor * bandwidth(rule, X), rtol=1e-12)


@every_rule
def test_bandwidth_counts_weight_k_as_k_copies_in_any_order(X, rng, rule):
    weight = rng.integers(0, 4, size=len(X))
    copies = rng.permutation(np.repeat(X, weight, axis=0))
    assert_allclose(bandwidth(rule, X, weight.astype(float)), bandwidth(rule, copies), rtol=1e-13)


@every_rule
@pytest.mark.parametrize("n_features", [1, 20])
def test_bandwidth_keeps_digits_far_from_zero(rng, rule, n_features):
    X = rng.normal(size=(80, n_features))
    assert_allclose(bandwidth(rule, X + 1e6), bandwidth(rule, X), rtol=1e-6)


@every_rule
def test_bandwidth_works_in_single_precision(X, rule):
    single = X.astype(np.float32)
    weight = np.ones(len(X), np.float32)
    sigma = bandwidth(rule, single, weight)
    assert type(sigma) is float
    assert sigma == bandwidth(rule, single.astype(np.float64))


@every_rule
def test_bandwidth_is_zero_when_rows_are_equal(rule):
    assert bandwidth(rule, np.full((7, 3), 0.1)) == 0.0
    assert bandwidth(rule, np.array([[0.1], [0.1], [5.0]]), np.array([0.3, 0.3, 0.0])) == 0.0


@every_rule
def test_bandwidth_resists_an_outlier_far_away(X, rule):
    assert 0 < bandwidth(rule, np.concatenate([X, np.full((1, 3), 1e9)])) < 1e9


@pytest.mark.parametrize(("n", "k"), [(6, 4), (20, 4), (32, 6), (49, 9), (50, 10), (400, 10)])
def test_alpha_cut_looks_no_farther_than_a_fifth_of_the_rows(rng, n, k):
    X = rng.normal(size=(n, 2))
    assert bandwidth("alpha-cut", X) == pytest.approx(0.7 * neighbour_distance(X, k=k))
    assert bandwidth("alpha-cut", np.repeat(X, 3, axis=0)) == bandwidth("alpha-cut", X)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_median_distance_of_many_features_is_that_of_all_pairs(rng, metric):
    X = rng.normal(size=(500, 300))
    assert_allclose(median_distance(X, metric=metric), np.median(pdist(X, metric)), rtol=1e-13)
