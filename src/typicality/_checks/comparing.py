"""What a comparison of methods is given."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from typicality._checks.rows import check_magnitudes, check_rows, check_varying_rows
from typicality.geometry import Features
from typicality.geometry.distinct import count_distinct_rows

FEWEST_ROWS = 10


def check_rows_to_compare(X: Any) -> NDArray[np.float64]:
    """Rows of numbers that differ, not too much, and enough of them for refits on subsamples."""
    rows: NDArray[np.float64] = check_rows(BaseEstimator(), X, training=True, at_least=0).astype(
        np.float64, copy=False
    )
    if len(rows) < FEWEST_ROWS:
        raise ValueError(
            f"X has {len(rows)} row(s), and a comparison needs at least {FEWEST_ROWS}: it fits "
            "each method again on subsamples. Pass more rows."
        )
    check_varying_rows(rows, None)
    # HDBSCAN of scikit-learn never ends where squared distances overflow.
    check_magnitudes(Features.of(rows), rows.dtype)
    return rows


def check_at_least(value: Any, name: str, least: int) -> int:
    """A whole number that is not too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {value!r}.")
    return int(value)


def check_rate(contamination: Any, auto: float) -> float:
    """A nominal rate of outliers."""
    if isinstance(contamination, str) and contamination == "auto":
        return auto
    is_number = isinstance(contamination, Real) and not isinstance(contamination, bool)
    if not is_number or not 0 < float(contamination) <= 0.5:
        raise ValueError(
            f"contamination must be 'auto' or a share above 0 and at most 0.5; got "
            f"{contamination!r}."
        )
    return float(contamination)


def check_number_of_clusters(n_clusters: Any, rows: NDArray[np.float64]) -> int | None:
    """'auto', which is None here, or a number of clusters that the rows can have."""
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return None
    is_whole = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
    if not is_whole or n_clusters < 1:
        raise ValueError(
            f"n_clusters must be 'auto' or a whole number, 1 or more; got {n_clusters!r}."
        )
    n_distinct = count_distinct_rows(rows, None, int(n_clusters))
    if n_distinct < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_distinct} distinct rows of X "
            f"(n_samples={len(rows)}). Choose n_clusters <= {n_distinct}, or pass more data."
        )
    return int(n_clusters)
