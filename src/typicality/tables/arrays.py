"""Arrays of NumPy: npy files."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from typicality.exceptions import TableError
from typicality.tables.arrow import Opened


class _Header(NamedTuple):
    """What the first bytes of an npy file say of the array after them."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]


@contextmanager
def open_array(path: Path, name: str) -> Iterator[Opened]:
    """An array of one or two dimensions in an npy file; columns are called x1, x2 and so on."""
    with array_rows(path, name) as ((n_rows, n_columns), rows_at):
        names = [f"x{j}" for j in range(1, n_columns + 1)]

        def batches(rows: int) -> Iterator[tuple[Any, float]]:
            for start in range(0, n_rows, rows):
                stop = min(start + rows, n_rows)
                values = _for_arrow(rows_at(start, stop))
                columns = [pa.array(np.ascontiguousarray(column)) for column in values.T]
                yield pa.RecordBatch.from_arrays(columns, names), stop / n_rows

        yield pa.schema([(name, pa.float64()) for name in names]), batches


@contextmanager
def array_rows(
    path: Path, name: str
) -> Iterator[tuple[tuple[int, int], Callable[[int, int], NDArray[Any]]]]:
    """The shape of the table in an npy file, and a function that reads rows `start` to `stop`.

    Plain reads: a file that is cut meanwhile is an error, where memory that is mapped to it would
    end the process.
    """
    with open(path, "rb") as stream:
        try:
            with np.errstate(over="ignore"):  # a shape may be beyond numbers
                header = _read_header(stream)
        except OSError:
            raise
        except Exception as error:  # of many kinds, from the parser
            raise _not_an_array(name, error) from error
        first, itemsize = stream.tell(), header.dtype.itemsize
        n_rows, n_columns = _size(header, name)
        if first + n_rows * n_columns * itemsize > path.stat().st_size:
            raise _not_an_array(name)

        def read(n_before: int, n_values: int) -> NDArray[Any]:
            stream.seek(first + n_before * itemsize)
            values = np.fromfile(stream, header.dtype, n_values)
            if len(values) < n_values:
                raise _not_an_array(name)
            return values

        def rows_at(start: int, stop: int) -> NDArray[Any]:
            if not header.by_columns:
                values = read(start * n_columns, (stop - start) * n_columns)
                return values.reshape(-1, n_columns)
            block = np.empty((stop - start, n_columns), header.dtype)
            for j in range(n_columns):
                block[:, j] = read(j * n_rows + start, stop - start)
            return block

        yield (n_rows, n_columns), rows_at


def _not_an_array(name: str, error: Exception | None = None) -> TableError:
    reason = (
        "it holds objects, which are not numbers"
        if "Python objects" in str(error)
        else "it is cut off, or of another kind"
    )
    return TableError(
        f"{name} is not a file of numbers in npy format: {reason}. Save an array of numbers with "
        "numpy.save, or name the format with format=."
    )


def _size(header: _Header, name: str) -> tuple[int, int]:
    """The number of rows and of columns, where the array is a table of numbers."""
    if header.dtype.kind not in "biuf":
        raise TableError(
            f"{name} holds an array of type {header.dtype}, which is not numeric. Save an "
            "array of numbers with numpy.save."
        )
    if len(header.shape) not in (1, 2) or 0 in header.shape[1:]:
        raise TableError(
            f"{name} holds an array of shape {header.shape}. Save an array with rows and columns."
        )
    return header.shape[0], int(math.prod(header.shape[1:]))


def _read_header(stream: IO[bytes]) -> _Header:
    """The first bytes of an npy file; the stream stands after them."""
    is_old = np.lib.format.read_magic(stream) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_old else np.lib.format.read_array_header_2_0
    header = _Header(*read(stream))
    if header.dtype.hasobject:
        raise ValueError("Python objects")
    if any(type(size) is not int or size < 0 for size in header.shape):
        raise ValueError("not a shape")
    return header


def _for_arrow(values: NDArray[Any]) -> NDArray[Any]:
    """Truth values are 0 and 1; Arrow has neither foreign byte orders nor more than double."""
    if values.dtype == bool:
        return values.astype(np.int8)
    if values.dtype.itemsize > 8:
        return values.astype(np.float64)
    return values.astype(values.dtype.newbyteorder("="), copy=False)
