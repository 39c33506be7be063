"""Many sources, one table: compressed files, lines of JSON, folders, patterns and data frames."""

import bz2
import gzip
import io
import json
import sys
from hashlib import sha256

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from typicality.exceptions import TableError
from typicality.tables import arrow_rows, base, open_table, read_rows

ROWS = np.arange(40.0).reshape(-1, 2) ** 2
TEXT = "a,b\n" + "".join(f"{a:.0f},{b:.0f}\n" for a, b in ROWS)
PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(base, "BLOCK_BYTES", 64)
    return tmp_path


@pytest.mark.parametrize(("suffix", "pack"), PACKERS.items(), ids=PACKERS)
def test_compressed_text_is_read(folder, suffix, pack):
    packed = pack(TEXT.encode())
    (folder / f"rows.csv.{suffix}").write_bytes(packed)
    with open_table(f"rows.csv.{suffix}") as table:
        fractions = [table.fraction_read for _ in table.blocks()]
        np.testing.assert_array_equal(read_rows(table).X, ROWS)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert table.fingerprint == f"sha256:{sha256(packed).hexdigest()}"


@pytest.mark.parametrize(("suffix", "pack"), PACKERS.items(), ids=PACKERS)
def test_compressed_text_that_is_cut_off_is_refused(folder, suffix, pack):
    noise = np.random.default_rng(0).normal(size=(600, 2))
    text = "a,b\n" + "".join(f"{a},{b}\n" for a, b in noise)
    (folder / f"rows.csv.{suffix}").write_bytes(pack(text.encode())[:-2_000])
    with pytest.raises(TableError, match=r"cannot be read|could not be read to its end"):
        read_rows(open_table(f"rows.csv.{suffix}"))


def write_json(folder, records, name="rows.ndjson"):
    (folder / name).write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return name


def test_lines_of_json_are_read_in_blocks(folder):
    # Whole numbers first and fractions later; a field that comes late; dates as they stand.
    records = [{"x": i, "day": "2024-01-31"} for i in range(20)]
    records += [{"x": i + 0.5, "day": "soon", "late": i} for i in range(20)]
    with open_table(write_json(folder, records)) as table:
        blocks = list(table.blocks())
        rows = read_rows(table, columns=["x", "late"])
        assert len(blocks) > 2
        assert blocks[0].cells("day")[0] == "2024-01-31"
    np.testing.assert_array_equal(rows.X[:, 0], [record["x"] for record in records])
    np.testing.assert_array_equal(rows.n_missing, [0, 20])


ONE = '{"a": 1}\n'
BAD_JSON = {
    "an array": ("[1]\n", 1, "one JSON object"),
    "cut off": (f'{ONE}\n{ONE}{{"a": ', 4, "cut off"),
    "a comma too many": (f'{ONE * 20}\n{ONE}{{"a": 1,}}\n', 23, "Correct"),
    "a field twice": (f'{ONE}{{"a": 1, "a": 2}}\n', 2, "Correct"),
    "another type": (f'{ONE}\n{{"a": "x"}}\n', 3, "'a' changed"),
    "wrong encoding": (f'{ONE * 20}{{"a": "\xff"}}\n', 21, "byte 8 of the line is 0xff"),
    "deep nesting": (f'{ONE}{{"a": {"[" * 50_000}{"]" * 50_000}}}\n', 2, "more than 100 levels"),
}


@pytest.mark.parametrize(("text", "line", "what"), BAD_JSON.values(), ids=BAD_JSON)
def test_bad_json_is_refused_with_its_line(folder, text, line, what):
    (folder / "rows.ndjson").write_text(text, encoding="latin-1")
    with pytest.raises(TableError, match=what) as caught:
        open_table("rows.ndjson")
    assert caught.value.line == line


@pytest.fixture
def parts(folder):
    (folder / "all").mkdir()
    for i in (1, 0):
        table = pa.table({"a": ROWS[10 * i : 10 * i + 10, 0], "b": ROWS[10 * i : 10 * i + 10, 1]})
        pq.write_table(table, folder / "all" / f"part-{i}.parquet")
    (folder / "all" / "_SUCCESS").touch()
    return folder / "all"


