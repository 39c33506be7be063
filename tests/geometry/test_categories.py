"""Where categories are in rows, and how usual a category is."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from typicality.geometry.categories import CategoryColumns
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


def test_shares_in_clusters_are_those_of_their_rows(table):
    step = MixedColumns().fit(table)
    rows, labels = step.transform(table), np.arange(200) % 2
    found = step._layout.shares_in(rows, labels, rows[:4], labels[:4])
    for i in range(4):
        own = table["kind"][labels == labels[i]]
        assert found[i, 1] == pytest.approx(np.mean(own == table["kind"][i]))
    assert_array_equal(found[:, 0], 1.0)
