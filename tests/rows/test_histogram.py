"""Quantiles from folds are those of all values at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from typicality._quantiles import weighted_quantile
from typicality.rows import ArrayRows, Histogram, quantile

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


def test_quantile_of_minus_infinity_is_minus_infinity():
    values = np.array([-np.inf, -np.inf, -1.0, 0.0])
    assert quantile(rows_of(values), first_column, 0.2) == -np.inf
    ends = Histogram.of(values, None).lower_ends
    assert ends[0] == -np.inf
    assert (ends[1:] <= values[2:]).all()
