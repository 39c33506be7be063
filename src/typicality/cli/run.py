"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from typicality._cached import cached_property
from typicality._record import MODEL, RECORD
from typicality._typing import Places
from typicality._words import counted
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError, option_of
from typicality.cli.folder import REPORT, new_folder, require_free, results_name, write_record
from typicality.cli.machine import device_of, on_device, within, workers
from typicality.cli.notices import notice_text, notices
from typicality.cli.options import Options
from typicality.cli.rows import (
    FileRows,
    check_name,
    open_file,
    read_columns,
    read_file,
    refuse_missing,
    require_enough,
)
from typicality.exceptions import ColumnError, TableError
from typicality.tables import Block, NumericTable, TableFile
from typicality.tables.columns import TooLargeError
from typicality.tables.opening import JOINED_FORMATS, kind_of_suffix

_SHOWN = 20_000  # rows in the report of a file that is not held in memory, drawn at random
_ON_A_SAMPLE = ("auto", "alpha-cut")  # methods that need their rows in memory


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


class Fit(NamedTuple):
    """A fitted run, and the rows of the file.

    Parameters
    ----------
    run : Run
        The model, the columns and the record so far.
    method : str
        The method by name.
    rows : FileRows
        The rows of the file.
    reference : FileRows or None
        The rows that were fitted instead.
    whole : Judged or None
        What the run says of all rows; None if they are not held in memory.
    shown : array of int or None
        Then the rows to show, among those that take part; by default all.
    opened : Rows or None
        Then the rows that the passes read.
    n_reads : int
        How often the file was read before.
    """

    run: Any
    method: str
    rows: FileRows
    reference: FileRows | None = None
    whole: Any = None
    shown: Places | None = None
    opened: Any = None
    n_reads: int = 0


def run_to_folder(task: Task) -> None:
    """Read, fit, write the folder and print what came out.

    Everything is written to a temporary folder, which takes its name at the end: a run that fails
    or is interrupted leaves nothing. A file with too many numbers for memory is read in blocks.
    """
    options, terminal, path = task.options, task.terminal, task.folder
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
        result = _result(task, estimator, table, temporary)
        from typicality.model import save

        save(result.run.pipeline, temporary / MODEL)
        record = result.record()
        results = results_name(record)
        if not result.finds_outliers:
            (temporary / "clusters.csv").write_bytes(result.clusters_csv())
            results = f"{results}, clusters.csv"
        if task.report:
            from typicality.cli.report import write_page

            with terminal.doing("Drawing the report"):
                rows, explanation = result.page
                write_page(temporary / REPORT, record, result.model, rows, explanation)
        result.seconds["all"] = round(time.perf_counter() - began, 3)
        write_record(temporary / RECORD, record)
    if options.as_json:
        terminal.json(record)
    from typicality.cli.summary import say_result

    say_result(terminal, result)
    terminal.warn(list(map(notice_text, result.warnings)))
    terminal.say_path(f"Written: {results}, {MODEL}/, {RECORD} in ", f"{path}/")
    if task.report:
        terminal.say_path("Open the report: ", path / REPORT)


def _result(task: Task, estimator: Any, table: TableFile, folder: Path) -> Any:
    """Fit, and write the results of all rows to a folder."""
    options, terminal = task.options, task.terminal
    check_name(table, options.name)
    clean = None
    if task.reference is not None:
        clean = _read_reference(task.reference, table, options, terminal)
        options = _as_reference(options, clean)
    rows, too_large = None, None
    if options.workers is None:
        try:
            with terminal.doing(f"Reading {table.name}"):
                rows = read_file(table, options, at_least=2 if clean is None else 1)
        except TooLargeError as error:
            too_large = error
    estimator = task.configured() if estimator is None else estimator
    began = time.perf_counter()
    with workers(options), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if rows is None:
            _refuse_blocks(task, table, too_large)
            fit = _fit_by_passes(task, estimator, table)
        else:
            fit = _fit_in_memory(task, estimator, rows, clean)
        seconds = round(time.perf_counter() - began, 3)
        result = _write(task, fit, table, folder)
    fitted_rows = None
    if result.fitted is not None:
        word, numbers = result.shown.numbers
        fitted_rows = word, numbers[result.fitted]
    result.warnings = notices(caught, fit.rows.column_names, estimator, fitted_rows)
    result.seconds = {"fit": seconds, "all": 0.0}
    return result


