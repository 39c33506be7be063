"""A table that is read block by block; formats fill in how."""

import hashlib
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from typicality._cached import cached_property
from typicality._typing import Places
from typicality._words import listed, shown, shown_path
from typicality.exceptions import OptionOf, Remedy, TableError
from typicality.tables.cells import (
    ParsedColumn,
    is_number,
    look_of,
    parse_texts,
    parse_typed,
    plain,
    texts_of,
    unmarked,
    with_decimal_points,
)

BLOCK_BYTES = 2**21  # of a block, in memory; larger ones do not fit a cache
_REMEDIES = {
    "numbers with a decimal comma": Remedy("decimal", ",", "For decimal commas, use {}."),
    "numbers with a decimal point": Remedy(
        "decimal", ".", "The file is read with decimal commas. For decimal points, use {}."
    ),
}


class Assumption(NamedTuple):
    """What was detected about a file and may be wrong, and the parameter that says otherwise."""

    what: str
    remedy: Remedy | None = None

    def sentence(self, option_of: OptionOf | None = None) -> str:
        """The assumption, with the parameter of the remedy as `option_of` writes it."""
        return self.what + (f" ({self.remedy.sentence(option_of)})" if self.remedy else "")


# Some rows of a file: their cells, their lines, and the fraction of the file up to them.
Part = tuple[Any, Places | None, float]


@dataclass(eq=False)
class Block:
    """Some consecutive rows of a table.

    Attributes
    ----------
    table : TableFile
        The table.
    source : str
        The name of the table in messages; of the file, if the table has several.
    lines : array of shape (n_rows,) or None
        The line of the file in which each row begins, from 1; None if the format has no lines.
    first_row : int
        The number of the first row in the table, from 0.
    fraction_read : float
        The fraction of the table up to the end of this block, in (0, 1].
    """

    table: "TableFile"
    source: str
    _cells: Any
    lines: Places | None
    first_row: int
    _row_in_file: int
    fraction_read: float

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        return self.table.names

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self._cells.num_rows)

    @property
    def is_part(self) -> bool:
        """Whether the table has several files. Then `lines` are lines of the file `source`."""
        return len(self.table.sources) > 1

    def columns(self, names: Sequence[str]) -> list[Any]:
        """Some columns as Arrow arrays; for text files, arrays of text."""
        return [plain(self._cells.column(self.table.index[name])) for name in names]

    def cells(self, name: str) -> Sequence[str]:
        """The text of a column as in the file; empty if a cell is missing."""
        texts: list[str] = texts_of(self.columns([name])[0]).to_pylist()
        return texts

    def parse(self, names: Sequence[str]) -> list[ParsedColumn]:
        """The numbers of some columns, and the rows without a number.

        Text files have lines, and JSON often has numbers as text.
        """
        is_json = self.table.format in ("json", "ndjson")

        def parsed(column: Any) -> ParsedColumn:
            if self.lines is not None or (is_json and pa.types.is_string(column.type)):
                return parse_texts(column, self.table.decimal)
            return parse_typed(column)

        return list(map(parsed, self.columns(names)))

    def strip_signs(
        self, name: str, parsed: ParsedColumn, *, also_plain: bool = True
    ) -> tuple[ParsedColumn, set[str]]:
        """Read numbers with signs, such as $7,440 and 60%, and return the signs ("" for none).

        Digits in a column of text, where the format has types, are numbers if `also_plain`.
        """
        numbers, strangers = parsed
        cells = self.cells(name)
        found = {row: unmarked(cells[row], self.table.decimal) for row in strangers.tolist()}
        read = {
            row: pair
            for row, pair in found.items()
            if pair is not None and (also_plain or not is_number(cells[row], self.table.decimal))
        }
        numbers = numbers.copy()
        numbers[list(read)] = [number for number, _ in read.values()]
        signs = {sign for _, sign in read.values()}
        signs |= {""} if np.isfinite(parsed.numbers).any() else set()
        left = np.array([row for row in strangers.tolist() if row not in read], dtype=np.intp)
        return ParsedColumn(numbers, left), signs

    def before(self, row: int) -> "Block":
        """The rows of this block before a row of the table."""
        n_rows = row - self.first_row
        if n_rows >= self.n_rows:
            return self
        lines = None if self.lines is None else self.lines[:n_rows]
        return replace(self, _cells=self._cells.slice(0, n_rows), lines=lines)

    def texts(self, rewritten: Collection[str] = ()) -> list[Any]:
        """All columns as Arrow arrays of text; the numbers of some are `rewritten` as 1234.5."""
        return [
            with_decimal_points(texts_of(column), self.table.decimal)
            if name in rewritten
            else texts_of(column)
            for name, column in zip(self.names, self.columns(self.names), strict=True)
        ]

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

    def position(self, row: int) -> tuple[int, str]:
        """The number in the table of a row of this block, and its position as text."""
        where = f"{self.source}, " if self.is_part else ""
        return self.first_row + row, where + self.place(row)

    def bad_cell(
        self, row: int, name: str, reason: str, remedy: Remedy | None = None
    ) -> TableError:
        """An error about a cell; the reason follows the text of the cell."""
        line = self.line_of(row)
        return TableError(
            f"{shown(self.cells(name)[row])} {reason}",
            source=self.source,
            line=line,
            row=self._row_in_file + row if line is None else None,
            column=name,
            remedy=remedy,
        )

    def not_a_number(self, rows: Places, name: str) -> TableError:
        """An error about the first of some cells that is not a number.

        A column of text in a dataframe or a parquet file may have numbers, too.
        """
        cells, decimal = self.cells(name), self.table.decimal
        row = next((i for i in rows.tolist() if not is_number(cells[i], decimal)), int(rows[0]))
        if is_number(cells[row], decimal):
            what = "is text, like the whole column. Convert the column to numbers."
            return self.bad_cell(row, name, what)
        look = look_of([cells[row]], decimal)
        remedy = _REMEDIES.get(look)
        advice = "" if remedy else " Correct it, leave the cell empty, or choose other columns."
        return self.bad_cell(row, name, f"is not a number.{advice}", remedy)

    def not_finite(self, row: int, name: str) -> TableError:
        """An error about an infinite number."""
        what = "is not a finite number. Replace it by a finite one, or leave the cell empty."
        return self.bad_cell(row, name, what)


