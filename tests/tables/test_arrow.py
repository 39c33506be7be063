"""Files of columns with types: numbers, and text that says the same."""

import datetime
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from typicality.exceptions import TableError
from typicality.tables import LeftOut, base, open_table, read_rows, rows_of, write_table

NOON = datetime.datetime(2024, 2, 29, 12, 0)

TYPES = {
    "int": (pa.array([1, None, 2**60]), ["1", "", str(2**60)]),
    "double": (pa.array([0.1, float("nan"), None]), ["0.1", "nan", ""]),
    "single": (pa.array([0.1, None, 1e20], pa.float32()), ["0.1", "", "1e+20"]),
    "decimal": (pa.array([1, 2, None], pa.decimal128(5, 2)), ["1.00", "2.00", ""]),
    "text": (pa.array(["a,b", "", None]), ["a,b", "", ""]),
    "categories": (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y", "x"]),
    "truth": (pa.array([True, False, None]), ["true", "false", ""]),
    "date": (pa.array([NOON.date()] * 3), ["2024-02-29"] * 3),
    "moment": (pa.array([NOON] * 3), ["2024-02-29T12:00:00"] * 3),
    "fine time": (
        pa.array([1, None, 2], pa.time64("ns")),
        ["00:00:00.000000001", "", "00:00:00.000000002"],
    ),
    "far moment": (pa.array([2**60, 2, None], pa.timestamp("us")), [str(2**60), "2", ""]),
    "unknown zone": (pa.array([1, 2, None], pa.timestamp("us", "Nowhere/X")), ["1", "2", ""]),
    "bytes": (pa.array([b"\0\xff", b"", None]), ["00ff", "", ""]),
    "list": (pa.array([[1, 2], [], None]), ["[1, 2]", "[]", ""]),
    "far field": (
        pa.array([{"x": 2**60}, None, {"x": None}], pa.struct({"x": pa.timestamp("us")})),
        [f'{{"x": {2**60}}}', "", '{"x": null}'],
    ),
    "nothing": (pa.nulls(3), ["", "", ""]),
}


@pytest.fixture
def arrow_table():
    return pa.table({name: column for name, (column, _) in TYPES.items()})


def as_parquet(table, folder):
    pq.write_table(table, folder / "rows.parquet")
    return folder / "rows.parquet"


def as_arrow(table, folder):
    with pa.ipc.new_file(folder / "rows.arrow", table.schema) as file:
        file.write_table(table)
    return folder / "rows.arrow"


def as_stream(table, folder):
    with pa.ipc.new_stream(folder / "rows.feather", table.schema) as file:
        file.write_table(table)
    return folder / "rows.feather"


WRITERS = [as_parquet, as_arrow, as_stream]


@pytest.mark.parametrize("write", WRITERS)
def test_cells_are_faithful_texts(arrow_table, tmp_path, write):
    with open_table(write(arrow_table, tmp_path)) as table:
        (block,) = table.blocks()
        found = {name: list(block.cells(name)) for name in table.names}
        assert (block.first_row, block.lines, block.n_rows) == (0, None, 3)
    assert found == {name: texts for name, (_, texts) in TYPES.items()}


def test_types_decide_what_are_numbers(arrow_table, tmp_path):
    with open_table(as_parquet(arrow_table, tmp_path)) as table:
        rows = read_rows(table)
    assert rows.names == ("int", "single", "decimal")
    np.testing.assert_array_equal(rows.X[:, 0], [1, np.nan, 2.0**60])
    np.testing.assert_array_equal(rows.X[:, 2], [1, 2, np.nan])
    reasons = {column.name: column.reason for column in rows.left_out}
    assert reasons["text"] == "text (first 'a,b' in row 0 counted from 0)"
    for name in ("date", "moment", "fine time"):
        assert reasons[name].startswith("dates or times")


def test_digits_of_type_text_are_text(tmp_path):
    path = as_parquet(pa.table({"zip": ["01234", "99999"], "x": [1, 2]}), tmp_path)
    with open_table(path) as table:
        assert read_rows(table).left_out == (
            LeftOut("zip", "text (first '01234' in row 0 counted from 0)"),
        )
        with pytest.raises(TableError, match="row 0 counted from 0, column 'zip': '01234' is not"):
            rows_of(next(table.blocks()), ["x", "zip"])


@pytest.mark.parametrize("write", WRITERS)
def test_columnar_file_is_read_in_blocks(monkeypatch, tmp_path, write):
    values = np.arange(10.0) ** 2
    monkeypatch.setattr(base, "BLOCK_BYTES", 64)  # four rows
    with open_table(write(pa.table({"a": values, "b": -values}), tmp_path)) as table:
        blocks = list(table.blocks())
        assert [(b.first_row, b.n_rows) for b in blocks] == [(0, 4), (4, 4), (8, 2)]
        found = np.concatenate([rows_of(b, ["b", "a"]) for b in blocks])
        assert table.fraction_read == 1.0
        assert table.fingerprint.startswith("sha256:")
    np.testing.assert_array_equal(found, np.stack([-values, values], axis=1))


def test_columnar_table_is_written_as_csv(tmp_path):
    path = as_parquet(pa.table({"a": [0.1, None], "b": ['x, "y"', "z"]}), tmp_path)
    stream = io.BytesIO()
    with open_table(path) as table:
        write_table(stream, table, {"label": np.array([0, -1])})
    assert stream.getvalue() == b'a,b,label\n0.1,"x, ""y""",0\n,z,-1\n'


@pytest.mark.parametrize("write", [as_parquet, as_arrow])
def test_columnar_file_that_is_cut_off_is_refused(arrow_table, tmp_path, write):
    path = write(arrow_table, tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        TableError, match=rf"{path.name} is not a complete {path.suffix[1:]} file \("
    ):
        open_table(path)


def test_columnar_file_broken_within_is_refused(tmp_path):
    path = as_parquet(pa.table({"a": np.arange(1000.0)}), tmp_path)
    contents = bytearray(path.read_bytes())
    contents[4:400] = bytes(396)
    path.write_bytes(contents)
    with (
        open_table(path) as table,
        pytest.raises(TableError, match="is not a complete parquet file"),
    ):
        read_rows(table)


def test_columnar_file_without_rows_or_columns_is_refused(tmp_path):
    path = as_parquet(pa.table({"a": pa.array([], pa.float64())}), tmp_path)
    with open_table(path) as table, pytest.raises(TableError, match=r"has columns \('a'\), but no"):
        read_rows(table)
    with pytest.raises(TableError, match="has no columns"):
        open_table(as_arrow(pa.table({}), tmp_path))


def test_columns_of_one_name_in_a_columnar_file_get_names_of_their_own(tmp_path):
    table = pa.Table.from_arrays([pa.array([1, 4]), pa.array([2, 7])], names=["x", "x"])
    with open_table(as_arrow(table, tmp_path)) as table:
        np.testing.assert_array_equal(read_rows(table, columns=["x.1", "x"]).X, [[2, 1], [7, 4]])
        assert "'x.1'" in table.assumed[0]


def test_text_that_lies_beyond_the_file_is_refused(tmp_path):
    # Unnoticed, it would be read from memory that is not there, which ends the process.
    offsets, wrong = np.array([0, 3, 6, 9], np.int32), np.array([0, 3, 2**30, 2**30 + 3], np.int32)
    table = pa.table({"name": ["abc", "def", "ghi"], "x": [1.0, 2.0, 4.0]})
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)
    path = tmp_path / "rows.arrow"
    path.write_bytes(path.read_bytes().replace(offsets.tobytes(), wrong.tobytes()))
    with pytest.raises(TableError, match="not a complete arrow file"), open_table(path) as table:
        next(table.blocks())


