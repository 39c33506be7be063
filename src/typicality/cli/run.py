"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import re
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from typicality._record import MODEL, RECORD, write_record
from typicality._typing import Places
from typicality._words import counted
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.folder import (
    REPORT,
    SUMMARY,
    about_run,
    as_json,
    new_folder,
    require_free,
    results_name,
    versions,
)
from typicality.cli.options import Options
from typicality.cli.parameters import notice_text, notices
from typicality.cli.rows import (
    FitRows,
    check_name,
    open_file,
    read_file,
)
from typicality.exceptions import ColumnError, TableError
from typicality.tables import Block, TableFile
from typicality.tables.opening import kind_of_suffix

_SHOWN = 20_000  # rows in the report of a file that is not held in memory, drawn at random
_IN_MEMORY = ("auto", "alpha-cut", "mixture")  # methods that need their rows there
_ALL_AT_ONCE = (
    "--reference compares all rows at once. Make a model of the clean rows with `typicality "
    "outliers CLEAN --param novelty=True`, and give it the file with `typicality score`"
)
_MACHINE = ("jobs", "device", "workers")  # options for run.json


def run_to_folder(options: Options, method: str, configured: Callable[[], Any]) -> None:
    """Read, fit, write the folder and print what came out.

    Everything is written to a temporary folder, which takes its name at the end: a run that fails
    or is interrupted leaves nothing. A file with too many numbers for memory is read in blocks.

    Parameters
    ----------
    options : Options
        What was asked for.
    method : str
        What the user calls it; "outliers" for those.
    configured : callable
        Makes the model to fit, with its parameters judged.
    """
    terminal = Terminal(quiet=options.quiet, as_json=options.as_json)
    ending = "outliers" if method == "outliers" else "clusters"
    path = Path(options.output or folder_name(options.file, ending))
    _device(options.device)  # one that is not there is told before any work
    if options.file == "-":  # told before waiting for all that comes
        require_free(path, force=options.force)
    began = time.perf_counter()
    with (
        open_file(options) as table,
        new_folder(path, force=options.force) as folder,
        options.threads(),
    ):
        record = _fit_and_write(options, method, configured, terminal, table, folder)
        record["seconds"]["all"] = round(time.perf_counter() - began, 3)
        write_record(folder / RECORD, as_json(record))
    if options.as_json:
        terminal.json(as_json(record))
    from typicality.cli.summary import say_result

    say_result(terminal, record)
    terminal.warn(list(map(notice_text, record["warnings"])))
    clusters = [] if method == "outliers" else ["clusters.csv"]
    written = [results_name(record), *clusters, SUMMARY, f"{MODEL}/", RECORD]
    terminal.say_path(f"Written: {', '.join(written)} in ", f"{path}/")
    if options.report:
        terminal.say_path("Open the report: ", path / REPORT)


def _fit_and_write(
    options: Options,
    method: str,
    configured: Callable[[], Any],
    terminal: Terminal,
    table: TableFile,
    folder: Path,
) -> dict[str, Any]:
    """Write all files but run.json, whose content is returned."""
    clean = None
    check_name(table, options.name)
    with _workers(options.workers), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if options.reference is not None:
            clean = _read_reference(options.reference, table, options, terminal)
            options = _as_reference(options, clean)
        with terminal.doing(f"Reading {table.name}"):
            at_least, in_memory = (2, "") if clean is None else (1, _ALL_AT_ONCE)
            rows = read_file(table, options, at_least=at_least, in_memory=in_memory)
        estimator = configured()
        began = time.perf_counter()
        run, sample = _fit(terminal, estimator, method, rows, clean)
        seconds = round(time.perf_counter() - began, 3)
        result, tally = _judged_and_written(terminal, run, rows, sample, folder)
    from typicality.cli.result import clusters_csv, fields_of, parameters_of
    from typicality.cli.summary import about_input, in_short
    from typicality.model import save

    record = {
        **about_run(),
        **run.record,
        "preparation": parameters_of(run.pipeline["columns"]),
        "estimator": parameters_of(run.model),
        "machine": {name: getattr(options, name) for name in _MACHINE},
        "versions": versions(),
        "results": run.record["results"]
        | fields_of(result, rows, tally)
        | {"logarithms": _logarithms(run, rows)},
        "warnings": notices(caught, rows.numeric.names, estimator, result.fitted_rows),
        "seconds": {"fit": seconds, "all": 0.0},
    }
    record["about"] = about_input(record, rows, result.judged.rows.X, clean)
    if method != "outliers":
        (folder / "clusters.csv").write_bytes(clusters_csv(record))
    text = textwrap.fill(in_short(record), 80) + "\n"
    (folder / SUMMARY).write_text(text, encoding="utf-8", errors="surrogateescape")
    if options.report:
        from typicality.cli.report import write_page

        with terminal.doing("Drawing the report"):
            write_page(folder / REPORT, as_json(record), result.on_page())
    save(run.pipeline, folder / MODEL)
    return record


