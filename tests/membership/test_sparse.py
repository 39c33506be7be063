"""Sparse memberships: the radius, the larger root, and the compiled form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq

from typicality.membership import Possibilistic1996, SparsePossibilistic, labels
from typicality.membership.sparse import collapse_weight
from typicality.spaces import Centroids

etas = st.floats(1e-3, 1e3)
exponents = st.floats(0.05, 0.95)
places = st.floats(0, 0.999) | st.floats(1.001, 1.5)  # of the radius; at 1 the two roots meet
shares = st.floats(1e-6, 0.999)  # of the weight at which nothing is left


def slope(u, sqdist, eta, lam, p):
    """The derivative of the objective, eq. (3) of xenaki2014, over eta."""
    return sqdist / eta + np.log(u) + lam / eta * p * u ** (p - 1)


def least_slope(sqdist, eta, lam, p):
    """The place of its minimum, proposition 2, and its value there."""
    place = (lam / eta * p * (1 - p)) ** (1 / (1 - p))
    return place, slope(place, sqdist, eta, lam, p)


def larger_root(sqdist, eta, lam, p):
    """The root to the right of the minimum, found by its logarithm; zero where there is none."""
    left, least = least_slope(sqdist, eta, lam, p)
    if least >= 0:
        return 0.0
    bounds = np.log(left), 1e-9
    return np.exp(brentq(lambda t: slope(np.exp(t), sqdist, eta, lam, p), *bounds, xtol=1e-13))


def membership(sqdist, eta, lam, p, kind=SparsePossibilistic):
    return kind(np.array([eta]), lam, p).memberships(np.array([[sqdist]]))[0, 0]


@given(eta=etas, p=exponents, share=shares, place=places)
def test_membership_is_the_larger_root_or_zero(eta, p, share, place):
    lam = share * collapse_weight(eta, p)
    edge = eta * SparsePossibilistic(np.array([eta]), lam, p).edge[0]
    sqdist = place * edge
    u = membership(sqdist, eta, lam, p)
    assert_allclose(u, larger_root(sqdist, eta, lam, p), rtol=1e-9)


@given(eta=etas, p=exponents, share=shares)
def test_radius_is_where_the_two_roots_meet(eta, p, share):
    """R^2 = eta / (1 - p) (-ln(lam p (1 - p) / eta) - 1)."""
    lam = share * collapse_weight(eta, p)
    radius = eta / (1 - p) * (-np.log(lam * p * (1 - p) / eta) - 1)
    place, least = least_slope(radius, eta, lam, p)
    assert_allclose(least, 0, atol=1e-9 * (1 + radius / eta))
    assert membership(radius * (1 + 1e-9) + 1e-12 * eta, eta, lam, p) == 0
    assert_allclose(membership(radius * (1 - 1e-12), eta, lam, p), place, rtol=1e-3)


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_beyond_the_collapse_nothing_belongs_anywhere(p):
    eta = np.array([1.0, 3.0])
    rule = SparsePossibilistic(eta, 1.001 * collapse_weight(3.0, p), p)
    d = np.array([[0.0, 0.0], [1.0, 2.0]])
    assert not rule.memberships(d).any()
    assert labels(rule, d).tolist() == [-1, -1]
    assert not rule.pull(d).any()
    below = SparsePossibilistic(eta, 0.999 * collapse_weight(3.0, p), p)
    assert labels(below, d[:1]).tolist() == [1]


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_least_spread_is_that_of_the_collapse(p):
    rule = SparsePossibilistic(np.array([1.0]), 0.3, p)
    assert_allclose(collapse_weight(rule.least_spread, p), 0.3)
    assert membership(0.0, 1.001 * rule.least_spread, 0.3, p) > 0
    assert membership(0.0, 0.999 * rule.least_spread, 0.3, p) == 0


def test_little_sparsity_is_none(rng):
    eta = np.array([0.5, 2.0])
    d = rng.uniform(0, 10, size=(50, 2))
    sparse = SparsePossibilistic(eta, 1e-12).memberships(d)
    assert_allclose(sparse, Possibilistic1996(eta).memberships(d), atol=1e-10)


@pytest.mark.parametrize(("lam", "p"), [(1e-9, 0.3), (0.01, 0.8), (0.1, 0.5), (0.3, 0.3)])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-8), (np.float32, 1e-3)])
def test_compiled_form_gives_the_same(rng, lam, p, dtype, rtol):
    X = rng.normal(size=(2000, 3)).astype(dtype)
    eta = np.array([0.5, 1.0, 2.0])
    rule = SparsePossibilistic(eta, lam, p)
    prototypes = Centroids.at(X[:3], X.mean(axis=0))
    d = prototypes.sqdist(X)
    # Rows at the very edge may fall on either side of it.
    clear = (np.abs(d / eta / rule.edge - 1) > 1e-4).all(axis=1)
    u = prototypes.memberships(rule, X)
    assert u.dtype == dtype
    assert_allclose(u[clear], rule.memberships(d)[clear], rtol=rtol)
    assert_array_equal(prototypes.labels(rule, X)[clear], labels(rule, d)[clear])
