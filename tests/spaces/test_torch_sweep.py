"""The sweep in torch against the compiled one, for every rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from instances import RULE_NAMES, rules, sums_of
from typicality.membership import Fuzzy
from typicality.rows import TensorRows
from typicality.spaces import Centroids

torch = pytest.importorskip("torch")


def drawn(n, d, c, dtype):
    rng = np.random.default_rng(d)
    X = (rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 4, size=(n, 1)) + 50.0).astype(dtype)
    origin = X.mean(axis=0).astype(dtype)
    weight = rng.integers(0, 3, n).astype(dtype)
    return X, weight, Centroids.at(X[:c].astype(np.float64) + 0.1, origin)


def agree(ours, expected, rtol, extent=10.0):
    scale = extent * expected.mass.max()
    assert_allclose(ours.sums, expected.sums, rtol=rtol, atol=rtol * scale)
    assert_allclose(ours.mass, expected.mass, rtol=rtol)
    assert_allclose(ours.within, expected.within, rtol=rtol)
    assert_allclose(ours.objective, expected.objective, rtol=rtol)


@pytest.mark.parametrize("rule", rules(3), ids=RULE_NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_compiled_code(rule, weighted, monkeypatch):
    monkeypatch.setattr("typicality.rows.tensor._BLOCK_ROWS", 300)
    X, weight, prototypes = drawn(700, 3, 3, np.float64)
    weight = weight if weighted else None
    expected = sums_of(rule, prototypes, X, weight)
    agree(sums_of(rule, prototypes, TensorRows(X, weight, "cpu")), expected, 1e-9)


def test_rows_of_a_device_are_tensors_in_a_sweep():
    X, weight, _ = drawn(700, 3, 3, np.float64)
    rows = TensorRows(X, weight, "cpu").resident
    kinds = rows.fold(lambda block: (type(block.X), type(block.weight)))
    assert kinds == (torch.Tensor, torch.Tensor)


@pytest.mark.gpu
@pytest.mark.parametrize("c", [1, 2, 16, 20, 64])
@pytest.mark.parametrize("d", [1, 2, 16, 33, 64])
@pytest.mark.parametrize("m", [2.0, 1.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_fused_sweep_is_that_of_compiled_code(c, d, m, weighted):
    X, weight, prototypes = drawn(100_003, d, c, np.float32)
    weight = weight if weighted else None
    exact = Centroids(prototypes.origin.astype(np.float64), prototypes.offsets)
    doubles = [None if a is None else a.astype(np.float64) for a in (X, weight)]
    expected = sums_of(Fuzzy(m), exact, *doubles)
    ours = sums_of(Fuzzy(m), prototypes, TensorRows(X, weight, "cuda"))
    agree(ours, expected, 2e-5)
    centers, exact = (m.sums / m.mass[:, None] for m in (ours, expected))
    assert np.abs(centers - exact).max() < 2e-6 * np.abs(X - prototypes.origin).max()