class TableFile(AbstractContextManager["TableFile"]):
    """A table that can be read several times, block by block; a context manager.

    Parameters
    ----------
    name : str
        The name of the table in messages.
    format : str
        "csv", "tsv", "ndjson", "parquet", "arrow", "npy", "xlsx", "json"; "frame" for an object in
        memory.
    paths : sequence of Path
        The files, which are one table; empty for an object in memory.
    temporary : sequence of Path
        The files to remove when the table is closed.

    Attributes
    ----------
    names : tuple of str
        The columns, in order.
    sources : list of str
        The names of the files in messages.
    n_rows : int or None
        The number of rows, after the table was read to its end.
    fraction_read : float
        The fraction of the table that the current pass has read, in (0, 1].
    decimal : {".", ","}
        The decimal mark of numbers in a text file.
    encoding : str or None
        The encoding of a text file, if it was given, or is neither UTF-8 nor UTF-16.
    assumed : list of Assumption
        What was detected about the file and may be wrong.
    totals : tuple of int and str, or None
        The number and the position of a last row that is left out, because it has the totals of the
        rows above it.
    """

    decimal: str = "."
    encoding: str | None = None

    def __init__(
        self,
        *,
        name: str,
        format: str,
        paths: Sequence[Path] = (),
        temporary: Sequence[Path] = (),
    ) -> None:
        self.name, self.format, self.paths = name, format, list(paths)
        self.sources = list(map(shown_path, paths)) if len(paths) > 1 else [name]
        self.names: tuple[str, ...] = ()
        self.n_rows: int | None = None
        self.fraction_read = 0.0
        self.assumed: list[Assumption] = []
        self.totals: tuple[int, str] | None = None
        self._stamps = list(map(_stamp, self.paths))
        self._temporary = list(temporary)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove temporary files."""
        for path in self._temporary:
            path.unlink(missing_ok=True)

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each column."""
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def fingerprint(self) -> str:
        """The hash of the bytes of the file after "sha256:"; of several, the hash of the hashes."""
        hashes = []
        for path in self.paths:
            with open(path, "rb") as file:
                hashes.append(hashlib.file_digest(file, "sha256"))
        if len(hashes) > 1:
            hashes = [hashlib.sha256(b"".join(each.digest() for each in hashes))]
        return f"sha256:{hashes[0].hexdigest()}"

    def settings(self) -> dict[str, Any]:
        """The settings of :func:`open_table` with which each file is read in the same way."""
        return {}

    def blocks(self) -> Iterator[Block]:
        """All rows in order, in blocks of some megabytes."""
        n_rows = 0
        try:
            self.require_unchanged()
            for found in self._read():
                block = found if self.totals is None else found.before(self.totals[0])
                n_rows += block.n_rows
                if block.n_rows:
                    yield block
            self.require_unchanged()
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
        self.n_rows = n_rows

    def leave_out_totals(self, row: int, place: str) -> None:
        """Leave out the last row, which has the totals of the others."""
        self.totals = row, place
        self.assumed.append(Assumption(f"{place} skipped, as it has the totals of the rows above"))

    def require_unchanged(self) -> None:
        """Raise an error if a file has another size or time than when the table was opened."""
        if list(map(_stamp, self.paths)) != self._stamps:
            raise TableError(
                f"{self.name} changed while it was read. Wait until nothing writes to it, or copy "
                "it, and read it again."
            )

    def _read(self) -> Iterator[Block]:
        """One pass over the rows of all files."""
        sizes = [size for size, _ in self._stamps]
        sizes = sizes if len(sizes) == len(self.sources) else [1]  # of a table in memory
        first_row, done, total = 0, 0, sum(sizes)
        for number, (source, size) in enumerate(zip(self.sources, sizes, strict=True)):
            row_in_file = 0
            for cells, lines, part in self._parts(number):
                self.fraction_read = (done + part * size) / total
                block = Block(
                    self, source, cells, lines, first_row, row_in_file, self.fraction_read
                )
                if block.n_rows:
                    yield block
                first_row += block.n_rows
                row_in_file += block.n_rows
            done += size

    @abstractmethod
    def _parts(self, number: int) -> Iterator[Part]:
        """The rows of one of the files."""


def require_same_columns(source: str, names: Sequence[str], expected: Sequence[str]) -> None:
    """An error if a file has other columns than the first file of the table."""
    if list(names) != list(expected):
        here, first = (listed(map(shown, some)) for some in (names, expected))
        raise TableError(
            f"the columns are {here}, and in the first file {first}. Write all files with the same "
            "columns in the same order.",
            source=source,
        )


def reason_of(error: OSError) -> str:
    """The reason that the system gives, without numbers and paths."""
    return (error.strerror or str(error) or type(error).__name__).lower()


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
