"""A few rows that stand for all: the promise is proven at any point, and kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from instances import DISTANCE_KINDS
from reference.projection import projection
from typicality.kernels import Gaussian, Laplacian, Linear
from typicality.sums import KernelColumns
from typicality.sums.landmarks import reduced_set


def random_case(seed):
    """Rows that come three times, so that some can be spared however rough the kernel is."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 5, 40, 150])), int(rng.integers(1, 11))
    offset = rng.choice([0.0, 1e6])
    dtype = rng.choice([np.float32, np.float64])
    X = np.repeat(rng.standard_t(3, size=(n, d)) + offset, 3, axis=0).astype(dtype)
    W = rng.normal(size=(3 * n, 2)) * rng.choice([1.0, 1e-9, 1e9]) + rng.choice([0.0, 2.0])
    points = np.vstack([X[::7], offset + 3 * rng.normal(size=(40, d))])
    kernel = DISTANCE_KINDS[seed % len(DISTANCE_KINDS)](10.0 ** rng.uniform(-1, 2))
    return KernelColumns(kernel, X), W, 10.0 ** rng.uniform(-6, -1), points


@pytest.mark.parametrize("seed", range(45))
def test_promise_is_kept_at_any_point(seed):
    columns, W, rtol, points = random_case(seed)
    reduced = reduced_set(columns, W, rtol=rtol)
    assert reduced.rtol <= rtol
    assert 1 <= len(reduced.rows) <= len(W) // 2
    exact = columns.kernel_function(points, columns.training)
    allowed = (reduced.rtol + 1e-15) * np.abs(W).sum(axis=0)
    assert (np.abs(reduced.at(points) - exact @ W) <= allowed).all()
    assert (np.abs(reduced.at(points, complement=True) - (1 - exact) @ W) <= allowed).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("log_rtol", [-1, -2, -3, -5, -6.5])
def test_few_rows_suffice_for_smooth_kernels(seed, log_rtol):
    rng = np.random.default_rng(seed)
    X, W, points = rng.normal(size=(900, 2)), rng.random((900, 3)), 4 * rng.normal(size=(99, 2))
    kernel = Gaussian(rng.uniform(1.0, 4.0))
    reduced = reduced_set(KernelColumns(kernel, X), W, rtol=10.0**log_rtol)
    assert len(reduced.rows) < 300
    error = np.abs(reduced.at(points) - kernel(points, X) @ W)
    assert (error <= 10.0**log_rtol * W.sum(axis=0)).all()


def test_weights_are_those_of_the_projection_and_the_bound_is_its_distance(rng):
    X, W = rng.normal(size=(200, 3)), rng.random((200, 2))
    kernel = Gaussian(1.5)
    reduced = reduced_set(KernelColumns(kernel, X), W, rtol=1e-2)
    z = np.array([np.flatnonzero((row == X).all(axis=1))[0] for row in reduced.rows])
    weights, distance = projection(kernel(X, X), W, z)
    assert_allclose(reduced.weights, weights, rtol=1e-6, atol=1e-9)
    assert_allclose(reduced.rtol, (distance / W.sum(axis=0)).max(), rtol=1e-6)


def test_copies_and_rows_without_weight_are_spared_and_nothing_is_lost(rng):
    X, W = np.repeat(rng.normal(size=(40, 4)), 2, axis=0), rng.random((80, 1))
    W[40:] = 0.0
    reduced = reduced_set(KernelColumns(Laplacian(0.01), X), W, rtol=1e-6)
    assert len(reduced.rows) == 20
    assert_allclose(reduced.weights.sum(), W.sum())
    nothing = reduced_set(KernelColumns(Gaussian(1.0), X), 0 * W, rtol=1e-3)
    assert_array_equal(nothing.at(X), 0 * W)


def test_what_cannot_be_reduced_is_refused(rng):
    X, W = rng.normal(size=(100, 5)), rng.random((100, 1))
    columns = KernelColumns(Laplacian(0.1), X)
    with pytest.raises(ValueError, match=r"more than 50 of the 100 rows.* larger rtol\.$"):
        reduced_set(columns, W, rtol=1e-4)
    with pytest.raises(ValueError, match="more than 0 of the 1 rows"):
        reduced_set(KernelColumns(Gaussian(1.0), X[:1]), W[:1], rtol=1e-4)
    with pytest.raises(ValueError, match=r"cannot guarantee .* only more than 1\.7e-07"):
        reduced_set(columns, W, rtol=1e-9)
    with pytest.raises(ValueError, match="kernel that depends only on the distance"):
        reduced_set(KernelColumns(Linear(), X), W, rtol=1e-3)
