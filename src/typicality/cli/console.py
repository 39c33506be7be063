"""What is printed: results on stdout, progress and warnings on stderr."""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import floor, isnan
from typing import TYPE_CHECKING, Any

from typicality._words import for_people, printable, printable_json, shown_path

if TYPE_CHECKING:
    from rich.console import Console

_MINUTE = 60  # seconds
_COLOUR = re.compile(r"(\x1b\[[\d;]*m)")


class Terminal:
    """Prints to people: widths, colours and progress as the terminal allows.

    Text of the user's data goes through rich as plain text: nothing in it is markup.

    Parameters
    ----------
    quiet : bool
        Whether only errors are printed.
    as_json : bool
        Whether stdout is for JSON: then what people read is not printed.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        from rich.console import Console

        class Plain(Console):
            def on_broken_pipe(self) -> None:
                raise

        plain: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}
        self._out = Plain(file=sys.stdout, quiet=quiet or as_json, **plain)
        self._err = Plain(file=sys.stderr, quiet=quiet, **plain)
        for console in (self._out, self._err):
            if console.width < 1:  # COLUMNS=0 stands for a width that nobody knows
                console.width = 80

    def say(self, *things: Any) -> None:
        """Print a sentence, or a table, on stdout."""
        _print(self._out, *things)

    def say_heading(self, words: str) -> None:
        """Print a heading after a blank line."""
        from rich.text import Text

        self.say(Text(f"\n{words}", style="bold"))

    def say_path(self, words: str, path: str | os.PathLike[str]) -> None:
        """Print words and a path on a line that is never broken, so that it can be copied."""
        _print(self._out, f"{words}{shown_path(path)}", soft_wrap=True)

    def warn(self, sentences: Sequence[str]) -> None:
        """Print each warning as a paragraph on stderr."""
        from rich.text import Text

        for sentence in sentences:
            _print(self._err, Text.assemble(("Warning: ", "bold yellow"), printable(sentence)))

    def json(self, value: Any) -> None:
        """Print a value as JSON on stdout, and nothing else."""
        import json

        sys.stdout.write(printable_json(json.dumps(value, indent=2, ensure_ascii=False)) + "\n")

    @contextmanager
    def doing(self, words: str, total: float | None = None) -> Iterator[Callable[..., None]]:
        """Show what is being done, and for how long, or how far it is of a total.

        On a terminal a line shows it; elsewhere, a line is printed each minute. The block gets a
        function of how much is done, and of words if these change.
        """
        if self._err.quiet or not self._err.is_terminal:
            with self._telling(words, total) as update:
                yield update
            return
        from rich import progress

        from typicality.compiled.small import announcing

        shown: list[Any] = [progress.TextColumn("{task.description}", markup=False)]
        if total is None:
            shown = [progress.SpinnerColumn(), *shown, progress.TimeElapsedColumn()]
        else:
            shown += [progress.BarColumn(), progress.TaskProgressColumn()]
            shown += [progress.TimeRemainingColumn(), "left"]
        line = progress.Progress(*shown, console=self._err, transient=True)
        with line, announcing(self._say_compiling):
            task = line.add_task(printable(words), total=total)
            yield lambda done=0.0, words=words: line.update(
                task, completed=done, description=printable(words)
            )

    @contextmanager
    def _telling(self, words: str, total: float | None) -> Iterator[Callable[..., None]]:
        """The lines of `doing` where stderr is no terminal, printed by a thread."""
        over, began, now = threading.Event(), time.monotonic(), (0.0, words)

        def update(done: float = 0.0, words: str = words) -> None:
            nonlocal now
            now = done, words

        def tell() -> None:
            while not over.wait(_MINUTE):
                done = "" if total is None else f" {100 * now[0] / total:.0f} %,"
                minutes = (time.monotonic() - began) / _MINUTE
                _print(self._err, f"{now[1]}:{done} {minutes:.0f} min")

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        try:
            yield update
        finally:
            over.set()
            thread.join()

    @contextmanager
    def fitting(self, words: str, rows: Any = None) -> Iterator[None]:
        """Show how far a fit is, on a terminal; the bar never goes back.

        Of rows that are read block by block, it shows which pass is under way.
        """
        from typicality._progress import followed_by

        farthest = 0.0
        with self.doing(words, 1.0) as update:

            def show(share: float) -> None:
                nonlocal farthest
                farthest = max(farthest, share)
                update(farthest)

            if rows is None:
                with followed_by(show):
                    yield
                return
            rows.watch = lambda number, n: update(n / rows.n_rows, f"{words}, pass {number}")
            try:
                yield
            finally:
                rows.watch = None

    def _say_compiling(self) -> None:
        self._err.print(
            "Compiling code for a table of this size, once on this machine; `typicality warm-up` "
            "compiles all code in advance."
        )


def _print(console: "Console", *things: Any, soft_wrap: bool = False) -> None:
    """Print without the blanks that rich fills lines up with; of escapes, colours alone pass."""
    things = tuple(printable(thing) if isinstance(thing, str) else thing for thing in things)
    with console.capture() as captured:
        console.print(*things, soft_wrap=soft_wrap)
    parts = _COLOUR.split("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))
    parts[::2] = map(printable, parts[::2])
    console.file.write("".join(parts))


def shown(text: str, at_most: int = 40) -> str:
    """Text of a file as it may be printed: on one line, short, without control characters."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text.strip())
    if len(plain) <= at_most:
        return plain
    end = (at_most - 1) // 2  # names differ at their ends more often than in their middle
    return f"{plain[: at_most - 1 - end]}…{plain[-end:]}"


def shown_value(value: float | str, name: str) -> str:
    """A number or a category of a column, as people write it."""
    if isinstance(value, str):
        return shown(value) or "missing"
    return "missing" if isnan(value) else for_people(value, name)


def shown_apart(texts: Iterable[str], at_most: int) -> dict[str, str]:
    """Texts cut to a length, or longer where two of them would look alike."""
    texts = list(dict.fromkeys(texts))
    while True:
        short = {text: shown(text, at_most) for text in texts}
        if len(set(short.values())) == len({shown(text, 10**6) for text in texts}):
            return short
        at_most += 4


def percentages(shares: Sequence[float], n_rows: int) -> list[str]:
    """Shares of rows in per cent, with the digits that so many rows allow; never rounded up."""
    digits = min(max(len(str(n_rows)) - 2, 1), 4)
    unit = 10.0**digits
    return [f"{floor(100 * share * unit + 1e-6) / unit:.{digits}f} %" for share in shares]


def numbers(values: Sequence[float]) -> list[str]:
    """Numbers in the same digits, the fewest from four on that tell them apart."""
    for digits in range(4, 10):
        texts = [f"{value:#.{digits}g}" for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def place(row: int, line: int | None) -> str:
    """Where a row is: its line, or its number where the file has no lines."""
    return f"line {line}" if line is not None else f"row {row}"


def rich_table(lines: Sequence[Sequence[Any]], *, right: Container[str] | None = None) -> Any:
    """A header and rows of cells: columns with a heading in `right` are aligned to the right.

    By default these are all but the first, and no line is broken.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for k, heading in enumerate(lines[0]):
        is_right = k > 0 if right is None else heading in right
        justify: Any = "right" if is_right else "left"
        table.add_column(heading, justify=justify, no_wrap=right is None)
    for cells in lines[1:]:
        table.add_row(*cells)
    return table
