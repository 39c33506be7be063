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
from typicality.tables import base
from typicality.tables.base import Block, TableFile, hash_of
from typicality.tables.cells import shown


class NumpyFile(TableFile):
    """An array of one or two dimensions in an npy file, or in an npz archive.

    In an archive it is the array of the name X, or the only one of two dimensions; it is held in
    memory whole, where an npy file is read block by block.
    """

    has_header = False

    def __init__(self, path: Path, **options: Any) -> None:
        super().__init__(**options)
        self._path = path
        self._key = self._key_of_table() if self.format == "npz" else ""
        n_columns = self._array().shape[1]
        self.names = tuple(f"x{j}" for j in range(1, n_columns + 1))

    def _read(self) -> Iterator[Block]:
        array = self._array()
        at_most = max(1, base.BLOCK_BYTES // 8 // array.shape[1])
        for start in range(0, len(array), at_most):
            values = _for_arrow(np.asarray(array[start : start + at_most]))
            self.fraction_read = (start + len(values)) / len(array)
            columns = [pa.array(np.ascontiguousarray(column)) for column in values.T]
            yield Block(self, start, pa.RecordBatch.from_arrays(columns, list(self.names)))

    def _hash(self) -> str:
        return hash_of(self._path)

    def _array(self) -> NDArray[Any]:
        with self._guarded():
            if self.format == "npz":
                with np.load(self._path, allow_pickle=False) as archive:
                    array: NDArray[Any] = archive[self._key]
            else:
                array = np.lib.format.open_memmap(self._path, mode="r")
        if array.dtype.kind not in "biuf":
            raise TableError(
                f"{self.name} holds an array of type {array.dtype}, not of numbers. Save an array "
                "of numbers with numpy.save."
            )
        if array.ndim not in (1, 2) or 0 in array.shape[1:]:
            raise TableError(
                f"{self.name} holds an array of shape {array.shape}. Save one with rows and "
                "columns."
            )
        return array.reshape(-1, 1) if array.ndim == 1 else array

    def _key_of_table(self) -> str:
        """The array X, or the only one of two dimensions."""
        with self._guarded(), zipfile.ZipFile(self._path) as archive:
            members = [name for name in archive.namelist() if name.endswith(".npy")]
            shapes = {name[:-4]: _shape_of(archive, name) for name in members}
        tables = [key for key, shape in shapes.items() if len(shape) == 2]
        if "X" in shapes:
            return "X"
        if len(tables) == 1:
            return tables[0]
        phrases = (f"{shown(key)} of shape {shape}" for key, shape in shapes.items())
        kinds = listed(phrases, separator="; ")
        raise TableError(
            f"{self.name} does not say which of its arrays is the table ({kinds or 'it has none'})."
            " Save the table under the name X: numpy.savez(file, X=array)."
        )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Errors of NumPy as errors about the file."""
        try:
            with np.errstate(over="ignore"):  # a shape from the file may be beyond all numbers
                yield
        except OSError:
            raise
        except Exception as error:  # of many kinds: from the parser, the archive, its compression
            reason = (
                "it holds objects, which are not numbers"
                if "allow_pickle" in str(error) or "Python objects" in str(error)
                else "it is cut off, or of another kind"
            )
            raise TableError(
                f"{self.name} is no {self.format} file of numbers: {reason}. Save an array of "
                "numbers with numpy.save or numpy.savez, or name the format with format=."
            ) from error


def _for_arrow(values: NDArray[Any]) -> NDArray[Any]:
    """Truth values are 0 and 1; Arrow has neither foreign byte orders nor more than double."""
    if values.dtype == bool:
        return values.astype(np.int8)
    if values.dtype.itemsize > 8:
        return values.astype(np.float64)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _shape_of(archive: zipfile.ZipFile, name: str) -> tuple[int, ...]:
    """The shape of an array in an archive, from its first bytes."""
    with archive.open(name) as member:
        is_old = np.lib.format.read_magic(member) == (1, 0)
        read = (
            np.lib.format.read_array_header_1_0 if is_old else np.lib.format.read_array_header_2_0
        )
        shape: tuple[int, ...] = read(member)[0]
    return shape
