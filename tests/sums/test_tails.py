"""Sums in the tails against their slow twins, and rows in the same place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from instances import DISTANCE_KINDS
from reference.kernel_sums import coincidences, log_sums
from typicality.kernels import Gaussian
from typicality.sums import KernelColumns
from typicality.sums.tails import ExactTails


def tails(kernel, X, weights, sample_weight, nearest):
    return ExactTails(KernelColumns(kernel, X), weights, sample_weight, nearest)


@given(
    kind=st.sampled_from(DISTANCE_KINDS),
    log_sigma=st.floats(-2, 4),
    log_nearest=st.floats(-25, -2),
    n=st.integers(1, 300),
    d=st.integers(1, 12),
    seed=st.integers(0, 2**20),
)
def test_tails_are_as_their_slow_twins(kind, log_sigma, log_nearest, n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(n, d))
    X[rng.random(n) < 0.3] = X[0]
    copies = rng.integers(0, 4, size=n) * 1.0
    weights = copies * 10.0 ** rng.uniform(-20, 0, size=n)
    points = np.vstack([X[:15], 100 * rng.normal(size=(15, d)), rng.normal(size=(15, d))])
    kernel, nearest = kind(10.0**log_sigma), 10.0**log_nearest
    log_others, own, copies_here = tails(kernel, X, weights, copies, nearest).log_sums(points)
    expected = log_sums(kernel, X, weights, nearest, points)
    assert_array_equal(np.isfinite(log_others), np.isfinite(expected))
    far = np.isfinite(expected)
    assert_allclose(log_others[far], expected[far], rtol=1e-13, atol=1e-9)
    expected_own, expected_copies = coincidences(kernel, X, weights, copies, nearest, points)
    assert_allclose(own, expected_own, rtol=1e-12)
    assert_allclose(copies_here, expected_copies, rtol=1e-12)


def test_rows_of_single_precision_that_coincide_are_found(rng):
    once = (rng.uniform(-500, 500, (10_000, 2)) + 300).astype(np.float32)
    again = once.copy()
    again[:, 0] = np.nextafter(again[:, 0], np.float32(1e9))
    X = np.concatenate([once, again])
    columns = KernelColumns(Gaussian(1.0), X)
    tails = ExactTails(columns, np.full(len(X), 1 / len(X)), np.ones(len(X)), 9.97e-11)
    assert_array_equal(tails.coincidences_of_rows()[1], tails.coincidences(X)[1])


def test_every_row_that_coincides_is_found(rng):
    """The first in the order of the rows, too."""
    X = rng.normal(size=(3000, 3))
    X[[1500, 2999]] = X[[0, 1]]
    tails = ExactTails(KernelColumns(Gaussian(1.0), X), np.full(3000, 1 / 3000), np.ones(3000), 0.0)
    assert_array_equal(np.flatnonzero(tails.coincidences_of_rows()[1] == 2), [0, 1, 1500, 2999])
