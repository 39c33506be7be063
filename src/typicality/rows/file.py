"""Rows in files: each pass reads them again, batch by batch."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from typicality._threads import TreeSum, tree_sum
from typicality._typing import Floats
from typicality._words import shown_path
from typicality.exceptions import Remedy, TableError
from typicality.rows.base import BLOCK_ROWS, Block, Rows, Sum
from typicality.tables import Block as TableBlock
from typicality.tables import TableFile, open_table, rows_of
from typicality.tables.arrow import open_array
from typicality.tables.cells import parse_typed

_BATCH_ENTRIES = 2**21  # numbers that are read at a time, if these are a block: 16 MB as float64
_HELD_BYTES = 2**26  # results of `map` that take more are in a temporary file

_OTHER_COLUMNS = Remedy("columns", None, "Or choose other columns with {}.")

Place = Callable[[int], str]  # where a row of an array is, for messages


class FileRows(Rows):
    """Rows in one or more files, made by :func:`typicality.open_rows`.

    Each pass reads all files and holds two batches of rows in memory. If a file has changed since
    it was opened, an error is raised.

    Parameters
    ----------
    table : TableFile
        The files as one table.
    names : sequence of str
        The columns that are read.
    signs : mapping of str to str, optional
        The currency or unit signs of columns with numbers like $7,440.
    missing : {"error", "drop", "median"}, default="error"
        What to do with rows that have missing values: raise an error, skip the row, or use NaN for
        a later step to fill in. "median" skips only rows without any value.

    Attributes
    ----------
    n_passes : int
        The number of times that the files were read.
    block_rows : int
        The number of rows of the largest batch.
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
        self._table, self._columns = table, list(names)
        self._signs, self._missing = dict(signs or {}), missing
        self.names = None if table.format == "npy" else self._columns
        self.n_features = len(names)
        self.dtype, self.weighted = np.dtype(np.float64), False
        self.n_passes = 0
        self.watch: Callable[[int, int], None] | None = None
        lengths = [len(batch.X) for batch in self._batches()]  # also checks all cells
        self.n_rows, self.block_rows = sum(lengths), max(lengths, default=0)
        if self.n_rows == 0:
            raise TableError(f"{table.name} has no rows. Add rows, or choose another file.")

    def fold(self, function: Callable[[Block], Sum]) -> Sum:
        sums = TreeSum[Sum]()
        for X, _, first in self._batches():
            starts = range(0, len(X), BLOCK_ROWS)
            blocks = [Block(X[i : i + BLOCK_ROWS], None, first + i) for i in starts]
            sums.add(tree_sum(lambda number: function(blocks[number]), len(blocks)))  # noqa: B023
        return sums.total()

    def map(self, function: Callable[[Block], Any]) -> Any:
        results: Any = None
        for batch in self._batches():
            part = np.asarray(function(batch))
            if results is None:
                results = _room_for((self.n_rows, *part.shape[1:]), part.dtype)
            results[batch.start : batch.start + len(part)] = part
        return results

    def _batches(self) -> Iterator[Block]:
        """All rows, many blocks at a time; the next batch is read while the caller has one."""
        start, self.n_passes = 0, self.n_passes + 1
        with ThreadPoolExecutor(1, thread_name_prefix="typicality-read") as reader:
            arrays = _of_size(self._arrays(), _batch_rows(self.n_features))
            following = reader.submit(next, arrays, None)
            while (X := following.result()) is not None:
                following = reader.submit(next, arrays, None)
                yield Block(X, None, start)
                start += len(X)
                if self.watch is not None:
                    self.watch(self.n_passes, start)

    def _arrays(self) -> Iterator[Floats]:
        how: dict[str, Any] = {"signs": self._signs, "missing": self._missing}
        yield from _read(self._table, self._table.blocks(), self._columns, **how)
        self._table.require_unchanged()


