"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from typicality._cached import cached_property
from typicality._typing import Doubles, Places
from typicality.cli.console import Terminal
from typicality.cli.description import (
    Tabulated,
    check_name,
    clusters_csv,
    column_of_names,
    describe_clusters,
    names_of,
    tabulate_texts,
)
from typicality.cli.errors import UnusableError
from typicality.cli.folder import (
    MODEL,
    RECORD,
    REPORT,
    about_run,
    as_json,
    new_folder,
    require_free,
    versions,
    write_record,
)
from typicality.cli.options import Options
from typicality.cli.parameters import OPTIONS
from typicality.cli.report import write_page
from typicality.cli.rows import FileRows, open_file, read_file, within
from typicality.fitted import FittedView, chosen_method, view
from typicality.geometry.typical_rows import reason_texts
from typicality.persistence import save
from typicality.report.clusters import ClusterTable
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation, deviations_of, largest
from typicality.tables import TableFile, csv_text, masked_columns
from typicality.tables.opening import kind_of_suffix

_REASONS = 3  # columns named for a row
_GAP_AMONG = 10  # a gap is looked for among this part of the rows, the lowest scores


def run_to_folder(
    options: Options,
    estimator: Any,
    *,
    method: str,
    report: bool,
    reference: str | None = None,
    fdr: float | None = None,
) -> None:
    """Read, fit, write the folder and print what came out.

    Everything is written to a temporary folder, which takes its name at the end: a run that fails
    or is interrupted leaves nothing.

    Parameters
    ----------
    options : Options
        What was asked for.
    estimator : estimator
        The model to fit.
    method : str
        What the user calls it; "outliers" for those.
    report : bool
        Whether to write the report.
    reference : str, optional
        A file of clean rows, which are fitted in place of the rows of the file.
    fdr : float, optional
        The rate of false discoveries at which rows are flagged against the reference.
    """
    results, found = "labels.csv", "clusters"
    if method == "outliers":
        results, found = "outliers.csv", "outliers"
    from typicality.cli.summary import say_run

    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    path = Path(options.output or folder_name(options.file, found))
    if options.file == "-":  # told before waiting for all that comes
        require_free(path, force=options.force)
    began = time.perf_counter()
    with (
        within(options),
        open_file(options) as table,
        new_folder(path, force=options.force, record=RECORD) as temporary,
    ):
        clean = None
        if reference is not None:
            clean = _read_reference(reference, table, options, terminal)
            options = replace(options, columns=tuple(clean.numeric.names), ignore=())
        with terminal.doing(f"Reading {table.name}"):
            kind = _kind_of(method, estimator)
            rows = read_file(table, options, at_least=2 if clean is None else 1, kind=kind)
            check_name(rows)
        with terminal.doing(f"Fitting {len((clean or rows).X):,} rows"):
            run = fit(estimator, rows, method=method, reference=clean, fdr=fdr)
        with terminal.doing("Writing the results"):
            columns = masked_columns(run.columns, rows.kept)
            with open(temporary / results, "xb") as stream:
                for block in rows.take_texts():
                    here = slice(block.first_row, block.first_row + block.n_rows)
                    some = {name: values[here] for name, values in columns.items()}
                    first, safe = block.first_row == 0, options.safe_csv
                    stream.write(csv_text(block, some, header=first, safe=safe))
            save(run.pipeline, temporary / MODEL)
            record = run.record()
            if not run.finds_outliers:
                (temporary / "clusters.csv").write_bytes(run.clusters_csv())
                results = f"{results}, clusters.csv"
        if report:
            with terminal.doing("Drawing the report"):
                write_page(
                    temporary / REPORT,
                    record,
                    model=estimator,
                    explanation=run.explanation,
                    rows=rows,
                )
        run.seconds["all"] = round(time.perf_counter() - began, 3)
        write_record(temporary / RECORD, record)
    if options.as_json:
        terminal.json(record)
    say_run(terminal, run)
    terminal.warn(run.warnings)
    terminal.say_path(f"Written: {results}, {MODEL}/, {RECORD} in ", f"{path}/")
    if report:
        terminal.say_path("Open the report: ", path / REPORT)


