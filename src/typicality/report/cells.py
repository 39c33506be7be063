"""Columns of text that go with the rows."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from typicality._typing import Places
from typicality.report.encoding import clean_text, encoded

_LONGEST = 200  # characters of a cell
_MOST_CHARACTERS = 4_000_000  # of all columns together, as they stand in the page
_CHARACTERS_OF_A_CODE = 16 / 3  # four bytes in base64


class CellColumns(NamedTuple):
    """Columns of text as a page takes them, and a sentence where something was left out."""

    columns: list[dict[str, Any]]
    note: str | None


def choose_cells(cells: Mapping[str, Sequence[Any]], shown: Places) -> CellColumns:
    """As many columns as fit into a page, the first ones first."""
    columns, left_out, used, any_cut = [], [], 0.0, False
    for name, values in cells.items():
        distinct: dict[str, int] = {}
        texts = (clean_text(values[i]) for i in shown.tolist())
        codes = [distinct.setdefault(text, len(distinct)) for text in texts]
        short = [text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in distinct]
        size = sum(map(len, short)) + _CHARACTERS_OF_A_CODE * len(shown)
        if used + size > _MOST_CHARACTERS:
            left_out.append(clean_text(name))
            continue
        used += size
        any_cut |= short != list(distinct)
        column = {"name": clean_text(name), "values": short, "codes": encoded(codes, "i4")}
        columns.append(column)
    return CellColumns(columns, _note(left_out, any_cut))


def _note(left_out: list[str], any_cut: bool) -> str | None:
    notes = []
    if left_out:
        names = ", ".join(left_out[:5]) + (", ..." if len(left_out) > 5 else "")
        notes.append(f"Left out, to keep the page small: {names}.")
    if any_cut:
        notes.append(f"Of long cells the first {_LONGEST} characters are shown.")
    return " ".join(notes) or None
