"""Starts by passes over all rows, where a sample does not hold them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from typicality import FuzzyCMeans
from typicality.rows import ArrayRows, base
from typicality.solve.starts import parallel_rows, plus_plus, start_rows
from typicality.spaces import Euclidean, euclidean

CUTS = (1, 700, 700, 1500)
SAMPLE = 100


@pytest.fixture
def small_samples(monkeypatch):
    """Samples of 100 rows, so that 2000 rows are many."""
    for module in (base, euclidean):
        monkeypatch.setattr(module, "LARGEST_SAMPLE", SAMPLE)
    monkeypatch.setattr(base.Rows.sample, "__defaults__", (SAMPLE,))


@pytest.fixture(name="X")
def many_rows(rng):
    return rng.normal(size=(2000, 3)) + 9.0 * rng.integers(3, size=2000)[:, None]


def in_blocks(X, weight=None, cuts=CUTS):
    return Euclidean(ArrayRows(X, weight, cuts))


def test_k_means_parallel_does_not_depend_on_blocks_order_and_copies(X, rng, small_samples):
    weight = rng.integers(0, 3, len(X)).astype(float)
    order = rng.permutation(len(X))
    copies = np.repeat(X, weight.astype(int), axis=0)

    def start(rows, weight=None, cuts=CUTS):
        space = in_blocks(rows, weight, cuts)
        return rows[start_rows("k-means||", space, 6, np.random.RandomState(3))]

    expected = start(X, weight)
    assert_array_equal(start(X, weight, ()), expected)
    assert_array_equal(start(X[order], weight[order]), expected)
    assert_array_equal(start(copies), expected)


def test_candidates_of_k_means_parallel_are_distinct_and_weigh_as_much_as_all_rows(X):
    few = base.DistinctRows.of(X, at_most=SAMPLE)
    first = plus_plus(few, 5, np.random.RandomState(0))
    found = parallel_rows(in_blocks(X), few.rows[first], few.index[first], np.random.RandomState(0))
    assert len(np.unique(found.rows, axis=0)) == len(found.rows) == 5 + 3 * 2 * 5
    assert_array_equal(X[found.index], found.rows)
    assert found.weight.sum() == len(X)


def test_k_means_parallel_fits_like_k_means_plus_plus(X, small_samples):
    one = FuzzyCMeans(3, init="k-means||", random_state=0).fit(X)
    other = FuzzyCMeans(3, random_state=0).fit(X)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


def test_k_means_parallel_is_refused_with_a_kernel(X):
    with pytest.raises(ValueError, match="kernel='linear'"):
        FuzzyCMeans(3, init="k-means||", kernel="gaussian").fit(X[:200])
