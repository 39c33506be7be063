"""Rows in files: each pass reads them again, block by block."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._files import atomic_file
from typicality._threads import TreeSum
from typicality._typing import Floats
from typicality._words import shown_path
from typicality.exceptions import TableError
from typicality.rows.array import ArrayRows
from typicality.rows.base import Block, Rows, Sum
from typicality.tables import TableFile, open_table, rows_of

_BLOCK_ENTRIES = 2**21  # numbers in a block: 16 MB as float64
_HELD_BYTES = 2**26  # results of `map` that take more are in a temporary file


class FileRows(Rows):
    """Rows in one or more files, made by :func:`open_rows`.

    Each pass reads all files and holds two blocks of rows in memory. If a file has changed since it
    was opened, an error is raised.

    Parameters
    ----------
    table : TableFile
        The files as one table.
    names : sequence of str
        The columns that are read.
    signs : mapping of str to str, optional
        The currency or unit signs of columns with numbers like $7,440.
    missing : {"error", "drop", "keep"}, default="error"
        What to do with rows that have missing values: raise an error, skip the row, or use NaN.

    Attributes
    ----------
    n_passes : int
        The number of times that the files were read.
    block_rows : int
        The number of rows of the largest block.
    watch : callable, optional
        A function that is called during a pass, with the number of the pass and the number of rows
        that are done.
    """

    def __init__(
        self,
        table: TableFile,
        names: Sequence[str],
        *,
        signs: Mapping[str, str] | None = None,
        missing: str = "error",
    ) -> None:
        self.paths = table.paths
        self._table, self._columns = table, list(names)
        has_names = any(path.suffix != ".npy" for path in self.paths)
        self.names = self._columns if has_names else None
        self._signs, self._missing = dict(signs or {}), missing
        self.n_features = len(names)
        self.dtype, self.weighted = np.dtype(np.float64), False
        self._size = max(1, _BLOCK_ENTRIES // self.n_features)
        self._stamps = [_stamp(path) for path in self.paths]
        self.n_passes = 0
        self.watch: Callable[[int, int], None] | None = None
        lengths = [len(block.X) for block in self._blocks()]  # also checks all cells
        self.n_rows, self.block_rows = sum(lengths), max(lengths, default=0)
        if self.n_rows == 0:
            raise TableError(f"{table.name} has no rows. Add rows, or choose another file.")

    def fold(self, function: Callable[[Block], Sum]) -> Sum:
        sums = TreeSum[Sum]()
        for block in self._blocks():
            sums.add(function(block))
        return sums.total()

    def map(self, function: Callable[[Block], Any]) -> Any:
        results: Any = None
        for block in self._blocks():
            part = np.asarray(function(block))
            if results is None:
                results = _room_for((self.n_rows, *part.shape[1:]), part.dtype)
            results[block.start : block.start + len(part)] = part
        return results

    def to_parquet(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        **results: Callable[[Rows], Any],
    ) -> None:
        """Write the results of a fitted model for each row to a parquet file, block by block.

        The file appears only when it is complete. After an error or an interrupt, there is no file.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool, default=False
            Whether to replace an existing file.
        **results : callable
            Methods of the model, each with the name of its column, for example
            ``label=model.predict``. If a method returns several numbers per row, the columns are
            ``name_0``, ``name_1``, ...

        Examples
        --------
        >>> rows.to_parquet("labels.parquet", label=model.predict)  # doctest: +SKIP
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not results:
            raise ValueError(
                "to_parquet got no results: pass methods of a fitted model by name, e.g. "
                "label=model.predict."
            )
        writer: Any = None
        with atomic_file(path, overwrite=overwrite, binary=True) as stream:
            for block in self._blocks():
                some = ArrayRows(block.X)
                some.names = self.names
                columns: dict[str, Any] = {}
                for name, method in results.items():
                    values = np.asarray(method(some))
                    each = {f"{name}_{k}": column for k, column in enumerate(values.T)}
                    columns |= {name: values} if values.ndim == 1 else each
                table = pa.table({n: np.ascontiguousarray(v) for n, v in columns.items()})
                writer = writer or pq.ParquetWriter(stream, table.schema)
                writer.write_table(table)
            writer.close()

    def _blocks(self) -> Iterator[Block]:
        """The blocks; the next one is read while the caller works on one."""
        start, self.n_passes = 0, self.n_passes + 1
        with ThreadPoolExecutor(1, thread_name_prefix="typicality-read") as reader:
            arrays = self._arrays()
            following = reader.submit(next, arrays, None)
            while (X := following.result()) is not None:
                following = reader.submit(next, arrays, None)
                if len(X):
                    yield Block(X, None, start)
                start += len(X)
                if self.watch is not None:
                    self.watch(self.n_passes, start)

    def _arrays(self) -> Iterator[Floats]:
        read = _quick_reader(self._table, self._columns, self._signs)
        if read is None:
            yield from _read_blocks(
                self._table.blocks(), self._columns, self._signs, self._missing, self._size
            )
        for path, stamp in zip(self.paths, self._stamps, strict=True):
            if read is not None:
                first = 0
                for X in read(path, self._columns, self._size):
                    yield _usable(X, self._missing, self._columns, path, first)
                    first += len(X)
            if _stamp(path) != stamp:
                raise TableError(
                    f"{path} changed while it was read. Wait until nothing writes to it, or copy "
                    "it, and open it again."
                )


