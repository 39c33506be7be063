"""From a path, standard input or a data frame to a table."""

import glob
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

from typicality._words import counted, listed, shown_path
from typicality.exceptions import Remedy, TableError
from typicality.tables.arrow import ArrowTable, open_frame, open_json
from typicality.tables.base import Assumption, TableFile, reason_of
from typicality.tables.delimited import DelimitedFile
from typicality.tables.layout import WHITESPACE
from typicality.tables.lines import normal_encoding
from typicality.tables.sheets import open_sheet
from typicality.tables.sniffing import TextSettings

_PACKED = frozenset([".gz", ".bz2", ".zip", ".zst"])
_SUFFIXES_OF = {
    "csv": [".csv", ".dat", ".data", ".txt"],
    "tsv": [".tsv", ".tab"],
    "ndjson": [".ndjson", ".jsonl"],
    "parquet": [".parquet", ".pq"],
    "arrow": [".arrow", ".feather", ".ipc"],
    "npy": [".npy"],
    "xlsx": [".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"],
    "json": [".json"],
}
_SUFFIXES = {suffix: kind for kind, suffixes in _SUFFIXES_OF.items() for suffix in suffixes}
FORMATS = tuple(_SUFFIXES_OF)
JOINED_FORMATS = FORMATS[:-2]  # several files of these are one table


