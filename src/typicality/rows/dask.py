"""Rows in a Dask collection; everything that knows Dask is here.

A pass is one graph: a task that applies a function to each block, and tasks that add up to 16
results, in a fixed tree. So the sums have the same bits for any number of workers.
"""

import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from typing import Any

import cloudpickle
import dask.array
import numpy as np

from typicality._threads import added
from typicality._typing import Floats
from typicality._words import shown_path
from typicality.exceptions import TableError
from typicality.rows.base import Block, Rows, Sum
from typicality.rows.file import Piece

_dask: Any = dask  # it has few types
_PATIENCE = 5  # seconds to wait for a scheduler
_LARGEST_TEXT = 2**29  # bytes of a text file that a worker reads at once
_SAME = 1e-6  # relative: other workers may round what they compute differently
_TOGETHER = 16  # results that one task adds: a power of two, so that the tree is that of `TreeSum`


class DaskRows(Rows):
    """Rows in the partitions of a Dask array or data frame; each is a block.

    Parameters
    ----------
    parts : list of Delayed or Piece
        The rows of each block, or the piece of a file that has them.
    extents : sequence of (int, float)
        The number of rows of each block, and the sum of all absolute values in it; empty blocks
        are skipped. Each pass compares them with what it finds.
    n_features, dtype, names
        As in :class:`~typicality.rows.base.Rows`.
    weights : list of Delayed, optional
        The sample weights of each block.
    """

    lazy = True

    def __init__(
        self,
        parts: list[Any],
        extents: Sequence[tuple[int, float]],
        n_features: int,
        dtype: Any,
        names: list[str] | None,
        weights: list[Any] | None = None,
    ) -> None:
        lengths = [n_rows for n_rows, _ in extents]
        starts = np.cumsum([0, *lengths]).tolist()
        blocks = zip(parts, weights or [None] * len(parts), starts, extents, strict=False)
        self._blocks = [block for block in blocks if block[-1][0]]
        self.n_rows, self.n_features = sum(lengths), n_features
        self.dtype, self.weighted, self.names = np.dtype(dtype), weights is not None, names
        self.n_passes, self.block_rows = 0, max(lengths)
        self.watch: Callable[[int, int], None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "watch": None}  # what shows progress stays in this process

    def fold(self, function: Callable[[Block], Sum]) -> Sum:
        parts, add = self._applied(function), _dask.delayed(added)
        while len(parts) > 1:
            parts = [add(parts[i : i + _TOGETHER]) for i in range(0, len(parts), _TOGETHER)]
        self.n_passes += 1
        total: Sum = parts[0].compute()
        if self.watch is not None:
            self.watch(self.n_passes, self.n_rows)
        return total

    def map(self, function: Callable[[Block], Any]) -> Any:
        example = np.asarray(function(Block(np.ones((1, self.n_features), self.dtype), None, 0)))
        shape = example.shape[1:]
        arrays = [
            _dask.array.from_delayed(result, (n_rows, *shape), example.dtype)
            for result, (*_, (n_rows, _)) in zip(self._applied(function), self._blocks, strict=True)
        ]
        return _dask.array.concatenate(arrays)

    def _applied(self, function: Callable[[Block], Any]) -> list[Any]:
        shared = _dask.delayed(cloudpickle.dumps(function))  # one in the graph, not one a block
        apply = _dask.delayed(_apply)
        return [apply(shared, *block, self.dtype.str) for block in self._blocks]


_loaded = lru_cache(maxsize=1)(cloudpickle.loads)  # the blocks of a pass share what it finds out


def _apply(
    pickled: bytes, part: Any, weight: Any, start: int, extent: tuple[int, float], dtype: str
) -> Any:
    X = _numbers(part, dtype)
    if not np.allclose(_extent(X), extent, rtol=_SAME, atol=0.0):
        n_rows = extent[0]
        found = f"now has {len(X)}" if len(X) != n_rows else "now has other ones"
        raise ValueError(
            f"The block of X from row {start} on had {n_rows} rows, and {found}. Each pass over "
            "the data computes the partitions again, and must find the same rows. Use a fixed "
            "random_state, or X.persist()."
        )
    if weight is not None:
        weight = np.ascontiguousarray(np.ravel(weight), dtype)
    with np.errstate(under="ignore"):
        return _loaded(pickled)(Block(X, weight, start))


def _numbers(part: Any, dtype: str) -> Floats:
    rows = part.read() if isinstance(part, Piece) else part
    return np.ascontiguousarray(np.asarray(rows), dtype)


def _extent(X: Floats) -> tuple[int, float]:
    with np.errstate(over="ignore"):
        return len(X), float(np.abs(X).sum(dtype=np.float64))


def dask_rows(X: Any, sample_weight: Any = None) -> DaskRows:
    """The rows of a Dask array or data frame, after a pass that checks and counts them.

    Raises
    ------
    ValueError
        The collection is of another kind, a column or a value is not a number, or the weights do
        not belong to the rows. The message names the partition.
    """
    X, names, dtype = _as_table(X)
    n_features = X.shape[1]
    parts = list(np.ravel(X.to_delayed()))
    weights = None if sample_weight is None else _weights(sample_weight, len(parts))
    inspect = _dask.delayed(_inspect)
    pairs = zip(parts, weights or [None] * len(parts), strict=True)
    extents = _dask.compute(
        *(inspect(*pair, number, n_features, dtype, names) for number, pair in enumerate(pairs))
    )
    if not any(n_rows for n_rows, _ in extents):
        raise ValueError("X has 0 rows in all partitions. Pass at least one row.")
    return DaskRows(parts, extents, n_features, dtype, names, weights)


