"""Which columns are numbers to work with, and why the others are not."""

import os
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from typicality._typing import Doubles, Places
from typicality._words import listed
from typicality.exceptions import TableError
from typicality.tables._words import in_bytes, shown
from typicality.tables.base import Block, Place, TableFile
from typicality.tables.judging import ColumnJudge

_FEWEST_TO_NUMBER = 10  # rows: fewer whole numbers in a row may well be measurements


class LeftOut(NamedTuple):
    """A column that is not used, and why."""

    name: str
    reason: str


class NumericTable(NamedTuple):
    """The numbers of a file.

    Parameters
    ----------
    X : array of shape (n, d)
        The numbers; NaN where they are missing.
    names : tuple of str
        The columns.
    left_out : tuple of LeftOut
        Columns that are not used, and why.
    n_missing : array of shape (d,)
        How many numbers each column misses.
    first_missing : Place or None
        The first of the missing numbers, row by row.
    fingerprint : str
        "sha256:" and the hash of the bytes of the file.
    """

    X: Doubles
    names: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    n_missing: Places
    first_missing: Place | None
    fingerprint: str


def rows_of(block: Block, names: Sequence[str]) -> Doubles:
    """Some columns of a block as numbers, for a model that knows them.

    Parameters
    ----------
    block : Block
        Rows of a file.
    names : sequence of str
        The columns, in the order of the model.

    Returns
    -------
    array of shape (n_rows, d)
        The numbers; NaN where they are missing. Text and infinities are errors that name the
        line and the column.
    """
    _refuse_absent(names, block.names, block.source)
    quick = block.quick_numbers(names)
    if quick is None:
        return np.stack([block.numbers(name) for name in names], axis=1)
    endless = np.argwhere(np.isinf(quick))
    if len(endless):
        row, column = endless[0]
        raise block.not_finite(int(row), names[column])
    return quick


def _refuse_absent(wanted: Sequence[str], names: Sequence[str], source: str) -> None:
    known = set(names)
    absent = [name for name in wanted if name not in known]
    if absent:
        folded = [name for name in names if name.casefold() == absent[0].casefold()]
        near = folded or get_close_matches(absent[0], names, 1)
        hint = f"Did you mean {shown(near[0])}? " if near else ""
        raise TableError(
            f"{source} has no column {listed(map(shown, absent))}. {hint}Its columns are "
            f"{listed(map(shown, names))}.",
            column=absent[0],
        )


def read_rows(
    table: TableFile,
    *,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    memory: int | None = None,
) -> NumericTable:
    """Read the columns of numbers of a file, whole, in one pass.

    Columns are left out, with a reason in words, that hold text, dates or truth values, that miss
    all their values, that are constant, that number the rows (whole numbers, all distinct, that
    fill a range as long as the file, if it has ten rows or more), or whole numbers called an id.

    Parameters
    ----------
    table : TableFile
        The file.
    columns : sequence of str, optional
        The columns to read, in this order. Text in them is an error, and none is left out.
    ignore : sequence of str, default=()
        Columns to leave out.
    memory : int, optional
        The most bytes of numbers; half of the memory of the machine when left out. What would
        take more is refused as soon as that can be told, not when the memory is full.

    Returns
    -------
    NumericTable
        The numbers, what was left out, and where numbers are missing.
    """
    _refuse_absent([*(columns or ()), *ignore], table.names, table.name)
    candidates = table.names if columns is None else columns
    wanted = [name for name in candidates if name not in set(ignore)]
    if not wanted:
        raise TableError(f"{table.name}: no column was chosen. Choose some, or ignore fewer.")
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise TableError(f"{table.name}: column {shown(twice)} was chosen twice. Name it once.")
    gathered = _Gathered(table, wanted, forced=columns is not None)
    limit = _default_memory() if memory is None else memory
    for block in table.blocks():
        gathered.add(block)
        gathered.refuse_beyond(limit, table.fraction_read)
    ignored = [LeftOut(name, "you asked to ignore it") for name in ignore]
    return gathered.result(ignored)


def _default_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not on this system
        return 4 * 2**30


