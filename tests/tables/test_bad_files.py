"""Every bad file has one message, with the place and the remedy."""

import gzip
import io
import os
import re

import numpy as np
import pytest

from bad_files import BAD_TEXTS
from typicality.exceptions import TableError
from typicality.tables import lines, open_table, read_rows, reading, write_table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Files are named without a folder, so that messages are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(name, *, columns=None, **options):
    with pytest.raises(TableError) as caught, open_table(name, **options) as table:
        read_rows(table, columns=columns)
    return caught.value


MORE_BAD_TEXTS = {
    "blank": (b"\xef\xbb\xbf \n\n", None, None, "is empty"),
    "ragged after a cell of two lines": (b'a,b\n"1\n",2\n\n3\n6,7\n', 5, None, "1 cell,"),
    "zeros": (b"a,b\n1,2\n\0\0,3\n", 3, None, "zero"),
    "zeros far down": (b"a,b\n" + b"1,2\n" * 20_000 + b"\0,3\n", 20_002, None, "zero"),
    "wrong encoding after letters that are right": (
        "x,name\n1,Anna\n2,é\n3,Müller\n".encode("latin-1").replace(b"\xe9", b"\xc3\xa9"),
        4,
        None,
        "byte 4 .* 0xfc",
    ),
    "wrong encoding after a byte order mark": (b"\xef\xbb\xbfa\xfc,b\n1,2\n", 1, None, "byte 5 "),
    "wrong encoding in the second line": (b"\xef\xbb\xbfa,b\n1,\xfc\n", 2, None, "byte 3 "),
    "wrong UTF-16": ("a,b\n1,2\n".encode("utf-16") + b"\0", None, None, "UTF-16"),
    "infinity": (b"a,b\n1,2\n3,-inf\n", 3, "b", "'-inf' is not a finite"),
    "too large a number": (b"a,b\n1,2\n3,1e999\n", 3, "b", "'1e999' is not a finite"),
    "cut off in a row": (b"a,b\n1,2\n3", 3, None, "1 cell,.*cut off"),
    "cut off in a quotation": (b'a,b\n1,2\n"3,4\n5,6\n', 3, None, "inside a quotation"),
    "a stray quotation mark": (b'a,b\n1,2\n"3"x,4\n', 3, None, "quotation mark"),
    "a quotation without end": (b'a,b\n1,2\n"3' + b"x\n" * 70_000, 3, None, "131,072"),
    "a quotation without end in the header": (b'"a,b' + b"x" * 140_000, 1, None, "131,072"),
    "one line": (b"x" * (2**24 + 1), None, None, "16 megabytes"),
    "a line without end": (b"a,b\n1,2\n3," + b"4" * 2**25, None, None, "16 megabytes"),
}
EVERY_TEXT = BAD_TEXTS | MORE_BAD_TEXTS


@pytest.mark.parametrize(
    ("contents", "line", "column", "what"), EVERY_TEXT.values(), ids=EVERY_TEXT
)
def test_bad_text_is_refused_with_its_place(folder, contents, line, column, what):
    (folder / "bad.csv").write_bytes(contents)
    error = complaint("bad.csv")
    assert (error.line, error.column) == (line, column)
    assert str(error).startswith("bad.csv")
    assert re.search(what, str(error))


def wide(folder, n_rows):
    names = ",".join(f"c{j}" for j in range(10_000))
    row = ",".join(str(j % 7) for j in range(10_000))
    lines = [names, *[f"{i}{row[1:]}" for i in range(n_rows)]]
    (folder / "wide.csv").write_text("\n".join(lines))


def test_table_of_ten_thousand_columns_is_read(folder):
    wide(folder, 3)
    with open_table("wide.csv") as table:
        rows = read_rows(table)
    assert rows.names == ("c0",)
    assert len(rows.left_out) == 9_999


def test_wide_table_is_refused_before_all_is_read(folder, monkeypatch):
    monkeypatch.setattr(reading, "MOST_NUMBERS", 1_000_000)
    wide(folder, 400)
    assert re.search(r"about 388 rows of 10,000 columns .* 1,000,000", str(complaint("wide.csv")))
    with open_table("wide.csv") as table:
        assert read_rows(table, columns=["c0", "c9"]).X.shape == (400, 2)


def test_large_table_is_refused_after_the_first_blocks(folder, monkeypatch):
    monkeypatch.setattr(reading, "MOST_NUMBERS", 1_000_000)
    wide(folder, 400)
    taken = []
    with open_table("wide.csv") as table:
        original = table.blocks
        monkeypatch.setattr(table, "blocks", lambda: (taken.append(b) or b for b in original()))
        with pytest.raises(TableError, match="too large"):
            read_rows(table)
    assert len(taken) <= 5  # four threads may be ahead; there are more blocks than that


def test_missing_file_is_named():
    assert "none.csv cannot be read: no such file" in str(complaint("none.csv"))


def test_folder_is_refused(folder):
    (folder / "all.csv").mkdir()
    assert "all.csv is a folder" in str(complaint("all.csv"))


def test_pipe_is_refused_and_not_waited_for(folder):
    os.mkfifo(folder / "pipe.csv")
    assert "pipe.csv is a pipe" in str(complaint("pipe.csv"))


