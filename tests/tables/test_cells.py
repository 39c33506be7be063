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
from typicality.tables.cells import (
    decimal_mark,
    is_mostly_digits,
    unmarked,
    with_decimal_points,
)

CELLS = [
    *sorted(MISSING),
    *[" 1", "2 ", "+3", "-4", ".5", "6.", "7e1", "8E-1", "1_0", "0x1", "1d5", "1,5", "1;5", "a"],
    *['5" pipe', '"6"', ' "7"', "'8'", "#9", "9#", "1e400", "inf", "-Infinity", "nan ", "1 2"],
    *["0.1", "0.30000000000000004", "9007199254740993", "\t5", "5\t", "\u00a05", "½", "٣"],
    *["-nan", "+NAN", "\x1c7", "7\x1f", "\x1cNA", "\u20037", '""', 'a""b', '"c" "d"'],
]
PARTS = ["", " ", "\t", "_", "x", *"+-.eE01", "25", "007", "inf", "nan", "NA"]
ANY_CELL = (
    st.sampled_from(CELLS)
    | st.lists(st.sampled_from(PARTS), max_size=5).map("".join)
    | st.floats().map(repr)
)


@given(rows=st.lists(st.tuples(ANY_CELL, ANY_CELL, ANY_CELL), min_size=1, max_size=5))
@example(rows=[("1", "2", "3"), ("4", "", "NA")])
@example(rows=[('5" pipe', "2", "3"), ('"6"', "5", "6")])
@example(rows=[("1", "nan(x)", "-nan"), ("2", "3", "4")])
@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_cells_are_read_as_the_reference_reads_them(tmp_path_factory, rows, delimiter, quoting):
    path = tmp_path_factory.mktemp("cells") / "rows.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerows([("a", "b", "c"), *rows])
    with open_table(path, delimiter=delimiter, decimal=".", header=True) as table:
        (block,) = table.blocks()
        for names in ("abc", "b", "ca"):
            for name, (numbers, strangers) in zip(names, block.parse(names), strict=True):
                expected = list(map(reference.number, block.cells(name)))
                assert strangers.tolist() == [i for i, x in enumerate(expected) if x is None]
                np.testing.assert_array_equal(numbers, np.array(expected, dtype=float))


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1,5", "2"], ","),
        (["1.234,5", "2"], ","),
        (["1,234", "5,678"], ",?"),
        (["1,234", "5,6"], ","),
        (["1.234", "945", "NA"], ".?"),
        (["1.234", "0.5"], "."),
        (["1.234.567", "1.234"], ","),
        (["1.234.567", "1.5"], ""),
        (["0.123"], "."),
        (["1,5", "red"], ""),
        (["1.2.3", "red"], ""),
        (["400"] * 60 + ["see a, b"], ""),
    ],
)
def test_decimal_mark_is_found(cells, mark):
    assert decimal_mark(cells) == mark


@pytest.mark.parametrize(
    ("cell", "decimal", "expected"),
    [
        ("$7,440", ".", (7440, "$")),
        ("-€ 1.5", ".", (-1.5, "€")),
        ("1'234 £", ".", (1234, "£")),
        ("1\u202f234,5", ",", (1234.5, "")),
        ("60 %", ",", (60, "%")),
        ("$5%", ".", None),
        ("1,23", ".", None),
        ("12 kg", ".", None),
        ("1,2345", ".", None),
        ("2024-01-31", ".", None),
    ],
)
def test_signs_are_taken_off(cell, decimal, expected):
    assert unmarked(cell, decimal) == expected


def test_words_for_missing_are_documented():
    documented = set(tables.__doc__.replace(",", " ").replace(";", " ").split())
    assert MISSING - {""} <= documented


@pytest.mark.parametrize(
    ("cell", "expected"), [("12 ab", True), ("12 abc", False), ("", False), ("2024-05-01", False)]
)
def test_cells_of_digits_are_told_from_words_and_dates(cell, expected):
    assert is_mostly_digits(cell) == expected


@pytest.mark.parametrize(
    ("decimal", "cells", "expected"),
    [
        (
            ",",
            [
                "1.234,50",
                "-3.504",
                "18,0",
                " +7 ",
                "1,5e-3",
                ",5",
                "12345",
                "-",
                ".",
                "NA",
                "",
                None,
            ],
            ["1234.50", "-3504", "18.0", "+7", "1.5e-3", ".5", "12345", "-", ".", "NA", "", None],
        ),
        (
            ".",
            ["1,234.50", "- 3'504", "1\u00a0000\u202f000", "18.0", "?", " "],
            ["1234.50", "-3504", "1000000", "18.0", "?", " "],
        ),
    ],
)
def test_numbers_get_decimal_points(decimal, cells, expected):
    assert with_decimal_points(pa.array(cells, pa.string()), decimal).to_pylist() == expected
