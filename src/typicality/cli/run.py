"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from typicality._typing import Doubles, Places
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError
from typicality.cli.folder import (
    MODEL,
    OURS,
    RECORD,
    REPORT,
    about_run,
    as_json,
    new_folder,
    require_free,
    versions,
    write_record,
)
from typicality.cli.notable import RowNotes, atypical_rows, typical_rows
from typicality.cli.options import Options
from typicality.cli.page import write_page
from typicality.cli.parameters import option_for
from typicality.cli.rows import FileRows, open_file, read_file, within
from typicality.cli.summary import say_summary
from typicality.fitted import FittedView, chosen_method, view
from typicality.persistence import save
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation


@dataclass(eq=False)
class Run:
    """A model, the rows of a file it was fitted on, and what it says of them.

    Parameters
    ----------
    method : str
        The method by name, "outliers" for those.
    rows : FileRows
        The rows, and the options.
    pipeline : Pipeline
        The steps "columns" (a ColumnScaler) and "model" (the estimator), fitted on arrays.
    scaled : array of shape (n, d)
        The rows as the model sees them.
    explanation : Explanation
        What the model says of the rows that take part, and why the least typical are unusual.
    notes : RowNotes
        Notable rows, and what the file says of them.
    warnings : tuple of str
        One paragraph for each warning, columns called by their names.
    seconds : dict of str to float
        How long the fit took, and everything.
    """

    method: str
    rows: FileRows
    pipeline: Pipeline
    scaled: Doubles
    explanation: Explanation
    notes: RowNotes
    warnings: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def model(self) -> Any:
        """The fitted estimator."""
        return self.pipeline["model"]

    @property
    def view(self) -> FittedView:
        """What the model says of the rows."""
        return self.explanation.view

    @property
    def finds_outliers(self) -> bool:
        """Whether it looked for outliers instead of clusters."""
        return self.method == "outliers"

    @property
    def sizes(self) -> Places:
        """How many rows each cluster has."""
        labels = self.view.labels
        n_clusters = 1 if self.finds_outliers else int(self.model.n_clusters_)
        return np.bincount(labels[labels >= 0], minlength=n_clusters)

    def record(self) -> dict[str, Any]:
        """The run as run.json has it: all it takes to repeat it, and what came out of it."""
        options = self.rows.options
        return {
            **about_run(),
            "method": self.method,
            "seed": options.seed,
            "data": self.rows.record(),
            "preparation": _parameters(self.pipeline["columns"]),
            "estimator": _parameters(self.model),
            "machine": {"jobs": options.jobs, "memory": options.memory},
            "versions": versions(),
            "results": as_json(self._results()),
            "warnings": list(self.warnings),
            "seconds": self.seconds,
        }

    def _results(self) -> dict[str, Any]:
        model, n_unassigned = chosen_method(self.model), self.view.n_unassigned
        if self.finds_outliers:
            found = {"n_outliers": n_unassigned, "threshold": model.offset_}
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
            "typical_rows": [asdict(row) for row in self.notes.typical],
            "atypical_rows": [asdict(row) for row in self.notes.atypical],
        }


def _parameters(estimator: Any) -> dict[str, Any]:
    parameters = as_json(estimator.get_params(deep=False))
    return {"class": type(estimator).__name__, "parameters": parameters}


