"""The data of a page: one structure of numbers and sentences, written as JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import resample
from sklearn.utils.validation import check_is_fitted

import typicality
from typicality._arguments import check_same_length, check_whole
from typicality._checks import check_rows
from typicality._estimators import ESTIMATORS
from typicality._typing import Doubles, Labels, Places
from typicality._words import counted, for_people, share
from typicality.explain import category_text, surprise
from typicality.fitted import FittedView, chosen_method, view
from typicality.report.certainty import how_sure
from typicality.report.clusters import PROFILE_LENGTH, telling_categories
from typicality.report.features import FeatureTable, cross_counts, largest
from typicality.report.outliers import Explanation
from typicality.report.shown import (
    REASONS,
    choose_axes,
    choose_branches,
    choose_cells,
    choose_rows,
    encoded,
    tree_payload,
)

_KINDS = {"tree": "tree", "prototypes": "memberships", "detector": "typicality"}  # on the page
_FEWEST_ROWS = 10
_MOST_MEMBERSHIPS = 1_000_000
_MOST_MEDIANS = 20_000  # of all clusters together
_MOST_EXPLAINED = 2000  # rows with reasons
_ROWS_COMPARED = 1000
_TELLING = 0.5  # spreads: a smaller deviation explains nothing
_FAR = 999.0  # spreads: larger deviations are not told apart
_MOST_TEXTS, _MOST_TABULATED = 20, 2  # values of a column of text that is tabulated, such columns
MINUS = "\N{MINUS SIGN}"
_ENDINGS = {
    "converged": "It converged after {n}.",
    "max_iter": "It was stopped by max_iter after {n}, before it had converged.",
    "stopped": "It was stopped by a callback after {n}.",
}


def build_payload(
    model: Any,
    X: Any = None,
    *,
    title: str | None = None,
    display: Any = None,
    cells: Mapping[str, Sequence[Any]] | None = None,
    row_numbers: tuple[str, Any] | None = None,
    notes: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    max_rows: int = 20_000,
    random_state: Any = 0,
    explanation: Explanation | None = None,
) -> dict[str, Any]:
    """All that a page shows of a fitted model and rows, as numbers, strings, lists and dicts.

    The parameters are those of :meth:`typicality.report.Report.from_estimator`, and `explanation`:
    the explanation of all rows, if it is known already, in place of X and `display`.
    """
    max_rows = check_whole(max_rows, "max_rows", least=_FEWEST_ROWS)
    if explanation is None:
        explanation = _explained(model, X, display)
    found, features, clusters = explanation.view, explanation.features, explanation.clusters
    cells = {} if cells is None else cells
    for name, values in cells.items():
        check_same_length(len(values), f"cells[{name!r}]", found.n_rows, "X")
    row_word, numbers = _check_row_numbers(row_numbers, found.n_rows)
    branches, wanted = choose_branches(found, max_rows), clusters.typical_rows
    if branches and found.tree is not None:
        wanted = np.append(found.tree.row_of[[each["peak"] for each in branches]], wanted)
    shown, sample_note = choose_rows(found, max_rows, wanted=wanted, random_state=random_state)
    listed = explanation.among(shown)
    texts, numeric = choose_cells(cells, shown)
    kept, axes = choose_axes(listed, shown, numeric)
    naming = next((each["name"] for each in texts["cells"] if not each["numeric"]), None)

    def name_of(row: int) -> str:
        name = "" if naming is None else str(cells[naming][row])
        return " \u00b7 ".join(filter(None, [f"{row_word.capitalize()} {numbers[row]}", name]))

    about = "Outliers" if found.kind == "detector" else "Clusters and outliers"
    counting = "counted from 0, as" if row_numbers is None else f"named by their {row_word}"
    return {
        "title": title or f"{about} in {counted(found.n_rows, 'row')}",
        "made_by": f"typicality {typicality.__version__}",
        "certainty": how_sure(model, found, clusters),
        "n_rows": found.n_rows,
        "sample_note": sample_note,
        "row": encoded(numbers[shown], "i4"),
        "row_word": row_word,
        "row_words": f"Rows are {counting} in the data.",
        **axes,
        **texts,
        **_rows_payload(found, shown),
        "tree": tree_payload(found, branches, shown),
        **_clusters_payload(explanation, cells, shown, kept, name_of),
        "outliers": _outliers_payload(listed, shown, kept),
        **_outlier_words(listed),
        "notes": notes or _default_notes(model, found, len(features.names)),
        "warnings": warnings,
    }


def _rows_payload(found: FittedView, shown: Places) -> dict[str, Any]:
    """The label of each row and how typical it is."""
    memberships = found.memberships if found.kind == "prototypes" else None
    if memberships is not None and memberships[shown].size > _MOST_MEMBERSHIPS:
        memberships = None
    gap = found.gap
    return {
        "kind": _KINDS[found.kind],
        "labels": encoded(found.labels[shown], "i4"),
        "fitted_words": found.fitted_words,
        "strength": encoded(found.strength[shown], "f8"),
        "strength_name": found.strength_name,
        "strength_words": found.strength_words,
        "p_values": None if found.p_values is None else encoded(found.p_values[shown], "f4"),
        "rarity": None if found.rarity is None else encoded(found.rarity[shown], "f4"),
        "rate": found.rate,
        "n_apart": gap[0] if gap else 0,
        "cut": _number(found.cut),
        "levels": None if found.levels is None else [_number(level) for level in found.levels],
        "memberships": None if memberships is None else encoded(memberships[shown], "f4"),
    }


def _outliers_payload(listed: Explanation, shown: Places, kept: Places) -> dict[str, Any]:
    """The rows that are listed, then other rows, the least typical first, and reasons for all.

    Deviations are in tenths.
    """
    rows = shown[np.argsort(listed.view.depth[shown], kind="stable")]
    others = rows[~np.isin(rows, listed.rows)]
    rows = np.append(listed.rows, others[: _MOST_EXPLAINED - len(listed.rows)])
    found = listed.deviations_of(rows)
    axis, deviations = largest(found.values[:, kept], REASONS)
    return {
        "index": encoded(np.searchsorted(shown, rows), "i4"),
        "n_listed": len(listed.rows),
        "axis": encoded(axis.ravel(), "i2"),
        "tenths": encoded(np.rint(10 * deviations.ravel()).clip(-32767, 32767), "i2"),
        "categories": _unusual_categories(listed.features, rows, found.shares),
    }


def _outlier_words(outliers: Explanation) -> dict[str, str]:
    """What the rows are called that are listed, and which these are."""
    if outliers.view.shares:
        words = "Every row has a membership below 0.1 in all other clusters."
        if len(outliers.rows):
            words = (
                "Rows with a membership of 0.1 or more in a second cluster, the smallest largest "
                f"membership first. {outliers.found.words}"
            )
        return {"outlier_heading": "Rows between clusters", "outlier_words": words}
    heading = "Outliers" if outliers.view.kind == "detector" else "The least typical rows"
    return {
        "outlier_heading": heading,
        "outlier_words": f"Least typical first. {outliers.found.words}",
    }


def _unusual_categories(features: FeatureTable, rows: Places, shares: Doubles) -> list[list[str]]:
    """For each of some rows, its unusual categories in words, the rarest first."""
    categories = features.categories
    if categories is None:
        return []
    codes = categories.codes(features.rows[rows])
    size = surprise(shares)
    found = []
    for i, order in enumerate(np.argsort(-size, axis=1, kind="stable").tolist()):
        texts = []
        for j in [j for j in order[:REASONS] if size[i, j] > 0]:
            value = categories.values[j][codes[i, j]] if codes[i, j] >= 0 else "a new category"
            texts.append(category_text(categories.names[j], value, shares[i, j]))
        found.append(texts)
    return found


def _number(value: Any) -> float | None:
    """A number as JSON knows them; None for what it does not know."""
    return None if value is None or not np.isfinite(value) else float(value)


# ---- the table of clusters -----------------------------------------------------------------------


def _clusters_payload(
    explained: Explanation,
    cells: Mapping[str, Sequence[Any]],
    shown: Places,
    kept: Places,
    name_of: Callable[[int], str],
) -> dict[str, Any]:
    """The table of clusters, as it is shown and as a spreadsheet takes it.

    The rows of no cluster come last. The page itself adds sizes, which change with the level.
    `typical` is a place among the rows that are shown, -1 where the row is not.
    """
    clusters, found, features = explained.clusters, explained.view, explained.features
    labels, sizes = [*clusters.labels.tolist()], [*clusters.sizes.tolist()]
    if found.n_unassigned:
        labels, sizes = [*labels, -1], [*sizes, found.n_unassigned]
    mass = np.bincount(found.labels + 1, found.strength, minlength=1)
    level: Any = []
    if found.kind != "prototypes":
        level = [found.cut if found.levels is None else found.levels[k] for k in clusters.labels]
    categories = () if features.categories is None else features.categories.names
    texts = _commonest_texts(found.labels, {n: t for n, t in cells.items() if n not in categories})
    detects = found.kind == "detector"
    columns = [
        (f"Mean {found.strength_name}", "strength", mass[np.add(labels, 1)] / sizes),
        ("Most typical row", "typical", [*map(name_of, clusters.typical_rows)]),
        ("Threshold" if detects else "Level", "level", level),
        ("Separation", "separation", clusters.separation),
        ("Other columns", "texts", [texts[label] for label in labels]),
        (
            "How they differ from the others" if detects else "How it differs",
            "profile",
            [profile_words(explained, k) for k in range(len(clusters.labels))],
        ),
    ]
    if clusters.medians[:, kept].size <= _MOST_MEDIANS:  # in the sheet only
        columns += [(f"Median {features.names[j]}", "", clusters.medians[:, j]) for j in kept]
    columns = [
        (name, key, [*values, *[None] * (len(labels) - len(values))])
        for name, key, values in columns
        if any(map(_text, values))
    ]
    on_page = [each for each in columns if each[1]]
    span = float(np.ptp(found.strength)) or 1.0
    digits = 4 + int(np.log10(max(np.abs(found.strength).max() / span, 1.0)))
    exact = {} if found.kind == "prototypes" else dict.fromkeys(("strength", "level"), digits)
    place = np.searchsorted(shown, clusters.typical_rows).clip(max=len(shown) - 1)
    is_shown = shown[place] == clusters.typical_rows
    typical = dict(zip(labels, np.where(is_shown, place, -1).tolist(), strict=False))
    numbers = [label if label >= 0 else "unassigned" for label in labels]
    shares = [size / found.n_rows for size in sizes]
    lines = zip(numbers, sizes, shares, *(values for _, _, values in columns), strict=True)
    by_label = sorted(lines, key=lambda line: (isinstance(line[0], str), line[0]))
    sheet = [("Cluster", "Rows", "Share", *(name for name, _, _ in columns)), *by_label]
    return {
        "clusters": [
            {
                "label": label,
                "size": size,
                "typical": typical.get(label, -1),
                "cells": [_text(values[k], exact.get(key, 4)) for _, key, values in on_page],
            }
            for k, (label, size) in enumerate(zip(labels, sizes, strict=True))
        ],
        "cluster_columns": [{"key": key, "name": name} for name, key, _ in on_page],
        "cluster_sheet": "\n".join("\t".join(map(_sheet_cell, line)) for line in sheet),
        "separation_words": clusters.separation_words,
    }


def _text(value: float | str | None, digits: int = 4) -> str:
    """A cell of a table; a number near one is not rounded to it."""
    if value is None or isinstance(value, str):
        return value or ""
    if not np.isfinite(value):
        return ""
    if digits > 4 and abs(value) < 1000:
        return f"{value:.{digits}g}".replace("-", MINUS)
    return "> 0.9999" if 0.9999 < value < 1 else for_people(value).replace("-", MINUS)


def _sheet_cell(value: Any) -> str:
    """A cell as a spreadsheet takes it: text on one line that is no formula, or a plain number."""
    if isinstance(value, str):
        text = " ".join(value.split())
        return f"'{text}" if text[:1] in set("=+@-") else text
    return "" if value is None or not np.isfinite(value) else f"{value:.7g}"


def profile_words(explained: Explanation, k: int) -> str:
    """What sets a cluster apart: "width 5 against 3 elsewhere (+2.1), colour: red in 9 of 10"."""
    clusters, names = explained.clusters, explained.features.names
    if k >= len(clusters.medians):
        return ""
    least = _TELLING if len(names) > 1 else 0.0
    (best,), (deviations,) = largest(clusters.deviations[k : k + 1], PROFILE_LENGTH)
    words = []
    for j, deviation in zip(best.tolist(), deviations.tolist(), strict=True):
        if j < 0 or abs(deviation) < least:
            continue
        own, elsewhere = clusters.medians[k, j], clusters.elsewhere[k, j]
        values = "high" if deviation > 0 else "low"
        if np.isfinite(elsewhere):
            two = (for_people(value, names[j]) for value in (own, elsewhere))
            values = "{} against {} elsewhere".format(*two)
        values = f"{values} ({np.clip(deviation, -_FAR, _FAR):+.1f})"
        words.append(f"{names[j]} {values.replace('-', MINUS)}")
    words += telling_categories(clusters.commonest[k])[:PROFILE_LENGTH]
    return ", ".join(words) or "No single column stands out."


def _commonest_texts(labels: Labels, cells: Mapping[str, Sequence[Any]]) -> dict[int, str]:
    """The most frequent text of each label, in the first columns that have few texts."""
    present, place = np.unique(labels, return_inverse=True)
    words: list[list[str]] = [[] for _ in present]
    most = min(_MOST_TEXTS, len(labels) / 2)
    few = [name for name in cells if 2 <= len(set(cells[name])) <= most]
    for name in few[:_MOST_TABULATED]:
        texts, codes = np.unique([str(value) for value in cells[name]], return_inverse=True)
        counts = cross_counts(place, codes, (len(present), len(texts)))
        for own, said in zip(counts, words, strict=True):
            text = texts[own.argmax()] or "(empty)"
            said.append(f"{name}: {text} ({own.max():,} of {own.sum():,})")
    return dict(zip(present.tolist(), map("; ".join, words), strict=True))


# ---- what was run on what, in words --------------------------------------------------------------


def _default_notes(model: Any, found: FittedView, n_features: int) -> list[Any]:
    """Pairs of a heading and a sentence or two."""
    explained = getattr(model, "explanation_", None)
    model = chosen_method(model)
    meaning = ESTIMATORS[type(model).__name__].meaning if type(model).__name__ in ESTIMATORS else ""
    return [
        ("Data", f"{counted(found.n_rows, 'row')}, {counted(n_features, 'column')}."),
        *([] if explained is None else [("Choice", explained)]),
        ("Method", f"{' '.join(repr(model).split())}{meaning and ': '}{meaning}."),
        ("Iterations", _ENDINGS[model.status_].format(n=counted(model.n_iter_, "iteration"))),
        ("Computation", f"{model.sums_[:1].upper()}{model.sums_[1:]}"),
    ]


def clusters_words(n_clusters: int, n_unassigned: int, n_rows: int) -> str:
    """How many clusters and unassigned rows there are."""
    clusters = counted(n_clusters, "cluster")
    if not n_unassigned:
        return f"{clusters}; every row belongs to one"
    rows = f"{counted(n_unassigned, 'row')} ({share(n_unassigned, n_rows)})"
    return f"{clusters}; {rows} {'is' if n_unassigned == 1 else 'are'} unassigned"


# ---- checks --------------------------------------------------------------------------------------


def _explained(model: Any, X: Any, display: Any) -> Explanation:
    """What a fitted model says of rows; a tree is drawn for its training rows only."""
    kinds = ("labels_at", "decision_function", "predict_memberships")
    if isinstance(model, type) or not any(hasattr(model, name) for name in kinds):
        raise TypeError(
            f"{model!r} is not an estimator of typicality: a report shows typicalities or "
            "memberships. Pass a fitted estimator, e.g. AlphaCutClustering().fit(X)."
        )
    check_is_fitted(model)
    features = FeatureTable.of(model, check_rows(model, X, training=False), display)
    method = chosen_method(model)
    training = _are_training_rows(method, X)
    if hasattr(method, "tree_") and not hasattr(method, "weights_"):
        raise ValueError(
            "The model was fitted on rows that were read block by block, and its tree "
            "holds only a sample of them. For a report, fit the model on an array, e.g. on "
            "a sample."
        )
    if hasattr(method, "tree_") and not training:
        raise ValueError(
            f"X ({len(features.shown)} rows) is not the X that the model was fitted on "
            f"({len(method.typicality_)} rows): its tree of clusters belongs to those rows, in "
            "their order. Pass the X of fit, or fit the model on these rows."
        )
    return Explanation(view(model, X, training=training), features)


def _are_training_rows(model: Any, X: Any) -> bool:
    """Whether rows have the typicalities of the fit; some of them are looked at."""
    known = getattr(model, "typicality_", ())
    if len(known) != len(X):
        return False
    n_compared = min(_ROWS_COMPARED, len(known))
    some, typicality = resample(X, known, replace=False, n_samples=n_compared, random_state=0)
    return np.allclose(model.predict_typicality(some), typicality, rtol=1e-3, atol=1e-6)


def _check_row_numbers(
    row_numbers: tuple[str, Any] | None, n_rows: int
) -> tuple[str, NDArray[np.int32]]:
    """What rows are called, and a number for each."""
    if row_numbers is None:
        return "row", np.arange(n_rows, dtype=np.int32)
    word, numbers = row_numbers
    check_same_length(len(numbers), "row_numbers", n_rows, "X")
    return word, np.asarray(numbers).astype(np.int32)
