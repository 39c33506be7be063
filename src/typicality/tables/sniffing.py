"""What a text file looks like: its encoding, its delimiter, and whether it has a header."""

import csv
import io
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from typicality.exceptions import TableError
from typicality.tables.cells import has_decimal_comma, is_missing, is_number, shown
from typicality.tables.lines import LONGEST_LINE, HashedFile, is_utf16, line_too_long

DELIMITERS = (",", ";", "\t", "|")

_SAMPLE = 2**16  # bytes
_N_ROWS = 100
PARQUET, ARROW, NUMPY, ZIP = b"PAR1", b"ARROW1", b"\x93NUMPY", b"PK\x03\x04"
ARROW_STREAM = b"\xff\xff\xff\xff"
_BEGINNINGS = {
    PARQUET: ("a parquet file", "Name it .parquet, or say format='parquet'."),
    ARROW: ("an arrow file", "Name it .arrow, or say format='arrow'."),
    NUMPY: ("a NumPy array", "Name it .npy, or say format='npy'."),
    ZIP: ("a zip file, e.g. an Excel workbook", "Save the table as csv."),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "Save the table as csv."),
    b"%PDF": ("a PDF document", "Save the table as csv."),
    b"\x89PNG": ("a PNG picture", "Choose a file of rows."),
    b"\xff\xd8\xff": ("a JPEG picture", "Choose a file of rows."),
}


def sniff(path: Path, name: str, *, delimiter: str | None) -> tuple[str, list[str]]:
    """The delimiter of a file, and its first record; an error where it is no table of text."""
    with HashedFile(path) as file:
        sample = file.contents.read(_SAMPLE)
        while len(sample) < LONGEST_LINE and b"\n" not in sample and b"\r" not in sample:
            if not (more := file.contents.read(_SAMPLE)):
                break
            sample += more
    for beginning, (kind, remedy) in _BEGINNINGS.items():
        if sample.startswith(beginning):
            first = "Unpack it first. " if file.codec else ""
            raise TableError(f"{name} is not text: it begins like {kind}. {first}{remedy}")
    encoding = "utf-16" if is_utf16(sample) else "utf-8-sig"
    if encoding != "utf-16" and b"\0" in sample:
        raise holds_zeros(name, sample[: sample.index(0)].count(b"\n") + 1)
    if len(sample) >= LONGEST_LINE:
        raise line_too_long(name)
    text = sample.decode(encoding, errors="replace")
    if not text.strip():
        raise TableError(f"{name} is empty. Choose a file with a header and rows.")
    lines = io.StringIO(text, newline="").readlines()
    whole = lines[:-1] if len(lines) > 1 and len(sample) >= _SAMPLE else lines
    rows = {d: _first_rows(whole, d) for d in ([delimiter] if delimiter else DELIMITERS)}
    best = max(rows, key=lambda d: _fit(rows[d]))
    if not rows[best]:
        raise bad_quotation(name, "field limit", 1)
    return best, rows[best][0]


def _first_rows(lines: list[str], delimiter: str) -> list[list[str]]:
    """Up to a hundred records, as far as they can be read."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # the reader proper says what is wrong, and where
        for row in csv.reader(lines, delimiter=delimiter):
            rows += [row] if row else []
            if len(rows) == _N_ROWS:
                break
    return rows


def bad_quotation(name: str, reason: str, line: int) -> TableError:
    """An error about quotation marks; the reason is that of the module csv."""
    if "unexpected end" in reason:
        what = "the file ends inside a quotation that begins here"
        remedy = "It is cut off, or a quotation mark is missing: get it again, or correct the line."
    elif "field limit" in reason:
        what = f"a cell of more than {csv.field_size_limit():,} characters"
        remedy = "A quotation may never be closed: correct the quotation marks."
    else:
        what = f"a quotation mark where none may stand ({reason})"
        remedy = "Write quotation marks inside a quoted cell twice."
    return TableError(f"{name}, line {line}: {what}. {remedy}", line=line)


def holds_zeros(name: str, line: int) -> TableError:
    """An error about bytes that no text has."""
    return TableError(
        f"{name} is not text: there are bytes of value zero in line {line}. Choose a csv file, or "
        "name the format with format=.",
        line=line,
    )


def _fit(rows: list[list[str]]) -> tuple[bool, float, float, int]:
    """The best delimiter cuts every line into as many cells as the first.

    Of several that do, it is the one that leaves most numbers whole, so that a decimal comma is
    none, and then the one that cuts into most cells.
    """
    if not rows:
        return False, 0.0, 0.0, 0
    width = len(rows[0])
    alike = sum(len(row) == width for row in rows) / len(rows)
    cells = [cell for row in rows[1:] for cell in row if not is_missing(cell)]
    n_numbers = sum(is_number(cell) or has_decimal_comma(cell) for cell in cells)
    return width > 1, alike, n_numbers / max(len(cells), 1), width


def named_columns(
    first: list[str], name: str, *, header: bool | None
) -> tuple[tuple[str, ...], bool]:
    """Names of the columns, and whether the first record holds them.

    A first record in which every cell is a number is a row, and columns get names by their
    position; but not where it counts 0, 1, 2 through two columns or more: that is how pandas
    writes tables without names.
    """
    if header is None:
        cells = [cell.strip() for cell in first]
        counts = len(cells) > 1 and cells == [str(j) for j in range(len(cells))]
        header = counts or not all(map(is_number, cells))
    if not header:
        return tuple(f"column {j}" for j in range(1, len(first) + 1)), False
    names = tuple(cell.strip() or f"column {j}" for j, cell in enumerate(first, 1))
    refuse_duplicates(names, name)
    return names, True


def refuse_duplicates(names: Iterable[str], source: str) -> None:
    """An error that says which columns share a name."""
    first: dict[str, int] = {}
    for j, name in enumerate(names, 1):
        if name in first:
            raise TableError(
                f"{source} has two columns of the name {shown(name)}: column {first[name]} and "
                f"column {j}. Give each column a name of its own.",
                column=name,
            )
        first[name] = j
