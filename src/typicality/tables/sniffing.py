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
    unmarked,
)
from typicality.tables.lines import (
    LEGACY,
    encoding_of,
    open_text,
    unpacked,
)

WHITESPACE = "whitespace"  # any number of blanks and tabs
DELIMITERS = (",", ";", "\t", "|", WHITESPACE)
_COMMENT = re.compile(r"#(?![,;\t|]\S)")  # but a column may be called #
_AROUND = re.compile(r"(?:\A|(?<=[\r\n]))[ \t]+|[ \t]+(?=[\r\n]|\Z)")
_ESCAPE = re.compile(r'\\(["\\])')
_BLANKS = re.compile(r'("[^"\r\n]*")|[ \t]+')
_SAMPLE = 2**16  # bytes
_N_ROWS = 100
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
    encoding, text = _first_lines(path, source, given.encoding)
    assumed: list[Assumption] = []
    if encoding == LEGACY and given.encoding is None:
        assumed.append(Assumption(f"the encoding {LEGACY} (Latin-1)"))
    lines = io.StringIO(text, newline="").readlines()
    n_skipped, about_comments = _comments(lines)
    text = "".join(lines[n_skipped:])
    if not text.strip():
        raise TableError(f"{source} is empty. Choose a file with a header and rows.")
    layout = _best_layout(text, [given.delimiter] if given.delimiter else DELIMITERS)
    delimiter, n_titles = layout.delimiter, layout.n_titles
    if delimiter == WHITESPACE and given.delimiter is None:
        assumed.append(Assumption("blanks between the columns"))
    assumed += about_comments
    if n_titles:
        n_skipped += n_titles
        text = "".join(lines[n_skipped:])
        assumed.append(Assumption(f"{counted(n_titles, 'line')} above the table skipped"))
    is_open = delimiter == "," and not (given.delimiter or given.header)
    if is_open and all(map(has_decimal_comma, filter(str.strip, text.splitlines()))):
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
    if not found.rows:
        raise bad_quotation(source, str(found.error), n_skipped + 1)
    (first, *rows), is_short = _completed(found.rows)
    if is_short:
        assumed.append(_NO_FIRST_NAME)
    has_header = given.header
    if has_header is None:
        has_header, about_header = _detect_header(first, rows[:_N_ROWS])
        assumed += about_header
    names = tuple(f"column {j}" for j in range(1, len(first) + 1))
    if has_header:
        names, renamed = named_columns(first)
        assumed += renamed
        has_units = _holds_units(rows)
        assumed += [_HAS_UNITS] if has_units else []
        n_skipped += found.ends[has_units]
        rows = rows[has_units:]
    else:
        rows = [first, *rows]
    decimal = given.decimal
    if decimal is None:
        decimal, about_marks = _decimal_of(rows, delimiter if len(first) > 1 else "")
        assumed += about_marks
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


def _comments(lines: Sequence[str]) -> tuple[int, list[Assumption]]:
    """The number of blank lines and comments before the first other line; 0 without comments.

    Where most lines below begin like comments, so do the cells of the first column.
    """
    above = list(takewhile(lambda line: not line.strip() or _COMMENT.match(line), lines))
    below = lines[len(above) :]
    n_marked = sum(map(bool, map(str.strip, above)))
    if 2 * sum(line.startswith("#") for line in below) > len(below):
        return 0, []
    what = f"{counted(n_marked, 'line')} of comment (#) at the top"
    return (len(above), [Assumption(what)]) if n_marked else (0, [])


