"""What `typicality compare` does: read, compare, print, write."""

import csv
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from typicality import __version__
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import RunChoice, TableChoice
from typicality.cli.preparing import PreparedRows, open_chosen, prepare_rows
from typicality.cli.resources import within
from typicality.cli.run_folder import folder_if_named
from typicality.cli.run_record import RECORD_FORMAT, data_of, versions
from typicality.cli.summary import about_data
from typicality.comparison import Comparison, compare_methods
from typicality.comparison.methods import chosen_methods
from typicality.comparison.tables import (
    TextTable,
    agreement_table,
    clusterer_table,
    detector_table,
)
from typicality.preprocessing import ColumnScaler
from typicality.tables import masked_columns, write_table

_FILES = ("comparison.json", "comparison.csv", "labels.csv")
_ROWS_WORTH_PROCESSES = 2_000  # with fewer, to start processes takes longer than the fits


@dataclass(frozen=True)
class CompareChoice:
    """The options of `compare` alone.

    Parameters
    ----------
    methods : tuple of str
        The methods; all where it is empty.
    clusters : int or None
        The number of clusters for methods that must be told.
    rate : float
        The nominal rate of outliers.
    repeats : int
        The number of refits.
    max_rows : int
        The most rows that are compared.
    """

    methods: tuple[str, ...]
    clusters: int | None
    rate: float
    repeats: int
    max_rows: int


def run_comparison(
    table: TableChoice, choice: CompareChoice, run: RunChoice, command: tuple[str, ...]
) -> None:
    """Compare the methods on the rows of a file, print the result, and write it where asked to."""
    terminal = Terminal(quiet=run.quiet, as_json=run.as_json)
    _check_methods(choice.methods)
    with (
        within(jobs=run.jobs, memory=run.memory),
        folder_if_named(run.output, force=run.force, ours=_FILES) as folder,
        open_chosen(table) as opened,
    ):
        with terminal.doing(f"Reading {opened.name}") as tell:
            memory = None if run.memory is None else int(run.memory * 1e9)
            rows = prepare_rows(opened, table, memory=memory)
            found = _compared(rows, table, choice, run, tell)
        record = _record(found, rows, table, command)
        if folder is not None:
            _write(folder, found, rows, record)
    if run.as_json:
        terminal.json(record)
    _tell(terminal, found, about_data(rows, table.missing))
    if run.output is not None:
        terminal.say_path(f"\nWritten: {', '.join(_FILES)} in ", f"{Path(run.output)}/")


def _check_methods(names: tuple[str, ...]) -> None:
    try:
        chosen_methods(names or None)
    except ValueError as error:
        raise WrongUseError(str(error).replace("methods has", "--methods has")) from error


def _compared(
    rows: PreparedRows, table: TableChoice, choice: CompareChoice, run: RunChoice, tell: Any
) -> Comparison:
    missing = "median" if table.missing == "median" else "error"
    Z = ColumnScaler(scale=table.scale, missing=missing).fit_transform(rows.X)
    processes = -1 if min(len(Z), choice.max_rows) >= _ROWS_WORTH_PROCESSES else 1
    try:
        return compare_methods(
            Z,
            methods=choice.methods or None,
            n_clusters="auto" if choice.clusters is None else choice.clusters,
            contamination=choice.rate,
            n_repeats=choice.repeats,
            random_state=run.seed,
            n_jobs=run.jobs or processes,
            max_rows=choice.max_rows,
            progress=lambda done, total, words: tell(f"{words} (step {done + 1} of {total})"),
        )
    except ValueError as error:
        raise UnusableError(_of_the_file(str(error), rows.table.name)) from error


def _of_the_file(message: str, name: str) -> str:
    """A message of the library in the words of the command line."""
    return re.sub(r"\bn_clusters\b", "--clusters", re.sub(r"\bX\b", lambda _: name, message))


# ---- what is printed -----------------------------------------------------------------------------


