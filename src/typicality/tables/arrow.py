"""Columns with types: parquet, arrow, feather, ndjson, npy and dataframes."""

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as arrow_json
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import types

from typicality._cached import cached_property
from typicality._words import shown_path
from typicality.exceptions import Remedy, TableError
from typicality.tables import base
from typicality.tables.base import Assumption, Part, TableFile, require_same_columns
from typicality.tables.lines import unpacked
from typicality.tables.sniffing import named_columns

_MOST_ROWS = 2**16
_ROW = re.compile(r"(?:JSON parse error: )?(.*?)\.? in row (\d+)", re.S)

# A schema, and a function that returns batches of so many rows, each with the fraction of the file
# that was read.
Opened = tuple[Any, Callable[[int], Iterator[tuple[Any, float]]]]


class ArrowTable(TableFile):
    """A table in one file or several of a format that Arrow or NumPy reads.

    The types of several files become types that hold the values of all.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns, with the names in the files.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.schema: Any = None
        for path, source in zip(self.paths, self.sources, strict=True):
            with _guarded(source, self.format), _OPENERS[self.format](path, source) as (found, _):
                self.schema = found if self.schema is None else self._joined(found, source)
        self.names = _named(self.schema, self.name, self.assumed)

    def _joined(self, found: Any, source: str) -> Any:
        """The types that hold the values of the files so far and of one more."""
        require_same_columns(source, sorted(found.names), sorted(self.schema.names))
        try:
            return pa.unify_schemas([self.schema, found], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TableError(
                f"{source} differs from the files before it: {_reason(error)}. Write all files "
                "with the same columns and types."
            ) from error

    def _parts(self, number: int) -> Iterator[Part]:
        rows, path, source = _rows_of_block(self.names), self.paths[number], self.sources[number]
        with _guarded(source, self.format), _OPENERS[self.format](path, source) as (_, batches):
            for batch, fraction_read in batches(rows):
                batch.validate(full=True)  # what is wrong inside would else end the process
                cells = batch
                if batch.schema != self.schema and len(self.paths) > 1:
                    # Not safe: whole numbers among fractions may lose digits.
                    cells = batch.select(self.schema.names).cast(self.schema, safe=False)
                for start in range(0, cells.num_rows, rows):
                    yield cells.slice(start, rows), None, fraction_read


class MemoryTable(TableFile):
    """A table in memory: a dataframe, or files that are read as a whole.

    Parameters
    ----------
    table : pyarrow.Table
        The rows.
    **options : dict
        The parameters of :class:`TableFile`.
    """

    def __init__(self, table: Any, **options: Any) -> None:
        super().__init__(**options)
        self.sources = [self.name]
        self._table = table
        self.names = _named(table.schema, self.name, self.assumed)

    @cached_property
    def fingerprint(self) -> str:
        if self.paths:
            return super().fingerprint
        digest = hashlib.sha256()
        for batch in self._table.to_batches(max_chunksize=_MOST_ROWS):
            digest.update(batch.serialize())
        return f"sha256:{digest.hexdigest()}"

    def _parts(self, number: int) -> Iterator[Part]:
        n_rows = 0
        for batch in self._table.to_batches(max_chunksize=_rows_of_block(self.names)):
            n_rows += batch.num_rows
            yield batch, None, n_rows / self._table.num_rows


def open_frame(frame: Any) -> TableFile:
    """A dataframe, or another object that supports Arrow, as a table."""
    name = f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"
    try:
        return MemoryTable(_table_of(frame), name=name, format="frame")
    except TableError:
        raise
    except Exception as error:  # of many kinds: from Arrow, and from the library of the frame
        reason = "; ".join(map(str, error.args)).rstrip(".")
        raise TableError(
            f"{name} cannot be converted to an Arrow table ({reason}). Pass a data frame "
            "whose columns have different names and hold one type each: numbers, text or "
            "dates."
        ) from error


def open_json(**options: Any) -> TableFile:
    """Files of JSON as one table: one object per line, or an array of objects, or columns.

    Objects can lack some of the fields.
    """
    format = options["format"]
    with _guarded(options["name"], format):
        tables = [_json_table(path, shown_path(path), format) for path in options["paths"]]
        joined = pa.concat_tables(tables, promote_options="permissive")
        joined.validate(full=True)
    return MemoryTable(joined, **options)


def _json_table(path: Path, source: str, format: str) -> Any:
    with unpacked(path) as (contents, _):
        data = contents.read()
    records = _records_of(data, source) if format == "json" else None
    if records is not None:
        data = b"".join(json.dumps(record).encode() + b"\n" for record in _alike(records))
    # As one block, so that an error names the row of the file.
    options = arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1)
    try:
        table = arrow_json.read_json(pa.py_buffer(data), options)
        dates = [field.name for field in table.schema if types.is_timestamp(field.type)]
        if dates:  # they stay the text they are
            schema = pa.schema([(name, pa.string()) for name in dates])
            as_text = arrow_json.ParseOptions(explicit_schema=schema)
            names = table.schema.names
            table = arrow_json.read_json(pa.py_buffer(data), options, as_text).select(names)
        while any(types.is_struct(field.type) for field in table.schema):
            table = table.flatten()  # {"size": {"x": 1}} is a column "size.x"
        return table
    except pa.ArrowInvalid as error:
        found = _ROW.match(str(error))
        if found is None:
            raise
        reason, row = found[1], int(found[2])
        lines = [number for number, line in enumerate(data.splitlines(), 1) if line.strip()]
        raise TableError(
            f"{reason}. Write one complete JSON object per line, and each field with the same "
            "type in all lines.",
            source=source,
            line=lines[min(row, len(lines) - 1)] if records is None else None,
            row=None if records is None else row,
        ) from error


def _constant(name: str) -> float | None:
    return None if name == "NaN" else float(name)


def _records_of(data: bytes, source: str) -> list[Any] | None:
    """The rows of an array of objects or of arrays, or of an object of columns; None for others.

    A column is a list, or an object with the row as key. The array may be the only one of objects
    in an object, as services answer. NaN is a missing value.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        content = json.loads(data, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        if data.lstrip().startswith(b"{"):  # lines
            return None
        line = getattr(error, "lineno", None)
        raise TableError(
            f"this is no JSON ({error}). Get the file again, or correct it.",
            source=source,
            line=line,
        ) from error
    if _is_array_of(dict, content):
        return list(content)
    if _is_array_of(list, content) and content:
        return _records_of_lists(content)
    columns = list(content.values()) if isinstance(content, dict) else []
    arrays = [each for each in columns if _is_array_of(dict, each) and each]
    if len(arrays) == 1:
        return list(arrays[0])
    if columns and all(isinstance(column, dict) for column in columns):
        rows = dict.fromkeys(row for column in columns for row in column)
        return [dict(zip(content, [c.get(row) for c in columns], strict=True)) for row in rows]
    if not columns or not all(isinstance(column, list) for column in columns):
        return None
    if len({*map(len, columns)}) > 1:
        raise TableError(
            "the columns differ in length. Write as many values in each.", source=source
        )
    return [dict(zip(content, row, strict=True)) for row in zip(*columns, strict=True)]


def _records_of_lists(rows: list[list[Any]]) -> list[dict[str, Any]]:
    """Rows without names, or with names in the first one if that has text only."""
    first, *others = rows
    if others and all(isinstance(cell, str) for cell in first):
        names, rows = list(named_columns(first, [])), others
    else:
        names = [f"column {j}" for j in range(1, max(map(len, rows)) + 1)]
    return [dict(zip(names, row, strict=False)) for row in rows]


def _is_array_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


def _alike(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records whose fields have one type each: values of several types become text."""
    kinds: dict[str, set[Any]] = {}
    for record in records:
        for name, value in record.items():
            if value is not None:
                kinds.setdefault(name, set()).add(float if type(value) is int else type(value))
    mixed = {name for name, found in kinds.items() if len(found) > 1}
    return [record | {name: _text(record.get(name)) for name in mixed} for record in records]


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _named(schema: Any, source: str, assumed: list[Assumption]) -> tuple[str, ...]:
    if not schema.names:
        raise TableError(f"{source} has no columns. Choose a file with columns of numbers.")
    return named_columns(schema.names, assumed)


def _rows_of_block(names: tuple[str, ...]) -> int:
    return min(_MOST_ROWS, max(1, base.BLOCK_BYTES // 8 // len(names)))


@contextmanager
def _guarded(source: str, format: str) -> Iterator[None]:
    """Errors of pyarrow as errors about the file; those of the system stay what they are."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise TableError(
            f"{source} is not a complete {format} file ({_reason(error)}). It is cut off, or has "
            "another format.",
            remedy=Remedy("format", None, "Get it again, or name its format with {}."),
        ) from error


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")


def _table_of(frame: Any) -> Any:
    if hasattr(frame, "iloc"):  # of pandas, without its index
        return pa.Table.from_pandas(frame, preserve_index=False)
    return pa.table(frame)


# ---- parquet and arrow ---------------------------------------------------------------------------


@contextmanager
def _open_parquet(path: Path, source: str) -> Iterator[Opened]:
    # With a buffer, or a whole group of rows would be loaded at once.
    with pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:

        def batches(rows: int) -> Iterator[tuple[Any, float]]:
            n_read, n_rows = 0, file.metadata.num_rows
            for batch in file.iter_batches(batch_size=rows, use_threads=False):
                n_read += batch.num_rows
                yield batch, n_read / n_rows
            if n_read != n_rows:  # Arrow ends without an error where the file was cut
                raise pa.ArrowInvalid(f"{n_read:,} of its {n_rows:,} rows could be read")

        yield file.schema_arrow, batches


@contextmanager
def _open_arrow(path: Path, source: str) -> Iterator[Opened]:
    """An arrow (IPC) or feather file, or a stream of arrow in a file."""
    # Plain reads: memory that is mapped to a file ends the process where the file is cut.
    with pa.OSFile(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        if is_file:
            found = pa.ipc.open_file(file)
            n = found.num_record_batches
            yield found.schema, lambda _: ((found.get_batch(i), (i + 1) / n) for i in range(n))
        else:
            stream = pa.ipc.open_stream(file)
            yield stream.schema, lambda _: ((batch, 1.0) for batch in stream)


# ---- npy -----------------------------------------------------------------------------------------


def open_array(path: Path, source: str) -> NDArray[Any]:
    """The table of numbers in an npy file, shape (n, d), read from the disk when it is used."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # of many kinds, from the parser
        raise TableError(
            f"{source} is not a complete file of numbers in npy format ({_reason(error)}).",
            remedy=Remedy(
                "format", None, "Save numbers with numpy.save, or name the format with {}."
            ),
        ) from error
    if array.dtype.kind not in "biuf":
        raise TableError(
            f"{source} holds an array of type {array.dtype}, which is not numeric. Save an array "
            "of numbers with numpy.save."
        )
    if array.ndim not in (1, 2) or 0 in array.shape[1:]:
        raise TableError(
            f"{source} holds an array of shape {array.shape}. Save an array with rows and columns."
        )
    table: NDArray[Any] = array[:, None] if array.ndim == 1 else array
    return table


@contextmanager
def _open_npy(path: Path, source: str) -> Iterator[Opened]:
    array = open_array(path, source)
    names = [f"x{j}" for j in range(1, array.shape[1] + 1)]

    def batches(rows: int) -> Iterator[tuple[Any, float]]:
        for start in range(0, len(array), rows):
            some = array[start : start + rows].astype(np.float64, order="F")
            columns = [pa.array(column) for column in some.T]
            yield pa.RecordBatch.from_arrays(columns, names), (start + len(some)) / len(array)

    yield pa.schema([(name, pa.float64()) for name in names]), batches


_OPENERS = {"parquet": _open_parquet, "arrow": _open_arrow, "npy": _open_npy}
