"""Landmarks: the promise is computed, and kept for every row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from instances import DISTANCE_KINDS
from reference.nystroem import low_rank, pivots
from typicality.kernels import Gaussian, Laplacian
from typicality.operators import KernelColumns
from typicality.operators.landmarks import landmarks_of, pivoted


def random_case(seed):
    """Rows of heavy tails, with copies, and sometimes far from zero."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 2, 17, 150, 300])), int(rng.integers(1, 11))
    X = rng.standard_t(3, size=(n, d)) + rng.choice([0.0, 1e6])
    X = X[rng.integers(0, n, size=n)].astype(rng.choice([np.float32, np.float64]))
    kernel = DISTANCE_KINDS[seed % len(DISTANCE_KINDS)](10.0 ** rng.uniform(-1, 2))
    return KernelColumns(kernel, X), 10.0 ** rng.uniform(-12, -1)


@pytest.mark.parametrize("seed", range(12))
def test_promise_is_kept(seed):
    columns, rtol = random_case(seed)
    found = landmarks_of(columns, rtol)
    residual = found.residuals(columns.kernel_function, columns.training)
    assert residual.max() <= rtol
    K = columns.kernel(columns.training)
    error = np.diagonal(K) - np.diagonal(low_rank(K, found.index))
    assert_allclose(residual, error, atol=1e-9)


def test_promise_is_kept_beyond_the_sample(rng):
    """Rows that no sample has: a few far away, among many."""
    X = np.vstack([rng.normal(size=(10000, 2)), 50 + rng.normal(size=(7, 2))])
    found = landmarks_of(KernelColumns(Gaussian(2.0), X), 1e-8)
    assert set(found.index) & set(range(10000, 10007))
    assert found.residuals(Gaussian(2.0), X).max() <= 1e-8


def test_landmarks_are_the_pivots_of_largest_residual(rng):
    X = rng.normal(size=(60, 3))
    kernel = Gaussian(2.0)
    found = pivoted(KernelColumns(kernel, X), np.arange(60), 2e-4).index
    assert_array_equal(np.sort(found), np.sort(pivots(kernel(X, X), 1e-4)))


def test_rough_kernels_take_too_many(rng):
    assert landmarks_of(KernelColumns(Laplacian(0.5), rng.normal(size=(6000, 5))), 1e-3) is None
