"""Kernels: exact blocks, exact diagonals, exact distances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise

from instances import DISTANCE_KINDS, KERNELS, KERNELS_OF_THREE_FEATURES, REFERENCE
from typicality.kernels import (
    KERNEL_NAMES,
    Cauchy,
    Cosine,
    Function,
    Gaussian,
    Laplacian,
    Linear,
    LocalGaussian,
    Mixed,
    Polynomial,
    named_kernel,
)
from typicality.kernels.stationary import compiled_distances

every_kernel = pytest.mark.parametrize("kernel", [*KERNELS, *KERNELS_OF_THREE_FEATURES], ids=str)
stationary = pytest.mark.parametrize("kernel", [kind(0.7) for kind in DISTANCE_KINDS], ids=str)

FORMULAS = {
    Linear(): lambda x, y: x @ y,
    Gaussian(0.7): lambda x, y: np.exp(-np.sum((x - y) ** 2) / (2 * 0.7**2)),
    Laplacian(0.7): lambda x, y: np.exp(-np.sum(np.abs(x - y)) / 0.7),
    Cauchy(0.7): lambda x, y: 1 / (1 + np.sum((x - y) ** 2) / 0.7**2),
    Polynomial(2, gamma=0.5, coef0=3.0): lambda x, y: (0.5 * (x @ y) + 3) ** 2,
    Mixed(2, sigma=0.7): lambda x, y: np.exp(
        -np.sum((x[:2] - y[:2]) ** 2) / (2 * 0.7**2) - np.sum((x[2:] - y[2:]) ** 2) / 2
    ),
    Cosine(): lambda x, y: x @ y / np.sqrt((x @ x) * (y @ y)),
}


@pytest.mark.parametrize("kernel", FORMULAS, ids=str)
def test_block_is_the_formula(rng, kernel):
    X, Y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    expected = [[FORMULAS[kernel](x, y) for y in Y] for x in X]
    assert_allclose(kernel(X, Y), expected, rtol=1e-13)


def width_by_hand(x, k):
    """0.283 times the distance to the k-th nearest reference row, x itself not counted."""
    distances = sorted(np.sqrt(np.sum((x - row) ** 2)) for row in REFERENCE)
    return 0.283 * [distance for distance in distances if distance > 0][k - 1]


@pytest.mark.parametrize(("k", "dimension"), [(1, None), (2, 1.5), (7, None), (39, 1.5)])
def test_the_local_kernel_is_the_formula(rng, k, dimension):
    kernel = LocalGaussian(REFERENCE, k, dimension)
    X, Y = np.concatenate([rng.normal(size=(4, 3)), REFERENCE[:3]]), REFERENCE[2:6]
    d = 3 if dimension is None else dimension
    expected = np.empty((len(X), len(Y)))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            one, other = width_by_hand(x, k), width_by_hand(y, k)
            overlap = (2 * one * other / (one**2 + other**2)) ** (d / 2)
            expected[i, j] = overlap * np.exp(-np.sum((x - y) ** 2) / (2 * (one**2 + other**2)))
    assert_allclose(kernel(X, Y), expected, rtol=1e-12)
    assert_allclose(kernel.log(X, Y), np.log(expected), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("n_features", [2, 12])
def test_widths_by_a_tree_are_those_by_all_pairs(rng, monkeypatch, n_features):
    rows = rng.normal(size=(300, n_features)) + 1e6
    X = np.concatenate([rows[:50], rng.normal(size=(50, n_features)) + 1e6])
    kernel = LocalGaussian(rows, 5)
    by_tree = kernel.widths(X)
    monkeypatch.setattr("typicality.kernels.local._FEW_NEIGHBOURS", 1000)
    monkeypatch.setattr("typicality.kernels.local._PAIRS_AT_A_TIME", 1000)
    assert_allclose(kernel.widths(X), by_tree, rtol=1e-12)
    assert_array_equal([kernel.widths(x[None])[0] for x in X], kernel.widths(X))


@every_kernel
def test_diagonal_is_that_of_the_block(rng, kernel):
    X = rng.normal(size=(70, 3))
    assert_allclose(kernel.diag(X), np.diag(kernel(X, X)), rtol=1e-13)


@every_kernel
def test_distances_are_those_of_the_definition(rng, kernel):
    X, Y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    expected = kernel.diag(X)[:, None] + kernel.diag(Y) - 2 * kernel(X, Y)
    assert_allclose(kernel.sqdist(X, Y), expected, atol=1e-12)


@every_kernel
def test_what_is_called_positive_semidefinite_is(rng, kernel):
    X = rng.normal(size=(60, 3))
    eigenvalues = np.linalg.eigvalsh(kernel(X, X))
    claimed = -1e-9 if kernel.positive_semidefinite else -np.inf
    assert eigenvalues[0] >= claimed * eigenvalues[-1]


@pytest.mark.parametrize("name", sorted(pairwise.PAIRWISE_KERNEL_FUNCTIONS))
def test_names_of_scikit_learn_mean_the_same(rng, name):
    X, Y = rng.random((6, 3)), rng.random((4, 3))
    widths = {"rbf": np.sqrt(3 / 2), "laplacian": 3.0}  # its gamma is 1 / n_features
    ours = named_kernel(name, widths.get(name))(X, Y)
    assert_allclose(ours, pairwise.pairwise_kernels(X, Y, metric=name), rtol=1e-12)


def test_every_name_is_a_kernel():
    X = np.array([[1.0, 2.0], [3.0, 1.0]])
    assert all(named_kernel(name, 2.0)(X, X).shape == (2, 2) for name in KERNEL_NAMES)
    with pytest.raises(ValueError, match="Unknown kernel 'rfb'; the names are gaussian"):
        named_kernel("rfb")


@stationary
def test_wide_kernels_keep_their_digits(rng, kernel):
    X = rng.normal(size=(5, 3))
    wide = type(kernel)(1e9)
    leading = -wide.log_profile(wide.distances(X, X))  # 1 - K is -log K there
    assert_allclose(wide.sqdist(X, X), 2 * leading, rtol=1e-8)


@stationary
def test_logarithms_do_not_underflow(kernel):
    far = kernel.log_profile(kernel.distances(np.zeros((1, 1)), np.array([[1e4], [1e5]])))[0]
    assert np.isfinite(far).all()
    assert far[1] < far[0] < -10


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.inf, np.nan, 1e-200, "auto"])
@pytest.mark.parametrize("kind", DISTANCE_KINDS)
def test_impossible_widths(kind, sigma):
    with pytest.raises(ValueError, match="sigma must be positive and finite"):
        kind(sigma)


def test_a_function_of_two_rows_is_explained():
    kernel = Function(lambda x, y: float(np.sum(x * y)))
    with pytest.raises(ValueError, match=r"kernel returned shape \(\), expected \(3, 3\).*partial"):
        kernel(np.ones((3, 2)), np.ones((3, 2)))


METRICS = ("sqeuclidean", "euclidean", "cityblock")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "others", "d"), [(1, 1, 1), (5, 3, 17), (64, 65, 32), (130, 67, 39)])
def test_compiled_distances_are_exact_but_for_rounding(rng, metric, n, others, d):
    """Also far from zero, where scalar products would have no digits left."""
    X, Y = 1e8 + rng.normal(size=(n, d)), 1e8 + rng.normal(size=(others, d))
    assert_allclose(compiled_distances(X, Y, metric), cdist(X, Y, metric), rtol=1e-13)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_distances_of_a_pair_do_not_depend_on_other_rows(rng, metric, dtype):
    X = rng.normal(size=(150, 39)).astype(dtype)
    together = compiled_distances(X, X, metric)
    assert_array_equal(together, together.T)
    assert_array_equal(together.diagonal(), 0.0)
    assert_array_equal(compiled_distances(X[::-7], X[3:], metric), together[::-7, 3:])
    for row in (0, 63, 64, 149):
        assert_array_equal(compiled_distances(X[row : row + 1], X, metric), together[[row]])
    double = compiled_distances(X.astype(np.float64), X.astype(np.float64), metric)
    assert_array_equal(together, double)
