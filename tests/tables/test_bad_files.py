"""Every bad file has one message, with the place and the remedy."""

import os

import numpy as np
import pytest

from bad_files import BAD_TEXTS
from typicality.exceptions import TableError
from typicality.tables import open_table, read_rows, sniffing


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Files are named without a folder, so that messages are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(name, *, columns=None, memory=None, **options):
    with pytest.raises(TableError) as caught, open_table(name, **options) as table:
        read_rows(table, columns=columns, memory=memory)
    return caught.value


MORE_BAD_TEXTS = {
    "blank": (b"\xef\xbb\xbf \n\n", "bad.csv is empty. Choose a file with a header and rows."),
    "ragged after a cell of two lines": (
        b'a,b\n"1\n",2\n\n3\n6,7\n',
        "bad.csv, line 5: 1 cell, where the first line has 2. Correct the line: cells with a "
        "delimiter in them belong in quotation marks.",
    ),
    "a picture": (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "bad.csv is not text: it begins like a PNG picture. Choose a file of rows.",
    ),
    "zeros": (
        b"a,b\n1,2\n\0\0,3\n",
        "bad.csv is not text: there are bytes of value zero in line 3. Choose a csv file, or name "
        "the format with --format.",
    ),
    "zeros far down": (
        b"a,b\n" + b"1,2\n" * 20_000 + b"\0,3\n",
        "bad.csv is not text: there are bytes of value zero in line 20002. Choose a csv file, or "
        "name the format with --format.",
    ),
    "wrong encoding after letters that are right": (
        "x,name\n1,Anna\n2,é\n3,Müller\n".encode("latin-1").replace(b"\xe9", b"\xc3\xa9"),
        "bad.csv, line 4: byte 4 of the line is 0xfc, which is not UTF-8. Save the file with the "
        "encoding UTF-8 (in a spreadsheet: 'CSV UTF-8').",
    ),
    "wrong UTF-16": (
        "a,b\n1,2\n".encode("utf-16") + b"\0",
        "bad.csv is not UTF-16 text, though it begins so: truncated data. Save it with the "
        "encoding UTF-8.",
    ),
    "infinity": (
        b"a,b\n1,2\n3,-inf\n",
        "bad.csv, line 3, column 'b': '-inf' is not a finite number. Replace it by a finite one, "
        "or leave the cell empty.",
    ),
    "too large a number": (
        b"a,b\n1,2\n3,1e999\n",
        "bad.csv, line 3, column 'b': '1e999' is not a finite number. Replace it by a finite one, "
        "or leave the cell empty.",
    ),
    "cut off in a row": (
        b"a,b\n1,2\n3",
        "bad.csv, line 3: 1 cell, where the first line has 2. It is the last one: is the file cut "
        "off? Get it again, or remove the line.",
    ),
    "cut off in a quotation": (
        b'a,b\n1,2\n"3,4\n5,6\n',
        "bad.csv, line 3: the file ends inside a quotation that begins here. It is cut off, or a "
        "quotation mark is missing: get it again, or correct the line.",
    ),
    "a stray quotation mark": (
        b'a,b\n1,2\n"3"x,4\n',
        "bad.csv, line 3: a quotation mark where none may stand (',' expected after '\"'). Write "
        "quotation marks inside a quoted cell twice.",
    ),
    "a quotation without end": (
        b'a,b\n1,2\n"3' + b"x\n" * 70_000,
        "bad.csv, line 3: a cell of more than 131,072 characters. A quotation may never be "
        "closed: correct the quotation marks.",
    ),
    "a quotation without end in the header": (
        b'"a,b' + b"x" * 140_000,
        "bad.csv, line 1: a cell of more than 131,072 characters. A quotation may never be "
        "closed: correct the quotation marks.",
    ),
    "one line": (
        b"x" * (2**24 + 1),
        "bad.csv is not a table: it has a line longer than 16 megabytes. Choose a file with one "
        "row a line.",
    ),
    "a line without end": (
        b"a,b\n1,2\n3," + b"4" * 2**25,
        "bad.csv is not a table: it has a line longer than 16 megabytes. Choose a file with one "
        "row a line.",
    ),
}
EVERY_TEXT = BAD_TEXTS | MORE_BAD_TEXTS


