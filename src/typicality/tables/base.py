"""A table that is read block by block; formats fill in how."""

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from typicality._cached import cached_property
from typicality._typing import Places
from typicality._words import listed, shown
from typicality.exceptions import TableError
from typicality.tables.cells import (
    ParsedColumn,
    csv_rows_of,
    look_of,
    parse_texts,
    parse_typed,
    plain,
    texts_of,
    unmarked,
)

BLOCK_BYTES = 2**21  # of a block, in memory; larger ones do not fit a cache


class Place(NamedTuple):
    """The position of a cell: row (from 0), line (from 1, or None), column.

    If the table has several files, the last field is the position as text, with the file.
    """

    row: int
    line: int | None
    column: str
    source: str = ""


class Block:
    """Some consecutive rows of a table.

    Attributes
    ----------
    source : str
        The name of the table in messages.
    names : tuple of str
        The columns of the table.
    first_row : int
        The number of the first row in the table, from 0.
    n_rows : int
        The number of rows.
    lines : array of shape (n_rows,) or None
        The line of the file in which each row begins, from 1; None if the format has no lines.
    fraction_read : float
        The fraction of the table up to the end of this block, in (0, 1].
    decimal : {".", ","}
        The decimal mark of numbers in a text file.
    is_part : bool
        Whether the table has several files. Then `lines` are lines of the file `source`.
    """

    fraction_read: float = 1.0
    is_part: bool = False

    def __init__(
        self,
        table: "TableFile",
        first_row: int,
        columns: Any,
        *,
        lines: Places | None = None,
        csv_rows: Any = None,
    ) -> None:
        self.source, self.names, self._index = table.name, table.names, table.index
        self.decimal = table.decimal
        self.first_row, self.lines = first_row, lines
        self._row_in_file = first_row  # of one file of several that are one table
        self.n_rows = columns.num_rows if lines is None else len(lines)
        self._table, self._csv_rows = columns, csv_rows

    def columns(self, names: Sequence[str]) -> list[Any]:
        """Some columns as Arrow arrays; for text files, arrays of text."""
        return [plain(self._table.column(self._index[name])) for name in names]

    def cells(self, name: str) -> Sequence[str]:
        """The text of a column as in the file; empty if a cell is missing."""
        texts: list[str] = texts_of(self.columns([name])[0]).to_pylist()
        return texts

    def parse(self, names: Sequence[str]) -> list[ParsedColumn]:
        """The numbers of some columns, and the rows without a number."""
        if self.lines is None:  # only text files have lines
            return [parse_typed(column) for column in self.columns(names)]
        return [parse_texts(column, self.decimal) for column in self.columns(names)]

    def strip_signs(self, name: str, parsed: ParsedColumn) -> tuple[ParsedColumn, set[str]]:
        """Read numbers with signs, such as $7,440 and 60%, and return the signs ("" for none)."""
        numbers, strangers = parsed
        cells = self.cells(name)
        found = {row: unmarked(cells[row], self.decimal) for row in strangers.tolist()}
        read = {row: pair for row, pair in found.items() if pair is not None}
        numbers = numbers.copy()
        numbers[list(read)] = [number for number, _ in read.values()]
        signs = {sign for _, sign in read.values()}
        signs |= {""} if np.isfinite(parsed.numbers).any() else set()
        left = np.array([row for row in strangers.tolist() if row not in read], dtype=np.intp)
        return ParsedColumn(numbers, left), signs

    def csv_rows(self) -> Any:
        """The rows as csv, an Arrow array of bytes, with a line feed before each row."""
        if self._csv_rows is not None:
            return self._csv_rows
        return csv_rows_of([texts_of(column) for column in self.columns(self.names)])

    def to_arrow(self, numeric: Sequence[str] = ()) -> Any:
        """The rows as an Arrow table; columns of text files are text, except for the named ones."""
        columns = dict(zip(self.names, self.columns(self.names), strict=True))
        if self.lines is not None:
            numbers = (pa.array(column.numbers, from_pandas=True) for column in self.parse(numeric))
            columns |= dict(zip(numeric, numbers, strict=True))
        return pa.table(columns)

    def line_of(self, row: int) -> int | None:
        """The line of a row of this block; None if the format has no lines."""
        return None if self.lines is None else int(self.lines[row])

    def place(self, row: int) -> str:
        """The position of a row of this block, as text."""
        line = self.line_of(row)
        return f"row {self._row_in_file + row} counted from 0" if line is None else f"line {line}"

    def cell(self, row: int, name: str) -> Place:
        """The position of a cell of this block."""
        where = f"{self.source}, {self.place(row)}" if self.is_part else ""
        return Place(self.first_row + row, self.line_of(row), name, where)

    def not_a_number(self, row: int, name: str) -> TableError:
        """An error about a cell that is not a number."""
        remedies = {
            "numbers with commas between thousands": "Save the file without commas between "
            "thousands, and with decimal points.",
            "numbers with a decimal comma": "For decimal commas, set decimal=','.",
            "numbers with a decimal point": (
                "The file is read with decimal commas, because other columns have them; for "
                "decimal points, set decimal='.'."
            ),
        }
        remedy = "Correct it, leave the cell empty, or choose other columns."
        remedy = remedies.get(look_of([self.cells(name)[row]], self.decimal), remedy)
        return self._bad_cell(row, name, f"is not a number. {remedy}")

    def not_finite(self, row: int, name: str) -> TableError:
        """An error about an infinite number."""
        what = "is not a finite number. Replace it by a finite one, or leave the cell empty."
        return self._bad_cell(row, name, what)

    def not_in_order(self, row: int, name: str, order: Sequence[str]) -> TableError:
        """An error about a category without a rank."""
        known = listed(map(shown, order))
        what = f"is not one of its ordered categories ({known}). Add it to them, or correct it."
        return self._bad_cell(row, name, what)

    def too_large(self, row: int, name: str) -> TableError:
        """An error about a number that is too large for squared distances."""
        what = "is too large: squared distances overflow. Correct it, or remove the row."
        return self._bad_cell(row, name, what)

    def _bad_cell(self, row: int, name: str, what: str) -> TableError:
        where = f"{self.source}, {self.place(row)}, column {shown(name)}"
        cell = shown(self.cells(name)[row])
        return TableError(f"{where}: {cell} {what}", line=self.line_of(row), column=name)


