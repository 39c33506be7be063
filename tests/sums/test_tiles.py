"""Compiled kernel sums: the promise, the digits, and the same numbers in any order of work."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from instances import DISTANCE_KINDS
from reference.kernel_sums import sums_at
from typicality.kernels import Gaussian, Laplacian
from typicality.sums import KernelColumns, Tiles
from typicality.sums.tiles import SINGLE_RTOL

every_kind = pytest.mark.parametrize("kind", DISTANCE_KINDS)
every_precision = pytest.mark.parametrize("single", [False, True])
TILES = {
    False: lambda columns, rtol, single: Tiles(columns, single=single),
    True: lambda columns, rtol, single: Tiles(columns, rtol=rtol, single=single),
}


def of_unit_spread(kind, d):
    """A kernel that is neither 0 nor 1 for most pairs of standard normal rows."""
    return kind(d if kind is Laplacian else np.sqrt(d))


@given(
    kind=st.sampled_from(DISTANCE_KINDS),
    log_sigma=st.floats(-5, 6),
    log_rtol=st.floats(-14, -0.01),
    skip=st.booleans(),
    single=st.booleans(),
    n=st.integers(1, 400),
    d=st.integers(1, 40),
    c=st.integers(1, 5),
    offset=st.sampled_from([0.0, -3.0, 1e6]),
    copies=st.integers(1, 3),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**20),
)
def test_promise_is_kept(
    kind, log_sigma, log_rtol, skip, single, n, d, c, offset, copies, dtype, seed
):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_t(2, size=(n, d)), copies, axis=0)[:n].astype(dtype) + dtype(offset)
    points = np.vstack([X[:10], rng.normal(size=(10, d)) + offset])
    W = rng.normal(size=(n, c)) * rng.random((n, c)) ** 8
    kernel = kind(10.0**log_sigma)
    operator = TILES[skip](KernelColumns(kernel, X), 10.0**log_rtol, single)
    assert operator.rtol == 10.0**log_rtol * skip + SINGLE_RTOL * operator.single
    allowed = (operator.rtol + 1e-14) * np.abs(W).sum(axis=0)
    expansion = operator.expansion(W)
    assert expansion.rtol == operator.rtol
    for ours, at, complement in [
        (operator.complement(W), X, True),
        (expansion.at(points), points, False),
        (expansion.at(points, complement=True), points, True),
    ]:
        exact = sums_at(kernel, X, W, at, complement=complement)
        assert (np.abs(ours - exact) <= allowed).all()


@every_kind
@pytest.mark.parametrize(
    ("d", "offset"), [(1, 0.0), (2, 1e6), (3, 0.0), (7, 1e6), (8, 0.0), (23, 0.0), (40, 1e6)]
)
def test_sums_in_double_precision_are_exact_but_for_rounding(rng, kind, d, offset):
    X, W = rng.normal(size=(500, d)) + offset, rng.random((500, 3))
    points = rng.normal(size=(70, d)) + offset
    kernel = of_unit_spread(kind, d)
    operator = Tiles(KernelColumns(kernel, X))
    exact = sums_at(kernel, X, W, X, complement=True)
    assert_allclose(operator.complement(W), exact, rtol=1e-13)
    assert_allclose(operator.expansion(W).at(points), sums_at(kernel, X, W, points), rtol=1e-13)


@every_kind
@every_precision
@pytest.mark.parametrize("sigma", [1.0, 1e3, 1e140])
def test_complements_keep_their_digits_for_wide_kernels(rng, kind, sigma, single):
    X, W = rng.normal(size=(300, 3)), rng.random((300, 2))
    kernel, rtol = kind(sigma), 1e-6 if single else 1e-13
    operator = Tiles(KernelColumns(kernel, X), single=single)
    exact = sums_at(kernel, X, W, X, complement=True)
    assert_allclose(operator.complement(W), exact, rtol=rtol)
    assert_allclose(operator.expansion(W).at(X, complement=True), exact, rtol=rtol)


@every_kind
@pytest.mark.parametrize(
    ("d", "width", "offset"),
    [(1, 0.1, 1e6), (2, 10.0, 0.0), (3, 1.0, 1e6), (8, 0.1, 0.0), (16, 10.0, 1e6), (40, 1.0, 0.0)],
)
def test_sums_in_single_precision_have_six_digits(rng, kind, d, width, offset):
    """Every sum, also those at points where the kernel is small everywhere."""
    X, W = rng.normal(size=(600, d)) + offset, rng.random((600, 1)) ** 4
    kernel = kind(width * of_unit_spread(kind, d).sigma)
    points = rng.normal(size=(100, d)) * rng.uniform(0.1, 4, size=(100, 1)) + offset
    expansion = Tiles(KernelColumns(kernel, X), single=True).expansion(W)
    exact = sums_at(kernel, X, W, points)
    known = exact[:, 0] > 1e-30 * W.sum()
    digits = 1e-6 * np.maximum(1.0, -np.log(exact[known] / W.sum()) / 6)
    assert (np.abs(expansion.at(points)[known] / exact[known] - 1.0) <= digits).all()


def test_small_weights_are_not_lost_in_single_precision(rng):
    X, W = rng.normal(size=(300, 2)), 10.0 ** rng.uniform(-300, -270, size=(300, 1))
    kernel = Gaussian(1e-3)  # every row sees itself alone
    for scale in (1.0, 1e270):
        sums = Tiles(KernelColumns(kernel, X), single=True).expansion(scale * W)
        assert_allclose(sums.at(X), scale * W, rtol=1e-6)


@every_kind
def test_values_that_overflow_are_zero(kind):
    X = np.array([[1e150], [-1e150], [0.0]])
    for single in (False, True):
        operator = Tiles(KernelColumns(kind(1e-150), X), single=single)
        assert_allclose(operator.expansion(np.ones((3, 1))).at(X), 1.0, rtol=1e-6)
        assert_allclose(operator.complement(np.ones((3, 1))), 2.0, rtol=1e-6)