def _decimal_of(rows: Sequence[Sequence[str]], delimiter: str) -> tuple[str, list[Assumption]]:
    """The decimal mark of some rows, and what was assumed.

    It is the comma if some columns have decimal commas and none has decimal points. If a comma
    also separates cells, points must be clear, too. Where all marks may separate thousands, the
    delimiter decides: a semicolon is used because commas are decimal marks.
    """
    columns = [[cell.strip() for cell in column if cell] for column in zip_longest(*rows)]
    marks = [decimal_mark(column) for column in columns]
    if delimiter == ",":  # a few commas among whole numbers are lists, such as "39,06"
        marks = [
            "" if mark == "," and 2 * sum("," in cell for cell in column) < len(column) else mark
            for mark, column in zip(marks, columns, strict=True)
        ]
    points, commas = (
        [cells for cells, mark in zip(columns, marks, strict=True) if mark == doubtful]
        for doubtful in (".?", ",?")
    )
    if "," in marks and "." not in marks and not (points and delimiter == ","):
        what = "decimal commas, and points between thousands (1.234 is 1234)"
        return ",", [Assumption(what)]
    counts, is_mark = list(filter(_are_counts, points)), "." in marks
    if delimiter == ";" and not {".", ","} & {*marks}:
        if counts and len(counts) == len(points):
            number = _first_with(".", counts)
            what = f"points between thousands ({number} is {number.replace('.', '')})"
            return ",", [Assumption(f"{what}, as no whole number exceeds 999", _ARE_POINTS)]
        if commas and not points and not any(map(_are_counts, commas)):
            what = f"decimal commas ({_first_with(',', commas)}), as semicolons separate the cells"
            return ",", [Assumption(what, _ARE_COMMAS_OF_THOUSANDS)]
    in_question = counts if is_mark and "," not in marks else points
    if in_question:
        reason = (
            "as in other columns" if is_mark else "as nothing shows that they separate thousands"
        )
        what = f"decimal points ({_first_with('.', in_question)}), {reason}"
        return ".", [Assumption(what, _ARE_THOUSANDS)]
    if commas and delimiter != "," and not is_mark:
        what = f"commas between thousands ({_first_with(',', commas)})"
        return ".", [Assumption(what, _ARE_DECIMAL_COMMAS)]
    return ".", []


def _are_counts(cells: Sequence[str]) -> bool:
    """Whether marks separate thousands, as in 245, 16.403: few numbers with decimals are whole."""
    n_marked = sum("." in cell or "," in cell for cell in cells)
    return any(map(_WHOLE.fullmatch, cells)) and n_marked > 1


def _first_with(mark: str, columns: Sequence[Sequence[str]]) -> str:
    return next(cell for cell in columns[0] if mark in cell)


# ---- records -------------------------------------------------------------------------------------


class _Records(NamedTuple):
    """The first records that are not blank, what is wrong after them, and where they end.

    They are `whole` if quotation marks are only around cells.
    """

    rows: list[list[str]]
    error: csv.Error | None
    ends: list[int]
    whole: bool


def _records(text: str, delimiter: str, *, escaped: bool = False, strict: bool = True) -> _Records:
    plain, mark = canonical(text, delimiter, escaped=escaped), csv_delimiter(delimiter)
    reader = csv.reader(io.StringIO(plain, newline=""), delimiter=mark, strict=strict)
    rows, ends, error = list[list[str]](), list[int](), None
    try:
        for row in filter(None, reader):
            rows.append(row)
            ends.append(reader.line_num)
    except csv.Error as found:
        error = found
    end = f"[{re.escape(mark)}\r\n]"
    quoted = re.compile(rf'(?<!{end.replace("[", "[^", 1)})"(?:[^"]|"")*+"(?={end}|\Z)')
    return _Records(rows, error, ends, '"' not in quoted.sub("", plain))


