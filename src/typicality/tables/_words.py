"""How files, columns and cells are called in messages."""

import os
from collections.abc import Iterable

__all__ = ["counted", "in_bytes", "listed", "shown", "shown_path"]

_LONGEST = 40
_MOST = 5


def shown(text: str) -> str:
    """A name or a cell in quotation marks, control characters escaped, and cut where it is long."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")


def shown_path(path: str | os.PathLike[str]) -> str:
    """A path as it was given; in quotation marks where it cannot be printed."""
    text = os.fspath(path)
    return text if text.isprintable() and text else repr(text)


def listed(items: Iterable[str]) -> str:
    """The first few of some phrases, and how many there are besides."""
    items = list(items)
    more = [f"and {len(items) - _MOST:,} more"] if len(items) > _MOST else []
    return "; ".join(items[:_MOST] + more)


def in_bytes(number: int) -> str:
    """A number of bytes, in megabytes or gigabytes."""
    return f"{number / 1e9:,.1f} GB" if number >= 1e9 else f"{number / 1e6:,.1f} MB"


def counted(number: int, noun: str) -> str:
    """A number and a noun, in the plural where it must be."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