@pytest.mark.parametrize("source", ["all", "all/part-*.parquet"])
@pytest.mark.usefixtures("parts")
def test_parts_are_one_table_in_order(source):
    with open_table(source) as table:
        blocks = list(table.blocks())
        np.testing.assert_array_equal(read_rows(table).X, ROWS)
    assert [block.first_row for block in blocks] == [0, 4, 8, 10, 14, 18]
    assert (table.name, table.format, table.fraction_read) == (source, "parquet", 1.0)


def write_parts(folder, *tables):
    for i, table in enumerate(tables):
        pq.write_table(pa.table(table), folder / f"{i}.parquet")


def test_parts_with_numbers_of_several_types_are_one_table(folder):
    late = {"b": [2.5, 3.5], "a": [1.5, 2.5], "c": ["x", "y"]}
    write_parts(folder, {"a": [1, 2**60 + 1], "b": pa.nulls(2), "c": pa.nulls(2)}, late)
    with open_table("*.parquet") as table:
        rows = read_rows(table)
    assert rows.names == ("a", "b")
    np.testing.assert_array_equal(rows.X, [[1, np.nan], [2**60, np.nan], [1.5, 2.5], [2.5, 3.5]])


UNLIKE = {
    "text": ({"a": [7], "b": [1]}, {"a": ["007"], "b": [1]}, "1.parquet.*'a' is of type string"),
    "two of a name": (
        pa.table([[1], [2]], names=["a", "a"]),
        {"a": [7]},
        "0.parquet has two columns named 'a'",
    ),
    "one less": ({"a": [7], "b": [1]}, {"a": [7]}, "1.parquet.*'b' is missing"),
}


@pytest.mark.parametrize(("one", "other", "what"), UNLIKE.values(), ids=UNLIKE)
def test_parts_that_are_not_alike_are_refused(folder, one, other, what):
    write_parts(folder, one, other)
    with pytest.raises(TableError, match=what):
        open_table("*.parquet")


def test_files_of_several_formats_are_refused(folder):
    (folder / "a.csv").write_text(TEXT)
    (folder / "a.tsv").write_text(TEXT.replace(",", "\t"))
    with pytest.raises(TableError, match=r"a\.\* matches 2 files of the formats csv, tsv"):
        open_table("a.*")
    with pytest.raises(TableError, match=r"is a folder with files of csv, tsv"):
        open_table(folder)
    (folder / "a.tsv").unlink()
    with pytest.raises(TableError, match=r"No file matches \*\.tsv"):
        open_table("*.tsv")
    with open_table("a.*") as table:
        assert read_rows(table).X.shape == (20, 2)


def write_texts(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)


def test_files_of_text_are_one_table_in_order(folder):
    write_texts(folder, c="a;b\n7;x\n8;y\n", a="a;b\n1;u\n2;v\n", b="a;b\n", d="")
    with open_table("*.csv") as table:
        blocks = list(table.blocks())
        assert table.n_rows == 4
        assert [block.first_row for block in blocks] == [0, 2]
        assert [cell for block in blocks for cell in block.cells("b")] == list("uvxy")
        assert blocks[1].place(1) == "line 3"
        assert table.assumed == ["empty files skipped: d.csv"]
        first, names = table.fingerprint, [path.name for path in table.paths]
        assert names == ["a.csv", "b.csv", "c.csv", "d.csv"]
        assert (read_rows(table, columns=["a"]).X[:, 0] == [1, 2, 7, 8]).all()
    (folder / "c.csv").write_text("a;b\n7;x\n8;z\n")
    with open_table("*.csv") as table:
        assert read_rows(table).fingerprint != first


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a,c\n1,2\n", "b.csv differs from the other files: column 'b' is missing"),
        ("b,a\n1,2\n", "b.csv differs from the other files: column 'b' is where .* 'a'"),
        ("a,b\n1,2\n3,4,5\n", "b.csv, line 3: 3 cells"),
        ("a,b\n1,2\n3,x\n", "b.csv, line 3, column 'b'"),
        ("a;b\n1,5;2,5\n2,5;3,5\n", "b.csv differs from"),
    ],
)
def test_file_of_text_that_is_not_like_the_others_is_named(folder, text, what):
    write_texts(folder, a="a,b\n1,2\n2,3\n", b=text)
    with pytest.raises(TableError, match=what), open_table("*.csv") as table:
        read_rows(table, columns=["a", "b"])


