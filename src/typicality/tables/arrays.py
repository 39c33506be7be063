"""Arrays of NumPy: npy and npz files."""

import math
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from typicality._words import listed
from typicality.exceptions import TableError
from typicality.tables.arrow import Opened
from typicality.tables.cells import shown

_MOST_BY_COLUMNS = 2**27  # bytes in an archive, which are unpacked at once


class _Header(NamedTuple):
    """What the first bytes of an npy file say of the array after them."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]


@contextmanager
def open_array(path: Path, *, format: str, name: str) -> Iterator[Opened]:
    """An array of one or two dimensions in an npy file, or in an npz archive.

    In an archive it is the array of the name X, or the only one of two dimensions. Both are read
    block by block by plain reads: a file that is cut meanwhile is an error, where memory that is
    mapped to it would end the process. Columns are called x1, x2 and so on.
    """
    with ExitStack() as stack:
        with _explained(format, name), np.errstate(over="ignore"):  # a shape may be beyond numbers
            stream: Any = stack.enter_context(open(path, "rb"))
            if format == "npz":
                archive = stack.enter_context(zipfile.ZipFile(stream))
                stream = stack.enter_context(archive.open(f"{_key_of_table(archive, name)}.npy"))
            header = _read_header(stream)
            first = 0 if format == "npz" else stream.tell()
        n_rows, n_columns = _size(header, name)
        n_bytes = n_rows * n_columns * header.dtype.itemsize
        by_columns = header.by_columns and n_columns > 1
        if format == "npz" and by_columns and n_bytes > _MOST_BY_COLUMNS:
            raise TableError(
                f"{name} holds a compressed array of {n_bytes:,} bytes in Fortran order, which "
                "cannot be read row by row. Save numpy.ascontiguousarray(X)."
            )
        if format == "npy" and first + n_bytes > path.stat().st_size:
            raise _not_an_array(format, name)
        names = [f"x{j}" for j in range(1, n_columns + 1)]

        def read(n_values: int) -> NDArray[Any]:
            with _explained(format, name):
                data = stream.read(n_values * header.dtype.itemsize)
                if len(data) < n_values * header.dtype.itemsize:
                    raise ValueError("cut off")
                return np.frombuffer(data, header.dtype)

        def rows_at(start: int, stop: int) -> NDArray[Any]:
            if not by_columns:
                return read((stop - start) * n_columns).reshape(-1, n_columns)
            block = np.empty((stop - start, n_columns), header.dtype)
            for j in range(n_columns):
                stream.seek(first + (j * n_rows + start) * header.dtype.itemsize)
                block[:, j] = read(stop - start)
            return block

        def batches(rows: int) -> Iterator[tuple[Any, float]]:
            whole = None
            if format == "npz" and by_columns:
                whole = read(n_rows * n_columns).reshape(n_columns, n_rows).T
            for start in range(0, n_rows, rows):
                stop = min(start + rows, n_rows)
                values = _for_arrow(rows_at(start, stop) if whole is None else whole[start:stop])
                columns = [pa.array(np.ascontiguousarray(column)) for column in values.T]
                yield pa.RecordBatch.from_arrays(columns, names), stop / n_rows

        yield pa.schema([(name, pa.float64()) for name in names]), batches


@contextmanager
def _explained(format: str, name: str) -> Iterator[None]:
    """Errors of many kinds, from the parser, the archive, its compression, as one about a file."""
    try:
        yield
    except (OSError, TableError):
        raise
    except Exception as error:
        raise _not_an_array(format, name, error) from error


def _not_an_array(format: str, name: str, error: Exception | None = None) -> TableError:
    reason = (
        "it holds objects, which are not numbers"
        if "Python objects" in str(error)
        else "it is cut off, or of another kind"
    )
    return TableError(
        f"{name} is not a file of numbers in {format} format: {reason}. Save an array of numbers "
        "with numpy.save or numpy.savez, or name the format with format=."
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


def _key_of_table(archive: zipfile.ZipFile, name: str) -> str:
    """The array X, or the only one of two dimensions."""
    members = [member for member in archive.namelist() if member.endswith(".npy")]
    shapes = {}
    for member in members:
        with archive.open(member) as stream:
            shapes[member[:-4]] = _read_header(stream).shape
    tables = [key for key, shape in shapes.items() if len(shape) == 2]
    if "X" in shapes:
        return "X"
    if len(tables) == 1:
        return tables[0]
    phrases = (f"{shown(key)} of shape {shape}" for key, shape in shapes.items())
    kinds = listed(phrases, separator="; ")
    raise TableError(
        f"{name} has no array named X, and no single array that could be the table "
        f"({kinds or 'it has no arrays'}). Save the table under the name X: "
        "numpy.savez(file, X=array)."
    )


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
