"""Files of columns with types: parquet, arrow and feather, through pyarrow."""

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
from typicality.tables.base import Block, TableFile, hash_of
from typicality.tables.cells import ParsedColumn, number_texts
from typicality.tables.sniffing import named_columns

_CELLS = 2**18  # of a block
_MOST_ROWS = 2**16
_ARROW = b"ARROW1"


class ColumnarBlock(Block):
    """Rows of a file whose columns have types: numbers, and everything else."""

    def __init__(self, table: "_ColumnarFile", first_row: int, batch: Any) -> None:
        super().__init__(table, first_row, n_rows=batch.num_rows)
        self._batch = batch

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        return {}

    def cells(self, name: str) -> Sequence[str]:
        if name not in self._texts:
            self._texts[name] = _texts_of(self._column(name))
        return self._texts[name]

    def parsed(self, name: str) -> ParsedColumn:
        column = self._column(name)
        if _is_number(column.type):
            numbers = _floats_of(column)
            return ParsedColumn(numbers, np.empty(0, dtype=np.intp))
        present = ~column.is_null().to_numpy(zero_copy_only=False)
        return ParsedColumn(np.full(self.n_rows, np.nan), np.flatnonzero(present))

    def _column(self, name: str) -> Any:
        column = self._batch.column(self.index[name])
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
        texts = number_texts(column.to_numpy(zero_copy_only=False))
        missing = column.is_null().to_numpy(zero_copy_only=False)
        return ["" if absent else text for text, absent in zip(texts, missing, strict=True)]
    if _is_number(column.type) or types.is_string(column.type):
        return ["" if value is None else str(value) for value in column.to_pylist()]
    if types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's dates have no nanoseconds.
        texts = column.cast("string").to_pylist()
        return ["" if text is None else text.replace(" ", "T", 1) for text in texts]
    try:
        return [_text_of(value) for value in column.to_pylist()]
    except (ValueError, OverflowError):
        # Dates beyond Python's years, or of a zone it does not know: the numbers of the file.
        numbers = column.view("int64" if column.type.bit_width == 64 else "int32")
        return [_text_of(value) for value in numbers.to_pylist()]


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
        self._fraction = 1.0
        with self._guarded(), self._opened() as opened:
            given = self._names(opened)
        if not given:
            raise TableError(f"{name} has no columns. Choose a file with columns of numbers.")
        self.names = tuple(named_columns(given, name, header=True)[0])

    def _read(self, rows: int | None) -> Iterator[Block]:
        at_most = rows or min(_MOST_ROWS, max(1, _CELLS // len(self.names)))
        first_row = 0
        with self._guarded(), self._opened() as opened:
            for batch, fraction in self._batches(opened, at_most):
                self._fraction = fraction
                batch.validate(full=True)  # what is wrong inside would else end the process
                if batch.num_rows:
                    yield ColumnarBlock(self, first_row, batch)
                    first_row += batch.num_rows

    def _hash(self) -> str:
        return hash_of(self.path)

    @property
    def fraction_read(self) -> float:
        return self._fraction

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Errors of pyarrow as errors about the file; those of the system stay what they are."""
        try:
            yield
        except (self._arrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            reason = str(error).splitlines()[0].rstrip(".")
            raise TableError(
                f"{self.name} is no whole {self.format} file ({reason}). It is cut off, or of "
                "another kind: get it again, or name its format with --format."
            ) from error

    @abstractmethod
    def _opened(self) -> Any:
        """A context with the open file."""

    @abstractmethod
    def _names(self, opened: Any) -> list[str]:
        """The names of the columns."""

    @abstractmethod
    def _batches(self, opened: Any, rows: int) -> Iterator[tuple[Any, float]]:
        """Batches of rows, and how much of the file was read with each."""


class ParquetFile(_ColumnarFile):
    """A parquet file."""

    def _opened(self) -> Any:
        parquet = import_module("pyarrow.parquet")
        # With a buffer, or a whole group of rows would be loaded at once.
        return parquet.ParquetFile(self.path, buffer_size=2**20, pre_buffer=False)

    def _names(self, opened: Any) -> list[str]:
        return list(opened.schema_arrow.names)

    def _batches(self, opened: Any, rows: int) -> Iterator[tuple[Any, float]]:
        n_rows, n_read = opened.metadata.num_rows, 0
        for batch in opened.iter_batches(batch_size=rows, use_threads=False):
            n_read += batch.num_rows
            yield batch, n_read / max(n_rows, 1)


class ArrowFile(_ColumnarFile):
    """An arrow (IPC) or feather file, or a stream of arrow that was kept in a file."""

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self._arrow.memory_map(str(self.path)) as mapped:
            if mapped.read(len(_ARROW)) == _ARROW:
                yield self._arrow.ipc.open_file(mapped)
            else:
                mapped.seek(0)
                yield self._arrow.ipc.open_stream(mapped)

    def _names(self, opened: Any) -> list[str]:
        return list(opened.schema.names)

    def _batches(self, opened: Any, rows: int) -> Iterator[tuple[Any, float]]:
        is_file = hasattr(opened, "get_batch")
        n_batches = opened.num_record_batches if is_file else 1
        batches = map(opened.get_batch, range(n_batches)) if is_file else opened
        for i, batch in enumerate(batches, 1):
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows), min(i / n_batches, 1.0)


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
