"""Gaps between rows, in both spaces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from reference import members as reference
from typicality.kernels import Linear
from typicality.spaces import Euclidean, Gaps, Gram

pytestmark = pytest.mark.usefixtures("module_compiling")

SPACES = [Euclidean, lambda X, weight=None: Gram(Linear(), X, weight)]
either_space = pytest.mark.parametrize("open_space", SPACES, ids=["input", "kernel"])


def sample(rng, n=400, d=3):
    return rng.normal(size=(n, d)), rng.integers(0, 4, size=n).astype(float)


@either_space
def test_farthest_row_takes_part(rng, open_space):
    X, weight = sample(rng)
    weight[np.argsort(np.linalg.norm(X, axis=1))[-3:]] = 0
    space = open_space(X, weight)
    prototypes = space.near_rows(np.array([0, 1]), share=0.0)
    nearest = np.where(weight > 0, cdist(X, X[[0, 1]], "sqeuclidean").min(axis=1), -1)
    assert Gaps(space, space.sample()).farthest_row(prototypes) == nearest.argmax()


def test_farthest_row_does_not_depend_on_order_when_rows_tie():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 0.0]])
    for order in (np.arange(5), np.array([4, 1, 3, 0, 2]), np.array([2, 3, 0, 1, 4])):
        space = Euclidean(X[order])
        middle = space.at(np.zeros((1, 2)))
        assert X[order][Gaps(space, space.sample()).farthest_row(middle)].tolist() == [-1.0, 0.0]


@either_space
@pytest.mark.parametrize("copies", [1, 3])
def test_gaps_leave_isolated_rows_out(rng, open_space, copies):
    X = np.vstack([rng.normal(size=(100, 2)), np.full((copies, 2), 50.0)])
    space = open_space(X)
    prototypes = space.near_rows(np.array([0]), share=0.0)
    expected = reference.nearest_sqdist(X[:100]).max()
    assert_allclose(Gaps(space, space.sample()).max_gap, expected, rtol=1e-9)
    assert Gaps(space, space.sample()).farthest_row(prototypes) < 100


def largest_gap(gaps):
    return gaps[gaps <= 9 * np.quantile(gaps, 0.95)].max()


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), d=st.integers(1, 12))
def test_max_gap_is_right_for_any_data(seed, n, d):
    rng = np.random.default_rng(seed)
    X = np.unique(rng.standard_t(1.5, size=(n, d)).round(2), axis=0)
    expected, space = largest_gap(reference.nearest_sqdist(X)), Euclidean(X)
    assert_allclose(Gaps(space, space.sample()).max_gap, expected, rtol=1e-9)
