"""Quantiles in which a weight k is k copies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from typicality._quantiles import weighted_quantile

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


@pytest.mark.parametrize("rate", [1e-7, 0.05, 1 - 1e-7])
@pytest.mark.parametrize("decimals", [1, 16])
def test_weighted_quantile_of_many_values_has_the_bits_of_numpy(rng, rate, decimals):
    values = np.round(rng.normal(size=300_000), decimals)
    values[::10] = -np.inf
    with np.errstate(invalid="ignore"):
        assert_array_equal(
            weighted_quantile(values, rate), np.quantile(values, rate, method="weibull")
        )


def test_weighted_quantile_of_many_values_that_a_sample_misleads():
    values = np.ones(2**18)
    values[:: 2**18 // 2**13] = np.arange(2.0, 2.0 + 2**13)  # just those that the sample has
    assert weighted_quantile(values, 0.5) == 1.0
    values[7] = np.nan
    assert np.isnan(weighted_quantile(values, 0.5))


def test_weighted_quantile_ignores_equal_weights_that_sum_to_one(rng):
    values = rng.normal(size=500)
    weight = np.full(500, 1 / 500)
    assert_allclose(weighted_quantile(values, 0.1, weight), weighted_quantile(values, 0.1))


def test_weighted_quantile_has_the_nominal_probability_for_new_values(rng):
    """Also for few values: the mean over many draws of the share of the source below."""
    for n, rate in [(20, 0.1), (50, 0.05), (200, 0.01)]:
        draws = [weighted_quantile(rng.random(n), rate) for _ in range(4000)]
        assert_allclose(np.mean(draws), rate, rtol=0.05)
