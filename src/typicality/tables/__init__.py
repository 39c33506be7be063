"""Files of rows, read and written block by block.

:func:`open_table` opens csv, tsv, parquet, arrow, npy and npz files; :func:`read_rows` reads their
columns of numbers and says which it left out and why; :func:`rows_of` gives the numbers of a block
for a model that knows its columns; :func:`write_table` and :func:`append_columns` write csv.
Whatever is wrong with a file is a :class:`~typicality.exceptions.TableError`.

Text is UTF-8, or UTF-16 with a byte order mark. The delimiter is found among comma, semicolon, tab
and bar. Quoted cells may hold line breaks; blank lines are skipped. The first line holds the names
of the columns, unless all its cells are numbers. A cell is missing where it is empty or one of NA,
N/A, n/a, NaN, nan, NAN, null, NULL, Null, None, none and ?; spaces around it do not count. Numbers
have a decimal point, and must be finite.
"""

from typicality.tables.base import Block, Place, TableFile
from typicality.tables.cells import MISSING
from typicality.tables.choosing import LeftOut, NumericTable, read_rows, rows_of
from typicality.tables.opening import FORMATS, open_table
from typicality.tables.writing import append_columns, free_names, write_table

__all__ = [
    "FORMATS",
    "MISSING",
    "Block",
    "LeftOut",
    "NumericTable",
    "Place",
    "TableFile",
    "append_columns",
    "free_names",
    "open_table",
    "read_rows",
    "rows_of",
    "write_table",
]