def run_to_folder(
    options: Options,
    estimator: Any,
    *,
    method: str,
    results: str,
    folder: str,
    report: bool,
    n_atypical: int,
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
        What the user calls it.
    results : {"labels.csv", "outliers.csv"}
        The file with the rows and what was found.
    folder : str
        What the name of a folder ends in that nobody named.
    report : bool
        Whether to write the report.
    n_atypical : int
        How many of the least typical rows to show.
    """
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    path = Path(options.output or folder_name(options.file, folder))
    if options.file == "-":  # told before waiting for all that comes
        require_free(path, force=options.force)
    began = time.perf_counter()
    with (
        within(options),
        open_file(options) as table,
        new_folder(path, force=options.force, ours=OURS) as temporary,
    ):
        with terminal.doing(f"Reading {table.name}"):
            rows = read_file(table, options)
        with terminal.doing(f"Fitting {len(rows.X):,} rows"):
            run = fit(estimator, rows, method=method, n_atypical=n_atypical)
        with terminal.doing("Writing the results"):
            with open(temporary / results, "xb") as stream:
                run.notes.copy_rows(stream, table.blocks(), run.view.columns)
            save(run.pipeline, temporary / MODEL)
        record = run.record()
        if report:
            with terminal.doing("Drawing the report"):
                write_page(
                    temporary / REPORT,
                    record,
                    model=run.model,
                    rows=rows,
                    scaled=run.scaled,
                    notes=run.notes,
                    explanation=run.explanation,
                )
        run.seconds["all"] = round(time.perf_counter() - began, 3)
        write_record(temporary / RECORD, record)
    if options.as_json:
        terminal.json(record)
    say_summary(terminal, run)
    terminal.warn(run.warnings)
    terminal.say_path(f"Written: {results}, {MODEL}/, {RECORD} in ", f"{path}/")
    if report:
        terminal.say_path("Open the report: ", path / REPORT)


def folder_name(file: str, ending: str) -> str:
    """The folder for the results of a file, a folder or a pattern that stands for several files."""
    name = re.sub(r"\.(gz|bz2|zst)$", "", Path(file).name, flags=re.IGNORECASE)
    stem = re.sub(r"[*?[\]]+", "", Path(name).stem).strip("-_. ")
    return f"{stem}-{ending}" if stem else ending


def fit(estimator: Any, rows: FileRows, *, method: str, n_atypical: int) -> Run:
    """Scale the columns, fit the estimator, and look for notable rows.

    Raises
    ------
    UnusableError
        The estimator refuses the rows; its reason, columns called by their names.
    """
    scaler = rows.scaler()
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scaled = scaler.fit_transform(rows.X)
            estimator.fit(scaled)
        except ValueError as error:
            raise UnusableError(_with_names(str(error), rows.names)) from error
    seconds = round(time.perf_counter() - began, 3)
    scaler.feature_names_in_ = np.asarray(rows.names, dtype=object)  # for data frames and `score`
    found = view(estimator, scaled, training=True)
    explanation = Explanation.of(found, FeatureTable(list(rows.names), rows.X, scaled))
    texts = [_in_words(str(warning.message), rows.names, estimator) for warning in caught]
    return Run(
        method=method,
        rows=rows,
        pipeline=Pipeline([("columns", scaler), ("model", estimator)]),
        scaled=scaled,
        explanation=explanation,
        notes=RowNotes(
            rows,
            text=[column.name for column in rows.numeric.left_out],
            typical=typical_rows(found, rows),
            atypical=atypical_rows(explanation, rows, at_most=n_atypical),
        ),
        warnings=tuple(dict.fromkeys(texts)),
        seconds={"fit": seconds, "all": 0.0},
    )


def _in_words(text: str, names: Sequence[str], estimator: Any) -> str:
    """A warning with the names of columns, and how parameters it names are set here."""
    text = _with_names(text, names)
    words = [option_for(p) for p in estimator.get_params(deep=False) if _is_about(text, p)]
    return f"{text} (On the command line: {', '.join(words)}.)" if words else text


def _is_about(text: str, parameter: str) -> bool:
    """Whether a text is about a parameter: words such as kernel mean one only before a sign."""
    pattern = rf"\b{parameter}\b" if "_" in parameter else rf"\b{parameter}="
    return re.search(pattern, text) is not None


def _with_names(text: str, names: Sequence[str]) -> str:
    """A message about "feature 2" or "column 2" with the name the column has in the file."""

    def name(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"column {names[number]!r}" if number < len(names) else match[0]

    return re.sub(r"\b(?:feature|column) (\d+)\b", name, text)
