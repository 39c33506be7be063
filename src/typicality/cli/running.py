"""From a file to a folder of results: what `typicality cluster` and `typicality outliers` do."""

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from typicality.cli.console import Terminal
from typicality.cli.fitting import FittedModel, fit_rows
from typicality.cli.notable import FileNotes, explained_rows, typical_rows
from typicality.cli.options import RunChoice, TableChoice
from typicality.cli.page import PageRows, write_page
from typicality.cli.preparing import PreparedRows, open_chosen, prepare_rows
from typicality.cli.resources import within
from typicality.cli.run import Run
from typicality.cli.run_folder import (
    MODEL,
    RECORD,
    REPORT,
    folder_for,
    new_folder,
    require_free,
)
from typicality.cli.run_record import record_of
from typicality.cli.summary import say_files, say_summary
from typicality.fitted import FittedView, view
from typicality.persistence import save
from typicality.tables import TableFile, masked_columns


@dataclass(frozen=True, eq=False)
class Request:
    """What to run on what.

    Parameters
    ----------
    method : str
        What the user calls it.
    estimator : estimator
        The model to fit.
    table : TableChoice
        The file, its columns and rows.
    run : RunChoice
        Where results go, and how much of the machine is used.
    command : tuple of str
        The command line.
    results : {"labels.csv", "outliers.csv"}
        The file with the rows and what was found.
    folder : str
        What the name of a folder ends in that nobody named.
    report : bool
        Whether to write the report.
    n_atypical : int
        How many of the least typical rows to show.
    """

    method: str
    estimator: Any
    table: TableChoice
    run: RunChoice
    command: tuple[str, ...]
    results: str
    folder: str
    report: bool
    n_atypical: int


def run_to_folder(request: Request) -> None:
    """Read, fit, write the folder and print what came out.

    Everything is written to a temporary folder, which takes its name at the end: a run that fails
    or is interrupted leaves nothing.
    """
    choice = request.run
    terminal = Terminal(quiet=choice.quiet, as_json=choice.as_json)
    path = folder_for(request.table.file, output=choice.output, ending=request.folder)
    if request.table.file == "-":  # told before waiting for all that comes
        require_free(path, force=choice.force)
    with (
        within(jobs=choice.jobs, memory=choice.memory),
        open_chosen(request.table) as table,
        new_folder(path, force=choice.force) as folder,
    ):
        run = _fill(folder, request, table, terminal)
    if choice.as_json:
        terminal.json(record_of(run))
    say_summary(terminal, run)
    terminal.warn(run.fitted.warnings)
    say_files(terminal, path, results=request.results, has_report=request.report)


def _fill(folder: Path, request: Request, table: TableFile, terminal: Terminal) -> Run:
    """Write all files of a run into a folder."""
    began = time.perf_counter()
    with terminal.doing(f"Reading {table.name}"):
        memory = request.run.memory
        limit = None if memory is None else int(memory * 1e9)
        prepared = prepare_rows(table, request.table, memory=limit)
    with terminal.doing(f"Fitting {len(prepared.X):,} rows"):
        fitted = _fit(request, prepared)
        found = view(fitted.model)
    with terminal.doing("Writing the results"):
        notes = _write_rows(folder / request.results, request, prepared, fitted, found)
        save(fitted.named_pipeline, folder / MODEL)
    run = Run(
        command=request.command,
        method=request.method,
        table_choice=request.table,
        run_choice=request.run,
        prepared=prepared,
        fitted=fitted,
        found=found,
        notes=notes,
    )
    if request.report:
        with terminal.doing("Drawing the report"):
            names, values, scaled = fitted.names, prepared.X, fitted.scaled
            rows = PageRows(names, values, scaled, notes.columns, notes.numbers)
            write_page(folder / REPORT, record_of(run), model=fitted.model, rows=rows, found=found)
    run = replace(run, seconds=time.perf_counter() - began)
    record = json.dumps(record_of(run), indent=2, ensure_ascii=False)
    # Names of files may hold bytes that are no text; they are kept as they are.
    (folder / RECORD).write_text(f"{record}\n", encoding="utf-8", errors="surrogateescape")
    return run


def _fit(request: Request, prepared: PreparedRows) -> FittedModel:
    return fit_rows(
        request.estimator,
        prepared.X,
        names=prepared.numeric.names,
        scale=request.table.scale,
        fill_in=request.table.missing == "median",
    )


def _write_rows(
    path: Path, request: Request, prepared: PreparedRows, fitted: FittedModel, found: FittedView
) -> FileNotes:
    """Write the rows with what was found, and note what the file says about the notable ones."""
    number = np.flatnonzero(prepared.kept)
    typical = typical_rows(found, number)
    atypical = explained_rows(
        found,
        number,
        names=prepared.numeric.names,
        values=prepared.X,
        scaled=fitted.scaled,
        at_most=request.n_atypical,
    )
    left_out = [column.name for column in prepared.numeric.left_out]
    notes = FileNotes(prepared.kept, left_out, typical=typical, atypical=atypical)
    extra = masked_columns(found.columns, prepared.kept)
    with open(path, "xb") as stream:
        notes.write(stream, prepared.table.blocks(), extra)
    return notes
