"""Files larger than memory: fit by passes over blocks, or on a sample, and label every row."""

import time
import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from typicality._threads import stream_in_threads
from typicality._typing import Doubles, Places
from typicality._words import counted
from typicality.cli.description import check_name
from typicality.cli.errors import UnusableError, with_options
from typicality.cli.judging import Judge, JudgedBlock, writer
from typicality.cli.machine import on_device
from typicality.cli.options import Options
from typicality.cli.result import Passes, Run
from typicality.cli.rows import (
    LONGEST_CELL,
    MOST_CELLS,
    FileRows,
    draw_sample,
    other_columns,
    read_columns,
    refuse_missing,
    require_enough,
    scaler_settings,
)
from typicality.cli.run import Task, in_words, with_names
from typicality.exceptions import TableError
from typicality.rows import LARGEST_SAMPLE
from typicality.tables import NumericTable, TableFile
from typicality.tables.cells import texts_of
from typicality.tables.opening import JOINED_FORMATS

if TYPE_CHECKING:
    from typicality.rows import Rows

_SHOWN = 20_000  # rows in the report, drawn at random
_WORST = 20  # further rows in the report, the least typical of all
_ON_A_SAMPLE = ("auto", "alpha-cut")  # methods that need their rows in memory
_MISSING = {"error": "error", "drop": "drop", "median": "keep"}


class _Fitted(NamedTuple):
    """A fit: the steps, which rows are to be shown, how many of these were fitted alone."""

    scaler: Any
    model: Any
    shown: Places
    is_sample: bool


def run_by_blocks(
    task: Task, estimator: Any, table: TableFile, folder: Path, too_large: Exception | None
) -> Run:
    """Fit a file that is not held in memory, and write the results of all its rows to a folder.

    Methods with prototypes are fitted by passes over blocks of all rows. The others are fitted on a
    sample, whose size the summary states. `too_large` is why the file is read in blocks.
    """
    began, options, terminal = time.perf_counter(), task.options, task.terminal
    _refuse(task, table, too_large)
    check_name(table, options.name)
    with terminal.doing(f"Looking at the columns of {table.name}"):
        numeric = read_columns(table, options, hold=False)
    n_reads = table.n_passes
    if options.missing == "error":
        refuse_missing(table, numeric)
    with _workers(options), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with terminal.doing(f"Reading {counted(table.n_rows or 0, 'row')} of {table.name}"):
            rows = _open(table, numeric, options)
        require_enough(rows.n_rows, 2, table, numeric, options)
        try:
            fitted = _fit(rows, estimator, task)
        except TableError:
            raise
        except ValueError as error:
            raise UnusableError(with_names(str(error), numeric.names)) from error
        n_reads += rows.n_passes + 1
        seconds = round(time.perf_counter() - began, 3)
        shown, results = _write(fitted, task, table, numeric, folder)
    texts = [in_words(str(each.message), numeric.names, estimator) for each in caught]
    return shown.run(
        fitted,
        task.method,
        warnings=list(dict.fromkeys(texts)),
        seconds={"fit": seconds, "all": 0.0},
        n_reads=n_reads,
        block_rows=rows.block_rows,
        results=results,
    )


def _refuse(task: Task, table: TableFile, too_large: Exception | None) -> None:
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
            "`typicality outliers CLEAN --novelty`, and give it the file with `typicality score`"
        )
    if not why:
        return
    if too_large is not None:
        told = with_options(str(too_large))
        raise UnusableError(f"{told} It is not read in blocks, because {why}.")
    raise UnusableError(f"{table.name} cannot be read in blocks, because {why}.")


def _workers(options: Options) -> AbstractContextManager[None]:
    """A context with the processes of Dask, if these were asked for."""
    if not options.uses_dask:
        return nullcontext()
    from typicality.rows.dask import workers

    return workers(options.workers, options.scheduler)


