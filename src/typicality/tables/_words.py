"""How files, columns and cells are called in messages."""

import os

_LONGEST = 40


def shown(text: str) -> str:
    """A name or a cell in quotation marks, control characters escaped, and cut where it is long."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")


def shown_path(path: str | os.PathLike[str]) -> str:
    """A path as it was given; in quotation marks where it cannot be printed."""
    text = os.fspath(path)
    return text if text.isprintable() and text else repr(text)


def in_bytes(number: int) -> str:
    """A number of bytes, in megabytes or gigabytes."""
    return f"{number / 1e9:,.1f} GB" if number >= 1e9 else f"{number / 1e6:,.1f} MB"