def open_rows(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> FileRows:
    """Open files of rows that can be larger than memory.

    Pass the result to `fit` instead of an array. Each iteration reads the files once, block by
    block. Parquet and npy files are fast; csv files are parsed again in each pass.

    Parameters
    ----------
    path : str or path
        A file (csv, tsv, ndjson, parquet, arrow, npy), a folder of files of one format, or a
        pattern such as ``part-*.parquet``. Several files must have the same columns.
    columns : sequence of str, optional
        The columns to use. By default, all columns.

    Returns
    -------
    FileRows

    Raises
    ------
    TableError
        A column does not exist or does not hold numbers, or a number is missing or not finite. The
        message names the file, the row and the column.

    Examples
    --------
    >>> from typicality import FuzzyCMeans, open_rows
    >>> rows = open_rows("measurements/part-*.parquet")  # doctest: +SKIP
    >>> model = FuzzyCMeans(10).fit(rows)  # doctest: +SKIP
    """
    if os.fspath(path) == "-":
        raise TableError("Standard input can be read only once. Name a file instead of -.")
    table = open_table(path)
    names = list(table.names if columns is None else columns)
    missing = [name for name in names if name not in table.names]
    if missing:
        raise TableError(
            f"{table.name} has no column {missing[0]!r}; it has {', '.join(table.names)}. "
            "Every file must have all columns that are used."
        )
    return FileRows(table, names)


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when somebody writes to a file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _room_for(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array to fill; a large one is in a temporary file, which vanishes with the array."""
    if np.prod(shape, dtype=np.float64) * dtype.itemsize <= _HELD_BYTES:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(prefix="typicality-") as file:
        return np.memmap(file, dtype, "w+", shape=shape)


# ---- readers -------------------------------------------------------------------------------------


def _read_parquet(path: Path, names: Sequence[str], size: int) -> Iterator[Floats]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(size, columns=list(names)):
            yield _of_arrow(batch, path, names)


def _of_arrow(batch: Any, path: Path, names: Sequence[str]) -> Floats:
    from typicality.tables.cells import parse_typed

    block = np.empty((batch.num_rows, len(names)))
    for j, name in enumerate(names):
        parsed = parse_typed(batch.column(name))
        if len(parsed.strangers):
            raise TableError(
                f"{shown_path(path)}, column {name!r} holds something that is not a number. "
                "Leave the column out (columns=...), or convert it.",
                column=name,
            )
        block[:, j] = parsed.numbers
    return block


def _read_npy(
    path: Path, names: Sequence[str], size: int, start: int = 0, stop: int | None = None
) -> Iterator[Floats]:
    # Plain reads: a mapped file that somebody cuts off would end the process.
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            header = np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = header(file)
        stop = shape[0] if stop is None else stop
        width = shape[1] if len(shape) == 2 else 1
        chosen = [int(name[1:]) - 1 for name in names]
        begin, itemsize = file.tell(), dtype.itemsize
        for first in range(start, stop, size):
            n_rows = min(size, stop - first)
            if by_columns and width > 1:
                block = np.empty((n_rows, len(chosen)))
                for j, column in enumerate(chosen):
                    file.seek(begin + (column * shape[0] + first) * itemsize)
                    block[:, j] = _values(file, dtype, n_rows, path)
                yield block
                continue
            file.seek(begin + first * width * itemsize)
            rows = _values(file, dtype, n_rows * width, path).reshape(-1, width)
            rows = rows.astype(np.float64, copy=False)
            yield rows if chosen == list(range(width)) else np.ascontiguousarray(rows[:, chosen])


def _values(file: Any, dtype: Any, count: int, path: Path) -> NDArray[Any]:
    values = np.fromfile(file, dtype, count)
    if len(values) < count:
        raise TableError(f"{path} is cut off: it ends too early. Copy or write it again.")
    return values


def _read_blocks(
    blocks: Iterator[Any], names: Sequence[str], signs: Mapping[str, str], missing: str, size: int
) -> Iterator[Floats]:
    """The numbers of the blocks of a table, put together to `size` rows; no block has two files."""
    waiting: list[NDArray[Any]] = []
    n_waiting, source = 0, ""
    for block in blocks:
        if n_waiting and block.source != source:
            yield np.concatenate(waiting)
            waiting, n_waiting = [], 0
        source = block.source
        X = rows_of(block, names, signs=signs)
        is_missing = np.isnan(X)
        if missing == "error" and is_missing.any():
            row, column = np.argwhere(is_missing)[0]
            raise _missing(f"{source}, {block.place(int(row))}", names[column])
        waiting.append(X[~is_missing.any(axis=1)] if missing == "drop" else X)
        n_waiting += len(waiting[-1])
        if n_waiting >= size:
            joined = np.concatenate(waiting)
            full = len(joined) // size * size
            yield from (joined[start : start + size] for start in range(0, full, size))
            waiting, n_waiting = [joined[full:]], len(joined) - full
    if n_waiting:
        yield np.concatenate(waiting)


def _quick_reader(
    table: TableFile, names: Sequence[str], signs: Mapping[str, str] | None
) -> Callable[[Path, Sequence[str], int], Iterator[Floats]] | None:
    """A reader of the columns alone; None where blocks of the table must be parsed."""
    schema = getattr(table, "schema", None)
    if signs or (schema is not None and not {*names} <= {*schema.names}):  # some were renamed
        return None
    return {"parquet": _read_parquet, "npy": _read_npy}.get(table.format)


def _usable(X: Floats, missing: str, names: Sequence[str], path: Path, first: int) -> Floats:
    """Rows without what is missing, or with it; infinities, and what is not allowed, are errors."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return X
    is_bad = ~np.isfinite(X) if missing == "error" else np.isinf(X)
    if is_bad.any():
        row, column = np.argwhere(is_bad)[0]
        where = f"{shown_path(path)}, row {first + row} counted from 0"
        if np.isnan(X[row, column]):
            raise _missing(where, names[column])
        raise TableError(
            f"{where}, column {names[column]!r}: the number is infinite. Replace it with a "
            "finite number, or leave the column out (columns=...).",
            column=names[column],
        )
    return X[~np.isnan(X).any(axis=1)] if missing == "drop" else X


def _missing(where: str, name: str) -> TableError:
    return TableError(
        f"{where}, column {name!r}: the value is missing. Remove such rows, fill them in, or "
        "leave the column out (columns=...).",
        column=name,
    )


# ---- pieces for other processes ------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of one file, which any process can read by itself.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        Its format.
    names : tuple of str
        The columns to read.
    start, stop : int, int or None
        The first row, and the row after the last; None for all rows.
    signs, settings : dict
        As in :class:`FileRows`; how a text file is written.
    missing : str
        As in :class:`FileRows`.
    """

    path: Path
    format: str
    names: tuple[str, ...]
    start: int = 0
    stop: int | None = None
    signs: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    missing: str = "error"

    def read(self) -> Floats:
        """The numbers of the rows."""
        if self.stop is not None:
            if self.format == "parquet":
                X = _parquet_rows(self.path, self.names, self.start, self.stop)
            else:
                size = self.stop - self.start
                X = next(_read_npy(self.path, self.names, size, self.start, self.stop))
            return _usable(X, self.missing, self.names, self.path, self.start)
        with open_table(self.path, format=self.format, **self.settings) as table:
            found = _read_blocks(table._read(), self.names, self.signs, self.missing, 2**62)
            return next(found, np.empty((0, len(self.names))))


def pieces_of(
    table: TableFile,
    names: Sequence[str],
    *,
    signs: Mapping[str, str] | None = None,
    missing: str = "error",
) -> list[Piece]:
    """The files of a table in pieces: of parquet and npy files the blocks of `FileRows`.

    Other files are one piece each, because only their beginning can be found.
    """
    import pyarrow.parquet as pq

    size = max(1, _BLOCK_ENTRIES // len(names))
    pieces = []
    for path in table.paths:
        common: dict[str, Any] = {"signs": dict(signs or {}), "missing": missing}
        common |= {"path": path.resolve(), "format": table.format, "names": tuple(names)}
        if _quick_reader(table, names, signs) is None:
            if path.stat().st_size:
                pieces.append(Piece(**common, settings=table.settings()))
            continue
        if table.format == "parquet":
            n_rows = pq.read_metadata(path).num_rows
        else:
            n_rows = len(np.load(path, mmap_mode="r"))
        ranges = ((start, min(start + size, n_rows)) for start in range(0, n_rows, size))
        pieces += [Piece(**common, start=start, stop=stop) for start, stop in ranges]
    return pieces


def _parquet_rows(path: Path, names: Sequence[str], start: int, stop: int) -> Floats:
    """Some rows of a parquet file, by the groups of rows that hold them."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    ends = np.cumsum(sizes)
    first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
    groups = _row_groups(path, _stamp(path), first, last, tuple(names))
    before = int(ends[first] - sizes[first])
    (batch,) = groups.slice(start - before, stop - start).combine_chunks().to_batches()
    return _of_arrow(batch, path, names)


@lru_cache(maxsize=1)  # a large group of rows holds several pieces, which come one after the other
def _row_groups(path: Path, stamp: Any, first: int, last: int, names: tuple[str, ...]) -> Any:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read_row_groups(list(range(first, last + 1)), columns=list(names))
