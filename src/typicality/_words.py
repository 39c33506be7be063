"""Numbers and names in sentences."""

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

_MOST_LISTED = 6
_LONGEST = 40  # characters of a cell in a message
YEARS = frozenset(["year", "years", "yr", "jahr", "annee", "année", "año", "anno"])
# Characters that move the cursor, change colours or turn the direction of text: C0 but for tab and
# line feed, delete and C1, marks of direction, and separators of lines.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Text without characters that a terminal would obey: they are written as escapes."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(text: str) -> str:
    """The same for text that must not look like several lines."""
    return printable(text).replace("\n", r"\n").replace("\t", r"\t")


def printable_json(text: str) -> str:
    """The same for JSON, of which the escapes are a part: its value does not change."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shown(text: str) -> str:
    """A name or a cell in quotation marks, with escapes, and cut if it is long."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")


def shown_path(path: str | os.PathLike[str]) -> str:
    """A path as it was given; in quotation marks where it cannot be printed."""
    text = os.fspath(path)
    return text if text.isprintable() and text else repr(text)


def for_people(value: float, name: str = "") -> str:
    """A number as people write it: 5,047 or 46.8, with an exponent only where it is huge.

    A column that is called a year by its `name` has no commas.
    """
    size = abs(value)
    if name.strip().lower() in YEARS:
        return f"{value:.6g}"
    if 1000 <= size < 1e15:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def counted(number: int, noun: str) -> str:
    """A number of things: "1 row", "12,345 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(items: Iterable[str], *, separator: str = ", ", at_most: int = _MOST_LISTED) -> str:
    """The first of some names or phrases, and how many more there are."""
    items = list(items)
    more = len(items) - at_most
    return separator.join(items[:at_most]) + (f" and {more:,} more" if more > 0 else "")


def enumerated(names: Sequence[str]) -> str:
    """All names: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def rows_for_alarms(rate: float) -> int:
    """The number of ordinary rows in which false alarms are counted: 1,000, or more if rare."""
    many = 1000
    while many * rate < 10:
        many *= 10
    return many


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent, never 0 % or 100 % unless it is."""
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "< 1 %"
    if 99 < percent < 100:
        return "> 99 %"
    return f"{percent:.0f} %"


def most_unusual(n_flagged: int, n_rows: int, rate: float | None) -> str:
    """The rows that are flagged because a share of them was asked for, or by a threshold."""
    rows = counted(n_rows, "row")
    if rate is None:
        return f"{n_flagged:,} of {rows} {'is an outlier' if n_flagged == 1 else 'are outliers'}"
    asked = f"({100 * rate:.4g} % asked for)"
    if n_flagged == 0:
        return f"None of {rows} is below the threshold {asked}"
    most = "most unusual" if n_flagged == 1 else f"{n_flagged:,} most unusual"
    return f"The {most} of {rows} {asked}"


def stand_apart(number: int) -> str:
    """How many rows have scores far below those of all others."""
    return {0: "none stands apart", 1: "1 stands apart"}.get(number, f"{number:,} stand apart")


def as_known(texts: Iterable[str], known: Sequence[str]) -> list[str]:
    """Texts as known texts of the same value, if there are any: 1.0 as 1, true as True.

    True and 1 have the same value, if all known texts are true, false, 1 or 0.
    """
    truth: dict[Any, Any] = {}
    if {_value_of(text) for text in known} <= {"true", "false", 1.0, 0.0}:
        truth = {"true": 1.0, "false": 0.0}
    by_value = {truth.get(value := _value_of(text), value): text for text in known}
    meant = {"": ""} | {text: text for text in known}
    for text in {*texts} - {*meant}:
        meant[text] = by_value.get(truth.get(value := _value_of(text), value), text)
    return [meant[text] for text in texts]


def _value_of(text: str) -> str | float:
    """What a text is, however it is written: a number, true or false, or the text itself."""
    try:
        return float(text)
    except ValueError:
        return text.lower() if text.lower() in ("true", "false") else text
