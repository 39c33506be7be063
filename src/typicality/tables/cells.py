"""Cells of text: which are missing, which are numbers, and what the others look like."""

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Places

MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "none", "?"]
)

_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4}))([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?"
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_TRUTH = frozenset(["true", "false"])


class ParsedColumn(NamedTuple):
    """Numbers of a column, NaN where a cell is missing or no number; and where it is no number."""

    numbers: Doubles
    strangers: Places


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a number: NaN is none, infinity is."""
    return not is_missing(cell) and not np.isnan(_number(cell))


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number as it is written where the decimal mark is a comma."""
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def parse_numbers(cells: Sequence[str]) -> ParsedColumn:
    """The numbers of a column of text.

    Cells are what :class:`float` reads, without underscores: ``1_000`` is rather a code than a
    number. Whole columns are converted at once; cells are looked at one by one only where that
    fails.
    """
    numbers = _all_at_once(cells)
    if numbers is None:
        numbers = _all_at_once(["nan" if is_missing(cell) else cell for cell in cells])
    if numbers is not None:
        return ParsedColumn(numbers, np.empty(0, dtype=np.intp))
    numbers = np.array([_number(cell) for cell in cells], dtype=np.float64)
    suspects = np.flatnonzero(np.isnan(numbers)).tolist()
    strangers = [row for row in suspects if not is_missing(cells[row])]
    return ParsedColumn(numbers, np.array(strangers, dtype=np.intp))


def _all_at_once(cells: Sequence[str]) -> Doubles | None:
    if "_" in "".join(cells):
        return None
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return None


def with_missing_filled(lines: Iterable[str], delimiter: str) -> list[str] | None:
    """Lines without quotation marks, with nan for every cell that stands for a missing value.

    None where the delimiter may itself be a part of such a cell, and they cannot be told apart.
    """
    if (delimiter.isspace() and delimiter != "\t") or any(delimiter in token for token in MISSING):
        return None
    between = re.escape(delimiter)
    tokens = "|".join(map(re.escape, MISSING - {""}))
    missing = re.compile(rf"{between} *(?:{tokens})? *(?=[{between}\r\n]|$)")
    # With a delimiter before the first cell, all cells begin with one; it is taken away again.
    filled = delimiter + "nan"
    return [missing.sub(filled, delimiter + line)[1:] for line in lines]


def _number(cell: str) -> float:
    try:
        return np.nan if "_" in cell else float(cell)
    except ValueError:
        return np.nan


def number_texts(values: NDArray[Any]) -> list[str]:
    """Numbers as text, with the fewest digits that give the same number of the same precision."""
    if values.dtype in (np.float16, np.float32):
        return [str(value) for value in values]
    # Python's own numbers print quicker, but have no single precision.
    return list(map(str, values.tolist()))


def csv_lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as lines of csv, without the ends of lines; quotation marks only where needed."""
    collector = _Collector()
    # The writer quotes the characters of its ends of lines: with both, any of them is quoted.
    csv.writer(collector, lineterminator="\r\n").writerows(rows)
    return [line[:-2] for line in collector.lines]


class _Collector:
    """What a csv writer writes, row by row."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.write = self.lines.append


def look_of(cells: Iterable[str]) -> str:
    """What cells that are no numbers look like.

    One of "true or false", "dates or times", "numbers with commas between thousands", "numbers
    with a decimal comma", "text".
    """
    cells = [cell.strip() for cell in cells]
    looks = {
        "true or false": all(cell.lower() in _TRUTH for cell in cells),
        "dates or times": all(_DATE.fullmatch(cell) for cell in cells),
        # 1,234 may be either: three digits after every comma are rarely decimals.
        "numbers with commas between thousands": all(map(_THOUSANDS.fullmatch, cells)),
        "numbers with a decimal comma": all(map(has_decimal_comma, cells)),
    }
    return next((look for look, fits in looks.items() if fits), "text")
