"""Which columns are numbers to work with, and what is said of the others."""

import re

import numpy as np
import pytest

from typicality.exceptions import TableError
from typicality.tables import LeftOut, Place, open_table, read_rows


@pytest.fixture
def read(tmp_path):
    def read_text(given, **options):
        lines = [",".join(given), *map(",".join, zip(*given.values(), strict=True))]
        path = tmp_path / "rows.csv"
        path.write_text("\n".join(lines))
        with open_table(path, delimiter=",") as table:
            return read_rows(table, **options)

    return read_text


N_ROWS = 20
GOOD = [str(i * i) for i in range(N_ROWS)]
REASONS = {
    "text": (["red", "blue"] * 10, "text (first 'red' in line 2)"),
    "text after missing": (["", *["blue"] * 19], "text (first 'blue' in line 3)"),
    "truth": (
        ["", "TRUE", "false", "true"] * 5,
        "true or false (first 'TRUE' in line 3): write 1 and 0 to use them",
    ),
    "dates": (
        ["2024-01-31", "31.1.2024", "1/2/24", "2024-01-31T12:00:00Z"] * 5,
        "dates or times (first '2024-01-31' in line 2): write them as numbers to use them, "
        "e.g. as days since the first date",
    ),
    "times": (
        ["12:30", "1:05:07.5", "3:15 pm", "00:00:00"] * 5,
        "dates or times (first '12:30' in line 2): write them as numbers to use them, "
        "e.g. as days since the first date",
    ),
    "almost": (
        [*GOOD[:19], "n/k"],
        "1 of 20 cells are not numbers (first 'n/k' in line 21): correct them or leave them empty "
        "to use it",
    ),
    "not almost": ([*GOOD[:18], "n/k", "n/k"], "text (first 'n/k' in line 20)"),
    "missing": (["", "NA"] * 10, "all values are missing"),
    "constant": (["2.50", ""] * 10, "constant (always 2.5)"),
    "identifier": (
        [str(i) for i in range(5, 25)],
        "an identifier: it numbers the rows from 5 to 24",
    ),
    "shuffled identifier": (
        [str(7 * i % 20) for i in range(20)],
        "an identifier: it numbers the rows from 0 to 19",
    ),
    "falling identifier": (
        [f"{i}.0" for i in range(20, 0, -1)],
        "an identifier: it numbers the rows from 1 to 20",
    ),
}


@pytest.mark.parametrize(("column", "reason"), REASONS.values(), ids=REASONS)
def test_reader_leaves_columns_out_and_says_why(read, column, reason):
    table = read({"good": GOOD, "bad": column})
    assert table.names == ("good",)
    assert table.left_out == (LeftOut("bad", reason),)


HONEST = {
    "even numbers": [str(2 * i) for i in range(N_ROWS)],
    "one twice": ["0", *[str(i) for i in range(1, 19)], "1"],
    "a range with a gap and a copy": ["0", "0", *[str(i) for i in range(2, 20)]],
    "halves": [str(i + 0.5) for i in range(N_ROWS)],
    "one missing": ["", *[str(i) for i in range(1, 20)]],
    "two values": ["0", "1"] * 10,
}


@pytest.mark.parametrize("column", HONEST.values(), ids=HONEST)
def test_honest_measurements_are_no_identifiers(read, column):
    assert read({"x": column, "y": GOOD}).names == ("x", "y")


@pytest.mark.parametrize("name", ["id", "ID", "user_id", "Order ID", "userId", "order-id"])
def test_whole_numbers_called_an_id_are_left_out(read, name):
    table = read({name: ["7", "7", "12", "40"], "x": ["1", "2", "3", "5"]})
    assert table.names == ("x",)
    assert "column called id" in table.left_out[0].reason


@pytest.mark.parametrize("name", ["paid", "grid", "width", "identity", "acid"])
def test_reader_keeps_columns_whose_names_only_look_like_an_id(read, name):
    assert read({name: ["7", "7", "12", "40"]}).names == (name,)


def test_an_id_that_is_no_whole_number_is_a_measurement(read):
    assert read({"id": ["7.5", "7", "12", "40"]}).names == ("id",)


def test_few_rows_are_not_numbered(read):
    assert read({"x": [str(i) for i in range(9)]}).names == ("x",)


def test_missing_numbers_are_counted_and_placed(read):
    table = read({"a": ["1", "2", "", "3"], "b": ["1", "NA", "?", "4"], "c": ["5", "6", "7", "9"]})
    np.testing.assert_array_equal(table.n_missing, [1, 2, 0])
    assert table.first_missing == Place(1, 3, "b")
    np.testing.assert_array_equal(np.isnan(table.X), [[0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]])
    assert table.X.dtype == np.float64
    assert table.fingerprint.startswith("sha256:")


def test_reader_finds_nothing_missing_where_nothing_is(read):
    assert read({"a": GOOD}).first_missing is None


def test_columns_can_be_chosen(read):
    table = read({"a": GOOD, "b": ["5"] * 20, "c": GOOD[::-1]}, columns=["c", "b"])
    assert (table.names, table.left_out) == (("c", "b"), ())
    np.testing.assert_array_equal(table.X[0], [361, 5])


def test_text_in_a_chosen_column_is_an_error(read):
    with pytest.raises(TableError) as caught:
        read({"a": GOOD, "b": [*GOOD[:18], "x", "y"]}, columns=["a", "b"])
    assert "'x' is not a number" in str(caught.value)
    assert (caught.value.line, caught.value.column) == (20, "b")


