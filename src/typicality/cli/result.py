"""What a run found in a file: the rows to show, and all that is said of them."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from typicality._cached import cached_property
from typicality._threads import stream_in_threads
from typicality._typing import Labels, Places
from typicality._words import YEARS
from typicality.cli.folder import as_json
from typicality.cli.rows import FitRows
from typicality.cli.writing import Gathered, ShownRows, Tally
from typicality.explain import TELLING, RowReasons
from typicality.fitted import chosen_method
from typicality.report.certainty import how_sure
from typicality.report.clusters import MOST_VALUES, ClusterTable, tabulate_texts
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation
from typicality.run_folder import Judged, Run
from typicality.tables import TableFile
from typicality.tables.cells import look_of

_CALLED = ("name", "title")  # columns that name rows
_YES_OR_NO = frozenset(["yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein"])
_SAME, _ROUNDING = 0.95, 1e-9  # normalised mutual information: of clusters that are values
_FIRST = 1000  # rows that show whether a column has few values


@dataclass(eq=False)
class Result:
    """What a run says of the rows to show: of the file it was fitted on, or of any other.

    Parameters
    ----------
    run : Run
        The model, and its record.
    shown : ShownRows
        The rows to show: all, or some of a file that is not held in memory.
    judged : Judged
        What the run says of these rows.
    fitted : array of int, slice or None
        Which of them were fitted.
    """

    run: Run
    shown: ShownRows
    judged: Judged
    fitted: Places | slice | None

    @classmethod
    def of_file(cls, run: Run, table: TableFile, *, name: str | None = None) -> "Result":
        """What a run says of the rows of a file that take part; `name` is the column of names.

        Where a run refuses missing values, rows with some take no part.
        """
        run = run.with_missing("drop" if run.missing == "error" else None)
        gathered = Gathered(table, run.numeric_names, run.record["data"]["n_rows"], name=name)
        for rows in stream_in_threads(run.read, table.blocks()):
            gathered.see(rows)
        shown = gathered.result()
        fitted = run.places_of_fit(len(shown.places), table.fingerprint)
        return cls(run, shown, run.judge(shown.rows, fitted=fitted, fdr=run.fdr), fitted)

    @cached_property
    def features(self) -> FeatureTable:
        """The features of the rows: numbers and categories."""
        rows, scaled = self.shown.rows, self.judged.scaled
        numbers = scaled[:, : len(rows.names)]  # places have their height as one more column
        return FeatureTable(rows.names, rows.X, numbers, categories=self.run.layout, mixed=scaled)

    @cached_property
    def explanation(self) -> Explanation:
        """Why the least typical rows are unusual."""
        return Explanation(self.judged.view, self.features)

    def on_page(self) -> "Result":
        """The rows that a page shows: the tree of a sample knows the rows of the sample only."""
        if self.judged.view.kind != "tree" or not isinstance(self.fitted, np.ndarray):
            return self
        shown, every = self.shown.take(self.fitted), slice(None)
        return Result(self.run, shown, self.run.judge(shown.rows, fitted=every), every)

    def row(self, i: int) -> dict[str, Any]:
        """Where a row is in the file, and what the model says of it, as JSON has it."""
        shown, view = self.shown, self.judged.view
        return {
            "row": int(shown.row_numbers[i]),
            "line": None if shown.lines is None else int(shown.lines[i]),
            "label": int(view.labels[i]),
            "strength": float(view.strength[i]),
            "rarer_than": None if view.rarity is None else float(view.rarity[i]),
            "p_value": None if view.p_values is None else float(view.p_values[i]),
        }

    @property
    def fitted_rows(self) -> tuple[str, Places] | None:
        """What the fitted rows are called, and their numbers, if they are shown."""
        word, numbers = self.shown.numbers
        return None if self.fitted is None else (word, numbers[self.fitted])


def fields_of(result: Result, source: FitRows, tally: Tally) -> dict[str, Any]:
    """What run.json says of the result of a fit; terminal and page make words of it."""
    run, view, model = result.run, result.judged.view, chosen_method(result.run.model)
    cells, typical = result.shown.cells, view.most_typical[1]
    least = result.explanation.rows[: 10 if view.kind == "detector" else 5]
    categories = source.categories
    named_by = source.options.name or column_of_names(
        {name: texts for name, texts in cells.items() if name not in categories},
        [*typical, *least],
    )
    taking_part = {*source.column_names}
    texts = {name: some for name, some in cells.items() if name not in taking_part}
    if view.kind == "detector":
        gap = view.gap if source.is_held else None
        found = {
            "n_outliers": tally.n_unassigned,
            "threshold": view.cut,
            "false_alarm_interval": model.false_alarm_interval_,
            "gap": gap,
            "n_apart": None if not source.is_held else 0 if gap is None else gap[0],
        }
    else:
        found = _clusters(result, tally, texts)
        found["n_between"] = len(view.between) if source.is_held else None
    if model is not run.model:
        found |= {
            "chosen": type(model).__name__,
            "explanation": run.model.explanation_,
            "agreement": run.model.agreement_,
        }
    why = _why(result, least)
    if not source.is_held and view.kind == "prototypes" and not view.shares:
        # The least typical of all rows, not only of those that are shown.
        n_rows = tally.n_rows - tally.n_left_out
        why["rarer_than"] = [1.0 - (k + 1) / n_rows for k in range(len(least))]
    return found | {
        "certainty": how_sure(run.model, view, result.explanation.clusters),
        "n_shown": None if source.is_held else len(result.shown.places),
        "sigma": getattr(model, "sigma_", None),
        "n_iter": model.n_iter_,
        "status": model.status_,
        "sums": model.sums_,
        "named_by": named_by,
        "text_columns": [each._asdict() for each in tabulate_texts(texts, view.labels)],
        "typical_rows": _notable(result, typical, named_by),
        "atypical_rows": _notable(result, least, named_by, **why),
    }


def _clusters(result: Result, tally: Tally, texts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The clusters: their sizes, medians, and the column whose values they are."""
    run, rows = result.run, result.shown.rows
    columns = dict(zip(rows.names, rows.X.T, strict=True)) | rows.texts | dict(texts)
    n_clusters = int(run.model.n_clusters_)
    return {
        "n_clusters": n_clusters,
        "sizes": [*tally.sizes, *[0] * (n_clusters - len(tally.sizes))],
        "n_unassigned": tally.n_unassigned,
        "alpha": getattr(chosen_method(run.model), "alpha_", None),
        "clusters": describe_clusters(result.explanation.clusters, rows.names, run.in_words),
        "values_of": column_of_values(columns, result.judged.view.labels),
    }