def test_decimal_commas_in_some_files_only_are_a_question(folder):
    write_texts(folder, a="a;b\n1;2\n2;3\n", b="a;b\n1,5;2,5\n2,25;3,5\n")
    with pytest.raises(TableError, match=r"b\.csv seems to have decimal commas, and a\.csv"):
        open_table("*.csv")
    with open_table("*.csv", decimal=",") as table:
        assert read_rows(table).X.tolist() == [[1, 2], [2, 3], [1.5, 2.5], [2.25, 3.5]]


@pytest.mark.parametrize(
    ("suffix", "write", "place"),
    [
        ("parquet", lambda X, path: pq.write_table(pa.table([*X.T], names="ab"), path), "row 1"),
        ("csv", lambda X, path: np.savetxt(path, X, delimiter=","), "line 2"),
        ("npy", lambda X, path: np.save(path, X), "row 1"),
    ],
)
def test_missing_value_is_named_by_file_and_place(folder, suffix, write, place):
    write(np.arange(6.0).reshape(3, 2), folder / f"0.{suffix}")
    write(np.array([[7.0, 8.0], [9.0, np.nan]]), folder / f"1.{suffix}")
    with open_table(f"*.{suffix}") as table:
        missing = read_rows(table).first_missing
    assert missing.row == 4
    assert missing.source.startswith(f"1.{suffix}, {place}")


def test_columns_are_judged_without_holding_numbers(folder):
    numbered = np.random.default_rng(0).permutation(500)
    lines = [f"{i},{i % 7},{i / 8},text" for i in numbered]
    (folder / "a.csv").write_text("\n".join(["number,week,size,word", *lines, ""]))
    with open_table("a.csv") as table:
        held, judged = read_rows(table), read_rows(table, hold=False)
    assert judged.X.shape == (0, 2)
    assert judged._replace(X=held.X, n_missing=None) == held._replace(n_missing=None)
    assert "it numbers the rows from 0 to 499" in held.left_out[0].reason


def test_file_whose_name_looks_like_a_pattern_is_read(folder):
    (folder / "rows[1].csv").write_text(TEXT)
    with open_table("rows[1].csv") as table:
        assert read_rows(table).X.shape == (20, 2)


FRAMES = {
    "pandas DataFrame": pd.DataFrame(ROWS, columns=["a", "b"], index=np.arange(20) ** 2),
    "polars DataFrame": pl.DataFrame(ROWS, schema=["a", "b"]),
    "pyarrow Table": pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]}),
    "pyarrow RecordBatchReader": pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]}).to_reader(),
}


@pytest.mark.parametrize(("name", "frame"), FRAMES.items(), ids=FRAMES)
def test_data_frame_is_read_more_than_once(name, frame):
    with open_table(frame) as table:
        np.testing.assert_array_equal(read_rows(table).X, ROWS)
        blocks = list(table.blocks())
    assert (table.name, table.n_rows) == (name, 20)
    assert sum(block.n_rows for block in blocks) == 20


NO_TABLES = {
    "mixed": pd.DataFrame({"a": [1, "x"]}),
    "names": pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "series": pd.Series([1.0, 2.0]),
    "objects": pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}),
}


@pytest.mark.parametrize("frame", NO_TABLES.values(), ids=NO_TABLES)
def test_data_frame_that_arrow_cannot_hold_is_refused(frame):
    # Series of older versions of pandas know nothing of Arrow.
    with pytest.raises((TableError, TypeError), match=r"[Pp]ass a (path, or a )?data frame"):
        open_table(frame)


