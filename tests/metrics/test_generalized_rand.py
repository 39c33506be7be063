"""The generalised Rand index: the slow twin, scikit-learn, chance, invariances, threads."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import coo_array, csr_matrix
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_rand_score, rand_score
from threadpoolctl import threadpool_limits

from metrics.strategies import labels, memberships, two_partitions, typicalities
from reference import metrics as slow
from typicality.metrics import adjusted_generalized_rand_score, generalized_rand_score
from typicality.metrics import differences as parts
from typicality.metrics.pair_sums import N_BINS, STEPS_PER_BIN, TILE
from typicality.metrics.partitions import Crisp, Soft

BOTH = [generalized_rand_score, adjusted_generalized_rand_score]
both_scores = pytest.mark.parametrize("score", BOTH)
normalized_or_not = pytest.mark.parametrize("normalize", [True, False])


def soft(rng, n_rows, n_clusters=4, concentration=0.5):
    return rng.dirichlet(np.full(n_clusters, concentration), n_rows)


# ---- the slow twin ------------------------------------------------------------------------------


@normalized_or_not
@settings(max_examples=100)
@given(two_partitions())
def test_generalized_rand_is_the_mean_over_all_pairs(normalize, two):
    expected = slow.generalized_rand(*two, normalize)
    assert_allclose(generalized_rand_score(*two, normalize=normalize), expected, atol=1e-12)


@normalized_or_not
@settings(max_examples=100)
@given(two_partitions())
def test_adjusted_rand_is_relative_to_independent_pairs(normalize, two):
    expected = slow.expected_over_pairs(*two, normalize)
    assume(expected < 1 - 1e-6)
    adjusted = slow.adjusted(slow.generalized_rand(*two, normalize), expected)
    found = adjusted_generalized_rand_score(*two, normalize=normalize)
    assert_allclose(found, adjusted, rtol=1e-8, atol=1e-8)


@given(two_partitions(most=5))
@settings(max_examples=25)
def test_independent_pairs_are_the_mean_over_all_orders_of_the_rows(two):
    assert_allclose(slow.expected_over_pairs(*two), slow.expected_over_permutations(*two))


@pytest.mark.parametrize("n_rows", [2, TILE - 1, TILE, TILE + 1, 3 * TILE, 3 * TILE + 7])
@pytest.mark.parametrize("n_clusters", [1, 2, 5, 8])
def test_tiles_miss_no_pair(rng, n_rows, n_clusters):
    U, V = 0.9 * soft(rng, n_rows, n_clusters), soft(rng, n_rows, 3)
    y = rng.integers(-1, 4, n_rows)
    nowhere = 1 - U.sum(axis=1)
    a = 1 - pdist(np.column_stack([U, nowhere])) / np.sqrt(2)
    b = 1 - pdist(V) / np.sqrt(2)
    same = 1 - pdist(y[:, None], "hamming")
    found = [generalized_rand_score(other, U, normalize=False) for other in (V, y)]
    expected = [np.mean(1 - np.abs(a - other)) for other in (b, same)]
    assert_allclose(found, expected, rtol=1e-13)


# ---- crisp partitions ---------------------------------------------------------------------------


@given(two_partitions(kind=labels, most=30))
def test_crisp_partitions_have_the_rand_index_to_the_last_bit(two):
    matrices = [np.array(slow.memberships_of(y)).reshape(len(y), -1) for y in two]
    for first in (two[0], matrices[0]):
        for second in (two[1], matrices[1], csr_matrix(matrices[1])):
            assert generalized_rand_score(first, second) == rand_score(*two)
            assert adjusted_generalized_rand_score(first, second) == adjusted_rand_score(*two)


@given(two_partitions(kind=labels, most=30))
def test_classes_as_soft_partitions_give_the_same(two):
    """The loop over pairs and the closed form agree with scikit-learn where both are crisp."""
    y, z = (np.unique(labels, return_inverse=True)[1] for labels in two)
    assume(adjusted_rand_score(y, z) < 1)
    for second in (Crisp(z.astype(np.int32)), Soft(np.eye(5)[z])):
        found = parts.differences(Soft(np.eye(5)[y]), second)
        assert_allclose(1 - found.paired, rand_score(y, z), atol=1e-14)
        assert_allclose(1 - found.paired / found.independent, adjusted_rand_score(y, z), atol=1e-12)


@both_scores
def test_labels_may_be_text_or_truth_values(rng, score):
    U = soft(rng, 60, 2)
    y = rng.integers(0, 2, 60)
    expected = score(y, U)
    for same in (y.astype(bool), np.array(["b", "a"])[y], y.astype(float), y.tolist()):
        assert score(same, U) == expected


# ---- what rows mean -----------------------------------------------------------------------------


@both_scores
def test_rows_of_zeros_and_the_label_minus_one_belong_nowhere(score):
    U = np.array([[0.8, 0.2], [0.6, 0.4], [0.0, 0.0], [0.0, 0.0], [0.1, 0.9]])
    with_class = np.array([[0.8, 0.2, 0], [0.6, 0.4, 0], [0, 0, 1], [0, 0, 1], [0.1, 0.9, 0]])
    y, y_class = [0, 0, -1, -1, 1], [0, 0, 2, 2, 1]
    assert score(y, U) == score(y_class, with_class)
    assert score(y, np.delete(with_class, 2, axis=1)) == score(y, with_class)


@both_scores
def test_no_cluster_at_all_is_one_class(rng, score):
    U = soft(rng, 30)
    assert score(np.empty((30, 0)), U) == score(np.full(30, -1), U) == score(np.zeros(30), U)


def test_normalising_ignores_the_scale_of_a_row_and_else_it_counts(rng):
    U, y = soft(rng, 50), rng.integers(0, 3, 50)
    scaled = U * rng.uniform(0.1, 1, (50, 1))
    assert_allclose(generalized_rand_score(y, scaled), generalized_rand_score(y, U))
    faded = [generalized_rand_score(y, U * f, normalize=False) for f in (1e-3, 1e-6, 0.0)]
    assert_allclose(faded, generalized_rand_score(y, np.zeros((50, 1))), atol=2e-3)
    assert_allclose(generalized_rand_score(y, U, normalize=False), generalized_rand_score(y, U))


def test_outliers_that_are_known_as_such_are_worth_keeping():
    y = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    typicality = np.array(
        [[0.9, 0], [0.8, 0], [0.9, 0], [0, 0.9], [0, 1], [0, 1], [0.05, 0], [0, 0.02]]
    )
    kept = generalized_rand_score(y, typicality, normalize=False)
    assert kept > 0.85 > generalized_rand_score(y, typicality)


# ---- invariances --------------------------------------------------------------------------------


@both_scores
@given(two=two_partitions(most=20), seed=st.integers(0, 99))
def test_order_of_rows_and_of_arguments_does_not_matter(score, two, seed):
    first, second = two
    expected = score(first, second)
    assert_allclose(score(second, first), expected, atol=1e-9)
    order = np.random.default_rng(seed).permutation(len(first))
    assert_allclose(score(first[order], second[order]), expected, atol=1e-9)


@both_scores
@given(two=two_partitions(kind=typicalities, most=20), y=labels(20))
def test_order_of_clusters_and_names_of_classes_do_not_matter(score, two, y):
    first, second = two
    expected = score(first, second)
    assert_allclose(score(first[:, ::-1], second[:, ::-1]), expected, atol=1e-9)
    classes = y[: len(first)]
    assert score(7 - classes, second) == score(np.where(classes < 0, 9, classes), second)


@both_scores
@given(two=two_partitions(kind=memberships, most=20))
def test_a_partition_agrees_with_itself(score, two):
    assert score(two[0], two[0]) == 1
    assert score(two[0], np.column_stack([np.zeros(len(two[0])), two[0]])) == 1


@given(two_partitions(most=20))
def test_generalized_rand_is_in_the_unit_interval(two):
    assert 0 <= generalized_rand_score(*two) <= 1
    assert adjusted_generalized_rand_score(*two) <= 1


@both_scores
def test_one_row_agrees(score):
    assert score([3], [[0.2, 0.8]]) == 1
    assert score([[1.0, 0.0]], [[0.2, 0.8]]) == 1


@both_scores
def test_all_pairs_alike_agree(score):
    assert score(np.zeros(5), np.full((5, 3), 1 / 3)) == 1
    assert score(np.full((5, 2), 0.5), np.full((5, 3), 1 / 3)) == 1


@both_scores
def test_generalized_rand_takes_all_kinds_of_arrays(rng, score):
    U, V = soft(rng, 40).astype(np.float32), soft(rng, 40, 3)
    expected = score(V, U)
    for same in (csr_matrix(U), coo_array(U), U.tolist(), np.asfortranarray(U)):
        assert_allclose(score(V, same), expected, atol=1e-12)


def test_independent_partitions_have_nothing_in_common(rng):
    y, U, V = rng.integers(0, 3, 1500), soft(rng, 1500), soft(rng, 1500, 3)
    assert generalized_rand_score(V, U) > 0.6
    assert_allclose([adjusted_generalized_rand_score(other, U) for other in (y, V)], 0, atol=0.01)


# ---- histograms ---------------------------------------------------------------------------------

SPREADS = {
    "soft": lambda rng, n: (soft(rng, n), soft(rng, n, 3)),
    "nearly crisp": lambda rng, n: (soft(rng, n, 3, 0.01), soft(rng, n, 3, 0.01)),
    "collapsed": lambda rng, n: (1 / 3 + 1e-7 * soft(rng, n, 3), 1 / 3 + 1e-6 * soft(rng, n, 3)),
    "one collapsed": lambda rng, n: (1 / 3 + 1e-7 * soft(rng, n, 3), soft(rng, n, 3)),
    "few values": lambda rng, n: (soft(rng, 3)[np.arange(n) % 3], soft(rng, 2)[np.arange(n) % 2]),
    "the same": lambda rng, n: [soft(rng, n)] * 2,
}


@pytest.mark.parametrize("spread", SPREADS)
def test_histograms_are_within_their_error_of_sorted_distances(rng, spread):
    first, second = (Soft(shares) for shares in SPREADS[spread](rng, 700))
    exact, found = parts._by_sorting(first, second), parts._by_histograms(first, second)
    assert_allclose(found.paired, exact.paired, rtol=1e-11, atol=1e-15)
    assert abs(found.independent - exact.independent) <= found.error + 4e-9
    assert found.error <= 3e-4 * exact.independent
    assert found.error < 1.7e-4


@given(st.lists(st.tuples(st.integers(0, N_BINS - 2), st.floats(0, 1)), min_size=1, max_size=30))
def test_the_error_is_never_above_what_is_stated(values):
    bins, places = (np.array(x) for x in zip(*values, strict=True))
    counts, steps = np.zeros((2, N_BINS), np.int64), np.zeros((2, N_BINS), np.int64)
    for side in (0, 1):
        np.add.at(counts[side], bins, 1)
        np.add.at(steps[side], bins, (places * (STEPS_PER_BIN - 1)).astype(int))
    assert parts.independent_difference(counts, steps)[1] < 1.7e-4


def test_many_rows_take_histograms_and_few_do_not(rng, monkeypatch):
    U, V = soft(rng, 300), soft(rng, 300, 3)
    exact = adjusted_generalized_rand_score(V, U)
    monkeypatch.setattr(parts, "_SORTED_ROWS", 299)
    found = adjusted_generalized_rand_score(V, U)
    assert found != exact
    assert_allclose(found, exact, atol=1e-6)


# ---- machine ------------------------------------------------------------------------------------


@both_scores
@pytest.mark.parametrize("n_threads", [2, 5])
def test_threads_do_not_change_a_bit(rng, score, n_threads):
    U, V, y = soft(rng, 3000), soft(rng, 3000, 3), rng.integers(0, 4, 3000)
    with threadpool_limits(1):
        alone = [score(y, U), score(V, U)]
    with threadpool_limits(n_threads):
        assert [score(y, U), score(V, U)] == alone
