"""Text files with delimiters: csv, tsv and their relatives."""

import codecs
import csv
import re
import sys
from collections.abc import Iterator, Sequence
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
from typicality.tables.lines import HashedFile, TextBlock, text_blocks
from typicality.tables.sniffing import (
    AS_LEGACY,
    WHITESPACE,
    TextSettings,
    bad_quotation,
    holds_zeros,
    named_columns,
    sniff,
)

_MISSING = sorted(MISSING)
_TEXT = pa.string()
_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_AROUND = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t]+|[ \t]+(?=[\r\n]|\Z)")
_BLANKS = re.compile(rb'("[^"\r\n]*")|[ \t]+')


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
        self._delimiter = table.delimiter
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
                decimal_point=self.decimal,
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
    said : TextSettings
        What was said about how it is written; the rest is found out from its first lines.
    **options : dict
        What every :class:`TableFile` takes.
    """

    def __init__(self, path: Path, said: TextSettings, **options: Any) -> None:
        super().__init__(**options)
        self._path = path
        found = sniff(path, self.name, said)
        self.encoding = found.encoding
        self.decimal = found.decimal or "."
        self.decimal_is_given, self.decimals_differ = said.decimal is not None, not found.decimal
        self.names, self._has_header, renamed = named_columns(
            found.first, header=said.header, decimal=self.decimal
        )
        self.assumed += [*found.assumed, *renamed]
        self._is_spaced = found.delimiter == WHITESPACE
        self.delimiter = " " if self._is_spaced else found.delimiter
        self._n_comments = found.n_comments

    def settings_for_others(self, said: TextSettings) -> TextSettings:
        """Settings by which other files are read as this one; what is not sure stays open."""
        delimiter = WHITESPACE if self._is_spaced else self.delimiter
        return said._replace(delimiter=delimiter, header=self._has_header)

    def settings(self) -> dict[str, Any]:
        found = TextSettings(encoding=self.encoding, decimal=self.decimal)
        return self.settings_for_others(found)._asdict()

    def _read(self) -> Iterator[Block]:
        first_row, awaits_header = 0, self._has_header
        rest = None  # the beginning of a record that goes on in the next block
        with HashedFile(self._path) as file:
            for text in map(self._canonical, text_blocks(file, self.name, self.encoding)):
                self.fraction_read = text.fraction_read
                if rest is not None:
                    text = text._replace(data=rest.data + text.data, n_before=rest.n_before)
                    rest = None
                if b"\0" in text.data:
                    before = text.data[: text.data.index(b"\0") + 1]
                    raise holds_zeros(self.name, text.n_before + len(before.splitlines()))
                if awaits_header:
                    found, text = self._records(text, at_most=1)
                    awaits_header = not found
                block = None if awaits_header else self._plain(text, first_row)
                if block is None:
                    block, rest = self._quoted(text, first_row)
                if block.n_rows:
                    yield block
                    first_row += block.n_rows
            while file.read(2**20):  # bytes after the end of a compressed stream
                pass
            if awaits_header or file.fraction_read != 1.0:
                raise self.changed()
            self._digest = file.digest

    def _canonical(self, text: TextBlock) -> TextBlock:
        """Lines of comment become blank lines, and blanks between cells a single one."""
        if text.encoding != "utf-8" and self.encoding is None:
            self.encoding = text.encoding
            self.assumed.append(AS_LEGACY)
        data = text.data
        if text.n_before < self._n_comments:
            lines = _LINE.findall(data)
            n_comments = self._n_comments - text.n_before
            ends = [line[len(line.rstrip(b"\r\n")) :] for line in lines[:n_comments]]
            data = b"".join([*ends, *lines[n_comments:]])
        if self._is_spaced:
            data = _BLANKS.sub(lambda found: found[1] or b" ", _AROUND.sub(b"", data))
        return text._replace(data=data)

    def _plain(self, text: TextBlock, first_row: int) -> Block | None:
        """Rows of one line each; None where some are not, or quotation marks are out of place.

        Left to the slower way are also what Arrow cannot do: delimiters of several bytes, and a
        byte order mark, which it drops.
        """
        data, delimiter = text.data, self.delimiter
        if not delimiter.isascii() or data.lstrip(b"\r\n").startswith(codecs.BOM_UTF8):
            return None
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        data = b"\n" + data if data.endswith(b"\n") else b"\n" + data + b"\n"
        ends = _places(data, "\n")
        numbers = np.arange(text.n_before + 1, text.n_before + len(ends))
        is_blank = np.diff(ends) == 1
        if is_blank.any():
            numbers = numbers[~is_blank]
            data = re.sub(rb"\n+", b"\n", data)
            ends = _places(data, "\n")
        delimiters = _places(data, delimiter)
        if b'"' in data:
            marks = _places(data, '"')
            if not _surround_cells(marks, data, ends, delimiter):
                return None
            delimiters = delimiters[np.searchsorted(marks, delimiters) % 2 == 0]
        widths = np.diff(np.searchsorted(delimiters, ends)) + 1
        self._refuse_ragged(widths, numbers, is_last=text.is_last)
        return PlainBlock(self, first_row, data, ends, numbers)

    def _quoted(self, text: TextBlock, first_row: int) -> tuple[Block, TextBlock]:
        """Records with quotation marks, and the beginning of one that goes on after the block."""
        found, rest = self._records(text)
        rows = [row for row, _ in found]
        numbers = np.array([number for _, number in found], dtype=np.intp)
        widths = np.array(list(map(len, rows)))
        self._refuse_ragged(widths, numbers, is_last=text.is_last)
        cells = [pa.array(column, _TEXT) for column in zip(*rows, strict=True)]
        table = pa.RecordBatch.from_arrays(cells, list(self.names)) if rows else None
        csv_rows = None
        if len(rows) == rest.n_before - text.n_before and self.delimiter == ",":
            # Each line is a row: it is written as it stands.
            lines = text.data.splitlines()[: len(rows)]
            csv_rows = pa.array([b"\n" + line for line in lines], pa.binary())
        return Block(self, first_row, table, lines=numbers, csv_rows=csv_rows), rest

    def _records(
        self, text: TextBlock, at_most: int = sys.maxsize
    ) -> tuple[list[tuple[list[str], int]], TextBlock]:
        """Records that are not blank with the lines they begin in, and the text after them."""
        records: list[tuple[list[str], int]] = []
        number, at, n_taken = text.n_before, 0, 0

        def lines() -> Iterator[str]:
            nonlocal n_taken
            for line in _LINE.finditer(text.data):
                n_taken = line.end()
                yield line[0].decode()

        # Strict, or a quotation that never ends would swallow the rest of the file unnoticed.
        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        try:
            while at < len(text.data) and len(records) < at_most:
                if row := next(reader):
                    records.append((row, number + 1))
                number, at = text.n_before + reader.line_num, n_taken
        except csv.Error as error:
            if text.is_last or "unexpected end" not in str(error):
                raise bad_quotation(self.name, str(error), number + 1) from error
        return records, text._replace(data=text.data[at:], n_before=number)

    def _refuse_ragged(self, widths: NDArray[Any], numbers: Places, *, is_last: bool) -> None:
        wrong = np.flatnonzero(widths != len(self.names))
        if not len(wrong):
            return
        row = wrong[0]
        remedy = (
            "This is the last line, so the file may be cut off. Get it again, or remove the line."
            if is_last and row == len(widths) - 1
            else "Correct the line: put cells that contain a delimiter in quotation marks."
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