def _why(result: Result, least: Places) -> dict[str, list[Any]]:
    """Why the least typical rows are listed: between which clusters, or unusual in what."""
    view, found, n = result.judged.view, result.explanation.found, len(least)
    if view.memberships is not None and view.shares:
        nearest = np.argsort(-view.memberships[least], axis=1, kind="stable")
        return {"rivals": nearest[:, :2].tolist()}
    shown = result.shown.rows.shown(least)
    return {"reasons": RowReasons.of(*shown, found.values[:n], found.shares[:n]).items()}


def _notable(
    result: Result, positions: Places, named_by: str | None, **more: list[Any]
) -> list[dict[str, Any]]:
    """Rows worth a look, as run.json has them.

    `reasons` are the columns in which a row is unusual and by how many spreads, `rivals` the two
    clusters that a row is between, the nearer one first.
    """
    names = names_of(result.shown, named_by)
    return [
        {
            **result.row(int(i)),
            "name": names[i],
            "cells": {name: texts[i] for name, texts in result.shown.cells.items()},
            "reasons": [],
            "rivals": [],
        }
        | {name: values[k] for name, values in more.items()}
        for k, i in enumerate(positions)
    ]


def parameters_of(estimator: Any) -> dict[str, Any]:
    """The class of an estimator and its parameters, as run.json has them."""
    parameters = as_json(estimator.get_params(deep=False))
    return {"class": type(estimator).__name__, "parameters": parameters}


# ---- medians -------------------------------------------------------------------------------------


def describe_clusters(
    table: ClusterTable, names: Sequence[str], words: Callable[[str, float], float | str]
) -> list[dict[str, Any]]:
    """Each cluster with its medians, and the columns that set it apart, as run.json has them.

    `words` returns the category of a rank; without a category, it returns the number.
    """
    found = []
    least = TELLING if len(names) > 1 or any(table.commonest) else 0.0
    for k, label in enumerate(table.labels[: len(table.medians)].tolist()):
        apart: list[dict[str, Any]] = [
            {
                "column": names[each.column],
                "median": words(names[each.column], each.median),
                "elsewhere": words(names[each.column], each.elsewhere),
                "deviations": each.deviation,
            }
            for each in table.apart(k, least)
            if np.isfinite(each.elsewhere)
        ]
        medians = {
            name: words(name, value)
            for name, value in zip(names, table.medians[k].tolist(), strict=True)
        }
        commonest = [each._asdict() for each in table.commonest[k]]
        found.append({"label": label, "medians": medians, "apart": apart, "categories": commonest})
    return sorted(found, key=lambda cluster: cluster["label"])


