"""Columns with types, through Arrow: parquet, arrow, feather, ndjson, and data frames."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.json as arrow_json
import pyarrow.parquet as pq
from pyarrow import types

from typicality.exceptions import TableError
from typicality.tables import base
from typicality.tables.base import Block, TableFile, hash_of, no_places
from typicality.tables.cells import ParsedColumn, csv_rows_of
from typicality.tables.lines import Lines
from typicality.tables.sniffing import ARROW, named_columns

_MOST_ROWS = 2**16

# A schema, and a function from a number of rows to batches and how much was read with each.
Opened = tuple[Any, Callable[[int], Iterator[tuple[Any, float]]]]


class ArrowBlock(Block):
    """Rows of a table whose columns have types: numbers, and everything else."""

    def __init__(self, table: TableFile, first_row: int, batch: Any) -> None:
        super().__init__(table, first_row, n_rows=batch.num_rows)
        self._batch = batch

    def cells(self, name: str) -> Sequence[str]:
        texts: list[str] = _texts_of(self._column(name)).to_pylist()
        return texts

    def parse(self, names: Sequence[str]) -> list[ParsedColumn]:
        return [_parsed(self._column(name)) for name in names]

    def csv_rows(self) -> Any:
        return csv_rows_of([_texts_of(self._column(name)) for name in self.names])

    def to_arrow(self, numeric: Sequence[str] = ()) -> Any:
        return pa.Table.from_batches([self._batch]).rename_columns(list(self.names))

    def _column(self, name: str) -> Any:
        column = self._batch.column(self.index[name])
        return column.dictionary_decode() if types.is_dictionary(column.type) else column


def _is_number(kind: Any) -> bool:
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(numeric or types.is_null(kind))


def _parsed(column: Any) -> ParsedColumn:
    if not _is_number(column.type):
        present = column.is_valid().to_numpy(zero_copy_only=False)
        return ParsedColumn(np.full(len(column), np.nan), np.flatnonzero(present))
    # Not safe, because whole numbers beyond 2**53 lose digits, as they do everywhere.
    floats = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    return ParsedColumn(np.asarray(floats, dtype=np.float64), no_places())


def _texts_of(column: Any) -> Any:
    """Cells as text: numbers with the digits of their own precision, dates as in ISO 8601."""
    kind = column.type
    if types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind):
        return column.cast("string").fill_null("")
    if types.is_float64(kind):
        return _texts_of_doubles(column).fill_null("")
    if types.is_floating(kind):
        missing = column.is_null().to_numpy(zero_copy_only=False)
        pairs = zip(column.to_numpy(zero_copy_only=False), missing, strict=True)
        return pa.array(["" if absent else str(value) for value, absent in pairs], pa.string())
    if types.is_timestamp(kind) and kind.unit == "ns":  # Python's dates have no nanoseconds
        return pc.replace_substring(column.cast("string"), " ", "T", max_replacements=1).fill_null(
            ""
        )
    try:
        values = column.to_pylist()
        return pa.array(map(_text_of, values), pa.string())
    except (ValueError, OverflowError):
        # Dates beyond Python's years, or of a zone it does not know: the numbers of the file.
        numbers = column.view("int64" if kind.bit_width == 64 else "int32")
        return numbers.cast("string").fill_null("")


def _texts_of_doubles(column: Any) -> Any:
    """The texts of Python; Arrow writes most, but not all numbers in the same way."""
    values = column.to_numpy(zero_copy_only=False)
    size = np.abs(values)
    alike = (size >= 1e-4) & (size < 1e9) & (values != np.rint(values))
    others = ~alike & column.is_valid().to_numpy(zero_copy_only=False)
    texts = column.cast("string")
    if others.any():
        ours = pa.array(map(str, values[others].tolist()), pa.string())
        texts = pc.replace_with_mask(texts, pa.array(others), ours)
    return texts


def _text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


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
            given = list(schema.names)
        if not given:
            raise TableError(f"{self.name} has no columns. Choose a file with columns of numbers.")
        self.names = tuple(named_columns(given, self.name, header=True)[0])

    def _read(self) -> Iterator[Block]:
        rows = min(_MOST_ROWS, max(1, base.BLOCK_BYTES // 8 // len(self.names)))
        first_row = 0
        with self._guarded(), self._open() as (_, batches):
            for whole, self.fraction_read in batches(rows):
                whole.validate(full=True)  # what is wrong inside would else end the process
                for start in range(0, whole.num_rows, rows):
                    batch = whole.slice(start, rows)
                    yield ArrowBlock(self, first_row, batch)
                    first_row += batch.num_rows

    def _hash(self) -> str:
        if self._paths:
            return hash_of(*self._paths)
        with self._open() as (schema, batches):
            sink = _Hashing()
            with pa.ipc.new_stream(pa.PythonFile(sink, "w"), schema) as stream:
                for batch, _ in batches(_MOST_ROWS):
                    stream.write_batch(batch)
        return sink.digest.hexdigest()

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
                f"{self.name} is no whole {self.format} file ({reason}). It is cut off, or of "
                "another kind: get it again, or name its format with format=."
            ) from error


class _Hashing:
    """A stream that keeps nothing but the hash of what is written to it."""

    closed = False

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.write = self.digest.update

    def flush(self) -> None:
        """Nothing waits to be written."""


def _counted(batches: Iterator[Any], n_rows: int) -> Iterator[tuple[Any, float]]:
    n_read = 0
    for batch in batches:
        n_read += batch.num_rows
        yield batch, n_read / max(n_rows, 1)


@contextmanager
def open_parquet(path: Path) -> Iterator[Opened]:
    """A parquet file."""
    # With a buffer, or a whole group of rows would be loaded at once.
    with pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
        n_rows = file.metadata.num_rows
        yield (
            file.schema_arrow,
            lambda rows: _counted(file.iter_batches(batch_size=rows, use_threads=False), n_rows),
        )


@contextmanager
def open_arrow(path: Path) -> Iterator[Opened]:
    """An arrow (IPC) or feather file, or a stream of arrow that was kept in a file."""
    with pa.memory_map(str(path)) as mapped:
        is_file = mapped.read(len(ARROW)) == ARROW
        mapped.seek(0)
        if not is_file:
            stream = pa.ipc.open_stream(mapped)
            yield stream.schema, lambda _: ((batch, 1.0) for batch in stream)
            return
        file = pa.ipc.open_file(mapped)
        n = file.num_record_batches
        yield file.schema, lambda _: ((file.get_batch(i), (i + 1) / n) for i in range(n))


@contextmanager
def open_dataset(paths: Sequence[Path], format: str) -> Iterator[Opened]:
    """Several parquet or arrow files as one table, in the order of their names."""
    data = ds.dataset([str(path) for path in paths], format=format, partitioning="hive")
    n_rows = data.count_rows()
    yield (
        data.schema,
        lambda rows: _counted(
            data.to_batches(
                batch_size=rows, batch_readahead=1, fragment_readahead=1, use_threads=False
            ),
            n_rows,
        ),
    )


def ndjson_opener(path: Path, name: str) -> Callable[[], AbstractContextManager[Opened]]:
    """Opens lines of JSON objects; a first pass finds their fields and types."""

    @cache
    def schema() -> Any:
        found = pa.schema([])
        for data in _json_blocks(Lines(path, name)):
            fields = [
                # Dates stay the text they are.
                pa.field(field.name, pa.string()) if types.is_timestamp(field.type) else field
                for field in _read_json(data, None).schema
            ]
            found = pa.unify_schemas([found, pa.schema(fields)], promote_options="permissive")
        return found

    def batches(lines: Lines) -> Iterator[tuple[Any, float]]:
        for data in _json_blocks(lines):
            read = _read_json(data, schema()).select(schema().names)
            for batch in read.combine_chunks().to_batches():
                yield batch, lines.fraction_read

    @contextmanager
    def open_() -> Iterator[Opened]:
        yield schema(), lambda _: batches(Lines(path, name))

    return open_


def _json_blocks(lines: Lines) -> Iterator[bytes]:
    with lines.file:
        while data := lines.take():
            if data.strip():
                yield data


def _read_json(data: bytes, schema: Any) -> Any:
    return arrow_json.read_json(
        pa.py_buffer(data),
        arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        arrow_json.ParseOptions(explicit_schema=schema),
    )


def frame_opener(frame: Any) -> Callable[[], AbstractContextManager[Opened]]:
    """Opens a table in memory, such as a data frame."""
    table = pa.table(frame)

    @contextmanager
    def open_() -> Iterator[Opened]:
        yield (
            table.schema,
            lambda rows: _counted(iter(table.to_batches(max_chunksize=rows)), table.num_rows),
        )

    return open_
