"""The loop that judges the rows of a file and writes them, and what is kept for the results."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from typicality._files import atomic_file
from typicality._threads import stream_in_threads
from typicality._typing import Doubles, Places
from typicality.cli.console import shown
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.folder import require_free
from typicality.fitted import FittedView
from typicality.preprocessing.table_rows import ModelRows, joined
from typicality.run_folder import Judged
from typicality.tables import Block, TableFile, arrow_rows, csv_text, masked_columns
from typicality.tables.cells import texts_of
from typicality.tables.opening import kind_of_suffix

_MOST_CELLS = 2_000_000  # of text kept in memory for the report
_LONGEST_CELL = 200  # letters kept of a text: a page shows no more
_WORST = 20  # further rows in the report, the least typical of all


@dataclass
class Tally:
    """How many rows were judged, left out, or have values filled in; the sizes of the clusters."""

    n_rows: int = 0
    n_left_out: int = 0
    n_filled: int = 0
    n_unassigned: int = 0
    sizes: list[int] = field(default_factory=list)

    def see(self, judged: Judged) -> None:
        """Count the rows of a block."""
        labels, rows = judged.labels, judged.rows
        self.n_rows += len(rows.kept)
        self.n_left_out += len(rows.kept) - len(labels)
        self.n_filled += int(rows.missing.any(axis=1).sum())
        self.n_unassigned += int(np.count_nonzero(labels < 0))
        counts = np.bincount(labels[labels >= 0], minlength=len(self.sizes))
        counts[: len(self.sizes)] += np.array(self.sizes, dtype=np.int64)
        self.sizes = counts.tolist()


def write_rows(
    table: TableFile,
    judge: Callable[[Block], Judged],
    output: str,
    signs: Mapping[str, str],
    follow: Callable[[Judged, int], None],
    *,
    safe: bool,
    force: bool = False,
) -> Tally:
    """Judge the rows of a file and write them, block by block.

    Parameters
    ----------
    table : TableFile
        The file.
    judge : callable
        What a run says of a block; threads call it.
    output : str
        The file to write, .csv or .parquet; "-" is standard output.
    signs : mapping of str to str
        The signs of columns with numbers like $7,440, which stay text; empty for columns with only
        separators of thousands.
    follow : callable
        Called with each block that was written, and the number of rows so far.
    safe, force : bool
        Whether csv is safe for spreadsheets; whether a file that is there is replaced.
    """
    as_parquet = is_parquet(output)

    def written(block: Block) -> tuple[Judged, Any]:
        judged = judge(block)
        rows = judged.rows
        extra = masked_columns(judged.columns, rows.kept)
        if as_parquet:  # ranks and categories stay the text they are, too
            plain = [name for name in rows.names if name not in {*signs, *rows.texts}]
            return judged, arrow_rows(block, extra, numeric=plain)
        # New columns have decimal points: one file has one decimal mark.
        marks = dict.fromkeys(rows.names, "" if table.decimal == "," else ".") | dict(signs)
        rewritten = {name for name in rows.names if marks[name] == "" and name not in rows.texts}
        first = block.first_row == 0
        return judged, csv_text(block, extra, header=first, rewritten=rewritten, safe=safe)

    tally = Tally()
    with writer(output, force=force, as_parquet=as_parquet) as write:
        for judged, text in stream_in_threads(written, table.blocks()):
            write(text)
            tally.see(judged)
            follow(judged, tally.n_rows)
    return tally


# ---- rows to show --------------------------------------------------------------------------------


@dataclass(eq=False)
class ShownRows:
    """Rows of a file that results and pages show.

    Parameters
    ----------
    rows : ModelRows
        The rows as the run takes them.
    places : array of shape (n,)
        Their places among all rows that take part.
    row_numbers : array of shape (n,)
        Their numbers in the file, from 0.
    lines : array of shape (n,), optional
        Their lines, if the file has lines.
    cells : dict of str to list of str
        The text of other columns: of large files only the first columns.
    """

    rows: ModelRows
    places: Places
    row_numbers: Places
    lines: Places | None
    cells: dict[str, list[str]]

    @property
    def numbers(self) -> tuple[str, Places]:
        """What the rows are called: their lines, or their numbers from 0."""
        return ("row", self.row_numbers) if self.lines is None else ("line", self.lines)

    def take(self, which: Places) -> "ShownRows":
        """Some of the rows."""
        return ShownRows(
            rows=self.rows.take(which),
            places=self.places[which],
            row_numbers=self.row_numbers[which],
            lines=None if self.lines is None else self.lines[which],
            cells={name: [texts[i] for i in which] for name, texts in self.cells.items()},
        )


class Gathered:
    """Gathers rows to show while a file is read.

    Parameters
    ----------
    table : TableFile
        The file.
    columns : sequence of str
        The columns of numbers and ranks, whose cells are not needed.
    n_rows : int
        How many rows will be gathered.
    name : str, optional
        The column that names rows; its cells come first.
    places : array of int, optional
        Which rows to gather, among those that take part, in order. Then the least typical rows are
        gathered, too. By default, all rows.
    """

    def __init__(
        self,
        table: TableFile,
        columns: Sequence[str],
        n_rows: int,
        *,
        name: str | None = None,
        places: Places | None = None,
    ) -> None:
        others = [other for other in table.names if other not in {*columns}]
        others.sort(key=lambda other: other != name)
        self._names = others[: _MOST_CELLS // max(1, n_rows if places is None else len(places))]
        self._places, self._n_seen, self._least = places, 0, np.empty(0)
        self._found: list[tuple[ShownRows, Doubles]] = []

    def see(self, rows: ModelRows, view: FittedView | None = None) -> None:
        """Gather rows of a block; `view` is what the model says of them."""
        assert rows.block is not None
        places = np.arange(self._n_seen, self._n_seen + len(rows.X))
        self._n_seen += len(places)
        depth = np.full(len(places), -np.inf)
        if self._places is not None and view is not None and len(places):
            drawn = np.isin(places, self._places)
            depth[~drawn] = (view.strength if view.kind == "tree" else view.depth)[~drawn]
            self._least = np.sort(np.append(self._least, depth[~drawn]))[:_WORST]
        kept = np.flatnonzero(depth <= self._least.max(initial=-np.inf))
        block, at = rows.block, np.flatnonzero(rows.kept)[kept]
        columns = block.columns(self._names) if self._names else []
        cells = {
            name: [text[:_LONGEST_CELL] for text in texts_of(column.take(at)).to_pylist()]
            for name, column in zip(self._names, columns, strict=True)
        }
        lines = None if block.lines is None or block.is_part else block.lines[at]
        shown = ShownRows(rows.take(kept), places[kept], block.first_row + at, lines, cells)
        self._found.append((shown, depth[kept]))

    def result(self) -> ShownRows:
        """The rows in order."""
        every = [rows for rows, _ in self._found]
        lines = [rows.lines for rows in every if rows.lines is not None]
        rows = ShownRows(
            rows=joined([rows.rows for rows in every]),
            places=np.concatenate([rows.places for rows in every]),
            row_numbers=np.concatenate([rows.row_numbers for rows in every]),
            lines=np.concatenate(lines) if lines else None,
            cells={
                name: [text for rows in every for text in rows.cells[name]] for name in self._names
            },
        )
        depth = np.concatenate([depth for _, depth in self._found])
        return rows.take(np.flatnonzero(depth <= self._least.max(initial=-np.inf)))


# ---- files ---------------------------------------------------------------------------------------


def is_parquet(output: str) -> bool:
    """Whether a file gets parquet by its name; an error where it can be neither that nor csv."""
    kind = kind_of_suffix(output)
    if kind not in (None, "csv", "parquet"):
        raise WrongUseError(
            f"--output {shown(output)}: rows are written as csv or parquet, not as {kind}; choose "
            "a name that ends in .csv or .parquet."
        )
    return kind == "parquet"


@contextmanager
def writer(output: str, *, force: bool, as_parquet: bool) -> Iterator[Callable[[Any], Any]]:
    """A function that writes rows to a file that appears when complete, or to standard output."""
    if output == "-":
        try:
            yield sys.stdout.buffer.write
        except KeyboardInterrupt:
            raise KeyboardInterrupt("Interrupted; only a part of the rows was written.") from None
        return
    require_free(Path(output), force=force)
    with atomic_file(output, overwrite=force, binary=True) as stream, ExitStack() as to_close:
        if not as_parquet:
            yield stream.write
            return
        from pyarrow import ArrowException, parquet

        writers: list[Any] = []

        def write(table: Any) -> None:
            try:
                if not writers:
                    made = parquet.ParquetWriter(stream, table.schema)
                    writers.append(to_close.enter_context(made))
                writers[0].write_table(table)
            except ArrowException as error:  # types and dates that parquet has not
                reason = str(error).splitlines()[0].rstrip(".")
                raise UnusableError(
                    f"The rows cannot be written as parquet ({reason}); write csv, with a name "
                    "that ends in .csv after --output."
                ) from error

        yield write
