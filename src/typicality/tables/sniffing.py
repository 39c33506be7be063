"""What a text file looks like: its encoding, its delimiter, and whether it has a header."""

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from typicality._words import counted, listed, shown
from typicality.exceptions import TableError
from typicality.tables.cells import decimal_mark, has_decimal_comma, is_missing, is_number
from typicality.tables.lines import (
    LEGACY,
    LONGEST_LINE,
    HashedFile,
    is_legacy,
    is_utf16,
    line_too_long,
)

DELIMITERS = (",", ";", "\t", "|")
WHITESPACE = "whitespace"  # any number of blanks and tabs
COMMENT = "#"
AS_LEGACY = f"the encoding {LEGACY} (Latin-1)"
AS_COMMAS = "decimal commas, and points between thousands (1.234 is 1234)"

_SAMPLE = 2**16  # bytes
_N_ROWS = 100
PARQUET, ARROW, NUMPY, ZIP = b"PAR1", b"ARROW1", b"\x93NUMPY", b"PK\x03\x04"
ARROW_STREAM = b"\xff\xff\xff\xff"
_BEGINNINGS = {
    PARQUET: ("a parquet file", "Name it .parquet, or set format='parquet'."),
    ARROW: ("an arrow file", "Name it .arrow, or set format='arrow'."),
    NUMPY: ("a NumPy array", "Name it .npy, or set format='npy'."),
    ZIP: ("a zip file, e.g. an Excel workbook", "Name it .xlsx, or set format='xlsx'."),
}