class _Layout(NamedTuple):
    """A way to read the first lines.

    Parameters
    ----------
    delimiter : str
        The delimiter.
    n_titles : int
        The number of lines with titles above the table.
    rows : list of list of str
        The first records of the table.
    is_whole : bool
        Whether quotation marks are only around cells.
    """

    delimiter: str
    n_titles: int
    rows: list[list[str]]
    is_whole: bool

    @property
    def fit(self) -> tuple[bool, bool, float, float, int]:
        """How well it fits; the largest is the best.

        The best delimiter splits no quotation, and all lines alike. Among several, it is the one
        with most numbers, and then the one with most cells.
        """
        return self.is_split, self.is_whole, self.alike, _part_of_numbers(self.rows), self.width

    @property
    def width(self) -> int:
        return len(self.rows[0])

    @property
    def is_split(self) -> bool:
        """Whether there are several columns; only in the first of many lines, it is in a name."""
        return self.width > 1 and (len(self.rows) < 3 or any(len(row) > 1 for row in self.rows[1:]))

    @property
    def alike(self) -> float:
        """The part of the lines with as many cells as the first."""
        return sum(len(row) == self.width for row in self.rows) / len(self.rows)

    @property
    def splits_all(self) -> bool:
        return self.is_split and self.is_whole and self.alike == 1.0

    @property
    def has_decimal_commas(self) -> bool:
        """Whether all commas in cells are decimal commas."""
        commas = [cell for row in self.rows for cell in row if "," in cell]
        return bool(commas) and all(map(has_decimal_comma, commas))

    @property
    def has_many_numbers(self) -> bool:
        """Whether half of the cells are numbers, or one of three columns or more has only these."""
        is_table = len(self.rows) > 4 and self.width > 2 and self.alike == 1.0
        columns = list(zip(*self.rows[1:], strict=True)) if is_table else []
        return _part_of_numbers(self.rows) >= 0.5 or any(
            _part_of_numbers([[], c]) == 1.0 for c in columns
        )


def _part_of_numbers(rows: Sequence[Sequence[str]]) -> float:
    """The part of the cells below the first row, if there are some."""
    cells = [cell for row in rows[1:] or rows for cell in row if not is_missing(cell)]
    n_numbers = sum(
        is_number(cell) or has_decimal_comma(cell) or unmarked(cell, ".") is not None
        for cell in cells
    )
    return n_numbers / max(len(cells), 1)


def _best_layout(text: str, candidates: Sequence[str]) -> _Layout:
    """The layout that fits best.

    Titles are looked for if no delimiter but blanks splits most lines like the first. Most texts
    have blanks: these are delimiters only if no other one splits all lines. Commas are none if they
    are decimal commas where others split all lines.
    """
    layouts = [each for d in candidates for each in _layouts(text, d)]
    if len(candidates) == 1:
        return max(layouts, key=lambda each: each.fit)
    splitting = [each for each in layouts if each.splits_all]
    by_others = [each for each in splitting if each.delimiter not in (",", WHITESPACE)]
    if any(each.has_decimal_commas for each in by_others):
        layouts = [each for each in layouts if each.delimiter != ","]
    marked = [each for each in layouts if each.delimiter != WHITESPACE]
    by_blanks = [
        each
        for each in layouts
        if each.delimiter == WHITESPACE
        and (each.is_split and each.is_whole and each.alike >= NEARLY_ALL)
        and not by_others
        and (each.has_decimal_commas or not any(each in splitting for each in marked))
        and (each.has_many_numbers or not any(other.is_whole for other in marked))
    ]
    if any(not each.n_titles and each.is_split and each.alike > 0.5 for each in marked):
        marked = [each for each in marked if not each.n_titles]
    return max([*marked, *by_blanks], key=lambda each: (each.fit, each in by_others))


def _layouts(text: str, delimiter: str) -> list[_Layout]:
    """The layouts with a delimiter: without titles, and with them if there may be some."""
    found = _records(text, delimiter, strict=False)
    layouts = []
    for start in {0, _n_titles(found.rows)}:
        n_titles = found.ends[start - 1] if start else 0
        rows, _ = _completed(found.rows[start : start + _N_ROWS])
        layouts.append(_Layout(delimiter, n_titles, rows, found.whole))
    return layouts


