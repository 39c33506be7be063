"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import json
import re
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Doubles, Places
from typicality._words import shown_path
from typicality.cli.console import Terminal
from typicality.cli.description import (
    RowReasons,
    Tabulated,
    check_name,
    clusters_csv,
    column_of_names,
    describe_clusters,
    names_of,
    tabulate_texts,
)
from typicality.cli.errors import UnusableError, WrongUseError
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
from typicality.cli.options import ANY_NUMBER, Options
from typicality.cli.parameters import OPTIONS
from typicality.cli.report import write_page
from typicality.cli.rows import FileRows, draw_sample, open_file, read_file, within
from typicality.tables import TableFile, csv_text, masked_columns
from typicality.tables.opening import kind_of_suffix

if TYPE_CHECKING:  # scikit-learn is loaded when the rows are read: errors before that come at once
    from sklearn.pipeline import Pipeline

    from typicality.fitted import FittedView
    from typicality.persistence.checkpoint import Checkpoint
    from typicality.report.features import FeatureTable
    from typicality.report.outliers import Explanation

_REASONS = 3  # columns named for a row
_GAP_AMONG = 10  # a gap is looked for among this part of the rows, the lowest scores


def run_to_folder(
    options: Options,
    configured: Callable[[], Any],
    *,
    judge_first: bool,
    method: str,
    report: bool,
    max_rows: int | None = None,
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
    configured : callable
        Makes the model to fit, with its parameters judged.
    judge_first : bool
        Whether parameters were given: these are judged before the file is opened.
    method : str
        What the user calls it; "outliers" for those.
    report : bool
        Whether to write the report.
    max_rows : int, optional
        The most rows that are fitted. If there are more, a random sample is fitted, and its model
        judges all rows.
    reference : str, optional
        A file of clean rows, which are fitted in place of the rows of the file.
    fdr : float, optional
        The rate of false discoveries at which rows are flagged against the reference.
    """
    results, found = "labels.csv", "clusters"
    if method == "outliers":
        results, found = "outliers.csv", "outliers"
    estimator = configured() if judge_first else None
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    path = Path(options.output or folder_name(options.file, found))
    if options.file == "-":  # told before waiting for all that comes
        require_free(path, force=options.force)
    checkpoint = _open_checkpoint(options, path)
    began = time.perf_counter()
    with (
        open_file(options) as table,
        new_folder(path, force=options.force, record=RECORD) as temporary,
        within(options),
    ):
        clean = None
        if reference is not None:
            clean = _read_reference(reference, table, options, terminal)
            options = _as_reference(options, clean)
        with terminal.doing(f"Reading {table.name}"):
            kind = _kind_of(method, estimator)
            rows = read_file(table, options, at_least=2 if clean is None else 1, kind=kind)
            check_name(rows)
        estimator = configured() if estimator is None else estimator
        estimator, method = for_categories(estimator, clean or rows, method)
        run = fit(
            estimator,
            rows,
            method=method,
            terminal=terminal,
            max_rows=max_rows,
            reference=clean,
            fdr=fdr,
            checkpoint=checkpoint,
        )
        with terminal.counting("Writing the results", len(rows.kept)) as wrote:
            columns = masked_columns(run.columns, rows.kept)
            with open(temporary / results, "xb") as stream:
                for block in rows.take_texts():
                    here = slice(block.first_row, block.first_row + block.n_rows)
                    some = {name: values[here] for name, values in columns.items()}
                    first, safe = block.first_row == 0, options.safe_csv
                    stream.write(csv_text(block, some, header=first, safe=safe))
                    wrote(block.first_row + block.n_rows)
            from typicality.persistence import save

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
                    explanation=run.explanation if run.drawn is None else run.drawn[1],
                    rows=rows if run.drawn is None else run.drawn[0],
                )
        run.seconds["all"] = round(time.perf_counter() - began, 3)
        write_record(temporary / RECORD, record)
    if checkpoint is not None:
        checkpoint.remove()
    if options.as_json:
        terminal.json(record)
    from typicality.cli.summary import say_run

    say_run(terminal, run)
    terminal.warn(run.warnings)
    terminal.say_path(f"Written: {results}, {MODEL}/, {RECORD} in ", f"{path}/")
    if report:
        terminal.say_path("Open the report: ", path / REPORT)


def _open_checkpoint(options: Options, output: Path) -> "Checkpoint | None":
    """The file from which the run goes on if it is killed; a wrong one is refused at once."""
    if options.checkpoint is None:
        return None
    from typicality.persistence.checkpoint import Checkpoint

    if Path(options.checkpoint).resolve().is_relative_to(output.resolve()):
        raise WrongUseError(
            f"--checkpoint {shown_path(options.checkpoint)} is in the folder of the results, which "
            "appears at the end; choose a name outside of it."
        )
    return Checkpoint(options.checkpoint)


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


def _as_reference(options: Options, clean: FileRows) -> Options:
    """Read the columns that were read of the reference, all of them."""
    ranks = clean.options.orders
    return replace(
        options,
        columns=tuple(name for name in clean.numeric.names if name not in ranks),
        categorical=tuple(column.name for column in clean.categories),
        max_categories=ANY_NUMBER if clean.categories else None,
        exact=True,
        ignore=(),
    )


def for_categories(estimator: Any, rows: FileRows, method: str) -> tuple[Any, str]:
    """The estimator and the method where categories take part.

    A method with a kernel gets the kernel of numbers and categories, which applies the width of the
    numbers to the categories. The automatic method becomes alpha-cut: a Gaussian mixture is none of
    categories.
    """
    if not rows.categories:
        return estimator, method
    if method == "auto":
        from typicality import AlphaCutClustering

        estimator, method = AlphaCutClustering(), "alpha-cut"
    from typicality.kernels import Mixed

    n_numeric = rows.X.shape[1]
    if has_mixed_kernel(estimator, n_numeric):
        estimator.set_params(kernel=Mixed(n_numeric))
    return estimator, method


def has_mixed_kernel(estimator: Any, n_numeric: int) -> bool:
    """Whether an estimator compares numbers and categories by a kernel.

    Without numbers there is no width to choose, and alpha-cuts are better off with their own scale.
    """
    kernel = estimator.get_params(deep=False).get("kernel")
    from typicality.kernels import Mixed

    if n_numeric == 0 and kernel == "auto":
        return False
    return kernel in ("auto", "gaussian") or isinstance(kernel, Mixed)


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

    @property
    def n_fitted(self) -> int:
        """How many rows the model was fitted on."""
        return len((self.reference or self.rows).X) if self.sample is None else len(self.sample)

    @cached_property
    def drawn(self) -> "tuple[FileRows, Explanation] | None":
        """The rows of the fit and what is unusual in them, where a page can show no others.

        That is so for the tree of a sample, which knows the rows of the sample only.
        """
        if self.sample is None or self.view.kind != "tree":
            return None
        scaler = self.pipeline["columns"]
        return drawn_tree(self.model, self.rows, scaler, self.scaled, self.sample)

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
        positions, explained = self._least_typical, self.explanation
        memberships = self.view.memberships
        if memberships is not None and self.view.shares:
            nearest = np.argsort(-memberships[positions], axis=1, kind="stable")[:, :2]
            return self._notable(positions, rivals=nearest.tolist())
        first = slice(len(positions))
        reasons = row_reasons(
            self.rows, positions, explained.deviations[first], explained.shares[first]
        )
        return self._notable(positions, reasons=reasons.items(_REASONS))

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
        from typicality.fitted import chosen_method

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
            "sample": None if self.sample is None else {"n_rows": self.n_fitted},
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
    terminal: Terminal,
    max_rows: int | None = None,
    reference: FileRows | None = None,
    fdr: float | None = None,
    checkpoint: "Checkpoint | None" = None,
) -> Run:
    """Scale the columns, fit the estimator, and ask what it says of the rows.

    With a `reference`, scaler and estimator are fitted on its rows instead. The scaler sees all
    rows, the estimator at most `max_rows` of them. A `checkpoint` keeps the state of the fit.

    Raises
    ------
    UnusableError
        The estimator refuses the rows; its reason, columns called by their names.
    """
    from sklearn.pipeline import Pipeline

    from typicality.fitted import view
    from typicality.kernels import Mixed

    names = rows.column_names
    scaler = rows.scaler(balanced=not isinstance(getattr(estimator, "kernel", None), Mixed))
    fitted_rows = reference or rows
    sample = draw_sample(len(fitted_rows.X), max_rows, seed=rows.options.seed)
    n_fitted = len(fitted_rows.X) if sample is None else len(sample)
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with terminal.doing(f"Fitting {n_fitted:,} rows"):
                to_fit = fitted_rows.for_scaler()
                scaled: Any = scaler.fit(to_fit).transform(to_fit)
                X = scaled if sample is None else scaled[sample]
                with _followed(checkpoint, estimator, X, rows.options, terminal):
                    estimator.fit(X)
                if method == "outliers":
                    estimator._reference()  # kept in the model, so that `score` need not find it
            scaled = scaled if reference is None else scaler.transform(rows.for_scaler())
            with terminal.counting(f"Judging {len(scaled):,} rows", len(scaled)) as judged:
                found = view(
                    estimator,
                    scaled,
                    training=reference is None and sample is None,
                    fdr=fdr,
                    sample=sample if reference is None else None,
                    progress=judged,
                )
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
        sample=sample,
    )


def _followed(
    checkpoint: "Checkpoint | None", estimator: Any, X: Any, options: Options, terminal: Terminal
) -> AbstractContextManager[None]:
    """A context in which a fit is kept in a checkpoint, and goes on from there."""
    if checkpoint is None:
        return nullcontext()
    from typicality.persistence.checkpoint import digest_of

    checkpoint.belongs_to(
        versions=json.dumps(versions()),
        rows=digest_of(X),
        parameters=json.dumps([_parameters(estimator), options.memory]),
    )
    if checkpoint.resumes:
        terminal.say_path("Going on from the checkpoint ", checkpoint.path)
    return checkpoint.following()


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


def drawn_tree(
    model: Any, rows: FileRows, scaler: Any, scaled: Doubles, sample: Places
) -> "tuple[FileRows, Explanation]":
    """The rows of a sample that a tree was fitted on, and what is unusual in them."""
    from typicality.fitted import view
    from typicality.report.outliers import Explanation

    some = rows.take(sample)
    features = feature_table(some, scaler, scaled[sample])
    return some, Explanation.of(view(model, scaled[sample], training=True), features)


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