def _logarithms(run: Any, rows: FitRows) -> list[str]:
    """The columns that are replaced by their logarithms."""
    step = run.pipeline["columns"]
    units = getattr(getattr(step, "scaler_", step), "log_unit_", ())  # of the numbers
    return [name for name, u in zip(rows.numeric.names, units, strict=False) if u > 0]


def _fit(
    terminal: Terminal, estimator: Any, method: str, rows: FitRows, clean: FitRows | None
) -> tuple[Any, Places | None]:
    """Fit the rows, or the clean ones instead; and the places of a sample, if one was fitted.

    The scaler sees all rows, the estimator at most `max_rows` of them. Methods with prototypes are
    fitted by passes over blocks of rows that are not in memory, the others on a sample.
    """
    from typicality.kernels import Mixed
    from typicality.rows import LARGEST_SAMPLE
    from typicality.run_folder import Run, draw_sample

    source, options = clean or rows, rows.options
    estimator, method = for_categories(estimator, source, method)
    scaler = rows.scaler(balanced=not isinstance(getattr(estimator, "kernel", None), Mixed))
    by_passes = not source.is_held and method not in _IN_MEMORY
    most = options.max_rows or (None if source.is_held or by_passes else LARGEST_SAMPLE)
    sample = taken = draw_sample(source.n_used, most, seed=options.seed)
    if sample is None and not source.is_held and not by_passes:
        taken = np.arange(source.n_used)  # all rows, read into memory
    if taken is None and not source.is_held and options.device is not None:
        raise UnusableError(
            "--device works only on rows in memory, but these rows are read from the file in "
            "blocks. Leave it out, or fit a sample with --max-rows N."
        )
    results: dict[str, Any] = {"sample": None if sample is None else {"n_rows": len(sample)}}
    record = {
        "method": method,
        "seed": options.seed,
        "data": rows.record(),
        "reference": None if clean is None else clean.record(),
        "results": results | ({"fdr": options.fdr} if method == "outliers" else {}),
    }
    n_fitted = source.n_used if sample is None else len(sample)
    with (
        _refusing(rows.column_names),
        terminal.fitting(f"Fitting {n_fitted:,} rows", source.opened),
    ):
        device = _device(options.device)
        run = Run.fit(scaler, estimator, source.to_fit, record, sample=taken, device=device)
    return run, sample