def _write(task: Task, fit: Fit, table: TableFile, folder: Path) -> Any:
    """Judge all rows and write them with what the model says."""
    from typicality.cli.result import Result
    from typicality.cli.writing import Gathered, Tally, write_rows, writer

    run, rows, options = fit.run, fit.rows, task.options

    def judge(block: Block) -> Any:
        if fit.whole is not None:
            return fit.whole.within(block)
        judged = run.judge_block(block)
        if judged.view.kind != "tree":  # the depth of its rows takes long
            _ = judged.view.depth
        return judged

    gathered = Gathered(table, rows.numeric.names, rows.n_rows, name=options.name, places=fit.shown)
    tally, as_parquet = Tally(), table.format == "parquet"
    results = str(folder / results_name(run.record))
    how: dict[str, Any] = {"signs": run.signs, "as_parquet": as_parquet, "safe": options.safe_csv}
    with (
        task.terminal.counting("Writing the results", rows.n_rows) as wrote,
        writer(results, force=False, as_parquet=as_parquet) as write,
    ):
        for judged in write_rows(table, judge, write, **how):
            tally.see(judged)
            gathered.see_judged(judged)
            wrote(tally.n_rows)
    places, shown = gathered.result()
    fitted: Any = None
    passes = None
    if fit.whole is not None:
        judged, fitted = fit.whole, run.places_of_fit(len(places), table.fingerprint)
    else:
        if run.record["results"]["sample"] is not None:
            fitted = np.searchsorted(places, fit.shown)  # type: ignore[arg-type]
        judged = run.judge(shown.part, fitted=fitted)
        n_reads, block_rows = fit.n_reads + fit.opened.n_passes + 1, fit.opened.block_rows
        passes = {"n_reads": n_reads, "block_rows": block_rows, "n_shown": len(places)}
    return Result(
        run=run,
        method=fit.method,
        source=rows,
        shown=shown,
        judged=judged,
        fitted=fitted,
        tally=tally,
        reference=fit.reference,
        passes=passes,
    )


@contextmanager
def _refusing(names: Sequence[str]) -> Iterator[None]:
    """A context in which an estimator that refuses its rows is an error of the user.

    `names` are the columns, one of which the error may be about.
    """
    try:
        yield
    except TableError:
        raise
    except ColumnError as error:
        column = f"Column {error.column} is {names[error.column]!r}."
        raise UnusableError(f"{error} {column}") from error
    except ValueError as error:
        raise UnusableError(str(error)) from error


# ---- what is fitted ------------------------------------------------------------------------------


def _fit_in_memory(task: Task, estimator: Any, rows: FileRows, reference: FileRows | None) -> Fit:
    """Scale the columns, fit the estimator, and judge all rows.

    With a `reference`, scaler and estimator are fitted on its rows instead. The scaler sees all
    rows, the estimator at most `max_rows` of them.
    """
    from typicality.kernels import Mixed
    from typicality.run_folder import draw_sample

    terminal, seed, source = task.terminal, rows.options.seed, reference or rows
    estimator, method = for_categories(estimator, source, task.method)
    scaler = rows.scaler(balanced=not isinstance(getattr(estimator, "kernel", None), Mixed))
    sample = draw_sample(len(source.X), task.max_rows, seed=seed)
    n_fitted = len(source.X) if sample is None else len(sample)
    with _refusing(rows.column_names), terminal.fitting(f"Fitting {n_fitted:,} rows"):
        to_fit = source.for_scaler()
        scaled: Any = scaler.fit(to_fit).transform(to_fit)
        X = scaled if sample is None else scaled[sample]
        model = on_device(estimator, X, rows.options.device)
    sampled = None if sample is None else {"n_rows": len(sample)}
    run = _run(task, method, scaler, model, rows, reference, sampled)
    fitted = run.places_of_fit(len(rows.X), rows.numeric.fingerprint)
    with (
        _refusing(rows.column_names),
        terminal.counting(f"Judging {len(rows.X):,} rows", len(rows.X)) as done,
    ):
        whole = run.judge(rows.part(scaler), fitted=fitted, fdr=task.fdr, progress=done)
    return Fit(run, method, rows, reference, whole)


def _run(
    task: Task,
    method: str,
    scaler: Any,
    model: Any,
    rows: FileRows,
    reference: FileRows | None,
    sample: dict[str, int] | None,
) -> Any:
    """The run of a fitted model, with its record so far."""
    from sklearn.pipeline import Pipeline

    from typicality.run_folder import Run

    # For data frames and `score`.
    scaler.feature_names_in_ = np.asarray(rows.column_names, dtype=object)
    results: dict[str, Any] = {"sample": sample}
    if method == "outliers":
        results["fdr"] = task.fdr
        model._reference()  # kept in the model, so that `score` need not find it
    record = {
        "method": method,
        "seed": rows.options.seed,
        "data": rows.record(),
        "reference": None if reference is None else reference.record(),
        "results": results,
    }
    return Run(Pipeline([("columns", scaler), ("model", model)]), record)


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


# ---- files larger than memory --------------------------------------------------------------------