def clusters_csv(record: Mapping[str, Any]) -> bytes:
    """A line for each cluster: size, share, its most typical row, and the median of each column."""
    data, results = record["data"], record["results"]
    clusters, name = results["clusters"], results["named_by"]
    typical = {row["label"]: row for row in results["typical_rows"]}
    n_rows = data["n_rows"] - data["n_rows_left_out"]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    first = clusters[0] if clusters else {"medians": {}, "categories": []}
    commonest = [f"{w}_{c['column']}" for c in first["categories"] for w in ("commonest", "share")]
    writer.writerow(
        [
            *("cluster", "rows", "share", "typical_row", "typical_line"),
            *([] if name is None else [f"typical_{name}"]),
            *(f"median_{column}" for column in first["medians"]),
            *commonest,
        ]
    )
    for cluster in clusters:
        size, row = results["sizes"][cluster["label"]], typical[cluster["label"]]
        cells = [cluster["label"], size, f"{size / n_rows:.4g}", row["row"], row["line"]]
        cells += [] if name is None else [row["name"]]
        cells += map(_median_text, cluster["medians"].values())
        for each in cluster["categories"]:
            cells += [each["category"], f"{each['n_rows'] / each['of']:.4g}"]
        writer.writerow(cells)
    return stream.getvalue().encode("utf-8", "surrogateescape")


def _median_text(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else f"{value:.9g}"


# ---- columns of text -----------------------------------------------------------------------------


def column_of_values(columns: Mapping[str, Sequence[Any]], labels: Labels) -> str | None:
    """The column whose values the clusters are, if there is one; it may take part or not.

    Only columns with 2 to 20 values: their normalised mutual information with the labels of rows
    that are in a cluster is above 0.95. The first of the best.
    """
    best, most, assigned = None, _SAME, labels >= 0
    if len(np.unique(labels[assigned])) < 2:
        return None
    for name, values in columns.items():
        if len(np.unique(values[:_FIRST])) > MOST_VALUES:
            continue
        codes = np.unique(np.asarray(values)[assigned], return_inverse=True)[1]
        if 1 <= codes.max() < MOST_VALUES:
            information = float(normalized_mutual_info_score(codes, labels[assigned]))
            if information > most + _ROUNDING:
                best, most = name, information
    return best


# ---- names of rows -------------------------------------------------------------------------------


def column_of_names(cells: Mapping[str, Sequence[str]], notable: Sequence[int]) -> str | None:
    """The most useful column of text to name rows; None if the table has no text.

    A useful column tells the notable rows apart; one that is called a name or a title comes first,
    and words, or dates of which no two are equal, are better than codes. Numbers, which identifiers
    are, name nothing, except years that number the rows; nor do yes and no.
    """
    best, most = None, (False, False, 1)
    for name, texts in cells.items():
        some = [texts[i].strip() for i in notable]
        distinct = {cell for cell in some if cell}
        if len(distinct) < 2 or 2 * some.count("") > len(some):
            continue
        if {cell.lower() for cell in distinct} <= _YES_OR_NO:
            continue
        if all(map(_is_number, distinct)):
            if best is None and name.strip().lower() in YEARS and len({*texts}) == len(texts):
                best = name
            continue
        tells_apart = 2 * len(distinct) > len(some)  # the name of a study names no row
        called = tells_apart and any(word in name.lower() for word in _CALLED)
        are_dates = len({*texts}) == len(texts) and look_of(texts) == "dates or times"
        worth = (called, are_dates or _are_words(distinct), len(distinct))
        if worth > most:
            best, most = name, worth
    return best


def names_of(shown: ShownRows, column: str | None) -> Sequence[str]:
    """The text of that column for each row; empty texts without such a column."""
    X, names = shown.rows.X, shown.rows.names
    if column is None:
        return [""] * len(X)
    if column in names:
        return [f"{value:.9g}" for value in X[:, names.index(column)]]
    if column.strip().lower() in YEARS:
        return [text.removesuffix(".0") for text in shown.cells[column]]
    return shown.cells[column]


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _are_words(cells: set[str]) -> bool:
    """Whether most cells are words: letters without digits, not all of them capitals."""
    words = [c for c in cells if not any(map(str.isdigit, c)) and not c.isupper() and len(c) > 1]
    return 2 * len(words) > len(cells)
