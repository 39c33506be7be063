"""Estimates from random pairs: unbiased, with standard errors that hold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from typicality.metrics import (
    adjusted_generalized_rand_score,
    generalized_rand_estimate,
    generalized_rand_score,
)


@pytest.fixture(params=["labels", "memberships"])
def two(request, rng):
    """A reference, crisp or soft, and memberships that have something in common with it."""
    y = rng.integers(0, 3, 80)
    U = 0.4 * np.eye(3)[y] + 0.6 * rng.dirichlet(np.ones(3), 80)
    V = 0.3 * np.eye(3)[y] + 0.7 * rng.dirichlet(np.ones(3), 80)
    return {"labels": y, "memberships": V}[request.param], U


def test_errors_are_those_of_a_normal_distribution(two):
    """Mean 0 and variance 1 of 200 standardised errors, within four standard errors of each."""
    exact = generalized_rand_score(*two), adjusted_generalized_rand_score(*two)
    found = [generalized_rand_estimate(*two, n_pairs=500, random_state=s) for s in range(200)]
    scores = np.array([(e.score - exact[0]) / e.standard_error for e in found])
    adjusted = np.array([(e.adjusted - exact[1]) / e.adjusted_standard_error for e in found])
    for errors in (scores, adjusted):
        assert_allclose(errors.mean(), 0, atol=4 / np.sqrt(200))
        assert_allclose(errors.var(), 1, atol=4 * np.sqrt(2 / 200))


def test_estimate_takes_rows_that_do_not_sum_to_one(rng):
    y, U = rng.integers(-1, 3, 200), rng.random((200, 3)) * 0.6
    estimate = generalized_rand_estimate(y, U, normalize=False, random_state=0)
    assert_allclose(
        estimate.score,
        generalized_rand_score(y, U, normalize=False),
        atol=4 * estimate.standard_error,
    )


def test_the_same_seed_gives_the_same_pairs(two):
    first, again = (generalized_rand_estimate(*two, n_pairs=999, random_state=3) for _ in range(2))
    assert first == again
