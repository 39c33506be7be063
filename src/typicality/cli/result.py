"""What a run found in a file: the rows to show, and all that is said of them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Doubles, Places
from typicality.cli.description import (
    Tabulated,
    clusters_csv,
    column_of_names,
    describe_clusters,
    names_of,
    tabulate_texts,
)
from typicality.cli.folder import about_run, as_json, versions
from typicality.cli.rows import FileRows
from typicality.cli.writing import ShownRows, Tally
from typicality.fitted import FittedView, chosen_method
from typicality.report.clusters import ClusterTable
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation
from typicality.run_folder import Judged, RowReasons, Run

if TYPE_CHECKING:
    from typicality.preprocessing.table_rows import ModelRows

_MACHINE = ("jobs", "device", "workers")  # options for run.json
_GAP_AMONG = 10  # a gap is looked for among this part of the rows, the lowest scores


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
        at_most = 10 if self.finds_outliers else 5
        if self.view.shares:
            return np.argsort(self.view.strength, kind="stable")[:at_most]
        return self.explanation.rows[:at_most]

    @cached_property
    def gap(self) -> tuple[int, float, float] | None:
        """Rows that stand apart: how many, the score of the last of them, and the next score.

        The last gap among the lowest tenth of the scores that is wider than all that is above it,
        up to the median.
        """
        scores = np.sort(self.view.strength)
        some = scores[: max(len(scores) // _GAP_AMONG, 1) + 1]
        wide = np.flatnonzero(np.diff(some) > np.median(scores) - some[1:])
        if not self.finds_outliers or self.passes is not None or len(wide) == 0:
            return None
        last = int(wide[-1])
        return last + 1, float(some[last]), float(some[last + 1])

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
