"""Rows: their features, the distinct ones, and checks of their magnitudes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from typicality.rows import ArrayRows, DistinctRows
from typicality.spaces.far import typical_range
from typicality.spaces.nearest import NearestRows, neighbours_of


def test_typical_range_leaves_extreme_values_out(rng):
    X = rng.normal(size=(200, 3))
    X[:, 2] = rng.random(200) < 0.1  # the quartiles are the same
    low, high = typical_range(ArrayRows(X))
    assert_array_equal(low, X.min(axis=0))
    assert_array_equal(high, X.max(axis=0))
    far = np.vstack([X, [[1e6, -1e9, 7.0]]])
    assert_array_equal(typical_range(ArrayRows(far))[1], [X[:, 0].max(), X[:, 1].max(), 7.0])
    weight = np.append(np.ones(200), 0.0)
    assert_array_equal(typical_range(ArrayRows(far, weight))[1], high)
    copies = rng.integers(1, 4, size=201)
    repeated = np.repeat(far, copies, axis=0)
    assert_array_equal(
        typical_range(ArrayRows(far, copies.astype(float)))[1],
        typical_range(ArrayRows(repeated))[1],
    )


def test_distinct_rows_sample_by_content_when_there_are_many(rng):
    X = rng.normal(size=(5000, 2))
    weight = np.where(X[:, 0] > 0, 3.0, 1.0)
    data = DistinctRows.of(X, weight, at_most=1000)
    assert len(data.rows) == 1000
    assert_allclose(data.n_distinct, 5000, rtol=0.1)  # estimated from the hashes
    share = data.weight[data.rows[:, 0] > 0].sum() / data.weight.sum()
    assert_allclose(share, weight[X[:, 0] > 0].sum() / weight.sum(), atol=0.05)
    repeated = rng.permutation(np.repeat(X, weight.astype(int), axis=0))
    copies = DistinctRows.of(repeated, at_most=1000)
    assert_array_equal(data.rows, copies.rows)
    assert_array_equal(data.weight, copies.weight)


@pytest.mark.parametrize("decimals", [0, 1, 15])
def test_distinct_rows_stand_in_lexicographic_order(rng, decimals):
    X = np.unique(rng.normal(size=(500, 3)).round(decimals), axis=0)
    assert_array_equal(DistinctRows.of(rng.permutation(X)).rows, X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("decimals", [1, 12])
def test_neighbours_come_in_order_with_their_distances(rng, dtype, decimals):
    X = rng.normal(size=(400, 3)).round(decimals).astype(dtype)
    search = NearestRows(X[:300])
    near = neighbours_of(search, X, 20)
    assert_array_equal(near.sqdist, search.sqdist(X, near.rows))
    expected = np.sort(((X[:, None].astype(float) - X[:300]) ** 2).sum(axis=2), axis=1)[:, :20]
    assert_allclose(near.sqdist, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("n_rows", "n_features", "k"), [(3, 1, 3), (900, 2, 361), (2000, 6, 30)])
@pytest.mark.parametrize("norm", [1, 2])
def test_neighbours_are_the_nearest_alone_and_in_a_batch(rng, n_rows, n_features, k, norm):
    X = rng.standard_cauchy(size=(n_rows, n_features))
    asking = np.concatenate([X[:300], rng.normal(scale=1e200, size=(5, n_features))])
    search = NearestRows(X, norm)
    near = neighbours_of(search, asking, k)
    with np.errstate(over="ignore"):
        distances = (np.abs(asking[:300, None] - X) ** norm).sum(axis=2)
    expected = np.sort(distances, axis=1)[:, :k]
    found = np.sort(np.take_along_axis(distances, near.rows[:300], axis=1), axis=1)
    assert_allclose(found, expected, rtol=1e-9)
    alone = [neighbours_of(search, point[None], k) for point in asking[::50]]
    assert_array_equal(near.rows[::50], np.concatenate([each.rows for each in alone]))
    assert all(len(set(row)) == len(row) for row in near.rows.tolist())


@pytest.mark.parametrize("decimals", [1, 15])
def test_rows_that_face_another_group_contain_all_shortest_bridges(rng, decimals):
    rows = rng.normal(size=(300, 3)).round(decimals)
    rows[:100, 0] += 5.0
    own, others = np.arange(100), np.arange(100, 300)
    sqdist = np.sum((rows[own][:, None] - rows[others]) ** 2, axis=2)
    kept, kept_others = NearestRows(rows).facing(own, others)
    one, other = np.nonzero(sqdist == sqdist.min())
    assert np.isin(own[one], kept).all()
    assert np.isin(others[other], kept_others).all()
    assert len(kept) + len(kept_others) < 150
