"""Which engine rows belong to."""

import sys
from typing import Any

import numpy as np

from typicality.rows.base import Rows


def is_blockwise(X: Any) -> bool:
    """Whether rows are opened rows or a Dask collection, and not something array-like."""
    return isinstance(X, Rows) or is_dask(X)


def is_dask(X: Any) -> bool:
    """Whether an object is a Dask collection; Dask is not imported for that."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def as_rows(X: Any, sample_weight: Any = None) -> Rows:
    """Opened rows or a Dask collection as rows, with the weights of the user."""
    if is_dask(X):
        from typicality.rows.dask import dask_rows

        return dask_rows(X, sample_weight)
    rows: Rows = X
    if sample_weight is None:
        return rows
    return rows.weighted_by(np.asarray(sample_weight))
