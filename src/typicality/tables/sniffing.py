"""How a text file is written, from its first lines: delimiter, encoding, header, decimal mark."""

import csv
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
from typicality.tables.lines import (
    LEGACY,
    encoding_of,
    open_text,
    unpacked,
)

DELIMITERS = (",", ";", "\t", "|")
WHITESPACE = "whitespace"  # any number of blanks and tabs
_COMMENT = "#"
_AROUND = re.compile(r"(?:\A|(?<=[\r\n]))[ \t]+|[ \t]+(?=[\r\n]|\Z)")
_ESCAPE = re.compile(r'\\(["\\])')
_BLANKS = re.compile(r'("[^"\r\n]*")|[ \t]+')
_SAMPLE = 2**16  # bytes
_N_ROWS = 100
_NUMBER = "number"
_YEAR = re.compile(r"(1[89]|20)\d\d")
_LEADING_ZERO = re.compile(r",0\d")  # 1,05 is a decimal comma: whole numbers are written 5
_WHOLE = re.compile(r"[+-]?\d+")
_ARE_POINTS = Remedy("decimal", ".", "{} if they are decimal points")
_ARE_THOUSANDS = Remedy("decimal", ",", "{} if they separate thousands")
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
    encoding, text = _first_lines(path, source, given.encoding)
    assumed: list[Assumption] = []
    if encoding == LEGACY and given.encoding is None:
        assumed.append(Assumption(f"the encoding {LEGACY} (Latin-1)"))
    lines = io.StringIO(text, newline="").readlines()
    n_comments, about_comments = _comments(lines)
    text = "".join(lines[n_comments:])
    if not text.strip():
        raise TableError(f"{source} is empty. Choose a file with a header and rows.")
    candidates = [given.delimiter] if given.delimiter else [*DELIMITERS, WHITESPACE]
    delimiter, n_titles = _layout(text, candidates)
    if n_titles:
        text = "".join(io.StringIO(text, newline="").readlines()[n_titles:])
        n_comments += n_titles
        about_comments.append(Assumption(f"{counted(n_titles, 'line')} above the table skipped"))
    if delimiter == WHITESPACE and given.delimiter is None:
        assumed.append(Assumption("blanks between the columns"))
    assumed += about_comments
    is_given = given.delimiter or given.header
    if (
        delimiter == ","
        and not is_given
        and all(map(has_decimal_comma, filter(str.strip, text.splitlines())))
    ):
        if given.decimal == "," or _LEADING_ZERO.search(text):
            delimiter = ";"
        elif given.decimal is None:
            assumed.append(_TWO_COLUMNS)
    found = _records(text, delimiter)
    escaped = False
    if found.error is not None and '\\"' in text:
        other = _records(text, delimiter, escaped=True)
        if escaped := other.error is None:
            found = other
            assumed.append(Assumption(r"\" is a quotation mark inside a quoted cell"))
    if found.is_short:
        assumed.append(_NO_FIRST_NAME)
    if not found.rows:
        raise bad_quotation(source, str(found.error), n_comments + 1)
    first, *rows = found.rows
    decimal = given.decimal
    if decimal is None:
        decimal, about_marks = _decimal_of(rows, delimiter)
        assumed += about_marks
    has_header = given.header
    if has_header is None:
        has_header, about_header = _detect_header(first, rows[:_N_ROWS], decimal)
        assumed += about_header
    if len(first) == 1 and not all(map(str.strip, text.strip().splitlines())):
        assumed.append(_BLANK_LINES)
    names, n_skipped = tuple(f"column {j}" for j in range(1, len(first) + 1)), n_comments
    if has_header:
        names, renamed = named_columns(first)
        assumed += renamed
        has_units = _holds_units(rows, decimal)
        assumed += [_HAS_UNITS] if has_units else []
        n_skipped += found.ends[has_units]
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


def _comments(lines: Sequence[str]) -> tuple[int, list[Assumption]]:
    """The number of blank lines and comments before the first other line; 0 without comments."""
    above = list(takewhile(lambda line: not line.strip() or line.startswith(_COMMENT), lines))
    n_marked = sum(line.startswith(_COMMENT) for line in above)
    if not n_marked:
        return 0, []
    what = f"{counted(n_marked, 'line')} of comment ({_COMMENT}) at the top"
    return len(above), [Assumption(what)]


def _decimal_of(rows: Sequence[Sequence[str]], delimiter: str) -> tuple[str, list[Assumption]]:
    """The decimal mark, and what was assumed about points.

    It is the comma if some columns have decimal commas and none has decimal points. If a comma
    also separates cells, points must be clear, too.
    """
    columns = [[cell.strip() for cell in column if cell] for column in zip_longest(*rows)]
    marks = [decimal_mark(column) for column in columns]
    unsure = [column for column, mark in zip(columns, marks, strict=True) if mark == "unsure"]
    if "," in marks and "." not in marks and not (unsure and delimiter == ","):
        return ",", [Assumption("decimal commas, and points between thousands (1.234 is 1234)")]
    return _reading_of_points(unsure, marks)


