"""Every operator, and all sums at any points, under every check of the contract."""

from functools import partial

import numpy as np
import pytest

from operators.contract import (
    GAUSSIAN,
    OPERATOR_CASES,
    OPERATOR_CHECKS,
    SUMS_CASES,
    SUMS_CHECKS,
    OperatorCase,
)
from typicality import OneClusterPCM
from typicality.kernels import Gaussian
from typicality.operators import BlockedSums, KernelColumns, choose_operator, planning
from typicality.operators.base import Candidate, Operator


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    """Few rows are then shared by several threads, as many are elsewhere."""
    monkeypatch.setattr("typicality.operators.blocked._CACHE_BYTES", 2**18)
    monkeypatch.setattr("typicality.operators.tiles._GROUP_ROWS", 128)
    monkeypatch.setattr("typicality.operators.fourier_pieces._ROWS_OF_A_PIECE", (2**7, 2**10))


@pytest.mark.parametrize("check", OPERATOR_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", OPERATOR_CASES.values(), ids=OPERATOR_CASES)
def test_operator(case, check):
    check(case)


@pytest.mark.parametrize("check", SUMS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", SUMS_CASES.values(), ids=SUMS_CASES)
def test_sums_at_points(case, check):
    check(case)


class WholeMatrix(Operator):
    """A new operator: all it takes besides its entry in the list of operators."""

    method = "whole matrix"
    exact_at_rows = True
    rtol = 0.0

    def __init__(self, columns, rows):
        self.columns = columns
        self._kernel, self._half_sqdist = columns.kernel(rows), columns.half_sqdist(rows)

    @classmethod
    def offer(cls, problem):
        seconds, n_bytes = 1e-12 * len(problem.rows), 16 * len(problem.rows) ** 2
        build = partial(cls, problem.columns, problem.rows)
        return Candidate(cls.method, "it is new.", seconds, n_bytes, build)

    def __matmul__(self, weights):
        return np.einsum("ij,jk->ik", self._kernel, weights)

    def complement(self, weights):
        return np.einsum("ij,jk->ik", self._half_sqdist, weights)

    def expansion(self, weights, *, rtol=None):
        return BlockedSums(self.columns, weights)

    @property
    def working_memory(self):
        return 16 * self.columns.n_training**2


def test_a_new_operator_is_one_class_and_one_entry(rng, monkeypatch):
    monkeypatch.setattr(planning, "OPERATORS", [*planning.OPERATORS, WholeMatrix])
    X = rng.normal(size=(200, 2))
    for algorithm in ("auto", "whole matrix"):
        columns = KernelColumns(Gaussian(1.0), X)
        operator, plan = choose_operator(columns, X, algorithm=algorithm)
        assert isinstance(operator, WholeMatrix)
        assert str(plan) == "whole matrix: it is new."
    assert OneClusterPCM().fit(X).plan_.method == "whole matrix"


@pytest.mark.parametrize("check", OPERATOR_CHECKS, ids=lambda check: check.__name__)
def test_a_new_operator_under_contract(check):
    check(OperatorCase(*GAUSSIAN.values(), WholeMatrix, 0.0))


def test_every_operator_is_under_contract():
    built = {case.build(*case.columns(np.eye(2))).method for case in OPERATOR_CASES.values()}
    assert built == set(planning.ALGORITHMS[1:])
