"""What a page shows of the data: rows, and columns of text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from typicality._typing import Places
from typicality.fitted import FittedView
from typicality.report.assembly import clean_text, encoded

_LONGEST = 200  # characters of a cell
_MOST_CHARACTERS = 4_000_000  # of all columns of text together, as they stand in the page


# ---- rows ----------------------------------------------------------------------------------------


def choose_rows(
    view: FittedView, max_rows: int, *, wanted: Places, random_state: Any = 0
) -> tuple[Places, str | None]:
    """All rows, or a sample that keeps the unassigned ones; a sentence describes the sample.

    Parameters
    ----------
    view : FittedView
        The labels of the rows, and how typical they are.
    max_rows : int
        The most rows that are shown.
    wanted : array of int
        Rows that must be shown, the most important first; a tenth of `max_rows` at the most.
    random_state : int, RandomState or None
        The seed of the sample.
    """
    if view.n_rows <= max_rows:
        return np.arange(view.n_rows), None
    unassigned = np.flatnonzero(view.labels < 0)
    if len(unassigned) > max_rows // 2:
        order = np.argsort(view.depth[unassigned], kind="stable")
        unassigned = unassigned[order[: max_rows // 2]]
    taken = np.zeros(view.n_rows, bool)
    taken[unassigned] = True
    taken[wanted[: max_rows // 10]] = True
    room = max_rows - int(taken.sum())
    rest = check_random_state(random_state).permutation(np.flatnonzero(~taken))
    taken[rest[:room]] = True
    return np.flatnonzero(taken), _note_on_rows(view, max_rows, len(unassigned), random_state)


def _note_on_rows(view: FittedView, max_rows: int, n_kept: int, random_state: Any) -> str:
    unassigned = "that are outliers" if view.kind == "detector" else "that are unassigned"
    which = f"all {n_kept:,} rows"
    if n_kept < view.n_unassigned:
        which = f"the {n_kept:,} least typical of the {view.n_unassigned:,} rows"
    outliers = f"{which} {unassigned}, and others" if n_kept else "rows"
    seed = f" (seed {random_state})" if isinstance(random_state, int | np.integer) else ""
    moved = "they are estimates" if view.kind == "tree" else "they refer only to the rows shown"
    return (
        f"The page shows {max_rows:,} of {view.n_rows:,} rows: {outliers} drawn at random{seed}. "
        f"Numbers of rows refer to all rows; after you move the level, {moved}."
    )


# ---- columns of text -----------------------------------------------------------------------------


def choose_cells(cells: Mapping[str, Sequence[Any]], shown: Places) -> dict[str, Any]:
    """As many columns as fit into a page, the first ones first, as a page reads them."""
    columns, left_out, used, any_cut = [], [], 0.0, False
    for name, values in cells.items():
        distinct: dict[str, int] = {}
        texts = (clean_text(values[i]) for i in shown.tolist())
        codes = [distinct.setdefault(text, len(distinct)) for text in texts]
        short = [text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in distinct]
        kind = "u1" if len(distinct) <= 256 else "i4"
        size = sum(map(len, short)) + len(shown) * int(kind[1]) * 4 / 3  # in base64
        if used + size > _MOST_CHARACTERS:
            left_out.append(clean_text(name))
            continue
        used += size
        any_cut |= short != list(distinct)
        column = {"name": clean_text(name), "values": short, "codes": encoded(codes, kind)}
        columns.append(column)
    notes = []
    if left_out:
        names = ", ".join(left_out[:5]) + (", ..." if len(left_out) > 5 else "")
        notes.append(f"Not shown, to keep the page small: {names}.")
    if any_cut:
        notes.append(f"Only the first {_LONGEST} characters of long cells are shown.")
    return {"cells": columns, "cells_note": " ".join(notes) or None}
