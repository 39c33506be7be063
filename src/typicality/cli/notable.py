"""Rows worth a look, and what the file says about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Floats, Places
from typicality.fitted import FittedView
from typicality.report.features import FeatureTable
from typicality.report.middles import Middles
from typicality.report.outliers import explain
from typicality.tables import Block, append_columns

_REASONS = 3  # columns named for a row
_MOST_CELLS = 2_000_000  # of text kept in memory for the report


@dataclass(frozen=True)
class Reason:
    """A column in which a row is unusual, its value there, and by how many spreads it is off."""

    column: str
    value: float
    deviations: float


@dataclass(frozen=True)
class NotableRow:
    """A row worth a look.

    Parameters
    ----------
    row : int
        Its number in the file, from 0.
    line : int or None
        Its line in the file, from 1; None where the file has no lines.
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
    cells: dict[str, str]
    reasons: tuple[Reason, ...] = ()
    rivals: tuple[int, ...] = ()


class FileNotes:
    """What one more pass over the file tells: text columns, and more about notable rows.

    Parameters
    ----------
    kept : array of shape (n,), bool
        Which rows take part.
    names : sequence of str
        The columns whose text is wanted.
    typical : sequence of NotableRow
        The most typical row of each cluster.
    atypical : sequence of NotableRow
        The least typical rows.

    Attributes
    ----------
    columns : dict of str to list of str
        The text of the columns, for the rows that take part: of large files only the first columns,
        so that at most two million cells are held.
    """

    def __init__(
        self,
        kept: NDArray[np.bool_],
        names: Sequence[str],
        *,
        typical: Sequence[NotableRow] = (),
        atypical: Sequence[NotableRow] = (),
    ) -> None:
        self._typical, self._atypical = typical, atypical
        self._wanted = np.unique([notable.row for notable in (*typical, *atypical)])
        self._kept = kept
        n_columns = _MOST_CELLS // max(1, len(kept))
        self.columns: dict[str, list[str]] = {name: [] for name in names[:n_columns]}
        self._cells: dict[int, dict[str, str]] = {}
        self._lines: dict[int, int | None] = {}
        self._line_of_kept: list[int | None] = []

    @property
    def typical(self) -> tuple[NotableRow, ...]:
        """The most typical row of each cluster, with its line and text."""
        return tuple(map(self._completed, self._typical))

    @property
    def atypical(self) -> tuple[NotableRow, ...]:
        """The least typical rows, with their lines and text."""
        return tuple(map(self._completed, self._atypical))

    @property
    def numbers(self) -> tuple[str, Places]:
        """What the rows that take part are called: their lines, or their numbers from 0."""
        lines = [line for line in self._line_of_kept if line is not None]
        if len(lines) < len(self._line_of_kept):
            return "row", np.flatnonzero(self._kept)
        return "line", np.asarray(lines, dtype=np.intp)

    def write(
        self, stream: IO[bytes], blocks: Iterable[Block], extra: Mapping[str, NDArray[Any]]
    ) -> None:
        """Copy the rows as csv with more columns, and take notes on the way."""
        for block in blocks:
            here = slice(block.first_row, block.first_row + block.n_rows)
            some = {name: values[here] for name, values in extra.items()}
            append_columns(stream, block, some, header=block.first_row == 0)
            self.take(block)

    def take(self, block: Block) -> None:
        """Note what a block says."""
        here = slice(block.first_row, block.first_row + block.n_rows)
        kept = np.flatnonzero(self._kept[here]).tolist()
        begin, end = np.searchsorted(self._wanted, [here.start, here.stop])
        wanted = self._wanted[begin:end].tolist()
        self._line_of_kept.extend(map(block.line_of, kept))
        for row in wanted:
            self._lines[row] = block.line_of(row - block.first_row)
        for name, texts in self.columns.items():
            cells = block.cells(name)
            texts.extend(cells[i] for i in kept)
            for row in wanted:
                self._cells.setdefault(row, {})[name] = cells[row - block.first_row]

    def _completed(self, notable: NotableRow) -> NotableRow:
        line, cells = self._lines[notable.row], self._cells.get(notable.row, {})
        return replace(notable, line=line, cells=cells)


def typical_rows(found: FittedView, number: Places) -> list[NotableRow]:
    """The most typical row of each cluster.

    Parameters
    ----------
    found : FittedView
        What a model says of rows.
    number : array of shape (n,)
        The numbers of those rows in the file.
    """
    rows = []
    for label in range(found.labels.max(initial=-1) + 1):
        members = np.flatnonzero(found.labels == label)
        best = members[np.argmax(found.strength[members])]
        rows.append(_notable(found, number, int(best)))
    return rows


def explained_rows(
    found: FittedView,
    number: Places,
    *,
    names: Sequence[str],
    values: Floats,
    scaled: Floats,
    at_most: int,
) -> list[NotableRow]:
    """The least typical rows, the worst first, with what makes them so, as in the report.

    Where memberships are shares, these are the rows between clusters, and which those are.

    Parameters
    ----------
    found : FittedView
        What a model says of rows.
    number : array of shape (n,)
        The numbers of those rows in the file.
    names : sequence of str
        The columns.
    values : array of shape (n, d)
        The rows in the units of the user.
    scaled : array of shape (n, d)
        The rows as the model sees them.
    at_most : int
        How many rows to give.
    """
    if found.strength_name == "largest membership":
        return _rows_between(found, number, at_most)
    features = FeatureTable(list(names), values, scaled, of_model=True)
    middles = Middles.of(found, features) if found.kind == "prototypes" else None
    outliers = explain(found, features, middles, np.arange(found.n_rows))
    rows = []
    for position, deviations in zip(outliers.rows[:at_most], outliers.deviations, strict=False):
        largest = np.argsort(-np.abs(deviations), kind="stable")[:_REASONS]
        reasons = tuple(
            Reason(names[j], float(values[position, j]), float(deviations[j]))
            for j in largest
            if deviations[j] != 0
        )
        rows.append(_notable(found, number, int(position), reasons))
    return rows


def _rows_between(found: FittedView, number: Places, at_most: int) -> list[NotableRow]:
    """The rows that share their membership most evenly: between clusters, not far from them."""
    assert found.memberships is not None
    rows = []
    for position in np.argsort(found.strength, kind="stable")[:at_most]:
        nearest = np.argsort(-found.memberships[position], kind="stable")[:2]
        notable = _notable(found, number, int(position))
        rows.append(replace(notable, rivals=tuple(nearest.tolist())))
    return rows


def _notable(
    found: FittedView, number: Places, position: int, reasons: tuple[Reason, ...] = ()
) -> NotableRow:
    label, strength = int(found.labels[position]), float(found.strength[position])
    return NotableRow(int(number[position]), None, label, strength, {}, reasons)