@pytest.mark.parametrize(("contents", "message"), EVERY_TEXT.values(), ids=EVERY_TEXT)
def test_bad_text(folder, contents, message):
    (folder / "bad.csv").write_bytes(contents)
    assert str(complaint("bad.csv")) == message


def test_errors_know_line_and_column(folder):
    (folder / "bad.csv").write_bytes(b"a,b\n1,2\n3,inf\n")
    error = complaint("bad.csv")
    assert (error.line, error.column) == (3, "b")
    (folder / "bad.csv").write_bytes(b"a,b\n1,2\n3\n")
    error = complaint("bad.csv")
    assert (error.line, error.column) == (3, None)


def wide(folder, n_rows):
    names = ",".join(f"c{j}" for j in range(10_000))
    row = ",".join(str(j % 7) for j in range(10_000))
    lines = [names, *[f"{i}{row[1:]}" for i in range(n_rows)]]
    (folder / "wide.csv").write_text("\n".join(lines))


def test_ten_thousand_columns_are_read(folder):
    wide(folder, 3)
    with open_table("wide.csv") as table:
        rows = read_rows(table)
    assert rows.names == ("c0",)
    assert len(rows.left_out) == 9_999


def test_too_many_columns_are_refused_before_all_is_read(folder):
    wide(folder, 400)
    assert str(complaint("wide.csv", memory=10_000_000)) == (
        "wide.csv is too large to be held in memory: about 378 rows of 10,000 columns of numbers "
        "take 30.2 MB, and 10.0 MB are allowed. Choose columns with --columns, or allow more with "
        "--memory."
    )
    with open_table("wide.csv") as table:
        assert read_rows(table, columns=["c0", "c9"], memory=10_000_000).X.shape == (400, 2)


def test_too_large_is_noticed_at_the_first_block(folder, monkeypatch):
    wide(folder, 400)
    taken = []
    with open_table("wide.csv") as table:
        original = table.blocks
        monkeypatch.setattr(table, "blocks", lambda: (taken.append(b) or b for b in original()))
        with pytest.raises(TableError, match="too large"):
            read_rows(table, memory=10_000_000)
    assert len(taken) == 1


def test_missing_file():
    message = "none.csv cannot be read: no such file or directory. Check the path."
    assert str(complaint("none.csv")) == message


def test_folder(folder):
    (folder / "all.csv").mkdir()
    assert str(complaint("all.csv")) == "all.csv is a folder. Name a file in it."


def test_pipe_is_not_waited_for(folder):
    os.mkfifo(folder / "pipe.csv")
    assert str(complaint("pipe.csv")) == (
        "pipe.csv is a pipe or a device, which can be read only once. Hand its contents to "
        "standard input, and name - as the file."
    )