def _open(table: TableFile, numeric: NumericTable, options: Options) -> Any:
    """The rows that take part, read by this process or by workers of Dask."""
    from typicality.rows import FileRows as RowsOfFile
    from typicality.rows.file import pieces_of

    how: dict[str, Any] = {"signs": numeric.signs, "missing": _MISSING[str(options.missing)]}
    if not options.uses_dask:
        rows = RowsOfFile(table, numeric.names, **how)
        rows.names = list(numeric.names)  # those of npy files, which have none, are made up
        return rows
    from typicality.rows.dask import rows_of_pieces

    return rows_of_pieces(pieces_of(table, numeric.names, **how))


def _fit(rows: Any, estimator: Any, task: Task) -> _Fitted:
    """Scale by passes over all rows, and fit these, or a sample of them."""
    from typicality.preprocessing import ColumnScaler
    from typicality.preprocessing.table_rows import column_names

    options, terminal = task.options, task.terminal
    size = _sample_size(rows, task)
    if size is None:
        _refuse_for_passes(options)
    with terminal.passes(f"Scaling {rows.n_rows:,} rows", rows):
        scaler = ColumnScaler(**scaler_settings(options)).fit(rows)
        column_names(scaler)  # rows are arrays here
    shown = draw_sample(rows.n_rows, size or _SHOWN, seed=options.seed)
    shown = np.arange(rows.n_rows) if shown is None else shown
    if size is not None:
        with terminal.passes(f"Drawing {len(shown):,} rows", rows):
            X = scaler.transform(rows.take(shown))
        with terminal.fitting(f"Fitting {len(X):,} rows"):
            model = on_device(estimator, X, options.device)
    else:
        moved: Rows = scaler.transform(rows)
        with terminal.passes(f"Fitting {rows.n_rows:,} rows", rows):
            model = estimator.fit(moved)
        from typicality.cluster._estimator import OF_ROWS

        model = model._without(*OF_ROWS)  # the file of the results has them
    if task.method == "outliers":
        model._reference()  # kept in the model, so that `score` need not find it
    return _Fitted(scaler, model, shown, size is not None and size < rows.n_rows)


def _sample_size(rows: "Rows", task: Task) -> int | None:
    """How many rows are fitted in memory; None where passes over all rows are made."""
    wanted = task.max_rows
    if task.method in _ON_A_SAMPLE:
        wanted = LARGEST_SAMPLE if wanted is None else wanted
    elif wanted is None or wanted >= rows.n_rows:
        return None
    return min(wanted, rows.n_rows)


def _refuse_for_passes(options: Options) -> None:
    """An error about an option that belongs to rows in memory."""
    if options.device is not None:
        raise UnusableError(
            "--device works only on rows in memory, but these rows are read from the file in "
            "blocks. Leave it out, or fit a sample with --max-rows N."
        )


def _write(
    fitted: _Fitted, task: Task, table: TableFile, numeric: NumericTable, folder: Path
) -> "tuple[_Shown, str]":
    """Judge all rows and write them with what the model says; returns rows to show."""
    as_parquet = table.format == "parquet"
    results = f"{task.results}.{'parquet' if as_parquet else 'csv'}"
    judge = Judge(
        fitted.scaler,
        fitted.model,
        names=list(numeric.names),
        missing=str(task.options.missing),
        signs=numeric.signs,
        as_parquet=as_parquet,
        safe=task.options.safe_csv,
    )
    shown = _Shown(task.options, table, numeric, fitted.shown)

    def judged_with_depth(block: Any) -> JudgedBlock:
        judged = judge(block)
        if judged.view.kind != "tree":  # the depth of its rows takes long
            _ = judged.view.depth
        return judged

    with (
        task.terminal.counting("Writing the results", table.n_rows or 0) as wrote,
        writer(str(folder / results), force=False, as_parquet=as_parquet) as write,
    ):
        for judged in stream_in_threads(judged_with_depth, table.blocks()):
            write(judged.written)
            shown.see(judged)
            wrote(judged.block.first_row + judged.block.n_rows)
    return shown, results


class _Row(NamedTuple):
    """A row to show: its number among those that take part, that in the file, and its cells."""

    place: int
    row: int
    X: Doubles
    texts: tuple[str, ...]


