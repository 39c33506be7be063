"""The report of a run that was kept: what `typicality report` does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typicality._words import counted
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError
from typicality.cli.notable import FileNotes
from typicality.cli.options import TableChoice
from typicality.cli.page import PageRows, write_page
from typicality.cli.preparing import PreparedRows, open_chosen, prepare_rows
from typicality.cli.run_folder import REPORT, SavedRun, open_run, require_free
from typicality.cli.score import load_pipeline
from typicality.tables import TableFile


def report_on_run(
    model: str, file: str | None, *, output: str | None, force: bool, quiet: bool
) -> None:
    """Draw the page of a run anew.

    Parameters
    ----------
    model : str
        The folder of a run, or the folder of its model.
    file : str or None
        The rows; None for the file that the run was made from.
    output : str or None
        The page; None for report.html in the folder of the run.
    force : bool
        Whether a page that is there is replaced.
    quiet : bool
        Whether nothing is printed but errors.
    """
    terminal = Terminal(quiet=quiet)
    saved = open_run(Path(model))
    record = _record_of(saved, model)
    path = Path(output) if output is not None else saved.model_folder.parent / REPORT
    require_free(path, force=force)
    with terminal.doing(f"Loading {saved.model_folder}"):
        pipeline = load_pipeline(saved)
    choice = _choice_of(record, file)
    with open_chosen(choice) as table:
        with terminal.doing(f"Reading {table.name}"):
            prepared = prepare_rows(table, choice)
            _check_same_rows(prepared, record, given=file is not None)
            notes = _notes_on(table, prepared, record)
        with terminal.doing("Drawing the report"):
            _draw(path, record, pipeline, prepared, notes, force=force)
    terminal.say_path("Open the report: ", path)


def _record_of(saved: SavedRun, model: str) -> dict[str, Any]:
    if saved.record is None:
        raise UnusableError(
            f"{model} has no run.json, which says what was run on what; give the folder that "
            "`typicality cluster` or `typicality outliers` has written."
        )
    return saved.record


def _path_of(record: Mapping[str, Any]) -> str:
    path = record["data"]["path"]
    if path is None:
        raise UnusableError(
            "The rows of this run came from standard input; give a file with the same rows: "
            "typicality report MODEL FILE."
        )
    if not Path(path).exists():
        raise UnusableError(
            f"{path}, the file of this run, is gone; say where it is now: typicality report MODEL "
            "FILE."
        )
    return str(path)


def _choice_of(record: Mapping[str, Any], file: str | None) -> TableChoice:
    """The columns of the run, whatever else the file holds by now."""
    data = record["data"]
    return TableChoice(
        file=_path_of(record) if file is None else file,
        format=data["format"] if file is None else None,
        delimiter=data["delimiter"],
        header=data["header"],
        columns=tuple(data["columns"]),
        ignore=(),
        scale=record["preparation"]["parameters"]["scale"],
        missing=data["missing"],
    )


def _check_same_rows(prepared: PreparedRows, record: Mapping[str, Any], *, given: bool) -> None:
    if given or prepared.numeric.fingerprint == record["data"]["fingerprint"]:
        return
    raise UnusableError(
        f"{prepared.table.name} has changed since the run; run `{record['command']}` again, or "
        "name a file with the rows of the run: typicality report MODEL FILE."
    )


def _notes_on(table: TableFile, prepared: PreparedRows, record: Mapping[str, Any]) -> FileNotes:
    """The lines of the rows, and the text of columns the run left out, if the file has them."""
    left_out = [column["name"] for column in record["data"]["columns_left_out"]]
    notes = FileNotes(prepared.kept, [name for name in left_out if name in table.names])
    for block in table.blocks():
        notes.take(block)
    return notes


def _draw(
    path: Path,
    record: Mapping[str, Any],
    pipeline: Any,
    prepared: PreparedRows,
    notes: FileNotes,
    *,
    force: bool,
) -> None:
    scaler, model = pipeline["columns"], pipeline["model"]
    names = [str(name) for name in scaler.feature_names_in_]
    del scaler.feature_names_in_  # rows are arrays, their columns taken by name
    rows = PageRows(names, prepared.X, scaler.transform(prepared.X), notes.columns, notes.numbers)
    try:
        write_page(
            path,
            record,
            model=model,
            rows=rows,
            overwrite=force,
            notes=_other_rows(prepared, record),
        )
    except ValueError as error:
        raise UnusableError(f"{prepared.table.name} cannot be drawn: {error}") from error


def _other_rows(prepared: PreparedRows, record: Mapping[str, Any]) -> list[tuple[str, str]]:
    if prepared.numeric.fingerprint == record["data"]["fingerprint"]:
        return []
    n_rows, name = counted(len(prepared.X), "row"), prepared.table.name
    return [("Rows", f"Drawn for the {n_rows} of {name}, not for those of the fit.")]