def test_no_permission(folder, monkeypatch):
    (folder / "mine.csv").write_text("a\n1\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sniffing, "open", refuse, raising=False)
    assert str(complaint("mine.csv")) == (
        "mine.csv cannot be read: permission denied. Check the path and your permissions."
    )


@pytest.mark.parametrize(
    ("name", "what"), [("rows.xyz", "has the suffix '.xyz'"), ("rows", "has no suffix")]
)
def test_unknown_suffix(folder, name, what):
    (folder / name).write_text("a\n1\n2\n")
    assert str(complaint(name)) == (
        f"{name} {what}, and that does not say what kind of file it is (known are .arrow, .csv, "
        ".feather, .ipc, .npy, .npz, .parquet, .pq, .tab, .tsv, .txt). Name the format, e.g. "
        "--format csv (format='csv' in Python)."
    )
    with open_table(name, format="csv") as table:
        assert read_rows(table).names == ("a",)


def test_a_spreadsheet_is_to_be_saved_as_csv(folder):
    (folder / "Rows.XLSX").write_bytes(b"PK")
    assert str(complaint("Rows.XLSX")) == (
        "Rows.XLSX is a spreadsheet, which cannot be read. Save the sheet as csv (in a spreadsheet "
        "program: 'CSV UTF-8'), and name that file."
    )


def test_unknown_format():
    message = "format is 'xls': choose one of csv, tsv, parquet, arrow, npy, npz."
    assert str(complaint("rows.csv", format="xls")) == message


def test_unusable_delimiter():
    message = "delimiter is ',,': pass one character, e.g. ';'."
    assert str(complaint("rows.csv", delimiter=",,")) == message


CHANGED = (
    "rows.csv changed while it was read. Wait until nothing writes to it, or copy it, and read it "
    "again."
)


def test_file_that_was_emptied_after_it_was_opened(folder):
    (folder / "rows.csv").write_bytes(b"a,b\n1,2\n3,4\n")
    with open_table("rows.csv") as table:
        (folder / "rows.csv").write_bytes(b"")
        with pytest.raises(TableError, match=r"rows\.csv changed while it was read"):
            read_rows(table)


@pytest.mark.parametrize("later", ["a,b\n1,2\n3,5\n", "a,b\n1,2\n3,4\n5,6\n", "a,b\n1,2\n"])
def test_file_that_changed_between_two_passes(folder, later):
    (folder / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    with open_table("rows.csv") as table:
        read_rows(table)
        (folder / "rows.csv").write_text(later)
        with pytest.raises(TableError) as caught:
            list(table.blocks())
    assert str(caught.value) == CHANGED


def test_file_that_shrinks_under_the_reader(folder):
    (folder / "rows.csv").write_bytes(b"aaa,bbb\n" + b"123,456\n" * 2**18)
    with open_table("rows.csv") as table:
        blocks = table.blocks()
        next(blocks)
        os.truncate(folder / "rows.csv", 8 * 200_000)
        with pytest.raises(TableError) as caught:
            list(blocks)
    assert str(caught.value) == CHANGED


def test_file_that_grows_under_the_reader(folder):
    (folder / "rows.csv").write_bytes(b"aaa,bbb\n" + b"123,456\n" * 2**18)
    with open_table("rows.csv") as table:
        blocks = table.blocks()
        next(blocks)
        with open(folder / "rows.csv", "ab") as file:
            file.write(b"123,456\n")
        with pytest.raises(TableError) as caught:
            list(blocks)
    assert str(caught.value) == CHANGED


def test_file_that_is_gone(folder):
    (folder / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    with open_table("rows.csv") as table:
        read_rows(table)
        (folder / "rows.csv").unlink()
        with pytest.raises(TableError) as caught:
            list(table.blocks())
    assert str(caught.value) == (
        "rows.csv could not be read to its end: no such file or directory. Check the file, and "
        "read it again."
    )


def test_names_cannot_write_to_the_terminal(folder):
    (folder / "a\x1b[2J.csv").write_text("x\x1b[31m,b\nred,2\n")
    error = complaint("a\x1b[2J.csv", columns=["x\x1b[31m"])
    assert str(error) == (
        r"'a\x1b[2J.csv', line 2, column 'x\x1b[31m': 'red' is not a number. Correct it, leave the "
        "cell empty, or choose other columns."
    )


def test_long_cells_are_cut_in_messages(folder):
    (folder / "bad.csv").write_text(f"a,b\n{'x' * 1000},2\n")
    assert f"'{'x' * 37}...'" in str(complaint("bad.csv", columns=["a"]))


def test_path_with_a_zero_byte():
    assert str(complaint("a\0.csv")).startswith(r"'a\x00.csv' cannot be read: embedded null byte")


def test_errors_travel_between_processes():
    import pickle

    error = pickle.loads(pickle.dumps(TableError("bad", line=3, column="x")))
    assert (str(error), error.line, error.column) == ("bad", 3, "x")


def test_block_of_no_rows(folder):
    (folder / "rows.csv").write_text("a\n1\n2\n")
    with open_table("rows.csv") as table, pytest.raises(ValueError, match="rows is 0"):
        next(table.blocks(rows=0))


def test_infinity_in_an_array_names_the_row(folder):
    np.save(folder / "rows.npy", [[1.0, 2.0], [np.inf, 3.0]])
    assert str(complaint("rows.npy")) == (
        "rows.npy, row 1 counted from 0, column 'x1': 'inf' is not a finite number. Replace it by "
        "a finite one, or leave the cell empty."
    )
