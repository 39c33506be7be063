"""Files as people write them: decimal commas, encodings, blanks, comments, names and signs."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from typicality.exceptions import TableError
from typicality.tables import base, csv_text, open_table, read_rows, rows_of
from typicality.tables.cells import decimal_mark, unmarked
from typicality.tables.delimited import PlainBlock

GERMAN = "Name;Apps;Quote\nA;1.660;18,1\nB;945;12,2\nC;48.094;-0,5\nD;1.234.567;1.000,25\n"
GERMAN_ROWS = [[1660, 18.1], [945, 12.2], [48094, -0.5], [1234567, 1000.25]]


@pytest.fixture
def write(tmp_path):
    def write_file(contents, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return path

    return write_file


def read(path, columns=None, ignore=(), **options):
    """The numbers, and what was assumed about the file."""
    with open_table(path, **options) as table:
        rows = read_rows(table, columns=columns, ignore=ignore)
        again = np.concatenate([rows_of(b, rows.names, signs=rows.signs) for b in table.blocks()])
    np.testing.assert_array_equal(rows.X, again)
    return rows, table


# ---- decimal commas ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [8, 2**21])
def test_points_are_thousands_where_decimals_are_commas(write, monkeypatch, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    rows, table = read(write(GERMAN))
    np.testing.assert_array_equal(rows.X, GERMAN_ROWS)
    assert (rows.names, table.decimal) == (("Apps", "Quote"), ",")
    assert len(table.assumed) == 1
    assert "decimal commas" in table.assumed[0]


def test_decimal_commas_are_read_quickly_and_written_as_they_were(write):
    path = write("a;b\n1,5;x, y\n-2,25e1;\n")
    with open_table(path) as table:
        (block,) = table.blocks()
        assert isinstance(block, PlainBlock)
        assert csv_text(block, {}, header=False) == b'"1,5","x, y"\n"-2,25e1",\n'
    np.testing.assert_array_equal(read(path)[0].X[:, 0], [1.5, -22.5])


def test_decimal_commas_that_come_late_are_seen(write, monkeypatch):
    monkeypatch.setattr(base, "BLOCK_BYTES", 2**12)
    first = "".join(f"1.{i % 1000:03d};{i % 7}\n" for i in range(9_000))
    rows, table = read(write(f"a;b\n{first}2.500;3,5\n"))
    np.testing.assert_array_equal(rows.X[:3], [[1000, 0], [1001, 1], [1002, 2]])
    np.testing.assert_array_equal(rows.X[-1], [2500, 3.5])
    assert "decimal commas" in table.assumed[0]


def test_a_typing_error_does_not_hide_decimal_commas(write):
    rows, table = read(write("a;b\n" + "1.660;2,5\n945;3,5\n" * 20 + "7;n/k\n"))
    assert (table.decimal, rows.names, rows.n_with_digits) == (",", ("a",), 1)
    np.testing.assert_array_equal(rows.X[:2, 0], [1660, 945])


MIXED = "a;b;c\n1.660;2,5;3.25\n2.945;3,5;4.5\n3.500;1,5;0.125\n"


def test_points_that_may_be_either_are_refused_where_columns_differ(write):
    path = write(MIXED)
    rows, table = read(path)
    assert (rows.names, table.decimal) == (("c",), ".")
    assert dict(rows.left_out)["a"].startswith(
        "its points may be decimal points or separators of thousands"
    )
    with open_table(path) as table, pytest.raises(TableError, match="column 'a': its points"):
        read_rows(table, columns=["a"])
    with open_table(path) as table, pytest.raises(TableError, match="set decimal=','"):
        read_rows(table, columns=["b"])


def test_decimal_mark_can_be_said(write):
    np.testing.assert_array_equal(read(write(MIXED), decimal=".")[0].X[0], [1.66, 3.25])
    rows, table = read(write("a;b\n1.660;2\n945;3\n"), decimal=",")
    np.testing.assert_array_equal(rows.X, [[1660, 2], [945, 3]])
    assert table.assumed == []
    np.testing.assert_array_equal(read(write("a;b\n1.660;2\n945;3\n"))[0].X[0], [1.66, 2])


def test_a_quoted_pair_does_not_turn_points_into_thousands(write):
    # With commas between cells, "1,5" may be a pair of numbers.
    rows, _ = read(write('pair,x,n\n"1,5",1.234,1\n"2,12",5.678,5\n'))
    assert rows.names == ("n",)
    assert dict(rows.left_out)["x"].startswith("its points")


def test_first_line_of_numbers_with_decimal_commas_is_a_row(write):
    assert read(write("0,5;1,5\n2,5;3,5\n"))[0].X.tolist() == [[0.5, 1.5], [2.5, 3.5]]


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1,5", "2"], ","),
        (["1.234,5", "2"], ","),
        (["1,234", "5,678"], ""),
        (["1,234", "5,6"], ","),
        (["1.234", "945", "NA"], "unsure"),
        (["1.234", "0.5"], "."),
        (["0.123"], "."),
        (["1", "2"], ""),
        (["1,5", "red"], ""),
        (["1.5", "red"], "."),
        (["1.2.3", "red"], ""),
        ([], ""),
    ],
)
def test_decimal_mark_is_found(cells, mark):
    assert decimal_mark(cells) == mark


NUMBER = st.integers(-(10**9), 10**9) | st.floats(-1e6, 1e6, allow_subnormal=False)


@given(values=st.lists(NUMBER, min_size=1, max_size=8), quoted=st.booleans())
def test_german_numbers_are_those_of_python(tmp_path_factory, values, quoted):
    texts = [f"{value:,.3f}".translate(str.maketrans(",.", ".,")) for value in values]
    path = tmp_path_factory.mktemp("cells") / "rows.csv"
    mark = '"' if quoted else ""
    path.write_text("a;b\n" + "".join(f"{mark}{text}{mark};0\n" for text in texts))
    with open_table(path, decimal=",") as table:
        (block,) = table.blocks()
        np.testing.assert_array_equal(
            rows_of(block, ["a"])[:, 0], [float(f"{v:.3f}") for v in values]
        )


# ---- encodings -----------------------------------------------------------------------------------

NAMES = "größe,name\n1,Müller\n4,Renée €\n"


@pytest.mark.parametrize("size", [8, 2**21])
def test_windows_encoding_is_found(write, monkeypatch, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    with open_table(write(NAMES.encode("cp1252"))) as table:
        text = b"".join(csv_text(b, {}, header=b.first_row == 0) for b in table.blocks())
    assert text.decode() == NAMES
    assert (table.encoding, len(table.assumed)) == ("cp1252", 1)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_windows_encoding_that_shows_late_is_found(write, monkeypatch, pack):
    monkeypatch.setattr(base, "BLOCK_BYTES", 2**12)
    text = "x,name\n" + "1,Anna\n" * 20_000 + "2,Müller\n3,Zoë\n"
    with open_table(write(pack(text.encode("cp1252")))) as table:
        assert table.assumed == []
        for _ in range(2):
            written = b"".join(csv_text(b, {}, header=b.first_row == 0) for b in table.blocks())
            assert written.decode() == text
        assert (table.encoding, len(table.assumed)) == ("cp1252", 1)


@pytest.mark.parametrize("encoding", ["latin-1", "cp850", "utf-16-le", "utf-8-sig", "UTF8"])
def test_encoding_can_be_said(write, encoding):
    path = write("größe,b\n1,ü\n4,é\n".encode(encoding))
    with open_table(path, encoding=encoding) as table:
        assert table.names == ("größe", "b")
        assert next(table.blocks()).cells("b") == ["ü", "é"]
        assert table.assumed == []


@pytest.mark.parametrize(
    ("encoding", "what"),
    [
        ("utf-8", "line 2: byte 4"),
        ("ascii", "line 2: byte 4"),
        ("utf-16", "encoding utf-16|UTF-16"),
    ],
)
def test_text_in_another_encoding_than_said_is_refused(write, encoding, what):
    path = write("x,name\n1,M\xfcller\n".encode("latin-1"))
    with pytest.raises(TableError, match=what), open_table(path, encoding=encoding) as table:
        list(table.blocks())


@pytest.mark.parametrize("encoding", ["none such", "rot13", "a\0b"])
def test_unknown_encoding_is_refused(write, encoding):
    with pytest.raises(TableError, match="encoding is"):
        open_table(write("a\n1\n"), encoding=encoding)


# ---- blanks between cells ------------------------------------------------------------------------

SPACED = '  x   name\tn\n 1.5  "New  York"   7 \r\n\n\t-2 Rome 8\n'


@pytest.mark.parametrize("delimiter", [None, "whitespace"])
@pytest.mark.parametrize("size", [4, 2**21])
def test_columns_between_blanks_are_read(write, monkeypatch, delimiter, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    with open_table(write(SPACED, "rows.dat"), delimiter=delimiter) as table:
        blocks = list(table.blocks())
        lines = [int(line) for b in blocks for line in b.lines]
        text = b"".join(csv_text(b, {}, header=b.first_row == 0) for b in blocks).decode()
    assert lines == [2, 4]
    assert list(csv.reader(io.StringIO(text))) == [
        ["x", "name", "n"],
        ["1.5", "New  York", "7"],
        ["-2", "Rome", "8"],
    ]
    assert len(table.assumed) == (delimiter is None)


def test_columns_of_words_between_blanks_are_read_beside_one_of_numbers(write):
    rows = [f"P{i}  {['road', 'sea'][i % 2]:4}  home  {7.5 + i}" for i in range(6)]
    with open_table(write("\n".join(["# log", "parcel carrier zone weight", *rows, ""]))) as table:
        (block,) = table.blocks()
    assert table.names == ("parcel", "carrier", "zone", "weight")
    assert block.cells("carrier")[:2] == ["road", "sea"]


@pytest.mark.parametrize(
    "text",
    [
        "first name\nAnna B\nCarl D\n",
        "a, b\n1, 2\n",
        "a b\tc d\nx y\t1\n",
        "date\n2024-01-01 10:00\n",
        "one two three\n" + "four five six\n" * 6,
    ],
    ids=["text", "comma", "tab", "times", "words"],
)
def test_blanks_in_other_files_are_no_delimiters(write, text):
    with open_table(write(text)) as table:
        assert not any("blanks" in each for each in table.assumed)


# ---- comments ------------------------------------------------------------------------------------

COMMENTS = {
    "above names": ("# by me, today\n#\n\na,b\n1,2\n4,5\n", ("a", "b"), [5, 6]),
    "with names": ("# by me\n# a, b\n1,2\n4,5\n", ("a", "b"), [3, 4]),
    "names alone": ("#a,b\n1,2\n4,5\n", ("a", "b"), [2, 3]),
    "above rows": ("# by me\n1,2\n4,5\n", ("column 1", "column 2"), [2, 3]),
    "ends of lines": ("# by me\r\na,b\r\n1,2\r\n4,5\r\n", ("a", "b"), [3, 4]),
}


@pytest.mark.parametrize(("text", "names", "lines"), COMMENTS.values(), ids=COMMENTS)
@pytest.mark.parametrize("size", [3, 2**21])
def test_comments_at_the_top_are_skipped(write, monkeypatch, text, names, lines, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    rows, table = read(write(text))
    with table:
        found = [int(line) for block in table.blocks() for line in block.lines]
    assert (rows.names, rows.X.tolist(), found) == (names, [[1, 2], [4, 5]], lines)
    assert any("#" in each for each in table.assumed)


def test_rows_that_begin_like_comments_are_kept(write):
    with open_table(write("name,x\n#1,2\n#2,5\n")) as table:
        assert next(table.blocks()).cells("name") == ["#1", "#2"]


# ---- names, missing values, signs ----------------------------------------------------------------


def test_columns_of_one_name_are_called_as_in_pandas(write):
    pandas = pytest.importorskip("pandas")
    path = write("a,b,a,a.1,a,b\n1,2,3,4,5,6\n7,9,8,6,4,3\n")
    rows, table = read(path)
    assert rows.names == tuple(pandas.read_csv(path).columns)
    assert table.assumed[0].startswith("columns of the same name are called 'a.2', 'a.3', 'b.1'")


def test_a_dash_is_a_missing_value(write):
    rows, _ = read(write("a,b,t\n1,-,-\n-,5,x\n4, - ,y\n3,7,\n"))
    np.testing.assert_array_equal(rows.X, [[1, np.nan], [np.nan, 5], [4, np.nan], [3, 7]])
    with open_table(write("a,t\n1,-\n")) as table:
        assert next(table.blocks()).cells("t") == ["-"]


SIGNED = 'n,price,share,count\n1,"$7,440",60%,"1,234"\n4,-$12.50, 5.5 %,"2,345,678"\n9,8,NA,5\n'


def test_numbers_with_signs_are_left_out_first_and_read_when_asked(write):
    path = write(
        SIGNED.replace("n,", "t,u,v,n,", 1).replace("\n", "\nx,y,z,").removesuffix("x,y,z,")
    )
    rows, _ = read(path)
    assert [column.name for column in rows.left_out] == ["price", "share", "count", "t", "u", "v"]
    assert rows.n_with_digits == 3
    rows, _ = read(path, columns=["price", "count", "share"])
    expected = [[7440, 1234, 60], [-12.5, 2345678, 5.5], [8, 5, np.nan]]
    np.testing.assert_array_equal(rows.X, expected)
    assert rows.signs == {"price": "$", "count": "", "share": "%"}


def test_signs_are_read_with_decimal_commas(write):
    rows, _ = read(write("a;b\n1.234,50 €;1,5\n7 €;2,5\n"), columns=["a", "b"])
    assert rows.X.tolist() == [[1234.5, 1.5], [7, 2.5]]


@pytest.mark.parametrize("cells", ["$5 €6", "60% 0.5", "60% $5"])
@pytest.mark.parametrize("size", [4, 2**21])
def test_numbers_with_different_signs_are_refused(write, monkeypatch, cells, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    path = write("a,b\n" + "".join(f"{cell},1\n" for cell in cells.split()))
    with (
        open_table(path) as table,
        pytest.raises(TableError, match="different currency or percent signs") as caught,
    ):
        read_rows(table, columns=["a"])
    assert caught.value.column == "a"


def test_numbers_with_signs_are_scored_only_where_the_model_had_some(write):
    with open_table(write("a,b\n60%,1\n")) as table:
        (block,) = table.blocks()
        assert rows_of(block, ["a", "b"], signs={"a": "%"}).tolist() == [[60, 1]]
        for signs in (None, {}, {"a": "$"}):
            with pytest.raises(TableError, match="column 'a'"):
                rows_of(block, ["a"], signs=signs)


@pytest.mark.parametrize(
    ("cell", "decimal", "expected"),
    [
        ("$7,440", ".", (7440, "$")),
        ("-€ 1.5", ".", (-1.5, "€")),
        ("1'234 £", ".", (1234, "£")),
        ("1 234 567", ".", (1234567, "")),
        ("1\u202f234,5", ",", (1234.5, "")),
        ("60 %", ",", (60, "%")),
        ("$5%", ".", None),
        ("1,23", ".", None),
        ("12 kg", ".", None),
        ("$", ".", None),
        ("1,2345", ".", None),
        ("2024-01-31", ".", None),
    ],
)
def test_signs_are_taken_off(cell, decimal, expected):
    assert unmarked(cell, decimal) == expected
