"""Exact products block by block: the same whatever the blocks, and values that are refused."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context

from instances import KERNELS
from typicality.compiled import small
from typicality.kernels import Function
from typicality.sums import (
    Dense,
    DenseSums,
    KernelColumns,
)


@pytest.mark.parametrize(("n_columns", "rtol"), [(1, 0.0), (3, 1e-13)])
def test_products_and_sums_at_rows_agree_whatever_the_blocks(rng, monkeypatch, n_columns, rtol):
    """To the last bit for one column; several are multiplied by BLAS."""
    X, W = rng.normal(size=(500, 3)), rng.random((500, n_columns))
    columns = KernelColumns(KERNELS[1], X)
    whole = Dense(columns, X).complement(W)
    for cache in (2**14, 2**17, 2**30):
        monkeypatch.setattr("typicality.sums.dense._CACHE_BYTES", cache)
        assert_allclose(Dense(columns, X, keep=False).complement(W), whole, rtol=rtol)
    alone = [DenseSums(columns, W).at(X[i : i + 1], complement=True) for i in range(500)]
    assert_allclose(np.concatenate(alone), whole, rtol=rtol)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(1, 2), (7, 2), (33, 3), (1030, 5)])
def test_products_by_blas_and_by_compiled_code_agree(rng, monkeypatch, n_rows, n_columns):
    X, W = rng.normal(size=(n_rows, 3)), rng.random((n_rows, n_columns))
    products = []
    for longest in (-1.0, np.inf):
        monkeypatch.setattr(small, "_LONGEST", longest)
        products.append(Dense(KernelColumns(KERNELS[1], X), X).complement(W))
    assert_allclose(*products, rtol=1e-13)


def test_blocks_honour_working_memory(rng):
    X, W = rng.normal(size=(3000, 2)), rng.random((3000, 1))
    blocked = Dense(KernelColumns(KERNELS[1], X), X, keep=False)
    with config_context(working_memory=1):
        tracemalloc.start()
        blocked.complement(W)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 3 * 2**20  # the matrix would take 69 MiB


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(rng, bad):
    X = rng.normal(size=(20, 2))

    def broken(A, B):
        values = KERNELS[1](A, B)
        values[A[:, 0] == X[7, 0]] = bad
        return values

    with pytest.raises(ValueError, match=r"not finite for row \d"):
        Dense(KernelColumns(Function(broken), X), X, keep=False).complement(np.ones((20, 1)))
