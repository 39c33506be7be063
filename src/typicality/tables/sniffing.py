"""What a text file looks like: its encoding, its delimiter, and whether it has a header."""

import codecs
import csv
import io
from pathlib import Path
from typing import NamedTuple

from typicality.exceptions import TableError
from typicality.tables._words import shown
from typicality.tables.cells import is_number

__all__ = ["DELIMITERS", "Dialect", "named_columns", "refuse_binary", "sniff"]

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

_SAMPLE = 2**16  # bytes
_N_ROWS = 100
_LONGEST_LINE = 2**24
_ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BEGINNINGS = {
    b"PAR1": ("a parquet file", "Name it .parquet, or say --format parquet."),
    b"ARROW1": ("an arrow file", "Name it .arrow, or say --format arrow."),
    b"\x93NUMPY": ("a NumPy array", "Name it .npy, or say --format npy."),
    b"PK\x03\x04": ("a zip file, e.g. an Excel workbook", "Save the table as csv."),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "Save the table as csv."),
    b"\x1f\x8b": ("a gzip file", "Unpack it first."),
    b"BZh": ("a bzip2 file", "Unpack it first."),
    b"\x28\xb5\x2f\xfd": ("a zstandard file", "Unpack it first."),
    b"%PDF": ("a PDF document", "Save the table as csv."),
    b"\x89PNG": ("a PNG picture", "Choose a file of rows."),
    b"\xff\xd8\xff": ("a JPEG picture", "Choose a file of rows."),
}


class Dialect(NamedTuple):
    """How to read a text file: its encoding, its delimiter, and its first record."""

    encoding: str
    delimiter: str
    first: list[str]


def sniff(path: Path, name: str, *, delimiter: str | None) -> Dialect:
    """Look at the beginning of a file; an error where it is no table of text."""
    with open(path, "rb") as file:
        sample = file.read(_SAMPLE)
        while b"\n" not in sample and b"\r" not in sample and len(sample) < _LONGEST_LINE:
            more = file.read(_SAMPLE)
            if not more:
                break
            sample += more
    if not sample.strip():
        raise TableError(f"{name} is empty. Choose a file with a header and rows.")
    encoding = next((e for bom, e in _ENCODINGS.items() if sample.startswith(bom)), "utf-8")
    refuse_binary(sample, name, encoding)
    if len(sample) >= _LONGEST_LINE:
        raise TableError(
            f"{name} is not a table: its first line is longer than {_LONGEST_LINE // 2**20} "
            "megabytes. Choose a file with one row a line."
        )
    text = sample.decode(encoding, errors="replace")
    rows = {d: _first_rows(text, d) for d in ([delimiter] if delimiter else DELIMITERS)}
    best = max(rows, key=lambda d: _fit(rows[d]))
    return Dialect(encoding, best, next(iter(rows[best]), []))


def refuse_binary(sample: bytes, name: str, encoding: str) -> None:
    """An error for what begins like a file of another kind, or holds bytes that no text has."""
    for beginning, (kind, remedy) in _BEGINNINGS.items():
        if sample.startswith(beginning):
            raise TableError(f"{name} is not text: it begins like {kind}. {remedy}")
    if encoding != "utf-16" and b"\0" in sample:
        raise TableError(
            f"{name} is not text: byte {sample.index(0)} (from 0) is zero. Choose a csv file, or "
            "name the format with --format."
        )


def _first_rows(text: str, delimiter: str) -> list[list[str]]:
    """Up to a hundred records; the last may be cut off, and is left out where it may be."""
    lines = io.StringIO(text, newline="").readlines()
    whole = lines if len(text) < _SAMPLE else lines[:-1] or lines
    rows = []
    try:
        for row in csv.reader(whole, delimiter=delimiter):
            rows += [row] if row else []
            if len(rows) == _N_ROWS:
                break
    except csv.Error:
        pass  # the reader proper says what is wrong, and where
    return rows


def _fit(rows: list[list[str]]) -> tuple[bool, float, int]:
    """The best delimiter cuts every line into as many cells as the first, and into many."""
    if not rows:
        return False, 0.0, 0
    width = len(rows[0])
    alike = sum(len(row) == width for row in rows) / len(rows)
    return width > 1, alike, width


def named_columns(first: list[str], name: str, *, header: bool | None) -> tuple[list[str], bool]:
    """Names of the columns, and whether the first record holds them.

    A first record in which every cell is a number is a row, and columns get names by their
    position; but not where it counts 0, 1, 2 or 1, 2, 3 through two columns or more: that is how
    tables without names are often written.
    """
    if header is None:
        cells = [cell.strip() for cell in first]
        width = len(cells)
        counts = [[str(j + start) for j in range(width)] for start in (0, 1)]
        header = not all(map(is_number, cells)) or (width > 1 and cells in counts)
    if not header:
        return [f"column {j}" for j in range(1, len(first) + 1)], False
    names = [cell.strip() or f"column {j}" for j, cell in enumerate(first, 1)]
    refuse_duplicates(names, name)
    return names, True


def refuse_duplicates(names: list[str], source: str) -> None:
    """An error that says which columns share a name."""
    for j, name in enumerate(names):
        if names.index(name) < j:
            raise TableError(
                f"{source} has two columns of the name {shown(name)}: column "
                f"{names.index(name) + 1} and column {j + 1}. Give each column a name of its own.",
                column=name,
            )
