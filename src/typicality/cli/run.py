"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import re
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from typicality._record import MODEL, RECORD
from typicality._typing import Places
from typicality._words import counted
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError, option_of
from typicality.cli.folder import (
    REPORT,
    SUMMARY,
    about_run,
    as_json,
    new_folder,
    require_free,
    results_name,
    versions,
    write_record,
)
from typicality.cli.options import Options
from typicality.cli.parameters import notice_text, notices
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
_MACHINE = ("jobs", "device", "workers")  # options for run.json


@dataclass(frozen=True, eq=False)
class Task:
    """What `typicality cluster` and `typicality outliers` ask for.

    Parameters
    ----------
    options : Options
        The shared options.
    method : str
        What the user calls it; "outliers" for those.
    configured : callable
        Makes the model to fit, with its parameters judged.
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
    method: str
    configured: Callable[[], Any]
    report: bool
    max_rows: int | None = None
    reference: str | None = None
    fdr: float | None = None


class Fit(NamedTuple):
    """A fitted run, and how it judges the rows of the file.

    Parameters
    ----------
    run : Run
        The model, the columns and the record so far.
    rows : FileRows
        The rows of the file.
    whole : Judged, optional
        What the run says of all rows; None if they are not held in memory.
    places : array of int, optional
        Then the rows to show, among those that take part.
    passes : dict, optional
        Then how often the file is read, and in how large blocks.
    """

    run: Any
    rows: FileRows
    whole: Any = None
    places: Places | None = None
    passes: dict[str, int] | None = None


def run_to_folder(task: Task) -> None:
    """Read, fit, write the folder and print what came out.

    Everything is written to a temporary folder, which takes its name at the end: a run that fails
    or is interrupted leaves nothing. A file with too many numbers for memory is read in blocks.
    """
    options = task.options
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    path = Path(
        options.output
        or folder_name(options.file, "outliers" if task.method == "outliers" else "clusters")
    )
    _device(options.device)  # one that is not there is told before any work
    if options.file == "-":  # told before waiting for all that comes
        require_free(path, force=options.force)
    began = time.perf_counter()
    with (
        open_file(options) as table,
        new_folder(path, force=options.force, record=RECORD) as folder,
        options.threads(),
    ):
        record, about = _fit_and_write(task, terminal, table, folder)
        record["seconds"]["all"] = round(time.perf_counter() - began, 3)
        write_record(folder / RECORD, as_json(record))
    if options.as_json:
        terminal.json(as_json(record))
    from typicality.cli.summary import say_result

    say_result(terminal, record, about)
    terminal.warn(list(map(notice_text, record["warnings"])))
    clusters = [] if task.method == "outliers" else ["clusters.csv"]
    written = [results_name(record), *clusters, SUMMARY, f"{MODEL}/", RECORD]
    terminal.say_path(f"Written: {', '.join(written)} in ", f"{path}/")
    if task.report:
        terminal.say_path("Open the report: ", path / REPORT)


def _fit_and_write(
    task: Task, terminal: Terminal, table: TableFile, folder: Path
) -> tuple[dict[str, Any], list[str]]:
    """Write all files but run.json; return its content, and sentences about the rows."""
    options, clean, rows, too_large = task.options, None, None, None
    check_name(table, options.name)
    if task.reference is not None:
        clean = _read_reference(task.reference, table, options, terminal)
        options = _as_reference(options, clean)
    if options.workers is None:
        try:
            with terminal.doing(f"Reading {table.name}"):
                rows = read_file(table, options, at_least=2 if clean is None else 1)
        except TooLargeError as error:
            too_large = error
    estimator = task.configured()
    began = time.perf_counter()
    with _workers(options.workers), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if rows is None:
            _refuse_blocks(task, table, too_large)
            fit = _fit_by_passes(task, terminal, estimator, table)
        else:
            fit = _fit_in_memory(task, terminal, estimator, rows, clean)
        seconds = round(time.perf_counter() - began, 3)
        result = _judged_and_written(task, terminal, fit, table, folder)
    from typicality.cli.result import clusters_csv, parameters_of
    from typicality.cli.summary import about_input, in_short
    from typicality.model import save

    run = fit.run
    record = {
        **about_run(),
        **run.record,
        "preparation": parameters_of(run.pipeline["columns"]),
        "estimator": parameters_of(run.model),
        "machine": {name: getattr(options, name) for name in _MACHINE},
        "versions": versions(),
        "results": run.record["results"] | result.fields() | {"logarithms": _logarithms(fit)},
        "warnings": notices(caught, fit.rows.column_names, estimator, result.fitted_rows),
        "seconds": {"fit": seconds, "all": 0.0},
    }
    if task.method != "outliers":
        (folder / "clusters.csv").write_bytes(clusters_csv(record))
    text = textwrap.fill(in_short(record), 80) + "\n"
    (folder / SUMMARY).write_text(text, encoding="utf-8", errors="surrogateescape")
    if task.report:
        from typicality.cli.report import write_page

        with terminal.doing("Drawing the report"):
            write_page(folder / REPORT, as_json(record), run.model, *result.page())
    save(run.pipeline, folder / MODEL)
    return record, about_input(record, fit.rows, result.shown.rows.X, clean)


def _logarithms(fit: Fit) -> list[str]:
    """The columns that are replaced by their logarithms."""
    step = fit.run.pipeline["columns"]
    units = getattr(getattr(step, "scaler_", step), "log_unit_", ())  # of the numbers
    return [name for name, u in zip(fit.rows.numeric.names, units, strict=False) if u > 0]


def _judged_and_written(
    task: Task, terminal: Terminal, fit: Fit, table: TableFile, folder: Path
) -> Any:
    """Judge all rows, write them, and gather those to show."""
    from typicality.cli.result import Result
    from typicality.cli.writing import Gathered, write_rows

    run, rows, whole, places, passes = fit

    def judge(block: Block) -> Any:
        if whole is not None:
            return whole.within(block)
        judged = run.judge_block(block)
        if judged.view.kind != "tree":  # the depth of its rows takes long
            _ = judged.view.depth
        return judged

    gathered = Gathered(
        table, rows.numeric.names, rows.n_rows, name=rows.options.name, places=places
    )
    with terminal.counting("Writing the results", rows.n_rows) as wrote:

        def follow(judged: Any, n_rows: int) -> None:
            gathered.see_judged(judged)
            wrote(n_rows)

        output = str(folder / results_name(run.record))
        tally = write_rows(table, judge, output, run.signs, follow, safe=rows.options.safe_csv)
    shown = gathered.result()
    fitted: Any = run.places_of_fit(len(shown.places), table.fingerprint)
    if places is not None and passes is not None:
        is_sample = run.record["results"]["sample"] is not None
        fitted = np.searchsorted(shown.places, places) if is_sample else None
        whole = run.judge(shown.part, fitted=fitted)
        passes = {**passes, "n_shown": len(shown.places)}
    return Result(run, rows, shown, whole, fitted, tally, passes)


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


def _fit_in_memory(
    task: Task, terminal: Terminal, estimator: Any, rows: FileRows, clean: FileRows | None
) -> Fit:
    """Fit the rows, or the clean ones instead, and judge all rows.

    The scaler sees all rows, the estimator at most `max_rows` of them.
    """
    from typicality.kernels import Mixed
    from typicality.run_folder import Run, draw_sample

    source = clean or rows
    estimator, method = for_categories(estimator, source, task.method)
    scaler = rows.scaler(balanced=not isinstance(getattr(estimator, "kernel", None), Mixed))
    sample = draw_sample(len(source.X), task.max_rows, seed=rows.options.seed)
    record = _record(task, method, rows, clean, sample)
    n_fitted = len(source.X) if sample is None else len(sample)
    with _refusing(rows.column_names), terminal.fitting(f"Fitting {n_fitted:,} rows"):
        device = _device(rows.options.device)
        run = Run.fit(scaler, estimator, source.for_scaler(), record, sample=sample, device=device)
    fitted = run.places_of_fit(len(rows.X), rows.numeric.fingerprint)
    with (
        _refusing(rows.column_names),
        terminal.counting(f"Judging {len(rows.X):,} rows", len(rows.X)) as done,
    ):
        whole = run.judge(rows.part(scaler), fitted=fitted, fdr=task.fdr, progress=done)
    return Fit(run, rows, whole)


def _record(
    task: Task, method: str, rows: FileRows, clean: FileRows | None, sample: Places | None
) -> dict[str, Any]:
    """How a run is made, as run.json has it."""
    results: dict[str, Any] = {"sample": None if sample is None else {"n_rows": len(sample)}}
    if method == "outliers":
        results["fdr"] = task.fdr
    return {
        "method": method,
        "seed": rows.options.seed,
        "data": rows.record(),
        "reference": None if clean is None else clean.record(),
        "results": results,
    }


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


def _fit_by_passes(task: Task, terminal: Terminal, estimator: Any, table: TableFile) -> Fit:
    """Scale by passes over all rows, and fit these, or a sample of them in memory.

    Methods with prototypes are fitted by passes over blocks of all rows. The others are fitted on a
    sample, whose size the summary states.
    """
    from typicality.run_folder import Run, draw_sample

    options = task.options
    with terminal.doing(f"Looking at the columns of {table.name}"):
        numeric = read_columns(table, options, hold=False)
    n_reads = table.n_passes + 1  # and once more for the results
    if options.missing == "error":
        refuse_missing(table, numeric)
    n_rows = table.n_rows or 0
    with terminal.doing(f"Reading {counted(n_rows, 'row')} of {table.name}"):
        opened = _open(table, numeric, options)
    require_enough(opened.n_rows, 2, table, numeric, options)
    everywhere = np.ones(0, dtype=bool)
    n_left_out = n_rows - opened.n_rows
    rows = FileRows(options, table, numeric, everywhere, numeric.X, (), n_rows, n_left_out)
    size = _sample_size(opened.n_rows, task)
    if size is None and options.device is not None:
        raise UnusableError(
            "--device works only on rows in memory, but these rows are read from the file in "
            "blocks. Leave it out, or fit a sample with --max-rows N."
        )
    places = draw_sample(opened.n_rows, size or _SHOWN, seed=options.seed)
    places = np.arange(opened.n_rows) if places is None else places
    fitted = None if size is None else places
    record = _record(task, task.method, rows, None, fitted if len(places) < opened.n_rows else None)
    n_fitted = opened.n_rows if size is None else len(places)
    with (
        _refusing(numeric.names),
        terminal.passes(f"Fitting {n_fitted:,} of {counted(opened.n_rows, 'row')}", opened),
    ):
        device = _device(options.device)
        run = Run.fit(rows.scaler(), estimator, opened, record, sample=fitted, device=device)
    passes = {"n_reads": n_reads + opened.n_passes, "block_rows": opened.block_rows}
    return Fit(run, rows, places=places, passes=passes)


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


# ---- what may compute ----------------------------------------------------------------------------


def _workers(wanted: str | None) -> AbstractContextManager[None]:
    """A context with the processes of Dask, if --workers asks for some."""
    if wanted is None:
        return nullcontext()
    if find_spec("distributed") is None:
        raise UnusableError(
            "--workers needs Dask, which is not installed: pip install 'dask[array,distributed]'."
        )
    from typicality.rows import dask

    return dask.workers(int(wanted), None) if wanted.isdigit() else dask.workers(None, wanted)


def _device(name: str | None) -> str | None:
    """The device of torch that --device names, e.g. "cuda"; None for arrays on the CPU.

    Raises
    ------
    UnusableError
        torch is not installed, or has no such device.
    """
    if name is None or (name == "auto" and find_spec("torch") is None):
        return None
    try:
        import torch
    except ImportError as error:
        raise UnusableError(
            f"--device {name} needs torch, which is not installed: pip install torch."
        ) from error
    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return "cuda" if n_gpus else None
    kind, _, number = name.partition(":")
    if kind == "cuda" and int(number or 0) >= n_gpus:
        gpus = "no GPU" if n_gpus == 0 else f"{n_gpus} GPU(s), counted from 0"
        raise UnusableError(
            f"--device {name}: torch {torch.__version__} finds {gpus} on this machine. Choose "
            "--device cpu, or install a torch for your GPU and its driver."
        )
    return name


def folder_name(file: str, ending: str) -> str:
    """The folder for the results of a file, a folder or a pattern that stands for several files."""
    name = re.sub(r"\.(gz|bz2|zst)$", "", Path(file).name, flags=re.IGNORECASE)
    stem = re.sub(r"[*?[\]]+", "", Path(name).stem).strip("-_. ")
    return f"{stem}-{ending}" if stem else ending
