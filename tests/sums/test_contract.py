"""Every operator, and all sums at any points, under every check of the contract."""

import numpy as np
import pytest

from sums.contract import (
    OPERATOR_CASES,
    OPERATOR_CHECKS,
    SUMS_CASES,
    SUMS_CHECKS,
)
from typicality.sums import Dense, Operator
from typicality.sums.torch_blocked import DeviceOperator


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    """Few rows are then shared by several threads, as many are elsewhere."""
    monkeypatch.setattr("typicality.sums.dense._CACHE_BYTES", 2**18)
    monkeypatch.setattr("typicality.sums.tiles._GROUP_ROWS", 128)
    monkeypatch.setattr("typicality.sums.fourier._ROWS_OF_A_PIECE", (2**7, 2**10))


@pytest.mark.parametrize("check", OPERATOR_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", OPERATOR_CASES.values(), ids=OPERATOR_CASES)
def test_operator(case, check):
    check(case)


@pytest.mark.parametrize("check", SUMS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", SUMS_CASES.values(), ids=SUMS_CASES)
def test_sums_at_points(case, check):
    check(case)


def test_every_operator_is_under_contract():
    built = {type(case.build(*case.columns(np.eye(2)))) for case in OPERATOR_CASES.values()}
    known = {Dense, *Operator.__subclasses__()} - {DeviceOperator}  # see test_device
    assert built == known
