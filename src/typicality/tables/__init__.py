"""Read and write tables of rows, block by block.

:func:`open_table` opens files (csv, tsv, ndjson, json, parquet, arrow, npy, xlsx; text can be
compressed), folders of files, and dataframes. :func:`read_rows` reads the columns of numbers, and
reports which columns it left out and why. :func:`rows_of` returns the numbers of a block for a
fitted model. :func:`csv_text` makes csv, and :func:`arrow_rows` Arrow tables for parquet. If a file
cannot be used, a :class:`~typicality.exceptions.TableError` is raised.

Text files are UTF-8, UTF-16 with a byte order mark, or cp1252 (Latin-1). The delimiter is detected:
comma, semicolon, tab, bar or whitespace. Quoted cells can have line breaks. Lines at the top that
begin with #, and blank lines, are skipped. The first line has the names of the columns, unless it
fits the numbers, dates and truth values of all columns below it. A cell is missing if it is empty
or one of NA, N/A, n/a, NaN, nan, NAN, null, NULL, Null, None, none, ?, - and . (spaces around it
are ignored). Numbers must be finite. They have a decimal point, or a decimal comma if this is
detected; then points separate thousands. The attribute ``assumed`` of the table lists what was
detected.
"""

from importlib.util import find_spec

if find_spec("pyarrow") is None:
    raise ImportError(
        "Reading files and Arrow tables needs pyarrow, which is not installed. Install it with: "
        'pip install "typicality[cli]"',
        name="pyarrow",
    )

from typicality.tables.base import Block, TableFile
from typicality.tables.cells import MISSING
from typicality.tables.columns import (
    LeftOut,
    NumericTable,
    categories_of,
    read_rows,
    rows_of,
)
from typicality.tables.opening import FORMATS, open_table
from typicality.tables.writing import (
    arrow_rows,
    csv_text,
    free_names,
    masked_columns,
)

__all__ = [
    "FORMATS",
    "MISSING",
    "Block",
    "LeftOut",
    "NumericTable",
    "TableFile",
    "arrow_rows",
    "categories_of",
    "csv_text",
    "free_names",
    "masked_columns",
    "open_table",
    "read_rows",
    "rows_of",
]
