"""Tables for the terminal and for a markdown file, verdicts, and a word on the machine."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["Report", "Verdict", "machine"]

_WIDTH = 124
_LIBRARIES = ("numpy", "numba", "scikit-learn", "scikit-fuzzy", "typicality")
_COLOURS = {"PASS": "green", "FAIL": "red", "UNSURE": "yellow"}


@dataclass(frozen=True)
class Verdict:
    """A target and whether each of the measurements that speak to it meets it."""

    target: str
    measured: str
    met: tuple[bool, ...]

    @property
    def word(self) -> str:
        """PASS where all measurements meet the target, FAIL where none does, else UNSURE."""
        if all(self.met):
            return "PASS"
        return "UNSURE" if any(self.met) else "FAIL"


class Report:
    """Prints as it goes and keeps the same as markdown."""

    def __init__(self) -> None:
        console = Console()
        self._console = Console(width=max(_WIDTH, console.width) if console.is_terminal else _WIDTH)
        self._markdown: list[str] = []
        self.missed = False  # whether a target was

    def progress(self, text: str) -> None:
        """Say what is going on; not kept."""
        self._console.print(f"[dim]{escape(text)} ...[/dim]")

    def line(self, text: str) -> None:
        """A line of text."""
        self._console.print(escape(text), highlight=False, soft_wrap=True)
        self._markdown += [text, ""]

    def table(self, title: str, columns: list[str], rows: Iterable[list[str]]) -> None:
        """A table whose first column is text and whose others are numbers."""
        rows = list(rows)
        table = Table(title=title, title_justify="left")
        for i, column in enumerate(columns):
            table.add_column(column, justify="right" if i else "left")
        for row in rows:
            table.add_row(*map(escape, row))
        self._console.print(table)
        self._markdown += [f"## {title}", "", *_markdown_rows(columns, rows), ""]

    def verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """One line for each target."""
        for verdict in verdicts:
            colour = _COLOURS[verdict.word]
            text = f"{verdict.target}: {verdict.measured}"
            self._console.print(
                f"[bold {colour}]{verdict.word:6}[/] {escape(text)}", highlight=False
            )
            self._markdown.append(f"- **{verdict.word}** {text}")
            self.missed |= verdict.word != "PASS"

    def write(self, path: Path) -> None:
        """Write all that was printed as markdown."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self._markdown) + "\n", encoding="utf-8")


def _markdown_rows(columns: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---"] + ["---:"] * (len(columns) - 1)
    return ["| " + " | ".join(cells) + " |" for cells in (columns, rule, *rows)]


def machine(*peers: str) -> list[str]:
    """Cores, processor, load, and versions of the libraries and of peers."""
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    libraries = ", ".join(map(_version, [*_LIBRARIES, *peers]))
    return [
        f"{_n_cores()} cores, {_processor()}; load average before the start {load}",
        f"Python {platform.python_version()}, {libraries}",
    ]


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"{library} (not installed)"


def _n_cores() -> int:
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