@dataclass(eq=False)
class _Shown:
    """Gathers rows for the report while all rows are judged, and counts labels.

    Parameters
    ----------
    options, table, numeric
        As in :class:`~typicality.cli.rows.FileRows`.
    places : array of int
        Which rows to gather, among those that take part, in order; the least typical rows are
        gathered, too.
    """

    options: Options
    table: TableFile
    numeric: NumericTable
    places: Places

    def __post_init__(self) -> None:
        names = other_columns(self.table, self.numeric, self.options)
        self._names = names[: MOST_CELLS // max(1, len(self.places))]
        self._n_seen = self._n_left_out = 0
        self._sizes = np.zeros(1, np.int64)  # of label -1, 0, 1, ...
        self._found: list[_Row] = []
        self._worst: list[tuple[float, _Row]] = []

    def see(self, judged: JudgedBlock) -> None:
        """Take in one more block."""
        n_kept, first = judged.n_kept, self._n_seen
        self._n_seen += n_kept
        self._n_left_out += len(judged.X) - n_kept
        if not n_kept:
            return
        sizes = np.bincount(judged.view.labels[:n_kept] + 1, minlength=len(self._sizes))
        sizes[: len(self._sizes)] += self._sizes
        self._sizes = sizes
        start, stop = np.searchsorted(self.places, [first, first + n_kept])
        self._found += self._rows(judged, self.places[start:stop] - first, first)
        view = judged.view
        depth = view.strength if view.kind == "tree" else view.depth
        least = np.argsort(depth, kind="stable")[:_WORST]
        if len(self._worst) == _WORST:
            least = least[depth[least] < self._worst[-1][0]]
        rows = self._rows(judged, least, first)
        self._worst += zip(depth[least].tolist(), rows, strict=True)
        self._worst = sorted(self._worst, key=lambda pair: pair[0])[:_WORST]

    def _rows(self, judged: JudgedBlock, kept: Places, first: int) -> list[_Row]:
        """Some of the rows of a block that were judged."""
        if not len(kept):
            return []
        at = np.flatnonzero(judged.kept)[kept]
        columns = judged.block.columns(self._names) if self._names else []
        texts = [texts_of(column.take(at)).to_pylist() for column in columns]
        cells = [tuple(text[:LONGEST_CELL] for text in some) for some in zip(*texts, strict=True)]
        cells = cells or [()] * len(at)
        numbers, first_row = judged.X[at], judged.block.first_row
        places = (first + kept).tolist()
        rows = (first_row + at).tolist()
        return [_Row(*each) for each in zip(places, rows, numbers, cells, strict=True)]

    def run(
        self,
        fitted: _Fitted,
        method: str,
        *,
        warnings: list[str],
        seconds: dict[str, float],
        **passes: Any,
    ) -> Run:
        """The run, with the rows that were gathered."""
        from sklearn.pipeline import Pipeline

        from typicality.fitted import view

        found = {row.place: row for row in [*self._found, *(row for _, row in self._worst)]}
        some = [found[place] for place in sorted(found)]
        rows = FileRows(
            options=self.options,
            table=self.table,
            numeric=self.numeric,
            kept=np.ones(len(some), dtype=bool),
            X=np.array([row.X for row in some]),
            texts={name: [row.texts[j] for row in some] for j, name in enumerate(self._names)},
            places=np.array([row.row for row in some]),
            total=(self._n_seen + self._n_left_out, self._n_left_out),
        )
        scaled = fitted.scaler.transform(rows.X)
        fitted.scaler.feature_names_in_ = np.asarray(self.numeric.names, dtype=object)
        sample = None
        if fitted.is_sample:
            sample = np.searchsorted(np.array(sorted(found)), fitted.shown)
        n_labels = 1 if method == "outliers" else int(fitted.model.n_clusters_)
        sizes = np.pad(self._sizes, (0, max(0, n_labels + 1 - len(self._sizes)))).tolist()
        return Run(
            method=method,
            rows=rows,
            pipeline=Pipeline([("columns", fitted.scaler), ("model", fitted.model)]),
            scaled=scaled,
            view=view(fitted.model, scaled, sample=sample),
            warnings=warnings,
            seconds=seconds,
            sample=sample,
            passes=Passes(n_rows=self._n_seen, sizes=sizes[1:], n_unassigned=sizes[0], **passes),
        )
