"""Arrays of NumPy as tables."""

import io
import os

import numpy as np
import pytest

from typicality.exceptions import TableError
from typicality.tables import Place, base, open_table, read_rows, rows_of, write_table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(name):
    with pytest.raises(TableError) as caught, open_table(name) as table:
        read_rows(table)
    return str(caught.value)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, np.int8, np.uint64, bool, ">f8", ">i2", "g"]
)
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


NOT_NUMBERS = {
    "complex": (np.zeros((2, 2), complex), "of type complex128, which is not numeric"),
    "text": (np.array([["a", "b"]]), "of type <U1, which is not numeric"),
    "dates": (np.zeros((2, 2), "M8[D]"), "of type datetime64[D], which is not numeric"),
    "records": (np.zeros(3, [("a", float)]), "of type [('a', '<f8')], which is not numeric"),
    "cube": (np.zeros((2, 2, 2)), "of shape (2, 2, 2). Save an array with rows and columns."),
    "number": (np.array(3.0), "of shape (). Save an array with rows and columns."),
    "no columns": (np.zeros((2, 0)), "of shape (2, 0). Save an array with rows and columns."),
}


@pytest.mark.parametrize(("array", "message"), NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_array_that_is_no_table_is_refused(array, message):
    np.save("rows.npy", array)
    assert complaint("rows.npy").startswith(f"rows.npy holds an array {message}")


def test_array_without_rows_is_refused():
    np.save("rows.npy", np.zeros((0, 2)))
    assert complaint("rows.npy").startswith("rows.npy has columns ('x1', 'x2'), but no rows.")


def test_objects_are_not_unpickled():
    np.save("rows.npy", np.array([{}, {}]), allow_pickle=True)
    assert "it holds objects, which are not numbers. Save an array" in complaint("rows.npy")


def test_array_file_that_is_cut_off_is_refused(folder):
    np.save("rows.npy", np.eye(9))
    contents = (folder / "rows.npy").read_bytes()
    (folder / "cut.npy").write_bytes(contents[:-60])
    (folder / "text.npy").write_bytes(b"a,b\n1,2\n")
    for name in ("cut.npy", "text.npy"):
        assert "in npy format: it is cut off, or of another kind" in complaint(name)


def test_array_file_that_is_cut_while_it_is_read_is_an_error(folder):
    np.save("rows.npy", np.random.default_rng(0).normal(size=(400_000, 4)))
    with open_table("rows.npy") as table:
        blocks = table.blocks()
        next(blocks)
        os.truncate(folder / "rows.npy", 4096)
        with pytest.raises(TableError, match=r"changed while it was read|cut off"):
            list(blocks)


def test_array_is_written_as_csv():
    np.save("rows.npy", np.array([[0.1, 2], [np.nan, 1e300]], dtype=np.float64))
    stream = io.BytesIO()
    with open_table("rows.npy") as table:
        write_table(stream, table, {"label": np.array([0, 1])})
    assert stream.getvalue() == b"x1,x2,label\n0.1,2.0,0\nnan,1e+300,1\n"


def test_array_file_that_changed_is_refused():
    np.save("rows.npy", np.eye(3))
    with open_table("rows.npy") as table:
        read_rows(table)
        np.save("rows.npy", 2 * np.eye(3))
        with pytest.raises(TableError, match=r"rows\.npy changed while it was read"):
            list(table.blocks())


_ALL_BUT_SHAPE = "{'descr': '<f8', 'fortran_order': False, 'shape': "
BROKEN_HEADERS = {
    "a shape beyond all numbers": f"{_ALL_BUT_SHAPE}({2**62}, {2**62})}}",
    "a shape of truth values": f"{_ALL_BUT_SHAPE}(True, 2)}}",
    "brackets without end": "{'descr': ((((",
}


@pytest.mark.parametrize("header", BROKEN_HEADERS.values(), ids=BROKEN_HEADERS)
def test_array_file_with_a_broken_header_is_refused(folder, header):
    length = len(header).to_bytes(2, "little")
    contents = b"\x93NUMPY\x01\x00" + length + header.encode() + bytes(64)
    (folder / "rows.npy").write_bytes(contents)
    assert "is not a file of numbers in npy format: it is cut off" in complaint("rows.npy")
