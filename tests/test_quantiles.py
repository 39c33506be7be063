"""Quantiles in which a weight k is k copies."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from typicality._quantiles import weighted_quantile

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


@given(values, st.floats(0, 1), st.data())
def test_quantile_takes_weight_k_for_k_copies(values, rate, data):
    values = np.array(values)
    times = np.array(
        data.draw(
            st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)).filter(any)
        )
    )
    expected = np.quantile(np.repeat(values, times), rate, method="weibull")
    ours = weighted_quantile(values, rate, times.astype(float))
    assert_allclose(ours, expected, rtol=1e-9, atol=1e-6)


def test_quantile_without_weights_is_numpys(rng):
    values = rng.normal(size=31)
    assert weighted_quantile(values, 0.07) == np.quantile(values, 0.07, method="weibull")


def test_weights_that_sum_to_one_are_as_good_as_none(rng):
    values = rng.normal(size=500)
    weight = np.full(500, 1 / 500)
    assert_allclose(weighted_quantile(values, 0.1, weight), weighted_quantile(values, 0.1))


def test_new_values_fall_below_with_the_nominal_probability(rng):
    """Also for few values: the mean over many draws of the share of the source below."""
    for n, rate in [(20, 0.1), (50, 0.05), (200, 0.01)]:
        draws = [weighted_quantile(rng.random(n), rate) for _ in range(4000)]
        assert_allclose(np.mean(draws), rate, rtol=0.05)
