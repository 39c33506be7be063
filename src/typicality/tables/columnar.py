"""Files of columns with types: parquet, arrow and feather, through pyarrow."""

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from typicality.exceptions import TableError
from typicality.tables._words import shown
from typicality.tables.base import Block, TableFile
from typicality.tables.cells import ParsedColumn
from typicality.tables.sniffing import named_columns

__all__ = ["ArrowFile", "ColumnarBlock", "ParquetFile"]

_CELLS = 2**20  # of a block
_MOST_ROWS = 2**16


class ColumnarBlock(Block):
    """Rows of a file whose columns have types: numbers, and everything else."""

    def __init__(self, table: "_ColumnarFile", first_row: int, batch: Any) -> None:
        self.source, self.names = table.name, table.names
        self.first_row, self.first_line = first_row, None
        self.n_rows = batch.num_rows
        self._batch = batch

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        return {}

    def cells(self, name: str) -> Sequence[str]:
        if name not in self._texts:
            self._texts[name] = _texts_of(self._column(name))
        return self._texts[name]

    def rows(self) -> Sequence[Sequence[str]]:
        return list(zip(*map(self.cells, self.names), strict=True))

    def line_of(self, row: int) -> int | None:
        return None

    def parsed(self, name: str) -> ParsedColumn:
        column = self._column(name)
        if _is_number(column.type):
            numbers = _floats_of(column)
            return ParsedColumn(numbers, np.empty(0, dtype=np.intp))
        present = ~column.is_null().to_numpy(zero_copy_only=False)
        return ParsedColumn(np.full(self.n_rows, np.nan), np.flatnonzero(present))

    def _column(self, name: str) -> Any:
        column = self._batch.column(self.names.index(name))
        return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _is_number(kind: Any) -> bool:
    types = import_module("pyarrow").types
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(numeric or types.is_null(kind))


def _floats_of(column: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    # Not safe, because whole numbers beyond 2**53 lose digits, as they do everywhere.
    floats = column.cast("float64", safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def _texts_of(column: Any) -> list[str]:
    """Cells as text: numbers with the digits of their own precision, dates as in ISO 8601."""
    types = import_module("pyarrow").types
    if types.is_float16(column.type) or types.is_float32(column.type):
        values = column.to_numpy(zero_copy_only=False)
        missing = column.is_null().to_numpy(zero_copy_only=False)
        return ["" if m else str(v) for v, m in zip(values, missing, strict=True)]
    if types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's dates have no nanoseconds.
        return ["" if v is None else v for v in column.cast("string").to_pylist()]
    return [_text_of(value) for value in column.to_pylist()]


def _text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


class _ColumnarFile(TableFile):
    """What parquet and arrow share."""

    def __init__(self, path: Path, *, name: str, format: str) -> None:
        super().__init__(path, name=name, format=format)
        self._arrow = _pyarrow(name, format)
        self._n_read = 0
        with self._guarded(), self._opened() as opened:
            given = list(self._schema(opened).names)
        if not given:
            raise TableError(f"{name} has no columns. Choose a file with columns of numbers.")
        self.names = tuple(named_columns(given, name, header=True)[0])

    def _read(self, rows: int | None) -> Iterator[Block]:
        at_most = rows or min(_MOST_ROWS, max(1, _CELLS // len(self.names)))
        first_row = 0
        with self._guarded(), self._opened() as opened:
            self._n_rows = self._count(opened)
            for batch in self._batches(opened, at_most):
                self._n_read = first_row + batch.num_rows
                yield ColumnarBlock(self, first_row, batch)
                first_row += batch.num_rows

    def _hash(self) -> str:
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def fraction_read(self) -> float:
        return self._n_read / self._n_rows if self._n_rows else 1.0

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Errors of pyarrow as errors about the file."""
        try:
            yield
        except (self._arrow.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise TableError(
                f"{self.name} is no whole {self.format} file: {reason}. It may be cut off or of "
                "another kind: get it again, or name its format with --format."
            ) from error

    @abstractmethod
    def _opened(self) -> Any: ...

    @abstractmethod
    def _schema(self, opened: Any) -> Any: ...

    @abstractmethod
    def _count(self, opened: Any) -> int: ...

    @abstractmethod
    def _batches(self, opened: Any, rows: int) -> Iterator[Any]: ...


class ParquetFile(_ColumnarFile):
    """A parquet file."""

    def _opened(self) -> Any:
        parquet = import_module("pyarrow.parquet")
        # A buffer, or whole groups of rows would be loaded at once.
        return parquet.ParquetFile(self.path, buffer_size=2**20, pre_buffer=False)

    def _schema(self, opened: Any) -> Any:
        return opened.schema_arrow

    def _count(self, opened: Any) -> int:
        return int(opened.metadata.num_rows)

    def _batches(self, opened: Any, rows: int) -> Iterator[Any]:
        yield from opened.iter_batches(batch_size=rows, use_threads=False)


class ArrowFile(_ColumnarFile):
    """An arrow (IPC) or feather file."""

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self._arrow.memory_map(str(self.path)) as mapped:
            yield self._arrow.ipc.open_file(mapped)

    def _schema(self, opened: Any) -> Any:
        return opened.schema

    def _count(self, opened: Any) -> int:
        return sum(opened.get_batch(i).num_rows for i in range(opened.num_record_batches))

    def _batches(self, opened: Any, rows: int) -> Iterator[Any]:
        for i in range(opened.num_record_batches):
            batch = opened.get_batch(i)
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)


def _pyarrow(name: str, format: str) -> Any:
    try:
        arrow = import_module("pyarrow")
        import_module("pyarrow.ipc")
    except ImportError as error:
        raise TableError(
            f"{name}: reading {shown(format)} files needs the package pyarrow. Install it with "
            'pip install "typicality[io]".'
        ) from error
    return arrow
