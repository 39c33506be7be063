"""What a run found in a file: the rows to show, and all that is said of them."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Doubles, Labels, Places
from typicality._words import YEARS
from typicality.cli.folder import about_run, as_json, versions
from typicality.cli.rows import FileRows
from typicality.cli.writing import ShownRows, Tally
from typicality.fitted import FittedView, chosen_method
from typicality.report.clusters import PROFILE_LENGTH, ClusterTable
from typicality.report.features import FeatureTable, largest
from typicality.report.outliers import Explanation
from typicality.run_folder import Judged, RowReasons, Run
from typicality.tables.cells import look_of

if TYPE_CHECKING:
    from typicality.preprocessing.table_rows import ModelRows

MOST_VALUES = 20  # of a column of text that is counted
_CALLED = ("name", "title")  # columns that name rows
_YES_OR_NO = frozenset(["yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein"])
TELLING = 0.5  # spreads: a smaller deviation explains nothing, here as on the page
_MACHINE = ("jobs", "device", "workers")  # options for run.json


class Tabulated(NamedTuple):
    """How often each value of a text column occurs in each cluster.

    Parameters
    ----------
    column : str
        The column, which took no part in the fit.
    counts : dict of int to dict of str to int
        For each label the values and how often they occur, the most frequent first.
    association : float
        Cramer's V of labels and values: 0 where they are independent, 1 where one determines the
        other.
    """

    column: str
    counts: dict[int, dict[str, int]]
    association: float


@dataclass(eq=False)
class Result:
    """What a run found in the file it was fitted on, or in new rows next to a reference.

    Parameters
    ----------
    run : Run
        The model, and its record so far.
    method : str
        The method by name, "outliers" for those.
    source : FileRows
        The file, its columns, and the options.
    shown : ShownRows
        The rows to show: all, or some of a file that is not held in memory.
    judged : Judged
        What the run says of the rows to show.
    fitted : array of int, slice or None
        Which of them were fitted.
    tally : Tally
        How many rows of the file were judged, and their clusters.
    reference : FileRows, optional
        The rows it was fitted on, where the rows are new ones.
    passes : dict, optional
        How a file that is not held in memory was read.
    warnings : list of dict
        What was seen and what to try, for each warning.
    seconds : dict of str to float
        How long the fit took, and everything.
    """

    run: Run
    method: str
    source: FileRows
    shown: ShownRows
    judged: Judged
    fitted: Places | slice | None
    tally: Tally
    reference: FileRows | None = None
    passes: dict[str, int] | None = None
    warnings: list[dict[str, str]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def model(self) -> Any:
        """The fitted estimator."""
        return self.run.model

    @property
    def view(self) -> FittedView:
        """What the model says of the rows to show."""
        return self.judged.view

    @property
    def finds_outliers(self) -> bool:
        """Whether it looked for outliers instead of clusters."""
        return self.method == "outliers"

    @property
    def n_rows(self) -> int:
        """How many rows the model has judged."""
        return self.tally.n_rows - self.tally.n_left_out

    @property
    def sample(self) -> dict[str, int] | None:
        """How many rows were fitted, if it was a sample."""
        found: dict[str, int] | None = self.run.record["results"]["sample"]
        return found

    @property
    def n_fitted(self) -> int:
        """How many rows the model was fitted on."""
        if self.sample is not None:
            return self.sample["n_rows"]
        return self.n_rows if self.reference is None else len(self.reference.X)

    @cached_property
    def explanation(self) -> Explanation:
        """Why the least typical rows are unusual."""
        return Explanation.of(self.view, feature_table(self.run, self.shown.rows, self.judged))

    @property
    def page(self) -> tuple[ShownRows, Explanation]:
        """The rows that the report shows, and what is unusual in them."""
        return on_page(self.run, self.shown, self.judged, self.fitted, self.explanation)

    @cached_property
    def clusters(self) -> list[dict[str, Any]]:
        """Each cluster with its medians, and the columns that set it apart."""
        table = ClusterTable.of(self.explanation)
        return describe_clusters(table, self.shown.rows.names, self.run.word_of)

    @cached_property
    def tabulated(self) -> list[Tabulated]:
        """Text columns that took no part, counted in each cluster."""
        taking_part = {*self.source.column_names}
        texts = {name: t for name, t in self.shown.cells.items() if name not in taking_part}
        return tabulate_texts(texts, self.view.labels)

    def clusters_csv(self) -> bytes:
        """What clusters.csv holds."""
        return clusters_csv(
            self.clusters, self.sizes, self.n_rows, self.typical_rows, self.named_by
        )

    @cached_property
    def named_by(self) -> str | None:
        """The column that names rows: the one that was asked for, or the most useful one."""
        if self.source.options.name is not None:
            return self.source.options.name
        notable = [*self.view.most_typical[1], *self._least_typical]
        taking_part = {column.name for column in self.source.categories}
        cells = {n: t for n, t in self.shown.cells.items() if n not in taking_part}
        return column_of_names(cells, notable)

    @property
    def _least_typical(self) -> Places:
        """The rows that are listed; where memberships are shares, those between clusters."""
        return self.explanation.rows[: 10 if self.finds_outliers else 5]

    @cached_property
    def gap(self) -> tuple[int, float, float] | None:
        """Rows that stand apart, where all rows are at hand: see :attr:`FittedView.gap`."""
        return None if self.passes is not None else self.view.gap

    @cached_property
    def sizes(self) -> list[int]:
        """How many rows each cluster has."""
        n_clusters = 1 if self.finds_outliers else int(self.model.n_clusters_)
        return [*self.tally.sizes, *[0] * (n_clusters - len(self.tally.sizes))]

    @cached_property
    def typical_rows(self) -> list[dict[str, Any]]:
        """The most typical row of each cluster."""
        return self._notable(self.view.most_typical[1])

    @cached_property
    def atypical_rows(self) -> list[dict[str, Any]]:
        """The least typical rows, the worst first, with what makes them so, as in the report.

        Where memberships are shares, these are the rows between clusters, and which those are.
        """
        positions, explained = self._least_typical, self.explanation
        memberships = self.view.memberships
        if memberships is not None and self.view.shares:
            nearest = np.argsort(-memberships[positions], axis=1, kind="stable")[:, :2]
            return self._notable(positions, rivals=nearest.tolist())
        n = len(positions)
        reasons = RowReasons.of(
            self.shown.rows, positions, explained.deviations[:n], explained.shares[:n]
        )
        more: dict[str, list[Any]] = {"reasons": reasons.items()}
        if self.passes is not None and self.view.kind == "prototypes":
            # The least typical of all rows, not only of those that are shown.
            more["rarer_than"] = [1.0 - (k + 1) / self.n_rows for k in range(n)]
        return self._notable(positions, **more)

    def _notable(self, positions: Places, **more: list[Any]) -> list[dict[str, Any]]:
        """Rows worth a look, as run.json has them.

        `reasons` are the columns in which a row is unusual and by how many spreads, `rivals` the
        two clusters that a row is between, the nearer one first.
        """
        word, numbers = self.shown.numbers
        row_numbers, p_values = self.shown.row_numbers, self.view.p_values
        rarity, names = self.view.rarity, names_of(self.shown, self.named_by)
        return [
            {
                "row": int(row_numbers[i]),
                "line": int(numbers[i]) if word == "line" else None,
                "label": int(self.view.labels[i]),
                "strength": float(self.view.strength[i]),
                "rarer_than": None if rarity is None else float(rarity[i]),
                "p_value": None if p_values is None else float(p_values[i]),
                "name": names[i],
                "cells": {name: texts[i] for name, texts in self.shown.cells.items()},
                "reasons": [],
                "rivals": [],
            }
            | {name: values[k] for name, values in more.items()}
            for k, i in enumerate(positions)
        ]

    def record(self) -> dict[str, Any]:
        """The run as run.json has it: all it takes to repeat it, and what came out of it."""
        options = self.source.options
        return {
            **about_run(),
            **self.run.record,
            "preparation": parameters_of(self.run.pipeline["columns"]),
            "estimator": parameters_of(self.model),
            "machine": {name: getattr(options, name) for name in _MACHINE},
            "versions": versions(),
            "results": as_json(self.run.record["results"] | self._results()),
            "warnings": self.warnings,
            "seconds": self.seconds,
        }

    def _results(self) -> dict[str, Any]:
        model = chosen_method(self.model)
        if self.finds_outliers:
            found = {
                "n_outliers": self.tally.n_unassigned,
                "threshold": self.view.cut,
                "false_alarm_interval": model.false_alarm_interval_,
                "gap": self.gap,
            }
        else:
            found = {
                "n_clusters": len(self.sizes),
                "sizes": self.sizes,
                "n_unassigned": self.tally.n_unassigned,
                "alpha": getattr(model, "alpha_", None),
                "clusters": self.clusters,
            }
        if model is not self.model:
            found |= {
                "chosen": type(model).__name__,
                "explanation": self.model.explanation_,
                "agreement": self.model.agreement_,
            }
        return found | {
            "passes": self.passes,
            "sigma": getattr(model, "sigma_", None),
            "n_iter": model.n_iter_,
            "status": model.status_,
            "sums": model.sums_,
            "named_by": self.named_by,
            "text_columns": [each._asdict() for each in self.tabulated],
            "typical_rows": self.typical_rows,
            "atypical_rows": self.atypical_rows,
        }


def parameters_of(estimator: Any) -> dict[str, Any]:
    """The class of an estimator and its parameters, as run.json has them."""
    parameters = as_json(estimator.get_params(deep=False))
    return {"class": type(estimator).__name__, "parameters": parameters}


def feature_table(run: Run, rows: "ModelRows", judged: Judged) -> FeatureTable:
    """The features of rows as reports take them; categories are told apart from numbers."""
    scaled: Doubles = judged.scaled
    if not hasattr(run.pipeline["columns"], "kinds_"):
        return FeatureTable(rows.names, rows.X, scaled)
    numbers = scaled[:, : len(rows.names)]
    return FeatureTable(rows.names, rows.X, numbers, categories=rows.layout, mixed=scaled)


def on_page(
    run: Run,
    shown: ShownRows,
    judged: Judged,
    fitted: Places | slice | None,
    explanation: Explanation | None = None,
) -> tuple[ShownRows, Explanation]:
    """The rows that a page shows, and what is unusual in them.

    The tree of a sample knows the rows of the sample only: its page shows no others.
    """
    if judged.view.kind == "tree" and isinstance(fitted, np.ndarray):
        shown, explanation = shown.take(fitted), None
        judged = run.judge(shown.part, fitted=slice(None))
    if explanation is None:
        explanation = Explanation.of(judged.view, feature_table(run, shown.rows, judged))
    return shown, explanation


# ---- medians -------------------------------------------------------------------------------------


def describe_clusters(
    table: ClusterTable, names: Sequence[str], words: Callable[[str, float], str | None]
) -> list[dict[str, Any]]:
    """Each cluster with its medians, and the columns that set it apart, as run.json has them.

    `words` gives the category of a rank.
    """
    found = []
    columns, deviations = largest(table.deviations, PROFILE_LENGTH)
    for k, label in enumerate(table.labels[: len(table.medians)].tolist()):
        apart = [
            {
                "column": names[j],
                "median": float(table.medians[k, j]),
                "elsewhere": float(table.elsewhere[k, j]),
                "deviations": float(deviation),
            }
            for j, deviation in zip(columns[k], deviations[k], strict=True)
            if j >= 0 and abs(deviation) >= TELLING and np.isfinite(table.elsewhere[k, j])
        ]
        for each in apart:
            for key in ("median", "elsewhere"):
                each[key] = words(each["column"], each[key]) or each[key]
        medians = {
            name: words(name, value) or value
            for name, value in zip(names, table.medians[k].tolist(), strict=True)
        }
        commonest = [each._asdict() for each in table.commonest[k]]
        found.append({"label": label, "medians": medians, "apart": apart, "categories": commonest})
    return sorted(found, key=lambda cluster: cluster["label"])


def clusters_csv(
    clusters: Sequence[Mapping[str, Any]],
    sizes: Sequence[int],
    n_rows: int,
    typical_rows: Sequence[Mapping[str, Any]],
    name: str | None,
) -> bytes:
    """A line for each cluster: size, share, its most typical row, and the median of each column."""
    typical = {row["label"]: row for row in typical_rows}
    names = list(clusters[0]["medians"]) if clusters else []
    heading = ["cluster", "rows", "share", "typical_row", "typical_line"]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    named = [] if name is None else [f"typical_{name}"]
    categories = [each["column"] for each in clusters[0]["categories"]] if clusters else []
    commonest = [f"{word}_{name}" for name in categories for word in ("commonest", "share")]
    medians = [f"median_{column}" for column in names]
    writer.writerow([*heading, *named, *medians, *commonest])
    for cluster in clusters:
        label = cluster["label"]
        row = typical[label]
        cells = [label, sizes[label], f"{sizes[label] / n_rows:.4g}", row["row"], row["line"]]
        values = map(_median_text, cluster["medians"].values())
        shares = [
            text
            for each in cluster["categories"]
            for text in (each["category"], f"{each['n_rows'] / each['of']:.4g}")
        ]
        writer.writerow([*cells, *([] if name is None else [row["name"]]), *values, *shares])
    return stream.getvalue().encode("utf-8", "surrogateescape")


def _median_text(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else f"{value:.9g}"


# ---- columns of text -----------------------------------------------------------------------------


def tabulate_texts(texts: Mapping[str, Sequence[str]], labels: Labels) -> list[Tabulated]:
    """Text columns against labels, the most closely related first.

    Only columns with 2 to 20 different values, each of them twice on average at the least.
    """
    found = []
    labels_present, label_places = np.unique(labels, return_inverse=True)
    for column, cells in texts.items():
        values = Counter(cell.strip() for cell in cells)
        if not 2 <= len(values) <= min(MOST_VALUES, len(cells) / 2):
            continue
        place = {value: k for k, value in enumerate(values)}
        counts = np.zeros((len(labels_present), len(values)), np.intp)
        np.add.at(counts, (label_places, np.array([place[cell.strip()] for cell in cells])), 1)
        by_label = {
            int(label): {
                value: int(n)
                for n, value in sorted(zip(row, values, strict=True), key=lambda pair: -pair[0])
                if n
            }
            for label, row in zip(labels_present, counts, strict=True)
        }
        found.append(Tabulated(column, by_label, _cramers_v(counts)))
    return sorted(found, key=lambda each: -each.association)


def _cramers_v(counts: Any) -> float:
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    least = min(counts.shape) - 1
    return float(
        np.sqrt(((counts - expected) ** 2 / expected).sum() / counts.sum() / max(least, 1))
    )


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
