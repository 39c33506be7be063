"""Gaussian sums by Fourier series: the promise is kept wherever the points are."""

import numpy as np
import pytest

from typicality.kernels import Cauchy, Gaussian
from typicality.sums import KernelColumns
from typicality.sums.fourier import Nufft, can_be_summed

ROWS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "far from zero": lambda rng, n, d: rng.normal(size=(n, d)) + 1e6,
    "heavy tails": lambda rng, n, d: rng.standard_t(1, size=(n, d)),
    "copies": lambda rng, n, d: rng.normal(size=(3, d))[rng.integers(0, 3, n)],
    "one row": lambda rng, n, d: rng.normal(size=(1, d)),
    "a constant feature": lambda rng, n, d: rng.normal(size=(n, d)) * (np.arange(d) > 0),
    "unequal axes": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** -np.arange(d),
    "float32": lambda rng, n, d: rng.normal(size=(n, d)).astype(np.float32),
}
WEIGHTS = [
    lambda rng, n: rng.normal(size=(n, 3)) * [1.0, 1e-9, 1e9],
    lambda rng, n: rng.random((n, 2)),
    lambda rng, n: np.eye(n, 1),
    lambda rng, n: np.column_stack([np.zeros(n), -rng.random(n)]),
]
NARROWEST = {1: -3.0, 2: -2.2, 3: -1.3}  # powers of ten of the extent; modes grow as its power -d


def extent(X):
    return max(float(np.ptp(X.astype(np.float64), axis=0).max()), 1e-3)


def random_case(kind, seed):
    rng = np.random.default_rng([seed, *kind.encode()])
    d = int(rng.integers(1, 4))
    X = ROWS[kind](rng, int(rng.integers(2, 200)), d)
    W = WEIGHTS[seed % len(WEIGHTS)](rng, len(X))
    kernel = Gaussian(extent(X) * 10.0 ** rng.uniform(NARROWEST[d], 3))
    return rng, X, W, kernel, 10.0 ** rng.uniform(-11, -2)


def points_everywhere(rng, X, kernel, rtol):
    """Inside the box of the rows, at its edges, around the end of the kernel, and far away."""
    X = X.astype(np.float64)
    low, high, d = X.min(axis=0), X.max(axis=0), X.shape[1]
    inside = rng.uniform(low, high, size=(15, d))
    edges = np.where(rng.random((15, d)) < 0.5, low, high)
    reach = kernel.support_radius(rtol)
    outward = np.where(rng.random((30, d)) < 0.5, low, high)
    outward += np.sign(rng.normal(size=(30, d))) * reach * rng.uniform(0, 1.3, size=(30, 1))
    far = X[:1] + 10.0 ** rng.uniform(0, 8, size=(15, 1)) * (extent(X) + reach)
    return np.vstack([X[:40], inside, edges, outward, far])


def exact(kernel, points, X, W):
    return kernel(points.astype(np.float64), X.astype(np.float64)) @ W


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("seed", range(4))
def test_promise_is_kept(kind, seed):
    rng, X, W, kernel, rtol = random_case(kind, seed)
    operator = Nufft(KernelColumns(kernel, X), rtol=rtol)
    allowed = (rtol + 1e-15) * np.abs(W).sum(axis=0)
    assert (
        np.abs(operator.complement(W) - W.sum(axis=0) + exact(kernel, X, X, W)) <= allowed
    ).all()
    points = points_everywhere(rng, X, kernel, rtol)
    expansion = operator.expansion(W)
    assert (np.abs(expansion.at(points) - exact(kernel, points, X, W)) <= allowed).all()
    assert operator.complement(W).dtype == expansion.at(points).dtype == np.float64


@pytest.mark.parametrize(("d", "rtol"), [(1, 1e-11), (2, 1e-6), (3, 1e-2)])
def test_promise_is_kept_for_many_rows_in_pieces(rng, d, rtol):
    X, W = rng.normal(size=(40_000, d)), rng.random((40_000, 3))
    kernel = Gaussian(0.5)
    operator = Nufft(KernelColumns(kernel, X), rtol=rtol)
    some = rng.permutation(len(X))[:50]
    allowed = rtol * W.sum(axis=0)
    assert (
        np.abs(operator.complement(W)[some] - W.sum(axis=0) + exact(kernel, X[some], X, W))
        <= allowed
    ).all()
    at = operator.expansion(W).at(X[some])
    assert (np.abs(at - exact(kernel, X[some], X, W)) <= allowed).all()


class Steep(Gaussian):
    """A profile of its own, perhaps."""


@pytest.mark.parametrize(
    ("kernel", "d", "rtol", "can"),
    [
        (Gaussian(1.0), 3, 1e-6, True),
        (Cauchy(1.0), 3, 1e-6, False),
        (Steep(1.0), 3, 1e-6, False),
        (Gaussian(1.0), 4, 1e-6, False),
        (Gaussian(1.0), 3, 1e-13, False),  # double precision ends
        (Gaussian(1.0), 3, 0.0, False),
        (Gaussian(1e-6), 1, 1e-10, False),  # as does the rounding of so many modes
        (Gaussian(1e-4), 3, 1e-4, False),  # too many modes for the memory
    ],
    ids=str,
)
def test_what_can_be_summed(rng, kernel, d, rtol, can):
    assert can_be_summed(kernel, rng.normal(size=(50, d)), rtol) == can