def _room_for(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array to fill; a large one is in a temporary file, which vanishes with the array."""
    if np.prod(shape, dtype=np.float64) * dtype.itemsize <= _HELD_BYTES:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(prefix="typicality-") as file:
        return np.memmap(file, dtype, "w+", shape=shape)


def _of_size(arrays: Iterable[Floats], size: int) -> Iterator[Floats]:
    """The same rows in arrays of `size` rows; the last one has the rest."""
    waiting: list[Floats] = []
    for X in arrays:
        waiting.append(X)
        n_waiting = sum(map(len, waiting))
        if n_waiting >= size:
            joined = np.concatenate(waiting) if len(waiting) > 1 else X
            full = n_waiting // size * size
            yield from (joined[start : start + size] for start in range(0, full, size))
            waiting = [joined[full:]] if full < n_waiting else []
    if any(map(len, waiting)):
        yield np.concatenate(waiting)


# ---- numbers of tables ---------------------------------------------------------------------------


def _read(
    table: TableFile,
    blocks: Iterable[TableBlock],
    names: Sequence[str],
    *,
    signs: Mapping[str, str],
    missing: str,
    part: range | None = None,
) -> Iterator[Floats]:
    """The numbers of some columns of a table, as arrays of some rows.

    Only rows that are read as text are taken from `blocks`. A part is some rows of an npy file, or
    some row groups of a parquet file.
    """
    size = _batch_rows(len(names))
    found: Iterator[tuple[Floats, Place]]
    if table.format == "npy":
        found = _read_npy(table, names, size, part)
    elif _is_plain_parquet(table, signs):
        found = _read_parquet(table, names, size, part)
    else:
        found = (
            (rows_of(block, names, signs=signs), partial(_place_in, block)) for block in blocks
        )
    for X, place in found:
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = np.isfinite(X.sum())
        if is_finite:
            yield X
            continue
        is_bad = ~np.isfinite(X) if missing == "error" else np.isinf(X)
        if is_bad.any():
            row, column = np.argwhere(is_bad)[0]
            what = "the value is missing. Remove such rows, or fill them in."
            if np.isinf(X[row, column]):
                what = "the number is infinite. Replace it with a finite number."
            raise TableError(
                f"{place(int(row))}, column {names[column]!r}: {what}",
                column=names[column],
                remedy=_OTHER_COLUMNS,
            )
        absent = np.isnan(X)
        yield X[~(absent.any(axis=1) if missing == "drop" else absent.all(axis=1))]


def _batch_rows(n_features: int) -> int:
    """So many blocks that a sum over a batch is a branch of the tree: a power of two."""
    n_blocks = max(1, _BATCH_ENTRIES // n_features // BLOCK_ROWS)
    return BLOCK_ROWS << (n_blocks.bit_length() - 1)


def _place_in(block: TableBlock, row: int) -> str:
    return f"{block.source}, {block.place(row)}"


def _place_after(path: Path, first: int, row: int) -> str:
    return f"{shown_path(path)}, row {first + row} counted from 0"


def _is_plain_parquet(table: TableFile, signs: Mapping[str, str]) -> bool:
    """Whether some columns can be read alone: those of parquet, as they are called there."""
    schema = getattr(table, "schema", None)
    is_renamed = schema is not None and tuple(schema.names) != table.names
    return table.format == "parquet" and not signs and not is_renamed


def _read_npy(
    table: TableFile, names: Sequence[str], size: int, part: range | None
) -> Iterator[tuple[Floats, Place]]:
    columns = [table.index[name] for name in names]
    for path in table.paths:
        array = open_array(path, shown_path(path))
        wanted = part or range(len(array))
        for start in wanted[::size]:
            some = array[start : min(start + size, wanted.stop)]
            if columns != list(range(array.shape[1])):
                some = some[:, columns]
            yield np.array(some, np.float64, order="C"), partial(_place_after, path, start)


def _read_parquet(
    table: TableFile, names: Sequence[str], size: int, part: range | None
) -> Iterator[tuple[Floats, Place]]:
    for path in filter(_is_filled, table.paths):
        with pq.ParquetFile(path) as file:
            lengths = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            groups = part or range(len(lengths))
            first = sum(lengths[: groups.start])
            for batch in file.iter_batches(size, list(groups), list(names)):
                X = np.empty((batch.num_rows, len(names)))
                for j, name in enumerate(names):
                    X[:, j], strangers = parse_typed(batch.column(name))
                    if len(strangers):
                        raise TableError(
                            "not all values are numbers. Convert them.",
                            source=shown_path(path),
                            column=name,
                            remedy=_OTHER_COLUMNS,
                        )
                yield X, partial(_place_after, path, first)
                first += len(X)


def _is_filled(path: Path) -> bool:
    return path.stat().st_size > 0


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
    signs : dict
        As in :class:`FileRows`.
    missing : str
        As in :class:`FileRows`.
    settings : dict
        How a text file is written.
    part : range, optional
        The rows of an npy file, or the row groups of a parquet file; by default all.
    """

    path: Path
    format: str
    names: tuple[str, ...]
    signs: dict[str, str]
    missing: str
    settings: dict[str, Any]
    part: range | None = None

    def read(self) -> Floats:
        """The numbers of the rows."""
        how: dict[str, Any] = {"signs": self.signs, "missing": self.missing, "part": self.part}
        with open_table(self.path, format=self.format, **self.settings) as table:
            arrays = list(_read(table, table._read(), self.names, **how))
        return np.concatenate(arrays) if arrays else np.empty((0, len(self.names)))


def pieces_of(
    table: TableFile,
    names: Sequence[str],
    *,
    signs: Mapping[str, str] | None = None,
    missing: str = "error",
) -> list[Piece]:
    """The files of a table in pieces: batches of rows of npy files, row groups of parquet files.

    Other files are one piece each, because only their beginning can be found.
    """
    signs = dict(signs or {})
    size, pieces = _batch_rows(len(names)), []
    for path in filter(_is_filled, table.paths):
        piece = Piece(path.resolve(), table.format, tuple(names), signs, missing, table.settings())
        if table.format == "npy":
            n_rows = len(open_array(path, shown_path(path)))
            parts = [range(n_rows)[i : i + size] for i in range(0, n_rows, size)]
            pieces += [replace(piece, part=part) for part in parts]
        elif _is_plain_parquet(table, signs):
            with pq.ParquetFile(path) as file:
                groups = range(file.num_row_groups)
            pieces += [replace(piece, part=groups[i : i + 1]) for i in groups]
        else:
            pieces.append(piece)
    return pieces
