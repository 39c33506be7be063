"""The input space: the fast sweep against its slow twin."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from instances import RULE_NAMES, describe, rules
from reference import input_space as reference
from typicality.compiled.sweep import fold_chunks
from typicality.geometry import Centroids, InputSpace
from typicality.geometry.centroids import layout
from typicality.membership import (
    Entropic,
    Fuzzy,
    Hard,
    Possibilistic1996,
    SparsePossibilistic,
    labels,
)

pytestmark = pytest.mark.usefixtures("module_compiling")

every_rule = pytest.mark.parametrize("index", range(len(RULE_NAMES)), ids=RULE_NAMES)


class WithoutCompiledForm:
    """A rule that has only its array form."""

    def __init__(self, rule):
        self._rule = rule

    def __getattr__(self, name):
        return getattr(self._rule, name)

    compiled_form = None


def sample(rng, n, d, c, dtype=np.float64):
    X = rng.normal(size=(n, d)).astype(dtype)
    centers = rng.normal(size=(c, d)).astype(dtype)
    weight = rng.integers(0, 4, size=n).astype(dtype)
    return X, weight, centers


@every_rule
@pytest.mark.parametrize(("n", "d", "c"), [(7, 1, 1), (300, 3, 5), (1030, 9, 4)])
@pytest.mark.parametrize("weighted", [True, False])
def test_sweep_equals_the_slow_twin(rng, index, n, d, c, weighted):
    X, weight, centers = sample(rng, n, d, c)
    rule = rules(c)[index]
    space = InputSpace(X, weight if weighted else None)
    sweep = space.sweep(rule, space.at(centers))
    full = weight if weighted else np.ones(n)
    expected, objective, mass, _ = reference.step(rule, X, full, centers)
    reached = mass > 1e-300
    assert_allclose(sweep.prototypes.centers[reached], expected[reached], rtol=1e-10, atol=1e-12)
    assert_allclose(sweep.mass, mass, rtol=1e-11, atol=1e-300)
    assert_allclose(sweep.objective, objective, rtol=1e-11)


@every_rule
def test_prototypes_agree_with_the_array_form_of_a_rule(rng, index):
    X, _, centers = sample(rng, 700, 4, 6)
    rule = rules(6)[index]
    prototypes = Centroids.at(centers, X.mean(axis=0))
    d = reference.sqdist(X, centers)
    assert_allclose(prototypes.sqdist(X), d, rtol=1e-11)
    assert_allclose(prototypes.memberships(rule, X), rule.memberships(d), rtol=1e-9, atol=1e-14)
    assert_array_equal(prototypes.labels(rule, X), labels(rule, d))


@every_rule
def test_fold_gives_the_same_when_a_rule_has_no_twin(rng, index):
    X, weight, centers = sample(rng, 500, 3, 4)
    rule = rules(4)[index]
    prototypes = Centroids.at(centers, X.mean(axis=0))
    fast, slow = (
        prototypes.fold(rule, X, weight),
        prototypes.fold(WithoutCompiledForm(rule), X, weight),
    )
    assert_allclose(fast.first, slow.first, rtol=1e-9, atol=1e-11)
    assert_allclose(fast.mass, slow.mass, rtol=1e-11, atol=1e-300)
    assert_allclose(fast.within, slow.within, rtol=1e-11, atol=1e-300)
    assert_allclose(fast.objective, slow.objective, rtol=1e-11)
    assert_allclose(
        prototypes.memberships(rule, X),
        prototypes.memberships(WithoutCompiledForm(rule), X),
        atol=1e-13,
    )
    assert_array_equal(prototypes.labels(rule, X), prototypes.labels(WithoutCompiledForm(rule), X))


@every_rule
def test_fold_keeps_float32_and_accurate_sums(rng, index):
    X, weight, centers = sample(rng, 50_000, 3, 4, np.float32)
    X += np.float32(1000)  # far from zero: 1e-4 is all the data themselves resolve
    centers += np.float32(1000)
    rule = rules(4)[index]
    space = InputSpace(X, weight)
    start = space.at(centers)
    sweep = space.sweep(rule, start)
    X64, w64, c64 = (a.astype(np.float64) for a in (X, weight, centers))
    exact_space = InputSpace(X64, w64)
    exact = exact_space.sweep(rule, exact_space.at(c64))
    assert start.memberships(rule, X).dtype == np.float32
    assert sweep.prototypes.centers.dtype == np.float32
    offsets = exact.prototypes.offsets + exact_space.origin - space.origin.astype(np.float64)
    reached = exact.mass > 1e-30
    assert_allclose(sweep.prototypes.offsets[reached], offsets[reached], atol=2e-5)
    assert_allclose(sweep.objective, exact.objective, rtol=1e-5)


def test_fold_adds_up_a_million_equal_float32_rows():
    X = np.full((1_000_000, 1), 0.1, np.float32)
    X[0] = 0.2
    sweep = InputSpace(X).sweep(Hard(), InputSpace(X).at(X[:1]))
    assert sweep.mass[0] == 1_000_000
    assert_allclose(sweep.prototypes.centers[0], X.mean(dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize(
    "index",
    [
        pytest.param(i, id=name)
        for i, name in enumerate(RULE_NAMES)
        # A sparse membership is a local minimum: a row that comes within reach may cost.
        if not isinstance(rules(2)[i], SparsePossibilistic)
    ],
)
def test_sweep_never_raises_the_objective(rng, index):
    X, weight, centers = sample(rng, 400, 2, 5)
    space, rule = InputSpace(X, weight), rules(5)[index]
    prototypes, objectives = space.at(centers), []
    for _ in range(30):
        sweep = space.sweep(rule, prototypes)
        prototypes, objectives = sweep.prototypes, [*objectives, sweep.objective]
    rises = np.diff(objectives)
    assert rises.max() <= 1e-12 * np.abs(objectives).max()


def test_sweep_is_a_lloyd_iteration_when_the_rule_is_hard(rng):
    X, weight, _ = sample(rng, 3000, 4, 1)
    start = X[:6].copy()
    space = InputSpace(X, weight)
    ours = space.sweep(Hard(), space.at(start)).prototypes
    lloyd = KMeans(6, init=start, n_init=1, max_iter=1, tol=0, algorithm="lloyd")
    lloyd.fit(X, sample_weight=weight)
    assert_allclose(ours.centers, lloyd.cluster_centers_, rtol=1e-10, atol=1e-12)
    assert_array_equal(ours.labels(Hard(), X), lloyd.labels_)


@pytest.mark.parametrize("index", [0, 1, 3, 5, 10])
def test_fold_does_not_depend_on_threads(rng, index):
    X, weight, centers = sample(rng, 60_000, 3, 4)
    rule, prototypes = rules(4)[index], Centroids.at(centers, X.mean(axis=0))
    folded = []
    for limit in (1, 2, 7):
        with threadpool_limits(limit):
            folded.append(prototypes.fold(rule, X, weight))
    for other in folded[1:]:
        assert_array_equal(folded[0].first, other.first)
        assert_array_equal(folded[0].mass, other.mass)
        assert folded[0].objective == other.objective


@every_rule
def test_memberships_are_the_same_alone_and_in_any_batch(rng, index):
    X, _, centers = sample(rng, 600, 5, 3)
    rule, prototypes = rules(3)[index], Centroids.at(centers, X.mean(axis=0))
    together = prototypes.memberships(rule, X)
    for rows in (slice(0, 1), slice(13, 14), slice(250, 263), slice(595, 600)):
        assert_array_equal(together[rows], prototypes.memberships(rule, X[rows].copy()))


@pytest.mark.parametrize("m", [1.01, 1.5, 2.0, 3.0, 50.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memberships_of_a_row_on_prototypes_are_theirs_alone(rng, m, dtype):
    X = rng.normal(size=(40, 3)).astype(dtype)
    prototypes = Centroids.at(X[[0, 5, 5, 9]], X.mean(axis=0))
    u = prototypes.memberships(Fuzzy(m), X)
    assert_allclose(u[[0, 5, 9]], [[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 1]], atol=1e-30)
    moments = prototypes.fold(Fuzzy(m), X)
    assert np.isfinite(moments.first).all()
    assert np.isfinite(moments.objective)


@pytest.mark.parametrize("m", [1.2, 1.5, 1.7, 2.0, 3.0, 10.0])
def test_fuzzy_memberships_have_nearly_all_digits(rng, m):
    """Errors of logarithms of distances, about 5e-16, count 1 / (m - 1) times."""
    X = 3 * rng.normal(size=(5000, 8))
    prototypes = Centroids.at(X[:10] + 0.01, X.mean(axis=0))
    sqdist = prototypes.sqdist(X).astype(np.longdouble)
    ratio = (sqdist.min(axis=1, keepdims=True) / sqdist) ** (1 / (np.longdouble(m) - 1))
    u = ratio / ratio.sum(axis=1, keepdims=True)
    assert_allclose(prototypes.memberships(Fuzzy(m), X), u, rtol=3e-15 / min(1, m - 1))
    moments = prototypes.fold(Fuzzy(m), X)
    assert_allclose(moments.mass, (u**m).sum(axis=0), rtol=1e-14)
    assert_allclose(moments.objective, (u**m * sqdist).sum(), rtol=1e-14)


@pytest.mark.parametrize("rule", [Entropic(3.0), Possibilistic1996(np.full(4, 0.5))], ids=describe)
def test_memberships_have_no_subnormal_numbers_in_float32(rng, rule, compiling):
    """They would slow the sweep down several times."""
    X = (30 * rng.normal(size=(2000, 2))).astype(np.float32)
    u = Centroids.at(X[:4], X.mean(axis=0)).memberships(rule, X)
    assert (u[u > 0] > np.finfo(np.float32).tiny).all()
    assert (u == 0).any()


def test_fold_compiles_once_for_arrays_that_can_and_cannot_be_written(rng):
    X, _, centers = sample(rng, 300, 3, 4)
    prototypes = Centroids.at(centers, X.mean(axis=0))
    before = prototypes.fold(Fuzzy(2.0), X)
    n_compiled = len(fold_chunks.on_disk.signatures)
    X.flags.writeable = False
    assert prototypes.fold(Fuzzy(2.0), X).objective == before.objective
    assert len(fold_chunks.on_disk.signatures) == n_compiled


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_sweep_loses_no_digits_when_data_lie_far_from_zero(rng, offset):
    """The prototypes move with the data, to the precision the data themselves have."""
    X, _, centers = sample(rng, 500, 2, 3)
    near = InputSpace(X).sweep(Fuzzy(2.0), InputSpace(X).at(centers))
    far_space = InputSpace(X + offset)
    far = far_space.sweep(Fuzzy(2.0), far_space.at(centers + offset))
    assert_allclose(far.prototypes.centers - offset, near.prototypes.centers, atol=4e-16 * offset)
    assert_allclose(far.objective, near.objective, rtol=1e-15 * offset)


@every_rule
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(scale=st.floats(-3, 3), seed=st.integers(0, 2**32 - 1))
def test_compiled_form_equals_the_array_form_near_and_far(index, dtype, scale, seed):
    rng = np.random.default_rng(seed)
    X = (10**scale * rng.normal(size=(40, 2))).astype(dtype)
    prototypes = Centroids.at(X[:3] + dtype(0.1), X.mean(axis=0))
    rule = rules(3)[index]
    moments, sqdist = prototypes.fold(rule, X), prototypes.sqdist(X).astype(np.float64)
    u = rule.memberships(sqdist)
    tolerance = 1e-9 if dtype is np.float64 else 3e-4
    assert_allclose(moments.objective, rule.objective(u, sqdist).sum(), rtol=tolerance)
    assert_allclose(prototypes.memberships(rule, X), u, atol=tolerance, rtol=100 * tolerance)


def test_objective_does_not_vanish_early_in_float32(rng):
    X = rng.normal(size=(400, 2)).astype(np.float32)
    prototypes = Centroids.at(X[:23] + np.float32(0.3), X.mean(axis=0))
    exact = Fuzzy(30.0).objective(*_memberships_and_sqdist(Fuzzy(30.0), prototypes, X)).sum()
    assert_allclose(prototypes.fold(Fuzzy(30.0), X).objective, exact, rtol=1e-3)


def _memberships_and_sqdist(rule, prototypes, X):
    sqdist = prototypes.sqdist(X).astype(np.float64)
    return rule.memberships(sqdist), sqdist


@pytest.mark.parametrize("n_features", [2, 500])
def test_input_space_does_not_depend_on_threads(rng, n_features):
    X = rng.normal(size=(4000, n_features))
    memberships = rng.random((4000, 5))
    seen = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            space = InputSpace(X)
            prototypes = space.prototypes(memberships)
            slow = prototypes.fold(WithoutCompiledForm(Fuzzy(2.0)), X)
            seen.append(
                (space.features.mean, space.features.variance, prototypes.offsets, slow.first)
            )
    for one, other in zip(*seen, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("shape", [(9, 2), (9, 4), (9,)])
def test_prototypes_refuse_rows_of_another_shape(rng, shape):
    prototypes = Centroids.at(rng.normal(size=(2, 3)), np.zeros(3))
    X = rng.normal(size=shape)
    with pytest.raises(ValueError, match="the prototypes have 3 features"):
        prototypes.fold(Hard(), X)
    with pytest.raises(ValueError, match="the prototypes have 3 features"):
        prototypes.sqdist(X)


def test_fold_refuses_weights_of_another_length(rng):
    prototypes = Centroids.at(rng.normal(size=(2, 3)), np.zeros(3))
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(3,\), expected \(9,\)"):
        prototypes.fold(Hard(), rng.normal(size=(9, 3)), np.ones(3))


def test_sweep_works_with_a_thousand_clusters(rng):
    X, weight, _ = sample(rng, 5000, 3, 1)
    centers = X[:1000]
    space, rule = InputSpace(X, weight), Fuzzy(1.7)
    start = space.at(centers)
    sweep = space.sweep(rule, start)
    d = start.sqdist(X)
    w = rule.weights(rule.memberships(d)) * weight[:, None]
    assert_allclose(sweep.mass, w.sum(axis=0), rtol=1e-10)
    assert_allclose(
        sweep.prototypes.centers, (w.T @ X) / w.sum(axis=0)[:, None], rtol=1e-8, atol=1e-10
    )


def test_sweep_gives_means_when_m_is_very_large(rng):
    X, _, centers = sample(rng, 400, 2, 6)
    space, rule = InputSpace(X), Fuzzy(3000.0)
    sweep = space.sweep(rule, space.at(centers))
    expected, *_ = reference.step(rule, X, np.ones(400), centers)
    assert_allclose(sweep.prototypes.centers, expected, rtol=1e-9, atol=1e-12)


def test_sweep_leaves_a_prototype_that_reaches_no_row(rng):
    X = rng.normal(size=(50, 2))
    space = InputSpace(X)
    start = space.at(np.array([[0.0, 0.0], [1e3, 1e3]]))
    sweep = space.sweep(Possibilistic1996(np.array([1.0, 1.0])), start)
    assert sweep.mass[1] == 0
    assert_array_equal(sweep.prototypes.offsets[1], start.offsets[1])


@pytest.mark.parametrize(("c", "d"), [(1, 1), (10, 8), (1000, 8), (5000, 2), (3, 2000)])
def test_layout_keeps_partial_sums_small(c, d):
    tile_rows, chunk_rows = layout(c, d)
    assert chunk_rows % tile_rows == 0
    assert c * (d + 2) / (chunk_rows * d) <= 0.02
    assert 16 <= tile_rows <= 256
    assert tile_rows * max(c, d) <= 2**17


def test_a_sentence_says_how_iterations_are_computed(rng):
    assert "1,000 rows x 8 features" in InputSpace(rng.normal(size=(1000, 8))).how


def test_prototypes_from_weights_are_weighted_means(rng):
    X, weight, _ = sample(rng, 100, 3, 1)
    w = rng.random((100, 4))
    means = InputSpace(X, weight).prototypes(w).centers
    expected = (w * weight[:, None]).T @ X / (w * weight[:, None]).sum(axis=0)[:, None]
    assert_allclose(means, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [(300, 7), (7, 300), (700, 600), (600, 700)])
def test_largest_moment_is_that_of_the_whole_spectrum(rng, shape):
    X = rng.normal(size=shape) * rng.uniform(1, 3, size=shape[1])
    weight = rng.uniform(0.5, 2.0, size=len(X))
    expected = np.linalg.eigvalsh(np.cov(X.T, aweights=weight, bias=True))[-1]
    assert_allclose(InputSpace(X, weight).largest_moment(normalised=False), expected, rtol=1e-5)


def test_largest_moment_of_many_features_needs_no_square_matrix(rng):
    space = InputSpace(rng.normal(size=(60, 4000)))
    tracemalloc.start()
    space.largest_moment(normalised=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000**2 * 8 / 4