class _Gathered:
    """The numbers of the columns that still are candidates, block by block."""

    def __init__(self, table: TableFile, wanted: list[str], *, forced: bool) -> None:
        self._table = table
        self._forced = forced
        self._judges = [ColumnJudge(name) for name in wanted]
        self._pieces: list[_Piece] = []
        self._n_rows = 0

    def add(self, block: Block) -> None:
        """Judge the columns by one more block, and keep its numbers."""
        numeric = [judge for judge in self._judges if judge.is_numeric]
        counting = [judge for judge in self._judges if judge.is_counting]
        names = [judge.name for judge in numeric]
        quick = block.quick_numbers(names) if names else None
        if quick is None:
            columns = [judge.parse(block) for judge in numeric]
            quick = np.stack(columns, axis=1) if columns else np.empty((block.n_rows, 0))
        else:
            for j, judge in enumerate(numeric):
                judge.see(quick[:, j], block)
        for judge in counting:
            judge.parse(block)
        if self._forced:
            for judge in self._judges:
                judge.refuse_strangers()
        self._pieces.append(_Piece(names, quick))
        self._n_rows += block.n_rows

    def refuse_beyond(self, memory: int, fraction_read: float) -> None:
        """An error where all rows will take more memory than there may be."""
        n_columns = sum(judge.is_numeric for judge in self._judges)
        n_rows = int(self._n_rows / fraction_read)
        if 8 * n_rows * n_columns > memory:
            raise TableError(
                f"{self._table.name} is too large to be held in memory: about {n_rows:,} rows of "
                f"{n_columns:,} columns of numbers take {in_bytes(8 * n_rows * n_columns)}, and "
                f"{in_bytes(memory)} are allowed. Choose columns with --columns, or allow more "
                "with --memory."
            )

    def result(self, ignored: list[LeftOut]) -> NumericTable:
        """The columns that passed, and what was said of the others."""
        reasons = {judge.name: self._reason(judge) for judge in self._judges}
        chosen = [judge for judge in self._judges if reasons[judge.name] is None]
        left_out = [LeftOut(name, reason) for name, reason in reasons.items() if reason]
        if not chosen:
            raise self._nothing_left(left_out)
        for judge in chosen:
            judge.refuse_infinity()
        missing = [judge.first_missing for judge in chosen if judge.first_missing]
        assert self._table.fingerprint is not None
        return NumericTable(
            X=self._filled([judge.name for judge in chosen]),
            names=tuple(judge.name for judge in chosen),
            left_out=(*left_out, *ignored),
            n_missing=np.array([judge.n_missing for judge in chosen], dtype=np.intp),
            first_missing=min(missing, key=lambda place: place.row, default=None),
            fingerprint=self._table.fingerprint,
        )

    def _reason(self, judge: ColumnJudge) -> str | None:
        if not self._forced:
            return judge.reason() or self._numbering(judge) or judge.reason_by_name()
        if judge.n_missing == self._n_rows:
            raise TableError(
                f"{self._table.name}, column {shown(judge.name)}: all values are missing. Choose "
                "other columns.",
                column=judge.name,
            )
        return None

    def _numbering(self, judge: ColumnJudge) -> str | None:
        """Whether a column only numbers the rows, which is no measurement."""
        if self._n_rows < _FEWEST_TO_NUMBER or not judge.fills_a_range:
            return None
        met = np.zeros(self._n_rows, dtype=bool)
        for piece in self._pieces:
            met[(piece.column(judge.name) - judge.low).astype(np.intp)] = True
        if not met.all():
            return None
        return f"an identifier: it numbers the rows from {judge.low:.0f} to {judge.high:.0f}"

    def _filled(self, names: list[str]) -> Doubles:
        X = np.empty((self._n_rows, len(names)))
        start = 0
        self._pieces.reverse()
        while self._pieces:  # freed one by one: there is never a second copy of all
            piece = self._pieces.pop()
            X[start : start + len(piece.numbers)] = piece.columns(names)
            start += len(piece.numbers)
        return X

    def _nothing_left(self, left_out: list[LeftOut]) -> TableError:
        phrases = (f"{shown(column.name)}: {column.reason}" for column in left_out)
        reasons = listed(phrases, separator="; ")
        only = len(left_out) == 1
        if self._n_rows == 1:
            return TableError(
                f"{self._table.name} has one row, and nothing to compare it with ({reasons}). Add "
                "rows."
            )
        return TableError(
            f"{self._table.name} has no column of numbers to work with ({reasons}). Add columns of "
            "numbers, or correct the cells that should be some.",
            column=left_out[0].name if only else None,
        )


class _Piece(NamedTuple):
    """The numbers of one block, and whose they are."""

    names: list[str]
    numbers: Doubles

    def column(self, name: str) -> Doubles:
        return self.numbers[:, self.names.index(name)]

    def columns(self, names: list[str]) -> Doubles:
        if names == self.names:
            return self.numbers
        index = {name: j for j, name in enumerate(self.names)}
        return self.numbers[:, [index[name] for name in names]]
