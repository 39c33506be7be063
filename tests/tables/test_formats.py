"""Files of every format, folders, patterns, standard input and dataframes, as tables."""

import bz2
import datetime
import gzip
import io
import json
import os
import sys
from hashlib import sha256
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from typicality.exceptions import TableError
from typicality.tables import arrow_rows, base, csv_text, open_table, read_rows, rows_of

ROWS = np.arange(40.0).reshape(-1, 2) ** 2
NOON = datetime.datetime(2024, 2, 29, 12, 0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(base, "BLOCK_BYTES", 64)  # four rows of two numbers
    return tmp_path


def frame_of(X):
    return pa.table([*np.transpose(X)], names=["a", "b"])


def write_csv(path, X):
    np.savetxt(path, X, delimiter=",", header="a,b", comments="", fmt="%.3f")


def write_json(path, X):
    path.write_text("".join(f'{{"a": {a}, "b": {b}}}\n' for a, b in np.asarray(X).tolist()))


def write_parquet(path, X):
    pq.write_table(frame_of(X), path)


def write_arrow(path, X, new=pa.ipc.new_file):
    with new(path, frame_of(X).schema) as file:
        file.write_table(frame_of(X))


def write_stream(path, X):
    write_arrow(path, X, pa.ipc.new_stream)


WRITERS = {
    "csv": write_csv,
    "ndjson": write_json,
    "npy": np.save,
    "parquet": write_parquet,
    "arrow": write_arrow,
    "feather": write_stream,
}


def zipped(files):
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zip": lambda data: zipped({"__MACOSX/._rows.csv": b"", "rows.csv": data}),
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


# ---- one file ------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", WRITERS)
def test_file_is_read_in_blocks(folder, suffix):
    path = folder / f"rows.{suffix}"
    WRITERS[suffix](path, ROWS)
    with open_table(path) as table:
        blocks = list(table.blocks())
        found = np.concatenate([rows_of(b, table.names[::-1]) for b in blocks])
        np.testing.assert_array_equal(found, ROWS[:, ::-1])
        np.testing.assert_array_equal(read_rows(table).X, ROWS)
    assert len(blocks) >= 3
    assert [b.first_row for b in blocks] == np.cumsum([0, *(b.n_rows for b in blocks)])[
        :-1
    ].tolist()
    assert (blocks[-1].fraction_read, table.n_rows) == (1.0, 20)
    assert table.fingerprint == f"sha256:{sha256(path.read_bytes()).hexdigest()}"


@pytest.mark.parametrize(("suffix", "pack"), PACKERS.items(), ids=PACKERS)
def test_compressed_text_is_read_and_refused_if_it_is_cut_off(folder, suffix, pack):
    X = np.random.default_rng(0).normal(size=(600, 2)).round(3)
    write_csv(folder / "rows.csv", X)
    packed = pack((folder / "rows.csv").read_bytes())
    (folder / f"rows.csv.{suffix}").write_bytes(packed)
    with open_table(f"rows.csv.{suffix}") as table:
        np.testing.assert_array_equal(read_rows(table).X, X)
    (folder / f"rows.csv.{suffix}").write_bytes(packed[:-1_000])
    with pytest.raises(TableError, match=r"cannot be read|could not be read to its end"):
        read_rows(open_table(f"rows.csv.{suffix}"))


def test_archive_of_two_files_is_refused(folder):
    (folder / "rows.zip").write_bytes(zipped({"a.csv": b"a\n1\n", "b.csv": b"a\n2\n"}))
    with pytest.raises(TableError, match=r"rows.zip is an archive of 2 files.*Unpack it"):
        open_table("rows.zip")


TYPES = {
    "int": (pa.array([2**60, None]), [str(2**60), ""]),
    "double": (pa.array([0.1, float("nan")]), ["0.1", "nan"]),
    "single": (pa.array([0.1, 1e20], pa.float32()), ["0.1", "1e+20"]),
    "decimal": (pa.array([1, 2], pa.decimal128(5, 2)), ["1.00", "2.00"]),
    "text": (pa.array(["a,b", None]), ["a,b", ""]),
    "categories": (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
    "truth": (pa.array([True, None]), ["true", ""]),
    "date": (pa.array([NOON.date()] * 2), ["2024-02-29"] * 2),
    "moment": (pa.array([NOON] * 2), ["2024-02-29T12:00:00"] * 2),
    "fine time": (pa.array([1, None], pa.time64("ns")), ["00:00:00.000000001", ""]),
    "zone": (pa.array([0, None], pa.timestamp("s", "Nowhere/X")), ["1970-01-01T00:00:00Z", ""]),
    "bytes": (pa.array([b"\0\xff", None]), ["00ff", ""]),
    "list": (pa.array([[1, 2], []]), ["[1, 2]", "[]"]),
    "record": (pa.array([{"x": NOON.date()}, {"x": None}]), ['{"x": "2024-02-29"}', '{"x": null}']),
    "nothing": (pa.nulls(2), ["", ""]),
}


def test_cells_are_faithful_texts_and_types_decide_what_are_numbers(monkeypatch):
    monkeypatch.setattr(base, "BLOCK_BYTES", 2**21)
    pq.write_table(pa.table({name: column for name, (column, _) in TYPES.items()}), "rows.parquet")
    with open_table("rows.parquet") as table:
        (block,) = table.blocks()
        found = {name: list(block.cells(name)) for name in table.names}
        rows = read_rows(table)
    assert found == {name: texts for name, (_, texts) in TYPES.items()}
    assert rows.names == ("single", "decimal")
    np.testing.assert_array_equal(rows.X[:, 1], [1, 2])
    reasons = {column.name: column.reason for column in rows.left_out}
    assert reasons["text"] == "text (first 'a,b' in row 0 counted from 0)"
    assert all(reasons[name].startswith("dates or times") for name in ("date", "moment"))


def test_digits_of_type_text_are_text():
    pq.write_table(pa.table({"zip": ["01234", "99999"], "x": [1, 2]}), "rows.parquet")
    with open_table("rows.parquet") as table:
        assert [column.name for column in read_rows(table).left_out] == ["zip"]
        with pytest.raises(TableError, match="row 0 counted from 0, column 'zip': '01234' is text"):
            rows_of(next(table.blocks()), ["x", "zip"])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.uint64, bool, ">f8", "g"])
