"""Which columns are numbers to work with, and why the others are not."""

import os
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from typicality._threads import stream_in_threads
from typicality._typing import Doubles, Places
from typicality._words import listed
from typicality.exceptions import TableError
from typicality.tables.base import Block, Place, TableFile
from typicality.tables.cells import ParsedColumn, look_of, shown

_FEWEST_TO_NUMBER = 10  # rows: fewer whole numbers in a row may well be measurements
_NEARLY = 0.05  # of the cells may be no numbers in a column that is nearly numeric
_N_LOOKED_AT = 100
_REMEDIES = {
    "text": "",
    "true or false": ": write 1 and 0 to use them",
    "dates or times": ": write a number with a meaning to use them, e.g. days since the first",
    "numbers with commas between thousands": ": save the file without them to use the numbers",
    "numbers with a decimal comma": ": save the file with decimal points to use them",
}


class LeftOut(NamedTuple):
    """A column that is not used, and why."""

    name: str
    reason: str


class NumericTable(NamedTuple):
    """The numbers of a table.

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
        Rows of a table.
    names : sequence of str
        The columns, in the order of the model.

    Returns
    -------
    array of shape (n_rows, d)
        The numbers; NaN where they are missing. Text and infinities are errors that name the
        line and the column.
    """
    _refuse_absent(names, block.names, block.source)
    parsed = block.parse(names)
    for name, (numbers, strangers) in zip(names, parsed, strict=True):
        if len(strangers):
            raise block.not_a_number(int(strangers[0]), name)
        if np.isinf(numbers).any():
            raise block.not_finite(int(np.isinf(numbers).argmax()), name)
    return np.stack([column.numbers for column in parsed], axis=1)


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
    """Read the columns of numbers of a table, whole, in one pass.

    Columns are left out, with a reason in words, that hold text, dates or truth values, that miss
    all their values, that are constant, that number the rows (whole numbers, all distinct, that
    fill a range as long as the file, if it has ten rows or more), or whole numbers called an id.

    Parameters
    ----------
    table : TableFile
        The table.
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
    limit = _default_memory() if memory is None else memory
    judged = [_Column(name) for name in wanted]
    n_rows = 0
    blocks = ((block, [c for c in judged if c.is_candidate]) for block in table.blocks())
    for block, found in stream_in_threads(_parsed, blocks):
        for column, parsed in found:
            if column.is_candidate:  # still: blocks are parsed ahead
                column.see(block, parsed)
            if columns is not None and column.text is not None:
                raise column.text
        n_rows += block.n_rows
        n_numeric = sum(column.n_strangers == 0 for column in judged)
        _refuse_beyond(limit, int(n_rows / block.fraction_read), n_numeric, table.name)
    for column in judged:
        if columns is not None and column.n_missing == column.n_seen:
            raise TableError(
                f"{table.name}, column {shown(column.name)}: all values are missing. Choose other "
                "columns.",
                column=column.name,
            )
    reasons = {column.name: column.reason() if columns is None else None for column in judged}
    chosen = [column for column in judged if reasons[column.name] is None]
    left_out = [LeftOut(name, reason) for name, reason in reasons.items() if reason]
    if not chosen:
        raise _nothing_left(table, left_out)
    for column in chosen:
        if column.endless is not None:
            raise column.endless
    missing = [column.first_missing for column in chosen if column.first_missing]
    X = np.empty((n_rows, len(chosen)))
    end = n_rows
    while end:  # from the last block to the first, each freed: there is never a second copy of all
        block_rows = np.stack([column.pieces.pop() for column in chosen], axis=1)
        X[end - len(block_rows) : end] = block_rows
        end -= len(block_rows)
    assert table.fingerprint is not None
    return NumericTable(
        X=X,
        names=tuple(column.name for column in chosen),
        left_out=(*left_out, *(LeftOut(name, "you asked to ignore it") for name in ignore)),
        n_missing=np.array([column.n_missing for column in chosen], dtype=np.intp),
        first_missing=min(missing, key=lambda place: place.row, default=None),
        fingerprint=table.fingerprint,
    )


def _parsed(
    item: tuple[Block, list["_Column"]],
) -> tuple[Block, list[tuple["_Column", ParsedColumn]]]:
    block, columns = item
    parsed = block.parse([column.name for column in columns]) if columns else []
    return block, list(zip(columns, parsed, strict=True))


def _default_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not on this system
        return 4 * 2**30


def _refuse_beyond(memory: int, n_rows: int, n_columns: int, name: str) -> None:
    """An error where all rows will take more memory than there may be."""
    n_bytes = 8 * n_rows * n_columns
    if n_bytes > memory:
        raise TableError(
            f"{name} is too large to be held in memory: about {n_rows:,} rows of {n_columns:,} "
            f"columns of numbers take {_in_bytes(n_bytes)}, and {_in_bytes(memory)} are allowed. "
            "Choose columns with columns=, or allow more with memory=."
        )


def _in_bytes(number: int) -> str:
    return f"{number / 1e9:,.1f} GB" if number >= 1e9 else f"{number / 1e6:,.1f} MB"


def _nothing_left(table: TableFile, left_out: list[LeftOut]) -> TableError:
    phrases = (f"{shown(column.name)}: {column.reason}" for column in left_out)
    reasons = listed(phrases, separator="; ")
    if table.n_rows == 1:
        return TableError(
            f"{table.name} has one row, and nothing to compare it with ({reasons}). Add rows."
        )
    return TableError(
        f"{table.name} has no column of numbers to work with ({reasons}). Add columns of numbers, "
        "or correct the cells that should be some.",
        column=left_out[0].name if len(left_out) == 1 else None,
    )


class _Column:
    """What is known of a column after some blocks.

    Attributes
    ----------
    pieces : list of array
        Its numbers, block by block; none where it is no column of numbers.
    n_seen, n_missing, n_strangers : int
        How many cells it has, how many of them are missing, and how many are text.
    first_missing : Place or None
        The first of those that are missing.
    text, endless : TableError or None
        An error about the first cell of text, and about the first infinity.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.pieces: list[Doubles] = []
        self.n_seen = self.n_missing = self.n_strangers = 0
        self.first_missing: Place | None = None
        self.text: TableError | None = None
        self.endless: TableError | None = None
        self._low, self._high = np.inf, -np.inf
        self._are_whole = True
        self._look = self._first_stranger = ""

    @property
    def is_candidate(self) -> bool:
        """Nearly all cells so far are numbers: further blocks are used, or text is counted."""
        return self.n_strangers <= _NEARLY * self.n_seen

    def see(self, block: Block, parsed: ParsedColumn) -> None:
        """Take in one more block."""
        numbers, strangers = parsed
        if len(strangers) and self.text is None:
            cells, first = block.cells(self.name), int(strangers[0])
            self.text = block.not_a_number(first, self.name)
            self._first_stranger = f"{shown(cells[first])} in {block.place(first)}"
            self._look = look_of(cells[i] for i in strangers[:_N_LOOKED_AT])
            self.pieces.clear()
        self.n_strangers += len(strangers)
        missing = np.isnan(numbers)
        n_missing = int(np.count_nonzero(missing))
        if n_missing and self.first_missing is None:
            row = int(missing.argmax())
            self.first_missing = Place(block.first_row + row, block.line_of(row), self.name)
        present = numbers[~missing] if n_missing else numbers
        if len(present):
            self._low = min(self._low, present.min())
            self._high = max(self._high, present.max())
            if self.endless is None and not np.isfinite([self._low, self._high]).all():
                self.endless = block.not_finite(int(np.isinf(numbers).argmax()), self.name)
            self._are_whole = self._are_whole and bool((present == np.rint(present)).all())
        self.n_missing += n_missing
        self.n_seen += len(numbers)
        if not self.n_strangers:
            self.pieces.append(numbers)

    def reason(self) -> str | None:
        """Why the column is not one to work with; None where it is."""
        if self.n_strangers and self.is_candidate:
            return (
                f"{self.n_strangers:,} of {self.n_seen:,} cells are not numbers (first "
                f"{self._first_stranger}): correct them or leave them empty to use it"
            )
        if self.n_strangers:
            return f"{self._look} (first {self._first_stranger}){_REMEDIES[self._look]}"
        if self.n_missing == self.n_seen:
            return "all values are missing"
        if self._low == self._high:
            return f"constant (always {self._low:g})"
        if self.name.startswith("__index_level_"):
            return "the index of a pandas data frame: choose it by name to use it"
        if self._numbers_the_rows():
            return f"an identifier: it numbers the rows from {self._low:.0f} to {self._high:.0f}"
        if self._are_whole and _is_called_id(self.name):
            return "whole numbers that are called an id: choose it by name to use it"
        return None

    def _numbers_the_rows(self) -> bool:
        """Whether these are whole numbers from a range with as many numbers as there are rows."""
        complete = self._are_whole and self.n_missing == 0 and self.n_seen >= _FEWEST_TO_NUMBER
        if not complete or self._high - self._low != self.n_seen - 1:
            return False
        met = np.zeros(self.n_seen, dtype=bool)
        for piece in self.pieces:
            met[(piece - self._low).astype(np.intp)] = True
        return bool(met.all())


def _is_called_id(name: str) -> bool:
    """Names such as id, user_id, "Order ID" and userId, and not paid or grid."""
    words = re.sub(r"(?<=[a-z])(?=I[dD]$)", " ", name.strip())
    return re.split(r"[\W_]+", words)[-1].lower() == "id"
