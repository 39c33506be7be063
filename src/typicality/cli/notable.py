"""Rows worth a look, and what the file says about them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Places
from typicality.cli.rows import FileRows
from typicality.fitted import FittedView
from typicality.report.outliers import Explanation
from typicality.tables import Block, append_columns, masked_columns

_REASONS = 3  # columns named for a row
_MOST_CELLS = 2_000_000  # of text kept in memory for the report


@dataclass(frozen=True)
class Reason:
    """A column in which a row is unusual, its value there, and by how many spreads it is off."""

    column: str
    value: float
    deviations: float


@dataclass
class NotableRow:
    """A row worth a look.

    Parameters
    ----------
    row : int
        Its number in the file, from 0.
    line : int or None
        Its line in the file, from 1; None where the file has no lines, or was not read again yet.
    label : int
        Its label; -1 for none.
    strength : float
        Its typicality, largest membership or score.
    cells : dict of str to str
        Its cells in columns that were left out, which may tell a person what it is.
    reasons : tuple of Reason, default=()
        What makes it unusual.
    rivals : tuple of int, default=()
        The two clusters it is between, the nearer one first, where memberships are shares.
    """

    row: int
    line: int | None
    label: int
    strength: float
    cells: dict[str, str] = field(default_factory=dict)
    reasons: tuple[Reason, ...] = ()
    rivals: tuple[int, ...] = ()


class RowNotes:
    """Notable rows and the text columns of a file, completed by one more pass over it.

    Parameters
    ----------
    rows : FileRows
        The rows that take part.
    text : sequence of str
        The columns whose text is wanted.
    typical : sequence of NotableRow
        The most typical row of each cluster.
    atypical : sequence of NotableRow
        The least typical rows.

    Attributes
    ----------
    columns : dict of str to list of str
        Their text, for the rows that take part: of large files
        only the first columns, so that at most two million cells are held.
    """

    def __init__(
        self,
        rows: FileRows,
        text: Sequence[str],
        typical: Sequence[NotableRow] = (),
        atypical: Sequence[NotableRow] = (),
    ) -> None:
        self.typical, self.atypical = typical, atypical
        self._kept = rows.kept
        n_columns = _MOST_CELLS // max(1, len(rows.kept))
        self.columns: dict[str, list[str]] = {name: [] for name in text[:n_columns]}
        self._lines: list[Places] = []

    @property
    def numbers(self) -> tuple[str, Places]:
        """What the rows that take part are called: their lines, or their numbers from 0."""
        if self._lines:
            return "line", np.concatenate(self._lines)
        return "row", np.flatnonzero(self._kept)

    def copy_rows(
        self, stream: IO[bytes], blocks: Iterable[Block], columns: dict[str, NDArray[Any]]
    ) -> None:
        """Write all rows as csv with more columns, and take notes on the way.

        The columns have an entry for each row that takes part; the other rows get empty cells.
        """
        whole = masked_columns(columns, self._kept)
        for block in blocks:
            here = slice(block.first_row, block.first_row + block.n_rows)
            some = {name: values[here] for name, values in whole.items()}
            append_columns(stream, block, some, header=block.first_row == 0)
            self.take(block)

    def take(self, block: Block) -> None:
        """Note what a block says."""
        kept = np.flatnonzero(self._kept[block.first_row : block.first_row + block.n_rows])
        if block.lines is not None:
            self._lines.append(block.lines[kept])
        cells = {name: block.cells(name) for name in self.columns}
        for name, texts in self.columns.items():
            texts.extend(cells[name][i] for i in kept.tolist())
        for notable in (*self.typical, *self.atypical):
            row = notable.row - block.first_row
            if 0 <= row < block.n_rows:
                notable.line = block.line_of(row)
                notable.cells = {name: texts[row] for name, texts in cells.items()}


def typical_rows(view: FittedView, rows: FileRows) -> list[NotableRow]:
    """The most typical row of each cluster."""
    found = []
    for label in range(view.labels.max(initial=-1) + 1):
        members = np.flatnonzero(view.labels == label)
        found.append(members[np.argmax(view.strength[members])])
    return _notable(view, rows, np.array(found, dtype=np.intp))


def atypical_rows(explanation: Explanation, rows: FileRows, *, at_most: int) -> list[NotableRow]:
    """The least typical rows, the worst first, with what makes them so, as in the report.

    Where memberships are shares, these are the rows between clusters, and which those are.
    """
    view = explanation.view
    if view.memberships is not None and view.shares:
        order = np.argsort(view.strength, kind="stable")[:at_most]
        between = _notable(view, rows, order)
        for notable, shares in zip(between, view.memberships[order], strict=True):
            notable.rivals = tuple(np.argsort(-shares, kind="stable")[:2].tolist())
        return between
    positions = explanation.rows[:at_most]
    found = _notable(view, rows, positions)
    for notable, i, far in zip(found, positions, explanation.deviations, strict=False):
        largest = np.argsort(-np.abs(far), kind="stable")[:_REASONS]
        notable.reasons = tuple(
            Reason(rows.names[j], float(rows.X[i, j]), float(far[j]))
            for j in largest
            if far[j] != 0
        )
    return found


def _notable(view: FittedView, rows: FileRows, positions: Places) -> list[NotableRow]:
    number = np.flatnonzero(rows.kept)
    return [
        NotableRow(int(number[i]), None, int(view.labels[i]), float(view.strength[i]))
        for i in positions
    ]