def test_array_of_any_kind_of_number_is_read(dtype, order):
    values = np.asarray([[0, 1], [1, 0], [1, 1]], dtype=dtype, order=order)
    np.save("rows.npy", values)
    with open_table("rows.npy") as table:
        rows = read_rows(table)
    assert rows.names == ("x1", "x2")
    np.testing.assert_array_equal(rows.X, values)


def test_array_of_one_dimension_is_one_column_and_is_written_as_csv():
    np.save("rows.npy", [3.5, 1e300, np.nan])
    with open_table("rows.npy") as table:
        assert read_rows(table).first_missing == "row 2 counted from 0"
        (block,) = table.blocks()
    assert (
        csv_text(block, {"label": np.array([0, 1, -1])}, header=True)
        == b"x1,label\n3.5,0\n1e+300,1\nnan,-1\n"
    )


def test_fields_of_json_can_come_late_and_change_from_whole_numbers_to_fractions(folder):
    records = [{"x": i, "day": "2024-01-31", "at": "2024-01-31"} for i in range(20)]
    records += [{"x": i + 0.5, "day": "2024-02-01", "at": "soon", "late": i} for i in range(20)]
    text = "".join(f"{json.dumps(record)}\n\n" for record in records)
    (folder / "rows.ndjson").write_text(text)
    with open_table("rows.ndjson") as table:
        rows = read_rows(table, columns=["x", "late"])
        block = next(table.blocks())
    assert (block.cells("day")[0], block.cells("at")[0]) == ("2024-01-31", "2024-01-31")
    np.testing.assert_array_equal(rows.X[:, 0], [record["x"] for record in records])
    np.testing.assert_array_equal(rows.n_missing, [0, 20])


