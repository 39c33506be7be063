"""Subsamples, agreement on shared rows, matrices of agreement."""

import numpy as np
import pytest

from typicality.metrics import adjusted_rand_score, jaccard_score
from typicality.stability import (
    Repeats,
    agreement_matrix,
    agreement_of_refits,
    draw_subsamples,
    placed_rows_agreement,
    rank_agreement,
    shared_rows_agreement,
)


def test_subsamples_have_each_row_once():
    drawn = draw_subsamples(101, 4, share=0.8, random_state=0)
    assert [len(rows) for rows in drawn] == [81] * 4
    assert all((np.diff(rows) > 0).all() and rows[0] >= 0 and rows[-1] < 101 for rows in drawn)
    assert len({tuple(rows) for rows in drawn}) == 4


def test_subsamples_depend_on_the_seed_alone():
    first, again = (draw_subsamples(50, 2, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_agreement_counts_shared_rows_only():
    first = np.array([0, 1, 2, 3]), np.array([True, False, True, False])
    second = np.array([2, 3, 4, 5]), np.array([True, True, False, True])
    assert shared_rows_agreement(first, second, measure=jaccard_score) == 0.5


def test_agreement_does_not_depend_on_the_order_of_rows():
    first = [3, 1, 2], [0, 1, 1]
    second = [2, 3, 1], [5, 4, 5]
    assert shared_rows_agreement(first, second, measure=adjusted_rand_score) == 1.0


def test_without_shared_rows_there_is_no_agreement():
    apart = ([0, 1], [0, 0]), ([2, 3], [0, 0])
    assert np.isnan(shared_rows_agreement(*apart, measure=adjusted_rand_score))
    assert agreement_of_refits(apart, measure=adjusted_rand_score) == Repeats()
    assert agreement_of_refits(apart[:1], measure=adjusted_rand_score) == Repeats()


def test_every_two_refits_are_compared():
    rows = [0, 1, 2]
    refits = [
        (rows, [True, True, False]),
        (rows, [True, True, False]),
        (rows, [True, False, False]),
    ]
    assert agreement_of_refits(refits, measure=jaccard_score) == Repeats((1.0, 0.5, 0.5))


def test_mean_and_deviation_of_repeats():
    assert Repeats((1.0, 0.0)).mean == 0.5
    assert Repeats((1.0, 0.0)).deviation == 0.5
    assert Repeats((0.3,)).deviation == 0.0


def test_rows_left_out_do_not_count_where_both_place():
    a, b = np.array([0, 0, 1, 1, -1, -1]), np.array([1, 1, 0, 0, 0, -1])
    assert placed_rows_agreement(a, b) == 1.0
    assert adjusted_rand_score(a, b) < 1.0
    assert np.isnan(placed_rows_agreement(np.array([-1, 0]), np.array([0, -1])))


def test_one_cluster_agrees_with_nothing_where_both_have_one():
    inner = np.array([0, 0, 0, -1, -1, -1])
    assert np.isnan(placed_rows_agreement(inner, np.array([0, 0, 0, 1, 1, 1])))
    assert placed_rows_agreement(np.zeros(6), np.array([0, 0, 0, 1, 1, 1])) == 0.0


def test_ranks_agree_whatever_the_scale():
    scores = np.array([3.0, 1.0, 2.0, 9.0])
    assert rank_agreement(scores, np.exp(scores)) == pytest.approx(1.0)
    assert rank_agreement(scores, -scores) == pytest.approx(-1.0)
    assert np.isnan(rank_agreement(scores, np.ones(4)))


def test_matrix_is_symmetric_and_named():
    flags = {"a": [True, True, False], "b": [True, False, False], "c": [False, False, True]}
    matrix = agreement_matrix(flags, agree=jaccard_score, measure="Jaccard")
    np.testing.assert_array_equal(matrix.values, matrix.values.T)
    assert matrix.between("a", "b") == matrix.between("b", "a") == 0.5
    np.testing.assert_array_equal(matrix.of_pairs, [0.5, 0.0, 0.0])


def test_unknown_agreement_is_null_in_json():
    matrix = agreement_matrix(
        {"a": np.arange(3), "b": np.ones(3)}, agree=rank_agreement, measure="Spearman"
    )
    assert matrix.to_dict()["values"] == [[1.0, None], [None, 1.0]]
    assert len(matrix.of_pairs) == 0
