"""Sums over near rows: what is left out stays below the promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from typicality.geometry import KernelSpace
from typicality.kernels import Cauchy, Gaussian, Laplacian, Linear
from typicality.operators import Dense, Evaluated, Truncated, choose_operator
from typicality.operators.planning import plan_of
from typicality.operators.row_tree import RowTree
from typicality.operators.truncated import can_truncate

KINDS = [Gaussian, Laplacian, Cauchy]
every_kind = pytest.mark.parametrize("kind", KINDS)


@given(
    kind=st.sampled_from(KINDS),
    log_sigma=st.floats(-4, 3),
    log_rtol=st.floats(-14, -0.01),
    n=st.integers(1, 300),
    d=st.integers(1, 6),
    seed=st.integers(0, 2**20),
)
def test_promise_is_kept(kind, log_sigma, log_rtol, n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(n, d))
    points = np.vstack([X[:20], rng.normal(size=(20, d))])
    W = rng.normal(size=(n, 2))
    kernel = kind(10.0**log_sigma)
    columns = Evaluated(kernel, X)
    operator = Truncated(columns, points, rtol=10.0**log_rtol)
    allowed = (operator.rtol + 1e-14) * np.abs(W).sum(axis=0)
    assert (np.abs(operator @ W - kernel(points, X) @ W) <= allowed).all()
    apart = Dense(columns, points).complement(W) - operator.complement(W)
    assert (np.abs(apart) <= allowed + 1e-14 * np.abs(W).sum()).all()


@every_kind
def test_nothing_is_left_out_without_a_tolerance(rng, kind):
    X, W = rng.normal(size=(500, 3)), rng.random((500, 1))
    kernel = kind(0.05)
    operator = Truncated(Evaluated(kernel, X), X, rtol=0.0)
    assert operator.share_of_work() == 1.0
    assert_allclose(operator @ W, kernel(X, X) @ W, rtol=1e-13)


@every_kind
def test_support_radius(kind):
    kernel = kind(0.7)
    for rtol in (1e-12, 1e-3, 0.5):
        at = np.array([[kernel.support_radius(rtol)]])
        assert_allclose(kernel(np.zeros((1, 1)), at), rtol, rtol=1e-9)
    assert kernel.support_radius(0.0) == np.inf


def test_a_point_gets_the_same_in_any_batch_and_with_any_threads(rng):
    X, W = rng.normal(size=(3000, 2)), rng.random((3000, 3))
    columns = Evaluated(Gaussian(0.1), X)
    tree = RowTree.of(X)
    together = Truncated(columns, X, rtol=1e-9, tree=tree) @ W
    some = rng.permutation(3000)[:100]
    assert_array_equal(Truncated(columns, X[some], rtol=1e-9, tree=tree) @ W, together[some])
    with threadpool_limits(limits=1):
        assert_array_equal(Truncated(columns, X, rtol=1e-9, tree=tree) @ W, together)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1000])
def test_the_tree_has_every_row_once_and_within_its_box(rng, n):
    X = rng.normal(size=(n, 3))
    tree = RowTree.of(X)
    assert_array_equal(np.sort(tree.slots[tree.slots >= 0]), np.arange(n))
    for node in np.flatnonzero(tree.leaf_of >= 0):
        own = tree.slots[tree.leaf_of[node]]
        inside = X[own[own >= 0]]
        assert (inside >= tree.lower[node]).all()
        assert (inside <= tree.upper[node]).all()
    assert tree.weights(np.ones((n, 1))).sum() == n
    assert tree.n_bytes > X.nbytes


def test_planning_truncates_where_that_spares_work_and_is_allowed(rng):
    X = rng.normal(size=(4000, 2))
    narrow, wide = Evaluated(Gaussian(0.02), X), Evaluated(Gaussian(5.0), X)
    assert choose_operator(narrow, X).method == "dense"
    assert choose_operator(wide, X, rtol=1e-9).method == "dense"
    assert choose_operator(Evaluated(Linear(), X), X, rtol=1e-9).method == "dense"
    assert choose_operator(narrow, X[:100], rtol=1e-9).method == "dense"
    chosen = choose_operator(narrow, X, rtol=1e-9)
    assert chosen.method == "truncated"
    assert chosen.share_of_work() < 0.05
    plan = plan_of(chosen, narrow, len(X))
    assert "less than 1e-09" in str(plan)
    assert plan.working_memory < 8 * 4000 * 20


def test_kernels_without_compiled_sums_are_not_truncated(rng):
    class Steep(Gaussian):
        """A profile of its own, perhaps."""

    X = rng.normal(size=(5, 2))
    assert can_truncate(Evaluated(Gaussian(1.0), X))
    assert not can_truncate(Evaluated(Steep(1.0), X))
    assert not can_truncate(Evaluated(Linear(), X))


def test_kernel_spaces_keep_their_digits_under_heavy_weights(rng):
    """Nearly all weight in one place: one minus the kernel is tiny, whatever the rows say."""
    tight = 1e-6 * rng.normal(size=(1000, 2))
    far = np.repeat(100 * rng.normal(size=(9, 2)), 250, axis=0) + 1e-6 * rng.normal(size=(2250, 2))
    X, weight = np.vstack([tight, far]), np.repeat([1e9, 1e-3], [1000, 2250])
    space = KernelSpace(Gaussian(1.0), X, weight, rtol=1e-15)
    exact = KernelSpace(Gaussian(1.0), X, weight)
    assert space.operator.method != "truncated"
    assert space.total_variance == exact.total_variance
