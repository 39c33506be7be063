"""Why a row is unusual: compared with typical rows, feature by feature and by its categories."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from typicality.explain import (
    CategoryColumns,
    TypicalRows,
    are_typical,
    robust_scale,
    telling_features,
)
from typicality.preprocessing import MixedColumns


@pytest.fixture(name="table")
def mixed_table(rng):
    n = 200
    size = rng.normal(size=n) + 10.0 * (np.arange(n) % 2)
    colour = np.where(np.arange(n) % 2, "red", "blue")
    return pd.DataFrame({"size": size, "colour": colour, "kind": rng.choice(["a", "b", "c"], n)})


def test_codes_are_read_back_from_the_rows(table):
    step = MixedColumns().fit(table)
    layout = step._layout
    assert layout == CategoryColumns(1, ("colour", "kind"), (("blue", "red"), ("a", "b", "c")))
    codes = layout.codes(step.transform(table))
    for j, name in enumerate(layout.names):
        assert_array_equal(np.array(layout.values[j])[codes[:, j]], table[name])
    new = step.transform(pd.DataFrame({"size": [0.0], "colour": ["green"], "kind": ["a"]}))
    assert_array_equal(layout.codes(new), [[-1, 0]])


def test_a_category_is_judged_by_what_else_is_known_of_the_row(table):
    step = MixedColumns().fit(table)
    typical = step.transform(table)
    asking = pd.DataFrame({"size": [10.0, 10.0], "colour": ["red", "blue"], "kind": ["a", "a"]})
    shares = step._layout.shares(typical, step.transform(asking))
    assert_array_equal(shares[:, 0], [1.0, 0.0])
    assert 0.1 < shares[0, 1] < 0.6


def test_a_row_is_not_compared_with_itself(table):
    table.loc[7, "kind"] = "odd"
    step = MixedColumns().fit(table)
    rows = step.transform(table)
    assert step._layout.shares(rows, rows[[7]])[0, 1] == 0.0


def test_one_column_alone_has_the_shares_of_all_rows():
    table = pd.DataFrame({"kind": ["a"] * 15 + ["b"] * 5})
    step = MixedColumns(max_categories=2).fit(table)
    asking = step.transform(pd.DataFrame({"kind": ["a", "b", "new"]}))
    assert_allclose(step._layout.shares(step.transform(table), asking).ravel(), [0.75, 0.25, 0.0])


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


def test_nine_tenths_are_typical_and_all_where_none_is_more_so():
    assert are_typical(np.arange(100.0)).sum() == 90
    assert are_typical(np.ones(5)).all()


def test_reasons_are_telling_deviations_only():
    deviations = np.array([[3.0, -2.0, 0.1], [0.4, 0.1, 0.0], [9.0, 1.0, 0.0]])
    assert telling_features(deviations, at_most=3) == [[0, 1], [], [0]]
    assert telling_features(deviations, at_most=1) == [[0], [], [0]]