def _reading_of_points(
    columns: Sequence[Sequence[str]], marks: Sequence[str]
) -> tuple[str, list[Assumption]]:
    """How to read columns like 1.234, 5.678, where points may be either: the decimal mark.

    A whole number above 999 shows that points do not separate thousands. Without one, other whole
    numbers show that they do, for few numbers with three decimals are whole: 245, 16.403, 2.733.
    Points are decimal points in all columns if they are so in one, by the `marks` of all columns.
    """
    is_mark = "." in marks
    counts, doubtful = [], []
    for column in columns:
        points = [cell for cell in column if "." in cell]
        whole = [int(cell) for cell in column if _WHOLE.fullmatch(cell)]
        if any(abs(number) > 999 for number in whole):
            continue
        doubtful.append(points[0])
        if len(points) > 1 and any(whole):
            counts.append(points[0])
    if counts and not is_mark and len(doubtful) == len(columns):
        number = counts[0].replace(".", "")
        what = f"points between thousands ({counts[0]} is {number}), as no whole number exceeds 999"
        return ",", [Assumption(what, _ARE_POINTS)]
    in_question = counts if is_mark and "," not in marks else doubtful
    if not in_question:
        return ".", []
    reason = "as in other columns" if is_mark else "as nothing shows that they separate thousands"
    return ".", [Assumption(f"decimal points ({in_question[0]}), {reason}", _ARE_THOUSANDS)]


# ---- records -------------------------------------------------------------------------------------


class _Records(NamedTuple):
    """The first records that are not blank, what is wrong after them, and where they end.

    The names `is_short` of a name for the first column, which then is "".
    """

    rows: list[list[str]]
    error: csv.Error | None
    ends: list[int]
    is_short: bool


def _records(text: str, delimiter: str, *, escaped: bool = False, strict: bool = True) -> _Records:
    plain = canonical(text, delimiter, escaped=escaped)
    lines = io.StringIO(plain, newline="")
    reader = csv.reader(lines, delimiter=csv_delimiter(delimiter), strict=strict)
    rows, ends, error = list[list[str]](), list[int](), None
    try:
        for row in filter(None, reader):
            rows.append(row)
            ends.append(reader.line_num)
    except csv.Error as found:
        error = found
    widths = {len(row) for row in rows[1:_N_ROWS]}
    is_short = bool(rows) and len(rows[0]) > 1 and widths == {len(rows[0]) + 1}
    is_short = is_short and not any(map(is_number, rows[0]))
    ends_in_delimiter = is_short and not any(row[-1].strip() for row in rows[1:])
    if is_short:
        rows[0].insert(len(rows[0]) if ends_in_delimiter else 0, "")
    return _Records(rows, error, ends, is_short and not ends_in_delimiter)


def _layout(text: str, candidates: Sequence[str]) -> tuple[str, int]:
    """The delimiter that fits best, and the number of lines with titles above the table.

    Titles are looked for if no delimiter splits all lines into as many cells as the first. They are
    the first records, with at most half of the cells that all others have.
    """
    found = {d: _records(text, d, strict=False) for d in candidates}
    fits = {d: _fit(each.rows[:_N_ROWS], d) for d, each in found.items()}
    best = max(candidates, key=lambda d: fits[d])
    ends = dict.fromkeys(candidates, 0)
    if fits[best][:2] != (True, 1.0):
        for d, each in found.items():
            n_titles = _n_titles(each.rows[:_N_ROWS])
            if n_titles:
                fits[d], ends[d] = _fit(each.rows[n_titles:_N_ROWS], d), each.ends[n_titles - 1]
        best = max(candidates, key=lambda d: fits[d])
    return best, ends[best]


def _n_titles(rows: Sequence[Sequence[str]]) -> int:
    widths = [len(row) for row in rows]
    most = max(widths, default=0)
    while widths and 2 * widths[-1] <= most:  # notes below the table
        widths.pop()
    n_titles = widths.index(most) if widths else 0
    is_table = {*widths[n_titles:]} == {most} and len(widths) - n_titles > 2
    # A name above decimal commas is no title.
    is_table = is_table and (most > 2 or not any(map(is_number, rows[n_titles])))
    return n_titles if is_table and all(2 * width <= most for width in widths[:n_titles]) else 0


def csv_delimiter(delimiter: str) -> str:
    """What separates cells in :func:`canonical` text."""
    return " " if delimiter == WHITESPACE else delimiter


