"""Kernels: exact blocks and exact diagonals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from typicality.kernels import Kernel, Linear


def test_linear_is_the_scalar_product(rng):
    X, Y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    assert_allclose(Linear()(X, Y), [[np.sum(x * y) for y in Y] for x in X])


def test_diagonal_is_that_of_the_block(rng):
    X = rng.normal(size=(6, 3))
    assert_allclose(Linear().diag(X), np.diag(Linear()(X, X)))


def test_kernels_are_values():
    assert Linear() == Linear()
    assert isinstance(Linear(), Kernel)
    with pytest.raises(AttributeError):
        Linear().sigma = 1
