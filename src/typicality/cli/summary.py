"""What a run found, for a person at a terminal."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from typicality._estimators import ESTIMATORS
from typicality._words import counted, share
from typicality.cli.console import Terminal, number, numbers, place, shown
from typicality.cli.notable import NotableRow
from typicality.fitted import chosen_method

if TYPE_CHECKING:
    from typicality.cli.run import Run

_MOST_CLUSTERS = 12  # listed one by one
_ONE_CLUSTER = (
    "No gap between groups was found. Groups that overlap have none: --at-least 2 gives the best "
    "split, and typicality compare shows what other methods see."
)
_UNUSUAL = "unusual in (by so many spreads)"
_TELLING = 0.5  # spreads: a smaller deviation explains nothing, here as on the page


def say_summary(terminal: Terminal, run: "Run") -> None:
    """Print what was found."""
    adjective = "certain" if run.view.strength_name == "largest membership" else "typical"
    name = _telling_column(run)
    heading = "" if name is None else f", {shown(name, 24)}"

    def which(row: NotableRow) -> str:
        """A row by its line, and by a text of the file that tells it from others."""
        text = "" if name is None else shown(row.cells[name], 24)
        return f"{place(row.row, row.line)}  {text}".rstrip()

    terminal.say(run.rows.summary())
    terminal.say()
    terminal.say(Text(_headline(run), style="bold"))
    if not run.finds_outliers and len(run.sizes):
        terminal.say(_clusters(run, f"most {adjective} row{heading}", which))
    if run.method == "auto":  # the parameter as the option is typed
        terminal.say(re.sub(r"\bat_least=(\d+)", r"--at-least \1", run.model.explanation_))
    if run.method == "alpha-cut" and len(run.sizes) == 1:
        terminal.say(_ONE_CLUSTER)
    rows = [row for row in run.notes.atypical if row.label < 0 or not run.finds_outliers]
    if rows:
        n_outliers = run.view.n_unassigned
        worst = "The worst first:" if len(rows) == n_outliers else f"The {len(rows)} worst:"
        terminal.say()
        terminal.say(worst if run.finds_outliers else f"The least {adjective} rows:")
        terminal.say(_atypical(run, rows, f"row{heading}", which))
    model = chosen_method(run.model)
    kind = type(model).__name__
    meaning = f": {ESTIMATORS[kind].meaning}" if kind in ESTIMATORS else ""
    took = f"{counted(model.n_iter_, 'iteration')}, {run.seconds['all']:.1f} s in all"
    terminal.say()
    terminal.say(f"By {kind}{meaning}; {took}.\nHow it was computed: {model.plan_.reason}")


def _telling_column(run: "Run") -> str | None:
    """The column of text that tells most of the notable rows apart."""
    rows = (*run.notes.typical, *run.notes.atypical)
    distinct = {name: len({row.cells[name] for row in rows}) for name in run.notes.columns}
    telling = [name for name, n_texts in distinct.items() if n_texts > 1]
    return max(telling, key=lambda name: distinct[name], default=None)


def _headline(run: "Run") -> str:
    n_rows, n_unassigned = run.view.n_rows, run.view.n_unassigned
    if run.finds_outliers:
        outliers = f"{counted(n_unassigned, 'outlier')} among {counted(n_rows, 'row')}"
        return f"{outliers}, at a nominal rate of {run.model.contamination:g}."
    clusters = counted(len(run.sizes), "cluster")
    if not n_unassigned:
        return f"{clusters}; every row belongs to one."
    nowhere = f"{counted(n_unassigned, 'row')} ({share(n_unassigned, n_rows)})"
    return f"{clusters}; {nowhere} belong{'s' if n_unassigned == 1 else ''} nowhere."


def _clusters(run: "Run", heading: str, which: Callable[[NotableRow], str]) -> Table:
    """A line for each cluster, the first ones only where there are many."""
    typical = {row.label: which(row) for row in run.notes.typical}
    first, rest = run.sizes[:_MOST_CLUSTERS].tolist(), run.sizes[_MOST_CLUSTERS:].tolist()
    lines = [(str(label), size, typical.get(label, "")) for label, size in enumerate(first)]
    if rest:
        lines.append((f"{len(rest):,} more", sum(rest), ""))
    if run.view.n_unassigned:
        lines.append(("nowhere", run.view.n_unassigned, ""))
    table = _table("cluster", "rows", "share", heading)
    for label, size, row in lines:
        table.add_row(label, f"{size:,}", share(size, run.view.n_rows), row)
    return table


def _atypical(
    run: "Run", rows: list[NotableRow], heading: str, which: Callable[[NotableRow], str]
) -> Table:
    """The least typical rows, the worst first."""
    more: list[tuple[str, ...]]
    if run.finds_outliers:
        table = _table(heading, "score", _UNUSUAL)
        more = [(_reasons(row),) for row in rows]
    elif rows[0].rivals:
        table = _table(heading, "membership", "between clusters")
        more = [(" and ".join(map(str, row.rivals)),) for row in rows]
    else:
        table = _table(heading, "typicality", "cluster", _UNUSUAL)
        more = [(str(row.label) if row.label >= 0 else "nowhere", _reasons(row)) for row in rows]
    strengths = numbers([row.strength for row in rows])
    for row, strength, cells in zip(rows, strengths, more, strict=True):
        table.add_row(which(row), strength, *cells)
    return table


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


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    on_the_right = ("rows", "share", "typicality", "membership", "score")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in on_the_right else "left")
    return table