def _refuse_blocks(task: Task, table: TableFile, too_large: TableError | None) -> None:
    """An error where a choice needs all rows in memory; it says what to do instead."""
    options = task.options
    why = ""
    if table.format not in JOINED_FORMATS:
        why = f"a {table.format} file must be unpacked completely. Write it as parquet or csv"
    elif options.categorical or options.ordered:
        why = "categories (--categorical, --ordered) need all rows. Leave them out"
    elif task.reference is not None:
        why = (
            "--reference compares all rows at once. Make a model of the clean rows with "
            "`typicality outliers CLEAN --param novelty=True`, and give it the file with "
            "`typicality score`"
        )
    if not why:
        return
    if too_large is not None:
        told = too_large.sentence(option_of)
        raise UnusableError(f"{told} It is not read in blocks, because {why}.")
    raise UnusableError(f"{table.name} cannot be read in blocks, because {why}.")


def _fit_by_passes(task: Task, estimator: Any, table: TableFile) -> Fit:
    """Scale by passes over all rows, and fit these, or a sample of them in memory.

    Methods with prototypes are fitted by passes over blocks of all rows. The others are fitted on a
    sample, whose size the summary states.
    """
    from typicality.preprocessing.table_rows import column_names
    from typicality.run_folder import draw_sample

    options, terminal = task.options, task.terminal
    with terminal.doing(f"Looking at the columns of {table.name}"):
        numeric = read_columns(table, options, hold=False)
    n_reads = table.n_passes
    if options.missing == "error":
        refuse_missing(table, numeric)
    with terminal.doing(f"Reading {counted(table.n_rows or 0, 'row')} of {table.name}"):
        opened = _open(table, numeric, options)
    require_enough(opened.n_rows, 2, table, numeric, options)
    n_rows = table.n_rows or 0
    rows = FileRows(
        options, table, numeric, np.ones(0, dtype=bool), numeric.X, (), n_rows,
        n_rows - opened.n_rows,
    )  # fmt: skip
    size = _sample_size(opened.n_rows, task)
    if size is None and options.device is not None:
        raise UnusableError(
            "--device works only on rows in memory, but these rows are read from the file in "
            "blocks. Leave it out, or fit a sample with --max-rows N."
        )
    scaler = rows.scaler()
    scaling = terminal.passes(f"Scaling {opened.n_rows:,} rows", opened)
    with _refusing(numeric.names), scaling:
        scaler.fit(opened)
        column_names(scaler)  # rows are arrays here
    shown = draw_sample(opened.n_rows, size or _SHOWN, seed=options.seed)
    shown = np.arange(opened.n_rows) if shown is None else shown
    if size is not None:
        with terminal.passes(f"Drawing {len(shown):,} rows", opened):
            X = scaler.transform(opened.take(shown))
        with _refusing(numeric.names), terminal.fitting(f"Fitting {len(X):,} rows"):
            model = on_device(estimator, X, options.device)
    else:
        fitting = terminal.passes(f"Fitting {opened.n_rows:,} rows", opened)
        with _refusing(numeric.names), fitting:
            model = estimator.fit(scaler.transform(opened))
        from typicality.cluster._estimator import OF_ROWS

        model = model._without(*OF_ROWS)  # the file of the results has them
    is_sample = size is not None and size < opened.n_rows
    sample = {"n_rows": len(shown)} if is_sample else None
    run = _run(task, task.method, scaler, model, rows, None, sample)
    return Fit(run, task.method, rows, shown=shown, opened=opened, n_reads=n_reads)


def _open(table: TableFile, numeric: NumericTable, options: Options) -> Any:
    """The rows that take part, read by this process or by workers of Dask."""
    from typicality.rows import FileRows as RowsOfFile
    from typicality.rows.file import pieces_of

    how: dict[str, Any] = {"signs": numeric.signs, "missing": options.missing}
    if options.workers is None:
        rows = RowsOfFile(table, numeric.names, **how)
        rows.names = list(numeric.names)  # those of npy files, which have none, are made up
        return rows
    from typicality.rows.dask import rows_of_pieces

    return rows_of_pieces(pieces_of(table, numeric.names, **how))


def _sample_size(n_rows: int, task: Task) -> int | None:
    """How many rows are fitted in memory; None where passes over all rows are made."""
    from typicality.rows import LARGEST_SAMPLE

    wanted = task.max_rows
    if task.method in _ON_A_SAMPLE:
        wanted = LARGEST_SAMPLE if wanted is None else wanted
    elif wanted is None or wanted >= n_rows:
        return None
    return min(wanted, n_rows)


# ---- words ---------------------------------------------------------------------------------------


def folder_name(file: str, ending: str) -> str:
    """The folder for the results of a file, a folder or a pattern that stands for several files."""
    name = re.sub(r"\.(gz|bz2|zst)$", "", Path(file).name, flags=re.IGNORECASE)
    stem = re.sub(r"[*?[\]]+", "", Path(name).stem).strip("-_. ")
    return f"{stem}-{ending}" if stem else ending