def open_table(
    source: Any,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> TableFile:
    """Open a table: a file, a folder or pattern of files, standard input or a dataframe.

    Parameters
    ----------
    source : str, path or data frame
        A file; a folder of files of one format, or a pattern such as ``part-*.parquet``; "-" for
        standard input; or a dataframe of pandas, polars, duckdb or any other library that supports
        Arrow (``__arrow_c_stream__``). The files of a folder or a pattern (csv, tsv, ndjson,
        parquet, arrow or npy) must have the same columns, and are one table. Standard input is kept
        in a temporary file until the table is closed.
    format : {"csv", "tsv", "ndjson", "parquet", "arrow", "npy", "xlsx", "json"}, optional
        The format of the file. By default, it follows from the suffix; standard input is csv. Text
        can be compressed (.gz, .bz2, .zst, or .zip with one file). Spreadsheets (.xlsx, .xlsm,
        .xlsb, .xls, .ods) need the package fastexcel; the first sheet is read. An ndjson file is
        read into memory; so is a json file, which holds an array of objects, or an object of
        columns as pandas writes it, or lines as ndjson.
    delimiter : str, optional
        For csv, the separator of cells, or "whitespace" for any number of blanks and tabs. By
        default, it is detected: comma, semicolon, tab, bar or whitespace, whichever splits the
        first lines into equal numbers of cells. tsv always uses the tab.
    header : bool, optional
        For csv and tsv, whether the first line has the names of the columns. By default, it has
        names unless it fits the numbers, dates and truth values of all columns below it; but
        the numbers 0, 1, 2, ... and years above other numbers are names. Columns without a
        name are called "column 1" and so on. Repeated names a become a, a.1, a.2. Lines
        at the top that begin with # are comments.
    encoding : str, optional
        For csv and tsv, the encoding. By default, it is detected: UTF-16 if the file begins with
        its byte order mark, UTF-8, or cp1252 (Latin-1) if the bytes are not UTF-8.
    decimal : {".", ","}, optional
        For csv and tsv, the decimal mark. With the comma, points separate thousands: 1.234,5 is
        1234.5. By default, it is the comma if some columns have decimal commas in the first lines
        and none has decimal points, or in a file with semicolons, if commas stand before three
        digits (6,180) or points seem to separate thousands: 245, 16.403, 2.733.

    Returns
    -------
    TableFile
        The table. It is a context manager, which removes the temporary file.

    Raises
    ------
    TableError
        The file cannot be used. The message states the reason and the remedy.

    Examples
    --------
    >>> with open_table("people.csv") as table:  # doctest: +SKIP
    ...     rows = read_rows(table)
    """
    if format not in (None, *FORMATS):
        raise TableError(f"format is {format!r}: choose one of {', '.join(FORMATS)}.")
    if delimiter not in (None, WHITESPACE) and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise TableError(
            f"delimiter is {delimiter!r}: pass one character, e.g. ';', or {WHITESPACE!r}."
        )
    if decimal not in (None, ".", ","):
        raise TableError(f"decimal is {decimal!r}: pass '.' or ','.")
    encoding = encoding and normal_encoding(encoding)
    text = TextSettings(delimiter, header, encoding, decimal)
    if hasattr(source, "__arrow_c_stream__"):
        return open_frame(source)
    if not isinstance(source, str | bytes | os.PathLike):
        raise TypeError(
            f"source is of type {type(source).__name__}: pass a path, or a data frame such "
            "as pandas.DataFrame(array); call collect() on a lazy frame."
        )
    source = os.fsdecode(source)
    name = "standard input" if source == "-" else shown_path(source)
    temporary = [_copy_of_standard_input()] if source == "-" else []
    try:
        paths = temporary[:] or _files_of(Path(source), name)
        formats = {format or ("csv" if temporary else _known_format_of(path)) for path in paths}
        return _open_all(paths, formats, text, name=name, temporary=temporary)
    except BaseException as error:
        for path in temporary:
            path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        # Only the system numbers its errors; the others are about the bytes of a compressed file.
        remedy = "Check the path."
        if error.errno is None:
            remedy = "It is damaged: get the file again."
        raise TableError(f"{name} cannot be read: {reason_of(error)}. {remedy}") from error


def _copy_of_standard_input() -> Path:
    if sys.stdin is None:
        raise TableError("Standard input is closed. Name a file instead of -.")
    with tempfile.NamedTemporaryFile(prefix="typicality-", delete=False) as copy:
        try:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        except BaseException:
            Path(copy.name).unlink()
            raise
    return Path(copy.name)


def _files_of(path: Path, name: str) -> list[Path]:
    """The files of a folder or of a pattern, in order; else the path itself."""
    if path.is_dir():
        found = (file for file in path.rglob("*") if file.is_file())
        files = sorted(file for file in found if not file.name.startswith((".", "_")))
        kinds = {_format_of(file) or "" for file in files} & {*JOINED_FORMATS}
        kinds = kinds & {"parquet", "arrow"} or kinds  # texts beside them explain or list them
        if len(kinds) != 1:
            what = f" with files of {listed(sorted(kinds))}" if kinds else ""
            raise TableError(
                f"{name} is a folder{what}. Name a file in it, or a pattern such as "
                "'part-*.parquet'."
            )
        return [file for file in files if _format_of(file) in kinds]
    if glob.has_magic(name) and not os.path.lexists(path):
        files = sorted(filter(Path.is_file, map(Path, glob.glob(name, recursive=True))))
        if not files:
            raise TableError(f"No file matches {name}. Check the pattern.")
        return files
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe without a writer would wait for ever
        raise TableError(
            f"{name} is a pipe or a device, which can be read only once. Redirect it to "
            "standard input, and give - in place of the file name."
        )
    return [path]


def kind_of_suffix(path: str | os.PathLike[str]) -> str | None:
    """What the suffix of a file promises: a format, "compressed", or nothing."""
    suffix = Path(path).suffix.lower()
    return "compressed" if suffix in _PACKED else _SUFFIXES.get(suffix)


def _format_of(path: Path) -> str | None:
    """The format of a file by its suffix; compressed files are text."""
    if path.suffix.lower() in _PACKED:
        return _SUFFIXES.get(Path(path.stem).suffix.lower(), "csv")
    return _SUFFIXES.get(path.suffix.lower())


def _known_format_of(path: Path) -> str:
    found = _format_of(path)
    if found is None:
        suffix = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
        known = ", ".join(sorted(_SUFFIXES))
        raise TableError(
            f"{shown_path(path)} has {suffix}, so its format is unknown (known are {known}).",
            remedy=Remedy(
                "format", "csv", "Save the rows as csv; or, if they are text, name the format: {}."
            ),
        )
    return found


def _open_all(
    paths: list[Path], formats: set[str], text: TextSettings, **options: Any
) -> TableFile:
    """The table of one file, or of several of one format; `text` is about text files."""
    name, format = options["name"], min(formats)
    if len(paths) > 1 and (len(formats) > 1 or format not in JOINED_FORMATS):
        raise TableError(
            f"{name} matches {counted(len(paths), 'file')} of the formats "
            f"{listed(sorted(formats))}, but one table needs files of one format "
            f"({', '.join(JOINED_FORMATS)}). Name fewer files, or write all in one format."
        )
    filled = [path for path in paths if path.stat().st_size > 0]
    if not filled:
        raise TableError(f"{name} is empty. Choose a file with a header and rows.")
    options |= {"format": format, "paths": filled}
    if format in ("csv", "tsv"):
        text = text._replace(delimiter="\t") if format == "tsv" else text
        table: TableFile = DelimitedFile(text, **options)
    elif format == "xlsx":
        table = open_sheet(text, **options)
    else:
        table = open_json(**options) if format in ("ndjson", "json") else ArrowTable(**options)
    if len(filled) < len(paths):
        n_empty = counted(len(paths) - len(filled), "empty file")
        table.assumed.append(Assumption(f"{n_empty} skipped"))
    return table
