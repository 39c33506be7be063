"""The sweep in torch against the compiled one, for every rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from instances import RULE_NAMES, rules
from typicality.geometry.centroids import Centroids
from typicality.membership import Fuzzy
from typicality.rows import TensorRows

torch = pytest.importorskip("torch")


def drawn(n, d, c, dtype):
    rng = np.random.default_rng(d)
    X = (rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 4, size=(n, 1)) + 50.0).astype(dtype)
    origin = X.mean(axis=0).astype(dtype)
    weight = rng.integers(0, 3, n).astype(dtype)
    return X, weight, Centroids.at(X[:c].astype(np.float64) + 0.1, origin)


def agree(ours, expected, rtol, extent=10.0):
    scale = extent * expected.mass.max()
    assert_allclose(ours.first, expected.first, rtol=rtol, atol=rtol * scale)
    assert_allclose(ours.mass, expected.mass, rtol=rtol)
    assert_allclose(ours.within, expected.within, rtol=rtol)
    assert_allclose(ours.objective, expected.objective, rtol=rtol)


@pytest.mark.parametrize("rule", rules(3), ids=RULE_NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_compiled_code(rule, weighted, monkeypatch):
    monkeypatch.setattr("typicality.geometry.torch_sweep._ENTRIES_OF_A_BLOCK", 1000)
    X, weight, prototypes = drawn(700, 3, 3, np.float64)
    weight = weight if weighted else None
    expected = prototypes.fold(rule, X, weight)
    tensor = None if weight is None else torch.as_tensor(weight)
    agree(prototypes.fold(rule, torch.as_tensor(X), tensor), expected, 1e-9)


def test_rows_of_a_device_sweep_there():
    X, weight, prototypes = drawn(700, 3, 3, np.float64)
    rows = TensorRows(X, weight, "cpu")
    sweep = lambda block: prototypes.fold(Fuzzy(2.0), block.X, block.weight)  # noqa: E731
    kinds = rows.sweep(lambda block: (type(block.X), type(block.weight)))
    assert kinds == (torch.Tensor, torch.Tensor)
    agree(rows.sweep(sweep), rows.fold(sweep), 1e-9)


@pytest.mark.gpu
@pytest.mark.parametrize("c", [1, 2, 16, 20, 64])
@pytest.mark.parametrize("d", [1, 2, 16, 33, 64])
@pytest.mark.parametrize("weighted", [False, True])
def test_fused_sweep_is_that_of_compiled_code(c, d, weighted):
    X, weight, prototypes = drawn(100_003, d, c, np.float32)
    weight = weight if weighted else None
    exact = Centroids(prototypes.origin.astype(np.float64), prototypes.offsets)
    expected = exact.fold(
        Fuzzy(2.0), X.astype(np.float64), None if weight is None else weight.astype(np.float64)
    )
    tensor = None if weight is None else torch.as_tensor(weight, device="cuda")
    ours = prototypes.fold(Fuzzy(2.0), torch.as_tensor(X, device="cuda"), tensor)
    agree(ours, expected, 2e-5)
    centers, exact = (m.first / m.mass[:, None] for m in (ours, expected))
    assert np.abs(centers - exact).max() < 2e-6 * np.abs(X - prototypes.origin).max()