@pytest.mark.parametrize("source", [np.ones((3, 2)), pl.LazyFrame({"a": [1]}), None])
def test_what_is_neither_path_nor_data_frame_is_refused(source):
    with pytest.raises(TypeError, match="pass a path, or a data frame"):
        open_table(source)


def test_text_file_becomes_an_arrow_table_with_new_columns(folder):
    (folder / "rows.csv").write_text('a,name,b\n1,x,2\n,"y, z",4\n')
    label = np.ma.array([3, 0], mask=[False, True])
    with open_table("rows.csv") as table:
        found = [
            arrow_rows(block, {"label": label[: block.n_rows]}, numeric=["b", "a"])
            for block in list(table.blocks())[:1]
        ]
    assert found[0].schema.names == ["a", "name", "b", "label"]
    assert found[0].to_pylist() == [
        {"a": 1.0, "name": "x", "b": 2.0, "label": 3},
        {"a": None, "name": "y, z", "b": 4.0, "label": None},
    ]


def test_data_frame_of_polars_has_text_and_categories():
    kinds = {"text": pl.String, "kind": pl.Categorical, "list": pl.Enum(["u", "v"])}
    frame = pl.DataFrame({name: ["u", None] for name in kinds}, schema=kinds)
    with open_table(frame) as table:
        block = next(table.blocks())
        assert [block.cells(name) for name in kinds] == [["u", ""]] * 3
        rows = arrow_rows(block, {"label": np.arange(2)})
    assert rows.column("kind").to_pylist() == ["u", None]
    frame.write_ipc("rows.arrow")
    with open_table("rows.arrow") as table:
        block = next(table.blocks())
        assert [block.cells(name) for name in kinds] == [["u", ""]] * 3


def arrow_stream():
    table, stream = pa.table({"id": [1, 2], "x": [2, 5]}), io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def array_file():
    stream = io.BytesIO()
    np.save(stream, np.array([[1, 2], [2, 5]]))
    return stream.getvalue()


LINES_OF_JSON = b'{"id": 1, "x": 2}\n{"id": 2, "x": 5}\n'
STARTS = {
    "names with a brace": (b"{id},x\n1,2\n2,5\n", "csv"),
    "compressed names": (gzip.compress(b"{id},x\n1,2\n2,5\n"), "csv"),
    "objects": (LINES_OF_JSON, "ndjson"),
    "objects after a mark": (b"\xef\xbb\xbf" + LINES_OF_JSON, "ndjson"),
    "compressed objects": (gzip.compress(LINES_OF_JSON), "ndjson"),
    "a stream of arrow": (arrow_stream(), "arrow"),
    "an array": (array_file(), "npy"),
}


@pytest.mark.parametrize(("contents", "format"), STARTS.values(), ids=STARTS)
def test_standard_input_is_what_it_begins_like(monkeypatch, folder, contents, format):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(contents)))
    with open_table("-") as table:
        assert (table.format, len(table.names)) == (format, 2)
        chosen = read_rows(table, columns=table.names).X
        assert chosen.tolist() == [[1, 2], [2, 5]]
        assert sum(block.n_rows for block in table.blocks()) == 2
    assert list(folder.iterdir()) == []


def test_standard_input_leaves_no_file_when_it_is_bad(monkeypatch, folder):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(TableError, match="standard input is empty"):
        open_table("-")
    assert list(folder.iterdir()) == []


def test_arrow_table_keeps_its_types_with_new_columns():
    frame = pa.table({"a": pa.array([1, 2], pa.int8()), "t": pa.array(["x", None])})
    with open_table(frame) as table:
        rows = arrow_rows(next(table.blocks()), {"a": np.array([0.5, np.nan])})
    assert rows.schema.names == ["a", "t", "a_new"]
    assert rows.schema.types == [pa.int8(), pa.string(), pa.float64()]
    assert rows.column("a_new").to_pylist() == [0.5, None]