@pytest.mark.parametrize("suffix", ["json", "ndjson"])
def test_fields_of_fields_are_columns(folder, suffix):
    records = [{"name": "a", "size": {"x": i, "of": {"y": i / 2}}} for i in range(3)]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    (folder / f"rows.{suffix}").write_text(lines if suffix == "ndjson" else json.dumps(records))
    with open_table(f"rows.{suffix}") as table:
        rows = read_rows(table)
    assert (table.names, rows.names) == (("name", "size.x", "size.of.y"), ("size.x", "size.of.y"))
    np.testing.assert_array_equal(rows.X, [[0, 0], [1, 0.5], [2, 1]])


RECORDS = [{"x": 1, "day": "2024-01-31"}, {"x": 2.5}, {"x": None, "late": 3}]
JSON = {
    "records": json.dumps(RECORDS, indent=2),
    "lists": '{"x": [1, 2.5, NaN], "day": ["2024-01-31", null, null], "late": [null, null, 3]}',
    "as pandas writes it": pd.DataFrame(RECORDS).to_json(),
    "lines": "".join(f"{json.dumps(record)}\n" for record in RECORDS),
    "one line": json.dumps(RECORDS),
    "in the answer of a service": json.dumps({"count": 3, "data": RECORDS}),
    "beside another array": json.dumps({"bbox": [1, 2], "data": RECORDS}),
    "numbers as text": json.dumps(RECORDS).replace("2.5", '"2.5"').replace(" 3}", ' "3"}'),
    "lists of cells": '[["x", "day", "late"], [1, "2024-01-31", null], [2.5], [null, null, 3]]',
}


@pytest.mark.parametrize("contents", JSON.values(), ids=JSON)
@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_json_of_any_shape_is_a_table(folder, contents, suffix):
    data = contents.encode("utf-8-sig")
    (folder / f"rows.{suffix}").write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    with open_table(f"rows.{suffix}") as table:
        rows = read_rows(table, columns=["x", "late"])
        days = [cell for block in table.blocks() for cell in block.cells("day")]
    assert (table.names, days) == (("x", "day", "late"), ["2024-01-31", "", ""])
    np.testing.assert_array_equal(rows.X, [[1, np.nan], [2.5, np.nan], [np.nan, 3]])


def test_lists_of_cells_may_have_no_names(folder):
    (folder / "rows.json").write_text('[[5.1, 3.5, "setosa"], [4.9, 3.0, "setosa"]]')
    with open_table("rows.json") as table:
        rows = read_rows(table)
    assert rows.names == ("column 1", "column 2")
    np.testing.assert_array_equal(rows.X, [[5.1, 3.5], [4.9, 3.0]])


# ---- bad files -----------------------------------------------------------------------------------


def array_file(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def with_header(header):
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)


