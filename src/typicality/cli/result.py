"""What a run found: the model, the rows, and all that is said of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Doubles, Places
from typicality.cli.description import (
    RowReasons,
    Tabulated,
    clusters_csv,
    column_of_names,
    describe_clusters,
    names_of,
    tabulate_texts,
)
from typicality.cli.folder import about_run, as_json, versions
from typicality.cli.rows import FileRows

if TYPE_CHECKING:  # scikit-learn is loaded when the rows are read: errors before that come at once
    from sklearn.pipeline import Pipeline

    from typicality.fitted import FittedView
    from typicality.report.features import FeatureTable
    from typicality.report.outliers import Explanation

_MACHINE = ("jobs", "device", "workers", "scheduler")  # options for run.json
_GAP_AMONG = 10  # a gap is looked for among this part of the rows, the lowest scores


class Passes(NamedTuple):
    """What was counted in passes over a file that was not held in memory.

    Parameters
    ----------
    n_rows : int
        How many rows were judged.
    sizes : list of int
        How many of them each cluster has.
    n_unassigned : int
        How many have no cluster, or are outliers.
    n_reads : int
        How often the file was read.
    block_rows : int
        The most rows of a block.
    results : str
        The file with the results of all rows.
    """

    n_rows: int
    sizes: list[int]
    n_unassigned: int
    n_reads: int
    block_rows: int
    results: str

    def record(self, n_shown: int) -> dict[str, Any]:
        """The passes as run.json has them."""
        return {
            "n_reads": self.n_reads,
            "block_rows": self.block_rows,
            "n_shown": n_shown,
            "results": self.results,
        }


@dataclass(eq=False)
class Run:
    """A model, and what it says of the rows of a file: those it was fitted on, or new ones.

    Parameters
    ----------
    method : str
        The method by name, "outliers" for those.
    rows : FileRows
        The rows, and the options; their texts are complete when the rows were written.
    pipeline : Pipeline
        The steps "columns" (a ColumnScaler, or MixedColumns) and "model" (the estimator).
    scaled : array of shape (n, d)
        The rows as the model sees them.
    view : FittedView
        What the model says of the rows.
    warnings : list of str
        One paragraph for each warning, columns called by their names.
    seconds : dict of str to float
        How long the fit took, and everything.
    reference : FileRows, optional
        The rows it was fitted on, where the rows are new ones.
    fdr : float, optional
        The rate of false discoveries at which rows are flagged.
    sample : array of int, optional
        The places of the rows that were fitted, among those that could have been, where it was not
        all of them.
    passes : Passes, optional
        What was counted in passes over the file, where `rows` are only some of its rows.
    """

    method: str
    rows: FileRows
    pipeline: "Pipeline"
    scaled: Doubles
    view: "FittedView"
    warnings: list[str]
    seconds: dict[str, float]
    reference: FileRows | None = None
    fdr: float | None = None
    sample: Places | None = None
    passes: Passes | None = None

    @property
    def n_fitted(self) -> int:
        """How many rows the model was fitted on."""
        if self.passes is not None and self.sample is None:
            return self.passes.n_rows
        return len((self.reference or self.rows).X) if self.sample is None else len(self.sample)

    @property
    def n_rows(self) -> int:
        """How many rows the model has judged."""
        return self.view.n_rows if self.passes is None else self.passes.n_rows

    @property
    def n_unassigned(self) -> int:
        """How many of them have no cluster, or are outliers."""
        return self.view.n_unassigned if self.passes is None else self.passes.n_unassigned

    @property
    def shown(self) -> "tuple[FileRows, Explanation]":
        """The rows that the report shows, and what is unusual in them.

        The tree of a sample knows the rows of the sample only: its report shows no others.
        """
        if self.sample is None or self.view.kind != "tree":
            return self.rows, self.explanation
        from typicality.fitted import view
        from typicality.report.outliers import Explanation

        rows, scaled = self.rows.take(self.sample), self.scaled[self.sample]
        features = feature_table(rows, self.pipeline["columns"], scaled)
        return rows, Explanation.of(view(self.model, scaled, training=True), features)

    @property
    def model(self) -> Any:
        """The fitted estimator."""
        return self.pipeline["model"]

    @property
    def finds_outliers(self) -> bool:
        """Whether it looked for outliers instead of clusters."""
        return self.method == "outliers"

    @cached_property
    def explanation(self) -> "Explanation":
        """Why the least typical rows are unusual."""
        from typicality.report.outliers import Explanation

        features = feature_table(self.rows, self.pipeline["columns"], self.scaled)
        return Explanation.of(self.view, features)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the csv file gets; of a detector also why a row is flagged."""
        from typicality.report.outliers import deviations_of

        if not self.finds_outliers:
            return self.view.columns
        why = np.full(self.view.n_rows, "", dtype=object)
        flagged = np.flatnonzero(self.view.labels < 0)
        explained = self.explanation
        found = deviations_of(self.view, explained.features, explained.centers, flagged)
        why[flagged] = row_reasons(self.rows, flagged, found.values, found.shares).texts()
        return {**self.view.columns, "why": why}

    @cached_property
    def clusters(self) -> list[dict[str, Any]]:
        """Each cluster with its medians, and the columns that set it apart."""
        from typicality.report.clusters import ClusterTable

        table = ClusterTable.of(self.explanation)
        return describe_clusters(table, self.rows.numeric.names, self.rows.value_words)

    @cached_property
    def tabulated(self) -> list[Tabulated]:
        """Text columns that took no part, counted in each cluster."""
        taking_part = {*self.rows.column_names}
        texts = {name: t for name, t in self.rows.texts.items() if name not in taking_part}
        return tabulate_texts(texts, self.view.labels)

    def clusters_csv(self) -> bytes:
        """What clusters.csv holds."""
        return clusters_csv(
            self.clusters, self.sizes, self.n_rows, self.typical_rows, self.named_by
        )

    @cached_property
    def named_by(self) -> str | None:
        """The column that names rows."""
        notable = [*self.view.most_typical[1], *self._least_typical]
        return column_of_names(self.rows, notable)

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
        if self.passes is not None:
            return self.passes.sizes
        labels = self.view.labels
        n_clusters = 1 if self.finds_outliers else int(self.model.n_clusters_)
        sizes: list[int] = np.bincount(labels[labels >= 0], minlength=n_clusters).tolist()
        return sizes

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
        first = slice(len(positions))
        reasons = row_reasons(
            self.rows, positions, explained.deviations[first], explained.shares[first]
        )
        more: dict[str, list[Any]] = {"reasons": reasons.items()}
        if self.passes is not None and self.view.kind == "prototypes":
            # The least typical of all rows, not only of those that are shown.
            more["rarer_than"] = [1.0 - (k + 1) / self.n_rows for k in range(len(positions))]
        return self._notable(positions, **more)

    def _notable(self, positions: Places, **more: list[Any]) -> list[dict[str, Any]]:
        """Rows worth a look, as run.json has them.

        `reasons` are the columns in which a row is unusual and by how many spreads, `rivals` the
        two clusters that a row is between, the nearer one first.
        """
        word, numbers = self.rows.numbers
        row_numbers, p_values = self.rows.row_numbers, self.view.p_values
        rarity, names = self.view.rarity, names_of(self.rows, self.named_by)
        return [
            {
                "row": int(row_numbers[i]),
                "line": int(numbers[i]) if word == "line" else None,
                "label": int(self.view.labels[i]),
                "strength": float(self.view.strength[i]),
                "rarer_than": None if rarity is None else float(rarity[i]),
                "p_value": None if p_values is None else float(p_values[i]),
                "name": names[i],
                "cells": {name: texts[i] for name, texts in self.rows.texts.items()},
                "reasons": [],
                "rivals": [],
            }
            | {name: values[k] for name, values in more.items()}
            for k, i in enumerate(positions)
        ]

    def record(self) -> dict[str, Any]:
        """The run as run.json has it: all it takes to repeat it, and what came out of it."""
        options = self.rows.options
        return {
            **about_run(),
            "method": self.method,
            "seed": options.seed,
            "data": self.rows.record(),
            "reference": None if self.reference is None else self.reference.record(),
            "preparation": parameters_of(self.pipeline["columns"]),
            "estimator": parameters_of(self.model),
            "machine": {name: getattr(options, name) for name in _MACHINE},
            "versions": versions(),
            "results": as_json(self._results()),
            "warnings": self.warnings,
            "seconds": self.seconds,
        }

    def _results(self) -> dict[str, Any]:
        from typicality.fitted import chosen_method

        model, n_unassigned = chosen_method(self.model), self.n_unassigned
        if self.finds_outliers:
            found = {
                "n_outliers": n_unassigned,
                "threshold": self.view.cut,
                "false_alarm_interval": model.false_alarm_interval_,
                "fdr": self.fdr,
                "gap": self.gap,
            }
        else:
            found = {
                "n_clusters": len(self.sizes),
                "sizes": self.sizes,
                "n_unassigned": n_unassigned,
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
            "sample": None if self.sample is None else {"n_rows": self.n_fitted},
            "passes": None if self.passes is None else self.passes.record(len(self.rows.X)),
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


def feature_table(rows: FileRows, scaler: Any, scaled: Doubles) -> "FeatureTable":
    """The features of rows as reports take them; categories are told apart from numbers."""
    from typicality.report.features import FeatureTable

    names = list(rows.numeric.names)
    if not rows.is_mixed:
        return FeatureTable(names, rows.X, scaled)
    numbers, layout = scaled[:, : scaler.n_numeric_], scaler._layout
    return FeatureTable(names, rows.X, numbers, categories=layout, mixed=scaled)


def row_reasons(
    rows: FileRows, positions: Places, deviations: Doubles, shares: Doubles
) -> RowReasons:
    """In which columns some of the rows are unusual."""
    numbers = {
        name: [rows.value_words(name, value) or value for value in rows.X[positions, j].tolist()]
        for j, name in enumerate(rows.numeric.names)
    }
    texts = {each.name: rows.texts_of(each, positions) for each in rows.categories}
    return RowReasons.of(numbers, deviations, texts, shares)
