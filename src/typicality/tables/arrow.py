"""Columns with types, through Arrow: parquet, arrow, feather, ndjson, and data frames."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.json as arrow_json
import pyarrow.parquet as pq
from pyarrow import types

from typicality.exceptions import TableError
from typicality.tables import base
from typicality.tables.base import Block, TableFile, hash_of
from typicality.tables.lines import Lines
from typicality.tables.sniffing import ARROW, named_columns

_MOST_ROWS = 2**16

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
                    yield Block(self, first_row, batch)
                    first_row += batch.num_rows

    def _hash(self) -> str:
        if self._paths:
            return hash_of(*self._paths)
        digest = hashlib.sha256()
        with self._open() as (_, batches):
            for batch, _ in batches(_MOST_ROWS):
                digest.update(batch.serialize())
        return digest.hexdigest()

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
    # What pandas calls an index without a name.
    table = table.drop([name for name in table.column_names if name.startswith("__index_level_")])

    @contextmanager
    def open_() -> Iterator[Opened]:
        yield (
            table.schema,
            lambda rows: _counted(iter(table.to_batches(max_chunksize=rows)), table.num_rows),
        )

    return open_
