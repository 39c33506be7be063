"""What a run found, for a person at a terminal."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from typicality._estimators import ESTIMATORS
from typicality._words import counted, listed, share
from typicality.cli.console import Terminal, shown
from typicality.cli.notable import NotableRow
from typicality.cli.preparing import PreparedRows
from typicality.cli.run import Run
from typicality.cli.run_folder import MODEL, RECORD, REPORT
from typicality.cli.words import number, numbers, place
from typicality.fitted import chosen_method

_MOST_CLUSTERS = 12  # listed one by one
_MOST_LEFT_OUT = 5
_ONE_CLUSTER = (
    "No gap between groups was found. Groups that overlap have none: --at-least 2 gives the best "
    "split, and typicality compare shows what other methods see."
)
_UNUSUAL = "unusual in (by so many spreads)"
_TELLING = 0.5  # spreads: a smaller deviation explains nothing, here as on the page


def say_summary(terminal: Terminal, run: Run) -> None:
    """Print what was found."""
    terminal.say(about_data(run.prepared, run.table_choice.missing))
    terminal.say()
    terminal.say(Text(_headline(run), style="bold"))
    if not run.finds_outliers and len(run.sizes):
        terminal.say(_clusters(run))
    if run.method == "auto":
        terminal.say(_explanation(run.model))
    if run.method == "alpha-cut" and len(run.sizes) == 1:
        terminal.say(_ONE_CLUSTER)
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


def about_data(prepared: PreparedRows, missing: str) -> str:
    """Which rows and columns of a file were used, and why not the others."""
    numeric = prepared.numeric
    used = f"{counted(len(numeric.names), 'column')} ({listed([shown(n) for n in numeric.names])})"
    sentences = [f"{prepared.table.name}: {counted(prepared.n_rows, 'row')}, {used}."]
    if numeric.left_out:
        reasons = [f"{shown(column.name)}, {column.reason}" for column in numeric.left_out]
        more = len(reasons) - _MOST_LEFT_OUT
        others = [f"and {more:,} more"] if more > 0 else []
        sentences.append(f"Left out: {'; '.join([*reasons[:_MOST_LEFT_OUT], *others])}.")
    for name, n_values in prepared.doubtful.items():
        sentences.append(
            f"{shown(name)} takes part, with {n_values:.0f} values: if it is a class and no "
            f"measurement, leave it out with --ignore {shown(name)}."
        )
    if prepared.n_dropped:
        rows = counted(prepared.n_dropped, "row")
        sentences.append(f"{rows} with missing values took no part (--missing drop).")
    elif missing == "median" and numeric.n_missing.sum():
        filled = counted(int(numeric.n_missing.sum()), "missing value")
        sentences.append(f"{filled} became the median of the column.")
    return " ".join(sentences)


def _headline(run: Run) -> str:
    n_rows = run.found.n_rows
    if run.finds_outliers:
        outliers = f"{counted(run.n_nowhere, 'outlier')} among {counted(n_rows, 'row')}"
        return f"{outliers}, at a nominal rate of {run.model.contamination:g}."
    clusters = counted(len(run.sizes), "cluster")
    if not run.n_nowhere:
        return f"{clusters}; every row belongs to one."
    nowhere = f"{counted(run.n_nowhere, 'row')} ({share(run.n_nowhere, n_rows)})"
    return f"{clusters}; {nowhere} belong{'s' if run.n_nowhere == 1 else ''} nowhere."


def _clusters(run: Run) -> Table:
    """A line for each cluster, the first ones only where there are many."""
    table = _table("cluster", "rows", "share", _heading(run, f"most {_adjective(run)} row"))
    typical = {row.label: _which(run, row) for row in run.notes.typical}
    n_rows = run.found.n_rows
    for label, size in enumerate(run.sizes[:_MOST_CLUSTERS].tolist()):
        table.add_row(str(label), f"{size:,}", share(size, n_rows), typical.get(label, ""))
    rest = run.sizes[_MOST_CLUSTERS:]
    more = [(f"{len(rest):,} more", int(rest.sum()))] if len(rest) else []
    nowhere = [("nowhere", run.n_nowhere)] if run.n_nowhere else []
    for words, size in (*more, *nowhere):
        table.add_row(words, f"{size:,}", share(size, n_rows), "")
    return table


def _atypical(run: Run) -> Table:
    """The least typical rows, the worst first; outliers only where those were looked for."""
    if run.finds_outliers:
        table = _table(_heading(run, "row"), "score", _UNUSUAL)
        for row, score in _with_strength(_outliers_among(run.notes.atypical)):
            table.add_row(_which(run, row), score, _reasons(row))
    elif _adjective(run) == "certain":
        table = _table(_heading(run, "row"), "membership", "between clusters")
        for row, membership in _with_strength(run.notes.atypical):
            between = " and ".join(map(str, row.rivals))
            table.add_row(_which(run, row), membership, between)
    else:
        table = _table(_heading(run, "row"), "typicality", "cluster", _UNUSUAL)
        for row, typicality in _with_strength(run.notes.atypical):
            cluster = str(row.label) if row.label >= 0 else "nowhere"
            table.add_row(_which(run, row), typicality, cluster, _reasons(row))
    return table


def _with_strength(rows: Sequence[NotableRow]) -> Iterator[tuple[NotableRow, str]]:
    return zip(rows, numbers([row.strength for row in rows]), strict=True)


def _about_atypical(run: Run) -> str:
    if not run.finds_outliers:
        return f"The least {_adjective(run)} rows:"
    n_shown = len(_outliers_among(run.notes.atypical))
    return "The worst first:" if n_shown == run.n_nowhere else f"The {n_shown} worst:"


def _outliers_among(rows: Sequence[NotableRow]) -> list[NotableRow]:
    return [row for row in rows if row.label < 0]


def _adjective(run: Run) -> str:
    return "certain" if run.found.strength_name == "largest membership" else "typical"


def _which(run: Run, row: NotableRow) -> str:
    """A row by its line, and by a text of the file that tells it from others, if there is one."""
    name = _telling_column(run)
    text = "" if name is None else shown(row.cells[name], 24)
    return f"{place(row.row, row.line)}  {text}".rstrip()


def _heading(run: Run, words: str) -> str:
    """The heading of rows, with the name of the column whose text stands beside them."""
    name = _telling_column(run)
    return words if name is None else f"{words}, {shown(name, 24)}"


def _telling_column(run: Run) -> str | None:
    """The column of text that tells most of the notable rows apart."""
    rows = (*run.notes.typical, *run.notes.atypical)
    distinct = {name: len({row.cells[name] for row in rows}) for name in run.notes.columns}
    telling = [name for name, n_texts in distinct.items() if n_texts > 1]
    return max(telling, key=lambda name: distinct[name], default=None)


def _reasons(row: NotableRow) -> str:
    """The columns that matter: the first, and a second one if it is nearly as far off."""
    first, *others = row.reasons or (None,)
    if first is None or abs(first.deviations) < _TELLING:
        return "no single column"
    close = [reason for reason in others if abs(reason.deviations) >= abs(first.deviations) / 2]
    return "\n".join(
        f"{shown(reason.column, 20)} {number(reason.value)} ({reason.deviations:+.1f})"
        for reason in (first, *close[:1])
    )


def _explanation(model: Any) -> str:
    """The sentence of the automatic method, its parameter as the option is typed."""
    return re.sub(r"\bat_least=(\d+)", r"--at-least \1", model.explanation_)


def _about_method(run: Run) -> str:
    model = chosen_method(run.model)
    name = type(model).__name__
    meaning = f": {ESTIMATORS[name].meaning}" if name in ESTIMATORS else ""
    took = f"{counted(model.n_iter_, 'iteration')}, {run.seconds:.1f} s in all"
    return f"By {name}{meaning}; {took}.\nHow it was computed: {model.plan_.reason}"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    on_the_right = ("rows", "share", "typicality", "membership", "score")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in on_the_right else "left")
    return table
