"""Text files: dialects, lines, blocks, and cells as they stand."""

import csv
import gzip
import io
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from typicality.exceptions import TableError
from typicality.tables import base, csv_text, open_table, read_rows, rows_of
from typicality.tables.delimited import PlainBlock


@pytest.fixture
def write(tmp_path):
    def write_file(contents, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return path

    return write_file


def cells(path, **options):
    """Names, and all cells row by row."""
    with open_table(path, **options) as table:
        blocks = [[b.cells(name) for name in b.names] for b in table.blocks()]
    return table.names, [row for block in blocks for row in zip(*block, strict=True)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found(write, delimiter):
    text = "a b,x\n1.5,2\n".replace(",", delimiter)
    assert cells(write(text)) == (("a b", "x"), [("1.5", "2")])


@pytest.mark.parametrize("header", ["x;y", "x, cm;y, cm", "0,5;1,5"])
def test_a_decimal_comma_is_no_delimiter(write, header):
    assert cells(write(f"{header}\n1,5;2,5\n3,5;4,5\n"))[1][-1] == ("3,5", "4,5")


@pytest.mark.parametrize("delimiter", [" ", "?", "\x1f"])
def test_delimiter_is_found_between_missing_cells_that_look_like_it(write, delimiter):
    text = "a,b,c,d,e\n1,,,4,5\n6,7,8,9,10\n".replace(",", delimiter)
    with open_table(write(text), delimiter=delimiter) as table:
        rows = read_rows(table, columns=["a", "b", "c", "d"])
    np.testing.assert_array_equal(rows.X, [[1, np.nan, np.nan, 4], [6, 7, 8, 9]])


def test_a_delimiter_that_cuts_all_lines_alike_is_the_one(write):
    assert cells(write("a;b\n1,5;x\n2,5;y,z\n"))[1] == [("1,5", "x"), ("2,5", "y,z")]


def test_delimiter_can_be_given(write):
    path = write("a;b,c\n1;2,3\n")
    assert cells(path, delimiter=";")[0] == ("a", "b,c")
    assert cells(path, delimiter=",")[0] == ("a;b", "c")
    assert cells(path, delimiter="x")[0] == ("a;b,c",)


def test_tsv_has_tabs(write):
    assert cells(write("a,b\tc\n1\t2\n", "rows.tsv"))[0] == ("a,b", "c")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_reader_takes_encodings_and_ends_of_lines(write, encoding, end):
    text = end.join(["größe,b", "1,2", "", "ü,4"])
    names, rows = cells(write(text.encode(encoding)))
    assert names == ("größe", "b")
    assert rows == [("1", "2"), ("ü", "4")]


HEADERS = {
    "names": ("a,b\n1,2\n", ("a", "b"), 1),
    "numbers": ("1.5,2\n3,4\n", ("column 1", "column 2"), 2),
    "one number": ("0\n1\n", ("column 1",), 2),
    "pandas": ("0,1\n1,2\n", ("0", "1"), 1),
    "no name": ("a,,c\n1,2,3\n", ("a", "column 2", "c"), 1),
    "spaces": (" a , b\n1,2\n", ("a", "b"), 1),
    "missing": ("NA,2\n1,2\n", ("NA", "2"), 1),
    "two lines": ('"a\nb",c\n1,2\n', ("a\nb", "c"), 1),
    "blank lines before": ("\n\na,b\n1,2\n", ("a", "b"), 1),
}


@pytest.mark.parametrize(("text", "names", "n_rows"), HEADERS.values(), ids=HEADERS)
def test_header_is_found(write, text, names, n_rows):
    with open_table(write(text)) as table:
        assert sum(block.n_rows for block in table.blocks()) == n_rows
    assert table.names == names
    assert table.n_rows == n_rows


def test_header_can_be_decided(write):
    assert cells(write("1,2\n3,4\n"), header=True)[0] == ("1", "2")
    assert cells(write("a,b\n3,4\n"), header=False) == (
        ("column 1", "column 2"),
        [("a", "b"), ("3", "4")],
    )


def test_lines_are_counted_through_quotations_and_blanks(monkeypatch, write):
    path = write('a,b\n"x\r\ny",1\n\nz,2\n"p\n\nq",3\nr,4\n')
    for size in (1, 2, 10, 100):
        monkeypatch.setattr(base, "BLOCK_BYTES", size)
        with open_table(path) as table:
            found = [
                (b.line_of(i), b.first_row + i) for b in table.blocks() for i in range(b.n_rows)
            ]
        assert found == [(2, 0), (5, 1), (6, 2), (9, 3)]


def test_blocks_end_where_lines_end(monkeypatch, write):
    path = write("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(10)))
    monkeypatch.setattr(base, "BLOCK_BYTES", 16)
    with open_table(path) as table:
        blocks = list(table.blocks())
        assert [(b.first_row, b.n_rows, b.line_of(0)) for b in blocks] == [
            (0, 3, 2),
            (3, 3, 5),
            (6, 3, 8),
            (9, 1, 11),
        ]
        again = [rows_of(b, ["b", "a"]) for b in table.blocks()]
    np.testing.assert_array_equal(np.concatenate(again), [[i * i, i] for i in range(10)])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", range(1, 12))
def test_ends_of_lines_are_never_cut(monkeypatch, write, end, size):
    path = write(end.join(["a,b", "1,2", "", "3,4", "5,6", ""]))
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    with open_table(path) as table:
        blocks = list(table.blocks())
    found = [row for b in blocks for row in zip(b.lines, *rows_of(b, ["a", "b"]).T, strict=True)]
    assert found == [(2, 1, 2), (4, 3, 4), (5, 5, 6)]


NUMBERS = ["1", " 2.5", "-3e2 ", "+.5", "", "NA", " N/A", "nan", "null", "None", "?", "7."]
EXPECTED = [1, 2.5, -300, 0.5, *[np.nan] * 7, 7]


@pytest.mark.parametrize("quote", ["", '"'])
def test_blocks_have_numbers_and_missing_values(write, quote):
    path = write("a;b\n" + "".join(f"{quote}{cell}{quote};0\n" for cell in NUMBERS))
    with open_table(path) as table:
        block = next(table.blocks())
        np.testing.assert_array_equal(rows_of(block, ["b", "a"])[:, 1], EXPECTED)


@pytest.mark.parametrize("rest", ["", '"quoted"'])
def test_text_and_infinity_are_refused_when_rows_are_scored(write, rest):
    with open_table(write(f"a,b,c\n1,2,\n1_000,inf,{rest}\n")) as table:
        block = next(table.blocks())
        for names, column in ((["a"], "a"), (["b"], "b"), (["b", "a"], "b")):
            with pytest.raises(TableError) as caught:
                rows_of(block, names)
            assert (caught.value.line, caught.value.column) == (3, column)
        with pytest.raises(TableError, match=r"has no column 'aa', 'x'\. Did you mean 'a'\? Its"):
            rows_of(block, ["aa", "b", "x"])


QUOTED = {
    "all": '"1","x","2"\n"3","","4"\n',
    "some empty": '1,"",2\n3,y,4\n',
    "doubled": '1,"a ""b"", c",2\n3,"""",4\n"5","""d""",6\n',
}


@pytest.mark.parametrize("rows", QUOTED.values(), ids=QUOTED)
def test_quoted_cells_of_one_line_are_read_the_quick_way(write, rows):
    path = write(f"a,b,c\n{rows}")
    with open_table(path) as table:
        (block,) = table.blocks()
        assert isinstance(block, PlainBlock)
        written = csv_text(block, {}, header=False).decode()
    assert written == rows
    assert cells(path)[1] == [tuple(row) for row in csv.reader(io.StringIO(rows))]


def test_fingerprint_is_that_of_the_bytes(write):
    import hashlib

    path = write("a,b\n1,2\n")
    with open_table(path) as table:
        assert table.fingerprint is None
        list(table.blocks())
    assert table.fingerprint == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def test_standard_input_is_read_twice(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    contents = b"a,b\n1,2\n3,5\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(contents)))
    with open_table("-") as table:
        assert table.name == "standard input"
        assert read_rows(table).names == ("a", "b")
        assert sum(block.n_rows for block in table.blocks()) == 2
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_standard_input_leaves_no_file_when_it_is_bad(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(TableError, match="standard input is empty"):
        open_table("-")
    assert list(tmp_path.iterdir()) == []


def test_standard_input_may_be_an_array(monkeypatch):
    array = io.BytesIO()
    np.save(array, np.eye(3))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(array.getvalue())))
    with open_table("-") as table:
        assert table.format == "npy"
        np.testing.assert_array_equal(read_rows(table).X, np.eye(3))


def arrow_stream():
    table, stream = pa.table({"id": [1], "x": [2]}), io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


STARTS = {
    "names with a brace": (b"{id},x\n1,2\n3,5\n", "csv"),
    "an object": (b'{"id": 1, "x": 2}\n', "ndjson"),
    "an object after a mark": (b'\xef\xbb\xbf{ "id": 1, "x": 2}\n', "ndjson"),
    "a compressed object": (gzip.compress(b'{"id": 1, "x": 2}\n'), "ndjson"),
    "a stream of arrow": (arrow_stream(), "arrow"),
    "compressed names": (gzip.compress(b"{id},x\n1,2\n"), "csv"),
}


@pytest.mark.parametrize(("contents", "format"), STARTS.values(), ids=STARTS)
def test_standard_input_is_what_it_begins_like(monkeypatch, contents, format):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(contents)))
    with open_table("-") as table:
        assert table.format == format
        assert len(table.names) == 2


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6), size=st.integers(1, 40))
def test_any_cells_are_read_back(tmp_path_factory, rows, size):
    path = tmp_path_factory.mktemp("cells") / "rows.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("a", "b"), *rows])
    with pytest.MonkeyPatch.context() as patch, open_table(path, delimiter=",") as table:
        patch.setattr(base, "BLOCK_BYTES", size)
        found = [list(zip(b.cells("a"), b.cells("b"), strict=True)) for b in table.blocks()]
    assert [row for some in found for row in some] == rows


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (b'a,b,c\n\n\xef\xbb\xbf,"q",7\n', [["\ufeff", "q", "7"]]),
        (b"a\r\n\r\n\xef\xbb\xbf\r\nx\r\n", [["\ufeff"], ["x"]]),
    ],
)
def test_mark_after_a_blank_line_stays_in_its_cell(write, contents, expected):
    with open_table(write(contents), header=True) as table:
        (block,) = table.blocks()
        assert list(map(list, zip(*map(block.cells, table.names), strict=True))) == expected
