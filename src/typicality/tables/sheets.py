"""Spreadsheets, through the optional package fastexcel."""

import tempfile
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from typicality._words import shown
from typicality.exceptions import TableError
from typicality.tables.base import Assumption, TableFile
from typicality.tables.cells import csv_rows_of, parse_texts, texts_of
from typicality.tables.delimited import DelimitedFile
from typicality.tables.sniffing import TextSettings


def open_sheet(given: TextSettings, *, temporary: list[Path], **options: Any) -> TableFile:
    """The first sheet of a spreadsheet, as a temporary csv file with a line for each row."""
    (path,), name = options["paths"], options["name"]
    columns, n_sheets = _cells_of(path, name)
    if not columns or not len(columns[0]):
        raise TableError(
            f"{name} is empty: its first sheet has no cells. Choose a file with a header and rows."
        )
    is_blank = reduce(pc.and_, (pc.equal(column, "") for column in columns))
    rows = pc.if_else(is_blank, pa.scalar(b"\n"), csv_rows_of(columns))
    with tempfile.NamedTemporaryFile(prefix="typicality-", suffix=".csv", delete=False) as copy:
        temporary.append(Path(copy.name))
        copy.write(b"".join(rows.to_pylist())[1:] + b"\n")
    given = given._replace(delimiter=",", encoding="utf-8")
    copied = [Path(copy.name)]
    table = DelimitedFile(given, texts=copied, temporary=temporary, **options)
    if n_sheets > 1:
        table.assumed.insert(0, Assumption(f"the first of {n_sheets:,} sheets"))
    return table


def _cells_of(path: Path, name: str) -> tuple[list[Any], int]:
    """The columns of the first sheet as text, and the number of sheets."""
    try:
        import fastexcel
    except ImportError as error:
        raise TableError(
            f"{name} is a spreadsheet, and the package fastexcel that reads it is not "
            "installed. Install it (pip install fastexcel), or save the sheet as "
            "csv ('CSV UTF-8' in a spreadsheet program) and name that file."
        ) from error
    try:
        book = fastexcel.read_excel(path)
        # Without skipping rows: a row of the sheet is a line of the copy.
        texts, numbers = (
            book.load_sheet(0, header_row=None, skip_rows=0, dtypes=kind).to_arrow()
            for kind in ("string", "float")
        )
        pairs = zip(texts.columns, numbers.columns, strict=True)
        return [_with_all_digits(*pair) for pair in pairs], len(book.sheet_names)
    except fastexcel.FastExcelError as error:
        reason = shown(str(error).splitlines()[0].rstrip("."))
        raise TableError(
            f"{name} is not a complete spreadsheet ({reason}). Get it again, or save the "
            "sheet as csv and name that file."
        ) from error


def _with_all_digits(texts: Any, numbers: Any) -> Any:
    """A column as text; numbers that lost digits on the way to text have them again."""
    texts = texts.cast("string").fill_null("")
    exact = numbers.to_numpy(zero_copy_only=False)
    is_short = np.isfinite(exact) & np.isfinite(shortened := parse_texts(texts).numbers)
    is_short &= exact != shortened
    return pc.replace_with_mask(texts, pa.array(is_short), texts_of(pa.array(exact[is_short])))
