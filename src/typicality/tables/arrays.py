"""Arrays of NumPy: npy and npz files."""

import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.exceptions import TableError
from typicality.tables._words import listed, shown
from typicality.tables.base import Block, TableFile
from typicality.tables.cells import ParsedColumn

__all__ = ["ArrayBlock", "NumpyFile"]

Doubles = NDArray[np.float64]

_CELLS = 2**20  # of a block


class ArrayBlock(Block):
    """Rows of an array."""

    def __init__(self, table: "NumpyFile", first_row: int, values: NDArray[Any]) -> None:
        self.source, self.names = table.name, table.names
        self.first_row, self.first_line = first_row, None
        self.n_rows = len(values)
        self._values = values

    def cells(self, name: str) -> Sequence[str]:
        return [_text_of(value) for value in self._column(name)]

    def rows(self) -> Sequence[Sequence[str]]:
        return list(zip(*map(self.cells, self.names), strict=True))

    def line_of(self, row: int) -> int | None:
        return None

    def parsed(self, name: str) -> ParsedColumn:
        return ParsedColumn(self._column(name).astype(np.float64), np.empty(0, dtype=np.intp))

    def quick_numbers(self, names: Sequence[str]) -> Doubles | None:
        index = {name: j for j, name in enumerate(self.names)}
        return self._values[:, [index[name] for name in names]].astype(np.float64)

    def _column(self, name: str) -> NDArray[Any]:
        return self._values[:, self.names.index(name)]


def _text_of(value: Any) -> str:
    """A number with the digits of its own precision."""
    return str(int(value)) if isinstance(value, np.bool_) else str(value)


class NumpyFile(TableFile):
    """An array of one or two dimensions in an npy file, or in an npz archive.

    In an archive it is the array of the name X, or the only one of two dimensions; it is held in
    memory whole, where an npy file is read block by block.
    """

    has_header = False

    def __init__(self, path: Path, *, name: str, format: str) -> None:
        super().__init__(path, name=name, format=format)
        self._n_read = self._n_rows = 0
        n_columns = self._array().shape[1]
        self.names = tuple(f"x{j}" for j in range(1, n_columns + 1))

    def _read(self, rows: int | None) -> Iterator[Block]:
        array = self._array()
        self._n_rows = len(array)
        at_most = rows or max(1, _CELLS // array.shape[1])
        for start in range(0, len(array), at_most):
            block = np.asarray(array[start : start + at_most])
            self._n_read = start + len(block)
            yield ArrayBlock(self, start, block)

    def _hash(self) -> str:
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def fraction_read(self) -> float:
        return self._n_read / self._n_rows if self._n_rows else 1.0

    def _array(self) -> NDArray[Any]:
        array = self._loaded()
        if array.dtype.kind not in "biuf":
            raise TableError(
                f"{self.name} holds an array of {array.dtype}, which are not numbers. Save an "
                "array of numbers with numpy.save."
            )
        if array.ndim not in (1, 2):
            raise TableError(
                f"{self.name} holds an array of shape {array.shape}. Save one with two "
                "dimensions: rows and columns."
            )
        if array.shape[-1] == 0 and array.ndim == 2:
            raise TableError(
                f"{self.name} holds an array of shape {array.shape}, without columns. Save one "
                "with rows and columns."
            )
        return array.reshape(len(array), -1) if array.ndim == 1 else array

    def _loaded(self) -> NDArray[Any]:
        try:
            if self.format == "npz":
                return self._from_archive()
            array: NDArray[Any] = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            if isinstance(error, TableError):
                raise
            reason = (
                "it holds objects, not numbers"
                if "pickle" in str(error) or "Python objects" in str(error)
                else f"it is cut off or of another kind ({str(error).splitlines()[0].rstrip('.')})"
            )
            raise TableError(
                f"{self.name} is no {self.format} file of numbers: {reason}. Save the array again "
                "with numpy.save, or name the format with --format."
            ) from error
        return array

    def _from_archive(self) -> NDArray[Any]:
        with np.load(self.path, allow_pickle=False) as archive:
            if not hasattr(archive, "files"):
                raise ValueError("not an archive")
            arrays = {key: archive[key] for key in archive.files}
        tables = [key for key, array in arrays.items() if array.ndim == 2]
        chosen = "X" if "X" in arrays else tables[0] if len(tables) == 1 else None
        if chosen is None:
            kinds = listed(f"{shown(key)} of shape {a.shape}" for key, a in arrays.items())
            raise TableError(
                f"{self.name} does not say which of its arrays is the table: {kinds or 'none'}. "
                "Save it under the name X: numpy.savez(file, X=array)."
            )
        table: NDArray[Any] = arrays[chosen]
        return table
