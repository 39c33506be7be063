"""Rows sorted by the cluster they prefer, and gaps between rows, in both spaces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from instances import RULE_NAMES, rules
from reference import input_space as slow
from reference import members as reference
from typicality.geometry import InputSpace, KernelSpace
from typicality.kernels import Gaussian, Linear

pytestmark = pytest.mark.usefixtures("module_compiling")

every_rule = pytest.mark.parametrize("index", range(len(RULE_NAMES)), ids=RULE_NAMES)
SPACES = [InputSpace, lambda X, weight=None: KernelSpace(Linear(), X, weight)]
either_space = pytest.mark.parametrize("open_space", SPACES, ids=["input", "kernel"])


def sample(rng, n=400, d=3):
    return rng.normal(size=(n, d)), rng.integers(0, 4, size=n).astype(float)


@every_rule
@either_space
def test_members_equal_the_slow_twin(rng, index, open_space):
    X, weight = sample(rng)
    rule = rules(5)[index]
    space = open_space(X, weight)
    prototypes = space.prototypes(rng.dirichlet(np.ones(5) * 0.1, size=len(X)))
    members = space.labelled_sweep(rule, prototypes).members
    mass, means, distance = reference.members(rule, X, weight, prototypes.sqdist(X))
    assert_allclose(members.mass, mass)
    assert_allclose(members.distance, distance, rtol=1e-7, atol=1e-7)
    populated = mass > 0
    to_means = members.means.sqdist(X)[:, populated]
    assert_allclose(to_means, slow.sqdist(X, means[populated]), rtol=1e-9, atol=1e-9)


@every_rule
@either_space
def test_a_labelled_sweep_is_a_sweep(rng, index, open_space):
    X, weight = sample(rng)
    rule = rules(4)[index]
    space = open_space(X, weight)
    start = space.near_rows(np.array([0, 1, 2, 3]))
    plain, labelled = space.sweep(rule, start), space.labelled_sweep(rule, start)
    assert labelled.objective == plain.objective
    assert labelled.relative_move == plain.relative_move
    assert_array_equal(labelled.mass, plain.mass)
    assert_array_equal(labelled.within_sqdist, plain.within_sqdist)


@every_rule
@either_space
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outcome_equals_labels_memberships_and_objective_to_the_last_bit(
    rng, index, open_space, dtype
):
    X, weight = (array.astype(dtype) for array in sample(rng, 4500))
    rule = rules(4)[index]
    space = open_space(X, weight)
    prototypes = space.near_rows(np.array([0, 1, 2, 3]))
    found = space.outcome(rule, prototypes)
    objective, mass = space.objective_and_mass(rule, prototypes)
    assert_array_equal(found.labels, space.labels(rule, prototypes))
    assert_array_equal(found.memberships, space.memberships(rule, prototypes))
    assert found.objective == objective
    assert_array_equal(found.mass, mass)
    assert found.memberships.dtype == dtype
    assert space.outcome(rule, prototypes, memberships=False).memberships is None


@every_rule
def test_members_do_not_depend_on_threads(rng, index):
    X, weight = sample(rng, 30_000)
    rule = rules(4)[index]
    space = InputSpace(X, weight)
    start = space.near_rows(np.array([0, 1, 2, 3]))
    many = space.labelled_sweep(rule, start).members
    with threadpool_limits(1):
        one = space.labelled_sweep(rule, start).members
    assert_array_equal(one.mass, many.mass)
    assert_array_equal(one.distance, many.distance)


@either_space
def test_prototypes_join_in_order(rng, open_space):
    X, _ = sample(rng)
    space = open_space(X)
    first, second = np.array([3, 1]), np.array([7])
    joined = space.near_rows(first).join(space.near_rows(second))
    expected = space.near_rows(np.array([3, 1, 7]))
    assert_allclose(joined.sqdist(X), expected.sqdist(X), rtol=1e-12, atol=1e-12)
    assert_allclose(joined.mutual_sqdist(), expected.mutual_sqdist(), rtol=1e-9, atol=1e-12)


@either_space
def test_near_rows_are_the_rows_when_the_share_is_zero(rng, open_space):
    X, _ = sample(rng)
    at_rows = open_space(X).near_rows(np.array([5, 6]), share=0.0)
    assert_allclose(at_rows.sqdist(X[[5, 6]]).diagonal(), 0, atol=1e-12)


@either_space
def test_farthest_row_takes_part(rng, open_space):
    X, weight = sample(rng)
    weight[np.argsort(np.linalg.norm(X, axis=1))[-3:]] = 0
    space = open_space(X, weight)
    prototypes = space.near_rows(np.array([0, 1]), share=0.0)
    nearest = np.where(weight > 0, slow.sqdist(X, X[[0, 1]]).min(axis=1), -1)
    assert space.gaps().farthest_row(prototypes) == nearest.argmax()


def test_farthest_row_does_not_depend_on_order_when_rows_tie():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 0.0]])
    for order in (np.arange(5), np.array([4, 1, 3, 0, 2]), np.array([2, 3, 0, 1, 4])):
        space = InputSpace(X[order])
        middle = space.at(np.zeros((1, 2)))
        assert X[order][space.gaps().farthest_row(middle)].tolist() == [-1.0, 0.0]


@either_space
@pytest.mark.parametrize("copies", [1, 3])
def test_gaps_leave_isolated_rows_out(rng, open_space, copies):
    X = np.vstack([rng.normal(size=(100, 2)), np.full((copies, 2), 50.0)])
    space = open_space(X)
    prototypes = space.near_rows(np.array([0]), share=0.0)
    expected = reference.nearest_sqdist(X[:100]).max()
    assert_allclose(space.gaps().max_gap, expected, rtol=1e-9)
    assert space.gaps().farthest_row(prototypes) < 100


def largest_gap(gaps):
    return gaps[gaps <= 9 * np.quantile(gaps, 0.95)].max()


@either_space
@pytest.mark.parametrize(("n", "d"), [(2, 1), (300, 2), (700, 11)])
def test_max_gap_equals_the_slow_twin(rng, open_space, n, d):
    X = rng.normal(size=(n, d))
    expected = largest_gap(reference.nearest_sqdist(X))
    assert_allclose(open_space(X).gaps().max_gap, expected, rtol=1e-9)
    copies = np.vstack([X, X[:1], X[:1]])
    assert_allclose(open_space(copies).gaps().max_gap, expected, rtol=1e-9)
    far = np.vstack([X, 100 + X[:1]])
    aside = open_space(far, np.append(np.ones(n), 0.0))
    assert_allclose(aside.gaps().max_gap, expected, rtol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), d=st.integers(1, 12))
def test_max_gap_is_right_for_any_data(seed, n, d):
    rng = np.random.default_rng(seed)
    X = np.unique(rng.standard_t(1.5, size=(n, d)).round(2), axis=0)
    expected = largest_gap(reference.nearest_sqdist(X))
    assert_allclose(InputSpace(X).gaps().max_gap, expected, rtol=1e-9)


@either_space
def test_gaps_near_prototypes_are_sorted_distances(rng, open_space):
    X, _ = sample(rng, 50)
    copies = np.vstack([X, X[:5]])
    space = open_space(copies)
    around = space.gaps().near(space.near_rows(np.array([0, 7]), share=0.0), 10)
    expected = np.sort(slow.sqdist(X, X[[0, 7]]).T, axis=1)[:, 1:11]
    assert_allclose(around, expected, rtol=1e-9)


def test_gaps_in_a_kernel_space_are_those_of_its_distances(rng):
    X, _ = sample(rng, 60)
    kernel = Gaussian(1.3)
    gaps = KernelSpace(kernel, X).gaps()
    expected = 2 - 2 * np.exp(-reference.nearest_sqdist(X) / (2 * 1.3**2))
    assert_allclose(gaps.max_gap, largest_gap(expected), rtol=1e-9)
