"""Numbers and names in sentences."""

from collections.abc import Iterable, Sequence

_MOST_LISTED = 6


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


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent, never 0 % or 100 % unless it is."""
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "< 1 %"
    if 99 < percent < 100:
        return "> 99 %"
    return f"{percent:.0f} %"
