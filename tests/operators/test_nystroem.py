"""Products through landmarks: the promise is computed, and kept for every row."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from instances import DISTANCE_KINDS
from reference.nystroem import low_rank, pivots
from typicality.kernels import Gaussian, Laplacian, Linear
from typicality.operators import KernelColumns, Tolerance
from typicality.operators.base import Problem
from typicality.operators.nystroem import (
    LARGEST_RANK,
    NotLowRankError,
    Nystroem,
    _pivoted,
    cost_units,
    estimated_rank,
)


def random_rows(rng, n, d, dtype=np.float64):
    """Heavy tails, copies, and sometimes far from zero."""
    X = rng.standard_t(3, size=(n, d)) + rng.choice([0.0, 1e6])
    return X[rng.integers(0, n, size=n)].astype(dtype)


def offer(columns, rtol, memory=2**30):
    tolerance = Tolerance(rtol, rtol, rtol)
    return Nystroem.offer(Problem(columns, columns.training, tolerance, memory, 1))


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 2, 17, 150, 300])), int(rng.integers(1, 11))
    X = random_rows(rng, n, d, rng.choice([np.float32, np.float64]))
    kernel = DISTANCE_KINDS[seed % len(DISTANCE_KINDS)](10.0 ** rng.uniform(-1, 2))
    W = np.hstack([rng.normal(size=(n, 3)), np.eye(n)])
    return KernelColumns(kernel, X), 10.0 ** rng.uniform(-12, -1), W


@pytest.mark.parametrize("seed", range(45))
def test_promise_is_kept(seed):
    columns, rtol, W = random_case(seed)
    operator = Nystroem(columns, rtol=rtol)
    assert 0 < operator.rtol <= rtol
    scale = np.abs(W).sum(axis=0)
    K = columns.kernel(columns.training)
    assert (np.abs(operator @ W - K @ W) <= (operator.rtol + 1e-15) * scale).all()
    apart = columns.half_sqdist(columns.training) @ W
    assert (np.abs(operator.complement(W) - apart) <= (operator.rtol + 4e-15) * scale).all()


def test_promise_is_kept_beyond_the_sample(rng):
    """Rows that no sample has: a few far away, among many."""
    X = np.vstack([rng.normal(size=(20000, 2)), 50 + rng.normal(size=(7, 2))])
    columns, W = KernelColumns(Gaussian(2.0), X), rng.random((20007, 1))
    operator = Nystroem(columns, rtol=1e-8)
    assert set(operator.landmarks) & set(range(20000, 20007))
    assert operator.rtol <= 1e-8
    some = np.r_[:100, 20000:20007]
    exact = columns.kernel(X[some]) @ W
    assert np.abs((operator @ W)[some] - exact).max() <= operator.rtol * W.sum()


@pytest.mark.parametrize("kind", DISTANCE_KINDS)
def test_it_is_the_low_rank_matrix_of_its_landmarks(rng, kind):
    X = rng.normal(size=(80, 2))
    kernel = kind(30.0)
    operator = Nystroem(KernelColumns(kernel, X), rtol=2e-2)
    assert_allclose(operator @ np.eye(80), low_rank(kernel(X, X), operator.landmarks), atol=1e-10)
    assert operator.rank < 80


def test_landmarks_are_the_pivots_of_largest_residual(rng):
    X = rng.normal(size=(60, 3))
    kernel = Gaussian(2.0)
    found = _pivoted(KernelColumns(kernel, X), np.arange(60), 1e-4).index
    expected = pivots(kernel(X, X), 1e-4)
    assert_array_equal(np.sort(found), np.sort(expected))


def test_memory_is_honoured(rng):
    columns = KernelColumns(Gaussian(4.0), rng.normal(size=(20000, 3)))
    memory = 48 * 2**20
    tracemalloc.start()
    operator = Nystroem(columns, rtol=1e-6, memory=memory)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert operator.rank > 50
    assert peak <= memory
    assert operator.working_memory <= memory
    with pytest.raises(NotLowRankError, match=r"landmarks that fit into 4 MiB with 20,000 rows"):
        Nystroem(columns, rtol=1e-6, memory=4 * 2**20)
    assert "fit into 4 MiB" in offer(columns, 1e-6, 4 * 2**20)
    assert offer(columns, 1e-6, memory).n_bytes <= memory


def test_rough_kernels_are_refused(rng):
    columns = KernelColumns(Laplacian(0.5), rng.normal(size=(20000, 5)))
    assert "not smooth enough" in offer(columns, 1e-3)
    with pytest.raises(
        NotLowRankError, match=r"cannot guarantee an error of 0\.001: the kernel is not smooth"
    ):
        Nystroem(columns, rtol=1e-3)


def test_promises_and_kernels_that_are_refused_at_once(rng):
    X = rng.normal(size=(30, 2))
    assert "kernel that depends only on the distance" in offer(KernelColumns(Linear(), X), 1e-3)
    with pytest.raises(ValueError, match=r"rounding, .* less than 1e-12\. Use algorithm='auto'"):
        Nystroem(KernelColumns(Gaussian(1.0), X), rtol=1e-13)


@pytest.mark.parametrize(("sigma", "rtol"), [(2.0, 1e-3), (2.0, 1e-9), (0.5, 1e-2)])
def test_the_rank_is_estimated_from_a_sample(rng, sigma, rtol):
    columns = KernelColumns(Gaussian(sigma), rng.normal(size=(20000, 2)))
    rank = Nystroem(columns, rtol=rtol).rank
    assert rank / 2.5 < estimated_rank(columns, rtol) < 2.5 * rank


def test_estimates_of_few_rows_and_of_large_ranks(rng):
    few, rough = rng.normal(size=(20, 2)), rng.normal(size=(9000, 5))
    assert estimated_rank(KernelColumns(Gaussian(1.0), few[:1]), 1e-6) == 1
    assert estimated_rank(KernelColumns(Gaussian(1e-3), few), 1e-6) == 20
    assert estimated_rank(KernelColumns(Laplacian(0.1), rough), 1e-6) == LARGEST_RANK + 1


def test_costs_grow_with_rows_and_landmarks():
    one, two = cost_units(1000, 3, 50), cost_units(2000, 3, 50)
    assert two["product"] == 2 * one["product"]
    assert two["kernel_values"] == 2 * one["kernel_values"]
    assert cost_units(1000, 3, 100)["flops"] > 3.9 * one["flops"]