def test_text_that_is_not_utf8_is_refused(tmp_path):
    text = pa.array([b"a", b"\xff"]).view(pa.string())
    pq.write_table(pa.table({"name": text, "x": [1.0, 2.0]}), tmp_path / "rows.parquet")
    with (
        pytest.raises(TableError, match="UTF8"),
        open_table(tmp_path / "rows.parquet") as table,
    ):
        read_rows(table)


def test_parquet_file_with_fewer_rows_than_it_says_is_refused(monkeypatch, tmp_path):
    def fewer(file, **options):
        return list(every_batch(file, **options))[:1]

    every_batch = pq.ParquetFile.iter_batches
    monkeypatch.setattr(base, "BLOCK_BYTES", 16)  # two rows
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", fewer)
    path = as_parquet(pa.table({"a": [1.0, 2.0, 3.0]}), tmp_path)
    with open_table(path) as table, pytest.raises(TableError, match="2 of its 3 rows could be"):
        list(table.blocks())


def test_runs_of_numbers_are_numbers(tmp_path):
    runs = pa.RunEndEncodedArray.from_arrays([2, 4], [1.5, 2.5])
    with open_table(as_arrow(pa.table({"a": runs}), tmp_path)) as table:
        np.testing.assert_array_equal(read_rows(table).X[:, 0], [1.5, 1.5, 2.5, 2.5])
