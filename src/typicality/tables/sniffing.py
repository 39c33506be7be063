"""How a text file is written, from its first lines: delimiter, encoding, header, decimal mark."""

import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from typicality._words import counted, listed, shown
from typicality.exceptions import Remedy, TableError
from typicality.tables.base import Assumption
from typicality.tables.cells import (
    NEARLY_ALL,
    decimal_mark,
    has_decimal_comma,
    is_missing,
    is_number,
    look_of,
)
from typicality.tables.layout import (
    DELIMITERS,
    N_SNIFFED,
    WHITESPACE,
    best_layout,
    completed,
    records,
)
from typicality.tables.lines import (
    LEGACY,
    encoding_of,
    open_text,
    unpacked,
)

_COMMENT = re.compile(r"#(?![,;\t|]\S)")  # but a column may be called #
_SAMPLE = 2**16  # bytes
_NUMBER = "number"
_YEAR = re.compile(r"(1[89]|20)\d\d")
_LEADING_ZERO = re.compile(r",0\d")  # 1,05 is a decimal comma: whole numbers are written 5
_WHOLE = re.compile(r"[+-]?0*[1-9]\d*")
_ARE_POINTS = Remedy("decimal", ".", "{} if they are decimal points")
_ARE_THOUSANDS = Remedy("decimal", ",", "{} if they separate thousands")
_ARE_COMMAS_OF_THOUSANDS = Remedy("decimal", ".", "{} if they separate thousands")
_ARE_DECIMAL_COMMAS = Remedy("decimal", ",", "{} if they are decimal commas")
_TWO_COLUMNS = Assumption(
    "commas between two columns of whole numbers",
    Remedy("decimal", ",", "{} if they are decimal commas"),
)
_ARE_NAMES = Assumption("the first line holds names", Remedy("header", False, "{} if it is a row"))
_IS_ROW = Assumption(
    "the first line is a row, not names", Remedy("header", True, "{} if it holds names")
)
_BLANK_LINES = Assumption("blank lines hold no rows; write NA for missing values")
_NO_FIRST_NAME = Assumption("the first column has no name, as R writes names of rows")
_HAS_UNITS = Assumption("the second line holds units or types, not a row")
_BINARY = {  # how other formats begin
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "xlsx",
}


