"""Where the rows are: an array, a sparse matrix, a file, a Dask collection, a tensor.

Every engine cuts the rows into blocks and offers `fold` and `map`
(:class:`~typicality.rows.base.Rows`). The layers above do not know which engine they use.
"""

from typing import TYPE_CHECKING, Any

from typicality._threads import TreeSum
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
from typicality.rows.opening import open_rows
from typicality.rows.quantiles import (
    histogram,
    quantile,
    quantiles,
    robust_spreads,
)
from typicality.rows.tensor import TensorRows

if TYPE_CHECKING:
    from typicality.rows.file import FileRows

__all__ = [
    "LARGEST_SAMPLE",
    "Additive",
    "ArrayRows",
    "Block",
    "DistinctRows",
    "Features",
    "FileRows",
    "Rows",
    "SparseRows",
    "TensorRows",
    "TreeSum",
    "as_rows",
    "content_hash",
    "count_distinct_rows",
    "histogram",
    "is_blockwise",
    "is_dask",
    "open_rows",
    "quantile",
    "quantiles",
    "robust_spreads",
    "row_blocks",
    "rows_in_memory",
]


def __getattr__(name: str) -> Any:
    if name == "FileRows":  # it needs pyarrow, which is an extra
        from typicality.rows.file import FileRows

        return FileRows
    raise AttributeError(f"module 'typicality.rows' has no attribute {name!r}")
