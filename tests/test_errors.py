"""Errors carry fields; words are made of them at the edge."""

import pickle

from typicality.exceptions import Remedy, TableError

REMEDY = Remedy("decimal", ",", "For decimal commas, use {}.")
ERROR = TableError(
    "'1,5' is not a number.", source="rows.csv", line=3, column="a\x1b", remedy=REMEDY
)


def as_option(parameter, value):
    return f"--{parameter} {value}"


def test_table_error_names_its_place_and_the_parameter_as_it_is_asked_to():
    place = r"rows.csv, line 3, column 'a\x1b': '1,5' is not a number."
    assert str(ERROR) == f"{place} For decimal commas, use decimal=','."
    assert ERROR.sentence(as_option) == f"{place} For decimal commas, use --decimal ,."
    assert str(TableError("is empty", source="f", row=2)) == "f, row 2 counted from 0: is empty"
    assert str(TableError("No file\n.", line=3)) == r"No file\n."


def test_table_error_keeps_its_fields_on_the_way_to_another_process():
    again = pickle.loads(pickle.dumps(ERROR))
    assert str(again) == str(ERROR)
    assert (again.line, again.column, again.remedy) == (3, "a\x1b", REMEDY)
