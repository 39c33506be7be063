"""Cells: which are missing, which are numbers, their text, and what the others look like."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from typicality._typing import Doubles, Places
from typicality.exceptions import TableError

MISSING = frozenset(
    [
        *("", "NA", "N/A", "n/a", "NaN", "nan", "NAN"),
        *("null", "NULL", "Null", "None", "none", "?", "-", "."),
    ]
)

# Patterns that Python and Arrow read alike. Where the decimal mark is a comma, points separate
# thousands.
_EXPONENT = r"([eE][+-]?\d+)?"
_ENDLESS = r"(?i:inf(inity)?)"
_THOUSANDS_POINTS = r"[1-9]\d{0,2}(\.\d{3})+(,\d+)?"
_NUMBER = {
    ".": rf"[+-]?((\d+\.?\d*|\.\d+){_EXPONENT}|{_ENDLESS})",
    ",": rf"[+-]?((\d+,?\d*|,\d+){_EXPONENT}|{_THOUSANDS_POINTS}|{_ENDLESS})",
}
_IS_NUMBER = {mark: re.compile(pattern, re.ASCII).fullmatch for mark, pattern in _NUMBER.items()}
_PLAIN_NUMBER = r"^\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*$"
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4}))([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?"
)
_DECIMAL_COMMA = re.compile(rf"[+-]?\d+,\d+{_EXPONENT}")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_POINTS = re.compile(rf"[+-]?{_THOUSANDS_POINTS}")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_CURRENCIES = "$€£¥₹₽₩₺₪฿¢"
_BETWEEN = {".": ",' \u00a0\u202f", ",": ".' \u00a0\u202f"}  # thousands, by the decimal mark
_MARKED = {
    decimal: re.compile(
        rf"(?P<sign>[+-]?) ?(?P<before>[{_CURRENCIES}]?) ?"
        rf"(?P<digits>[1-9]\d{{0,2}}([{between}]\d{{3}})+(\{decimal}\d+)?|\d+(\{decimal}\d*)?|\{decimal}\d+)"
        rf"[ \u00a0\u202f]?(?P<after>[%{_CURRENCIES}]?)"
    )
    for decimal, between in _BETWEEN.items()
}
NEARLY_ALL = 0.9  # of the cells: a typing error does not hide what the others are
_TRUTH = frozenset(["true", "false"])
TRUTH = "true or false"  # how they are called, and the sign of a column of them


class ParsedColumn(NamedTuple):
    """The numbers of a column, NaN where there is none; and the rows with text instead."""

    numbers: Doubles
    strangers: Places


# ---- one cell ------------------------------------------------------------------------------------


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip() in MISSING


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number: NaN is none, infinity is."""
    return _IS_NUMBER[decimal](cell.strip()) is not None


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number as it is written where the decimal mark is a comma."""
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def unmarked(cell: str, decimal: str) -> tuple[float, str] | None:
    """The number in a cell such as $7,440 or 60%, and its sign; None for other text.

    True is 1, and false is 0; their sign is "true or false".
    """
    if cell.strip().lower() in _TRUTH:
        return float(cell.strip().lower() == "true"), TRUTH
    found = _MARKED[decimal].fullmatch(cell.strip())
    if found is None or (found["before"] and found["after"]):
        return None
    digits = re.sub(r"[^\d,]" if decimal == "," else r"[^\d.]", "", found["digits"])
    number = float(found["sign"] + digits.replace(",", "."))
    return number, found["before"] or found["after"]


def is_mostly_digits(cell: str) -> bool:
    """Whether at least half of the letters of a text are digits, and it is no date or time."""
    letters = "".join(cell.split())
    n_digits = sum(letter.isdigit() for letter in letters)
    return 2 * n_digits >= len(letters) > 0 and _DATE.fullmatch(cell.strip()) is None


# ---- several cells -------------------------------------------------------------------------------


def decimal_mark(cells: Iterable[str]) -> str:
    """The decimal mark of a column: "," or "."; ",?" or ".?" if it may separate thousands.

    Whole numbers and text have none: "". The point in 1.234 and the comma in 1,234 may be either.
    A second point in a number shows that points separate thousands; a whole number above 999, that
    they do not.
    """
    present = [cell.strip() for cell in cells if not is_missing(cell)]
    commas = [cell for cell in present if "," in cell and is_number(cell, ",")]
    if commas:
        n_numbers = sum(is_number(cell, ",") for cell in present)
        if n_numbers < NEARLY_ALL * len(present):
            return ""
        return ",?" if all(map(_THOUSANDS.fullmatch, commas)) else ","
    points = [cell for cell in present if "." in cell]
    if points and all(map(_POINTS.fullmatch, points)):
        if any(cell.count(".") > 1 for cell in points):
            return ","
        whole = (abs(float(cell)) for cell in present if _WHOLE.fullmatch(cell))
        return "." if max(whole, default=0) > 999 else ".?"
    return "." if points and all(map(is_number, points)) else ""


def look_of(cells: Iterable[str], decimal: str = ".") -> str:
    """What cells that are no numbers look like.

    One of "true or false", "dates or times", "numbers with commas between thousands", "numbers
    with a decimal comma", "numbers with a decimal point", "numbers with signs", "text".
    """
    cells = [cell.strip() for cell in cells]
    looks = {
        TRUTH: all(cell.lower() in _TRUTH for cell in cells),
        "dates or times": all(_DATE.fullmatch(cell) for cell in cells),
        # 1,234 may be either: three digits after every comma are rarely decimals.
        "numbers with commas between thousands": all(map(_THOUSANDS.fullmatch, cells)),
        "numbers with a decimal comma": decimal_mark(cells) == ",",
        "numbers with a decimal point": decimal == "," and all(map(is_number, cells)),
        "numbers with signs": all(unmarked(cell, decimal) for cell in cells)
        and not all(map(is_number, cells)),
    }
    return next((look for look, fits in looks.items() if fits), "text")


# ---- columns of Arrow ----------------------------------------------------------------------------


def parse_texts(texts: Any, decimal: str = ".") -> ParsedColumn:
    """The numbers of an Arrow array of text: all at once, or only where cells are numbers."""
    cells = pc.utf8_trim_whitespace(texts)
    # The array is made here: the first one makes Arrow load pandas.
    cells = pc.if_else(pc.is_in(cells, pa.array(sorted(MISSING))), None, cells)
    if decimal == ".":
        try:
            numbers = cells.cast("float64").to_numpy(zero_copy_only=False)
            if np.count_nonzero(np.isnan(numbers)) == cells.null_count:  # no spelling of NaN
                return ParsedColumn(numbers, np.empty(0, dtype=np.intp))
        except pa.ArrowInvalid:
            pass
    fits = pc.match_substring_regex(cells, f"^({_NUMBER[decimal]})$")
    cells = pc.if_else(fits, cells, None)
    if decimal == ",":
        cells = pc.replace_substring(pc.replace_substring(cells, ".", ""), ",", ".")
    numbers = cells.cast("float64").to_numpy(zero_copy_only=False)
    is_text = pc.invert(fits).fill_null(False).to_numpy(zero_copy_only=False)
    return ParsedColumn(numbers, np.flatnonzero(is_text))


def with_decimal_points(texts: Any, decimal: str) -> Any:
    """An Arrow array of numbers as text, rewritten: 1.234,50 becomes 1234.50.

    The digits stay the same, and so do missing cells.
    """
    cells = pc.utf8_trim_whitespace(texts)
    numbers = pc.replace_substring_regex(cells, f"[{_BETWEEN[decimal]}]", "")
    numbers = pc.replace_substring(numbers, decimal, ".")
    return pc.if_else(pc.is_in(cells, pa.array(sorted(MISSING))), texts, numbers)


def plain(column: Any) -> Any:
    """A column without categories or runs, and with text that all functions of Arrow take."""
    if types.is_run_end_encoded(column.type):
        return plain(pc.run_end_decode(column))
    if types.is_dictionary(column.type):
        return plain(column.dictionary).take(column.indices)
    return column.cast("string") if types.is_string_view(column.type) else column


def is_numeric(kind: Any) -> bool:
    """Whether a type is one of numbers."""
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def parse_typed(column: Any) -> ParsedColumn:
    """The numbers of a column whose type says whether it has any."""
    kind = column.type
    if not is_numeric(kind) and not types.is_null(kind):
        present = column.is_valid().to_numpy(zero_copy_only=False)
        return ParsedColumn(np.full(len(column), np.nan), np.flatnonzero(present))
    # Not safe, because whole numbers beyond 2**53 lose digits, as they do everywhere.
    floats = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    return ParsedColumn(np.asarray(floats, dtype=np.float64), np.empty(0, dtype=np.intp))


def texts_of(column: Any) -> Any:
    """Cells as text: numbers in their shortest digits, dates as in ISO 8601, lists as JSON."""
    kind = column.type
    if types.is_timestamp(kind):
        # Without a zone or in UTC, for zones may be unknown here.
        column = column if kind.tz is None else column.cast(pa.timestamp(kind.unit, "UTC"))
        texts = pc.replace_substring(column.cast("string"), " ", "T", max_replacements=1)
        return pc.replace_substring_regex(texts, r"\.0+(Z?)$", r"\1").fill_null("")
    is_python = (types.is_nested, types.is_binary, types.is_duration, types.is_interval)
    if any(is_kind(kind) for is_kind in is_python):
        try:
            return pa.array(map(_text_of, column.to_pylist()), pa.string())
        except (KeyError, ValueError, OverflowError) as error:
            raise TableError(
                "a list or record has dates that Python does not know. Write its fields as columns."
            ) from error
    return column.cast("string").fill_null("")


def _text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, default=_text_of, ensure_ascii=False)
    return value.hex() if isinstance(value, bytes) else str(value)


def csv_rows_of(columns: Sequence[Any]) -> Any:
    """Columns of text as an Arrow array of csv rows, with a line feed before each row."""
    texts = [quoted(column, alone=len(columns) == 1) for column in columns]
    rows = pc.binary_join_element_wise(*texts, ",")
    return pc.binary_join_element_wise("\n", rows, "").cast("binary")


def without_formulas(texts: Any) -> Any:
    """Texts that a spreadsheet does not compute: an apostrophe before = + - @ and tabs.

    Numbers stay as they are.
    """
    risky = pc.match_substring_regex(texts, r"^\s*[=+\-@]|^[\t\r]")
    risky = pc.and_not(risky, pc.match_substring_regex(texts, _PLAIN_NUMBER))
    return pc.if_else(risky, pc.binary_join_element_wise("'", texts, ""), texts)


def quoted(texts: Any, *, alone: bool = False) -> Any:
    """Cells with quotation marks where csv needs them, as for an empty cell that is alone."""
    data = bytes(texts.buffers()[2] or b"")
    if not alone and not any(mark in data for mark in (b",", b'"', b"\r", b"\n")):
        return texts
    special = pc.match_substring_regex(texts, '[,"\r\n]')
    if alone:
        special = pc.or_(special, pc.equal(texts, ""))
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), texts)