def _tell(terminal: Terminal, found: Comparison, about: str) -> None:
    terminal.say(about)
    for text, words in _tables(found):
        terminal.say(Text(f"\n{text.title}", style="bold"))
        terminal.say(_rich(text))
        if words:
            terminal.say(words)
    terminal.say(Text("\nFindings", style="bold"))
    for sentence in found.findings:
        terminal.say(f"- {sentence}")
    terminal.say(Text("\nHow it was measured", style="bold"))
    for sentence in found.notes:
        terminal.say(f"- {sentence}")
    warned = [(result.name, result.warnings) for result in found.clusterers]
    warned += [(result.name, result.warnings) for result in found.detectors]
    terminal.warn([f"{name}: {text}" for name, texts in warned for text in texts])


def _tables(found: Comparison) -> Iterator[tuple[TextTable, str]]:
    """Each table, and a line below it."""
    if found.clusterers:
        yield clusterer_table(found.clusterers), ""
    if len(found.labels) > 1:
        table = agreement_table(
            "Agreement of clusters", found.label_agreement, found.placed_agreement
        )
        yield (
            table,
            "Adjusted Rand index; above the diagonal of all rows, below it of the rows that both "
            "put in a cluster.",
        )
    if found.detectors:
        yield detector_table(found.detectors), ""
    if len(found.flagged) > 1:
        table = agreement_table("Agreement on outliers", found.rank_agreement, found.flag_agreement)
        yield (
            table,
            "Above the diagonal Spearman's correlation of scores, below it the Jaccard index of "
            "the rows flagged.",
        )


def _rich(text: TextTable) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for place, heading in enumerate(text.header):
        table.add_column(heading, justify="left" if place == 0 else "right", no_wrap=True)
    for cells in text.rows:
        table.add_row(*map(Text, cells))
    return table


# ---- what is written -----------------------------------------------------------------------------


def _record(
    found: Comparison, rows: PreparedRows, table: TableChoice, command: tuple[str, ...]
) -> dict[str, Any]:
    """The result, and all it takes to repeat it."""
    return {
        "format": RECORD_FORMAT,
        "made_by": f"typicality {__version__}",
        "command": shlex.join(command),
        "arguments": list(command),
        "data": data_of(rows, table),
        "scale": table.scale,
        "versions": versions(),
        **found.to_dict(),
    }


def _write(folder: Path, found: Comparison, rows: PreparedRows, record: dict[str, Any]) -> None:
    with open(folder / "comparison.json", "x", encoding="utf-8") as stream:
        json.dump(record, stream, indent=2, ensure_ascii=False)
        stream.write("\n")
    with open(folder / "comparison.csv", "x", encoding="utf-8", newline="") as stream:
        entries = record["clusterers"] + record["detectors"]
        names = dict.fromkeys(name for entry in entries for name in entry)
        writer = csv.DictWriter(stream, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in e.items()} for e in entries)
    columns = masked_columns(_columns(found), _compared_rows(found, rows))
    with open(folder / "labels.csv", "xb") as stream:
        write_table(stream, rows.table, columns)


def _cell(value: Any) -> Any:
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def _columns(found: Comparison) -> dict[str, NDArray[Any]]:
    """Labels of the clusterers, and 1 for the outliers of the detectors."""
    labels = {f"label_{_identifier(name)}": labels for name, labels in found.labels.items()}
    flags = {f"outlier_{_identifier(n)}": f.astype(np.int8) for n, f in found.flagged.items()}
    return labels | flags


def _identifier(name: str) -> str:
    return re.sub(r"\W+", "_", name)


def _compared_rows(found: Comparison, rows: PreparedRows) -> NDArray[np.bool_]:
    """Which rows of the file were compared: those kept, or a sample of them."""
    compared = np.zeros(rows.n_rows, dtype=bool)
    compared[np.flatnonzero(rows.kept)[found.rows]] = True
    return compared
