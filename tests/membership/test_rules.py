"""Contracts of every membership rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from instances import RULE_NAMES, rules
from typicality.membership import (
    Entropic,
    Fuzzy,
    FuzzyWithNoise,
    Hard,
    Possibilistic1993,
    Possibilistic1996,
    SparsePossibilistic,
    labels,
)

every_rule = pytest.mark.parametrize("index", range(len(RULE_NAMES)), ids=RULE_NAMES)
sqdists = st.integers(2, 6).flatmap(
    lambda c: st.lists(st.lists(st.floats(0, 50), min_size=c, max_size=c), min_size=1, max_size=4)
)
SUM_TO_ONE = (Hard, Fuzzy, Entropic)
# Sparse memberships are a local minimum, the larger of two roots: tests/membership/test_sparse.py
GLOBAL_MINIMA = [
    pytest.param(i, id=name)
    for i, name in enumerate(RULE_NAMES)
    if not isinstance(rules(2)[i], SparsePossibilistic)
]


@every_rule
@given(values=sqdists)
def test_memberships_are_in_the_unit_interval(index, values):
    d = np.array(values)
    u = rules(d.shape[1])[index].memberships(d)
    assert u.shape == d.shape
    assert (u >= 0).all()
    assert (u <= 1).all()


@pytest.mark.parametrize("index", [i for i, r in enumerate(rules(2)) if type(r) in SUM_TO_ONE])
@given(values=sqdists)
def test_fuzzy_memberships_sum_to_one(index, values):
    d = np.array(values)
    assert_allclose(rules(d.shape[1])[index].memberships(d).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("index", GLOBAL_MINIMA)
@given(values=sqdists, seed=st.integers(0, 2**32 - 1), size=st.floats(1e-6, 1.0))
def test_memberships_minimise_the_objective(index, values, seed, size):
    d = np.array(values)
    rule = rules(d.shape[1])[index]
    best = rule.memberships(d)
    other = _feasible_neighbour(rule, best, np.random.default_rng(seed), size)
    least = rule.objective(best, d)
    assert (least <= rule.objective(other, d) + 1e-12 * (1 + np.abs(least))).all()


@pytest.mark.parametrize("index", GLOBAL_MINIMA)
def test_weights_are_the_derivative_of_the_least_objective(index, rng):
    rule, d, step = rules(3)[index], rng.uniform(0.3, 3.0, size=(6, 3)), 1e-6

    def least(d):
        return rule.objective(rule.memberships(d), d)

    slopes = [(least(d + step * e) - least(d - step * e)) / (2 * step) for e in np.eye(3)]
    weights = rule.weights(rule.memberships(d))
    assert_allclose(np.transpose(slopes), weights, rtol=1e-5, atol=1e-7)


def _feasible_neighbour(rule, u, rng, size):
    """Another point of the feasible set: a step from u towards a random one."""
    corners = np.eye(u.shape[1])[rng.integers(u.shape[1], size=len(u))]
    simplex = rng.dirichlet(np.ones(u.shape[1]), size=len(u))
    box = rng.random(u.shape)
    at_most_one = simplex * rng.random((len(u), 1))
    target = {Hard: corners, Fuzzy: simplex, Entropic: simplex, FuzzyWithNoise: at_most_one}.get(
        type(rule), box
    )
    step = {Hard: 1.0}.get(type(rule), size)
    return (1 - step) * u + step * target


@every_rule
@given(values=sqdists)
def test_the_preferred_cluster_has_the_largest_membership(index, values):
    d = np.array(values)
    rule = rules(d.shape[1])[index]
    u = rule.memberships(d)
    preferred = labels(rule, d)
    nowhere = preferred == -1
    assert_allclose(u[np.arange(len(u)), preferred][~nowhere], u.max(axis=1)[~nowhere], rtol=1e-9)
    rest = 1 - u.sum(axis=1)  # at least as large where a row is in no cluster
    assert (u[nowhere].max(axis=1, initial=0) <= rest[nowhere] + 1e-12).all()


@every_rule
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(index, dtype):
    rule = rules(3)[index]
    d = np.array([[0.1, 2.0, 3.0], [0.0, 1.0, 5.0]], dtype=dtype)
    u = rule.memberships(d)
    assert u.dtype == dtype
    assert rule.weights(u).dtype == dtype
    assert rule.objective(u, d).dtype == dtype


@every_rule
def test_other_array_libraries_give_the_same(index):
    strict = pytest.importorskip("array_api_strict")
    _same_in(strict, rules(3)[index])


@every_rule
def test_torch_gives_the_same(index):
    torch = pytest.importorskip("torch", reason="torch is not installed: rules untested on tensors")
    _same_in(torch, rules(3)[index])


def _same_in(library, rule):
    d = np.array([[0.1, 2.0, 3.0], [0.0, 1.0, 5.0], [4.0, 4.0, 4.0]])
    there = library.asarray(d)
    u = rule.memberships(there)
    assert type(u) is type(there)
    assert_allclose(np.asarray(u), rule.memberships(d), rtol=1e-14, atol=1e-300)
    assert_allclose(np.asarray(rule.weights(u)), rule.weights(rule.memberships(d)), rtol=1e-13)
    assert_allclose(
        np.asarray(rule.objective(u, there)), rule.objective(rule.memberships(d), d), rtol=1e-13
    )
    assert_allclose(np.asarray(rule.pull(there)), rule.pull(d), rtol=1e-13, atol=1e-300)
    assert np.asarray(labels(rule, there)).tolist() == labels(rule, d).tolist()


@every_rule
@given(values=sqdists)
def test_pull_is_the_weights_relative_to_the_largest(index, values):
    d = np.array(values)
    rule = rules(d.shape[1])[index]
    weights = rule.weights(rule.memberships(d))
    largest = weights.max(axis=0)
    vanished = largest < 1e-250
    expected = np.where(vanished, np.nan, weights / np.where(vanished, 1.0, largest))
    pull = np.where(vanished, np.nan, rule.pull(d))
    assert_allclose(pull, expected, rtol=1e-9, atol=1e-40)


@pytest.mark.parametrize("make", [Possibilistic1996, lambda eta: Possibilistic1993(eta, 1.01)])
def test_pull_does_not_vanish_with_the_typicalities(make):
    rule = make(np.array([1e-4]))
    d = np.array([[1.0], [1.1], [2.0]])
    assert not rule.memberships(d).any()
    assert rule.pull(d)[0] == 1.0
    assert np.isfinite(rule.pull(d)).all()


@pytest.mark.parametrize("m", [1.01, 1.5, 2.0, 3.0, 50.0, 5000.0])
def test_a_row_on_prototypes_belongs_to_them_alone(m):
    u = Fuzzy(m).memberships(np.array([[0.0, 1.0, 0.0, 3.0], [0.0, 1.0, 2.0, 3.0]]))
    assert_allclose(u, [[0.5, 0.0, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]])


def test_m_close_to_one_is_exact():
    d = np.array([[1.0, 1.01, 3.0], [1e-300, 1e-299, 1e10]])
    u = Fuzzy(1.01).memberships(d)
    expected = np.exp(-100 * (np.log(d) - np.log(d.min(axis=1, keepdims=True))))
    assert_allclose(u, expected / expected.sum(axis=1, keepdims=True), rtol=1e-10, atol=1e-300)


def test_noise_has_a_membership_of_its_own():
    """Dave (1991): the noise cluster is one more cluster, at the same distance from every row."""
    d, noise = np.array([[1.0, 4.0], [9.0, 16.0], [4.0, 5.0]]), 4.0
    for m in (1.3, 1.5, 2.0, 3.0):
        rule = FuzzyWithNoise(m, noise)
        with_noise = Fuzzy(m).memberships(np.column_stack([d, np.full(3, noise)]))
        assert_allclose(rule.memberships(d), with_noise[:, :2], rtol=1e-14)
        assert labels(rule, d).tolist() == [0, -1, 0]
        assert_allclose(FuzzyWithNoise(m).memberships(d), Fuzzy(m).memberships(d), rtol=1e-14)