def parquet_file(table):
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def arrow_file(table, new=pa.ipc.new_file):
    stream = io.BytesIO()
    with new(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def broken_within():
    contents = bytearray(parquet_file(pa.table({"a": np.arange(1000.0)})))
    contents[4:400] = bytes(396)
    return bytes(contents)


def beyond_the_file():
    """Text whose offsets point to memory that is not there."""
    offsets, wrong = np.array([0, 3, 6, 9], np.int32), np.array([0, 3, 2**30, 2**30 + 3], np.int32)
    contents = arrow_file(pa.table({"name": ["abc", "def", "ghi"], "x": [1.0, 2.0, 4.0]}))
    return contents.replace(offsets.tobytes(), wrong.tobytes())


def damaged():
    packed = bytearray(gzip.compress(b"a,b\n1,2\n3,4\n"))
    packed[-6] ^= 255
    return bytes(packed)


ONE = '{"a": 1}\n'
NUMBERS = frame_of(ROWS)
NOT_UTF8 = pa.table({"name": pa.array([b"a", b"\xff"]).view(pa.string()), "x": [1.0, 2.0]})
SHAPE = "{'descr': '<f8', 'fortran_order': False, 'shape': "

# suffix, contents, line of the error, a word of its message
BAD = {
    "an array of json": ("ndjson", b"[1]\n", 1, "one complete JSON object"),
    "json that is cut off": ("ndjson", f'{ONE}\n{ONE}{{"a": '.encode(), 4, "Invalid value"),
    "a comma too many": ("ndjson", f'{ONE * 20}\n{ONE}{{"a": 1,}}\n'.encode(), 23, "name"),
    "a field twice": ("ndjson", f'{ONE}{{"a": 1, "a": 2}}\n'.encode(), 2, "twice"),
    "another type": ("ndjson", f'{ONE}\n{{"a": "x"}}\n'.encode(), 3, "changed from number"),
    "an array that is cut off": ("json", b'[{"a": 1},\n{"a": ', 2, "no JSON"),
    "an array of numbers": ("json", b"[1, 2]\n", 1, "one complete JSON object"),
    "columns of two lengths": ("json", b'{"a": [1], "b": [1, 2]}', None, "differ in length"),
    "an array of two types": ("json", b'[{"a": 1},\n\n{"a": "x"}]', None, "no column of numbers"),
    "infinity in an array": ("json", b'[{"a": 1}, {"a": Infinity}]', None, "row 1"),
    "an array without rows": ("json", b"[]", None, "not a complete json file"),
    "a deep array": ("json", b"[" * 100_000, None, "no JSON"),
    "json that is not utf-8": ("ndjson", b'{"a": "\xff"}\n', None, "UTF8"),
    "parquet that is cut off": ("parquet", parquet_file(NUMBERS)[:-99], None, "not a complete"),
    "arrow that is cut off": ("arrow", arrow_file(NUMBERS)[:-99], None, "not a complete arrow"),
    "parquet broken within": ("parquet", broken_within(), None, "not a complete parquet file"),
    "text beyond the file": ("arrow", beyond_the_file(), None, "not a complete arrow file"),
    "text that is not utf-8": ("parquet", parquet_file(NOT_UTF8), None, "UTF8"),
    "no rows": ("parquet", parquet_file(NUMBERS[:0]), None, "has columns .*, but no rows"),
    "no columns": ("arrow", arrow_file(pa.table({})), None, "has no columns"),
    "complex numbers": ("npy", array_file(np.zeros((2, 2), complex)), None, "not numeric"),
    "array of text": ("npy", array_file(np.array([["a", "b"]])), None, "not numeric"),
    "array of records": ("npy", array_file(np.zeros(3, [("a", float)])), None, "not numeric"),
    "cube": ("npy", array_file(np.zeros((2, 2, 2))), None, "shape"),
    "number": ("npy", array_file(np.array(3.0)), None, "shape"),
    "array without columns": ("npy", array_file(np.zeros((2, 0))), None, "shape|npy format"),
    "array without rows": ("npy", array_file(np.zeros((0, 2))), None, "no rows|npy format"),
    "objects": ("npy", array_file(np.array([{}, {}])), None, "npy format"),
    "array that is cut off": ("npy", array_file(ROWS)[:-60], None, "npy format"),
    "no array": ("npy", b"a,b\n1,2\n", None, "npy format"),
    "huge shape": ("npy", with_header(f"{SHAPE}({2**62}, {2**62})}}"), None, "npy format"),
    "wrong header": ("npy", with_header("{'descr': (((("), None, "npy format"),
    "infinity": ("npy", array_file(np.array([1.0, np.inf])), None, "row 1 .*, column 'x1'"),
    "unknown suffix": ("xyz", b"a\n1\n", None, "'.xyz'.*format='csv'"),
    "damaged": ("csv.gz", damaged(), None, "damaged"),
    "packed parquet": ("csv.gz", gzip.compress(b"PAR1"), None, "format='parquet'"),
    "parquet inside": ("parquet.gz", gzip.compress(b"PAR1"), None, "not a complete parquet"),
    "empty": ("parquet", b"", None, "is empty"),
}


@pytest.mark.parametrize(("suffix", "contents", "line", "word"), BAD.values(), ids=BAD)
def test_bad_file_is_refused(folder, suffix, contents, line, word):
    (folder / f"rows.{suffix}").write_bytes(contents)
    with pytest.raises(TableError, match=word) as caught, open_table(f"rows.{suffix}") as table:
        read_rows(table)
    assert caught.value.line == line


UNREADABLE = {
    "missing": ("none.csv", lambda path: None, "no such file"),
    "folder": ("all.csv", os.mkdir, "is a folder"),
    "pipe": ("pipe.csv", os.mkfifo, "is a pipe"),
    "no suffix": ("rows", lambda path: path.write_text("a\n1\n"), "no suffix.*format='csv'"),
}


@pytest.mark.parametrize(("name", "make", "word"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_opened_is_named(folder, name, make, word):
    make(folder / name)
    with pytest.raises(TableError, match=word):
        open_table(name)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("n_rows", [4, 2, 0], ids=["longer", "shorter", "gone"])
def test_file_changed_between_two_passes_is_refused(folder, suffix, n_rows):
    path = folder / f"rows.{suffix}"
    WRITERS[suffix](path, ROWS[:3])
    with open_table(path) as table:
        read_rows(table)
        WRITERS[suffix](path, ROWS[:n_rows]) if n_rows else path.unlink()
        with pytest.raises(TableError, match=r"changed while|could not be read to its end"):
            list(table.blocks())


def test_file_that_grows_while_it_is_read_is_refused(folder):
    write_csv(folder / "rows.csv", np.tile(ROWS, (500, 1)))
    with open_table("rows.csv") as table:
        blocks = table.blocks()
        next(blocks)
        with open("rows.csv", "a") as file:
            file.write("1,2\n")
        with pytest.raises(TableError, match="changed while"):
            list(blocks)


# ---- several files -------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("source", [".", "*part-*"])
def test_files_of_a_folder_or_pattern_are_one_table_in_order(folder, suffix, source):
    for i in (1, 0):
        WRITERS[suffix](folder / f"part-{i}.{suffix}", ROWS[10 * i : 10 * i + 10])
    with open_table(source) as table:
        np.testing.assert_array_equal(read_rows(table).X, ROWS)
        assert sum(block.n_rows for block in table.blocks()) == 20
    assert (table.name, table.fraction_read) == (source, 1.0)


def test_files_of_text_keep_their_lines_and_empty_files_are_skipped(folder):
    texts = {"c": "a;b\n7;x\n8;y\n", "a": "a;b\n1;u\n2;v\n", "b": "a;b\n", "d": ""}
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    with open_table("*.csv") as table:
        blocks = list(table.blocks())
        first = table.fingerprint
    assert [cell for block in blocks for cell in block.cells("b")] == list("uvxy")
    assert [(block.first_row, block.place(1)) for block in blocks] == [(0, "line 3"), (2, "line 3")]
    assert [each.what for each in table.assumed] == ["1 empty file skipped"]
    (folder / "c.csv").write_text("a;b\n7;x\n8;z\n")
    with open_table("*.csv") as table:
        assert table.fingerprint != first


def test_files_with_numbers_of_several_types_are_one_table():
    pq.write_table(pa.table({"a": [1, 2**60 + 1], "b": pa.nulls(2)}), "0.parquet")
    pq.write_table(pa.table({"b": [2.5, 3.5], "a": [1.5, 2.5]}), "1.parquet")
    with open_table("*.parquet") as table:
        rows = read_rows(table)
    assert rows.names == ("a", "b")
    np.testing.assert_array_equal(rows.X, [[1, np.nan], [2**60, np.nan], [1.5, 2.5], [2.5, 3.5]])


UNLIKE = {
    "type": ({"a": [7], "b": [1]}, {"a": ["007"], "b": [1]}, "1.parquet differs.*int64 vs string"),
    "one less": (
        {"a": [7], "b": [1]},
        {"a": [7]},
        "1.parquet: the columns are 'a', and in the first file",
    ),
}


@pytest.mark.parametrize(("one", "other", "what"), UNLIKE.values(), ids=UNLIKE)
def test_files_with_types_that_are_not_alike_are_refused(one, other, what):
    pq.write_table(pa.table(one), "0.parquet")
    pq.write_table(pa.table(other), "1.parquet")
    with pytest.raises(TableError, match=what):
        open_table("*.parquet")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a,c\n1,2\n", "b.csv: the columns are 'a', 'c', and in the first"),
        ("b,a\n1,2\n", "b.csv: the columns are 'b', 'a', and in the first"),
        ("a,b\n1,2\n3,4,5\n", "b.csv, line 3: 3 cells"),
        ("a,b\n1,2\n3,x\n", "b.csv, line 3, column 'b'"),
        ('a,b\n"1,5","2,5"\n', r"b\.csv seems to have decimal commas, and a\.csv does not"),
    ],
)
def test_file_of_text_that_is_not_like_the_others_is_named(folder, text, what):
    (folder / "a.csv").write_text("a,b\n1,2\n2,3\n")
    (folder / "b.csv").write_text(text)
    with pytest.raises(TableError, match=what), open_table("*.csv") as table:
        read_rows(table, columns=["a", "b"])


@pytest.mark.parametrize(
    ("suffix", "place"), [("parquet", "row 1"), ("csv", "line 3"), ("npy", "row 1")]
)
def test_missing_value_is_named_by_file_and_place(folder, suffix, place):
    WRITERS[suffix](folder / f"0.{suffix}", ROWS[:3])
    WRITERS[suffix](folder / f"1.{suffix}", np.array([[7.0, 8.0], [9.0, np.nan]]))
    with open_table(f"*.{suffix}") as table:
        missing = read_rows(table).first_missing
    assert missing.startswith(f"1.{suffix}, {place}")


def test_files_of_several_formats_are_refused(folder):
    write_csv(folder / "a.csv", ROWS)
    (folder / "a.tsv").write_text("a\tb\n1\t2\n")
    with pytest.raises(TableError, match=r"a\.\* matches 2 files of the formats csv, tsv"):
        open_table("a.*")
    with pytest.raises(TableError, match=r"is a folder with files of csv, tsv"):
        open_table(folder)
    with pytest.raises(TableError, match=r"No file matches \*\.npy"):
        open_table("*.npy")


def test_file_whose_name_looks_like_a_pattern_is_read(folder):
    write_csv(folder / "rows[1].csv", ROWS)
    with open_table("rows[1].csv") as table:
        assert read_rows(table).X.shape == (20, 2)


# ---- dataframes and standard input ---------------------------------------------------------------


FRAMES = {
    "pandas DataFrame": pd.DataFrame(ROWS, columns=["a", "b"], index=np.arange(20) ** 2),
    "polars DataFrame": pl.DataFrame(ROWS, schema=["a", "b"]),
    "pyarrow Table": frame_of(ROWS),
    "pyarrow RecordBatchReader": frame_of(ROWS).to_reader(),
}


@pytest.mark.parametrize(("name", "frame"), FRAMES.items(), ids=FRAMES)
def test_dataframe_is_read_more_than_once(name, frame):
    with open_table(frame) as table:
        np.testing.assert_array_equal(read_rows(table).X, ROWS)
        assert sum(block.n_rows for block in table.blocks()) == 20
    assert (table.name, table.n_rows) == (name, 20)


NO_TABLES = {
    "mixed": pd.DataFrame({"a": [1, "x"]}),
    "names": pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "series": pd.Series([1.0, 2.0]),
    "array": np.ones((3, 2)),
    "lazy": pl.LazyFrame({"a": [1]}),
    "none": None,
}


@pytest.mark.parametrize("source", NO_TABLES.values(), ids=NO_TABLES)
def test_what_is_no_table_is_refused(source):
    with pytest.raises((TableError, TypeError), match=r"[Pp]ass a (path, or a )?data frame"):
        open_table(source)


def test_columns_of_one_name_get_names_of_their_own():
    with open_table(pa.table([[1, 4], [2, 7]], names=["x", "x"])) as table:
        np.testing.assert_array_equal(read_rows(table, columns=["x.1", "x"]).X, [[2, 1], [7, 4]])
        assert "'x.1'" in table.assumed[0].what


def test_categories_and_runs_are_text_and_numbers():
    kinds = {"text": pl.String, "kind": pl.Categorical, "list": pl.Enum(["u", "v"])}
    frame = pl.DataFrame({name: ["u", None] for name in kinds}, schema=kinds)
    with open_table(frame) as table:
        assert [next(table.blocks()).cells(name) for name in kinds] == [["u", ""]] * 3
    runs = pa.RunEndEncodedArray.from_arrays([2, 4], [1.5, 2.5])
    with open_table(pa.table({"a": runs})) as table:
        np.testing.assert_array_equal(read_rows(table).X[:, 0], [1.5, 1.5, 2.5, 2.5])


def test_rows_become_an_arrow_table_with_new_columns(folder):
    (folder / "rows.csv").write_text('a,name,b\n1,x,2\n,"y, z",4\n')
    label = np.ma.array([3, 0], mask=[False, True])
    with open_table("rows.csv") as table:
        (block,) = table.blocks()
    assert arrow_rows(block, {"label": label}, numeric=["b", "a"]).to_pylist() == [
        {"a": 1.0, "name": "x", "b": 2.0, "label": 3},
        {"a": None, "name": "y, z", "b": 4.0, "label": None},
    ]
    with open_table(pa.table({"a": pa.array([1, 2], pa.int8()), "t": ["x", None]})) as table:
        rows = arrow_rows(next(table.blocks()), {"a": np.array([0.5, np.nan])})
    assert rows.schema.types == [pa.int8(), pa.string(), pa.float64()]
    assert rows.column("a_new").to_pylist() == [0.5, None]


PIPED = {
    "csv": (b"id,x\n1,2\n2,5\n", None),
    "compressed": (gzip.compress(b"id,x\n1,2\n2,5\n"), None),
    "ndjson": (b'\xef\xbb\xbf{"id": 1, "x": 2}\n{"id": 2, "x": 5}\n', "ndjson"),
    "arrow": (arrow_file(pa.table({"id": [1, 2], "x": [2, 5]}), pa.ipc.new_stream), "arrow"),
    "npy": (array_file(np.array([[1, 2], [2, 5]])), "npy"),
}


@pytest.mark.parametrize(("contents", "format"), PIPED.values(), ids=PIPED)
def test_standard_input_is_read_more_than_once(monkeypatch, folder, contents, format):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(contents)))
    with open_table("-", format=format) as table:
        assert read_rows(table, columns=table.names).X.tolist() == [[1, 2], [2, 5]]
        assert sum(block.n_rows for block in table.blocks()) == 2
    assert list(folder.iterdir()) == []


def test_standard_input_leaves_no_file_when_it_is_bad(monkeypatch, folder):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(TableError, match="standard input is empty"):
        open_table("-")
    assert list(folder.iterdir()) == []
