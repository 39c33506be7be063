"""Rows written with columns appended read back as they were."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from typicality.exceptions import TableError
from typicality.tables import append_columns, free_names, open_table, write_table


def written(path, extra, **options):
    stream = io.StringIO()
    with open_table(path, **options) as table:
        write_table(stream, table, extra)
    return stream.getvalue()


def test_cells_stay_as_they_were(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('id, name ,x\n001,"Anna, B.",1.50\n2,,NA\n"""3""", c ,1e3\n')
    assert written(path, {"label": [0, None, -1], "typicality": np.array([0.1, np.nan, 1.0])}) == (
        'id,name,x,label,typicality\n001,"Anna, B.",1.50,0,0.1\n2,,NA,,\n"""3""", c ,1e3,-1,1.0\n'
    )


def test_other_delimiters_become_commas(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a;b\r\n1,5;x\r\n\r\n2;y")
    assert written(path, {"label": [1, 2]}) == 'a,b,label\n"1,5",x,1\n2,y,2\n'


def test_an_empty_label_is_an_empty_cell(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a\n""\n1\n')
    label = np.ma.array([7, 8], mask=[True, False])
    assert written(path, {"label": label}) == 'a,label\n"",\n1,8\n'
    assert written(path, {}) == 'a\n""\n1\n'


def test_numbers_keep_their_precision(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n2\n")
    values = np.array([0.1, 1 / 3])
    lines = written(path, {"single": values.astype(np.float32), "double": values}).splitlines()
    assert lines[1:] == ["1,0.1,0.1", "2,0.33333334,0.3333333333333333"]


def test_text_may_be_appended(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n")
    assert written(path, {"why": ['far, "very"\nfar']}) == 'a,why\n1,"far, ""very""\nfar"\n'


def test_taken_names_get_a_suffix(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,x\n1,2\n")
    assert written(path, {"label": [0]}) == "label,x,label_new\n1,2,0\n"
    assert free_names(["a", "a_new"], ["a", "b", "a"]) == [
        "a_new_2",
        "b",
        "a_new_3",
    ]


def test_writer_refuses_columns_of_other_lengths(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n2\n")
    with pytest.raises(TableError, match="has 2 rows, but column 'label' has 3 entries"):
        written(path, {"label": [1, 2, 3]})
    with open_table(path) as table, pytest.raises(ValueError, match="1 entries for 2 rows"):
        append_columns(io.StringIO(), next(table.blocks()), {"label": [1]}, header=True)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@given(
    rows=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5),
    delimiter=st.sampled_from(",;\t|"),
)
def test_written_cells_are_read_back(tmp_path_factory, rows, delimiter):
    path = tmp_path_factory.mktemp("cells") / "rows.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([("a", "b"), *[row[:2] for row in rows]])
    text = written(path, {"new": [row[2] for row in rows]}, delimiter=delimiter)
    again = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert again == [["a", "b", "new"], *map(list, rows)]