@pytest.mark.parametrize(
    ("lines", "decimal", "reason"),
    [
        ("a;b\n1,5;2\n3,25;4\n", ".", r"decimal comma \(first '1,5' in line 2\)"),
        ("a;b\n1.5;2\n3.25;4\n", ",", r"decimal point \(first '1.5' in line 2\)"),
    ],
    ids=["commas", "points"],
)
def test_decimal_marks_other_than_said_are_recognised(tmp_path, lines, decimal, reason):
    path = tmp_path / "rows.csv"
    path.write_text(lines)
    with open_table(path, decimal=decimal) as table:
        rows = read_rows(table)
        assert (rows.left_out[0].name, rows.n_with_digits) == ("a", 1)
        assert re.search(reason, rows.left_out[0].reason)
        with pytest.raises(TableError) as caught:
            read_rows(table, columns=["a"])
    assert (caught.value.line, caught.value.column) == (2, "a")


def test_reader_refuses_a_chosen_column_without_a_value(read):
    with pytest.raises(TableError, match="column 'b': all values are missing"):
        read({"a": GOOD, "b": [""] * 20}, columns=["b"])


def test_columns_can_be_ignored(read):
    table = read({"a": GOOD, "b": GOOD, "c": ["x"] * 20}, ignore=["a"])
    assert table.names == ("b",)
    assert table.left_out[-1] == LeftOut("a", "you asked to ignore it")
    assert read({"a": GOOD, "b": GOOD}, columns=["b", "a"], ignore=["b"]).names == ("a",)


def test_infinity_in_a_column_of_text_is_text(read):
    assert read({"a": GOOD, "b": ["inf", "red"] * 10}).names == ("a",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["a", "a"]}, "column 'a' was chosen twice"),
        ({"columns": []}, "no column was chosen"),
        ({"ignore": ["a", "b"]}, "no column was chosen"),
        ({"columns": ["A"]}, r"no column 'A'\. Did you mean 'a'\?"),
        ({"ignore": ["bb"]}, r"no column 'bb'\. Did you mean 'b'\?"),
    ],
)
def test_columns_that_cannot_be_chosen_are_named(read, options, message):
    with pytest.raises(TableError, match=message):
        read({"a": GOOD, "b": GOOD}, **options)


def test_columns_are_judged_over_all_blocks(tmp_path):
    # The second of two blocks has a text, a second value, a gap, and the end of a numbering.
    n = 2**17
    path = tmp_path / "rows.csv"
    values = np.arange(n)
    late = values < n - 1
    with open(path, "w") as file:
        file.write("id,almost,constant,gap,x\n")
        for i in range(n):
            row = [
                i,
                i if late[i] else "oops",
                3 if late[i] else 4,
                i * i if late[i] else "",
                i * i,
            ]
            file.write(",".join(map(str, row)) + "\n")
    with open_table(path) as table:
        assert len(list(table.blocks())) > 1
        result = read_rows(table)
    assert result.names == ("constant", "gap", "x")
    np.testing.assert_array_equal(result.X[:, 2], values**2)
    np.testing.assert_array_equal(result.n_missing, [0, 1, 0])
    assert result.first_missing == Place(n - 1, n + 1, "gap")
    assert dict(result.left_out) == {
        "id": f"an identifier: it numbers the rows from 0 to {n - 1}",
        "almost": f"1 of {n:,} cells are not numbers (first 'oops' in line {n + 1}): correct them "
        "or leave them empty to use it",
    }


def test_a_single_row_has_nothing_to_be_compared_with(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,b\n1,2\n")
    with open_table(path) as table, pytest.raises(TableError, match="has only one row"):
        read_rows(table)


MIXED = {
    "mass": GOOD,
    "city": ["Bonn", "Ulm", "", " NA "] * 5,
    "open": ["true", "false"] * 10,
    "day": ["2024-01-31", "2024-02-01"] * 10,
    "typo": [*GOOD[:-1], "12o"],
    "size": ["small", "large", "", "medium"] * 5,
}
SIZES = ("small", "medium", "large")


def test_text_becomes_categories_when_asked(read):
    found = read(MIXED, categorical="auto", ordered={"size": SIZES})
    assert found.names == ("mass", "size")
    assert [column.name for column in found.categories] == ["city", "open"]
    assert {column.name for column in found.left_out} == {"day", "typo"}
    city = found.categories[0]
    assert city.values == ("Bonn", "Ulm")
    assert city.codes[:4].tolist() == [0, 1, -1, -1]
    assert (city.n_missing, city.first_missing) == (10, Place(2, 4, "city"))
    np.testing.assert_array_equal(found.X[:4, 1], [0, 2, np.nan, 1])


def test_named_columns_are_categories_whatever_they_hold(read):
    found = read(MIXED, columns=["mass"], categorical=["typo", "day"])
    assert found.names == ("mass",)
    assert [column.name for column in found.categories] == ["typo", "day"]


def test_chosen_columns_of_text_are_categories_with_auto(read):
    found = read(MIXED, columns=["mass", "open"], categorical="auto")
    assert (found.names, [c.name for c in found.categories]) == (("mass",), ["open"])
    with pytest.raises(TableError, match="'2024-01-31' is not a number"):
        read(MIXED, columns=["mass", "day"], categorical="auto")


def test_a_table_of_categories_only_has_no_numbers(read):
    found = read({name: MIXED[name] for name in ("city", "open")}, categorical="auto")
    assert found.X.shape == (N_ROWS, 0)
    assert found.names == ()


def test_a_category_without_rank_is_an_error_with_its_place(read):
    with pytest.raises(TableError, match="line 3, column 'size': 'large' is not one of") as caught:
        read(MIXED, ordered={"size": SIZES[:2]})
    assert (caught.value.line, caught.value.column) == (3, "size")
