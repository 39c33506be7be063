"""Columns with types, through Arrow: parquet, arrow, feather, ndjson, and data frames."""

import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json
import pyarrow.parquet as pq
from pyarrow import types

from typicality._words import shown
from typicality.exceptions import TableError
from typicality.tables import base
from typicality.tables.base import Block, TableFile
from typicality.tables.cells import plain
from typicality.tables.lines import HashedFile, TextBlock, text_blocks
from typicality.tables.sniffing import ARROW, named_columns

_MOST_ROWS = 2**16
_BATCH_BYTES = 2**24  # of rows that are unpacked at once, as a parquet file counts them
_DEEPEST = 100  # levels of nested values
_JSON_ERROR = re.compile(r"JSON parse error: (?:Column\(/(.*)\) )?(.*?)\.? in row (\d+)", re.S)
_JSON_MARKS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')

# A schema, and a function from a number of rows to batches and how much was read with each.
Opened = tuple[Any, Callable[[int], Iterator[tuple[Any, float]]]]


class ArrowTable(TableFile):
    """A table in one of the formats that Arrow reads.

    Parameters
    ----------
    open : callable
        Opens it: a context with the schema and the batches.
    paths : sequence of Path
        The files to hash; none for a table in memory.
    **options : dict
        What every :class:`TableFile` takes.
    """

    def __init__(
        self,
        open: Callable[[], AbstractContextManager[Opened]],
        *,
        paths: Sequence[Path] = (),
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._open, self._paths = open, paths
        with self._guarded(), open() as (schema, _):
            self.schema = schema
        given = list(schema.names)
        if not given:
            raise TableError(f"{self.name} has no columns. Choose a file with columns of numbers.")
        self.names, _, self.assumed = named_columns(given, header=True)
        self._wanted: Any = None

    def read_as(self, schema: Any) -> None:
        """Let rows have the columns and types of another schema."""
        self.names, self._wanted = tuple(schema.names), schema

    def _read(self) -> Iterator[Block]:
        rows = min(_MOST_ROWS, max(1, base.BLOCK_BYTES // 8 // len(self.names)))
        first_row, digest = 0, hashlib.sha256()
        sizes = [path.stat().st_size for path in self._paths]
        with self._guarded(), self._open() as (_, batches):
            for whole, self.fraction_read in batches(rows):
                whole.validate(full=True)  # what is wrong inside would else end the process
                if self._wanted is not None:
                    whole = whole.select(self._wanted.names)
                    if whole.schema.types != self._wanted.types:
                        # Not safe: whole numbers among fractions may lose digits.
                        whole = whole.cast(self._wanted, safe=False)
                if not self._paths:
                    digest.update(whole.serialize())
                for batch in _pieces_of(whole, rows):
                    yield Block(self, first_row, batch)
                    first_row += batch.num_rows
                    if [path.stat().st_size for path in self._paths] != sizes:
                        raise self.changed()
        for path in self._paths:
            with open(path, "rb") as file:
                while some := file.read(2**20):
                    digest.update(some)
        self._digest = digest

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Errors of pyarrow as errors about the file; those of the system stay what they are."""
        try:
            yield
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            reason = str(error).splitlines()[0].rstrip(".")
            raise TableError(
                f"{self.name} is not a complete {self.format} file ({reason}). It is cut off, "
                "or has another format: get it again, or name its format with format=."
            ) from error


def _pieces_of(batch: Any, rows: int) -> Iterator[Any]:
    """A batch in pieces of so many rows at most, and of less text than a block has bytes.

    A category counts as long as its text, which blocks are made of.
    """
    n_bytes = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        n_bytes += _text_bytes(column)
    ends = np.cumsum(n_bytes)
    start = 0
    while start < batch.num_rows:
        before = ends[start - 1] if start else 0
        fitting = int(np.searchsorted(ends, before + base.BLOCK_BYTES, side="right"))
        stop = max(start + 1, min(start + rows, fitting))
        yield batch.slice(start, stop - start)
        start = stop


def _text_bytes(column: Any) -> Any:
    """The bytes of each cell of a column of text; 0 for other columns."""
    kind = column.type
    if types.is_dictionary(kind) and _is_text(kind.value_type):
        column = pc.binary_length(plain(column.dictionary)).take(column.indices)
    elif _is_text(kind):
        column = pc.binary_length(plain(column))
    else:
        return 0
    return column.fill_null(0).to_numpy(zero_copy_only=False)


def _is_text(kind: Any) -> bool:
    kinds = (types.is_string, types.is_large_string, types.is_string_view)
    return any(is_kind(kind) for is_kind in kinds)


def _counted(batches: Iterator[Any], n_rows: int) -> Iterator[tuple[Any, float]]:
    n_read = 0
    for batch in batches:
        n_read += batch.num_rows
        yield batch, n_read / max(n_rows, 1)
    if n_read != n_rows:  # Arrow ends without an error where a file with a buffer was cut
        raise pa.ArrowInvalid(f"{n_read:,} of its {n_rows:,} rows could be read")


@contextmanager
def open_parquet(path: Path) -> Iterator[Opened]:
    """A parquet file."""
    # With a buffer, or a whole group of rows would be loaded at once.
    options: dict[str, Any] = {"buffer_size": 2**20, "pre_buffer": False}
    with pq.ParquetFile(path, **options) as first:
        schema, metadata = first.schema_arrow, first.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    largest = max((g.total_byte_size / max(g.num_rows, 1) for g in groups), default=0.0)
    # Repeated texts stay categories until a block takes them: they may be long.
    texts = [field.name for field in schema if _is_text(field.type)]

    def batches(rows: int) -> Iterator[tuple[Any, float]]:
        rows = max(1, min(rows, int(_BATCH_BYTES / max(largest, 1.0))))
        yield from _counted(
            file.iter_batches(batch_size=rows, use_threads=False), metadata.num_rows
        )

    with pq.ParquetFile(path, read_dictionary=texts, **options) as file:
        yield schema, batches


@contextmanager
def open_arrow(path: Path) -> Iterator[Opened]:
    """An arrow (IPC) or feather file, or a stream of arrow that was kept in a file."""
    # Plain reads: memory that is mapped to a file ends the process where the file is cut.
    with pa.OSFile(str(path)) as source:
        is_file = source.read(len(ARROW)) == ARROW
        source.seek(0)
        if not is_file:
            stream = pa.ipc.open_stream(source)
            yield stream.schema, lambda _: ((batch, 1.0) for batch in stream)
            return
        file = pa.ipc.open_file(source)
        n = file.num_record_batches
        yield file.schema, lambda _: ((file.get_batch(i), (i + 1) / n) for i in range(n))


def ndjson_opener(path: Path, name: str) -> Callable[[], AbstractContextManager[Opened]]:
    """Opens lines of JSON objects; a first pass finds their fields and types."""

    @cache
    def schema() -> Any:
        found = pa.schema([])
        for text in _json_blocks(path, name):
            _refuse_other_lines(text, name)
            fields = [
                pa.field(field.name, _with_dates_as_text(field.type))
                for field in _read_json(text, name, None).schema
            ]
            try:
                found = pa.unify_schemas([found, pa.schema(fields)], promote_options="permissive")
            except pa.ArrowException:
                for field in fields:  # read again, for an error that names the field and its line
                    if field.name in found.names:
                        _read_json(text, name, pa.schema([found.field(field.name)]))
                raise
        return found

    @contextmanager
    def open_() -> Iterator[Opened]:
        yield (
            schema(),
            lambda _: (
                (batch, text.fraction_read)
                for text in _json_blocks(path, name)
                for batch in _read_json(text, name, schema()).combine_chunks().to_batches()
            ),
        )

    return open_


def _json_blocks(path: Path, name: str) -> Iterator[TextBlock]:
    with HashedFile(path) as file:
        yield from (text for text in text_blocks(file, name) if text.data.strip())


def _json_lines(text: TextBlock) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, and their numbers."""
    for number, line in enumerate(text.data.splitlines(), text.n_before + 1):
        if stripped := line.strip():
            yield number, stripped


def _refuse_other_lines(text: TextBlock, name: str) -> None:
    """An error about the first line that is no object, or nested too deeply."""
    for line, content in _json_lines(text):
        if not (content.startswith(b"{") and content.endswith(b"}")):
            raise TableError(
                f"{name}, line {line}: {shown(content.decode())} is not a complete JSON object. "
                "Write one JSON object per line; if this is the last line, the file may be cut "
                "off.",
                line=line,
            )
        if len(content) > _DEEPEST and _depth(content) > _DEEPEST:
            raise TableError(
                f"{name}, line {line}: values are nested more than {_DEEPEST} levels deep. "
                "Write the columns that you need as fields of the object itself.",
                line=line,
            )


def _read_json(text: TextBlock, name: str, schema: Any) -> Any:
    """The objects as a table, with the columns of a schema; an error names the line."""
    try:
        table = arrow_json.read_json(
            pa.py_buffer(text.data),
            arrow_json.ReadOptions(use_threads=False, block_size=len(text.data) + 1),
            arrow_json.ParseOptions(explicit_schema=schema),
        )
    except pa.ArrowInvalid as error:
        found = _JSON_ERROR.fullmatch(str(error))
        if found is None:
            raise
        field, reason, row = found.groups()
        lines = [number for number, _ in _json_lines(text)]
        line = lines[min(int(row), len(lines) - 1)]
        what = reason if field is None else f"field {shown(field)} {reason}"
        remedy = "Correct the line: each holds one JSON object."
        if "changed from" in reason:
            remedy = "Write the field with the same type in all lines."
        raise TableError(f"{name}, line {line}: {what}. {remedy}", line=line) from error
    return table if schema is None else table.select(schema.names)


def _depth(text: bytes) -> int:
    """How deeply values are nested; far more than we take would end the process in Arrow."""
    if text.count(b"[") + text.count(b"{") <= _DEEPEST:
        return 0
    marks = _JSON_MARKS.findall(text)
    return max(accumulate((mark in b"[{") - (mark in b"]}") for mark in marks))


def _with_dates_as_text(kind: Any) -> Any:
    """Dates stay the text they are."""
    if types.is_timestamp(kind):
        return pa.string()
    if types.is_list(kind):
        return pa.list_(_with_dates_as_text(kind.value_type))
    if types.is_struct(kind):
        return pa.struct([(field.name, _with_dates_as_text(field.type)) for field in kind])
    return kind


def frame_opener(frame: Any, name: str) -> Callable[[], AbstractContextManager[Opened]]:
    """Opens a table in memory, such as a data frame."""
    try:
        table = _table_of(frame)
    except Exception as error:  # of many kinds: from Arrow, and from the library of the frame
        reason = "; ".join(map(str, error.args)).rstrip(".")
        raise TableError(
            f"{name} cannot be converted to an Arrow table ({reason}). Pass a data frame "
            "whose columns have different names and hold one type each: numbers, text or "
            "dates."
        ) from error

    @contextmanager
    def open_() -> Iterator[Opened]:
        yield (
            table.schema,
            lambda rows: _counted(iter(table.to_batches(max_chunksize=rows)), table.num_rows),
        )

    return open_


def _table_of(frame: Any) -> Any:
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return pa.Table.from_pandas(frame, preserve_index=False)
    kinds = getattr(frame, "dtypes", None)
    if isinstance(kinds, list) and "Object" in map(str, kinds):  # polars hands out their addresses
        raise TypeError("a column holds objects of Python")
    return pa.table(frame)
