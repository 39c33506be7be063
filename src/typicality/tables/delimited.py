"""Text files with delimiters: csv, tsv and their relatives."""

import codecs
import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from typicality._typing import Places
from typicality._words import counted
from typicality.exceptions import TableError
from typicality.tables.base import Block, TableFile
from typicality.tables.cells import MISSING, ParsedColumn, floats_of
from typicality.tables.lines import Lines
from typicality.tables.sniffing import bad_quotation, holds_zeros, named_columns, sniff

_MISSING = sorted(MISSING)
_TEXT = pa.string()


class PlainBlock(Block):
    """Rows of one line each, as the bytes of their lines.

    Parameters
    ----------
    data : bytes
        The lines, with a line feed before each and one after the last.
    ends : array of int, shape (n_rows + 1,)
        Where the line feeds are.
    """

    def __init__(
        self, table: "DelimitedFile", first_row: int, data: bytes, ends: Places, lines: Places
    ) -> None:
        super().__init__(table, first_row, None, lines=lines)
        self._delimiter = table.dialect.delimiter
        self._data, self._ends = data, ends
        self._has_quotes = b'"' in data

    def columns(self, names: Sequence[str], kind: Any = _TEXT) -> list[Any]:
        wanted = [f"f{self._index[name]}" for name in names]  # names of our own: none is special
        read = arrow_csv.read_csv(
            pa.py_buffer(self._data).slice(1),
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=len(self._data),
                column_names=[f"f{j}" for j in range(len(self.names))],
            ),
            arrow_csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char='"' if self._has_quotes else False,
                double_quote=True,
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, kind),
                null_values=_MISSING,
            ),
        )
        return [read.column(name).combine_chunks() for name in wanted]

    def parse(self, names: Sequence[str]) -> list[ParsedColumn]:
        try:
            quick = [floats_of(column) for column in self.columns(names, pa.float64())]
        except pa.ArrowInvalid:
            quick = [None]
        numbers = [column for column in quick if column is not None]
        if len(numbers) < len(names):
            return super().parse(names)
        return [ParsedColumn(column, np.empty(0, dtype=np.intp)) for column in numbers]

    def csv_rows(self) -> Any:
        data = self._data
        if self._delimiter != ",":
            if self._has_quotes or b"," in data:
                return super().csv_rows()
            data = data.replace(self._delimiter.encode(), b",")
        buffers = [None, pa.py_buffer(self._ends.astype(np.int32)), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.binary(), self.n_rows, buffers)


