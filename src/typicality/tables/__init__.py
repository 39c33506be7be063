"""Files of rows, read and written block by block.

:func:`open_table` opens csv, tsv, parquet, arrow, npy and npz files; :func:`read_rows` reads their
columns of numbers and says which it left out and why; :func:`rows_of` gives the numbers of a block
for a model that knows its columns; :func:`write_table` and :func:`append_columns` write csv.
Whatever is wrong with a file is a :class:`~typicality.exceptions.TableError`.
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
