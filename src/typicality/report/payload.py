"""What a page is told: one structure of numbers and sentences, written as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import resample
from sklearn.utils.validation import check_is_fitted

import typicality
from typicality._arguments import check_whole
from typicality._typing import Doubles, Floats, Places
from typicality.fitted import FittedView, chosen_method, view
from typicality.geometry.checks import check_rows
from typicality.report.axes import AxisChoice, choose_axes
from typicality.report.cells import choose_cells
from typicality.report.clusters import ClusterTable
from typicality.report.encoding import clean_text, encoded
from typicality.report.features import FeatureTable
from typicality.report.middles import Middles
from typicality.report.outliers import Outliers, explain
from typicality.report.sampling import choose_rows
from typicality.report.shown_tree import ShownBranches, choose_branches, tree_payload
from typicality.report.words import default_notes, default_title, row_words

_FORMAT = 1
_KINDS = {"tree": "tree", "prototypes": "memberships", "detector": "typicality"}  # for the page
_FEWEST_ROWS = 10
_MOST_MEMBERSHIPS = 1_000_000
_PROFILE_LENGTH = 4
_ROWS_COMPARED = 1000
_REASONS = 3  # features named for an outlier
_FLOAT32_LEAST, _FLOAT32_MOST = 1e-30, 1e38  # beyond, digits or whole numbers are lost
_FLOAT32_ERROR = 1e-6  # of the spread of a feature, that writing it in four bytes may cost


def build_payload(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    display: Any = None,
    cells: Mapping[str, Sequence[Any]] | None = None,
    row_numbers: tuple[str, Any] | None = None,
    notes: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    max_rows: int = 100_000,
    random_state: Any = 0,
    found: FittedView | None = None,
) -> dict[str, Any]:
    """All that a page shows of a fitted model and rows, as numbers, strings, lists and dicts.

    The parameters are those of :meth:`typicality.report.Report.from_estimator`, and `found`: what
    the model says of X, where somebody has asked already.
    """
    max_rows = check_whole(max_rows, "max_rows", least=_FEWEST_ROWS)
    notes, warnings = _check_sentences(notes, warnings)
    rows = read_rows(model, X)
    features = FeatureTable.of(model, rows, display)
    cells = {} if cells is None else cells
    _check_cells(cells, len(rows))
    row_word, numbers = _check_row_numbers(row_numbers, len(rows))
    if found is None:  # the rows of a tree are its training rows
        found = view(model, None if hasattr(chosen_method(model), "tree_") else X)
    middles = Middles.of(found, features) if found.kind == "prototypes" else None
    clusters = ClusterTable.of(found, features, middles)
    branches = None
    if found.tree is not None:
        size = chosen_method(model).min_cluster_size
        branches = choose_branches(
            found.tree, found.labels, min_cluster_size=size, max_rows=max_rows
        )
    wanted = _wanted_rows(found, clusters, branches)
    shown, sample_note = choose_rows(found, max_rows, wanted=wanted, random_state=random_state)
    outliers = explain(found, features, middles, shown)
    chosen = choose_axes(found, features, shown, importance=_importance(clusters, outliers))
    notes = notes or default_notes(model, found, len(features.names), len(clusters.labels))
    return {
        "format": _FORMAT,
        "title": clean_text(default_title(found) if title is None else title),
        "made_by": f"typicality {typicality.__version__}",
        "n_rows": found.n_rows,
        "sample_note": sample_note,
        "row": encoded(numbers[shown], "i4"),
        "row_word": clean_text(row_word),
        "row_words": row_words(row_word, counted_from_zero=row_numbers is None),
        **_axes_payload(chosen),
        **_cells_payload(cells, shown),
        **_findings_payload(found, shown),
        "tree": tree_payload(found, branches, shown),
        "clusters": _clusters_payload(clusters, found, chosen.features, numbers),
        "separation_words": clusters.separation_words,
        "outliers": _outliers_payload(outliers, shown, chosen.features),
        "outlier_words": outliers.words,
        "notes": [list(map(clean_text, note)) for note in notes],
        "warnings": [clean_text(text) for text in warnings],
    }


def _wanted_rows(
    found: FittedView, clusters: ClusterTable, branches: ShownBranches | None
) -> Places:
    """Rows a page speaks of: the most typical row of each cluster, and the peaks of branches."""
    typical = clusters.typical_rows
    if found.tree is None or branches is None:
        return typical
    peaks = found.tree.row_of[branches.peak]
    return np.concatenate([peaks, typical])


def _findings_payload(found: FittedView, shown: Places) -> dict[str, Any]:
    memberships = None
    if found.kind == "prototypes" and found.memberships is not None:
        memberships = found.memberships[shown]
    small = memberships is not None and memberships.size <= _MOST_MEMBERSHIPS
    return {
        "kind": _KINDS[found.kind],
        "labels": encoded(found.labels[shown], "i4"),
        "fitted_words": found.fitted_words,
        "strength": encoded(found.strength[shown], "f8"),
        "strength_name": found.strength_name,
        "strength_words": found.strength_words,
        "cut": _number(found.cut),
        "levels": None if found.levels is None else [_number(level) for level in found.levels],
        "memberships": encoded(memberships, "f4") if small else None,
    }


def _cells_payload(cells: Mapping[str, Sequence[Any]], shown: Places) -> dict[str, Any]:
    chosen = choose_cells(cells, shown)
    return {"cells": chosen.columns, "cells_note": chosen.note}


def _axes_payload(chosen: AxisChoice) -> dict[str, Any]:
    return {
        "axes": [
            {
                "name": clean_text(axis.name),
                "values": encoded(axis.values, _float_type(axis.values)),
                "feature": axis.is_feature,
            }
            for axis in chosen.axes
        ],
        "features_note": chosen.note,
        "start_axes": list(chosen.start),
    }


def _float_type(values: Floats) -> str:
    """Four bytes a value, but for numbers that would lose what makes them differ, like dates."""
    finite = values[np.isfinite(values)].astype(np.float64)
    largest, spread = np.abs(finite).max(initial=0.0), float(np.ptp(finite)) if finite.size else 0.0
    coarse = largest * np.finfo(np.float32).eps > _FLOAT32_ERROR * spread > 0
    return "f8" if coarse or largest > _FLOAT32_MOST or 0 < largest < _FLOAT32_LEAST else "f4"


def _clusters_payload(
    clusters: ClusterTable, found: FittedView, features: Places, numbers: NDArray[np.int32]
) -> list[dict[str, Any]]:
    level = np.full(len(clusters.labels), np.nan)
    if found.kind != "prototypes":
        level[:] = found.cut if found.levels is None else found.levels[clusters.labels]
    best, deviations = _largest(clusters.deviations[:, features], _PROFILE_LENGTH)
    without = [((), ())] * (len(clusters.labels) - len(best))
    profiles = [*zip(best, deviations, strict=True), *without]
    return [
        {
            "label": int(clusters.labels[k]),
            "size": int(clusters.sizes[k]),
            "level": _number(level[k]),
            "separation": _number(clusters.separation[k]),
            "typical_row": int(numbers[clusters.typical_rows[k]]),
            "profile": [
                {
                    "axis": int(axis),
                    "mean": _number(clusters.means[k, features[axis]]),
                    "deviations": _number(deviation),
                }
                for axis, deviation in zip(*profile, strict=True)
                if axis >= 0
            ],
        }
        for k, profile in enumerate(profiles)
    ]


def _outliers_payload(outliers: Outliers, shown: Places, kept: Places) -> dict[str, Any]:
    axis, deviations = _largest(outliers.deviations[:, kept], _REASONS)
    return {
        "index": encoded(np.searchsorted(shown, outliers.rows), "i4"),
        "axis": encoded(axis.ravel(), "i4"),
        "deviations": encoded(deviations.ravel(), "f4"),
    }


def _largest(deviations: Doubles, n: int) -> tuple[Places, Doubles]:
    """The n largest deviations of each row and where they are; -1 where there are fewer."""
    order = np.argsort(-np.abs(deviations), axis=1, kind="stable")[:, :n]
    values = np.take_along_axis(deviations, order, axis=1)
    missing = n - order.shape[1]
    order = np.pad(np.where(values == 0.0, -1, order), ((0, 0), (0, missing)), constant_values=-1)
    return order, np.pad(values, ((0, 0), (0, missing)))


def _importance(clusters: ClusterTable, outliers: Outliers) -> Doubles:
    """How often each feature is among those named for a cluster, and for an outlier."""
    n_features = clusters.means.shape[1]
    importance = np.zeros(n_features)
    for deviations, n in ((clusters.deviations, _PROFILE_LENGTH), (outliers.deviations, _REASONS)):
        named = _largest(deviations, n)[0]
        counts = np.bincount(named[named >= 0], minlength=n_features)
        importance += counts / max(len(deviations), 1)
    return importance


def _number(value: Any) -> float | None:
    """A number as JSON knows them; None for what it does not know."""
    return None if value is None or not np.isfinite(value) else float(value)


def _check_row_numbers(
    row_numbers: tuple[str, Any] | None, n_rows: int
) -> tuple[str, NDArray[np.int32]]:
    """What rows are called, and a number for each."""
    if row_numbers is None:
        return "row", np.arange(n_rows, dtype=np.int32)
    word, given = row_numbers
    numbers = np.asarray(given)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"row_numbers has numbers of shape {numbers.shape} and type {numbers.dtype}: pass a "
            f"word and {n_rows} whole numbers, one for each row."
        )
    if n_rows and not 0 <= numbers.min() <= numbers.max() <= np.iinfo(np.int32).max:
        raise ValueError("row_numbers must be numbers from 0 to 2147483647.")
    return str(word), numbers.astype(np.int32)


def _check_cells(cells: Any, n_rows: int) -> None:
    """Further columns, of text."""
    if not isinstance(cells, Mapping):
        raise TypeError(
            f"cells must map names of columns to their values, got {type(cells).__name__}. Pass "
            "e.g. {'city': list_of_cities}."
        )
    for name, values in cells.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise TypeError(f"cells[{name!r}] must be a sequence with a value for each row.")
        if len(values) != n_rows:
            raise ValueError(
                f"cells[{name!r}] has {len(values)} values, X has {n_rows} rows: they must be of "
                "the same rows."
            )


def _check_sentences(notes: Any, warnings: Any) -> tuple[list[tuple[str, str]], list[str]]:
    """Notes, as pairs of a heading and a sentence, and warnings."""
    if isinstance(notes, str) or any(isinstance(note, str) or len(note) != 2 for note in notes):
        raise ValueError("notes must be pairs of a heading and a sentence.")
    if isinstance(warnings, str):
        raise TypeError("warnings must be a sequence of sentences, not one string.")
    return [(str(heading), str(text)) for heading, text in notes], [str(w) for w in warnings]


# ---- checks --------------------------------------------------------------------------------------


def read_rows(model: Any, X: Any) -> Floats:
    """The rows of X as an array, if they and the model can be reported on."""
    _check_reportable(model)
    check_is_fitted(model)
    rows = check_rows(model, X, training=False)
    method = chosen_method(model)
    if hasattr(method, "tree_"):
        _check_training_rows(method, X, n_rows=len(rows))
    return rows


def _check_reportable(model: Any) -> None:
    """An estimator of typicality, not a pipeline around one."""
    if hasattr(model, "steps"):
        raise TypeError(
            "A report is made of an estimator, not of a pipeline: pass its last step, the rows as "
            "the steps before have made them, and the rows as they were as display, i.e. "
            "model[-1].report(model[:-1].transform(X), display=X)."
        )
    kinds = ("labels_at", "decision_function", "predict_memberships")
    if isinstance(model, type) or not any(hasattr(model, name) for name in kinds):
        raise TypeError(
            f"{model!r} is not an estimator of typicality: a report shows typicalities or "
            "memberships. Pass a fitted estimator, e.g. AlphaCutClustering().fit(X)."
        )


def _check_training_rows(model: Any, X: Any, *, n_rows: int) -> None:
    """The rows that a tree was grown from; some of them are looked at."""
    known = model.typicality_
    n_fitted = len(known)
    same = n_rows == n_fitted
    if same:
        n_compared = min(_ROWS_COMPARED, n_rows)
        some, typicality = resample(X, known, replace=False, n_samples=n_compared, random_state=0)
        same = np.allclose(model.predict_typicality(some), typicality, rtol=1e-3, atol=1e-6)
    if not same:
        raise ValueError(
            f"X has {n_rows} rows and is not what the model was fitted on ({n_fitted} rows): "
            "the tree of clusters knows those rows only, in their order. Pass the X of fit, or fit "
            "the model to these rows."
        )