class TableFile(AbstractContextManager["TableFile"]):
    """A table that can be read several times, block by block; a context manager.

    Attributes
    ----------
    name : str
        The name of the table in messages.
    format : str
        "csv", "tsv", "ndjson", "parquet", "arrow", "npy", "xlsx"; "frame" for an object in memory.
    names : tuple of str
        The columns, in order.
    paths : list of Path
        The files; empty for an object in memory.
    n_passes : int
        The number of times that the rows were read, with the current pass.
    n_rows : int or None
        The number of rows, after the table was read to its end.
    fingerprint : str or None
        "sha256:" and the hash of the bytes, after the table was read to its end.
    fraction_read : float
        The fraction of the table that the current pass has read, in (0, 1].
    decimal : {".", ","}
        The decimal mark of numbers in a text file.
    decimal_is_given : bool
        Whether the decimal mark was given by the user, not detected.
    decimals_differ : bool
        Whether, in the first lines, one column has decimal commas and another has decimal points.
    encoding : str or None
        The encoding of a text file, if it was given, or is neither UTF-8 nor UTF-16.
    assumed : list of str
        What was detected about the file and may be wrong, as short texts.
    """

    fraction_read: float = 1.0
    decimal: str = "."
    decimal_is_given: bool = True
    decimals_differ: bool = False
    encoding: str | None = None

    def __init__(self, *, name: str, format: str, temporary: Path | None = None) -> None:
        self.name = name
        self.format = format
        self.names: tuple[str, ...] = ()
        self.paths: list[Path] = []
        self.n_passes = 0
        self.n_rows: int | None = None
        self.fingerprint: str | None = None
        self.assumed: list[str] = []
        self._digest = hashlib.sha256()
        self._temporary = temporary

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary file of standard input."""
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each column."""
        return {name: j for j, name in enumerate(self.names)}

    def blocks(self) -> Iterator[Block]:
        """All rows in order, in blocks of some megabytes."""
        n_rows, self.n_passes = 0, self.n_passes + 1
        try:
            for block in self._read():
                block.fraction_read = self.fraction_read
                n_rows += block.n_rows
                if self.n_rows is not None and n_rows > self.n_rows:
                    raise self.changed()
                yield block
            fingerprint = f"sha256:{self._digest.hexdigest()}"
        except OSError as error:
            raise TableError(
                f"{self.name} could not be read to its end: {reason_of(error)}. Check the file, "
                "and read it again."
            ) from error
        if n_rows == 0:
            raise TableError(
                f"{self.name} has columns ({listed(map(shown, self.names))}), but no rows. Add "
                "rows, or choose another file."
            )
        if self.fingerprint not in (None, fingerprint):
            raise self.changed()
        self.n_rows, self.fingerprint = n_rows, fingerprint

    def settings(self) -> dict[str, Any]:
        """The settings of :func:`open_table` with which each file is read in the same way."""
        return {}

    def changed(self) -> TableError:
        """An error that the file has changed."""
        return TableError(
            f"{self.name} changed while it was read. Wait until nothing writes to it, or copy "
            "it, and read it again."
        )

    @abstractmethod
    def _read(self) -> Iterator[Block]:
        """One pass over the rows; at its end, `_digest` is the hash of the bytes."""


def reason_of(error: OSError) -> str:
    """What the system says, without numbers and paths."""
    return (error.strerror or str(error) or type(error).__name__).lower()
