"""Text files with delimiters: csv, tsv and their relatives."""

import csv
import hashlib
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from typicality._typing import Doubles
from typicality._words import counted
from typicality.exceptions import TableError
from typicality.tables.base import Block, TableFile, size_of
from typicality.tables.cells import ParsedColumn, csv_lines, parse_numbers, with_missing_filled
from typicality.tables.sniffing import (
    LONGEST_LINE,
    bad_quotation,
    holds_zeros,
    line_too_long,
    named_columns,
    sniff,
)

_CHARACTERS = 2**20  # of text in a block: what fits a cache is read twice as fast
_BUFFER = 2**18
_UNDECODED = re.compile("[\udc80-\udcff]")  # how Python stands for bytes that are no text
_BLANK = frozenset(["\n", "\r\n", "\r"])


class Records(NamedTuple):
    """Rows of a text file.

    Parameters
    ----------
    lines : list of str or None
        The text of each row, where it is one line.
    rows : list of list of str or None
        The cells of each row, where some are quoted. Others need not be cut into cells unless
        somebody wants to see them.
    numbers : sequence of int
        The line in which each row begins.
    """

    lines: list[str] | None
    rows: list[list[str]] | None
    numbers: Sequence[int]


class DelimitedBlock(Block):
    """Rows of a text file."""

    def __init__(self, table: "DelimitedFile", first_row: int, records: Records) -> None:
        numbers = records.numbers
        super().__init__(table, first_row, n_rows=len(numbers), first_line=numbers[0])
        self._delimiter = table.dialect.delimiter
        self._records = records

    @cached_property
    def _rows(self) -> list[list[str]]:
        lines, rows, _ = self._records
        if rows is not None:
            return rows
        return [line.rstrip("\r\n").split(self._delimiter) for line in lines or ()]

    @cached_property
    def _columns(self) -> list[tuple[str, ...]]:
        return list(zip(*self._rows, strict=True))

    def cells(self, name: str) -> Sequence[str]:
        return self._columns[self.index[name]]

    def parsed(self, name: str) -> ParsedColumn:
        return parse_numbers(self.cells(name))

    def line_of(self, row: int) -> int | None:
        return self._records.numbers[row]

    def csv_lines(self) -> list[str]:
        lines = self._records.lines
        if lines is not None and self._delimiter == ",":
            return [line.rstrip("\r\n") for line in lines]
        return csv_lines(self._rows)

    def quick_numbers(self, names: Sequence[str]) -> Doubles | None:
        lines, rows, _ = self._records
        if lines is None:
            return None
        columns = [self.index[name] for name in names]
        numbers = _load(lines, self._delimiter, columns)
        if numbers is None and rows is None:
            filled = with_missing_filled(lines, self._delimiter)
            numbers = None if filled is None else _load(filled, self._delimiter, columns)
        return numbers


