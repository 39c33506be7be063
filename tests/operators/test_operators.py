"""The contract of operators: a new one enters by being added to the list, and is held to `rtol`."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from threadpoolctl import threadpool_limits

from instances import KERNELS
from typicality.kernels import Function
from typicality.operators import (
    Blocked,
    Dense,
    KernelColumns,
    PrecomputedKernel,
    PrecomputedSqdist,
    choose_operator,
)
from typicality.operators.base import row_sums

every_operator = pytest.mark.parametrize("operator", [Dense, Blocked])
every_product = pytest.mark.parametrize("product", ["__matmul__", "complement"])


def given_kernel(X):
    return PrecomputedKernel.of(KERNELS[1](X, X))


def given_sqdist(X):
    return PrecomputedSqdist.of(KERNELS[0].sqdist(X, X))


def evaluated(kernel):
    return lambda X: (KernelColumns(kernel, X), X)


COLUMNS = {str(kernel): evaluated(kernel) for kernel in KERNELS} | {
    "given kernel": given_kernel,
    "given distances": given_sqdist,
}
every_columns = pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)


def matrix(columns, rows, product):
    return {"__matmul__": columns.kernel, "complement": columns.half_sqdist}[product](rows)


@every_operator
@every_columns
@every_product
def test_products_keep_the_promise(rng, operator, columns, product):
    X, W = rng.normal(size=(57, 3)), rng.normal(size=(57, 4))
    against, rows = columns(X)
    exact = matrix(against, rows, product) @ W
    ours = getattr(operator(against, rows), product)(W)
    scale = np.abs(matrix(against, rows, product)).max() * np.abs(W).sum(axis=0)
    assert (np.abs(ours - exact) <= (operator.rtol + 1e-14) * scale).all()


@every_operator
@every_columns
@every_product
def test_products_are_linear_and_symmetric(rng, operator, columns, product):
    X, u, v = rng.normal(size=(40, 3)), rng.normal(size=(40, 1)), rng.normal(size=(40, 1))
    apply = getattr(operator(*columns(X)), product)
    assert_allclose(apply(2 * u - v), 2 * apply(u) - apply(v), atol=1e-9)
    assert_allclose((v * apply(u)).sum(), (u * apply(v)).sum(), rtol=1e-7, atol=1e-9)


@every_columns
def test_double_centring_has_the_same_distances(rng, columns):
    """K + K - 2K of the kernel values gives twice `half_sqdist`, whatever the columns are."""
    against, rows = columns(rng.normal(size=(30, 3)))
    norms = against.sqnorm(rows)
    expected = norms[:, None] + norms - 2 * against.kernel(rows)
    assert_allclose(2 * against.half_sqdist(rows), expected, atol=1e-10)
    assert_allclose(np.diag(against.kernel(rows)), norms, atol=1e-10)


@every_columns
def test_some_training_rows_among_each_other(rng, columns):
    against, rows = columns(rng.normal(size=(30, 3)))
    index = np.array([4, 11, 2])
    expected = against.half_sqdist(rows)[np.ix_(index, index)]
    assert_allclose(against.half_sqdist_among(rows[index], index), expected, atol=1e-12)


@pytest.mark.parametrize("columns", ["Gaussian(sigma=0.7)", "given kernel"])
def test_logarithms_on_the_sphere(rng, columns):
    against, rows = COLUMNS[columns](rng.normal(size=(30, 3)))
    assert against.on_sphere
    assert_allclose(np.exp(against.log_kernel(rows)), against.kernel(rows), rtol=1e-12)


def test_kernel_values_that_have_no_logarithm():
    columns, rows = PrecomputedKernel.of(np.eye(3))
    assert columns.on_sphere
    assert np.isfinite(columns.log_kernel(rows)).all()
    assert not PrecomputedKernel.of(np.diag([1.0, 2.0]))[0].on_sphere
    assert not PrecomputedKernel.of(np.array([[1.0, -0.5], [-0.5, 1.0]]))[0].on_sphere


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("n", [500, 9000])
def test_a_row_of_sums_does_not_depend_on_the_others(rng, n, n_columns):
    block, weights = rng.random((6, n)), rng.random((n, n_columns))
    alone = np.concatenate([row_sums(row[None], weights) for row in block])
    assert_array_equal(row_sums(block, weights), alone)
    assert_allclose(alone, block @ weights, rtol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_dense_and_blocked_give_the_same_bits_whatever_the_blocks(rng, monkeypatch, n_columns):
    X, W = rng.normal(size=(500, 3)), rng.random((500, n_columns))
    columns = KernelColumns(KERNELS[1], X)
    whole = Dense(columns, X).complement(W)
    for cache in (2**14, 2**17, 2**30):
        monkeypatch.setattr("typicality.operators.blocked._CACHE_BYTES", cache)
        assert_array_equal(Blocked(columns, X).complement(W), whole)
    alone = np.concatenate([Blocked(columns, X[i : i + 1]).complement(W) for i in range(500)])
    assert_array_equal(alone, whole)


def test_threads_do_not_matter(rng, monkeypatch):
    monkeypatch.setattr("typicality.operators.blocked._CACHE_BYTES", 2**15)
    X, W = rng.normal(size=(700, 2)), rng.random((700, 2))
    product = Blocked(KernelColumns(KERNELS[1], X), X).complement
    with threadpool_limits(1):
        alone = product(W)
    with threadpool_limits(4):
        assert_array_equal(product(W), alone)


def test_blocks_honour_working_memory(rng):
    X, W = rng.normal(size=(3000, 2)), rng.random((3000, 1))
    blocked = Blocked(KernelColumns(KERNELS[1], X), X)
    with config_context(working_memory=1):
        assert blocked.working_memory <= 2**20
        tracemalloc.start()
        blocked.complement(W)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 3 * 2**20  # the matrix would take 69 MiB


def test_a_given_matrix_is_not_copied(rng):
    columns, rows = given_kernel(rng.normal(size=(30, 2)))
    operator, plan = choose_operator(columns, rows)
    assert operator.method == "blocked"
    assert "in memory already" in str(plan)


def test_the_diagonal_of_a_function_is_computed_once(rng):
    X, calls = rng.normal(size=(640, 2)), []

    def counted(A, B):
        calls.append(len(A) * len(B))
        return KERNELS[1](A, B)

    Dense(KernelColumns(Function(counted), X), X).complement(np.ones((640, 1)))
    assert sum(calls) < 1.2 * 640**2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(rng, bad):
    X = rng.normal(size=(20, 2))

    def broken(A, B):
        values = KERNELS[1](A, B)
        values[A[:, 0] == X[7, 0]] = bad
        return values

    with pytest.raises(ValueError, match=r"not finite for row \d"):
        Blocked(KernelColumns(Function(broken), X), X).complement(np.ones((20, 1)))


def test_an_error_in_a_block_is_raised(rng, monkeypatch):
    monkeypatch.setattr("typicality.operators.blocked._CACHE_BYTES", 2**12)
    X = rng.normal(size=(300, 2))

    def fail_late(rows):
        raise ZeroDivisionError(len(rows))

    with pytest.raises(ZeroDivisionError):
        Blocked(KernelColumns(KERNELS[1], X), X).gather(fail_late)
