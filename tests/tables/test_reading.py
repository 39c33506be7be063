"""Which columns are numbers to work with, and what is said of the others."""

import numpy as np
import pandas as pd
import pytest

from typicality.exceptions import TableError
from typicality.tables import LeftOut, base, columns, open_table, read_rows


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
    "infinity and text": (["inf", "red"] * 10, "text"),
    "signs": (["$5", "€6"] * 10, "numbers have different currency or percent signs ('$', '€')"),
    "percent and none": (
        ["5%", "6"] * 10,
        "numbers have different currency or percent signs (none, ",
    ),
    "dates": (["2024-01-31", "31.1.2024", "1/2/24", "2024-01-31T12:00:00Z"] * 5, "dates or times"),
    "times": (["12:30", "1:05:07.5", "3:15 pm", "00:00:00"] * 5, "dates or times"),
    "almost": ([*GOOD[:19], "n/k"], "1 of 20 cells are not numbers (first 'n/k' in line 21)"),
    "not almost": ([*GOOD[:18], "n/k", "n/k"], "text (first 'n/k' in line 20)"),
    "missing": (["", "NA"] * 10, "all values are missing"),
    "constant": (["2.50", ""] * 10, "constant (always 2.5)"),
    "identifier": ([str(i) for i in range(5, 25)], "an identifier: it numbers the rows from 5"),
    "shuffled identifier": ([str(7 * i % 20) for i in range(20)], "an identifier"),
    "falling identifier": ([f"{i}.0" for i in range(20, 0, -1)], "an identifier"),
}


@pytest.mark.parametrize(("column", "reason"), REASONS.values(), ids=REASONS)
def test_reader_leaves_columns_out_and_says_why(read, column, reason):
    table = read({"good": GOOD, "bad": column})
    assert table.names == ("good",)
    assert table.left_out[0].name == "bad"
    assert table.left_out[0].reason.startswith(reason)


HONEST = {
    "even numbers": [str(2 * i) for i in range(N_ROWS)],
    "a range with a gap and a copy": ["0", "0", *[str(i) for i in range(2, 20)]],
    "halves": [str(i + 0.5) for i in range(N_ROWS)],
    "one missing": ["", *[str(i) for i in range(1, 20)]],
}


@pytest.mark.parametrize("column", HONEST.values(), ids=HONEST)
def test_honest_measurements_are_no_identifiers(read, column):
    assert read({"x": column, "y": GOOD}).names == ("x", "y")


@pytest.mark.parametrize("name", ["ID", "user_id", "userId", "order-id", "paid", "grid", "width"])
def test_whole_numbers_called_an_id_are_left_out(read, name):
    found = read({name: ["7", "7", "12", "40"], "x": ["1", "2", "3", "5"]}).names
    assert found == ((name, "x") if name in ("paid", "grid", "width") else ("x",))


def test_missing_numbers_are_counted_and_placed(read):
    table = read({"a": ["1", "2", "", "3"], "b": ["1", "NA", "?", "4"], "c": ["5", "6", "7", "9"]})
    np.testing.assert_array_equal(table.n_missing, [1, 2, 0])
    assert table.first_missing == "line 3"
    np.testing.assert_array_equal(np.isnan(table.X), [[0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]])
    assert table.X.dtype == np.float64
    assert table.fingerprint.startswith("sha256:")


def test_columns_can_be_chosen(read):
    table = read({"a": GOOD, "b": ["5"] * 20, "c": GOOD[::-1]}, columns=["c", "b"])
    assert (table.names, table.left_out) == (("c", "b"), ())
    np.testing.assert_array_equal(table.X[0], [361, 5])


def test_columns_can_be_ignored(read):
    table = read({"a": GOOD, "b": GOOD, "c": ["x"] * 20}, ignore=["a"])
    assert table.names == ("b",)
    assert table.left_out[-1] == LeftOut("a", "you asked to ignore it")
    assert read({"a": GOOD, "b": GOOD}, columns=["b", "a"], ignore=["b"]).names == ("a",)


