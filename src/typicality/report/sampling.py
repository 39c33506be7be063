"""Which rows a page shows, and what it says about the others."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from typicality._typing import Places
from typicality.fitted import FittedView

_SOME = 50  # rows of each cluster, where there is room


class ShownRows(NamedTuple):
    """Rows of the data, in their order, and a sentence where these are not all."""

    rows: Places
    note: str | None


def choose_rows(
    found: FittedView, max_rows: int, *, wanted: Places, random_state: Any = 0
) -> ShownRows:
    """All rows, or a sample of them that keeps those that belong nowhere.

    Parameters
    ----------
    found : FittedView
        The rows and what a model says of them.
    max_rows : int
        The most rows that are shown.
    wanted : array of int
        Places that must be shown, the most important first; a tenth of `max_rows` at the most.
    random_state : int, RandomState or None
        The seed of the sample.
    """
    if found.n_rows <= max_rows:
        return ShownRows(np.arange(found.n_rows), None)
    nowhere = np.flatnonzero(found.labels < 0)
    if len(nowhere) > max_rows // 2:
        order = np.argsort(found.strength[nowhere], kind="stable")
        nowhere = nowhere[order[: max_rows // 2]]
    taken = np.zeros(found.n_rows, bool)
    taken[nowhere] = True
    taken[wanted[: max_rows // 10]] = True
    room = max_rows - int(taken.sum())
    taken[_draw(found.labels, np.flatnonzero(~taken), room, random_state)] = True
    return ShownRows(np.flatnonzero(taken), _note(found, max_rows, len(nowhere), random_state))


def _draw(labels: NDArray[np.int32], rest: Places, room: int, random_state: Any) -> Places:
    """Rows drawn at random, some of each cluster before all others."""
    rest = check_random_state(random_state).permutation(rest)
    label = labels[rest]
    _, place, count = np.unique(label, return_inverse=True, return_counts=True)
    by_label = np.argsort(place, kind="stable")
    rank = np.empty(len(rest), np.intp)  # of a row among those of its cluster
    rank[by_label] = np.arange(len(rest)) - np.repeat(np.cumsum(count) - count, count)
    some = min(_SOME, room // (2 * len(count)))
    first = (label >= 0) & (rank < some)
    return rest[np.argsort(~first, kind="stable")[:room]]


def _note(found: FittedView, max_rows: int, n_kept: int, random_state: Any) -> str:
    kept = (
        f"all {n_kept:,} rows" if n_kept == found.n_unassigned else f"the {n_kept:,} least typical"
    )
    nowhere = {
        "tree": "that are in no cluster",
        "detector": "that are outliers",
        "prototypes": "that belong nowhere",
    }[found.kind]
    whole = "" if n_kept == found.n_unassigned else f" of the {found.n_unassigned:,} rows"
    outliers = f"{kept}{whole} {nowhere}, and others" if n_kept else "rows"
    seed = f" (seed {random_state})" if isinstance(random_state, int | np.integer) else ""
    several = ", some of each cluster" if found.labels.max() > 0 else ""
    often = f"; in the plots rows {nowhere} look more frequent than they are" if n_kept else ""
    moved = "they are estimates" if found.kind == "tree" else "of the rows shown only"
    return (
        f"The page shows {max_rows:,} of {found.n_rows:,} rows: {outliers} drawn at random{seed}"
        f"{several}{often}. Numbers of rows are those of all rows; once the level is moved, "
        f"{moved}."
    )
