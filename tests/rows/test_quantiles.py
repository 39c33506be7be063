"""Quantiles in which a weight k is k copies, in memory and by folds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from typicality.rows import ArrayRows, quantile
from typicality.rows.quantiles import weighted_quantile

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


@given(values, st.floats(0, 1), st.data())
def test_weighted_quantile_counts_weight_k_as_k_copies(values, rate, data):
    values = np.array(values)
    times = np.array(
        data.draw(
            st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)).filter(any)
        )
    )
    expected = np.quantile(np.repeat(values, times), rate, method="weibull")
    ours = weighted_quantile(values, rate, times.astype(float))
    assert_allclose(ours, expected, rtol=1e-9, atol=1e-6)


def test_weighted_quantile_is_that_of_numpy_without_weights(rng):
    values = rng.normal(size=31)
    assert weighted_quantile(values, 0.07) == np.quantile(values, 0.07, method="weibull")


def test_weighted_quantile_has_the_nominal_probability_for_new_values(rng):
    """Also for few values: the mean over many draws of the share of the source below."""
    for n, rate in [(20, 0.1), (50, 0.05), (200, 0.01)]:
        draws = [weighted_quantile(rng.random(n), rate) for _ in range(4000)]
        assert_allclose(np.mean(draws), rate, rtol=0.05)


# ---- by folds ----

RATES = [0.0, 1e-6, 0.01, 0.05, 0.5, 0.93, 1.0]
VALUES = {
    "normal": lambda rng: rng.normal(size=5000),
    "tied": lambda rng: rng.integers(-3, 3, 5000).astype(float),
    "close": lambda rng: -7.0 + 1e-13 * rng.random(5000),
    "few": lambda rng: np.array([3.0, -0.0, 0.0, -1e300]),
    "one": lambda rng: np.array([2.5]),
}


def first_column(block):
    return block.X[:, 0]


def rows_of(values, weight=None):
    X = np.ascontiguousarray(values[:, None])
    return ArrayRows(X, weight, (len(X) // 3, len(X) // 3, len(X) // 2))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", VALUES)
def test_quantile_is_exact(rng, kind, rate):
    values = VALUES[kind](rng)
    found = quantile(rows_of(values), first_column, rate)
    assert_allclose(found, weighted_quantile(values, rate), rtol=1e-15, atol=1e-300)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("kind", "scale"), [("normal", 1.0), ("tied", 2.0**-10), ("close", 1.0)])
def test_quantile_counts_weights_as_copies(rng, kind, rate, scale):
    values = VALUES[kind](rng)
    weight = scale * rng.integers(0, 4, len(values)).astype(float)
    found = quantile(rows_of(values, weight), first_column, rate)
    assert_allclose(found, weighted_quantile(values, rate, weight), rtol=1e-15)
