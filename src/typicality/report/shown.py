"""Which rows, columns, text and branches of a tree a page shows."""

import base64
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state

from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Floats, Labels, Places
from typicality._words import counted
from typicality.explain import REASONS
from typicality.fitted import FittedView
from typicality.levelsets.tree import Branches, pruned
from typicality.report.clusters import PROFILE_LENGTH
from typicality.report.features import FeatureTable, times_named
from typicality.report.outliers import Explanation
from typicality.tables.measured import find_places

_LONGEST, _MOST_TEXTS = 200, 20  # characters of a cell, columns of text
_MOST_FEATURES = 100  # 8 MB with 20,000 rows, 11 in the page
_FARTHEST = 10.0  # spreads: a single extreme value would determine the first principal axis
_FLOAT32_ERROR = 1e-6  # of the spread of a feature, that writing it in four bytes may cost
_FEW_VALUES = 20  # of a column of which rows are drawn beside each other
_ROWS_OF_VALUE = 5  # each of these values has so many rows on average
_MOST_COMPARED, _N_NEAR = 1000, 5  # rows whose neighbours in a plane are looked at
_MOST_TRIED = 6  # columns for the first plane
_AS_GOOD = 0.05  # less pure than the plane of principal axes, and easier to read
_MOST_NAMED = "The plot opens with the two columns in which most outliers are most unusual."
_AS_SEPARATE = "The plot opens with two columns that separate clusters about as well as PCA does."


def encoded(values: Any, dtype: str) -> dict[str, str]:
    """An array as {"dtype": ..., "data": base64 of its little-endian bytes}."""
    data = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"dtype": dtype, "data": base64.b64encode(data.tobytes()).decode("ascii")}


# ---- rows and columns of text --------------------------------------------------------------------


