"""Numbers and places in sentences."""

from collections.abc import Sequence

__all__ = ["counted", "listed", "number", "place", "share"]

_MOST_LISTED = 6


def counted(n: int, noun: str) -> str:
    """A number of things: "1 row", "12,345 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listed(names: Sequence[str], at_most: int = _MOST_LISTED) -> str:
    """Names in a row, and how many more there are."""
    more = len(names) - at_most
    return ", ".join(names[:at_most]) + (f" and {more:,} more" if more > 0 else "")


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent, never 0 % or 100 % unless it is."""
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "< 1 %"
    if 99 < percent < 100:
        return "> 99 %"
    return f"{percent:.0f} %"


def number(value: float) -> str:
    """A number in few digits."""
    return f"{value:.4g}"


def place(row: int, line: int | None) -> str:
    """Where a row is: its line, or its number where the file has no lines."""
    return f"line {line}" if line is not None else f"row {row}"