class TextSettings(NamedTuple):
    """What was said about a text file, as in :func:`typicality.tables.open_table`."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None


class Dialect(NamedTuple):
    """How a text file is written.

    Parameters
    ----------
    delimiter : str
        What stands between cells; one character, or "whitespace".
    first : list of str
        The first record.
    n_comments : int
        How many lines before it are comments or blank.
    encoding : str or None
        The encoding, if it was said or is neither UTF-8 nor UTF-16.
    decimal : {".", ",", ""}
        The decimal mark; the empty text where columns differ.
    assumed : list of str
        What was found out and may be wrong.
    """

    delimiter: str
    first: list[str]
    n_comments: int
    encoding: str | None
    decimal: str
    assumed: list[str]


def sniff(path: Path, name: str, said: TextSettings) -> Dialect:
    """How a file is written, from its first lines; an error where it is no table of text."""
    delimiter, header, encoding, decimal = said
    # Encodings such as UTF-16 have zeros in any text.
    sample = _sample(path, name, is_wide="16" in (encoding or "") or "32" in (encoding or ""))
    assumed: list[str] = []
    if encoding is None and not is_utf16(sample) and _is_legacy(sample):
        encoding = LEGACY
        assumed.append(AS_LEGACY)
    by = "utf-16" if is_utf16(sample) else encoding or "utf-8"
    text = sample.decode("utf-8-sig" if by == "utf-8" else by, errors="replace")
    if not text.strip():
        raise TableError(f"{name} is empty. Choose a file with a header and rows.")
    lines = io.StringIO(text, newline="").readlines()
    whole = lines[:-1] if len(lines) > 1 and len(sample) >= _SAMPLE else lines
    n_comments = _n_comments(whole)
    candidates = [delimiter] if delimiter else [*DELIMITERS, WHITESPACE]
    rows = {d: _first_rows(whole[n_comments:], d) for d in candidates}
    best = max(rows, key=lambda d: _fit(rows[d], d))
    if not rows[best]:
        raise bad_quotation(name, "field limit", 1)
    first = rows[best][0]
    if best == WHITESPACE and delimiter is None:
        assumed.append("blanks between the columns")
    if n_comments and header is not False:
        names = _first_rows([whole[n_comments - 1].lstrip(COMMENT + " \t")], best)
        # The last line of comment holds the names where the next line is a row of as many cells.
        if names and 1 < len(names[0]) == len(first) and any(map(is_number, first)):
            first, n_comments = names[0], n_comments - 1
            assumed.append(f"column names taken from the line of {COMMENT}")
    if n_comments:
        n_told = sum(line.startswith(COMMENT) for line in whole[:n_comments])
        assumed.append(f"{counted(n_told, 'line')} of comment ({COMMENT}) at the top")
    if decimal is None:
        decimal = _decimal_of(_first_rows(whole[n_comments:], best, at_most=_SAMPLE)[1:], best)
        assumed += [AS_COMMAS] if decimal == "," else []
    return Dialect(best, first, n_comments, encoding, decimal, assumed)


def _sample(path: Path, name: str, *, is_wide: bool) -> bytes:
    """The first bytes of a file, a whole line at least; an error where they are not text."""
    with HashedFile(path) as file:
        sample: bytes = file.contents.read(_SAMPLE)
        while len(sample) < LONGEST_LINE and b"\n" not in sample and b"\r" not in sample:
            if not (more := file.contents.read(_SAMPLE)):
                break
            sample += more
    for beginning, (kind, remedy) in _BEGINNINGS.items():
        if sample.startswith(beginning):
            first = "Unpack it first. " if file.codec else ""
            raise TableError(f"{name} is not text: it begins like {kind}. {first}{remedy}")
    if not is_utf16(sample) and not is_wide and b"\0" in sample:
        raise holds_zeros(name, sample[: sample.index(0)].count(b"\n") + 1)
    if len(sample) >= LONGEST_LINE:
        raise line_too_long(name)
    return sample


def _is_legacy(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # the last letter may be cut
    except UnicodeDecodeError:
        return is_legacy(sample)
    return False


def _n_comments(lines: Sequence[str]) -> int:
    """How many lines are blank or comments before the first that is neither."""
    for number, line in enumerate(lines):
        if line.strip() and not line.startswith(COMMENT):
            commented = any(each.startswith(COMMENT) for each in lines[:number])
            return number if commented else 0
    return 0


def _decimal_of(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """The decimal mark of all columns; the empty text where they differ."""
    width = max(map(len, rows), default=0)
    columns = [[row[j] for row in rows if j < len(row)] for j in range(width)]
    with_commas = (column for column in columns if any("," in cell for cell in column))
    if "," not in map(decimal_mark, with_commas):
        return "."
    return common_mark(map(decimal_mark, columns), delimiter)


def common_mark(marks: Iterable[str], delimiter: str) -> str:
    """The decimal mark that all columns can have; "" where they differ.

    Where a comma stands between cells, a number with a comma is no decimal for sure.
    """
    found = set(marks)
    if "," not in found:
        return "."
    return "" if "." in found or (delimiter == "," and "unsure" in found) else ","


def _first_rows(lines: Sequence[str], delimiter: str, *, at_most: int = _N_ROWS) -> list[list[str]]:
    """The first records, as far as they can be read."""
    rows: list[list[str]] = []
    is_space = delimiter == WHITESPACE
    if is_space:
        lines = [line.replace("\t", " ").strip() for line in lines]
    reader = csv.reader(lines, delimiter=" " if is_space else delimiter, skipinitialspace=is_space)
    with suppress(csv.Error):  # the reader proper says what is wrong, and where
        for row in reader:
            rows += [row] if row else []
            if len(rows) == at_most:
                break
    return rows


def bad_quotation(name: str, reason: str, line: int) -> TableError:
    """An error about quotation marks; the reason is that of the module csv."""
    if "unexpected end" in reason:
        what = "the file ends inside a quotation that begins here"
        remedy = (
            "It is cut off, or a quotation mark is missing: get the file again, or correct "
            "the line."
        )
    elif "field limit" in reason:
        what = f"a cell of more than {csv.field_size_limit():,} characters"
        remedy = "A closing quotation mark may be missing: correct the quotation marks."
    else:
        what = f"a quotation mark in a wrong place ({reason})"
        remedy = "Double the quotation marks inside a quoted cell."
    return TableError(f"{name}, line {line}: {what}. {remedy}", line=line)


def holds_zeros(name: str, line: int) -> TableError:
    """An error about bytes that no text has."""
    return TableError(
        f"{name} is not text: line {line} has bytes of value zero. Choose a csv file, "
        "or name the format with format=.",
        line=line,
    )


def _fit(rows: list[list[str]], delimiter: str) -> tuple[bool, float, float, int]:
    """The best delimiter cuts every line into as many cells as the first.

    Of several that do, it is the one that leaves most numbers whole, so that a decimal comma is
    none, and then the one that cuts into most cells. Blanks are in most texts: they are delimiters
    only where they cut all lines alike, and half of the cells are numbers, or one of three columns
    or more holds numbers only.
    """
    if not rows:
        return False, 0.0, 0.0, 0
    width = len(rows[0])
    alike = sum(len(row) == width for row in rows) / len(rows)
    cells = [cell for row in rows[1:] for cell in row if not is_missing(cell)]
    n_numbers = sum(is_number(cell) or has_decimal_comma(cell) for cell in cells)
    part = n_numbers / max(len(cells), 1)
    if delimiter == WHITESPACE and (alike < 1 or (part < 0.5 and not _has_numbers(rows))):
        return False, 0.0, 0.0, 0
    return width > 1, alike, part, width


def _has_numbers(rows: list[list[str]]) -> bool:
    """Whether one of three columns or more has numbers in all of at least four rows."""
    columns = zip(*rows[1:], strict=True)
    return len(rows) > 4 and len(rows[0]) > 2 and any(all(map(is_number, c)) for c in columns)


def named_columns(
    first: list[str], *, header: bool | None, decimal: str = "."
) -> tuple[tuple[str, ...], bool, list[str]]:
    """Names of the columns, whether the first record holds them, and what was assumed.

    A first record in which every cell is a number is a row, and columns get names by their
    position; but not where it counts 0, 1, 2 through two columns or more: that is how pandas
    writes tables without names. Names that are there already get a number, as in pandas: a, a.1.
    """
    if header is None:
        cells = [cell.strip() for cell in first]
        counts = len(cells) > 1 and cells == [str(j) for j in range(len(cells))]
        header = counts or not all(is_number(cell, decimal) for cell in cells)
    if not header:
        return tuple(f"column {j}" for j in range(1, len(first) + 1)), False, []
    given = [cell.strip() or f"column {j}" for j, cell in enumerate(first, 1)]
    taken, names = set(given), dict[str, bool]()
    for name in given:
        free, k = name, 0
        while free in names or (k and free in taken):
            k += 1
            free = f"{name}.{k}"
        names[free] = k > 0
    new = [shown(name) for name, is_new in names.items() if is_new]
    called = f"columns of the same name are called {listed(new)}"
    return tuple(names), True, [called] if new else []


def refuse_duplicates(names: Iterable[str], source: str) -> None:
    """An error that says which columns share a name."""
    first: dict[str, int] = {}
    for j, name in enumerate(names, 1):
        if name in first:
            raise TableError(
                f"{source} has two columns named {shown(name)}: column {first[name]} and column "
                f"{j}. Give every column a different name.",
                column=name,
            )
        first[name] = j
