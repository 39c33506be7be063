"""Operators on devices of torch, under the same contract as the others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sums.contract import (
    COMPILED,
    GAUSSIAN,
    KERNEL_OF,
    OPERATOR_CHECKS,
    SUMS_CHECKS,
    OperatorCase,
    SumsCase,
    expansion_of,
)
from typicality.kernels import Gaussian, Polynomial
from typicality.sums import (
    EXACT,
    Dense,
    Fused,
    KernelColumns,
    Tolerance,
    TorchBlocked,
    choose_operator,
    fused,
    torch_blocked,
)

torch = pytest.importorskip("torch")

gpu = pytest.mark.gpu


def on_cpu(columns, rows):
    return TorchBlocked(columns, rows, "cpu", 0.0)


def fused_single(columns, rows):
    return Fused(columns, rows, "cuda", 1e-6)


def fused_double(columns, rows):
    return Fused(columns, rows, "cuda", 1e-9)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setitem(torch_blocked._BLOCK_BYTES, "cpu", 2**15)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("check", OPERATOR_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("columns", COMPILED.values(), ids=COMPILED)
def test_torch_blocked(columns, check):
    check(OperatorCase(columns, on_cpu, 0.0))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("check", SUMS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kernel", KERNEL_OF.values(), ids=KERNEL_OF)
def test_sums_of_torch_blocked(kernel, check):
    check(SumsCase(kernel, lambda c, W: expansion_of(on_cpu, c, W), 0.0))


@gpu
@pytest.mark.parametrize("check", OPERATOR_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("build", "promise"), [(fused_single, 1e-6), (fused_double, 1e-9)])
def test_fused(build, promise, check):
    check(OperatorCase(*GAUSSIAN.values(), build, promise, rounding=promise))


@gpu
@pytest.mark.parametrize("check", SUMS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("build", "promise"), [(fused_single, 1e-6), (fused_double, 1e-9)])
def test_sums_of_fused(build, promise, check):
    make = lambda c, W: expansion_of(build, c, W)  # noqa: E731
    check(SumsCase(KERNEL_OF["Gaussian"], make, promise))


SHAPES = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "heavy tails": lambda rng, n, d: rng.standard_t(2, size=(n, d)),
    "clusters far from zero": lambda rng, n, d: (
        0.2 * rng.normal(size=(n, d)) + 2.0 * rng.integers(0, 5, size=(n, 1)) + 100.0
    ),
}


@gpu
@pytest.mark.parametrize("width", [0.125, 0.5, 2.0])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 130])
@pytest.mark.parametrize("shape", SHAPES)
def test_fused_sums_keep_their_bounds_for_every_tile(shape, d, width):
    """Every layout against float64, tails included: the bound of each row, and the promise."""
    rng = np.random.default_rng(d)
    X = torch.as_tensor(SHAPES[shape](rng, 3001, d), device="cuda")
    sigma = width * float(torch.cdist(X[:500], X[:500]).median())
    W = torch.as_tensor(rng.random((3001, 2)) ** 4, device="cuda")
    W /= W.sum(dim=0)
    sqdist = sum((X[:, None, k] - X[:, k]).square() for k in range(d))
    exact = torch.exp(-sqdist / (2 * sigma**2)) @ W
    rows = fused.GaussianRows(X, sigma)
    for layout in (rows.layout(double=False), rows.layout(double=True)):
        bound = fused._relative_error(rows.reach, exact, W.amax(dim=0), layout, d) * exact
        for sums in (rows.over_pairs(W, layout), rows.at(rows.points, W, layout)):
            assert float(((sums - exact).abs() / (bound + 1e-14)).max()) < 1.0
    for rtol in (1e-6, 2e-7, 1e-10):
        columns = KernelColumns(Gaussian(sigma), X.cpu().numpy())
        operator = Fused(columns, X, "cuda", rtol)
        assert_allclose(operator.complement(W.cpu().numpy()), 1.0 - exact.cpu(), rtol=0, atol=rtol)


@pytest.mark.parametrize(
    ("kernel", "device", "rtol"),
    [
        (Gaussian(1.0), "cpu", 1e-6),
        (KERNEL_OF["Cauchy"], "cuda", 1e-6),
        (Gaussian(1.0), "cuda", 0.0),
    ],
)
def test_what_has_no_fused_sums_is_computed_by_blocks(kernel, device, rtol, monkeypatch):
    monkeypatch.setattr(torch_blocked, "on_device", lambda rows, device: torch.as_tensor(rows))
    columns = KernelColumns(kernel, np.random.default_rng(0).normal(size=(300, 2)))
    operator = choose_operator(
        columns, columns.training, Tolerance(rtol, rtol, rtol), device=device
    )
    assert isinstance(operator, TorchBlocked)
    assert device in operator.how


def test_a_kernel_without_a_form_in_torch_is_computed_on_the_cpu():
    X = np.random.default_rng(0).normal(size=(300, 2))
    operator = choose_operator(KernelColumns(Polynomial(2), X), X, EXACT, device="meta")
    assert isinstance(operator, Dense)
