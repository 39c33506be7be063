"""Text files: bytes and options, and the cells, numbers or error that they give."""

import csv
import gzip
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bad_files import BAD_TEXTS
from typicality.exceptions import TableError
from typicality.tables import base, csv_text, open_table, read_rows, rows_of
from typicality.tables.delimited import PlainBlock

nan = np.nan
UMLAUTS = "größe,b\n1,ü\n4,é\n"
UMLAUT_CELLS = (("größe", "b"), ["1 ü", "4 é"])
AB = (("a", "b"), ["1 2", "4 5"])
COLUMNS = ("column 1", "column 2")

# contents, options, names, cells of each row between blanks, lines of rows, what is assumed
CELLS = {
    "comma": ("a b,x\n1.5,2\n", {}, ("a b", "x"), ["1.5 2"], [2], ""),
    "semicolon": ("a b;x\n1.5;2\n", {}, ("a b", "x"), ["1.5 2"], [2], ""),
    "tab": ("a b\tx\n1.5\t2\n", {}, ("a b", "x"), ["1.5 2"], [2], ""),
    "bar": ("a b|x\n1.5|2\n", {}, ("a b", "x"), ["1.5 2"], [2], ""),
    "tsv": ("a,b\tc\n1\t2\n", {"format": "tsv"}, ("a,b", "c"), ["1 2"], [2], ""),
    "names with commas": ("x, cm;y\n1,5;2,5\n", {}, ("x, cm", "y"), ["1,5 2,5"], [2], "commas"),
    "alike": ("a;b\n1,5;x\n2,5;y,z\n", {}, ("a", "b"), ["1,5 x", "2,5 y,z"], [2, 3], "commas"),
    "delimiter said": ("a;b,c\n1;2,3\n", {"delimiter": ","}, ("a;b", "c"), ["1;2 3"], [2], ""),
    "CR LF": ("a,b\r\n1,2\r\n\r\n4,5\r\n", {}, *AB, [2, 4], ""),
    "CR": ("a,b\r1,2\r\r4,5", {}, *AB, [2, 4], ""),
    "byte order mark": (UMLAUTS.encode("utf-8-sig"), {}, *UMLAUT_CELLS, [2, 3], ""),
    "UTF-16": (UMLAUTS.encode("utf-16"), {}, *UMLAUT_CELLS, [2, 3], ""),
    "cp1252": (UMLAUTS.encode("cp1252"), {}, *UMLAUT_CELLS, [2, 3], "cp1252"),
    "cp850 said": (UMLAUTS.encode("cp850"), {"encoding": "cp850"}, *UMLAUT_CELLS, [2, 3], ""),
    "UTF-16 said": (
        UMLAUTS.encode("utf-16-le"),
        {"encoding": "utf-16-le"},
        *UMLAUT_CELLS,
        [2, 3],
        "",
    ),
    "no header": ("1.5,2\n3,4\n", {}, COLUMNS, ["1.5 2", "3 4"], [1, 2], ""),
    "names of pandas": ("0,1\n1,2\n", {}, ("0", "1"), ["1 2"], [2], ""),
    "no name": ("a,,c\n1,2,3\n", {}, ("a", "column 2", "c"), ["1 2 3"], [2], ""),
    "spaces": (" a , b\n1,2\n", {}, ("a", "b"), ["1 2"], [2], ""),
    "header said": ("1,2\n3,4\n", {"header": True}, ("1", "2"), ["3 4"], [2], ""),
    "no header said": ("a,b\n3,4\n", {"header": False}, COLUMNS, ["a b", "3 4"], [1, 2], ""),
    "blank lines before": ("\n\na,b\n1,2\n4,5\n", {}, *AB, [4, 5], ""),
    "name of two lines": ('"a\nb",c\n1,2\n', {}, ("a\nb", "c"), ["1 2"], [3], ""),
    "cells of two lines": (
        'a,b\n"x\r\ny",1\n\nz,2\n"p\n\nq",3\nr,4\n',
        {},
        ("a", "b"),
        ["x\r\ny 1", "z 2", "p\n\nq 3", "r 4"],
        [2, 5, 6, 9],
        "",
    ),
    "quotation marks": (
        'a,b\n"a ""b"",c",2\n"""",4\n',
        {},
        ("a", "b"),
        ['a•"b",c 2', '" 4'],
        [2, 3],
        "",
    ),
    "mark after a blank line": (
        b"a\r\n\r\n\xef\xbb\xbf\r\nx\r\n",
        {"header": True},
        ("a",),
        ["\ufeff", "x"],
        [3, 4],
        "",
    ),
    "blanks": (
        '  x   name\tn\n 1.5  "New York"   7 \r\n\n\t-2 Rome 8\n',
        {},
        ("x", "name", "n"),
        ["1.5 New•York 7", "-2 Rome 8"],
        [2, 4],
        "blanks",
    ),
    "words with blanks": ("first name\nAnna B\n", {}, ("first name",), ["Anna•B"], [2], ""),
    "times with blanks": ("date\n2024-01-01 10:00\n", {}, ("date",), ["2024-01-01•10:00"], [2], ""),
    "comments": ("# by me, today\n#\n\na,b\n1,2\n4,5\n", {}, *AB, [5, 6], "#"),
    "names in a comment": ("# by me\n# a, b\n1,2\n4,5\n", {}, *AB, [3, 4], "#"),
    "comment above rows": ("# by me\n1,2\n4,5\n", {}, COLUMNS, AB[1], [2, 3], "#"),
    "no comments": ("name,x\n#1,2\n#2,5\n", {}, ("name", "x"), ["#1 2", "#2 5"], [2, 3], ""),
    "one name": (
        "a,b,a,a.1,b\n1,2,3,4,5\n",
        {},
        ("a", "b", "a.2", "a.1", "b.1"),
        ["1 2 3 4 5"],
        [2],
        "same name",
    ),
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # files are named without a folder in messages

    def write_file(contents, name="rows.csv"):
        data = contents if isinstance(contents, bytes) else contents.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return write_file


@pytest.mark.parametrize("size", [1, 5, 2**21])
@pytest.mark.parametrize(
    ("contents", "options", "names", "cells", "lines", "assumed"), CELLS.values(), ids=CELLS
)
def test_cells_and_lines_are_those_of_the_file(
    write, monkeypatch, contents, options, names, cells, lines, assumed, size
):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    with open_table(write(contents), **options) as table:
        blocks = list(table.blocks())
        text = b"".join(csv_text(b, {}, header=b.first_row == 0) for b in blocks).decode()
    rows = [row for b in blocks for row in zip(*map(b.cells, names), strict=True)]
    assert (table.names, table.n_rows) == (names, len(rows))
    assert rows == [tuple(cell.replace("•", " ") for cell in row.split(" ")) for row in cells]
    assert [int(line) for b in blocks for line in b.lines] == lines
    assert bool(table.assumed) == bool(assumed)
    assert all(assumed in each for each in table.assumed)
    written = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert written == [list(names), *map(list, rows)]


GERMAN = "Name;Apps;Quote\nA;1.660;18,1\nB;945;12,2\nC;48.094;-0,5\nD;1.234.567;1.000,25\n"
MIXED = "a;b;c\n1.660;2,5;3.25\n2.945;3,5;4.5\n3.500;1,5;0.125\n"
SIGNED = 'n,price,share,count\n1,"$7,440",60%,"1,234"\n4,-$12.50, 5.5 %,"2,345,678"\n9,8,NA,5\n'

# contents, options, chosen columns, names of the numbers, numbers
NUMBERS = {
    "points are thousands": (
        GERMAN,
        {},
        None,
        "Apps Quote",
        [[1660, 18.1], [945, 12.2], [48094, -0.5], [1234567, 1000.25]],
    ),
    "points are decimal points": (
        "a,b\n1.234,2\n5.678,4\n0.5,7\n",
        {},
        None,
        "a b",
        [[1.234, 2], [5.678, 4], [0.5, 7]],
    ),
    "no header, decimal commas": (
        "0,5;1,5\n2,5;3,5\n",
        {},
        None,
        "column•1 column•2",
        [[0.5, 1.5], [2.5, 3.5]],
    ),
    "decimal commas that come late": (
        "a;b\n" + "1.001;3\n" * 9_000 + "2.500;3,5\n",
        {},
        None,
        "a b",
        [[1001, 3]] * 9_000 + [[2500, 3.5]],
    ),
    "a typing error": (
        "a;b\n" + "1.660;2,5\n945;3,5\n" * 20 + "7;n/k\n",
        {},
        None,
        "a",
        [[1660], [945]] * 20 + [[7]],
    ),
    "columns that differ": (MIXED, {}, None, "c", [[3.25], [4.5], [0.125]]),
    "decimal points said": (
        MIXED,
        {"decimal": "."},
        None,
        "a c",
        [[1.66, 3.25], [2.945, 4.5], [3.5, 0.125]],
    ),
    "decimal commas said": (
        "a;b\n1.660;2\n945;3\n",
        {"decimal": ","},
        None,
        "a b",
        [[1660, 2], [945, 3]],
    ),
    "a quoted pair": ('pair,x,n\n"1,5",1.234,1\n"2,12",5.678,5\n', {}, None, "n", [[1], [5]]),
    "missing between blanks that delimit": (
        "a b c d\n1   4\n6 7 8 9\n",
        {"delimiter": " "},
        ["a", "b", "d"],
        "a b d",
        [[1, nan, 4], [6, 7, 9]],
    ),
    "missing": (
        "a,b,t\n1,-,-\nNA,5,x\n?, - ,y\n3,7,\n n/a,nan,\n",
        {},
        None,
        "a b",
        [[1, nan], [nan, 5], [nan, nan], [3, 7], [nan, nan]],
    ),
    "signs are left out": (SIGNED, {}, None, "n", [[1], [4], [9]]),
    "signs by name": (
        SIGNED,
        {},
        ["price", "count", "share"],
        "price count share",
        [[7440, 1234, 60], [-12.5, 2345678, 5.5], [8, 5, nan]],
    ),
    "signs and decimal commas": (
        "a;b\n1.234,50 €;1,5\n7 €;2,5\n",
        {},
        ["a", "b"],
        "a b",
        [[1234.5, 1.5], [7, 2.5]],
    ),
}


@pytest.mark.parametrize("size", [8, 2**21])
@pytest.mark.parametrize(
    ("contents", "options", "columns", "names", "expected"), NUMBERS.values(), ids=NUMBERS
)
def test_numbers_are_those_of_the_file(
    write, monkeypatch, contents, options, columns, names, expected, size
):
    monkeypatch.setattr(base, "BLOCK_BYTES", max(size, len(contents) // 20))
    with open_table(write(contents), **options) as table:
        rows = read_rows(table, columns=columns)
        again = np.concatenate([rows_of(b, rows.names, signs=rows.signs) for b in table.blocks()])
    assert rows.names == tuple(name.replace("•", " ") for name in names.split())
    np.testing.assert_array_equal(rows.X, expected)
    np.testing.assert_array_equal(again, expected)


TWO_LINES = b"a,b\n1,2\n"
# contents, line, column, a word of the message; options and chosen columns may follow
BAD = BAD_TEXTS | {
    "blank": (b"\xef\xbb\xbf \n\n", None, None, "is empty"),
    "one row": (TWO_LINES, None, None, "only one row"),
    "ragged after a cell of two lines": (b'a,b\n"1\n",2\n\n3\n6,7\n', 5, None, "1 cell,"),
    "zeros far down": (b"a,b\n" + b"1,2\n" * 20_000 + b"\0,3\n", 20_002, None, "zero"),
    "wrong encoding after a byte order mark": (b"\xef\xbb\xbfa\xfc,b\n1,2\n", 1, None, "byte 5 "),
    "wrong encoding in the second line": (b"\xef\xbb\xbfa,b\n1,\xfc\n", 2, None, "byte 3 "),
    "wrong UTF-16": ("a,b\n1,2\n".encode("utf-16") + b"\0", None, None, "UTF-16"),
    "not as said": (b"x,name\n1,M\xfcller\n", 2, None, "byte 4", {"encoding": "utf-8"}),
    "unknown encoding": (TWO_LINES, None, None, "encoding is", {"encoding": "rot13"}),
    "infinity": (b"a,b\n1,2\n3,-inf\n", 3, "b", "'-inf' is not a finite"),
    "too large a number": (b"a,b\n1,2\n3,1e999\n", 3, "b", "'1e999' is not a finite"),
    "cut off in a row": (b"a,b\n1,2\n3", 3, None, "1 cell,.*cut off"),
    "cut off in a quotation": (b'a,b\n1,2\n"3,4\n5,6\n', 3, None, "inside a quotation"),
    "a stray quotation mark": (b'a,b\n1,2\n"3"x,4\n', 3, None, "quotation mark"),
    "a quotation without end": (b'a,b\n1,2\n"3' + b"x\n" * 70_000, 3, None, "131,072"),
    "a line without end": (b"a,b\n1,2\n3," + b"4" * 2**25, None, None, "16 megabytes"),
    "text": (TWO_LINES + b"3,x\n", 3, "b", "'x' is not a number", {}, ["b"]),
    "a long text": (b"a,b\n" + b"x" * 99 + b",2\n", 2, "a", rf"'{'x' * 37}\.\.\.'", {}, ["a"]),
    "decimal commas": (b"a;b\n1,5;2\n", 2, "a", "decimal comma", {"decimal": "."}, ["a"]),
    "decimal points": (b"a;b\n1.5;2\n", 2, "a", "decimal point", {"decimal": ","}, ["a"]),
    "points of two kinds": (MIXED.encode(), None, None, "'a': its points", {}, ["a"]),
    "two currencies": (b"a,b\n$5,1\n\xe2\x82\xac6,1\n", None, "a", "different", {}, ["a"]),
    "percent and none": (b"a,b\n60%,1\n0.5,1\n", None, "a", "different", {}, ["a"]),
    "no value": (b"a,b\n1,\n2,\n", None, "b", "missing", {}, ["b"]),
    "a near name": (TWO_LINES, None, "A", r"'A'\. Did you mean 'a'\?", {}, ["A"]),
    "chosen twice": (TWO_LINES, None, None, "'a' was chosen twice", {}, ["a", "a"]),
    "none chosen": (TWO_LINES, None, None, "no column was chosen", {}, []),
    "unknown format": (TWO_LINES, None, None, "format is 'xls'", {"format": "xls"}),
    "two characters": (TWO_LINES, None, None, "delimiter is ',,'", {"delimiter": ",,"}),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_bad_text_is_refused_with_its_place(write, case):
    contents, line, column, word, options, columns = (*case, *({}, None)[len(case) - 4 :])
    write(contents, "bad.csv")
    with pytest.raises(TableError) as caught, open_table("bad.csv", **options) as table:
        read_rows(table, columns=columns)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert re.search(word, str(caught.value))


def test_numbers_with_signs_are_scored_only_where_the_model_had_some(write):
    with open_table(write("a,b\n60%,1\n")) as table:
        (block,) = table.blocks()
        assert rows_of(block, ["a", "b"], signs={"a": "%"}).tolist() == [[60, 1]]
        for signs in (None, {}, {"a": "$"}):
            with pytest.raises(TableError, match="column 'a'"):
                rows_of(block, ["a"], signs=signs)


def test_names_cannot_write_to_the_terminal(write):
    name = write("x\x1b[31m,b\nred,2\n", "a\x1b[2J.csv")
    with pytest.raises(TableError) as caught, open_table(name) as table:
        read_rows(table, columns=["x\x1b[31m"])
    assert str(caught.value).isprintable()


NUMBER = st.integers(-(10**9), 10**9) | st.floats(-1e6, 1e6, allow_subnormal=False)


@given(values=st.lists(NUMBER, min_size=1, max_size=8), quoted=st.booleans())
def test_german_numbers_are_those_of_python(tmp_path_factory, values, quoted):
    texts = [f"{value:,.3f}".translate(str.maketrans(",.", ".,")) for value in values]
    path = tmp_path_factory.mktemp("cells") / "rows.csv"
    mark = '"' if quoted else ""
    path.write_text("a;b\n" + "".join(f"{mark}{text}{mark};0\n" for text in texts))
    with open_table(path, decimal=",") as table:
        (block,) = table.blocks()
        found = rows_of(block, ["a"])[:, 0]
    np.testing.assert_array_equal(found, [float(f"{v:.3f}") for v in values])


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@given(
    rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6),
    size=st.integers(1, 40),
    delimiter=st.sampled_from(",;\t|§"),
)
def test_any_cells_are_read_and_written_back(tmp_path_factory, rows, size, delimiter):
    path = tmp_path_factory.mktemp("cells") / "rows.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([("a", "b"), *rows])
    with pytest.MonkeyPatch.context() as patch, open_table(path, delimiter=delimiter) as table:
        patch.setattr(base, "BLOCK_BYTES", size)
        blocks = list(table.blocks())
        text = b"".join(csv_text(b, {}, header=b.first_row == 0) for b in blocks).decode()
    found = [row for b in blocks for row in zip(b.cells("a"), b.cells("b"), strict=True)]
    assert found == rows
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [list(row) for row in rows]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_windows_encoding_that_shows_late_is_found(write, monkeypatch, pack):
    monkeypatch.setattr(base, "BLOCK_BYTES", 2**12)
    text = "x,name\n" + "1,Anna\n" * 20_000 + "2,Müller\n3,Zoë\n"
    with open_table(write(pack(text.encode("cp1252")))) as table:
        for _ in range(2):
            written = b"".join(csv_text(b, {}, header=b.first_row == 0) for b in table.blocks())
            assert written.decode() == text
    assert table.encoding == "cp1252"


@pytest.mark.parametrize("text", ['"1","x, y"\n"3",""\n', '1,"a ""b"", c"\n3,""""\n', "1,5;x\n"])
def test_usual_cells_are_read_the_quick_way(write, text):
    with open_table(write(f"a{';' if ';' in text else ','}b\n{text}")) as table:
        assert all(isinstance(block, PlainBlock) for block in table.blocks())