class DelimitedFile(TableFile):
    """A csv file, or one with another delimiter.

    Parameters
    ----------
    path : Path
        Where it is.
    delimiter : str, optional
        What stands between cells; when left out, that of comma, semicolon, tab and bar that cuts
        the first lines into equal numbers of cells.
    header : bool, optional
        Whether the first record holds names; when left out, it does unless all its cells are
        numbers.
    **options : dict
        What every :class:`TableFile` takes.
    """

    def __init__(
        self,
        path: Path,
        *,
        delimiter: str | None = None,
        header: bool | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._path = path
        self.dialect = sniff(path, self.name, delimiter=delimiter)
        names, self._has_header = named_columns(self.dialect.first, self.name, header=header)
        self.names = tuple(names)
        self._fingerprint = ""

    def _hash(self) -> str:
        return self._fingerprint

    def _read(self) -> Iterator[Block]:
        lines = Lines(self._path, self.name, self.dialect.encoding)
        with lines.file:
            yield from self._blocks(lines)
            while lines.file.read(2**20):  # bytes after the end of a compressed stream
                pass
            if lines.file.fraction_read != 1.0:
                raise self.changed()
            self._fingerprint = lines.file.digest.hexdigest()

    def _blocks(self, lines: Lines) -> Iterator[Block]:
        first_row = 0
        if self._has_header and not any(row for row, _ in self._records(lines, 1)):
            raise self.changed()
        while data := lines.take():
            self.fraction_read = lines.fraction_read
            if b"\0" in data:
                before = data[: data.index(b"\0") + 1]
                raise holds_zeros(self.name, lines.number + len(before.splitlines()))
            block = self._plain(data, lines, first_row) or self._quoted(data, lines, first_row)
            if block.n_rows:
                yield block
                first_row += block.n_rows

    def _plain(self, data: bytes, lines: Lines, first_row: int) -> Block | None:
        """Rows of one line each; None where some are not, or quotation marks are out of place.

        Left to the slower way are also what Arrow cannot do: delimiters of several bytes, and a
        byte order mark, which it drops.
        """
        delimiter = self.dialect.delimiter
        has_quotes = b'"' in data
        if not delimiter.isascii() or data.startswith(codecs.BOM_UTF8):
            return None
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        data = b"\n" + data if data.endswith(b"\n") else b"\n" + data + b"\n"
        ends = _places(data, "\n")
        n_lines = len(ends) - 1
        numbers = np.arange(lines.number + 1, lines.number + 1 + n_lines)
        is_blank = np.diff(ends) == 1
        if is_blank.any():
            numbers = numbers[~is_blank]
            data = re.sub(rb"\n+", b"\n", data)
            ends = _places(data, "\n")
        delimiters = _places(data, delimiter)
        if has_quotes:
            marks = _places(data, '"')
            if not _surround_cells(marks, data, ends, delimiter):
                return None
            delimiters = delimiters[np.searchsorted(marks, delimiters) % 2 == 0]
        lines.number += n_lines
        self._refuse_ragged(np.diff(np.searchsorted(delimiters, ends)) + 1, numbers, lines)
        return PlainBlock(self, first_row, data, ends, numbers)

    def _quoted(self, data: bytes, lines: Lines, first_row: int) -> Block:
        """Records with quotation marks: the last may go on beyond the lines that were taken."""
        taken = io.StringIO(data.decode(), newline="").readlines()
        start = lines.number + 1
        lines.number += len(taken)
        records = self._records(chain(taken, lines), start, len(taken))
        found = [(row, number) for row, number in records if row]
        rows = [row for row, _ in found]
        numbers = np.array([number for _, number in found], dtype=np.intp)
        self._refuse_ragged(np.array(list(map(len, rows))), numbers, lines)
        cells = [pa.array(column, _TEXT) for column in zip(*rows, strict=True)]
        table = pa.RecordBatch.from_arrays(cells, list(self.names)) if rows else None
        csv_rows = None
        if len(rows) == lines.number - start + 1 and self.dialect.delimiter == ",":
            # Each line is a row: it is written as it stands.
            csv_rows = pa.array([f"\n{line}".rstrip("\r\n") for line in taken]).cast("binary")
        return Block(self, first_row, table, lines=numbers, csv_rows=csv_rows)

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

    def _refuse_ragged(self, widths: NDArray[Any], numbers: Places, lines: Lines) -> None:
        wrong = np.flatnonzero(widths != len(self.names))
        if not len(wrong):
            return
        row = wrong[0]
        is_last = row == len(widths) - 1 and not lines.take()
        remedy = (
            "It is the last one: is the file cut off? Get it again, or remove the line."
            if is_last
            else "Correct the line: cells with a delimiter in them belong in quotation marks."
        )
        raise TableError(
            f"{self.name}, line {numbers[row]}: {counted(int(widths[row]), 'cell')}, where the "
            f"first line has {len(self.names):,}. {remedy}",
            line=int(numbers[row]),
        )


def _places(data: bytes, character: str) -> Places:
    return np.flatnonzero(np.frombuffer(data, np.uint8) == ord(character))


def _surround_cells(marks: Places, data: bytes, ends: Places, delimiter: str) -> bool:
    """Whether quotation marks stand around whole cells, or doubled in them, and within lines."""
    # Two marks in a quoted cell end it and begin it again at once.
    letters, limits = np.frombuffer(data, np.uint8), list(f'\n"{delimiter}'.encode())
    if len(marks) % 2 or (np.searchsorted(marks, ends) % 2).any():
        return False
    before, after = letters[marks[::2] - 1], letters[marks[1::2] + 1]
    return bool(np.isin(before, limits).all() and np.isin(after, limits).all())