class TextSettings(NamedTuple):
    """The settings for a text file, as in :func:`typicality.tables.open_table`."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None


class Dialect(NamedTuple):
    """How a text file is written.

    Parameters
    ----------
    delimiter : str
        The separator of cells: one character, or "whitespace".
    encoding : str
        The encoding.
    names : tuple of str
        The names of the columns.
    has_header : bool
        Whether the names are in the file.
    n_skipped : int
        The number of lines before the first row: blank lines, comments and the header.
    decimal : {".", ","}
        The decimal mark.
    escaped : bool
        Whether a backslash before a quotation mark makes it a letter of a quoted cell.
    assumed : list of Assumption
        What was detected and may be wrong.
    """

    delimiter: str
    encoding: str
    names: tuple[str, ...]
    has_header: bool
    n_skipped: int
    decimal: str
    escaped: bool
    assumed: list[Assumption]


def sniff(path: Path, source: str, given: TextSettings) -> Dialect:
    """How a text file is written; what is not given is detected."""
    assumed: list[Assumption] = []
    encoding, text = _first_lines(path, source, given.encoding)
    if encoding == LEGACY and given.encoding is None:
        assumed.append(Assumption(f"the encoding {LEGACY} (Latin-1)"))
    lines = io.StringIO(text, newline="").readlines()
    n_skipped = _n_comments(lines, assumed)
    if not any(map(str.strip, lines[n_skipped:])):
        raise TableError(f"{source} is empty. Choose a file with a header and rows.")
    delimiter, n_titles = _delimiter_of("".join(lines[n_skipped:]), given, assumed)
    n_skipped += n_titles
    text = "".join(lines[n_skipped:])
    found, escaped = records(text, delimiter), False
    if found.error is not None and '\\"' in text:
        other = records(text, delimiter, escaped=True)
        if escaped := other.error is None:
            found = other
            assumed.append(Assumption(r"\" is a quotation mark inside a quoted cell"))
    if not found.rows:
        raise bad_quotation(source, str(found.error), n_skipped + 1)
    (first, *rows), is_short = completed(found.rows)
    if is_short:
        assumed.append(_NO_FIRST_NAME)
    has_header = given.header
    if has_header is None:
        has_header = _has_header(first, rows[:N_SNIFFED], assumed)
    names = named_columns(first if has_header else [""] * len(first), assumed)
    if not has_header:
        rows.insert(0, first)
    elif _holds_units(rows):
        assumed.append(_HAS_UNITS)
        n_skipped += found.ends[1]
        rows = rows[1:]
    else:
        n_skipped += found.ends[0]
    decimal = given.decimal or _decimal_of(rows, delimiter if len(first) > 1 else "", assumed)
    if len(first) == 1 and not all(map(str.strip, text.strip().splitlines())):
        assumed.append(_BLANK_LINES)
    return Dialect(delimiter, encoding, names, has_header, n_skipped, decimal, escaped, assumed)


def _first_lines(path: Path, source: str, given: str | None) -> tuple[str, str]:
    """The encoding of a file, and its first lines."""
    with unpacked(path) as (contents, _):
        start: bytes = contents.read(_SAMPLE)
    for beginning, format in _BINARY.items():
        if start.startswith(beginning):
            raise TableError(
                f"{source} is not text: it begins like a file of the format {format}.",
                remedy=Remedy("format", format, f"Name it .{format}, or use {{}}."),
            )
    encoding = encoding_of(start, given)
    with open_text(path, source, encoding) as file:
        return encoding, file.next_lines(_SAMPLE)


def _n_comments(lines: Sequence[str], assumed: list[Assumption]) -> int:
    """The number of blank lines and comments before the first other line; 0 without comments.

    Where most lines below begin like comments, so do the cells of the first column.
    """
    above = list(takewhile(lambda line: not line.strip() or _COMMENT.match(line), lines))
    below = lines[len(above) :]
    n_marked = sum(map(bool, map(str.strip, above)))
    if not n_marked or 2 * sum(line.startswith("#") for line in below) > len(below):
        return 0
    assumed.append(Assumption(f"{counted(n_marked, 'line')} of comment (#) at the top"))
    return len(above)


def _delimiter_of(text: str, given: TextSettings, assumed: list[Assumption]) -> tuple[str, int]:
    """The delimiter, and the number of lines with titles above the table.

    Where every line is 1,5 or the like, the comma is a decimal comma if the digits behind one begin
    with zero.
    """
    layout = best_layout(text, [given.delimiter] if given.delimiter else DELIMITERS)
    delimiter, n_titles = layout.delimiter, layout.n_titles
    if delimiter == WHITESPACE and given.delimiter is None:
        assumed.append(Assumption("blanks between the columns"))
    if n_titles:
        assumed.append(Assumption(f"{counted(n_titles, 'line')} above the table skipped"))
    is_detected = delimiter == "," and not given.delimiter and not given.header
    if is_detected and all(map(has_decimal_comma, filter(str.strip, text.splitlines()))):
        if given.decimal == "," or _LEADING_ZERO.search(text):
            return ";", n_titles
        assumed += [_TWO_COLUMNS] if given.decimal is None else []
    return delimiter, n_titles


def _decimal_of(rows: Sequence[Sequence[str]], delimiter: str, assumed: list[Assumption]) -> str:
    """The decimal mark of some rows.

    It is the comma if some columns have decimal commas and none has decimal points. If a comma
    also separates cells, points must be clear, too, and a few commas among whole numbers are lists,
    such as "39,06". Where all marks may separate thousands, the delimiter decides: a semicolon is
    used because commas are decimal marks.
    """
    columns = [[cell.strip() for cell in column if cell] for column in zip_longest(*rows)]
    by_mark: dict[str, list[list[str]]] = {mark: [] for mark in (".", ",", ".?", ",?", "")}
    for cells in columns:
        mark = decimal_mark(cells)
        is_list = (mark, delimiter) == (",", ",") and 2 * sum("," in c for c in cells) < len(cells)
        by_mark["" if is_list else mark].append(cells)
    points, commas = by_mark[".?"], by_mark[",?"]
    if by_mark[","] and not by_mark["."] and not (points and delimiter == ","):
        assumed.append(Assumption("decimal commas, and points between thousands (1.234 is 1234)"))
        return ","
    counts, no_mark = list(filter(_are_counts, points)), not by_mark["."] and not by_mark[","]
    if delimiter == ";" and no_mark:
        if counts and len(counts) == len(points):
            number = _first_with(".", counts)
            what = f"points between thousands ({number} is {number.replace('.', '')})"
            assumed.append(Assumption(f"{what}, as no whole number exceeds 999", _ARE_POINTS))
            return ","
        if commas and not points and not any(map(_are_counts, commas)):
            what = f"decimal commas ({_first_with(',', commas)}), as semicolons separate the cells"
            assumed.append(Assumption(what, _ARE_COMMAS_OF_THOUSANDS))
            return ","
    in_question = counts if by_mark["."] and not by_mark[","] else points
    if in_question:
        others = "as in other columns"
        reason = others if by_mark["."] else "as nothing shows that they separate thousands"
        what = f"decimal points ({_first_with('.', in_question)}), {reason}"
        assumed.append(Assumption(what, _ARE_THOUSANDS))
    elif commas and delimiter != "," and not by_mark["."]:
        what = f"commas between thousands ({_first_with(',', commas)})"
        assumed.append(Assumption(what, _ARE_DECIMAL_COMMAS))
    return "."


def _are_counts(cells: Sequence[str]) -> bool:
    """Whether marks separate thousands, as in 245, 16.403: few numbers with decimals are whole."""
    n_marked = sum("." in cell or "," in cell for cell in cells)
    return any(map(_WHOLE.fullmatch, cells)) and n_marked > 1


def _first_with(mark: str, columns: Sequence[Sequence[str]]) -> str:
    return next(cell for cell in columns[0] if mark in cell)


def bad_quotation(source: str, reason: str, line: int) -> TableError:
    """An error about quotation marks; the reason is that of the module csv."""
    remedy = "Double the quotation marks inside a quoted cell, and close every quotation."
    if "unexpected end" in reason:
        reason = "the file ends inside a quotation that begins here"
        remedy = "It is cut off, or a quotation mark is missing: correct the line."
    return TableError(f"{reason}. {remedy}", source=source, line=line)


def _has_header(
    first: Sequence[str], rows: Sequence[Sequence[str]], assumed: list[Assumption]
) -> bool:
    """Whether the first record names the columns.

    A record of numbers only is a row. So is one that fits the kinds of the columns below it, where
    a column is of numbers, dates, truth values or text; names above text fit, too, so at least one
    cell must be of another kind or a word such as NA, or half of the cells must occur again in
    their columns. But numbers are names if they count up as in :func:`_are_names`.
    """
    columns = [[row[j] for row in rows if j < len(row)] for j in range(len(first))]
    kinds = [_kind_of(cell) for cell in first]
    numeric = [j for j, kind in enumerate(kinds) if kind == _NUMBER]
    numbers = [first[j].strip() for j in numeric]
    below = [cell.strip() for j in numeric for cell in columns[j]]
    with_text = any(kind not in ("", _NUMBER) for kind in kinds)
    again = [kind and cell in some for kind, cell, some in zip(kinds, first, columns, strict=True)]
    recurs = any(found and kind != _NUMBER for found, kind in zip(again, kinds, strict=True))
    is_series = numbers == ["0"] and first[0].strip() == ""  # as pandas writes one
    if is_series or (not recurs and _are_names(numbers, below, with_text=with_text)):
        assumed.append(_ARE_NAMES)
        return True
    if len(numeric) == len(first):
        return False
    fits = [
        kind == of_column
        for kind, of_column in zip(kinds, map(_kind_of_all, columns), strict=True)
        if kind and of_column not in ("", "text")
    ]
    misses = any(cell.strip() and is_missing(cell) for cell in first)
    is_like_others = any(fits) or misses or 2 * sum(map(bool, again)) >= len(first)
    # Names alone would be of no use.
    is_row = (numeric and not rows) or (all(fits) and is_like_others)
    if is_row or any(fits) or not any(kinds):
        assumed.append(_IS_ROW if is_row else _ARE_NAMES)
    return not is_row


def _holds_units(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some records has units or types of two columns of numbers, or more.

    In most of the columns of numbers it has words, which occur nowhere below, and in none a number.
    """
    columns = list(zip(*rows[: 1 + N_SNIFFED], strict=False))
    numeric = [cells for cells in columns if _kind_of_all(cells[1:]) == _NUMBER]
    units = [cells[0] for cells in numeric if not is_missing(cells[0])]
    return (
        len(rows) > 2
        and len(numeric) > 1
        and 2 * len(units) > len(numeric)
        and not any(_kind_of(unit) == _NUMBER for unit in units)
        and not any(cells[0] in cells[1:] for cells in numeric if cells[0] in units)
    )


