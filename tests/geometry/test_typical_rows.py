"""Typical rows as a yardstick for others."""

import numpy as np
from numpy.testing import assert_allclose

from typicality.geometry.typical_rows import (
    TypicalRows,
    are_typical,
    robust_scale,
    telling_features,
)


def test_rows_are_compared_with_the_mean_of_the_nearest_others(rng):
    rows = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.1]
    is_typical = np.arange(60) >= 10
    typical = TypicalRows.of(rows, is_typical)
    scale, asked = robust_scale(rows), rows[5:15]
    found = typical.deviations(asked)
    for i, row in enumerate(asked, start=5):
        others = rows[is_typical & (np.arange(60) != i)]
        away = (((others - row) / scale) ** 2).sum(axis=1)
        nearest = others[np.argsort(away, kind="stable")[:20]]
        assert_allclose(found[i - 5], (row - nearest.mean(axis=0)) / scale, atol=1e-9)


def test_few_rows_are_compared_with_all_others():
    rows = np.array([[0.0], [1.0], [2.0]])
    typical = TypicalRows.of(rows, np.full(3, True))
    assert_allclose(typical.deviations(rows)[:, 0] * typical.scale, [-1.5, 0.0, 1.5])


def test_nine_tenths_are_typical_and_all_where_none_is_more_so():
    assert are_typical(np.arange(100.0)).sum() == 90
    assert are_typical(np.ones(5)).all()


def test_reasons_are_telling_deviations_only():
    deviations = np.array([[3.0, -2.0, 0.1], [0.4, 0.1, 0.0], [9.0, 1.0, 0.0]])
    assert telling_features(deviations, at_most=3) == [[0, 1], [], [0]]
    assert telling_features(deviations, at_most=1) == [[0], [], [0]]


def test_a_single_feature_is_always_the_reason():
    assert telling_features(np.array([[0.1], [-3.0]]), at_most=3) == [[0], [0]]
