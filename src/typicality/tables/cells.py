"""Cells of text: which are missing, which are numbers, and what the others look like."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "ParsedColumn", "is_missing", "is_number", "look_of", "parse_numbers"]

Doubles = NDArray[np.float64]

MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "none", "?"]
)

_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4}))([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?"
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_TRUTH = frozenset(["true", "false"])


class ParsedColumn(NamedTuple):
    """Numbers of a column, NaN where a cell is missing or no number; and where it is no number."""

    numbers: Doubles
    strangers: NDArray[np.intp]


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a number: NaN is none, infinity is."""
    return not is_missing(cell) and not np.isnan(_number(cell))


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


def _number(cell: str) -> float:
    try:
        return np.nan if "_" in cell else float(cell)
    except ValueError:
        return np.nan


def look_of(cells: Iterable[str]) -> str:
    """What cells that are no numbers look like.

    One of "true or false", "dates or times", "numbers with a decimal comma", "text".
    """
    cells = [cell.strip() for cell in cells]
    looks = {
        "true or false": all(cell.lower() in _TRUTH for cell in cells),
        "dates or times": all(_DATE.fullmatch(cell) for cell in cells),
        "numbers with a decimal comma": all(_DECIMAL_COMMA.fullmatch(cell) for cell in cells),
    }
    return next((look for look, fits in looks.items() if fits), "text")
