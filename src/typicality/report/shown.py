"""What a page shows of the data: rows, axes to draw them along, and columns of text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state

from typicality._typing import Doubles, Floats, Labels, Places
from typicality.fitted import FittedView
from typicality.report.assembly import clean_text, encoded
from typicality.report.features import FeatureTable

_SOME = 50  # rows of each cluster, where there is room
_MOST_VALUES = 2_500_000  # of all axes together: 10 MB, 13 in the page
_MOST_AXES = 1000
_FARTHEST = 10.0  # spreads: a single extreme value would determine the first principal axis
_FITTED_ROWS = 50_000  # more do not move a principal axis
_WIDE = 500  # features, from where on all covariances are too many
_LONGEST = 200  # characters of a cell
_MOST_CHARACTERS = 4_000_000  # of all columns of text together, as they stand in the page
_CHARACTERS_OF_A_CODE = 16 / 3  # four bytes in base64
_FLOAT32_LEAST, _FLOAT32_MOST = 1e-30, 1e38  # beyond, digits or whole numbers are lost
_FLOAT32_ERROR = 1e-6  # of the spread of a feature, that writing it in four bytes may cost
_UNASSIGNED = {
    "tree": "that are unassigned",
    "detector": "that are outliers",
    "prototypes": "that are unassigned",
}


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
    taken[_draw(view.labels, np.flatnonzero(~taken), room, random_state)] = True
    return np.flatnonzero(taken), _note_on_rows(view, max_rows, len(unassigned), random_state)


def _draw(labels: Labels, rest: Places, room: int, random_state: Any) -> Places:
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


def _note_on_rows(view: FittedView, max_rows: int, n_kept: int, random_state: Any) -> str:
    unassigned, n_unassigned = _UNASSIGNED[view.kind], view.n_unassigned
    which = f"all {n_kept:,} rows"
    if n_kept < n_unassigned:
        which = f"the {n_kept:,} least typical of the {n_unassigned:,} rows"
    outliers = f"{which} {unassigned}, and others" if n_kept else "rows"
    seed = f" (seed {random_state})" if isinstance(random_state, int | np.integer) else ""
    several = ", some of each cluster" if view.labels.max() > 0 else ""
    often = f"; in the plots rows {unassigned} look more frequent than they are" if n_kept else ""
    moved = "they are estimates" if view.kind == "tree" else "of the rows shown only"
    return (
        f"The page shows {max_rows:,} of {view.n_rows:,} rows: {outliers} drawn at random{seed}"
        f"{several}{often}. Numbers of rows are those of all rows; once the level is moved, "
        f"{moved}."
    )


# ---- axes ----------------------------------------------------------------------------------------


def choose_axes(
    view: FittedView, features: FeatureTable, shown: Places, *, importance: Doubles
) -> tuple[Places, dict[str, Any]]:
    """Features, the most important ones where all are too many; principal axes; the strength.

    Parameters
    ----------
    view, features : FittedView, FeatureTable
        All rows.
    shown : array of int
        Those on the page.
    importance : array of shape (d,)
        Which features to keep.

    Returns
    -------
    kept : array of int
        The features that are axes; they come first.
    payload : dict
        The axes as a page reads them.
    """
    made, pulled_in = _principal_axes(features, shown)
    n_features = len(features.names)
    if n_features == 1 and not made:
        made = [(view.strength_name, view.strength[shown])]
    room = min(_MOST_AXES, _MOST_VALUES // len(shown)) - len(made)
    kept = np.sort(np.argsort(-importance, kind="stable")[: max(room, 2)])
    left_out = None
    if len(kept) < n_features:
        left_out = (
            f"Of {n_features:,} features {len(kept):,} are on this page, to keep it small: those "
            "that tell most about clusters and outliers."
        )
    axes = [(features.names[j], features.shown[shown, j]) for j in kept] + made
    return kept, {
        "axes": [
            {
                "name": clean_text(name),
                "values": encoded(values, _float_type(values)),
                "feature": number < len(kept),
            }
            for number, (name, values) in enumerate(axes)
        ],
        "features_note": " ".join(filter(None, [left_out, pulled_in])) or None,
        "start_axes": [len(kept), len(kept) + 1] if len(made) == 2 else [0, 1],
    }


def _principal_axes(
    features: FeatureTable, shown: Places
) -> tuple[list[tuple[str, Floats]], str | None]:
    """The first two principal axes of three features or more, in units of their spreads."""
    values = features.standardised
    if features.mixed is not None and features.categories is not None:
        # Categories as the model saw them; they are on one scale with standardised numbers.
        categories = features.mixed[:, features.categories.n_numeric :]
        values = np.column_stack([values, categories - categories.mean(axis=0)])
    n_rows, n_features = values.shape
    some = values[:: -(-n_rows // _FITTED_ROWS)].clip(-_FARTHEST, _FARTHEST)
    if n_features < 3 or not some.std(axis=0).any():
        return [], None
    solver = "randomized" if n_features > _WIDE and len(some) > _WIDE else "auto"
    pca = PCA(2, svd_solver=solver, random_state=0).fit(some)
    drawn = pca.transform(values[shown].clip(-_FARTHEST, _FARTHEST))
    names = [f"PCA {k + 1} ({100 * s:.0f} %)" for k, s in enumerate(pca.explained_variance_ratio_)]
    extreme = int((np.abs(values[shown]) > _FARTHEST).any(axis=1).sum())
    note = (
        f"In the PCA axes values farther than {_FARTHEST:g} spreads from the median are drawn in "
        f"to that distance ({extreme:,} rows have some)."
    )
    return list(zip(names, drawn.T, strict=True)), note if extreme else None


def _float_type(values: Floats) -> str:
    """Four bytes a value, but for numbers that would lose what makes them differ, like dates."""
    finite = values[np.isfinite(values)].astype(np.float64)
    largest, spread = np.abs(finite).max(initial=0.0), float(np.ptp(finite)) if finite.size else 0.0
    coarse = largest * np.finfo(np.float32).eps > _FLOAT32_ERROR * spread > 0
    return "f8" if coarse or largest > _FLOAT32_MOST or 0 < largest < _FLOAT32_LEAST else "f4"


# ---- columns of text -----------------------------------------------------------------------------


def choose_cells(cells: Mapping[str, Sequence[Any]], shown: Places) -> dict[str, Any]:
    """As many columns as fit into a page, the first ones first, as a page reads them."""
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
    notes = []
    if left_out:
        names = ", ".join(left_out[:5]) + (", ..." if len(left_out) > 5 else "")
        notes.append(f"Left out, to keep the page small: {names}.")
    if any_cut:
        notes.append(f"Of long cells the first {_LONGEST} characters are shown.")
    return {"cells": columns, "cells_note": " ".join(notes) or None}
