"""The data of a page: one structure of numbers and sentences, written as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
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
from typicality.report.features import FeatureTable, largest
from typicality.report.outliers import Explanation, deviations_of
from typicality.report.shown import (
    REASONS,
    choose_axes,
    choose_branches,
    choose_cells,
    choose_rows,
    clean_text,
    encoded,
    tree_payload,
)

_KINDS = {"tree": "tree", "prototypes": "memberships", "detector": "typicality"}  # on the page
_FEWEST_ROWS = 10
_MOST_MEMBERSHIPS = 1_000_000
_MOST_MEDIANS = 20_000  # of all clusters together
_MOST_EXPLAINED = 400_000  # values of rows with reasons: a second or two to find their neighbours
_ROWS_COMPARED = 1000
_TELLING = 0.5  # spreads: a smaller deviation explains nothing
_FAR = 999.0  # spreads: larger deviations are not told apart
_MOST_TEXTS, _MOST_TABULATED = 20, 2  # values of a column of text that is tabulated, such columns
MINUS = "\N{MINUS SIGN}"
_ROW_WORDS = "Rows are counted from 0, as in the data."
_NUMBER_WORDS = "Rows are named by their {} in the data."
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
    branches = [] if found.tree is None else choose_branches(found, max_rows)
    wanted = clusters.typical_rows
    if found.tree is not None:
        wanted = np.append(found.tree.row_of[[each["peak"] for each in branches]], wanted)
    shown, sample_note = choose_rows(found, max_rows, wanted=wanted, random_state=random_state)
    outliers = explanation.among(shown)
    kept, axes = choose_axes(found, features, shown, clusters=clusters, outliers=outliers)
    about = "Outliers" if found.kind == "detector" else "Clusters and outliers"
    notes = notes or _default_notes(model, found, len(features.names))
    return {
        "title": clean_text(title or f"{about} in {counted(found.n_rows, 'row')}"),
        "made_by": f"typicality {typicality.__version__}",
        "certainty": how_sure(model, found, clusters),
        "n_rows": found.n_rows,
        "sample_note": sample_note,
        "row": encoded(numbers[shown], "i4"),
        "row_word": row_word,
        "row_words": _ROW_WORDS if row_numbers is None else _NUMBER_WORDS.format(row_word),
        **axes,
        **choose_cells(cells, shown),
        **_rows_payload(found, shown),
        "tree": tree_payload(found, branches, shown),
        "clusters": _clusters_payload(explanation, cells, shown, kept),
        "separation_words": clusters.separation_words,
        "outliers": _outliers_payload(outliers, shown, kept),
        **_outlier_words(outliers),
        "notes": [list(map(clean_text, note)) for note in notes],
        "warnings": list(map(clean_text, warnings)),
    }


def _rows_payload(found: FittedView, shown: Places) -> dict[str, Any]:
    """The label of each row and how typical it is."""
    memberships = found.memberships if found.kind == "prototypes" else None
    if memberships is not None and memberships[shown].size > _MOST_MEMBERSHIPS:
        memberships = None
    gap = found.gap
    return {
        "kind": _KINDS[found.kind],
        "shares": found.shares,
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


def _outliers_payload(outliers: Explanation, shown: Places, kept: Places) -> dict[str, Any]:
    """The rows that are listed, and the reasons for these and for as many others as there is room.

    `explained` is None where that is every row shown. Deviations are in tenths.
    """
    room = max(len(outliers.rows), _MOST_EXPLAINED // max(len(outliers.features.names), 1))
    explained = None
    rows = shown
    if len(shown) > room:
        order = shown[np.argsort(outliers.view.depth[shown], kind="stable")]
        rows = np.union1d(outliers.rows, order[: room - len(outliers.rows)])
        explained = encoded(np.searchsorted(shown, rows), "i4")
    found = deviations_of(outliers.view, outliers.features, outliers.centers, rows)
    axis, deviations = largest(found.values[:, kept], REASONS)
    return {
        "index": encoded(np.searchsorted(shown, outliers.rows), "i4"),
        "explained": explained,
        "axis": encoded(axis.ravel(), "i2"),
        "tenths": encoded(np.rint(10 * deviations.ravel()).clip(-32767, 32767), "i2"),
        "categories": _unusual_categories(outliers.features, rows, found.shares),
    }


def _outlier_words(outliers: Explanation) -> dict[str, str]:
    """What the rows are called that are listed, and which these are."""
    if outliers.view.shares:
        words = "Every row has a membership below 0.1 in all other clusters."
        if len(outliers.rows):
            words = (
                "Rows with a membership of 0.1 or more in a second cluster, the smallest largest "
                f"membership first. {outliers.words}"
            )
        return {"outlier_heading": "Rows between clusters", "outlier_words": words}
    heading = "Outliers" if outliers.view.kind == "detector" else "The least typical rows"
    return {"outlier_heading": heading, "outlier_words": f"Least typical first. {outliers.words}"}


def _clusters_payload(
    explained: Explanation, cells: Mapping[str, Sequence[Any]], shown: Places, kept: Places
) -> list[dict[str, Any]]:
    """The table of clusters, in words and numbers; the rows of no cluster come last.

    `typical` is a place among the rows that are shown, -1 where the row is not.
    """
    clusters, found, features = explained.clusters, explained.view, explained.features
    categories = () if features.categories is None else features.categories.names
    level = np.full(len(clusters.labels), np.nan)
    if found.kind != "prototypes":
        level[:] = found.cut if found.levels is None else found.levels[clusters.labels]
    place = np.searchsorted(shown, clusters.typical_rows).clip(max=len(shown) - 1)
    typical = np.where(shown[place] == clusters.typical_rows, place, -1)
    medians = clusters.medians[:, kept]
    if medians.size > _MOST_MEDIANS:
        medians = medians[:, :0]
    entries: list[dict[str, Any]] = [
        {
            "label": int(label),
            "size": int(clusters.sizes[k]),
            "typical": int(typical[k]),
            "level": _number(level[k]),
            "separation": _number(clusters.separation[k]),
            "profile": clean_text(profile_words(explained, k)),
            "medians": list(map(_number, medians[k])) if k < len(medians) else [],
        }
        for k, label in enumerate(clusters.labels)
    ]
    if found.n_unassigned:
        rest: dict[str, Any] = {
            "typical": -1,
            "level": None,
            "separation": None,
            "profile": "",
            "medians": [],
        }
        entries.append({"label": -1, "size": found.n_unassigned, **rest})
    mass = np.bincount(found.labels + 1, found.strength, minlength=1)
    texts = _commonest_texts(found.labels, {n: t for n, t in cells.items() if n not in categories})
    for entry in entries:
        entry["strength"] = _number(mass[entry["label"] + 1] / entry["size"])
        entry["texts"] = clean_text(texts[entry["label"]])
    return entries


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
    words: dict[int, list[str]] = {label: [] for label in np.unique(labels).tolist()}
    most = min(_MOST_TEXTS, len(labels) / 2)
    few = [name for name in cells if 2 <= len(set(cells[name])) <= most]
    for name in few[:_MOST_TABULATED]:
        values = np.asarray([str(value) for value in cells[name]], dtype=object)
        for label, said in words.items():
            counts = Counter(values[labels == label].tolist())
            (text, n_rows), total = counts.most_common(1)[0], counts.total()
            said.append(f"{name}: {text or '(empty)'} ({n_rows:,} of {total:,})")
    return {label: "; ".join(said) for label, said in words.items()}


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
        found.append(list(map(clean_text, texts)))
    return found


def _number(value: Any) -> float | None:
    """A number as JSON knows them; None for what it does not know."""
    return None if value is None or not np.isfinite(value) else float(value)


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
    return Explanation.of(view(model, X, training=training), features)


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
    word, given = row_numbers
    numbers = np.asarray(given)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"row_numbers must be a pair of a word, e.g. 'line', and {n_rows} integers, one for "
            f"each row; its numbers have shape {numbers.shape} and type {numbers.dtype}."
        )
    return clean_text(word), numbers.astype(np.int32)