def test_columns_are_judged_over_all_blocks(tmp_path, monkeypatch):
    # The last block has a text, a second value, a gap, and the end of a numbering.
    n = 3000
    monkeypatch.setattr(base, "BLOCK_BYTES", 2**12)
    lines = [f"{i},{i},3,{i * i},{i * i}" for i in range(n - 1)]
    lines.append(f"{n - 1},oops,4,,{(n - 1) ** 2}")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["id,almost,constant,gap,x", *lines]))
    with open_table(path) as table:
        assert len(list(table.blocks())) > 5
        result = read_rows(table)
    assert result.names == ("constant", "gap", "x")
    np.testing.assert_array_equal(result.X[:, 2], np.arange(n) ** 2)
    np.testing.assert_array_equal(result.n_missing, [0, 1, 0])
    assert result.first_missing == f"line {n + 1}"
    reasons = {column.name: column.reason for column in result.left_out}
    assert reasons["id"] == f"an identifier: it numbers the rows from 0 to {n - 1}"
    assert reasons["almost"].startswith(f"1 of {n:,} cells are not numbers (first 'oops' in line")


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
    assert [*found.categories] == ["city", "open"]
    assert {column.name for column in found.left_out} == {"day", "typo"}
    assert found.categories["city"][:4] == ["Bonn", "Ulm", "", ""]
    assert (found.missing_by_column["city"], found.first_missing) == (10, "line 4")
    np.testing.assert_array_equal(found.X[:4, 1], [0, 2, np.nan, 1])


def test_chosen_columns_of_text_are_categories_with_auto(read):
    found = read(MIXED, columns=["mass", "open"], categorical="auto")
    assert (found.names, [*found.categories]) == (("mass",), ["open"])
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


def test_columns_are_judged_without_holding_numbers(read):
    numbered = np.random.default_rng(0).permutation(500)
    lines = [(str(i), str(i % 7), str(i / 8), "text") for i in numbered]
    given = dict(zip(["number", "week", "size", "word"], zip(*lines, strict=True), strict=True))
    held, judged = read(given), read(given, hold=False)
    assert judged.X.shape == (0, 2)
    assert judged._replace(X=held.X, n_missing=None) == held._replace(n_missing=None)
    assert "it numbers the rows from 0 to 499" in held.left_out[0].reason


def test_large_table_is_refused_after_the_first_blocks(read, monkeypatch):
    monkeypatch.setattr(columns, "MOST_NUMBERS", 100_000)
    monkeypatch.setattr(base, "BLOCK_BYTES", 2**17)
    given = {f"c{j}": [f"{j % 7}", *(str(i) for i in range(800))] for j in range(1000)}
    with pytest.raises(TableError, match="too large"):
        read(given)
    assert read(given, columns=["c0", "c9"]).X.shape == (801, 2)


