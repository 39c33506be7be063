"""Minimax distances: the slow twin, an ultrametric, the same numbers in any order and batch."""

import doctest
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.datasets import make_moons

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
def test_distances_are_an_ultrametric_of_float64(rng, make):
    d = MinimaxPaths.of(make(rng)).distances()
    assert d.dtype == np.float64
    assert_array_equal(np.diag(d), 0)
    assert_array_equal(d, d.T)
    assert np.all(d[:, None, :] <= np.maximum(d[:, :, None], d[None, :, :]))


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


def test_distances_are_at_most_euclidean(rng):
    X, X_new = normal(rng), normal(rng)
    paths = MinimaxPaths.of(X)
    assert np.all(paths.distances() <= cdist(X, X))
    assert np.all(paths.distances_to(X_new) <= cdist(X_new, X))


def test_minimax_paths_work_with_one_row():
    paths = MinimaxPaths.of(np.array([[3.0, 4.0]]))
    assert_array_equal(paths.distances(), [[0.0]])
    assert_array_equal(paths.distances_to(np.zeros((2, 2))), [[5.0], [5.0]])


def test_minimax_paths_work_without_new_rows(rng):
    assert MinimaxPaths.of(normal(rng, 5)).distances_to(np.empty((0, 3))).shape == (0, 5)


def test_distances_do_not_change_with_copies_of_rows(rng):
    X, X_new = normal(rng), normal(rng)
    copied = rng.permutation(np.repeat(np.arange(40), rng.integers(1, 4, size=40)))
    paths, others = MinimaxPaths.of(X), MinimaxPaths.of(X[copied])
    assert_array_equal(others.distances(), paths.distances()[np.ix_(copied, copied)])
    assert_array_equal(others.distances_to(X_new), paths.distances_to(X_new)[:, copied])


def test_minimax_paths_keep_rows_the_caller_overwrites(rng):
    X = normal(rng)
    paths = MinimaxPaths.of(X)
    before = paths.distances_to(np.zeros((1, 3)))
    X[:] = 0
    assert_array_equal(paths.distances_to(np.zeros((1, 3))), before)


def test_distances_shrink_when_a_bridge_joins_two_blobs(blobs):
    X, labels = blobs
    X = X[labels < 2]
    bridge = np.column_stack([np.arange(0, 6.1, 0.25), np.zeros(25)])
    apart = MinimaxPaths.of(X).distances()[:60, 60:]
    joined = MinimaxPaths.of(np.concatenate([X, bridge])).distances()[:60, 60:]
    middle = np.abs(X[:, 1]) < 0.5
    assert apart.min() > 2
    assert joined[np.ix_(middle[:60], middle[60:])].max() < 0.7


def test_distances_to_new_rows_ignore_bridges_of_new_rows():
    X = np.array([[0.0], [10.0]])
    new = np.arange(1.0, 10.0)[:, None]
    d = MinimaxPaths.of(X).distances_to(new)
    assert_array_equal(d, np.column_stack([new[:, 0], 10 - new[:, 0]]))


def test_distances_separate_two_moons():
    X, labels = make_moons(400, noise=0.05, random_state=0)
    X_new, new_labels = make_moons(200, noise=0.05, random_state=1)
    paths = MinimaxPaths.of(X)
    same = labels[:, None] == labels
    new_same = new_labels[:, None] == labels
    d, d_new = paths.distances(), paths.distances_to(X_new)
    assert d[same].max() < 0.6 * d[~same].min()
    assert np.mean(d[same]) < 0.5 * np.mean(d[~same])
    assert np.all(
        np.where(new_same, d_new, 0).max(axis=1) < np.where(new_same, 9, d_new).min(axis=1)
    )


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("name", ["plane", "many features", "duplicates", "far from zero"])
def test_distances_are_scalar_products_when_double_centred(rng, name, power):
    d = MinimaxPaths.of(DATA[name](rng)).distances() ** power
    centred = d - d.mean(axis=0) - d.mean(axis=1)[:, None] + d.mean()
    eigenvalues = np.linalg.eigvalsh(-0.5 * centred)
    assert eigenvalues[0] >= -1e-9 * eigenvalues[-1]


def test_minimax_paths_of_two_thousand_rows_take_seconds(rng):
    X, X_new = normal(rng, 2000, 5), normal(rng, 2000, 5)
    start = time.process_time()  # of this process: the machine may be busy
    paths = MinimaxPaths.of(X)
    paths.distances()
    paths.distances_to(X_new)
    assert time.process_time() - start < 10


def test_minimax_example_in_the_docstring():
    results = doctest.testmod(minimax)
    assert results.attempted > 0
    assert results.failed == 0