def _judged_and_written(
    terminal: Terminal, run: Any, rows: FitRows, sample: Places | None, folder: Path
) -> tuple[Any, Any]:
    """Judge all rows, write them, and gather those to show."""
    from typicality.cli.result import Result
    from typicality.cli.writing import Gathered, write_rows
    from typicality.run_folder import draw_sample

    options, whole, places = rows.options, None, None
    if rows.held is not None:
        fitted: Any = run.places_of_fit(rows.n_used, rows.numeric.fingerprint)
        with _refusing(rows.column_names), terminal.doing(f"Judging {rows.n_used:,} rows"):
            whole = run.judge(rows.held, fitted=fitted, fdr=options.fdr)
    elif sample is not None:
        places = sample
    else:
        places = draw_sample(rows.n_used, _SHOWN, seed=options.seed)

    def judge(block: Block) -> Any:
        if whole is not None:
            return whole.within(block)
        judged = run.judge_block(block)
        if judged.view.kind != "tree":  # the depth of its rows takes long
            _ = judged.view.depth
        return judged

    gathered = Gathered(
        rows.table, rows.numeric.names, rows.n_rows, name=options.name, places=places
    )
    with terminal.doing("Writing the results", rows.n_rows) as wrote:

        def follow(judged: Any, n_rows: int) -> None:
            gathered.see(judged.rows, judged.view)
            wrote(n_rows)

        output = str(folder / results_name(run.record))
        tally = write_rows(rows.table, judge, output, run.signs, follow, safe=options.safe_csv)
    shown = gathered.result()
    if whole is None:
        fitted = None if sample is None else np.searchsorted(shown.places, sample)
        whole = run.judge(shown.rows, fitted=fitted)
    return Result(run, shown, whole, fitted), tally


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


def _read_reference(
    reference: str, table: TableFile, options: Options, terminal: Terminal
) -> FitRows:
    """The clean rows; names of columns to leave out may be those of either file."""
    by_name = kind_of_suffix(reference) is not None
    wanted = replace(options, file=reference, format=None if by_name else options.format)
    with open_file(wanted) as other, terminal.doing(f"Reading {other.name}"):
        elsewhere = set(table.names) - set(other.names)
        ignore = tuple(name for name in options.ignore if name not in elsewhere)
        return read_file(other, replace(wanted, ignore=ignore), in_memory=_ALL_AT_ONCE)


def _as_reference(options: Options, clean: FitRows) -> Options:
    """Read the columns that were read of the reference, all of them."""
    ranks = clean.options.ordered
    return replace(
        options,
        columns=tuple(name for name in clean.numeric.names if name not in ranks),
        categorical=tuple(clean.categories),
        exact=True,
        ignore=(),
    )


def for_categories(estimator: Any, rows: FitRows, method: str) -> tuple[Any, str]:
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

    n_numeric, kernel = len(rows.numeric.names), getattr(estimator, "kernel", None)
    # Without numbers there is no width to choose, and alpha-cuts are better off with their scale.
    if kernel == "gaussian" or (kernel == "auto" and n_numeric):
        estimator.set_params(kernel=Mixed(n_numeric))
    return estimator, method


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

    if "://" in wanted:
        return dask.workers(None, wanted)
    if not wanted.isdigit() or int(wanted) == 0:
        raise WrongUseError(
            f"--workers {wanted!r} is no number, and no address such as tcp://host:8786."
        )
    return dask.workers(int(wanted), None)


def _device(name: str | None) -> str | None:
    """The device of torch that --device names, e.g. "cuda"; None for arrays on the CPU.

    Raises
    ------
    WrongUseError
        The name is not that of a device.
    UnusableError
        torch is not installed, or has no such device.
    """
    if name is None or (name == "auto" and find_spec("torch") is None):
        return None
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name):
        raise WrongUseError(f"--device {name!r}: choose auto, cpu, cuda or cuda:N.")
    if find_spec("torch") is None:
        raise UnusableError(
            f"--device {name} needs torch, which is not installed: pip install torch."
        )
    import torch

    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return "cuda" if n_gpus else None
    if name not in ("cpu", *["cuda"][:n_gpus], *(f"cuda:{number}" for number in range(n_gpus))):
        raise UnusableError(
            f"--device {name}: torch {torch.__version__} finds {counted(n_gpus, 'GPU')} on this "
            "machine, counted from 0. Choose auto or cpu, or install a torch for your GPU and its "
            "driver."
        )
    return name


def folder_name(file: str, ending: str) -> str:
    """The folder for the results of a file, a folder or a pattern that stands for several files."""
    name = re.sub(r"\.(gz|bz2|zst)$", "", Path(file).name, flags=re.IGNORECASE)
    stem = re.sub(r"[*?[\]]+", "", Path(name).stem).strip("-_. ")
    return f"{stem}-{ending}" if stem else ending