def _kind_of(method: str, estimator: Any) -> str:
    """What the memory of a row depends on: trees, kernel sums, or prototypes only."""
    if method in ("alpha-cut", "auto", "outliers"):
        return method
    linear = getattr(estimator, "kernel", "linear") in (None, "linear")
    return "prototypes" if linear else "kernel"


def _read_reference(
    reference: str, table: TableFile, options: Options, terminal: Terminal
) -> FileRows:
    """The clean rows; names of columns to leave out may be those of either file."""
    by_name = kind_of_suffix(reference) is not None
    wanted = replace(options, file=reference, format=None if by_name else options.format)
    with open_file(wanted) as other, terminal.doing(f"Reading {other.name}"):
        elsewhere = set(table.names) - set(other.names)
        ignore = tuple(name for name in options.ignore if name not in elsewhere)
        return read_file(other, replace(wanted, ignore=ignore))


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
        The steps "columns" (a ColumnScaler) and "model" (the estimator), fitted on arrays.
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
    """

    method: str
    rows: FileRows
    pipeline: Pipeline
    scaled: Doubles
    view: FittedView
    warnings: list[str]
    seconds: dict[str, float]
    reference: FileRows | None = None
    fdr: float | None = None

    @property
    def model(self) -> Any:
        """The fitted estimator."""
        return self.pipeline["model"]

    @property
    def finds_outliers(self) -> bool:
        """Whether it looked for outliers instead of clusters."""
        return self.method == "outliers"

    @cached_property
    def explanation(self) -> Explanation:
        """Why the least typical rows are unusual."""
        features = FeatureTable(list(self.rows.numeric.names), self.rows.X, self.scaled)
        return Explanation.of(self.view, features)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the csv file gets; of a detector also why a row is flagged."""
        if not self.finds_outliers:
            return self.view.columns
        why = np.full(self.view.n_rows, "", dtype=object)
        flagged = np.flatnonzero(self.view.labels < 0)
        explained = self.explanation
        found = deviations_of(self.view, explained.features, explained.centers, flagged)
        names = self.rows.numeric.names
        why[flagged] = reason_texts(names, self.rows.X[flagged], found.values)
        return {**self.view.columns, "why": why}

    @cached_property
    def clusters(self) -> list[dict[str, Any]]:
        """Each cluster with its medians, and the columns that set it apart."""
        table = ClusterTable.of(self.explanation)
        return describe_clusters(table, self.rows.numeric.names)

    @cached_property
    def tabulated(self) -> list[Tabulated]:
        """Text columns that took no part, counted in each cluster."""
        return tabulate_texts(self.rows.texts, self.view.labels)

    def clusters_csv(self) -> bytes:
        """What clusters.csv holds."""
        n_rows = self.view.n_rows
        return clusters_csv(self.clusters, self.sizes, n_rows, self.typical_rows, self.named_by)

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
        if not self.finds_outliers or len(wide) == 0:
            return None
        last = int(wide[-1])
        return last + 1, float(some[last]), float(some[last + 1])

    @cached_property
    def sizes(self) -> list[int]:
        """How many rows each cluster has."""
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
        positions, names = self._least_typical, self.rows.numeric.names
        memberships = self.view.memberships
        if memberships is not None and self.view.shares:
            nearest = np.argsort(-memberships[positions], axis=1, kind="stable")[:, :2]
            return self._notable(positions, rivals=nearest.tolist())
        columns, deviations = largest(self.explanation.deviations[: len(positions)], _REASONS)
        reasons = [
            [
                {"column": names[j], "value": self.rows.X[i, j], "deviations": deviation}
                for j, deviation in zip(columns[k], deviations[k], strict=True)
                if j >= 0
            ]
            for k, i in enumerate(positions)
        ]
        return self._notable(positions, reasons=reasons)

    def _notable(self, positions: Places, **more: list[Any]) -> list[dict[str, Any]]:
        """Rows worth a look, as run.json has them.

        `reasons` are the columns in which a row is unusual and by how many spreads, `rivals` the
        two clusters that a row is between, the nearer one first.
        """
        word, numbers = self.rows.numbers
        row_numbers, p_values = np.flatnonzero(self.rows.kept), self.view.p_values
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
            "preparation": _parameters(self.pipeline["columns"]),
            "estimator": _parameters(self.model),
            "machine": {"jobs": options.jobs, "memory": options.memory},
            "versions": versions(),
            "results": as_json(self._results()),
            "warnings": self.warnings,
            "seconds": self.seconds,
        }

    def _results(self) -> dict[str, Any]:
        model, n_unassigned = chosen_method(self.model), self.view.n_unassigned
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
            "sigma": getattr(model, "sigma_", None),
            "n_iter": model.n_iter_,
            "status": model.status_,
            "plan": {"method": model.plan_.method, "reason": model.plan_.reason},
            "named_by": self.named_by,
            "text_columns": [each._asdict() for each in self.tabulated],
            "typical_rows": self.typical_rows,
            "atypical_rows": self.atypical_rows,
        }