N = 300
RNG = np.random.default_rng(0)
MEASURED = {"length": RNG.normal(size=N).round(3), "width": RNG.normal(size=N).round(3)}
COUNTED = np.arange(N) % 120
# A column, its numbers, and what is said of it; beside two measurements.
LEFT_OUT = {
    "Sample Number": (1 + COUNTED, "a counter: whole numbers from 1 up"),
    "column": (np.r_[500:700, 10:110], "a counter: whole numbers from 10 up"),
    "Postal Code": (RNG.integers(10_000, 99_999, N), "whole numbers in a column called code"),
    "county": ([f"{i % 90:03}" for i in range(N)], "codes with zeros in front"),
    "zip": (RNG.integers(1, 9, N), "whole numbers in a column called zip"),
    "unitid": (RNG.integers(100_000, 200_000, N), "whole numbers in a column called unitid"),
    "serial_no": (RNG.permutation(10 * N)[:N], "whole numbers in a column called no"),
    "pidnum": (RNG.permutation(10 * N)[:N], "whole numbers in a column called pidnum"),
    "dcode": (RNG.integers(1, 9, N), "whole numbers in a column called dcode"),
    "state": (RNG.integers(1, 51, N), "whole numbers in a column called state"),
    "date": (20260300 + RNG.integers(1, 31, N), "dates from 20260301 to 20260330"),
    "time": (202600 + RNG.integers(1, 13, N), "dates from 202601 to 202612"),
    "Year": (RNG.integers(2006, 2011, N), "years from 2006 to 2010"),
    "target": (RNG.integers(0, 2, N), "a class with 2 values"),
    "class": (RNG.integers(1, 4, N), "a class with 3 values"),
    "is anomaly": (RNG.integers(0, 2, N), "a class with 2 values"),
    "label": (2 * RNG.integers(0, 2, N) - 1, "a class with 2 values"),
    "y": (RNG.integers(0, 2, N), "a class with 2 values"),
}
DOUBTED = {
    "year_built": (RNG.integers(1880, 2011, N), "years from "),
    "weight": (RNG.integers(1950, 2040, N), "years from "),
    "group": (RNG.integers(3, 40, N), "a class with "),
    "x": (COUNTED, "a counter"),
    "age": (COUNTED, "a counter"),
    "experience": (np.arange(N) % 10 + np.arange(N) // 10, "a counter"),
    "year": (RNG.integers(70, 83, N), "years from 70 to 82"),
    "y": (RNG.integers(0, 9, N), "a class with 9 values"),
    "Number": (RNG.integers(0, 200, N), "whole numbers in a column called number"),
    "patient": (RNG.integers(0, 200, N), "whole numbers in a column called patient"),
}
USED = {
    "age": RNG.integers(20, 90, N),
    "amount paid": RNG.integers(100, 9000, N),
    "uric acid": RNG.integers(100, 9000, N),
    "survived": RNG.integers(0, 2, N),
    "years of education": RNG.integers(8, 21, N),
    "rooms": RNG.integers(1, 9, N),
    "y81": RNG.integers(0, 2, N),
    "price": 100 * RNG.integers(1900, 2100, N),
    "amount": [f"${i % 50}" for i in range(N)],
}


def read_with(tmp_path, values, **options):
    path = tmp_path / "rows.csv"
    pd.DataFrame(values).to_csv(path, index=False)
    with open_table(path) as table:
        return read_rows(table, **options)


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("name", LEFT_OUT)
def test_columns_that_are_no_measurements_are_left_out_unless_chosen(tmp_path, name, hold):
    values, reason = LEFT_OUT[name]
    rows = read_with(tmp_path, {name: values, **MEASURED}, hold=hold)
    assert (rows.names, rows.doubts) == (("length", "width"), {})
    assert [(c.name, c.what) for c in rows.left_out] == [(name, reason)]
    assert rows.left_out[0].remedy.parameter == "columns"
    rows = read_with(tmp_path, {name: values, **MEASURED}, columns=[name, "length"], hold=hold)
    assert (rows.names, rows.left_out, rows.doubts) == ((name, "length"), (), {})


@pytest.mark.parametrize("name", LEFT_OUT)
def test_they_are_used_and_named_where_too_few_columns_would_remain(tmp_path, name):
    values, reason = LEFT_OUT[name]
    rows = read_with(tmp_path, {name: values, "length": MEASURED["length"]})
    assert (rows.names, rows.doubts) == ((name, "length"), {name: reason})
    assert read_with(tmp_path, {name: values}).doubts == {name: reason}


@pytest.mark.parametrize("name", DOUBTED)
def test_columns_that_may_be_measurements_are_used_and_named(tmp_path, name):
    values, reason = DOUBTED[name]
    rows = read_with(tmp_path, {name: values, **MEASURED})
    assert rows.names == (name, "length", "width")
    assert rows.doubts[name].startswith(reason)


@pytest.mark.parametrize("place", ["column 1", "column 3"])
def test_numbers_like_classes_are_left_out_at_the_ends_of_a_file_without_names(tmp_path, place):
    classes = (pd.Series(COUNTED) % 3).rename("class")
    columns = [classes, *map(pd.Series, MEASURED.values())]
    path = tmp_path / "rows.csv"
    order = columns if place == "column 1" else columns[::-1]
    pd.concat(order, axis=1).to_csv(path, index=False, header=False)
    with open_table(path) as table:
        rows = read_rows(table)
    what = "whole numbers like those of classes, in the first or last column"
    assert [(c.name, c.what) for c in rows.left_out] == [(place, what)]
    assert len(rows.names) == 2


def test_answers_from_one_to_five_are_no_classes(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(RNG.integers(1, 6, (N, 4))).to_csv(path, index=False, header=False)
    with open_table(path) as table:
        assert read_rows(table).names == tuple(f"column {j}" for j in range(1, 5))


@pytest.mark.parametrize("name", USED)
def test_whole_numbers_that_are_measurements_are_used_without_a_question(tmp_path, name):
    rows = read_with(tmp_path, {name: USED[name], **MEASURED})
    assert (rows.names, rows.doubts) == ((name, "length", "width"), {})
