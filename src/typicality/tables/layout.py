"""How the lines of a text file split into cells: delimiter, quotation marks, titles and notes."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from typicality.tables.cells import (
    NEARLY_ALL,
    is_missing,
    is_number,
    unmarked,
)

WHITESPACE = "whitespace"  # any number of blanks and tabs
DELIMITERS = (",", ";", "\t", "|", WHITESPACE)
N_SNIFFED = 100  # records that show how a file is written
_AROUND = re.compile(r"(?:\A|(?<=[\r\n]))[ \t]+|[ \t]+(?=[\r\n]|\Z)")
_ESCAPE = re.compile(r'\\(["\\])')
_BLANKS = re.compile(r'("[^"\r\n]*")|[ \t]+')


class Records(NamedTuple):
    """The first records that are not blank, what is wrong after them, and where they end.

    They are `whole` if quotation marks are only around cells.
    """

    rows: list[list[str]]
    error: csv.Error | None
    ends: list[int]
    whole: bool


def records(text: str, delimiter: str, *, escaped: bool = False, strict: bool = True) -> Records:
    """The records of some lines, up to the first error."""
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
    return Records(rows, error, ends, '"' not in quoted.sub("", plain))


class Layout(NamedTuple):
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
        part = _part_of_numbers(self.rows)
        return self.is_split, self.is_whole, self.alike, part, len(self.rows[0])

    @property
    def is_split(self) -> bool:
        """Whether there are several columns; only in the first of many lines, it is in a name."""
        first, *others = map(len, self.rows)
        return first > 1 and (len(others) < 2 or max(others) > 1)

    @property
    def alike(self) -> float:
        """The part of the lines with as many cells as the first."""
        widths = [*map(len, self.rows)]
        return widths.count(widths[0]) / len(widths)

    @property
    def splits_all(self) -> bool:
        return self.is_split and self.is_whole and self.alike == 1.0

    @property
    def has_decimal_commas(self) -> bool:
        """Whether all commas in cells are decimal commas."""
        commas = [cell for row in self.rows for cell in row if "," in cell]
        return bool(commas) and all(is_number(cell, ",") for cell in commas)

    @property
    def has_many_numbers(self) -> bool:
        """Whether half of the cells are numbers, or one of three columns or more has only these."""
        is_table = len(self.rows) > 4 and len(self.rows[0]) > 2
        columns = zip(*self.rows[1:], strict=False) if is_table else ()
        parts = [_part_of_numbers(self.rows), *(_part_of_numbers([[], c]) - 0.5 for c in columns)]
        return max(parts) >= 0.5


def _part_of_numbers(rows: Sequence[Sequence[str]]) -> float:
    """The part of the cells below the first row, if there are some."""
    cells = [cell for row in rows[1:] or rows for cell in row if not is_missing(cell)]
    n_numbers = sum(
        is_number(cell) or is_number(cell, ",") or unmarked(cell, ".") is not None for cell in cells
    )
    return n_numbers / max(len(cells), 1)


def best_layout(text: str, candidates: Sequence[str]) -> Layout:
    """The layout that fits best.

    Titles are looked for if no delimiter but blanks splits most lines like the first. Most texts
    have blanks: these are delimiters only if no other one splits all lines. Where another one does,
    decimal commas are not delimiters.
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


def _layouts(text: str, delimiter: str) -> list[Layout]:
    """The layouts with a delimiter: without titles, and with them if there may be some."""
    found = records(text, delimiter, strict=False)
    rows = found.rows or [[text]]
    return [
        Layout(
            delimiter,
            n_titles=found.ends[start - 1] if start else 0,
            rows=completed(rows[start : start + N_SNIFFED])[0],
            is_whole=found.whole,
        )
        for start in sorted({0, _n_titles(rows)})
    ]


def _n_titles(rows: Sequence[Sequence[str]]) -> int:
    """The number of records above a table: each has at most half of the cells of most others."""
    widths = [len(row) for row in rows[:N_SNIFFED]]
    common = _common(widths)
    n_titles = sum(1 for _ in takewhile(lambda width: 2 * width <= common, widths))
    # A name above decimal commas is no title.
    is_table = common > 2 or not any(map(is_number, rows[n_titles]))
    return n_titles if is_table and widths.count(common) > 2 else 0


def _common(widths: Sequence[int]) -> int:
    """The most frequent width, and of several the largest."""
    counts = Counter(widths)
    return max(counts, key=lambda width: (counts[width], width))


def completed(rows: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Records without notes below them, with all names; and whether the first column has no name.

    One name may be missing: that of the first column, or that of an empty last one.
    """
    rows = rows[:]
    common = _common([len(row) for row in rows[:N_SNIFFED]])
    while 2 * len(rows[-1]) <= common:
        rows.pop()
    first, others = rows[0], rows[1:N_SNIFFED]
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