def _n_titles(rows: Sequence[Sequence[str]]) -> int:
    """The number of records above a table: each has at most half of the cells of most others."""
    widths = [len(row) for row in rows[:_N_ROWS]]
    common = _common(widths)
    n_titles = sum(1 for _ in takewhile(lambda width: 2 * width <= common, widths))
    # A name above decimal commas is no title.
    is_table = common > 2 or not any(map(is_number, rows[n_titles]))
    return n_titles if is_table and widths.count(common) > 2 else 0


def _common(widths: Sequence[int]) -> int:
    """The most frequent width, and of several the largest."""
    counts = Counter(widths)
    return max(counts, key=lambda width: (counts[width], width))


def _completed(rows: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Records without notes below them, with all names; and whether the first column has no name.

    One name may be missing: that of the first column, or that of an empty last one.
    """
    rows = rows[:]
    common = _common([len(row) for row in rows[:_N_ROWS]])
    while 2 * len(rows[-1]) <= common:
        rows.pop()
    first, others = rows[0], rows[1:_N_ROWS]
    is_short = len(first) > 1 and {len(row) for row in others} == {len(first) + 1}
    if not is_short or any(map(is_number, first)):
        return rows, False
    is_last = not any(row[-1].strip() for row in others)
    return [[*first, ""] if is_last else ["", *first], *rows[1:]], not is_last


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


def bad_quotation(source: str, reason: str, line: int) -> TableError:
    """An error about quotation marks; the reason is that of the module csv."""
    remedy = "Double the quotation marks inside a quoted cell, and close every quotation."
    if "unexpected end" in reason:
        reason = "the file ends inside a quotation that begins here"
        remedy = "It is cut off, or a quotation mark is missing: correct the line."
    return TableError(f"{reason}. {remedy}", source=source, line=line)


def _detect_header(
    first: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[bool, list[Assumption]]:
    """Whether the first record names the columns, and the assumption if this is not certain.

    A record of numbers only is a row. So is one that fits the kinds of the columns below it, where
    a column is of numbers, dates, truth values or text; names above text fit, too, so at least one
    cell must be of another kind or a word such as NA, or half of the cells must occur again in
    their columns. But numbers are names if they count up as in :func:`_are_names`.
    """
    columns = [[row[j] for row in rows if j < len(row)] for j in range(len(first))]
    kinds = [_kind_of(cell) for cell in first]
    numeric = [j for j, kind in enumerate(kinds) if kind == _NUMBER]
    with_text = any(kind not in ("", _NUMBER) for kind in kinds)
    below = [cell.strip() for j in numeric for cell in columns[j]]
    numbers = [first[j].strip() for j in numeric]
    again = [kind and cell in some for kind, cell, some in zip(kinds, first, columns, strict=True)]
    recurs = any(found and kind != _NUMBER for found, kind in zip(again, kinds, strict=True))
    is_series = numbers == ["0"] and first[0].strip() == ""  # as pandas writes one
    if is_series or (not recurs and _are_names(numbers, below, with_text=with_text)):
        return True, [_ARE_NAMES]
    if len(numeric) == len(first):
        return False, []
    if numeric and not rows:  # names alone would be of no use
        return False, [_IS_ROW]
    expected = [_kind_of_all(column) for column in columns]
    fits = [
        kind == of_column
        for kind, of_column in zip(kinds, expected, strict=True)
        if kind and of_column not in ("", "text")
    ]
    misses = any(cell.strip() and is_missing(cell) for cell in first)
    if all(fits) and (any(fits) or misses or 2 * sum(map(bool, again)) >= len(first)):
        return False, [_IS_ROW]
    return True, [_ARE_NAMES] if any(fits) else []


def _holds_units(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some records has units or types of two columns of numbers, or more.

    In most of the columns of numbers it has words, which occur nowhere below, and in none a number.
    """
    columns = list(zip(*rows[: 1 + _N_ROWS], strict=False))
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