# ---- files that workers read --------------------------------------------------------------------


@contextmanager
def workers(n_workers: int | None, scheduler: str | None) -> Iterator[None]:
    """A context in which Dask computes in processes of this machine, or where a scheduler says.

    Raises
    ------
    ConnectionError
        The scheduler does not answer within seconds.
    """
    distributed: Any = import_module("distributed")

    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=_PATIENCE)
        except (OSError, ValueError) as error:
            raise ConnectionError(
                f"The scheduler {scheduler} cannot be reached within {_PATIENCE} s: "
                f"{str(error).splitlines()[0]}. Check the address (tcp://HOST:PORT, as `dask "
                "scheduler` prints it), and check that the scheduler runs."
            ) from error
        with client:
            if not client.scheduler_info()["workers"]:
                raise ConnectionError(
                    f"The scheduler {scheduler} has no workers. Start some with `dask worker "
                    f"{scheduler}`."
                )
            yield
        return
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.ERROR}  # any free port
    cluster = distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, **quiet)
    opened = [cluster]
    try:
        opened.append(distributed.Client(cluster))
        yield
    finally:
        for each in reversed(opened):
            with suppress(TimeoutError):  # workers of a busy machine end later than Dask waits
                each.close()


def rows_of_pieces(pieces: Sequence[Piece]) -> DaskRows:
    """Rows of files that the workers read, after a pass that checks and counts them.

    Raises
    ------
    TableError
        A worker cannot read a file, or something in it is wrong.
    """
    for piece in pieces:
        if piece.part is None and piece.path.stat().st_size > _LARGEST_TEXT:
            raise TableError(
                f"{shown_path(piece.path)} has {piece.path.stat().st_size / 1e9:.2g} GB, and a "
                f"worker reads a whole {piece.format} file at once. Split it into files below "
                f"{_LARGEST_TEXT / 1e9:.2g} GB, or write parquet."
            )
    extents = _dask.compute(*map(_dask.delayed(_count), pieces))
    if not any(n_rows for n_rows, _ in extents):
        raise TableError(f"{shown_path(pieces[0].path)} has no rows. Choose another file.")
    names = list(pieces[0].names)
    return DaskRows(list(pieces), extents, len(names), np.float64, names)


def _count(piece: Piece) -> tuple[int, float]:
    where = f"A worker on {socket.gethostname()} cannot read {shown_path(piece.path)}"
    if not piece.path.exists():
        raise TableError(
            f"{where}: the file does not exist on that machine. Put the files where all workers "
            "find them under the same path."
        )
    try:
        return _extent(piece.read())
    except OSError as error:
        raise TableError(f"{where}: {error.strerror}.") from error


# ---- collections of Dask -------------------------------------------------------------------------


def _as_table(X: Any) -> tuple[Any, list[str] | None, str]:
    """The collection in blocks of whole rows, the names of the features, and their type."""
    names = None
    if hasattr(X, "columns") and hasattr(X, "to_delayed"):
        for name, kind in zip(X.columns, X.dtypes, strict=True):
            if getattr(kind, "kind", "O") not in "biuf":
                raise ValueError(
                    f"Column {str(name)!r} of X holds {kind}, which is not a number. Leave it "
                    "out, e.g. X[[names of numeric columns]], or convert it."
                )
        names, kinds = [str(name) for name in X.columns], list(X.dtypes)
    elif isinstance(X, _dask.array.Array) and X.ndim == 2:
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        kinds = [X.dtype]
    else:
        raise ValueError(
            f"X is a Dask collection of type {type(X).__name__}, which is not a table: pass "
            "a dask.array of two dimensions or a dask.dataframe, with one row per sample."
        )
    is_single = all(str(kind).lower() == "float32" for kind in kinds)
    return X, names, np.dtype(np.float32 if is_single else np.float64).str


def _weights(sample_weight: Any, n_parts: int) -> list[Any]:
    if not _dask.is_dask_collection(sample_weight):
        raise ValueError(
            "sample_weight is not a Dask collection, but X is: pass a dask.array or a column of "
            "the same data frame, with the same partitions."
        )
    weights = list(np.ravel(sample_weight.to_delayed()))
    if len(weights) != n_parts:
        raise ValueError(
            f"sample_weight has {len(weights)} partitions and X has {n_parts}: give both the same "
            "partitions, e.g. with rechunk or repartition."
        )
    return weights


def _inspect(
    part: Any, weight: Any, number: int, n_features: int, dtype: str, names: list[str] | None
) -> tuple[int, float]:
    """The extent of a partition; an error names what is wrong with it."""
    try:
        X = _numbers(part, dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Partition {number} of X cannot be read as numbers: {error}") from error
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(
            f"Partition {number} of X has shape {X.shape}, but {n_features} columns were expected. "
            "Check how it is made."
        )
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        row, column = bad[0]
        name = int(column) if names is None else names[column]
        kind = "NaN" if np.isnan(X[row, column]) else "infinity"
        raise ValueError(
            f"X contains {kind} in partition {number}, row {row} of it (counted from 0), column "
            f"{name!r}. Remove such rows or fill them in, e.g. with X.dropna() or X.fillna(...)."
        )
    values = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64).ravel()
    if len(values) != len(X):
        raise ValueError(
            f"Partition {number} has {len(X)} rows in X and {len(values)} in sample_weight: give "
            "both the same partitions."
        )
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(
            f"sample_weight is negative or not finite in partition {number}. Weights count copies "
            "of a row; use 0 to leave a row out."
        )
    return _extent(X)
