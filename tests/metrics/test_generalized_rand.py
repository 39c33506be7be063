"""The generalised Rand index: the slow twin, scikit-learn, chance, invariances, many rows."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_rand_score, rand_score

from metrics.strategies import labels, two_partitions, typicalities
from reference import metrics as slow
from typicality.metrics import (
    adjusted_generalized_rand_score,
    generalized_rand,
    generalized_rand_estimate,
    generalized_rand_score,
)

BOTH = [generalized_rand_score, adjusted_generalized_rand_score]
both_scores = pytest.mark.parametrize("score", BOTH)
normalized_or_not = pytest.mark.parametrize("normalize", [True, False])


def soft(rng, n_rows, n_clusters=4, concentration=0.5):
    return rng.dirichlet(np.full(n_clusters, concentration), n_rows)


# ---- the slow twin ------------------------------------------------------------------------------


@normalized_or_not
@given(two_partitions())
def test_generalized_rand_is_the_mean_over_all_pairs(normalize, two):
    expected = slow.generalized_rand(*two, normalize)
    assert_allclose(generalized_rand_score(*two, normalize=normalize), expected, atol=1e-12)


@normalized_or_not
@given(two_partitions())
def test_adjusted_rand_is_relative_to_independent_pairs(normalize, two):
    expected = slow.expected_over_pairs(*two, normalize)
    assume(expected < 1 - 1e-6)
    adjusted = slow.adjusted(slow.generalized_rand(*two, normalize), expected)
    found = adjusted_generalized_rand_score(*two, normalize=normalize)
    assert_allclose(found, adjusted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n_rows", [2, 128, 391])
@pytest.mark.parametrize("n_clusters", [1, 5])
def test_blocks_miss_no_pair(rng, n_rows, n_clusters):
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


@settings(max_examples=25)
@given(two_partitions(kind=labels, most=30))
def test_crisp_partitions_have_the_rand_index_to_the_last_bit(two):
    matrices = [np.array(slow.memberships_of(y)).reshape(len(y), -1) for y in two]
    for first in (two[0], matrices[0]):
        for second in (two[1], matrices[1], csr_matrix(matrices[1])):
            assert generalized_rand_score(first, second) == rand_score(*two)
            assert adjusted_generalized_rand_score(first, second) == adjusted_rand_score(*two)


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


def test_normalising_ignores_the_scale_of_a_row_and_else_it_counts(rng):
    U, y = soft(rng, 50), rng.integers(0, 3, 50)
    scaled = U * rng.uniform(0.1, 1, (50, 1))
    assert_allclose(generalized_rand_score(y, scaled), generalized_rand_score(y, U))
    faded = [generalized_rand_score(y, U * f, normalize=False) for f in (1e-3, 1e-6, 0.0)]
    assert_allclose(faded, generalized_rand_score(y, np.zeros((50, 1))), atol=2e-3)
    assert_allclose(generalized_rand_score(y, U, normalize=False), generalized_rand_score(y, U))


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


# ---- many rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["labels", "memberships"])
def test_scores_of_many_rows_are_estimates_with_a_seed(rng, monkeypatch, reference):
    U = soft(rng, 300)
    other = {"labels": rng.integers(0, 4, 300), "memberships": soft(rng, 300, 3)}[reference]
    exact = [score(other, U) for score in BOTH]
    for limit in ("EXACT_ROWS", "SORTED_ROWS"):
        monkeypatch.setattr(generalized_rand, limit, 299)
    found = [score(other, U, random_state=3) for score in BOTH]
    estimate = generalized_rand_estimate(other, U, random_state=3)
    assert_allclose(found, [estimate.score, estimate.adjusted], atol=1e-9)
    assert_allclose(found, exact, atol=4 * estimate.adjusted_standard_error)