def _load(lines: list[str], delimiter: str, columns: list[int]) -> Doubles | None:
    try:
        return np.loadtxt(
            lines, delimiter=delimiter, usecols=columns, comments=None, quotechar='"', ndmin=2
        )
    except ValueError:  # some cell is no number
        return None


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
        self._hashing = _HashingFile(self.path, self.name)
        buffered = io.BufferedReader(self._hashing, _BUFFER)
        encoding = self.dialect.encoding
        with io.TextIOWrapper(buffered, encoding=encoding, newline="") as stream:
            try:
                yield from self._blocks(_Lines(stream), rows or _CHARACTERS)
            except UnicodeDecodeError as error:
                raise self._undecodable(error) from error

    def _blocks(self, lines: "_Lines", rows: int) -> Iterator[Block]:
        first_row = 0
        if self.has_header and not any(row for row, _ in self._records(lines, 1)):
            raise self.changed()
        while taken := lines.take(rows):
            records = self._plain(taken, lines) or self._quoted(taken, lines)
            if len(records.numbers):
                yield DelimitedBlock(self, first_row, records)
                first_row += len(records.numbers)

    def _plain(self, taken: list[str], lines: "_Lines") -> Records | None:
        """Lines without quotation marks: each is a row."""
        text = "".join(taken)
        start = lines.number - len(taken) + 1
        if "\0" in text:
            line = start + next(i for i, line in enumerate(taken) if "\0" in line)
            raise holds_zeros(self.name, line)
        if '"' in text:
            return None
        numbers: Sequence[int] = range(start, start + len(taken))
        if not _BLANK.isdisjoint(taken):
            numbers = [n for n, line in zip(numbers, taken, strict=True) if line not in _BLANK]
            taken = [line for line in taken if line not in _BLANK]
        widths = [line.count(self.dialect.delimiter) + 1 for line in taken]
        self._refuse_ragged(widths, numbers, lines)
        return Records(taken, None, numbers)

    def _quoted(self, taken: list[str], lines: "_Lines") -> Records:
        """Records with quotation marks: the last may go on beyond the lines that were taken."""
        start = lines.number - len(taken) + 1
        whole = self._whole(taken)
        if whole is not None:
            records = Records(taken, whole, range(start, start + len(taken)))
        else:
            found = list(self._records(chain(taken, lines), start, len(taken)))
            rows = [row for row, _ in found if row]
            records = Records(None, rows, [number for row, number in found if row])
        self._refuse_ragged(list(map(len, records.rows or ())), records.numbers, lines)
        return records

    def _whole(self, taken: list[str]) -> list[list[str]] | None:
        """The cells of lines, if each is a row of its own; it is quicker to read them at once."""
        try:
            rows = list(csv.reader(taken, delimiter=self.dialect.delimiter, strict=True))
        except csv.Error:
            return None
        return rows if len(rows) == len(taken) and all(rows) else None

    def _records(
        self, lines: Iterable[str], start: int, n_lines: int = sys.maxsize
    ) -> Iterator[tuple[list[str], int]]:
        """Records that begin within some lines, and where they do."""
        # Strict, or a quotation that never ends would swallow the rest of the file unnoticed.
        reader = csv.reader(lines, delimiter=self.dialect.delimiter, strict=True)
        while reader.line_num < n_lines:
            number = start + reader.line_num
            try:
                yield next(reader), number
            except StopIteration:
                return
            except csv.Error as error:
                raise bad_quotation(self.name, str(error), number) from error

    def _refuse_ragged(self, widths: list[int], numbers: Sequence[int], lines: "_Lines") -> None:
        if set(widths) <= {len(self.names)}:
            return
        row = next(i for i, width in enumerate(widths) if width != len(self.names))
        is_last = row == len(widths) - 1 and not lines.take(1)
        remedy = (
            "It is the last one: is the file cut off? Get it again, or remove the line."
            if is_last
            else "Correct the line: cells with a delimiter in them belong in quotation marks."
        )
        raise TableError(
            f"{self.name}, line {numbers[row]}: {counted(widths[row], 'cell')}, where the first "
            f"line has {len(self.names):,}. {remedy}",
            line=numbers[row],
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
    """A file that is hashed as it is read, and refused where a line would fill the memory."""

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        self._line_length = 0
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
        some = bytes(memoryview(buffer)[:n_bytes])
        self.digest.update(some)
        self._n_read += n_bytes
        self._refuse_long_line(some)
        return n_bytes

    def _refuse_long_line(self, some: bytes) -> None:
        last_end = max(some.rfind(b"\n"), some.rfind(b"\r"))
        self._line_length = len(some) - last_end - 1 + (self._line_length if last_end < 0 else 0)
        if self._line_length > LONGEST_LINE:
            raise line_too_long(self._name)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Lines:
    """Lines one by one, or many at once; `number` of them were handed out."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream
        self._waiting: list[str] = []
        self._at = 0
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        while taken := self.take(1):
            yield from taken

    def take(self, rows: int) -> list[str]:
        """At most so many lines, and not many more characters than a block may have."""
        if self._at == len(self._waiting):
            self._waiting, self._at = self._stream.readlines(_CHARACTERS), 0
        taken = self._waiting[self._at : self._at + rows]
        self._at += len(taken)
        self.number += len(taken)
        return taken
