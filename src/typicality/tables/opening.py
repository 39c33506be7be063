"""From a path, or standard input, to a table."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typicality.exceptions import TableError
from typicality.tables._words import shown_path
from typicality.tables.arrays import NumpyFile
from typicality.tables.base import TableFile, reason_of, size_of
from typicality.tables.columnar import ArrowFile, ParquetFile
from typicality.tables.delimited import DelimitedFile
from typicality.tables.sniffing import ARROW, NUMPY, PARQUET, ZIP

_SPREADSHEETS = frozenset([".ods", ".xls", ".xlsb", ".xlsm", ".xlsx"])
_SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
    ".npz": "npz",
}
_BEGINNINGS = {PARQUET: "parquet", ARROW: "arrow", NUMPY: "npy", ZIP: "npz"}
_READERS: dict[str, Callable[..., TableFile]] = {
    "csv": DelimitedFile,
    "tsv": DelimitedFile,
    "parquet": ParquetFile,
    "arrow": ArrowFile,
    "npy": NumpyFile,
    "npz": NumpyFile,
}
FORMATS = tuple(_READERS)


def open_table(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> TableFile:
    """Open a file of rows; nothing is read yet but its beginning.

    Parameters
    ----------
    source : str or path
        A file, or "-" for standard input, which is kept in a temporary file until the table is
        closed, because a table is read more than once.
    format : {"csv", "tsv", "parquet", "arrow", "npy", "npz"}, optional
        What kind of file it is; when left out, what its suffix says, and for standard input its
        first bytes.
    delimiter : str, optional
        For csv, what stands between cells; when left out, comma, semicolon, tab or bar, whichever
        cuts the first lines into equal numbers of cells. Always the tab for tsv.
    header : bool, optional
        For csv and tsv, whether the first line holds the names of the columns. When left out, it
        does unless all its cells are numbers (and cells that count 0, 1, 2 are names all the same);
        columns without a name are called "column 1" and so on, by their position.

    Returns
    -------
    TableFile
        A context manager: leave it to remove the temporary file.

    Raises
    ------
    TableError
        Where the file cannot be used; the message says why, and what to do.

    Examples
    --------
    >>> with open_table("people.csv") as table:  # doctest: +SKIP
    ...     rows = read_rows(table)
    """
    if format not in (None, *FORMATS):
        raise TableError(f"format is {format!r}: choose one of {', '.join(FORMATS)}.")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise TableError(f"delimiter is {delimiter!r}: pass one character, e.g. ';'.")
    if os.fspath(source) == "-":
        return _open_standard_input(format, delimiter, header)
    path = Path(source)
    name = shown_path(source)
    _refuse_unreadable(path, name)
    return _open(path, name, format or _by_suffix(path, name), delimiter, header)


def _open(
    path: Path, name: str, format: str, delimiter: str | None, header: bool | None
) -> TableFile:
    options: dict[str, Any] = {"name": name, "format": format}
    if format in ("csv", "tsv"):
        options |= {"delimiter": "\t" if format == "tsv" else delimiter, "header": header}
    try:
        if size_of(path) == 0:
            raise TableError(f"{name} is empty. Choose a file with a header and rows.")
        return _READERS[format](path, **options)
    except OSError as error:
        raise TableError(
            f"{name} cannot be read: {reason_of(error)}. Check the path and your permissions."
        ) from error


def _refuse_unreadable(path: Path, name: str) -> None:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error)
        raise TableError(f"{name} cannot be read: {reason}. Check the path.") from error
    if stat.S_ISDIR(mode):
        raise TableError(f"{name} is a folder. Name a file in it.")
    if not stat.S_ISREG(mode):  # opening a pipe without a writer would wait for ever
        raise TableError(
            f"{name} is a pipe or a device, which can be read only once. Hand its contents to "
            "standard input, and name - as the file."
        )


def _by_suffix(path: Path, name: str) -> str:
    suffix = path.suffix.lower()
    if suffix in _SPREADSHEETS:
        raise TableError(
            f"{name} is a spreadsheet, which cannot be read. Save the sheet as csv (in a "
            "spreadsheet program: 'CSV UTF-8'), and name that file."
        )
    if suffix not in _SUFFIXES:
        known = ", ".join(sorted(_SUFFIXES))
        what = f"has the suffix {suffix!r}" if suffix else "has no suffix"
        raise TableError(
            f"{name} {what}, and that does not say what kind of file it is (known are {known}). "
            "Name the format, e.g. --format csv (format='csv' in Python)."
        )
    return _SUFFIXES[suffix]


def _open_standard_input(
    format: str | None, delimiter: str | None, header: bool | None
) -> TableFile:
    with tempfile.NamedTemporaryFile(prefix="typicality-", delete=False) as copy:
        path = Path(copy.name)
        try:
            shutil.copyfileobj(sys.stdin.buffer, copy)
            copy.flush()
            format = format or _by_first_bytes(path)
            return _open(path, "standard input", format, delimiter, header).belongs_to(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _by_first_bytes(path: Path) -> str:
    with open(path, "rb") as file:
        beginning = file.read(8)
    return next((f for start, f in _BEGINNINGS.items() if beginning.startswith(start)), "csv")
