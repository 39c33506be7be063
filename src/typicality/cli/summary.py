"""What a run found, for a person at a terminal."""

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from typicality.cli.console import Terminal, shown
from typicality.cli.methods import METHODS
from typicality.cli.notable import NotableRow
from typicality.cli.run import Run
from typicality.cli.run_folder import MODEL, RECORD, REPORT
from typicality.cli.words import counted, listed, number, place, share

__all__ = ["say_files", "say_summary"]

_MOST_CLUSTERS = 12  # listed one by one


def say_summary(terminal: Terminal, run: Run) -> None:
    """Print what was found."""
    terminal.say(_about_data(run))
    terminal.say()
    terminal.say(Text(_headline(run), style="bold"))
    if not run.finds_outliers and len(run.sizes):
        terminal.say(_clusters(run))
    atypical = _atypical(run)
    if atypical.row_count:
        terminal.say()
        terminal.say(_about_atypical(run))
        terminal.say(atypical)
    terminal.say()
    terminal.say(_about_method(run))


def say_files(terminal: Terminal, folder: Path, *, results: str, has_report: bool) -> None:
    """Print where the results are, the report as the last line."""
    written = [results, f"{MODEL}/", RECORD]
    terminal.say_path(f"Written: {', '.join(written)} in ", f"{folder}/")
    if has_report:
        terminal.say_path("Open the report: ", folder / REPORT)


def _about_data(run: Run) -> str:
    prepared, numeric = run.prepared, run.prepared.numeric
    used = f"{counted(len(numeric.names), 'column')} ({listed([shown(n) for n in numeric.names])})"
    sentences = [f"{prepared.table.name}: {counted(prepared.n_rows, 'row')}, {used}."]
    if numeric.left_out:
        reasons = [f"{shown(column.name)} ({column.reason})" for column in numeric.left_out]
        sentences.append(f"Left out: {listed(reasons)}.")
    if prepared.n_dropped:
        rows = counted(prepared.n_dropped, "row")
        sentences.append(f"{rows} with missing values took no part (--missing drop).")
    elif run.table_choice.missing == "median" and numeric.n_missing.sum():
        filled = counted(int(numeric.n_missing.sum()), "missing value")
        sentences.append(f"{filled} became the median of the column.")
    return " ".join(sentences)
