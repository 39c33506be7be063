"""Cells are numbers, missing or text exactly as the slow reference says."""

import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference import cells as reference
from typicality import tables
from typicality.tables import MISSING, open_table
from typicality.tables.cells import csv_rows_of, is_number, look_of, parse_texts

CELLS = [
    *sorted(MISSING),
    *[" 1", "2 ", "+3", "-4", ".5", "6.", "7e1", "8E-1", "1_0", "0x1", "1d5", "1,5", "1;5", "a"],
    *['5" pipe', '"6"', ' "7"', "'8'", "#9", "9#", "1e400", "inf", "-Infinity", "nan ", "1 2"],
    *["0.1", "0.30000000000000004", "9007199254740993", "\t5", "5\t", "\u00a05", "½", "٣"],
    *["-nan", "+NAN", "\x1c7", "7\x1f", "\x1cNA", "\u20037", '""', 'a""b', '"c" "d"'],
]


PARTS = [
    "",
    " ",
    "\t",
    "+",
    "-",
    ".",
    "e",
    "E",
    "_",
    "0",
    "1",
    "25",
    "007",
    "inf",
    "nan",
    "NA",
    "x",
]
ANY_CELL = st.sampled_from(CELLS) | st.lists(st.sampled_from(PARTS), max_size=5).map("".join)


@given(rows=st.lists(st.tuples(ANY_CELL, ANY_CELL, ANY_CELL), min_size=1, max_size=5))
@example(rows=[("1", "2", "3"), ("4", "", "NA")])
@example(rows=[('5" pipe', "2", "3"), ('"6"', "5", "6")])
@example(rows=[("1", "nan(x)", "-nan"), ("2", "3", "4")])
@pytest.mark.parametrize("delimiter", [",", ";", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_cells_are_read_as_the_reference_reads_them(tmp_path_factory, rows, delimiter, quoting):
    path = tmp_path_factory.mktemp("cells") / "rows.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerows([("a", "b", "c"), *rows])
    with open_table(path, delimiter=delimiter, decimal=".") as table:
        (block,) = table.blocks()
        for names in ("abc", "b", "ca"):
            for name, (numbers, strangers) in zip(names, block.parse(names), strict=True):
                expected = list(map(reference.number, block.cells(name)))
                assert strangers.tolist() == [i for i, x in enumerate(expected) if x is None]
                np.testing.assert_array_equal(numbers, np.array(expected, dtype=float))


def test_numbers_are_those_of_python(tmp_path):
    cells = [repr(value) for value in np.random.default_rng(0).normal(size=500).tolist()]
    (tmp_path / "rows.csv").write_text("\n".join(["a", *cells]))
    with open_table(tmp_path / "rows.csv") as table:
        ((numbers, strangers),) = next(table.blocks()).parse(["a"])
    np.testing.assert_array_equal(numbers, [float(cell) for cell in cells])
    assert len(strangers) == 0


def test_strangers_are_found_one_by_one():
    numbers, strangers = parse_texts(pa.array(["1", "x", "NA", "1_000", "", "2"]))
    np.testing.assert_array_equal(numbers, [1, np.nan, np.nan, np.nan, np.nan, 2])
    np.testing.assert_array_equal(strangers, [1, 3])


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("1", True), ("inf", True), ("nan", False), ("", False), ("x", False), ("1_0", False)],
)
def test_cell_is_a_number_or_not(cell, expected):
    assert is_number(cell) is expected


@pytest.mark.parametrize(
    ("cells", "look"),
    [
        (["true", "False"], "true or false"),
        (["2024-01-02", "12:30"], "dates or times"),
        (["1,5", "-2,25e3"], "numbers with a decimal comma"),
        (["1,234", "-12,345,678.9"], "numbers with commas between thousands"),
        (["1,234", "1,5"], "numbers with a decimal comma"),
        (["0,173", "0,250"], "numbers with a decimal comma"),
        (["1,5", "x"], "text"),
        (["1.2.3"], "text"),
        (["yes"], "text"),
    ],
)
def test_cell_looks_like_what_it_is(cells, look):
    assert look_of(cells) == look


def test_lines_of_csv_have_quotation_marks_where_needed():
    columns = [["a", "f\ng", ""], ["b,c", "h\ri", ""], ['d"e', "", ""]]
    lines = [b'\na,"b,c","d""e"', b'\n"f\ng","h\ri",', b"\n,,"]
    assert csv_rows_of([pa.array(column) for column in columns]).to_pylist() == lines
    assert csv_rows_of([pa.array(["", "a"])]).to_pylist() == [b'\n""', b"\na"]


def test_words_for_missing_are_documented():
    documented = set(tables.__doc__.replace(",", " ").replace(";", " ").split())
    assert MISSING - {""} <= documented
