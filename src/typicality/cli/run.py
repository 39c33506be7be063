"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text
from sklearn.pipeline import Pipeline

from typicality._cached import cached_property
from typicality._estimators import ESTIMATORS
from typicality._typing import Doubles, Places
from typicality._words import counted, listed, share
from typicality.cli.console import Terminal, numbers, place, shown
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
from typicality.persistence import save
from typicality.preprocessing import skewed_columns
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation, largest
from typicality.tables import csv_text, masked_columns

_MANY_COLUMNS = 10
_FEW_COLUMNS = {
    "alpha-cut": "gaps in a density are hard to see in more than about ten",
    **dict.fromkeys(
        ("adaptive", "sparse-adaptive", "sequential"),
        "distances grow with their number, and the box of the method does not",
    ),
}
_ROWS_LOOKED_AT = 100_000  # to see whether columns are skewed
_REASONS = 3  # columns named for a row
_MOST_CLUSTERS = 12  # listed one by one
_ONE_CLUSTER = (
    "No gap between groups was found. Groups that overlap have none: --at-least 2 gives the best "
    "split, and typicality compare shows what other methods see."
)
_UNUSUAL = "unusual in (by so many spreads)"
_TELLING = 0.5  # spreads: a smaller deviation explains nothing, here as on the page


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
            clean_options = replace(options, file=reference)
            with open_file(clean_options) as other, terminal.doing(f"Reading {other.name}"):
                clean = read_file(other, clean_options)
            options = replace(options, columns=tuple(clean.numeric.names), ignore=())
        with terminal.doing(f"Reading {table.name}"):
            rows = read_file(table, options)
        with terminal.doing(f"Fitting {len((clean or rows).X):,} rows"):
            run = fit(estimator, rows, method=method, reference=clean, fdr=fdr)
        with terminal.doing("Writing the results"):
            columns = masked_columns(run.view.columns, rows.kept)
            with open(temporary / results, "xb") as stream:
                for block in rows.take_texts():
                    here = slice(block.first_row, block.first_row + block.n_rows)
                    some = {name: values[here] for name, values in columns.items()}
                    first, safe = block.first_row == 0, options.safe_csv
                    stream.write(csv_text(block, some, header=first, safe=safe))
            save(run.pipeline, temporary / MODEL)
            record = run.record()
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
    _say(terminal, run)
    terminal.warn(run.warnings)
    terminal.say_path(f"Written: {results}, {MODEL}/, {RECORD} in ", f"{path}/")
    if report:
        terminal.say_path("Open the report: ", path / REPORT)


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
        at_most = 10 if self.finds_outliers else 5
        memberships = self.view.memberships
        if memberships is not None and self.view.shares:
            order = np.argsort(self.view.strength, kind="stable")[:at_most]
            nearest = np.argsort(-memberships[order], axis=1, kind="stable")[:, :2]
            return self._notable(order, rivals=nearest.tolist())
        positions, names = self.explanation.rows[:at_most], self.rows.numeric.names
        columns, deviations = largest(self.explanation.deviations[:at_most], _REASONS)
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
        return [
            {
                "row": int(row_numbers[i]),
                "line": int(numbers[i]) if word == "line" else None,
                "label": int(self.view.labels[i]),
                "strength": float(self.view.strength[i]),
                "p_value": None if p_values is None else float(p_values[i]),
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
            }
        else:
            found = {
                "n_clusters": len(self.sizes),
                "sizes": self.sizes,
                "n_nowhere": n_unassigned,
                "alpha": getattr(model, "alpha_", None),
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


# ---- what is printed -----------------------------------------------------------------------------


def _say(terminal: Terminal, run: Run) -> None:
    """Print what was found."""
    adjective = "certain" if run.view.shares else "typical"
    notable = (*run.typical_rows, *run.atypical_rows)
    # The column of text that tells most of these rows apart.
    distinct = {name: len({row["cells"][name] for row in notable}) for name in run.rows.texts}
    telling = max(distinct, key=lambda name: distinct[name], default="")
    named = distinct.get(telling, 0) > 1
    heading = f"row, {shown(telling, 24)}" if named else "row"

    def which(row: dict[str, Any]) -> str:
        text = shown(row["cells"][telling], 24) if named else ""
        return f"{place(row['row'], row['line'])}  {text}".rstrip()

    terminal.say(run.rows.summary())
    for hint in _hints(run):
        terminal.say(hint)
    if run.reference is not None:
        terminal.say(f"Reference: {run.reference.summary()}")
    terminal.say()
    terminal.say(Text(_headline(run), style="bold"))
    if run.finds_outliers:
        terminal.say(_meaning_of_flags(run))
    elif run.sizes:
        terminal.say(_clusters(run, f"most {adjective} {heading}", which))
    if run.method == "auto":  # the parameter as the option is typed
        terminal.say(re.sub(r"\bat_least=(\d+)", r"--at-least \1", run.model.explanation_))
    if run.method == "alpha-cut" and len(run.sizes) == 1:
        terminal.say(_ONE_CLUSTER)
    rows = [row for row in run.atypical_rows if row["label"] < 0 or not run.finds_outliers]
    if rows:
        n_outliers = run.view.n_unassigned
        worst = "The worst first:" if len(rows) == n_outliers else f"The {len(rows)} worst:"
        terminal.say()
        terminal.say(worst if run.finds_outliers else f"The least {adjective} rows:")
        terminal.say(_atypical(run, rows, heading, which))
    model = chosen_method(run.model)
    kind = type(model).__name__
    meaning = f": {ESTIMATORS[kind].meaning}" if kind in ESTIMATORS else ""
    took = f"{counted(model.n_iter_, 'iteration')}, {run.seconds['all']:.1f} s in all"
    terminal.say()
    terminal.say(f"By {kind}{meaning}; {took}.\nHow it was computed: {model.plan_.reason}")


def _hints(run: Run) -> list[str]:
    """What may be wrong with these columns for this method, and what to try."""
    hints, names = [], run.rows.numeric.names
    if run.rows.options.transform == "none":
        skewed = skewed_columns(run.rows.X[:: -(-len(run.rows.X) // _ROWS_LOOKED_AT)])
        if skewed.any():
            columns = [shown(name) for name, is_so in zip(names, skewed, strict=True) if is_so]
            hints.append(
                f"Skewed: {listed(columns, at_most=5)}. --transform auto takes logarithms of "
                "skewed columns, so that ratios count and not differences."
            )
    if run.method in _FEW_COLUMNS and len(names) > _MANY_COLUMNS:
        hints.append(
            f"{len(names)} columns are many for --method {run.method}: {_FEW_COLUMNS[run.method]}. "
            "--method auto asks a Gaussian mixture first, which suits wide files."
        )
    return hints


def _headline(run: Run) -> str:
    n_rows, n_unassigned = run.view.n_rows, run.view.n_unassigned
    if run.finds_outliers:
        outliers = f"{counted(n_unassigned, 'outlier')} among {counted(n_rows, 'row')}"
        if run.fdr is not None:
            return f"{outliers}, at a false discovery rate of {run.fdr:g}."
        return f"{outliers}, at a nominal rate of {run.model.contamination:g}."
    clusters = counted(len(run.sizes), "cluster")
    if not n_unassigned:
        return f"{clusters}; every row belongs to one."
    nowhere = f"{counted(n_unassigned, 'row')} ({share(n_unassigned, n_rows)})"
    return f"{clusters}; {nowhere} belong{'s' if n_unassigned == 1 else ''} nowhere."


def _meaning_of_flags(run: Run) -> str:
    """What the flags say of false alarms."""
    if run.fdr is not None:
        among = f"{run.fdr:.3g} of them" if run.view.n_unassigned else f"{run.fdr:.3g}"
        return f"On average, a share of at most {among} is like the reference rows."
    low, high = run.model.false_alarm_interval_
    return (
        f"Of ordinary new rows this model flags between {100 * low:.2g} % and {100 * high:.2g} % "
        "(95 % sure). Clean rows in a second file, --reference, allow a false discovery rate."
    )


def _clusters(run: Run, heading: str, which: Callable[[dict[str, Any]], str]) -> Table:
    """A line for each cluster, the first ones only where there are many."""
    typical = {row["label"]: which(row) for row in run.typical_rows}
    first, rest = run.sizes[:_MOST_CLUSTERS], run.sizes[_MOST_CLUSTERS:]
    lines = [(str(label), size, typical.get(label, "")) for label, size in enumerate(first)]
    if rest:
        lines.append((f"{len(rest):,} more", sum(rest), ""))
    if run.view.n_unassigned:
        lines.append(("nowhere", run.view.n_unassigned, ""))
    table = _table("cluster", "rows", "share", heading)
    for label, size, row in lines:
        table.add_row(label, f"{size:,}", share(size, run.view.n_rows), row)
    return table


def _atypical(
    run: Run,
    rows: list[dict[str, Any]],
    heading: str,
    which: Callable[[dict[str, Any]], str],
) -> Table:
    """The least typical rows, the worst first."""
    more: list[tuple[str, ...]]
    if run.finds_outliers:
        table = _table(heading, "score", "p-value", _UNUSUAL)
        more = [(f"{row['p_value']:.2g}", _reasons(row["reasons"])) for row in rows]
    elif rows[0]["rivals"]:
        table = _table(heading, "membership", "between clusters")
        more = [(" and ".join(map(str, row["rivals"])),) for row in rows]
    else:
        table = _table(heading, "typicality", "cluster", _UNUSUAL)
        labels = [str(row["label"]) if row["label"] >= 0 else "nowhere" for row in rows]
        reasons = [_reasons(row["reasons"]) for row in rows]
        more = list(zip(labels, reasons, strict=True))
    strengths = numbers([row["strength"] for row in rows])
    for row, strength, cells in zip(rows, strengths, more, strict=True):
        table.add_row(which(row), strength, *cells)
    return table


def _reasons(reasons: Sequence[dict[str, Any]]) -> str:
    """The columns that matter: the first, and a second one if it is nearly as far off."""
    largest = abs(reasons[0]["deviations"]) if reasons else 0.0
    if largest < _TELLING:
        return "no single column"
    close = [reason for reason in reasons[:2] if abs(reason["deviations"]) >= largest / 2]
    return "\n".join(
        f"{shown(reason['column'], 20)} {reason['value']:.6g} ({reason['deviations']:+.1f})"
        for reason in close
    )


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    on_the_right = ("rows", "share", "typicality", "membership", "score", "p-value")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in on_the_right else "left")
    return table
