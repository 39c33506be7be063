"""Tables of rows, read and written block by block.

:func:`open_table` opens files (csv, tsv, ndjson, parquet, arrow, npy, npz, xlsx; text may be
compressed), folders of parquet files, and data frames. :func:`read_rows` reads the columns of
numbers and says which columns it left out and why. :func:`rows_of` gives the numbers of a block for
a model that knows its columns. :func:`csv_text` and :func:`write_table` make csv, and
:func:`arrow_rows` makes Arrow tables for parquet. Whatever is wrong with a file is a
:class:`~typicality.exceptions.TableError`.

Text is UTF-8, UTF-16 with a byte order mark, or cp1252 (Latin-1). The delimiter is found among
comma, semicolon, tab, bar and blanks. Quoted cells may hold line breaks; blank lines and lines of
# at the top are skipped. The first line holds the names of the columns, unless all its cells are
numbers. A cell is missing where it is empty or one of NA, N/A, n/a, NaN, nan, NAN, null, NULL,
Null, None, none, ? and - ; spaces around it do not count. Numbers must be finite. They have a
decimal point, or a decimal comma where the columns show that; then points stand between thousands.
What was found out in this way is in ``assumed`` of the table.
"""

from typicality.tables.base import Block, Place, TableFile
from typicality.tables.cells import MISSING
from typicality.tables.opening import FORMATS, open_table
from typicality.tables.reading import (
    CategoryColumn,
    LeftOut,
    NumericTable,
    categories_of,
    read_rows,
    rows_of,
)
from typicality.tables.writing import (
    arrow_rows,
    csv_text,
    free_names,
    masked_columns,
    write_table,
)

__all__ = [
    "FORMATS",
    "MISSING",
    "Block",
    "CategoryColumn",
    "LeftOut",
    "NumericTable",
    "Place",
    "TableFile",
    "arrow_rows",
    "categories_of",
    "csv_text",
    "free_names",
    "masked_columns",
    "open_table",
    "read_rows",
    "rows_of",
    "write_table",
]
