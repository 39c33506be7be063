"""The data of a page: one structure of numbers and finished words, written as JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import typicality
from typicality._arguments import check_same_length, check_whole
from typicality._estimators import ESTIMATORS
from typicality._typing import Places
from typicality._words import counted, for_people, most_unusual, share, stand_apart
from typicality.explain import TELLING, RowReasons, category_text, value_text
from typicality.fitted import FittedView, chosen_method
from typicality.report.certainty import how_sure
from typicality.report.clusters import tabulate_texts, telling_categories
from typicality.report.outliers import Explanation
from typicality.report.shown import choose_axes, choose_cells, choose_rows, encoded, tree_payload

_KINDS = {"tree": "tree", "prototypes": "memberships", "detector": "typicality"}  # on the page
_FEWEST_ROWS = 10
_FEWEST_OF_BRANCH = 5  # rows: single rows are the most persistent branches of all
_MOST_MEMBERSHIPS = 1_000_000
_MOST_MEDIANS = 20_000  # of all clusters together
_MOST_EXPLAINED = 2000  # rows with reasons
_LEAST_OF_ONE = 0.05  # spreads: what is shown of a single column is not rounded to zero
_FAR = 999.0  # spreads: larger deviations are not told apart
_MOST_TABULATED = 2  # columns of text
_MINUS = str.maketrans("-", "\N{MINUS SIGN}")


def build_payload(
    model: Any,
    explained: Explanation,
    texts: Mapping[str, Sequence[Any]],
    *,
    title: str | None = None,
    cells: Mapping[str, Sequence[Any]] | None = None,
    row_numbers: tuple[str, Any] | None = None,
    notes: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    max_rows: int = 20_000,
    random_state: Any = 0,
) -> dict[str, Any]:
    """All that a page shows of a fitted model and rows, as numbers, strings, lists and dicts.

    `texts` are the columns of text of the rows; they come before `cells`. The other parameters are
    those of :meth:`typicality.report.Report.from_estimator`.
    """
    max_rows = check_whole(max_rows, "max_rows", least=_FEWEST_ROWS)
    found, features, clusters = explained.view, explained.features, explained.clusters
    cells = {**texts, **(cells or {})}
    for name, values in cells.items():
        check_same_length(len(values), f"cells[{name!r}]", found.n_rows, "X")
    word, numbers = ("row", np.arange(found.n_rows)) if row_numbers is None else row_numbers
    check_same_length(len(numbers), "row_numbers", found.n_rows, "X")
    branches, wanted = None, clusters.typical_rows
    if found.tree is not None:
        branches = found.tree.largest_branches(fewest=max(_FEWEST_OF_BRANCH, found.min_size))
        wanted = np.append(found.tree.row_of[branches.peak], wanted)
    shown, sample_note = choose_rows(found, max_rows, wanted=wanted, random_state=random_state)
    listed = explained.among(shown)
    columns, numeric = choose_cells(cells, shown)
    naming = next((each["name"] for each in columns if not each["numeric"]), None)

    def name_of(row: int) -> str:
        name = "" if naming is None else str(cells[naming][row])
        return " \u00b7 ".join(filter(None, [f"{word.capitalize()} {numbers[row]}", name]))

    detects, n_apart = found.kind == "detector", found.gap[0] if found.gap else 0
    flagged = most_unusual(found.n_unassigned, found.n_rows, found.rate)
    counting = "counted from 0, as" if row_numbers is None else f"named by their {word}"
    about = "Outliers" if detects else "Clusters and outliers"
    return {
        "title": title or f"{about} in {counted(found.n_rows, 'row')}",
        "made_by": f"typicality {typicality.__version__}",
        "headline": f"{flagged}; {stand_apart(n_apart)}." if detects else None,
        "certainty": how_sure(model, found, clusters),
        "n_rows": found.n_rows,
        "sample_note": sample_note,
        "row": encoded(np.asarray(numbers)[shown], "i4"),
        "row_word": word,
        "row_words": f"Rows are {counting} in the data.",
        **choose_axes(listed, shown, numeric),
        "cells": columns,
        **_rows_payload(found, shown),
        "tree": tree_payload(found, branches, shown),
        **_clusters_payload(explained, cells, shown, name_of),
        "outliers": _outliers_payload(listed, shown),
        **_outlier_words(listed),
        "notes": notes or _default_notes(model, found, len(features.names)),
        "warnings": warnings,
    }


def _rows_payload(found: FittedView, shown: Places) -> dict[str, Any]:
    """The label of each row and how typical it is."""
    memberships = found.memberships if found.kind == "prototypes" else None
    if memberships is not None and memberships[shown].size > _MOST_MEMBERSHIPS:
        memberships = None
    optional = {"rarity": found.rarity, "memberships": memberships}
    return {
        "kind": _KINDS[found.kind],
        "labels": encoded(found.labels[shown], "i4"),
        "fitted_words": found.fitted_words,
        "strength": encoded(found.strength[shown], "f8"),
        "strength_name": found.strength_name,
        "strength_words": found.strength_words,
        "cut": _number(found.cut),
        "levels": None if found.levels is None else [*map(_number, found.levels)],
        **{
            name: None if values is None else encoded(values[shown], "f4")
            for name, values in optional.items()
        },
    }


def _number(value: Any) -> float | None:
    """A number as JSON knows them; None for what it does not know."""
    return None if value is None or not np.isfinite(value) else float(value)


# ---- rows that are listed, and why they are unusual ----------------------------------------------


def _outliers_payload(listed: Explanation, shown: Places) -> dict[str, Any]:
    """The rows that are listed, then other rows, the least typical first, and reasons for all.

    A reason is the name of a column, its value, and the deviation; of a category a phrase.
    """
    rows = shown[np.argsort(listed.view.depth[shown], kind="stable")]
    others = rows[~np.isin(rows, listed.rows)]
    rows = np.append(listed.rows, others[: _MOST_EXPLAINED - len(listed.rows)])
    found, features = listed.deviations_of(rows), listed.features
    numbers = dict(zip(features.names, features.shown[rows].T, strict=True))
    texts = {} if features.categories is None else features.categories.texts(features.rows[rows])
    reasons = RowReasons.of(numbers, texts, found.values, found.shares).items()
    least = TELLING if len(numbers) > 1 else _LEAST_OF_ONE
    return {
        "index": encoded(np.searchsorted(shown, rows), "i4"),
        "n_listed": len(listed.rows),
        "reasons": [
            [_reason(each) for each in own if abs(each["deviations"]) >= least] for own in reasons
        ],
    }


def _reason(item: Mapping[str, Any]) -> list[Any]:
    name, value, deviation = item["column"], item["value"], item["deviations"]
    if "share" in item:
        return [category_text(name, value, item["share"])]
    text = value_text(name, value).translate(_MINUS)
    return [name, text, round(float(np.clip(deviation, -_FAR, _FAR)), 1)]


def _outlier_words(outliers: Explanation) -> dict[str, str]:
    """What the rows are called that are listed, and which these are."""
    heading = "Outliers" if outliers.view.kind == "detector" else "The least typical rows"
    which = "Least typical first."
    if outliers.view.shares:
        heading, which = (
            "Rows between clusters",
            (
                "Rows with a membership of 0.1 or more in a second cluster, the smallest largest "
                "membership first."
            ),
        )
    words = f"{which} {outliers.found.words}"
    if not len(outliers.rows):
        words = "Every row has a membership below 0.1 in all other clusters."
    return {"outlier_heading": heading, "outlier_words": words}


# ---- the table of clusters -----------------------------------------------------------------------


def _clusters_payload(
    explained: Explanation,
    cells: Mapping[str, Sequence[Any]],
    shown: Places,
    name_of: Callable[[int], str],
) -> dict[str, Any]:
    """The table of clusters, as it is shown and as a spreadsheet takes it.

    The rows of no cluster come last. The page itself adds sizes, which change with the level.
    `typical` is a place among the rows that are shown, -1 where the row is not.
    """
    clusters, found, features = explained.clusters, explained.view, explained.features
    detects, order = found.kind == "detector", clusters.labels.tolist()
    labels = [*order, *[-1] * bool(found.n_unassigned)]
    sizes = [*clusters.sizes.tolist(), found.n_unassigned][: len(labels)]
    mass = np.bincount(found.labels + 1, found.strength, minlength=1)
    level: Any = []
    if found.kind != "prototypes":
        level = [found.cut if found.levels is None else found.levels[k] for k in order]
    profiles = [profile_words(explained, k) for k in range(len(clusters.medians)) if not detects]
    columns: list[tuple[str, str, Any]] = [
        (f"Mean {found.strength_name}", "strength", mass[np.add(labels, 1)] / sizes),
        ("Most typical row", "typical", [*map(name_of, clusters.typical_rows)]),
        ("Threshold" if detects else "Level", "level", level),
        ("Separation", "separation", clusters.separation),
        ("Other columns", "texts", _commonest_texts(explained, cells, labels)),
        ("How it differs", "profile", profiles),
    ]
    columns = [each for each in columns if any(map(_text, each[2]))]
    on_page = len(columns)
    if clusters.medians.size <= _MOST_MEDIANS:
        medians = zip(features.names, clusters.medians.T, strict=True)
        columns += [(f"Median {name}", "", values) for name, values in medians]
    padded = [[*values, *[None] * (len(labels) - len(values))] for _, _, values in columns]
    span = max(float(np.ptp(found.strength)), 1e-300)
    close = 4 + int(np.log10(max(np.abs(found.strength).max() / span, 1.0)))
    exact = {} if found.kind == "prototypes" else dict.fromkeys(("strength", "level"), close)
    digits = [exact.get(key, 4) for _, key, _ in columns[:on_page]]
    place = np.searchsorted(shown, clusters.typical_rows).clip(max=len(shown) - 1)
    typical = np.where(shown[place] == clusters.typical_rows, place, -1).tolist()
    lines = [*zip(labels, sizes, [*typical, -1], *padded, strict=False)]
    by_label = sorted(lines, key=lambda line: (line[0] < 0, line[0]))
    sheet = [
        ("Cluster", "Rows", "Share", *(name for name, _, _ in columns)),
        *(
            (label if label >= 0 else "unassigned", size, size / found.n_rows, *values)
            for label, size, _, *values in by_label
        ),
    ]
    return {
        "clusters": [
            {
                "label": label,
                "size": size,
                "typical": typical,
                "cells": [*map(_text, values[:on_page], digits)],
            }
            for label, size, typical, *values in lines
        ],
        "cluster_columns": [{"key": key, "name": name} for name, key, _ in columns[:on_page]],
        "cluster_sheet": "\n".join("\t".join(map(_sheet_cell, line)) for line in sheet),
        "separation_words": clusters.separation_words,
    }


def _text(value: float | str | None, digits: int = 4) -> str:
    """A cell of a table; a number near one is not rounded to it."""
    if value is None or isinstance(value, str):
        return value or ""
    if not np.isfinite(value):
        return ""
    if 0.9999 < value < 1 and digits == 4:
        return "> 0.9999"
    text = f"{value:.{digits}g}" if digits > 4 and abs(value) < 1000 else for_people(value)
    return text.translate(_MINUS)


def _sheet_cell(value: Any) -> str:
    """A cell as a spreadsheet takes it: text on one line that is no formula, or a plain number."""
    if isinstance(value, str):
        text = " ".join(value.split())
        return f"'{text}" if text[:1] in set("=+@-") else text
    return "" if value is None or not np.isfinite(value) else f"{value:.7g}"


def profile_words(explained: Explanation, k: int) -> str:
    """What sets a cluster apart: "width 5 against 3 elsewhere (+2.1), colour: red in 9 of 10"."""
    names, words = explained.features.names, []
    for each in explained.clusters.apart(k, TELLING if len(names) > 1 else 0.0):
        name = names[each.column]
        values = "high" if each.deviation > 0 else "low"
        if np.isfinite(each.elsewhere):
            own, elsewhere = (for_people(value, name) for value in (each.median, each.elsewhere))
            values = f"{own} against {elsewhere} elsewhere"
        # In another space, as on a sphere, the deviation can be opposed to that of the medians.
        if not (each.median - each.elsewhere) * each.deviation < 0:
            values += f" ({np.clip(each.deviation, -_FAR, _FAR):+.1f})"
        words.append(f"{name} " + values.translate(_MINUS))
    words += telling_categories(explained.clusters.commonest[k])
    return ", ".join(words) or "No single column stands out."


def _commonest_texts(
    explained: Explanation, cells: Mapping[str, Sequence[Any]], labels: Sequence[int]
) -> list[str]:
    """The most frequent text of each label, in the columns that go with the clusters."""
    categories = explained.features.categories
    used = () if categories is None else categories.names
    others = {name: [*map(str, texts)] for name, texts in cells.items() if name not in used}
    found = tabulate_texts(others, explained.view.labels)[:_MOST_TABULATED]
    words: list[list[str]] = [[] for _ in labels]
    for each in found:
        for label, said in zip(labels, words, strict=True):
            counts = each.counts[label]
            text, n_rows = next(iter(counts.items()))
            of = sum(counts.values())
            said.append(f"{each.column}: {text or '(empty)'} ({n_rows:,} of {of:,})")
    return ["; ".join(said) for said in words]


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
        ("Iterations", f"{counted(model.n_iter_, 'iteration')}, {model.status_}."),
        ("Computation", f"{model.sums_[:1].upper()}{model.sums_[1:]}"),
    ]


def clusters_words(n_clusters: int, n_unassigned: int, n_rows: int, *, are_all: bool = True) -> str:
    """How many clusters and unassigned rows there are; `are_all` if no row was left out."""
    clusters = counted(n_clusters, "cluster")
    if not n_unassigned and not are_all:
        return (
            f"{clusters}; every one of the {counted(n_rows, 'row')} that were used belongs to one"
        )
    if not n_unassigned:
        return f"{clusters}; every row belongs to one"
    rows = f"{counted(n_unassigned, 'row')} ({share(n_unassigned, n_rows)})"
    return f"{clusters}; {rows} {'is' if n_unassigned == 1 else 'are'} unassigned"
