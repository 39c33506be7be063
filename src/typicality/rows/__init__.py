"""Where the rows are: an array, a sparse matrix, a file, a Dask collection, a tensor.

Every engine cuts the rows into blocks and offers `fold` and `map`
(:class:`~typicality.rows.base.Rows`). The layers above do not know which engine they use.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typicality._threads import TreeSum
from typicality.exceptions import TableError
from typicality.rows.array import ArrayRows, SparseRows, rows_in_memory
from typicality.rows.base import (
    Additive,
    Block,
    Rows,
    as_rows,
    count_distinct_rows,
    is_blockwise,
    is_dask,
    row_blocks,
)
from typicality.rows.distinct import LARGEST_SAMPLE, DistinctRows, content_hash
from typicality.rows.features import Features
from typicality.rows.quantiles import histogram, quantile, quantiles, robust_spreads
from typicality.rows.tensor import TensorRows

if TYPE_CHECKING:
    from typicality.rows.file import FileRows


def open_rows(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> "FileRows":
    """Open files of rows that can be larger than memory.

    Pass the result to `fit` instead of an array. Each iteration reads the files once, batch by
    batch. Parquet and npy files are fast; csv files are parsed again in each pass.

    Parameters
    ----------
    path : str or path
        A file (csv, tsv, ndjson, parquet, arrow, npy), a folder of files of one format, or a
        pattern such as ``part-*.parquet``. Several files must have the same columns.
    columns : sequence of str, optional
        The columns to use. By default, all columns.

    Returns
    -------
    FileRows

    Raises
    ------
    TableError
        A column does not exist or does not hold numbers, or a number is missing or not finite. The
        message names the file, the row and the column.

    Examples
    --------
    >>> from typicality import FuzzyCMeans, open_rows
    >>> rows = open_rows("measurements/part-*.parquet")  # doctest: +SKIP
    >>> model = FuzzyCMeans(10).fit(rows)  # doctest: +SKIP
    """
    from typicality.tables import open_table  # which says what to install, if pyarrow is missing

    if os.fspath(path) == "-":
        raise TableError("Standard input can be read only once. Name a file instead of -.")
    table = open_table(path)
    names = list(table.names if columns is None else columns)
    missing = [name for name in names if name not in table.names]
    if missing:
        raise TableError(
            f"{table.name} has no column {missing[0]!r}; it has {', '.join(table.names)}. "
            "Every file must have all columns that are used."
        )
    from typicality.rows.file import FileRows

    return FileRows(table, names)


def __getattr__(name: str) -> Any:
    if name == "FileRows":  # it needs pyarrow, which is an extra
        from typicality.rows.file import FileRows

        return FileRows
    raise AttributeError(f"module 'typicality.rows' has no attribute {name!r}")
