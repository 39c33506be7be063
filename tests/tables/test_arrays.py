"""Arrays of NumPy as tables."""

import io

import numpy as np
import pytest

from typicality.exceptions import TableError
from typicality.tables import Place, base, open_table, read_rows, rows_of, write_table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.uint64, bool, ">f8", "g"])
def test_array_of_any_kind_of_number_is_read(monkeypatch, dtype, order):
    values = np.asarray([[0, 1], [1, 0], [1, 1]], dtype=dtype, order=order)
    np.save("rows.npy", values)
    with open_table("rows.npy") as table:
        rows = read_rows(table)
        monkeypatch.setattr(base, "BLOCK_BYTES", 32)  # two rows
        blocks = [rows_of(block, ["x2"]) for block in table.blocks()]
    assert len(blocks) == 2
    assert rows.names == ("x1", "x2")
    np.testing.assert_array_equal(rows.X, values)
    np.testing.assert_array_equal(np.concatenate(blocks)[:, 0], values[:, 1])


def test_one_dimension_is_one_column():
    np.save("rows.npy", [3.0, 1.0, np.nan])
    with open_table("rows.npy") as table:
        rows = read_rows(table)
    assert rows.X.shape == (3, 1)
    assert rows.first_missing == Place(2, None, "x1")


NO_TABLES = {
    "complex": (np.zeros((2, 2), complex), "not numeric"),
    "text": (np.array([["a", "b"]]), "not numeric"),
    "records": (np.zeros(3, [("a", float)]), "not numeric"),
    "cube": (np.zeros((2, 2, 2)), "shape"),
    "number": (np.array(3.0), "shape"),
    "no columns": (np.zeros((2, 0)), "shape"),
    "no rows": (np.zeros((0, 2)), "no rows"),
    "objects": (np.array([{}, {}]), "objects"),
    "infinity": (np.array([[1.0, 2.0], [np.inf, 3.0]]), "row 1 counted from 0, column 'x1'"),
}


@pytest.mark.parametrize(("array", "word"), NO_TABLES.values(), ids=NO_TABLES)
def test_array_that_is_no_table_is_refused(array, word):
    np.save("rows.npy", array, allow_pickle=True)
    with pytest.raises(TableError, match=word), open_table("rows.npy") as table:
        read_rows(table)


def with_header(header):
    length = len(header).to_bytes(2, "little")
    return b"\x93NUMPY\x01\x00" + length + header.encode() + bytes(64)


def test_broken_array_file_is_refused(folder):
    np.save("rows.npy", np.eye(9))
    start = "{'descr': '<f8', 'fortran_order': False, 'shape': "
    for contents in (
        (folder / "rows.npy").read_bytes()[:-60],
        b"a,b\n1,2\n",
        with_header(f"{start}({2**62}, {2**62})}}"),
        with_header(f"{start}(True, 2)}}"),
        with_header("{'descr': (((("),
    ):
        (folder / "broken.npy").write_bytes(contents)
        with pytest.raises(TableError, match="in npy format"):
            open_table("broken.npy")


def test_array_is_written_as_csv():
    np.save("rows.npy", np.array([[0.1, 2], [np.nan, 1e300]], dtype=np.float64))
    stream = io.BytesIO()
    with open_table("rows.npy") as table:
        write_table(stream, table, {"label": np.array([0, 1])})
    assert stream.getvalue() == b"x1,x2,label\n0.1,2.0,0\nnan,1e+300,1\n"
