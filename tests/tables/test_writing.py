"""Rows written with columns appended read back as they were."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from typicality.tables import base, csv_text, free_names, masked_columns, open_table
from typicality.tables.writing import _number_texts


def written(path, extra, **options):
    parts = []
    with open_table(path, **options) as table:
        for block in table.blocks():
            rows = slice(block.first_row, block.first_row + block.n_rows)
            some = {name: values[rows] for name, values in extra.items()}
            parts.append(csv_text(block, some, header=block.first_row == 0))
    return b"".join(parts).decode()


def test_cells_stay_as_they_were(tmp_path):
    path = tmp_path / "rows.csv"
    label = np.ma.array([0, 7, -1], mask=[False, True, False])
    path.write_text('id, name ,x\n001,"Anna, B.",1.50\n2,,NA\n"""3""", c ,1e3\n')
    assert written(path, {"label": label, "typicality": np.array([0.1, np.nan, 1.0])}) == (
        'id,name,x,label,typicality\n001,"Anna, B.",1.50,0,0.1\n2,,NA,,\n"""3""", c ,1e3,-1,1\n'
    )


def test_an_empty_label_is_an_empty_cell(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a\n""\n1\n')
    label = np.ma.array([7, 8], mask=[True, False])
    assert written(path, {"label": label}) == 'a,label\n"",\n1,8\n'
    assert written(path, {}) == 'a\n""\n1\n'


NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e-4, 1e-5, 0.5e-9, 1e8, 123456789.4, 1e9, 1e22, 1e300]
NUMBERS += [9.9999999996e-6, 9.9999999996e-5, 1e-14, 9.99e-15, 1.5e-10, 3.25e-14, 5e-324, np.inf]
NUMBERS += [0.1234567895, 0.12345678949999999, 0.99999999999, 9.9999999995, -np.inf]
SMALL = st.builds(lambda m, e: m * 10.0**-e, st.floats(0.9, 11), st.integers(3, 16))


@given(st.lists(st.floats(allow_nan=False) | st.floats(0, 1) | SMALL, min_size=1))
@example(NUMBERS)
def test_new_numbers_have_nine_digits(values):
    texts = _number_texts(np.array(values)).to_pylist()
    found = [float(text) for text in texts]
    np.testing.assert_allclose(found, values, rtol=1e-8)
    assert found == [float(f"{value:.9g}") for value in found]


def test_new_numbers_are_empty_where_masked_or_not_a_number():
    values = np.ma.array([0.5, np.nan, 2.0], mask=[False, False, True])
    assert _number_texts(values).to_pylist() == [b"0.5", None, None]
    assert _number_texts(np.float32([0.1])).to_pylist() == [b"0.100000001"]
    assert _number_texts(np.array([3, -1], np.int8)).to_pylist() == [b"3", b"-1"]


def test_taken_names_get_a_suffix(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,x\n1,2\n")
    assert written(path, {"label": np.array([0])}) == "label,x,label_new\n1,2,0\n"
    assert free_names(["a", "a_new"], ["a", "b", "a"]) == ["a_new_2", "b", "a_new_3"]


def test_writer_refuses_columns_of_other_lengths(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n2\n")
    with open_table(path) as table, pytest.raises(ValueError, match="1 entries for 2 rows"):
        csv_text(next(table.blocks()), {"label": np.ones(1)}, header=True)


@pytest.mark.parametrize("size", [4, 2**21])
def test_columns_of_the_rows_used_land_on_these_rows(tmp_path, monkeypatch, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    path = tmp_path / "rows.csv"
    path.write_text("a\n" + "".join(f"{i}\n" for i in range(6)))
    used = np.array([False, True, True, False, True, False])
    columns = masked_columns({"label": np.array([7, 8, 9])}, used)
    assert written(path, columns) == "a,label\n0,\n1,7\n2,8\n3,\n4,9\n5,\n"
