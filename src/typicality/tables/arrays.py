"""Arrays of NumPy: npy and npz files."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from typicality._words import listed
from typicality.exceptions import TableError
from typicality.tables.arrow import Opened
from typicality.tables.cells import shown


@contextmanager
def open_array(path: Path, *, format: str, name: str) -> Iterator[Opened]:
    """An array of one or two dimensions in an npy file, or in an npz archive.

    In an archive it is the array of the name X, or the only one of two dimensions; it is held in
    memory whole, where an npy file is read block by block. Columns are called x1, x2 and so on.
    """
    array = _array(path, format, name)
    names = [f"x{j}" for j in range(1, array.shape[1] + 1)]

    def batches(rows: int) -> Iterator[tuple[Any, float]]:
        for start in range(0, len(array), rows):
            values = _for_arrow(np.asarray(array[start : start + rows]))
            columns = [pa.array(np.ascontiguousarray(column)) for column in values.T]
            batch = pa.RecordBatch.from_arrays(columns, names)
            yield batch, (start + len(values)) / len(array)

    yield pa.schema([(name, pa.float64()) for name in names]), batches


def _array(path: Path, format: str, name: str) -> NDArray[Any]:
    try:
        with np.errstate(over="ignore"):  # a shape from the file may be beyond all numbers
            if format == "npz":
                key = _key_of_table(path, name)
                with np.load(path, allow_pickle=False) as archive:
                    array: NDArray[Any] = archive[key]
            else:
                array = np.lib.format.open_memmap(path, mode="r")
    except (OSError, TableError):
        raise
    except Exception as error:  # of many kinds: from the parser, the archive, its compression
        reason = (
            "it holds objects, which are not numbers"
            if "allow_pickle" in str(error) or "Python objects" in str(error)
            else "it is cut off, or of another kind"
        )
        raise TableError(
            f"{name} is no {format} file of numbers: {reason}. Save an array of numbers with "
            "numpy.save or numpy.savez, or name the format with format=."
        ) from error
    if array.dtype.kind not in "biuf":
        raise TableError(
            f"{name} holds an array of type {array.dtype}, not of numbers. Save an array of "
            "numbers with numpy.save."
        )
    if array.ndim not in (1, 2) or 0 in array.shape[1:]:
        raise TableError(
            f"{name} holds an array of shape {array.shape}. Save one with rows and columns."
        )
    return array.reshape(-1, 1) if array.ndim == 1 else array


def _key_of_table(path: Path, name: str) -> str:
    """The array X, or the only one of two dimensions."""
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.namelist() if member.endswith(".npy")]
        shapes = {member[:-4]: _shape_of(archive, member) for member in members}
    tables = [key for key, shape in shapes.items() if len(shape) == 2]
    if "X" in shapes:
        return "X"
    if len(tables) == 1:
        return tables[0]
    phrases = (f"{shown(key)} of shape {shape}" for key, shape in shapes.items())
    kinds = listed(phrases, separator="; ")
    raise TableError(
        f"{name} does not say which of its arrays is the table ({kinds or 'it has none'})."
        " Save the table under the name X: numpy.savez(file, X=array)."
    )


def _shape_of(archive: zipfile.ZipFile, name: str) -> tuple[int, ...]:
    """The shape of an array in an archive, from its first bytes."""
    with archive.open(name) as member:
        is_old = np.lib.format.read_magic(member) == (1, 0)
        read = (
            np.lib.format.read_array_header_1_0 if is_old else np.lib.format.read_array_header_2_0
        )
        shape: tuple[int, ...] = read(member)[0]
    return shape


def _for_arrow(values: NDArray[Any]) -> NDArray[Any]:
    """Truth values are 0 and 1; Arrow has neither foreign byte orders nor more than double."""
    if values.dtype == bool:
        return values.astype(np.int8)
    if values.dtype.itemsize > 8:
        return values.astype(np.float64)
    return values.astype(values.dtype.newbyteorder("="), copy=False)