def choose_rows(
    view: FittedView, max_rows: int, *, wanted: Places, random_state: Any = 0
) -> tuple[Places, str | None]:
    """All rows, or a sample that keeps the unassigned ones; a sentence describes the sample.

    Of the rows `wanted`, the most important first, a tenth of `max_rows` is kept at the most.
    """
    every = np.arange(view.n_rows)
    if len(every) <= max_rows:
        return every, None
    unassigned = np.flatnonzero(view.labels < 0)
    least = unassigned[np.argsort(view.depth[unassigned], kind="stable")[: max_rows // 2]]
    taken = np.union1d(least, wanted[: max_rows // 10])
    rest = check_random_state(random_state).permutation(np.setdiff1d(every, taken))
    kind = "outliers" if view.kind == "detector" else "unassigned"
    which = "all" if len(least) == len(unassigned) else "the least typical"
    kept = f"{which} {len(least):,} rows that are {kind}, and others" if len(least) else "rows"
    return np.union1d(taken, rest[: max_rows - len(taken)]), (
        f"The page shows {max_rows:,} of {view.n_rows:,} rows: {kept} drawn at random. Numbers of "
        "rows refer to all rows; after you move the level, they refer only to the rows shown."
    )


def choose_cells(
    cells: Mapping[str, Sequence[Any]], shown: Places
) -> tuple[list[dict[str, Any]], list[tuple[str, Doubles]]]:
    """The first columns of text as a page reads them, and those of numbers as numbers."""
    columns, numeric = [], []
    for name in [*cells][:_MOST_TEXTS]:
        texts = (str(cells[name][i]) for i in shown.tolist())
        short = [text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in texts]
        distinct, codes = np.unique(np.array(short, dtype=object), return_inverse=True)
        try:
            numbers = np.array([float(text) if text.strip() else np.nan for text in distinct])
        except ValueError:
            numbers = np.full(len(distinct), np.nan)
        is_numeric = bool(np.isfinite(numbers).any())
        if is_numeric:
            numeric.append((name, numbers[codes]))
        kind = "u1" if len(distinct) <= 256 else "i4"
        column = {"name": name, "values": distinct.tolist(), "codes": encoded(codes, kind)}
        columns.append(column | {"numeric": is_numeric})
    return columns, numeric


# ---- axes ----------------------------------------------------------------------------------------


def choose_axes(
    explained: Explanation, shown: Places, numeric: Sequence[tuple[str, Doubles]]
) -> dict[str, Any]:
    """Features, the most telling ones where all are too many, and principal axes.

    Other columns of numbers come last; the page itself adds the strength.
    """
    view, features, clusters = explained.view, explained.features, explained.clusters
    n_named = times_named(clusters.deviations, PROFILE_LENGTH) / max(len(clusters.labels), 1)
    away, n_rows = explained.found.values, max(len(explained.rows), 1)
    telling = np.argsort(-n_named - times_named(away, REASONS) / n_rows, kind="stable")
    kept = np.sort(telling[:_MOST_FEATURES])
    made = _principal_axes(features, shown)
    places = _find_map([features.names[j] for j in kept], features.shown[:, kept])
    start, words = [0, 1], ""
    if places is not None:
        start = places
    elif view.kind == "detector" and view.n_unassigned and len(kept) > 1:
        away = away[view.labels[explained.rows] < 0][:, kept]
        most = np.lexsort((-np.abs(away).sum(axis=0), -times_named(away, 1)))
        start, words = sorted(most[:2].tolist()), _MOST_NAMED
    elif made:
        order = np.argsort(-n_named[kept], kind="stable")[:_MOST_TRIED]
        columns = _pure_columns(
            features.standardised[shown][:, kept],
            order,
            np.column_stack([values for _, values in made]),
            view.labels[shown],
        )
        start, words = (columns, _AS_SEPARATE) if columns else ([len(kept), len(kept) + 1], "")
    axes = [*((features.names[j], features.shown[shown, j]) for j in kept), *made, *numeric]
    if len(kept) < len(features.names):
        words += (
            f" This page shows {len(kept):,} of {counted(len(features.names), 'column')}, to keep "
            "it small: those that explain most about clusters and outliers."
        )
    return {
        "axes": [
            {
                "name": name,
                "values": encoded(values, _float_type(values)),
                "feature": number < len(kept),
                "step": _step(values) if number not in (places or ()) else None,
                **({"place": True} if number in (places or ()) else {}),
            }
            for number, (name, values) in enumerate(axes)
        ],
        "start_axes": start,
        "axes_note": words.strip() or None,
    }


def _pure_columns(
    values: Doubles, order: Places, plane: Floats, labels: Labels
) -> list[int] | None:
    """The two columns that separate clusters best, if they do so as well as the principal axes."""
    rows = np.flatnonzero(labels >= 0)
    rows = rows[:: max(1, -(-len(rows) // _MOST_COMPARED))]
    if len(rows) < 2 or len(order) < 2:
        return None
    pairs = [sorted(pair) for pair in combinations(order.tolist(), 2)]
    # Among planes that differ little, the one of the more telling columns, which comes first.
    purity = [round(_purity(values[np.ix_(rows, pair)], labels[rows]), 2) for pair in pairs]
    best = int(np.argmax(purity))
    return pairs[best] if purity[best] >= _purity(plane[rows], labels[rows]) - _AS_GOOD else None


def _purity(points: Floats, labels: Labels) -> float:
    """How many of the nearest points have the label of a point: the mean over clusters."""
    near = cKDTree(points).query(points, min(_N_NEAR + 1, len(points)))[1][:, 1:]
    same = (labels[near] == labels[:, None]).mean(axis=1)
    _, cluster = np.unique(labels, return_inverse=True)
    return float(np.mean(np.bincount(cluster, same) / np.bincount(cluster)))


def _principal_axes(features: FeatureTable, shown: Places) -> list[tuple[str, Floats]]:
    """The first two principal axes of three features or more, in units of their spreads.

    Far values count as if they were 10 spreads away when axes are sought, and are drawn where they
    are.
    """
    values = features.standardised[shown]
    if features.mixed is not None and features.categories is not None:
        # Categories as the model saw them; they are on one scale with standardised numbers.
        values = np.hstack([values, features.mixed[shown, features.categories.n_numeric :]])
    some = values.clip(-_FARTHEST, _FARTHEST)
    if values.shape[1] < 3 or not some.std(axis=0).any():
        return []
    with one_blas_thread():
        pca = PCA(2, random_state=0).fit(some)
        drawn = pca.transform(values)
    names = [f"PCA {k + 1} ({100 * s:.0f} %)" for k, s in enumerate(pca.explained_variance_ratio_)]
    return list(zip(names, drawn.T, strict=True))


def _float_type(values: Floats) -> str:
    """Four bytes a value, but for numbers that would lose what makes them differ, like dates."""
    finite = values[np.isfinite(values)].astype(np.float64)
    with np.errstate(over="ignore"):
        error = np.abs(finite.astype(np.float32) - finite).max(initial=0.0)
    spread = float(np.ptp(finite)) if len(finite) else 0.0
    return "f4" if error <= _FLOAT32_ERROR * spread else "f8"


def _step(values: Floats) -> float | None:
    """The smallest step between the values of a column that has few of them; else None."""
    distinct = np.unique(values[np.isfinite(values)])
    few = 2 <= len(distinct) <= min(_FEW_VALUES, len(values) / _ROWS_OF_VALUE)
    return float(np.diff(distinct).min()) if few else None


def _find_map(names: list[str], values: Floats) -> list[int] | None:
    """The places of longitude and latitude among features; None where there are none."""
    known = {
        name: column[np.isfinite(column)] for name, column in zip(names, values.T, strict=True)
    }
    ranges = {name: (float(x.min()), float(x.max())) for name, x in known.items() if len(x)}
    pair = find_places(ranges)
    return None if pair is None else [names.index(name) for name in reversed(pair)]


# ---- the tree ------------------------------------------------------------------------------------


def tree_payload(
    view: FittedView, branches: Branches | None, shown: Places
) -> dict[str, Any] | None:
    """What a page needs to label the rows it shows at any alpha."""
    tree = view.tree
    if tree is None or branches is None:
        return None
    part = pruned(tree, np.append(tree.node_of[shown], branches.peak))
    columns = {
        "peak": np.searchsorted(part.nodes, branches.peak),
        "parent": branches.parent,
        "peak_alpha": tree.node_alpha[branches.peak],
        "merge_alpha": np.append(0.0, tree.saddle_alpha[branches.edge[1:]]),
        "size": branches.weight,
    }
    lines = zip(*(column.tolist() for column in columns.values()), strict=True)
    return {
        "node_of": encoded(np.searchsorted(part.nodes, tree.node_of[shown]), "i4"),
        "entry": encoded(tree.entry_alpha[shown], "f8"),
        "node_alpha": encoded(tree.node_alpha[part.nodes], "f8"),
        "node_weight": encoded(part.weight, "f8"),
        "pairs": encoded(part.pairs.ravel(), "i4"),
        "saddle_alpha": encoded(tree.saddle_alpha[part.edge], "f8"),
        "branches": [dict(zip(columns, line, strict=True)) for line in lines],
        "min_size": view.min_size,
    }
