"""Text files with delimiters: csv, tsv and their relatives."""

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality.exceptions import TableError
from typicality.tables._words import counted
from typicality.tables.base import Block, TableFile, size_of
from typicality.tables.cells import ParsedColumn, parse_numbers
from typicality.tables.sniffing import named_columns, sniff

__all__ = ["DelimitedBlock", "DelimitedFile"]

Doubles = NDArray[np.float64]

_CHARACTERS = 2**20  # of text in a block: what fits a cache is read twice as fast
_BUFFER = 2**18
_UNDECODED = re.compile("[\udc80-\udcff]")  # how Python stands for bytes that are no text
_BLANK = frozenset(["\n", "\r\n", "\r"])


class Records(NamedTuple):
    """Rows as text: `lines` where none has quotation marks, else `rows`; and their line numbers."""

    lines: list[str] | None
    rows: list[list[str]]
    numbers: Sequence[int]


class DelimitedBlock(Block):
    """Rows of a text file."""

    def __init__(self, table: "DelimitedFile", first_row: int, records: Records) -> None:
        self.source, self.names = table.name, table.names
        self.first_row, self.first_line = first_row, records.numbers[0]
        self.n_rows = len(records.numbers)
        self._delimiter = table.dialect.delimiter
        self._records = records

    @cached_property
    def _rows(self) -> list[list[str]]:
        lines, rows, _ = self._records
        return rows if lines is None else [_split(line, self._delimiter) for line in lines]

    @cached_property
    def _columns(self) -> list[tuple[str, ...]]:
        return list(zip(*self._rows, strict=True))

    def rows(self) -> Sequence[Sequence[str]]:
        return self._rows

    def cells(self, name: str) -> Sequence[str]:
        return self._columns[self.names.index(name)]

    def parsed(self, name: str) -> ParsedColumn:
        return parse_numbers(self.cells(name))

    def line_of(self, row: int) -> int | None:
        return self._records.numbers[row]

    def quick_numbers(self, names: Sequence[str]) -> Doubles | None:
        if self._records.lines is None:
            return None
        index = {name: j for j, name in enumerate(self.names)}
        try:
            numbers: Doubles = np.loadtxt(
                self._records.lines,
                delimiter=self._delimiter,
                usecols=[index[name] for name in names],
                comments=None,
                ndmin=2,
            )
        except ValueError:
            return None
        return numbers


