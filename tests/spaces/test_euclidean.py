"""The input space: the fast sweep against its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from instances import RULE_NAMES, rules, sums_of
from typicality.membership import Fuzzy, Hard
from typicality.spaces import Centroids, Euclidean

pytestmark = pytest.mark.usefixtures("module_compiling")

every_rule = pytest.mark.parametrize("index", range(len(RULE_NAMES)), ids=RULE_NAMES)


def sample(rng, n, d, c, dtype=np.float64):
    X = rng.normal(size=(n, d)).astype(dtype)
    centers = rng.normal(size=(c, d)).astype(dtype)
    weight = rng.integers(0, 4, size=n).astype(dtype)
    return X, weight, centers


@every_rule
def test_fold_keeps_float32_and_accurate_sums(rng, index):
    X, weight, centers = sample(rng, 20_000, 3, 4, np.float32)
    X += np.float32(1000)  # far from zero: 1e-4 is all the data themselves resolve
    centers += np.float32(1000)
    rule = rules(4)[index]
    space = Euclidean(X, weight)
    start = space.at(centers)
    sweep = space.sweep(rule, start)
    X64, w64, c64 = (a.astype(np.float64) for a in (X, weight, centers))
    exact_space = Euclidean(X64, w64)
    exact = exact_space.sweep(rule, exact_space.at(c64))
    assert start.memberships(rule, X).dtype == np.float32
    assert sweep.prototypes.centers.dtype == np.float32
    offsets = exact.prototypes.offsets + exact_space.origin - space.origin.astype(np.float64)
    reached = exact.mass > 1e-30
    assert_allclose(sweep.prototypes.offsets[reached], offsets[reached], atol=2e-5)
    assert_allclose(sweep.objective, exact.objective, rtol=1e-5)


def test_sweep_is_a_lloyd_iteration_when_the_rule_is_hard(rng):
    X, weight, _ = sample(rng, 3000, 4, 1)
    start = X[:6].copy()
    space = Euclidean(X, weight)
    ours = space.sweep(Hard(), space.at(start)).prototypes
    lloyd = KMeans(6, init=start, n_init=1, max_iter=1, tol=0, algorithm="lloyd")
    lloyd.fit(X, sample_weight=weight)
    assert_allclose(ours.centers, lloyd.cluster_centers_, rtol=1e-10, atol=1e-12)
    assert_array_equal(ours.labels(Hard(), X), lloyd.labels_)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_sweep_loses_no_digits_when_data_lie_far_from_zero(rng, offset):
    """The prototypes move with the data, to the precision the data themselves have."""
    X, _, centers = sample(rng, 500, 2, 3)
    near = Euclidean(X).sweep(Fuzzy(2.0), Euclidean(X).at(centers))
    far_space = Euclidean(X + offset)
    far = far_space.sweep(Fuzzy(2.0), far_space.at(centers + offset))
    assert_allclose(far.prototypes.centers - offset, near.prototypes.centers, atol=4e-16 * offset)
    assert_allclose(far.objective, near.objective, rtol=1e-15 * offset)


@every_rule
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=20)
@given(scale=st.floats(-3, 3), seed=st.integers(0, 2**32 - 1))
def test_compiled_form_equals_the_array_form_near_and_far(index, dtype, scale, seed):
    rng = np.random.default_rng(seed)
    X = (10**scale * rng.normal(size=(40, 2))).astype(dtype)
    prototypes = Centroids.at(X[:3] + dtype(0.1), X.mean(axis=0))
    rule = rules(3)[index]
    moments, sqdist = sums_of(rule, prototypes, X), prototypes.sqdist(X).astype(np.float64)
    u = rule.memberships(sqdist)
    tolerance = 1e-9 if dtype is np.float64 else 3e-4
    assert_allclose(moments.objective, rule.objective(u, sqdist).sum(), rtol=tolerance)
    assert_allclose(prototypes.memberships(rule, X), u, atol=tolerance, rtol=100 * tolerance)


@pytest.mark.parametrize("shape", [(300, 7), (7, 300), (600, 700)])
def test_largest_moment_is_that_of_the_whole_spectrum(rng, shape):
    X = rng.normal(size=shape) * rng.uniform(1, 3, size=shape[1])
    weight = rng.uniform(0.5, 2.0, size=len(X))
    expected = np.linalg.eigvalsh(np.cov(X.T, aweights=weight, bias=True))[-1]
    assert_allclose(Euclidean(X, weight).largest_moment(normalised=False), expected, rtol=1e-5)
