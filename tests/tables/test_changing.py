"""Files that change, shrink, grow or go while they are read, and files that cannot be read."""

import gzip
import io
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from typicality.exceptions import TableError
from typicality.tables import base, lines, open_table, read_rows, reading, write_table

CHANGED = "changed while it was read"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_csv(path, X):
    np.savetxt(path, X, delimiter=",", header="a,b", comments="", fmt="%.3f")


def write_parquet(path, X):
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), path)


def write_arrow(path, X):
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table)


WRITERS = {"csv": write_csv, "npy": np.save, "parquet": write_parquet, "arrow": write_arrow}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("n_rows", [3, 4, 2, 0], ids=["other", "longer", "shorter", "gone"])
def test_file_changed_between_two_passes_is_refused(folder, suffix, n_rows):
    path = folder / f"rows.{suffix}"
    WRITERS[suffix](path, np.eye(3)[:, :2])
    with open_table(path) as table:
        read_rows(table)
        WRITERS[suffix](path, 2.0 * np.eye(4)[:n_rows, :2]) if n_rows else path.unlink()
        with pytest.raises(TableError, match=rf"{CHANGED}|could not be read to its end"):
            list(table.blocks())


def test_file_that_grew_is_refused_before_its_new_rows_are_handed_out(folder):
    (folder / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    with open_table("rows.csv") as table:
        read_rows(table)
        with open(folder / "rows.csv", "a") as file:
            file.write("5,6\n")
        with pytest.raises(TableError, match=CHANGED):
            write_table(io.BytesIO(), table, {"label": np.zeros(2)})


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("grows", [False, True])
def test_file_that_changes_under_the_reader_is_refused(folder, monkeypatch, suffix, grows):
    monkeypatch.setattr(base, "BLOCK_BYTES", 2**14)
    path = folder / f"rows.{suffix}"
    WRITERS[suffix](path, np.arange(100_000.0).reshape(-1, 2))
    with open_table(path) as table:
        blocks = table.blocks()
        next(blocks)
        with open(path, "ab") as file:
            file.write(b"1.000,2.000\n")
        grows or os.truncate(path, 4096)
        with pytest.raises(TableError, match=CHANGED):
            list(blocks)


def write_damaged(path):
    packed = bytearray(gzip.compress(b"a,b\n1,2\n3,4\n"))
    packed[-6] ^= 255
    path.write_bytes(packed)


UNREADABLE = {
    "missing": ("none.csv", lambda path: None, "no such file"),
    "folder": ("all.csv", os.mkdir, "is a folder"),
    "pipe": ("pipe.csv", os.mkfifo, "is a pipe"),
    "zero byte": ("a\0.csv", lambda path: None, "null byte"),
    "suffix": ("rows.xyz", lambda path: path.write_text("a\n1\n"), "'.xyz'.*format='csv'"),
    "no suffix": ("rows", lambda path: path.write_text("a\n1\n"), "no suffix.*format='csv'"),
    "damaged": ("rows.csv.gz", write_damaged, "damaged"),
    "packed": ("rows.csv.gz", lambda p: p.write_bytes(gzip.compress(b"PAR1")), "Unpack it first"),
    "empty": ("rows.parquet", lambda path: path.touch(), "is empty"),
}


@pytest.mark.parametrize(("name", "make", "word"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_said(folder, name, make, word):
    make(folder / name)
    with pytest.raises(TableError, match=word), open_table(name) as table:
        read_rows(table)


def test_file_without_permission_is_named(folder, monkeypatch):
    (folder / "mine.csv").write_text("a\n1\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(lines.HashedFile, "__init__", refuse)
    with pytest.raises(TableError, match=r"mine\.csv cannot be read: permission denied"):
        open_table("mine.csv")


def test_large_table_is_refused_after_the_first_blocks(folder, monkeypatch):
    monkeypatch.setattr(reading, "MOST_NUMBERS", 100_000)
    monkeypatch.setattr(base, "BLOCK_BYTES", 2**17)
    names = ",".join(f"c{j}" for j in range(1000))
    row = ",".join(str(j % 7) for j in range(1000))
    (folder / "wide.csv").write_text("\n".join([names, *(f"{i}{row[1:]}" for i in range(800))]))
    taken = []
    with open_table("wide.csv") as table:
        original = table.blocks
        monkeypatch.setattr(table, "blocks", lambda: (taken.append(b) or b for b in original()))
        with pytest.raises(TableError, match="too large"):
            read_rows(table)
        assert len(taken) <= 5  # four threads may be ahead; there are more blocks than that
        assert read_rows(table, columns=["c0", "c9"]).X.shape == (800, 2)