class DelimitedFile(TableFile):
    """A csv file, or one with another delimiter.

    Parameters
    ----------
    path : Path
        Where it is.
    name : str
        What messages call it.
    format : str
        "csv" or "tsv".
    delimiter : str, optional
        What stands between cells; when left out, that of comma, semicolon, tab and bar that cuts
        the first lines into equal numbers of cells.
    header : bool, optional
        Whether the first record holds names; when left out, it does unless all its cells are
        numbers.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        format: str,
        delimiter: str | None = None,
        header: bool | None = None,
    ) -> None:
        super().__init__(path, name=name, format=format)
        self.dialect = sniff(path, name, delimiter=delimiter)
        names, self.has_header = named_columns(self.dialect.first, name, header=header)
        self.names = tuple(names)
        self._hashing: _HashingFile | None = None

    @property
    def fraction_read(self) -> float:
        return 1.0 if self._hashing is None else self._hashing.fraction_read

    def _hash(self) -> str:
        assert self._hashing is not None
        if self._hashing.fraction_read != 1.0:
            raise self.changed()
        return self._hashing.digest.hexdigest()

    def _read(self, rows: int | None) -> Iterator[Block]:
        self._hashing = _HashingFile(self.path)
        buffered = io.BufferedReader(self._hashing, _BUFFER)
        encoding = self.dialect.encoding
        with io.TextIOWrapper(buffered, encoding=encoding, newline="") as stream:
            lines = _Lines(stream)
            try:
                yield from self._blocks(lines, rows or _CHARACTERS)
            except UnicodeDecodeError as error:
                raise self._undecodable(error) from error
            except csv.Error as error:
                raise self._bad_quotes(str(error), lines.number) from error

    def _blocks(self, lines: "_Lines", rows: int) -> Iterator[Block]:
        first_row = 0
        if self.has_header:
            next(row for row in self._reader(lines) if row)
        while taken := lines.take(rows):
            records = self._records(taken, lines)
            if len(records.numbers):
                yield DelimitedBlock(self, first_row, records)
                first_row += len(records.numbers)

    def _records(self, taken: list[str], lines: "_Lines") -> Records:
        start = lines.number - len(taken) + 1
        if '"' in "".join(taken):
            return self._quoted_records(taken, lines, start)
        numbers: Sequence[int] = range(start, start + len(taken))
        if not _BLANK.isdisjoint(taken):
            numbers = [n for n, line in zip(numbers, taken, strict=True) if line not in _BLANK]
            taken = [line for line in taken if line not in _BLANK]
        widths = [line.count(self.dialect.delimiter) + 1 for line in taken]
        for width in set(widths) - {len(self.names)}:
            raise self._ragged(width, numbers[widths.index(width)], lines)
        return Records(taken, [], numbers)

    def _quoted_records(self, taken: list[str], lines: "_Lines", start: int) -> Records:
        # The last record may go on beyond the lines that were taken.
        reader = self._reader(chain(taken, lines))
        rows, numbers = [], []
        while reader.line_num < len(taken):
            number = start + reader.line_num
            row = next(reader)
            if row:
                if len(row) != len(self.names):
                    raise self._ragged(len(row), number, lines)
                rows.append(row)
                numbers.append(number)
        return Records(None, rows, numbers)

    def _reader(self, lines: Any) -> Any:
        # Strict, or a quotation that never ends would swallow the rest of the file unnoticed.
        return csv.reader(lines, delimiter=self.dialect.delimiter, strict=True)

    def _ragged(self, n_cells: int, line: int, lines: "_Lines") -> TableError:
        is_last = line == lines.number and not lines.take(1)
        remedy = (
            "It is the last line: is the file cut off? Get it again, or remove the line."
            if is_last
            else "Correct the line: cells with a delimiter in them belong in quotation marks."
        )
        expected = f"the first line has {len(self.names):,}"
        return TableError(
            f"{self.name}, line {line}: {counted(n_cells, 'cell')} where {expected}. {remedy}",
            line=line,
        )

    def _bad_quotes(self, reason: str, line: int) -> TableError:
        if "unexpected end" in reason:
            return TableError(
                f"{self.name} ends inside a quotation, at line {line}: it is cut off, or a "
                "quotation mark is missing. Get the file again, or close the quotation.",
                line=line,
            )
        if "field limit" in reason:
            return TableError(
                f"{self.name}, line {line}: a cell of more than {csv.field_size_limit():,} "
                "characters; a quotation that is never closed? Correct the quotation marks.",
                line=line,
            )
        return TableError(
            f"{self.name}, line {line}: a quotation mark where none may stand ({reason}). Write "
            "quotation marks inside a quoted cell twice.",
            line=line,
        )

    def _undecodable(self, error: UnicodeDecodeError) -> TableError:
        if self.dialect.encoding == "utf-16":
            return TableError(
                f"{self.name} is not UTF-16 text, though it begins so: {error.reason}. Save it "
                "with the encoding UTF-8."
            )
        with open(self.path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            number, line = next(
                (number, line) for number, line in enumerate(stream, 1) if _UNDECODED.search(line)
            )
        before, byte = _UNDECODED.split(line, maxsplit=1)[0], _UNDECODED.findall(line)[0]
        return TableError(
            f"{self.name}, line {number}: byte {len(before.encode()) + 1} of the line is "
            f"0x{ord(byte) - 0xDC00:02x}, which is not UTF-8. Save the file with the encoding "
            "UTF-8 (in a spreadsheet: 'CSV UTF-8').",
            line=number,
        )


class _HashingFile(io.RawIOBase):
    """A file that is hashed as it is read."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        self._size = size_of(path)
        self._n_read = 0
        self.digest = hashlib.sha256()

    @property
    def fraction_read(self) -> float:
        return self._n_read / self._size if self._size else 1.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = self._file.readinto(buffer) or 0
        self.digest.update(memoryview(buffer)[:n_bytes])
        self._n_read += n_bytes
        return n_bytes

    def close(self) -> None:
        self._file.close()
        super().close()


class _Lines:
    """Lines one by one, or many at once; `number` of them were handed out."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream
        self._waiting: list[str] = []
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        while taken := self.take(1):
            yield from taken

    def take(self, rows: int) -> list[str]:
        """At most so many lines, and not many more characters than a block may have."""
        if not self._waiting:
            self._waiting = self._stream.readlines(_CHARACTERS)
        taken, self._waiting = self._waiting[:rows], self._waiting[rows:]
        self.number += len(taken)
        return taken


def _split(line: str, delimiter: str) -> list[str]:
    return line.rstrip("\r\n").split(delimiter)
