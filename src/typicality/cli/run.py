"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from typicality._cached import cached_property
from typicality.cli.console import Terminal
from typicality.cli.description import check_name
from typicality.cli.errors import UnusableError
from typicality.cli.folder import (
    MODEL,
    RECORD,
    REPORT,
    new_folder,
    require_free,
    write_record,
)
from typicality.cli.machine import device_of, on_device, require_dask, within
from typicality.cli.options import Options
from typicality.cli.parameters import OPTIONS
from typicality.cli.report import write_page
from typicality.cli.result import Run
from typicality.cli.rows import FileRows, draw_sample, open_file, read_file
from typicality.tables import TableFile, csv_text, masked_columns
from typicality.tables.opening import kind_of_suffix
from typicality.tables.reading import TooLargeError


@dataclass(frozen=True, eq=False)
class Task:
    """What `typicality cluster` and `typicality outliers` ask for.

    Parameters
    ----------
    options : Options
        The shared options.
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

    options: Options
    configured: Callable[[], Any]
    judge_first: bool
    method: str
    report: bool
    max_rows: int | None = None
    reference: str | None = None
    fdr: float | None = None

    @cached_property
    def terminal(self) -> Terminal:
        """Where progress and results are printed."""
        return Terminal(quiet=self.options.quiet, as_json=self.options.as_json)

    @property
    def folder(self) -> Path:
        """The folder for the results."""
        found = "outliers" if self.method == "outliers" else "clusters"
        return Path(self.options.output or folder_name(self.options.file, found))

    @property
    def results(self) -> str:
        """What the file with the results of all rows is called, without its ending."""
        return "outliers" if self.method == "outliers" else "labels"


def run_to_folder(task: Task) -> None:
    """Read, fit, write the folder and print what came out.

    Everything is written to a temporary folder, which takes its name at the end: a run that fails
    or is interrupted leaves nothing. A file with too many numbers for memory is read in blocks.
    """
    options, terminal, path = task.options, task.terminal, task.folder
    require_dask(options)
    device_of(options.device)  # one that is not there is told before any work
    estimator = task.configured() if task.judge_first else None
    if options.file == "-":  # told before waiting for all that comes
        require_free(path, force=options.force)
    began = time.perf_counter()
    with (
        open_file(options) as table,
        new_folder(path, force=options.force, record=RECORD) as temporary,
        within(options),
    ):
        run = _run(task, estimator, table, temporary)
        from typicality.model import save

        save(run.pipeline, temporary / MODEL)
        record = run.record()
        results = f"{task.results}.csv" if run.passes is None else run.passes.results
        if not run.finds_outliers:
            (temporary / "clusters.csv").write_bytes(run.clusters_csv())
            results = f"{results}, clusters.csv"
        if task.report:
            with terminal.doing("Drawing the report"):
                rows, explanation = run.shown
                write_page(temporary / REPORT, record, run.model, rows, explanation)
        run.seconds["all"] = round(time.perf_counter() - began, 3)
        write_record(temporary / RECORD, record)
    if options.as_json:
        terminal.json(record)
    from typicality.cli.summary import say_run

    say_run(terminal, run)
    terminal.warn(run.warnings)
    terminal.say_path(f"Written: {results}, {MODEL}/, {RECORD} in ", f"{path}/")
    if task.report:
        terminal.say_path("Open the report: ", path / REPORT)


def _run(task: Task, estimator: Any, table: TableFile, folder: Path) -> Run:
    """Fit, and write the results of all rows; in blocks where these do not fit into memory."""
    options, terminal, clean = task.options, task.terminal, None
    if task.reference is not None:
        clean = _read_reference(task.reference, table, options, terminal)
        options = _as_reference(options, clean)
    too_large = None
    if not options.uses_dask:
        try:
            with terminal.doing(f"Reading {table.name}"):
                rows = read_file(table, options, at_least=2 if clean is None else 1)
                check_name(table, options.name)
        except TooLargeError as error:
            too_large = error
    estimator = task.configured() if estimator is None else estimator
    if options.uses_dask or too_large:
        from typicality.cli.blocks import run_by_blocks

        return run_by_blocks(task, estimator, table, folder, too_large)
    run = fit(task, estimator, rows, clean)
    with (
        terminal.counting("Writing the results", len(rows.kept)) as wrote,
        open(folder / f"{task.results}.csv", "xb") as stream,
    ):
        columns = masked_columns(run.columns, rows.kept)
        for block in rows.take_texts():
            here = slice(block.first_row, block.first_row + block.n_rows)
            some = {name: values[here] for name, values in columns.items()}
            stream.write(csv_text(block, some, header=here.start == 0, safe=options.safe_csv))
            wrote(here.stop)
    return run


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

    n_numeric, kernel = rows.X.shape[1], getattr(estimator, "kernel", None)
    # Without numbers there is no width to choose, and alpha-cuts are better off with their scale.
    if kernel == "gaussian" or (kernel == "auto" and n_numeric):
        estimator.set_params(kernel=Mixed(n_numeric))
    return estimator, method


def folder_name(file: str, ending: str) -> str:
    """The folder for the results of a file, a folder or a pattern that stands for several files."""
    name = re.sub(r"\.(gz|bz2|zst)$", "", Path(file).name, flags=re.IGNORECASE)
    stem = re.sub(r"[*?[\]]+", "", Path(name).stem).strip("-_. ")
    return f"{stem}-{ending}" if stem else ending


def fit(task: Task, estimator: Any, rows: FileRows, reference: FileRows | None) -> Run:
    """Scale the columns, fit the estimator, and ask what it says of the rows.

    With a `reference`, scaler and estimator are fitted on its rows instead. The scaler sees all
    rows, the estimator at most `max_rows` of them.

    Raises
    ------
    UnusableError
        The estimator refuses the rows; its reason, columns called by their names.
    """
    from sklearn.pipeline import Pipeline

    from typicality.fitted import view
    from typicality.kernels import Mixed

    terminal, names = task.terminal, rows.column_names
    estimator, method = for_categories(estimator, reference or rows, task.method)
    scaler = rows.scaler(balanced=not isinstance(getattr(estimator, "kernel", None), Mixed))
    fitted_rows = reference or rows
    sample = draw_sample(len(fitted_rows.X), task.max_rows, seed=rows.options.seed)
    n_fitted = len(fitted_rows.X) if sample is None else len(sample)
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with terminal.fitting(f"Fitting {n_fitted:,} rows"):
                to_fit = fitted_rows.for_scaler()
                scaled: Any = scaler.fit(to_fit).transform(to_fit)
                X = scaled if sample is None else scaled[sample]
                estimator = on_device(estimator, X, rows.options.device)
                if method == "outliers":
                    estimator._reference()  # kept in the model, so that `score` need not find it
            scaled = scaled if reference is None else scaler.transform(rows.for_scaler())
            with terminal.counting(f"Judging {len(scaled):,} rows", len(scaled)) as judged:
                found = view(
                    estimator,
                    scaled,
                    training=reference is None and sample is None,
                    fdr=task.fdr,
                    sample=sample if reference is None else None,
                    progress=judged,
                )
        except ValueError as error:
            raise UnusableError(with_names(str(error), names)) from error
    seconds = round(time.perf_counter() - began, 3)
    scaler.feature_names_in_ = np.asarray(names, dtype=object)  # for data frames and `score`
    texts = [in_words(str(warning.message), names, estimator) for warning in caught]
    return Run(
        method=method,
        rows=rows,
        pipeline=Pipeline([("columns", scaler), ("model", estimator)]),
        scaled=scaled,
        view=found,
        warnings=list(dict.fromkeys(texts)),
        seconds={"fit": seconds, "all": 0.0},
        reference=reference,
        fdr=task.fdr,
        sample=sample,
    )


def in_words(text: str, names: Sequence[str], estimator: Any) -> str:
    """A warning with the names of columns, and how parameters it names are set here."""
    text = with_names(text, names)
    words = [
        OPTIONS.get(name, f"--param {name}=VALUE")
        for name in estimator.get_params(deep=False)
        # Words such as kernel mean a parameter only before a sign.
        if re.search(rf"\b{name}\b" if "_" in name else rf"\b{name}=", text)
    ]
    return f"{text} (On the command line: {', '.join(words)}.)" if words else text


def with_names(text: str, names: Sequence[str]) -> str:
    """A message about "feature 2" or "column 2" with the name the column has in the file."""

    def name(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"column {names[number]!r}" if number < len(names) else match[0]

    return re.sub(r"\b(?:feature|column) (\d+)\b", name, text)
