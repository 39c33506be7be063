"""Pairs, success rate, flags, and what comes from scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.strategies import labels, two_partitions
from reference import metrics as slow
from typicality.metrics import jaccard_score, pair_confusion, success_rate

two_labels = two_partitions(kind=labels, most=14)


# ---- pairs --------------------------------------------------------------------------------------


@given(two_labels)
def test_counts_are_those_of_all_pairs(two):
    found = pair_confusion(*two)
    both, pred_only, true_only, neither = slow.pair_counts(*two)
    assert (found.true_positives, found.false_positives) == (both, pred_only)
    assert (found.false_negatives, found.true_negatives) == (true_only, neither)


@given(two_labels)
def test_pair_scores_are_shares_of_the_counts(two):
    found = pair_confusion(*two)
    together_true = found.true_positives + found.false_negatives
    together_pred = found.true_positives + found.false_positives
    assert found.precision * together_pred == pytest.approx(found.true_positives)
    assert found.recall * together_true == pytest.approx(found.true_positives)
    other = pair_confusion(*two[::-1])
    assert (other.recall, other.precision, other.f1) == (found.precision, found.recall, found.f1)


def test_counts_of_many_rows_are_exact():
    n = 300_001  # has more than 2 ** 35 pairs
    found = pair_confusion(np.zeros(n, np.int8), np.arange(n) % 2)
    half = [(n + 1) // 2, n // 2]
    assert found.true_positives == sum(k * (k - 1) // 2 for k in half)
    assert found.true_positives + found.false_negatives == n * (n - 1) // 2
    assert isinstance(found.true_positives, int)


# ---- success rate -------------------------------------------------------------------------------


@given(two_labels)
def test_greedy_and_optimal_are_those_of_the_slow_twins(two):
    true, pred = (labels.tolist() for labels in two)
    assert success_rate(true, pred) == pytest.approx(slow.success_rate(true, pred))
    best = slow.best_success_rate(true, pred)
    assert success_rate(true, pred, matching="optimal") == pytest.approx(best)
    assert best >= success_rate(true, pred)


def test_success_rate_matches_the_first_of_equal_classes():
    true, pred = [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]  # three cells of two rows
    assert success_rate(true, pred) == 2 / 6
    assert success_rate(true, [1 - k for k in pred]) == 4 / 6


def test_rows_that_belong_nowhere_are_failures():
    assert success_rate([0, 0, 1, 1], [-1, -1, -1, -1]) == 0
    assert success_rate([-1, -1, 1, 1], [-1, 0, 1, 1]) == 0.5
    assert success_rate(["a", "b"], ["b", "a"]) == 1


# ---- flags --------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_jaccard_is_that_of_two_sets(flags):
    a, b = np.array(flags).T
    expected = slow.jaccard(a, b)
    assert jaccard_score(a, b) == jaccard_score(b, a) == expected
    assert jaccard_score(np.where(a, -1, 1), b) == expected
    assert jaccard_score(np.where(a, -1.0, 1.0), np.where(b, -1, 1)) == expected
