"""Minimax distances: the slow twin, an ultrametric, the same numbers in any order and batch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from reference import minimax as slow
from typicality import minimax
from typicality.minimax import MinimaxPaths


def normal(rng, n_rows=40, n_features=3):
    return rng.normal(size=(n_rows, n_features))


DATA = {
    "line": lambda rng: normal(rng, 40, 1),
    "plane": lambda rng: normal(rng, 41, 2),
    "many features": lambda rng: normal(rng, 30, 17),
    "grid": lambda rng: rng.permutation(np.argwhere(np.ones((6, 6)))).astype(float),
    "duplicates": lambda rng: rng.integers(0, 3, size=(40, 2)).astype(float),
    "all equal": lambda rng: np.full((7, 2), 0.1),
    "one row": lambda rng: normal(rng, 1),
    "two rows": lambda rng: normal(rng, 2),
    "far from zero": lambda rng: normal(rng) + 1e8,
    "tiny": lambda rng: normal(rng) * 1e-100,
    "huge": lambda rng: normal(rng) * 1e100,
    "float32": lambda rng: normal(rng).astype(np.float32),
    "by columns": lambda rng: np.asfortranarray(normal(rng)),
    "every other": lambda rng: normal(rng, 60, 6)[::2, ::2],
}
every_data = pytest.mark.parametrize("make", DATA.values(), ids=DATA.keys())


@every_data
def test_distances_are_those_of_the_slow_twin(rng, make):
    X = make(rng)
    assert_allclose(MinimaxPaths.of(X).distances(), slow.distances(X), rtol=1e-14)


@every_data
def test_distances_to_new_rows_are_those_of_the_slow_twin(rng, make):
    X = make(rng)
    X_new = (X[rng.integers(len(X), size=25)] + 0.5 * X[rng.integers(len(X), size=25)]) / 1.5
    expected = slow.distances_to(X, X_new)
    assert_allclose(MinimaxPaths.of(X).distances_to(X_new), expected, rtol=1e-14)


@every_data
def test_training_rows_as_new_rows_get_the_same_bits(rng, make):
    X = make(rng)
    paths = MinimaxPaths.of(X)
    assert_array_equal(paths.distances_to(X), paths.distances())


@every_data
def test_distances_have_the_same_bits_in_any_order(rng, make):
    X = make(rng)
    X_new = normal(rng, 9, X.shape[1])
    shuffled = rng.permutation(len(X))
    paths, others = MinimaxPaths.of(X), MinimaxPaths.of(X[shuffled])
    assert_array_equal(others.distances(), paths.distances()[np.ix_(shuffled, shuffled)])
    assert_array_equal(others.distances_to(X_new), paths.distances_to(X_new)[:, shuffled])


@pytest.mark.parametrize("n_features", [1, 2, 7, 40])
def test_distances_to_new_rows_have_the_same_bits_in_any_batch(rng, monkeypatch, n_features):
    paths = MinimaxPaths.of(normal(rng, 50, n_features))
    X_new = normal(rng, 33, n_features)
    whole = paths.distances_to(X_new)
    assert_array_equal(np.concatenate([paths.distances_to(x[None]) for x in X_new]), whole)
    monkeypatch.setattr(minimax, "_BLOCK_ENTRIES", 7 * 50)
    assert_array_equal(paths.distances_to(X_new), whole)
    monkeypatch.setattr(minimax, "_BLOCK_ENTRIES", 1)
    assert_array_equal(paths.distances_to(X_new[::-1])[::-1], whole)


def test_distances_are_the_cophenetic_distances_of_single_linkage(rng):
    X = normal(rng, 300, 4)
    expected = squareform(cophenet(linkage(X, method="single")))
    assert_array_equal(MinimaxPaths.of(X).distances(), expected)