def canonical(text: str, delimiter: str, *, escaped: bool) -> str:
    r"""Lines as the module csv and Arrow read them.

    Quoted cells have no blanks before and after their quotation marks. If quotation marks are
    `escaped`, \" becomes two quotation marks. If whitespace separates cells, it becomes one blank.
    """
    if '"' in text:
        if escaped:
            text = _ESCAPE.sub(lambda found: '""' if found[1] == '"' else found[0], text)
        blanks, end = "[ ]" if delimiter == "\t" else "[ \t]", f"[{re.escape(delimiter)}\r\n]"
        if delimiter not in (" ", WHITESPACE) and re.search(
            f'"{blanks}+({end}|$)|(^|{end}){blanks}+"', text
        ):
            # All quoted cells are matched, so that no match begins inside a cell.
            begin = rf"(?<!{end.replace('[', '[^', 1)}){blanks}*"
            text = re.sub(rf'{begin}("(?:[^"]|"")*+"){blanks}*(?={end}|$)', r"\1", text)
    if delimiter == WHITESPACE:
        text = _BLANKS.sub(lambda found: found[1] or " ", _AROUND.sub("", text))
    return text


def _fit(rows: list[list[str]], delimiter: str) -> tuple[bool, float, float, int]:
    """How well a delimiter fits; the largest value is the best.

    The best delimiter splits every line into as many cells as the first. Among several, it is the
    one with most numbers, so that a decimal comma is no delimiter, and then the one with most
    cells. Most texts have blanks: they are delimiters only if they split all lines alike, and half
    of the cells are numbers, or one of three columns or more has only numbers.
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


def bad_quotation(source: str, reason: str, line: int) -> TableError:
    """An error about quotation marks; the reason is that of the module csv."""
    remedy = "Double the quotation marks inside a quoted cell, and close every quotation."
    if "unexpected end" in reason:
        reason = "the file ends inside a quotation that begins here"
        remedy = "It is cut off, or a quotation mark is missing: correct the line."
    return TableError(f"{reason}. {remedy}", source=source, line=line)


def _detect_header(
    first: Sequence[str], rows: Sequence[Sequence[str]], decimal: str
) -> tuple[bool, list[Assumption]]:
    """Whether the first record names the columns, and the assumption if this is not certain.

    A record of numbers only is a row. So is one that fits the kinds of the columns below it, where
    a column is of numbers, dates, truth values or text; names above text fit, too, so at least one
    cell must be of another kind, or half of the cells must occur again in their columns. But
    numbers are names if they count up as in :func:`_are_names`.
    """
    columns = [[row[j] for row in rows if j < len(row)] for j in range(len(first))]
    kinds = [_kind_of(cell, decimal) for cell in first]
    numeric = [j for j, kind in enumerate(kinds) if kind == _NUMBER]
    with_text = any(kind not in ("", _NUMBER) for kind in kinds)
    below = [cell.strip() for j in numeric for cell in columns[j]]
    if _are_names([first[j].strip() for j in numeric], below, with_text=with_text):
        return True, [_ARE_NAMES]
    if len(numeric) == len(first):
        return False, []
    if numeric and not rows:  # names alone would be of no use
        return False, [_IS_ROW]
    expected = [_kind_of_all(column, decimal) for column in columns]
    fits = [
        kind == of_column
        for kind, of_column in zip(kinds, expected, strict=True)
        if kind and of_column not in ("", "text")
    ]
    again = [kind and cell in some for kind, cell, some in zip(kinds, first, columns, strict=True)]
    if all(fits) and (any(fits) or 2 * sum(map(bool, again)) >= len(first)):
        return False, [_IS_ROW]
    return True, [_ARE_NAMES] if any(fits) else []


def _holds_units(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first of some records has units or types of two columns of numbers, or more.

    It has text in most columns of numbers, and a number in none.
    """
    numeric = [
        _kind_of(cells[0], decimal)
        for cells in zip(*rows[: 1 + _N_ROWS], strict=False)
        if _kind_of_all(cells[1:], decimal) == _NUMBER
    ]
    has_text = _NUMBER not in numeric and 2 * numeric.count("") < len(numeric)
    return len(rows) > 2 and len(numeric) > 1 and has_text


def _kind_of(cell: str, decimal: str) -> str:
    """What a cell is: a number, or how :func:`look_of` calls it; "" if it is missing."""
    if is_missing(cell):
        return ""
    look = look_of([cell], decimal)
    is_one = is_number(cell, decimal) or look.startswith(("numbers with a ", "numbers with commas"))
    return _NUMBER if is_one else look


def _kind_of_all(cells: Sequence[str], decimal: str) -> str:
    """What nearly all cells of a column are, else "text"; "" if all are missing."""
    kinds = [kind for cell in cells if (kind := _kind_of(cell, decimal))]
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


def named_columns(first: Sequence[str]) -> tuple[tuple[str, ...], list[Assumption]]:
    """Names of the columns from the first record, and what was assumed.

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
    called = Assumption(f"columns of the same name are called {listed(new)}")
    return tuple(names), [called] if new else []
