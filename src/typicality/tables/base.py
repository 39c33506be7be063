"""A file of rows, read block by block; formats fill in how."""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from typicality._typing import Doubles
from typicality._words import listed
from typicality.exceptions import TableError
from typicality.tables._words import shown
from typicality.tables.cells import ParsedColumn, csv_lines, look_of


class Place(NamedTuple):
    """A cell: its row (from 0), its line (from 1; None where there are none), its column."""

    row: int
    line: int | None
    column: str


class Block(ABC):
    """Some consecutive rows of a file.

    Attributes
    ----------
    source : str
        The file, as messages call it.
    names : tuple of str
        The columns of the file.
    index : dict of str to int
        The position of each column.
    first_row : int
        The number of the first row in the file, from 0.
    first_line : int or None
        The line of the first row, from 1; None where a file has no lines.
    n_rows : int
        How many rows there are.
    """

    def __init__(
        self, table: "TableFile", first_row: int, *, n_rows: int, first_line: int | None = None
    ) -> None:
        self.source, self.names, self.index = table.name, table.names, table.index
        self.first_row, self.n_rows, self.first_line = first_row, n_rows, first_line

    @abstractmethod
    def cells(self, name: str) -> Sequence[str]:
        """The text of a column as it stands in the file; the empty text where it is missing."""

    @abstractmethod
    def parsed(self, name: str) -> ParsedColumn:
        """The numbers of a column, and the rows in which it has none."""

    def line_of(self, row: int) -> int | None:
        """The line of a row of this block; None where a file has no lines."""
        return None

    def csv_lines(self) -> list[str]:
        """The rows as lines of csv, without the ends of lines."""
        return csv_lines(zip(*map(self.cells, self.names), strict=True))

    def quick_numbers(self, names: Sequence[str]) -> Doubles | None:
        """Several columns at once, (n_rows, d), where every cell is a number; else None."""
        return None

    def numbers(self, name: str) -> Doubles:
        """A column as finite numbers, NaN where they are missing; text is an error."""
        numbers, strangers = self.parsed(name)
        if len(strangers):
            raise self.not_a_number(int(strangers[0]), name)
        endless = np.flatnonzero(np.isinf(numbers))
        if len(endless):
            raise self.not_finite(int(endless[0]), name)
        return numbers

    def not_a_number(self, row: int, name: str) -> TableError:
        """An error about a cell of text."""
        cell = self.cells(name)[row]
        remedy = "Correct it, leave the cell empty, or choose other columns."
        look = look_of([cell])
        if look == "numbers with commas between thousands":
            remedy = "Save the file without commas between thousands, and with decimal points."
        if look == "numbers with a decimal comma":
            remedy = "Save the file with decimal points: 1.5, not 1,5."
        return self._error(row, name, f"{shown(cell)} is not a number", remedy)

    def not_finite(self, row: int, name: str) -> TableError:
        """An error about an infinity."""
        reason = f"{shown(self.cells(name)[row])} is not a finite number"
        remedy = "Replace it by a finite one, or leave the cell empty."
        return self._error(row, name, reason, remedy)

    def place(self, row: int) -> str:
        """Where a row of this block is, in words."""
        line = self.line_of(row)
        return f"row {self.first_row + row} counted from 0" if line is None else f"line {line}"

    def _error(self, row: int, name: str, reason: str, remedy: str) -> TableError:
        where = f"{self.source}, {self.place(row)}, column {shown(name)}"
        return TableError(f"{where}: {reason}. {remedy}", line=self.line_of(row), column=name)


class TableFile(ABC):
    """A file of rows that can be read again and again, block by block; a context manager.

    Attributes
    ----------
    name : str
        The file, as messages call it.
    path : Path
        Where it is read from; for standard input a temporary file.
    format : str
        "csv", "tsv", "parquet", "arrow", "npy" or "npz".
    names : tuple of str
        The columns, in order.
    has_header : bool
        Whether the names come from the file; else they were made up.
    n_rows : int or None
        How many rows there are, once the file was read to its end.
    fingerprint : str or None
        "sha256:" and the hash of the bytes, once the file was read to its end.
    """

    has_header: bool = True

    def __init__(self, path: Path, *, name: str, format: str) -> None:
        self.path = path
        self.name = name
        self.format = format
        self.names: tuple[str, ...] = ()
        self.n_rows: int | None = None
        self.fingerprint: str | None = None
        self._temporary: Path | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary file of standard input."""
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each column."""
        return {name: j for j, name in enumerate(self.names)}

    def belongs_to(self, temporary: Path) -> Self:
        """Remove a temporary file when this table is closed."""
        self._temporary = temporary
        return self

    def blocks(self, rows: int | None = None) -> Iterator[Block]:
        """The rows from the first to the last, at most `rows` at a time.

        When left out, as many as keep the memory of a block at some tens of megabytes.
        """
        if rows is not None and rows < 1:
            raise ValueError(f"rows is {rows}: a block has at least one.")
        n_rows = 0
        try:
            for block in self._read(rows):
                n_rows += block.n_rows
                yield block
            fingerprint = self._hash()
        except OSError as error:
            raise TableError(
                f"{self.name} could not be read to its end: {reason_of(error)}. Check the file, "
                "and read it again."
            ) from error
        if n_rows == 0:
            raise TableError(
                f"{self.name} has columns ({listed(map(shown, self.names))}), but no rows. Add "
                "the rows, or choose another file."
            )
        self._remember(n_rows, f"sha256:{fingerprint}")

    def _remember(self, n_rows: int, fingerprint: str) -> None:
        if self.fingerprint not in (None, fingerprint):
            raise self.changed()
        self.n_rows, self.fingerprint = n_rows, fingerprint

    def changed(self) -> TableError:
        """An error that says that the file is not what it was."""
        return TableError(
            f"{self.name} changed while it was read. Wait until nothing writes to it, or copy "
            "it, and read it again."
        )

    @abstractmethod
    def _read(self, rows: int | None) -> Iterator[Block]:
        """One pass over the rows."""

    @abstractmethod
    def _hash(self) -> str:
        """The hash of the bytes of the pass that has just ended."""

    @property
    @abstractmethod
    def fraction_read(self) -> float:
        """How much of the file the pass now under way has read, in (0, 1]."""


def reason_of(error: OSError) -> str:
    """What the system says, without numbers and paths."""
    return (error.strerror or str(error) or type(error).__name__).lower()


def hash_of(path: Path) -> str:
    """The hash of the bytes of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def size_of(path: Path) -> int:
    """The size of a file in bytes."""
    return os.stat(path).st_size