def _kind_of(cell: str) -> str:
    """What a cell is: a number, or how :func:`look_of` calls it; "" if it is missing."""
    if is_missing(cell):
        return ""
    look = look_of([cell])
    is_one = is_number(cell) or look.startswith(("numbers with a ", "numbers with commas"))
    return _NUMBER if is_one else look


def _kind_of_all(cells: Sequence[str]) -> str:
    """What nearly all cells of a column are, else "text"; "" if all are missing."""
    kinds = [kind for cell in cells if (kind := _kind_of(cell))]
    if not kinds:
        return ""
    kind, count = Counter(kinds).most_common(1)[0]
    return kind if count >= NEARLY_ALL * len(kinds) else "text"


def _are_names(numbers: Sequence[str], below: Sequence[str], *, with_text: bool) -> bool:
    """Whether the numbers of the first record are names of columns.

    They are 0, 1, 2, ... (so pandas numbers columns); consecutive years, and most cells below are
    none; or, among names that are text, four or more numbers with equal steps, as wavelengths.
    """
    if len(numbers) > 1 and [*numbers] == [str(j) for j in range(len(numbers))]:
        return True
    if len(numbers) < (1 if with_text else 2) or not all(map(is_number, numbers)):
        return False
    steps = np.diff([float(number) for number in numbers])
    if all(map(_YEAR.fullmatch, numbers)) and (len({*steps}) < 2 and (abs(steps) == 1).all()):
        return 2 * sum(_YEAR.fullmatch(cell) is not None for cell in below) < len(below)
    return with_text and len(steps) > 2 and steps[0] != 0 and np.allclose(steps, steps[0])


def named_columns(first: Sequence[str], assumed: list[Assumption]) -> tuple[str, ...]:
    """Names of the columns from the first record.

    Repeated names get a number, as in pandas: a, a.1.
    """
    given = [cell.strip() or f"column {j}" for j, cell in enumerate(first, 1)]
    taken, names = set(given), dict[str, bool]()
    for name in given:
        free, k = name, 0
        while free in names or (k and free in taken):
            k += 1
            free = f"{name}.{k}"
        names[free] = k > 0
    new = [shown(name) for name, is_new in names.items() if is_new]
    if new:
        assumed.append(Assumption(f"columns of the same name are called {listed(new)}"))
    return tuple(names)