def _parameters(estimator: Any) -> dict[str, Any]:
    parameters = as_json(estimator.get_params(deep=False))
    return {"class": type(estimator).__name__, "parameters": parameters}


def folder_name(file: str, ending: str) -> str:
    """The folder for the results of a file, a folder or a pattern that stands for several files."""
    name = re.sub(r"\.(gz|bz2|zst)$", "", Path(file).name, flags=re.IGNORECASE)
    stem = re.sub(r"[*?[\]]+", "", Path(name).stem).strip("-_. ")
    return f"{stem}-{ending}" if stem else ending


def fit(
    estimator: Any,
    rows: FileRows,
    *,
    method: str,
    reference: FileRows | None = None,
    fdr: float | None = None,
) -> Run:
    """Scale the columns, fit the estimator, and ask what it says of the rows.

    With a `reference`, scaler and estimator are fitted on its rows instead.

    Raises
    ------
    UnusableError
        The estimator refuses the rows; its reason, columns called by their names.
    """
    scaler, names = rows.scaler(), rows.numeric.names
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scaled = scaler.fit((reference or rows).X).transform(rows.X)
            estimator.fit(scaled if reference is None else scaler.transform(reference.X))
            found = view(estimator, scaled, training=reference is None, fdr=fdr)
            if method == "outliers":
                estimator._reference()  # kept in the model, so that `score` need not find it again
        except ValueError as error:
            raise UnusableError(_with_names(str(error), names)) from error
    seconds = round(time.perf_counter() - began, 3)
    scaler.feature_names_in_ = np.asarray(names, dtype=object)  # for data frames and `score`
    texts = [_in_words(str(warning.message), names, estimator) for warning in caught]
    return Run(
        method=method,
        rows=rows,
        pipeline=Pipeline([("columns", scaler), ("model", estimator)]),
        scaled=scaled,
        view=found,
        warnings=list(dict.fromkeys(texts)),
        seconds={"fit": seconds, "all": 0.0},
        reference=reference,
        fdr=fdr,
    )


def _in_words(text: str, names: Sequence[str], estimator: Any) -> str:
    """A warning with the names of columns, and how parameters it names are set here."""
    text = _with_names(text, names)
    words = [
        OPTIONS.get(name, f"--param {name}=VALUE")
        for name in estimator.get_params(deep=False)
        # Words such as kernel mean a parameter only before a sign.
        if re.search(rf"\b{name}\b" if "_" in name else rf"\b{name}=", text)
    ]
    return f"{text} (On the command line: {', '.join(words)}.)" if words else text


def _with_names(text: str, names: Sequence[str]) -> str:
    """A message about "feature 2" or "column 2" with the name the column has in the file."""

    def name(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"column {names[number]!r}" if number < len(names) else match[0]

    return re.sub(r"\b(?:feature|column) (\d+)\b", name, text)
