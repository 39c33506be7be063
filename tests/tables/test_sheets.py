"""Spreadsheets, by the optional package fastexcel."""

import sys
import zipfile

import numpy as np
import pytest

from typicality.exceptions import TableError
from typicality.tables import csv_text, open_table, read_rows

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def write_workbook(path, *sheets):
    """A workbook with sheets of rows; None for an empty cell."""

    def cell(row, column, value):
        place = f"{chr(ord('A') + column)}{row}"
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return "" if value is None else f'<c r="{place}"><v>{value!r}</v></c>'

    numbers = range(1, len(sheets) + 1)
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{k}.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for k in numbers
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        f'spreadsheetml.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>'
        + "".join(f'<sheet name="Sheet {k}" sheetId="{k}" r:id="r{k}"/>' for k in numbers)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{k}" Type="{_LINKS}/worksheet" Target="worksheets/sheet{k}.xml"/>'
            for k in numbers
        )
        + "</Relationships>",
    }
    for k, rows in zip(numbers, sheets, strict=True):
        lines = "".join(
            f'<row r="{i}">{"".join(cell(i, j, value) for j, value in enumerate(row))}</row>'
            for i, row in enumerate(rows, 1)
        )
        files[f"xl/worksheets/sheet{k}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w") as book:
        for name, text in files.items():
            book.writestr(name, _HEAD + text)
    return path


ROWS = [
    ["x", "name", "y", "x"],
    [0.1, "Anna, B", 7, "-"],
    [None, None, None, None],
    [1234.5678901234, 'C "D"', 1e-17, 3],
    [-2, "Zoë", "n/a", 5.25],
]


@pytest.fixture
def workbook(tmp_path, monkeypatch):
    pytest.importorskip("fastexcel", reason="fastexcel is not installed: spreadsheets untested")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return write_workbook(tmp_path / "rows.xlsx", ROWS, [["other"], [1]])


def test_first_sheet_is_read_with_its_rows_as_lines(workbook):
    with open_table(workbook) as table:
        rows = read_rows(table)
        (block,) = table.blocks()
        assert block.lines.tolist() == [2, 4, 5]
        text = csv_text(block, {}, header=True).decode()
    assert (table.format, rows.names) == ("xlsx", ("x", "y", "x.1"))
    expected = [[0.1, 7, np.nan], [1234.5678901234, 1e-17, 3], [-2, np.nan, 5.25]]
    np.testing.assert_array_equal(rows.X, expected)
    assert text.splitlines()[0] == "x,name,y,x.1"
    assert '"Anna, B",7,-' in text
    assert '"C ""D"""' in text
    assert table.assumed[0].what == "the first of 2 sheets"
    assert [path.name for path in workbook.parent.iterdir()] == ["rows.xlsx"]


def test_error_in_a_sheet_names_the_row(workbook):
    write_workbook(workbook, [["a", "b"], [1, 2], [3, "red"], [4, 5]])
    with open_table(workbook) as table, pytest.raises(TableError) as caught:
        read_rows(table, columns=["a", "b"])
    assert (caught.value.line, caught.value.column) == (3, "b")


@pytest.mark.parametrize("contents", [b"PK", b"a,b\n1,2\n"])
def test_damaged_spreadsheet_is_refused(workbook, contents):
    workbook.write_bytes(contents)
    with pytest.raises(TableError, match="not a complete spreadsheet"):
        open_table(workbook)


def test_empty_sheet_is_refused(workbook):
    write_workbook(workbook, [])
    with pytest.raises(TableError, match="is empty"):
        open_table(workbook)
    assert len(list(workbook.parent.iterdir())) == 1


def test_spreadsheet_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    path = write_workbook(tmp_path / "Rows.XLSX", ROWS)
    with pytest.raises(TableError, match=r"pip install fastexcel"):
        open_table(path)
