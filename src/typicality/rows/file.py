"""Rows in files: each pass reads them again, block by block."""

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Floats
from typicality.exceptions import TableError
from typicality.rows.base import Block, Rows, Sum, TreeSum
from typicality.tables import open_table

_BLOCK_ENTRIES = 2**21  # numbers in a block: 16 MB as float64


class FileRows(Rows):
    """Rows in one or more files, made by :func:`open_rows`.

    A pass reads the files from the first to the last and holds two blocks in memory. It fails if a
    file changed since it was opened.

    Parameters
    ----------
    paths : sequence of path
        The files, in order.
    names : sequence of str
        The columns that are read.
    """

    def __init__(self, paths: Sequence[Path], names: Sequence[str]) -> None:
        self.paths, self.names = list(paths), list(names)
        self._columns = list(names)
        self.n_features = len(names)
        self.dtype, self.weighted = np.dtype(np.float64), False
        self._stamps = [_stamp(path) for path in self.paths]
        self.n_rows = 0
        for block in self._blocks():  # also checks all cells
            _check_finite(block, self.paths, self._columns)
            self.n_rows += len(block.X)
        if self.n_rows == 0:
            raise TableError(f"{self.paths[0]} has no rows. Add the rows, or choose another file.")

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
                results = np.empty((self.n_rows, *part.shape[1:]), part.dtype)
            results[block.start : block.start + len(part)] = part
        return results

    def _blocks(self) -> Iterator[Block]:
        """The blocks; the next one is read while the caller works on one."""
        start = 0
        with ThreadPoolExecutor(1, thread_name_prefix="typicality-read") as reader:
            arrays = self._arrays()
            following = reader.submit(next, arrays, None)
            while (X := following.result()) is not None:
                following = reader.submit(next, arrays, None)
                yield Block(X, None, start)
                start += len(X)

    def _arrays(self) -> Iterator[Floats]:
        size = max(1, _BLOCK_ENTRIES // self.n_features)
        for path, stamp in zip(self.paths, self._stamps, strict=True):
            yield from _READERS.get(path.suffix, _read_table)(path, self._columns, size)
            if _stamp(path) != stamp:
                raise TableError(
                    f"{path} changed while it was read. Wait until nothing writes to it, or copy "
                    "it, and open it again."
                )


def open_rows(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> FileRows:
    """Open files of rows that may be larger than memory, for any estimator.

    Pass the result to `fit` in the place of an array. Each iteration is a pass over the files, in
    bounded memory. Parquet and npy files are quick to read; csv files are parsed in each pass.

    Parameters
    ----------
    path : str or path
        A file (csv, tsv, ndjson, parquet, arrow, npy), a folder of files, or a pattern such as
        ``part-*.parquet``.
    columns : sequence of str, optional
        The columns to use; all of them if left out.

    Returns
    -------
    FileRows

    Raises
    ------
    TableError
        A column is not there or is no number, or a number is missing or not finite. The message
        names the file, the row and the column.

    Examples
    --------
    >>> from typicality import FuzzyCMeans, open_rows
    >>> rows = open_rows("measurements/part-*.parquet")  # doctest: +SKIP
    >>> model = FuzzyCMeans(10).fit(rows)  # doctest: +SKIP
    """
    paths = _paths(os.fspath(path))
    names: list[str] | None = None if columns is None else list(columns)
    for one in paths:
        with open_table(one) as table:
            names = list(table.names) if names is None else names
            missing = [name for name in names if name not in table.names]
        if missing:
            raise TableError(
                f"{table.name} has no column {missing[0]!r}; it has {', '.join(table.names)}. All "
                "files need the columns that are used."
            )
    return FileRows(paths, names or [])


def _paths(path: str) -> list[Path]:
    found = Path(path)
    if found.is_dir():
        paths = sorted(p for p in found.iterdir() if p.is_file() and p.name[0] not in "._")
    elif found.exists() or not glob.has_magic(path):
        paths = [found]
    else:
        paths = sorted(map(Path, glob.glob(path)))
    if not paths:
        raise TableError(f"{path} matches no file. Check the folder and the pattern.")
    return paths


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when somebody writes to a file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


# ---- readers -------------------------------------------------------------------------------------


def _read_parquet(path: Path, names: Sequence[str], size: int) -> Iterator[Floats]:
    import pyarrow.parquet as pq

    from typicality.tables.cells import parse_typed

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(size, columns=list(names)):
            block = np.empty((batch.num_rows, len(names)))
            for j, name in enumerate(names):
                parsed = parse_typed(batch.column(name))
                if len(parsed.strangers):
                    raise _no_number(path, name)
                block[:, j] = parsed.numbers
            yield block


def _read_npy(path: Path, names: Sequence[str], size: int) -> Iterator[Floats]:
    # Plain reads: a mapped file that somebody cuts off would end the process.
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            header = np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = header(file)
        width = shape[1] if len(shape) == 2 else 1
        if by_columns and width > 1:
            yield from _read_table(path, names, size)
            return
        chosen = [int(name[1:]) - 1 for name in names]
        for start in range(0, shape[0], size):
            count = min(size, shape[0] - start) * width
            values = np.fromfile(file, dtype, count)
            if len(values) < count:
                raise TableError(f"{path} ends early: it is cut off. Copy or write it again.")
            rows = values.reshape(-1, width).astype(np.float64, copy=False)
            yield rows if chosen == list(range(width)) else np.ascontiguousarray(rows[:, chosen])


def _read_table(path: Path, names: Sequence[str], size: int) -> Iterator[Floats]:
    waiting: list[NDArray[Any]] = []
    n_waiting = 0
    with open_table(path) as table:
        for block in table.blocks():
            parsed = block.parse(names)
            for column, name in zip(parsed, names, strict=True):
                if len(column.strangers):
                    raise block.not_a_number(int(column.strangers[0]), name)
            waiting.append(np.column_stack([column.numbers for column in parsed]))
            n_waiting += block.n_rows
            if n_waiting >= size:
                joined = np.concatenate(waiting)
                full = len(joined) // size * size
                yield from (joined[start : start + size] for start in range(0, full, size))
                waiting, n_waiting = [joined[full:]], len(joined) - full
    if n_waiting:
        yield np.concatenate(waiting)


_READERS = {".parquet": _read_parquet, ".pq": _read_parquet, ".npy": _read_npy}


def _no_number(path: Path, name: str) -> TableError:
    return TableError(
        f"{path}, column {name!r} holds something that is not a number. Leave it out "
        "(columns=...), or convert it.",
        column=name,
    )


def _check_finite(block: Block, paths: list[Path], names: list[str]) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(block.X.sum()):
            return
    bad = np.argwhere(~np.isfinite(block.X))
    if len(bad):
        row, column = bad[0]
        kind = "no number" if np.isnan(block.X[row, column]) else "an infinite number"
        where = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        raise TableError(
            f"{where}: there is {kind} in row {block.start + row} of all rows (counted from 0), "
            f"column {names[column]!r}. Remove such rows, fill them in, or leave the column out "
            "(columns=...).",
            column=names[column],
        )