def test_file_without_permission_is_named(folder, monkeypatch):
    (folder / "mine.csv").write_text("a\n1\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(lines.HashedFile, "__init__", refuse)
    assert "mine.csv cannot be read: permission denied" in str(complaint("mine.csv"))


@pytest.mark.parametrize(
    ("name", "what"), [("rows.xyz", "has the suffix '.xyz'"), ("rows", "has no suffix")]
)
def test_unknown_suffix_asks_for_the_format(folder, name, what):
    (folder / name).write_text("a\n1\n2\n")
    assert re.match(f"{re.escape(name)} {what}.*parquet.*format='csv'", str(complaint(name)))
    with open_table(name, format="csv") as table:
        assert read_rows(table).names == ("a",)


def test_unknown_format_is_refused():
    assert "format is 'xls'" in str(complaint("rows.csv", format="xls"))


def test_delimiter_of_two_characters_is_refused():
    assert "delimiter is ',,'" in str(complaint("rows.csv", delimiter=",,"))


def test_damaged_compressed_file_is_said_to_be_damaged(folder):
    packed = bytearray(gzip.compress(b"a,b\n1,2\n3,4\n"))
    packed[-6] ^= 255
    (folder / "rows.csv.gz").write_bytes(packed)
    assert str(complaint("rows.csv.gz")).endswith("It is damaged: get the file again.")


def test_compressed_file_of_another_kind_is_to_be_unpacked(folder):
    (folder / "rows.csv.gz").write_bytes(gzip.compress(b"PAR1"))
    assert "begins like a parquet file. Unpack it first." in str(complaint("rows.csv.gz"))


CHANGED = r"rows\.csv changed while it was read"


def test_file_emptied_after_it_was_opened_is_refused(folder):
    (folder / "rows.csv").write_bytes(b"a,b\n1,2\n3,4\n")
    with open_table("rows.csv") as table:
        (folder / "rows.csv").write_bytes(b"")
        with pytest.raises(TableError, match=CHANGED):
            read_rows(table)


@pytest.mark.parametrize("later", ["a,b\n1,2\n3,5\n", "a,b\n1,2\n3,4\n5,6\n", "a,b\n1,2\n"])
def test_file_changed_between_two_passes_is_refused(folder, later):
    (folder / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    with open_table("rows.csv") as table:
        read_rows(table)
        (folder / "rows.csv").write_text(later)
        with pytest.raises(TableError, match=CHANGED):
            list(table.blocks())


def test_file_that_grew_is_refused_before_its_new_rows_are_handed_out(folder):
    (folder / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    with open_table("rows.csv") as table:
        read_rows(table)
        with open(folder / "rows.csv", "a") as file:
            file.write("5,6\n")
        with pytest.raises(TableError, match=CHANGED):
            write_table(io.BytesIO(), table, {"label": np.zeros(2)})


def test_file_that_shrinks_under_the_reader_is_refused(folder):
    (folder / "rows.csv").write_bytes(b"aaa,bbb\n" + b"123,456\n" * 2**20)
    with open_table("rows.csv") as table:
        blocks = table.blocks()
        next(blocks)
        os.truncate(folder / "rows.csv", 8 * 600_000)
        with pytest.raises(TableError, match=CHANGED):
            list(blocks)


def test_file_that_grows_under_the_reader_is_refused(folder):
    (folder / "rows.csv").write_bytes(b"aaa,bbb\n" + b"123,456\n" * 2**20)
    with open_table("rows.csv") as table:
        blocks = table.blocks()
        next(blocks)
        with open(folder / "rows.csv", "ab") as file:
            file.write(b"123,456\n")
        with pytest.raises(TableError, match=CHANGED):
            list(blocks)


def test_file_removed_between_two_passes_is_refused(folder):
    (folder / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    with open_table("rows.csv") as table:
        read_rows(table)
        (folder / "rows.csv").unlink()
        with pytest.raises(TableError, match=r"rows\.csv could not be read to its end"):
            list(table.blocks())


def test_file_and_column_names_cannot_write_to_the_terminal(folder):
    (folder / "a\x1b[2J.csv").write_text("x\x1b[31m,b\nred,2\n")
    error = complaint("a\x1b[2J.csv", columns=["x\x1b[31m"])
    place = r"'a\x1b[2J.csv', line 2, column 'x\x1b[31m': 'red' is not a number"
    assert str(error).startswith(place)


def test_long_cells_are_cut_in_messages(folder):
    (folder / "bad.csv").write_text(f"a,b\n{'x' * 1000},2\n")
    assert f"'{'x' * 37}...'" in str(complaint("bad.csv", columns=["a"]))


def test_path_with_a_zero_byte_is_refused():
    assert str(complaint("a\0.csv")).startswith(r"'a\x00.csv' cannot be read: embedded null byte")


def test_table_error_keeps_its_place_when_pickled():
    import pickle

    error = pickle.loads(pickle.dumps(TableError("bad", line=3, column="x")))
    assert (str(error), error.line, error.column) == ("bad", 3, "x")


def test_infinity_in_an_array_is_refused_with_its_row(folder):
    np.save(folder / "rows.npy", [[1.0, 2.0], [np.inf, 3.0]])
    error = complaint("rows.npy")
    assert (error.line, error.column) == (None, "x1")
    assert "rows.npy, row 1 counted from 0" in str(error)
