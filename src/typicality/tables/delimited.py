"""Text files with delimiters: csv, tsv and their relatives."""

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from typicality._typing import Places
from typicality._words import counted
from typicality.exceptions import Remedy, TableError
from typicality.tables.base import Assumption, Part, TableFile, require_same_columns
from typicality.tables.cells import is_number
from typicality.tables.layout import canonical, csv_delimiter
from typicality.tables.lines import TextFile, n_breaks, open_text
from typicality.tables.sniffing import (
    Dialect,
    TextSettings,
    bad_quotation,
    sniff,
)

_RAGGED = "Correct the line: put cells that contain a delimiter in quotation marks."


class DelimitedFile(TableFile):
    """One csv file or several, or files with another delimiter.

    Parameters
    ----------
    given : TextSettings
        How the files are written; the rest is detected. The first file decides about all.
    texts : sequence of Path, optional
        The files to read, if these are copies of the files of the table.
    **options : dict
        The parameters of :class:`TableFile`.
    """

    def __init__(
        self, given: TextSettings, *, texts: Sequence[Path] | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self._texts = self.paths if texts is None else list(texts)
        self._dialects: list[Dialect] = []
        text = given
        for path, source in zip(self._texts, self.sources, strict=True):
            found = sniff(path, source, text)
            self._dialects.append(found)
            text = given._replace(delimiter=found.delimiter, header=found.has_header)
            self.assumed += [each for each in found.assumed if each not in self.assumed]
            self._require_like_first(found, source)
        first = self._dialects[0]
        self.names, self.decimal = first.names, first.decimal
        encodings = {dialect.encoding for dialect in self._dialects}
        is_usual = given.encoding is None and encodings <= {"utf-8", "utf-16"}
        self.encoding = None if is_usual or len(encodings) > 1 else encodings.pop()

    def settings(self) -> dict[str, Any]:
        first = self._dialects[0]
        found = (first.delimiter, first.has_header, self.encoding, self.decimal)
        return TextSettings(*found)._asdict()

    def _require_like_first(self, found: Dialect, source: str) -> None:
        first = self._dialects[0]
        require_same_columns(source, found.names, first.names)
        if found.decimal != first.decimal:
            pair = [source, self.sources[0]]
            commas, points = pair if found.decimal == "," else pair[::-1]
            raise TableError(
                f"{commas} seems to have decimal commas, and {points} does not.",
                remedy=Remedy("decimal", ",", "If all files have decimal commas, use {}."),
            )

    def _parts(self, number: int) -> Iterator[Part]:
        path, dialect = self._texts[number], self._dialects[number]
        with open_text(path, self.sources[number], dialect.encoding) as file:
            for _ in range(dialect.n_skipped):
                file.next_lines(0)
            first, notes, is_cut = file.line, dict[int, int](), False
            while text := canonical(file.next_lines(), dialect.delimiter, escaped=dialect.escaped):
                is_cut = not text.endswith(("\n", "\r"))
                cells = self._plain(text, csv_delimiter(dialect.delimiter))
                if cells is None:
                    cells, lines = self._records(text, file, first, dialect, notes)
                else:
                    lines = np.arange(first, first + cells.num_rows)
                if notes and len(lines) and lines[-1] > min(notes):
                    raise self._ragged(file.source, *min(notes.items()))
                yield cells, lines, file.fraction_read
                first = file.line
        if len(notes) == 1 and is_cut:  # in the middle of a row
            raise self._ragged(self.sources[number], *min(notes.items()))
        below = Assumption(f"{counted(len(notes), 'line')} below the table skipped")
        self.assumed += [below] if notes and below not in self.assumed else []

    def _ragged(self, source: str, line: int, n_cells: int) -> TableError:
        found = f"{counted(n_cells, 'cell')}, where the first line has {len(self.names):,}"
        return TableError(f"{found}. {_RAGGED}", source=source, line=line)

    def _plain(self, text: str, delimiter: str) -> Any:
        """The cells of some lines; None if a line is blank or ragged, or not a whole row.

        Arrow drops a byte order mark, and takes no delimiter of several bytes.
        """
        data = text.encode()
        if "\r" in text:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if not data.endswith(b"\n"):
            data += b"\n"
        if data.startswith((b"\n", codecs.BOM_UTF8)) or b"\n\n" in data:
            return None
        has_quotes = b'"' in data
        if not delimiter.isascii() or (has_quotes and not _quotes_cells(data, delimiter)):
            return None
        names = self._fields
        try:
            table = arrow_csv.read_csv(
                pa.py_buffer(data),
                arrow_csv.ReadOptions(
                    use_threads=False, block_size=len(data) + 1, column_names=names
                ),
                arrow_csv.ParseOptions(
                    delimiter=delimiter, quote_char='"' if has_quotes else False
                ),
                arrow_csv.ConvertOptions(
                    check_utf8=False, column_types=dict.fromkeys(names, pa.string())
                ),
            )
        except pa.ArrowInvalid:
            return None
        return table.to_batches()[0]

    def _records(
        self, text: str, file: TextFile, first: int, dialect: Dialect, notes: dict[int, int]
    ) -> tuple[Any, Places]:
        """The cells of some lines and the line of each row, by the module csv.

        If the last row has a line break, the lines that follow are read from the file. Lines with
        at most half of the cells, not all of them numbers, go to `notes`, with the number of their
        cells: they may stand below the table.
        """
        how: dict[str, Any] = {"delimiter": dialect.delimiter, "escaped": dialect.escaped}
        # They begin inside a quotation.
        following = (
            canonical(f'"{line}', **how)[1:] for line in iter(lambda: file.next_lines(0), "")
        )
        every = chain(io.StringIO(text, newline=""), following)
        # Strict, or a quotation without an end would take in the rest of the file.
        reader = csv.reader(every, delimiter=csv_delimiter(dialect.delimiter), strict=True)
        n_lines = n_breaks(text) + (not text.endswith(("\n", "\r")))
        rows, lines = list[list[str]](), list[int]()
        while reader.line_num < n_lines:
            line = first + reader.line_num
            try:
                row = next(reader)
            except csv.Error as error:
                raise bad_quotation(file.source, str(error), line) from error
            if len(row) == len(self.names):
                rows.append(row)
                lines.append(line)
            elif 2 * len(row) > len(self.names) or (row and all(map(is_number, row))):
                raise self._ragged(file.source, line, len(row))
            elif row:
                notes[line] = len(row)
        cells = zip(*rows, strict=True) if rows else [[]] * len(self.names)
        columns = [pa.array(column, pa.string()) for column in cells]
        return pa.RecordBatch.from_arrays(columns, self._fields), np.array(lines, dtype=np.intp)

    @property
    def _fields(self) -> list[str]:
        """Names of columns for Arrow, which are short and differ."""
        return [f"f{j}" for j in range(len(self.names))]


def _quotes_cells(data: bytes, delimiter: str) -> bool:
    """Whether quotation marks surround whole cells, or are doubled in them, within each line.

    The data end with a line feed, so that the letter before the first one is a line feed.
    """
    letters, limits = np.frombuffer(data, np.uint8), list(f'\n"{delimiter}'.encode())
    marks, ends = (np.flatnonzero(letters == ord(letter)) for letter in '"\n')
    if len(marks) % 2 or (np.searchsorted(marks, ends) % 2).any():
        return False
    # Two marks in a quoted cell end it and begin it again at once.
    before, after = letters[marks[::2] - 1], letters[marks[1::2] + 1]
    return bool(np.isin(before, limits).all() and np.isin(after, limits).all())
