"""Checks of rows, of their weights and of their magnitudes."""

from collections import Counter
from numbers import Real
from typing import Any

import narwhals
import narwhals.exceptions
import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from typicality._compat import feature_names
from typicality._sparse import is_sparse, sparse_rows
from typicality._tensors import OnDevice
from typicality._typing import Floats
from typicality.rows import Features, Rows, count_distinct_rows, row_blocks

OVERFLOW_MARGIN = 1e6


def rounding_of(dtype: Any) -> float:
    """The relative difference that is none: ten units in the last place, as 0.1 + 0.2 is 0.3."""
    return 10.0 * float(np.finfo(dtype).eps)


def differ(low: Any, high: Any, dtype: Any) -> Any:
    """Whether the smallest and the largest value differ by more than rounding."""
    return high - low > rounding_of(dtype) * np.maximum(np.abs(low), np.abs(high))


def check_rows(
    estimator: Any,
    X: Any,
    *,
    training: bool,
    at_least: int = 2,
    allow_missing: bool = False,
    sparse: bool = False,
) -> Floats:
    """The rows as a C-contiguous array of float64 or float32, or an error that says what to do.

    Missing values, NaN, are an error too unless they are allowed. Sparse matrices become a
    `SparseArray` where they are allowed: those in csr format share its memory, others are copied.
    Rows on a device stay there.
    """
    if isinstance(X, OnDevice):
        if training and not allow_missing and _is_sound(X, at_least):
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)
            rows_there: Any = X
            return rows_there
        X = X.host
    if getattr(X, "ndim", 2) > 2:
        raise ValueError(
            f"Found array with dim {X.ndim}: X has the shape {tuple(X.shape)}, and a row is a "
            "vector. For one row per image or series, pass X.reshape(len(X), -1); the guide, "
            "Recipes by field, has one row per pixel."
        )
    refuse_dates(X)
    _refuse_masks(X, "X", "Remove such rows, or fill them in, e.g. with X.filled(0.0)")
    try:
        rows: Floats = validate_data(
            estimator,
            X,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr" if sparse else False,
            ensure_all_finite=False,
            ensure_min_samples=0,
            reset=training,
        )
    except (TypeError, ValueError) as error:
        if "Complex data not supported" in str(error):
            raise ValueError(
                "Complex data not supported: X has complex values. Pass the real and imaginary "
                "parts as separate columns."
            ) from error
        culprit = _not_a_number(X)
        if culprit is None:
            raise
        raise ValueError(
            f"X contains {culprit}, which is not a number. Drop such columns, convert numbers that "
            "are written as text, or encode categories, e.g. with "
            "sklearn.preprocessing.OneHotEncoder."
        ) from error
    if issparse(rows):
        rows = sparse_rows(rows)
    if training and len(rows) < at_least:
        raise ValueError(
            f"X has {len(rows)} sample(s) (n_samples={len(rows)}), but {type(estimator).__name__} "
            f"needs at least {at_least} sample(s). Pass the data with one row per sample."
        )
    if not training and len(rows) == 0:
        raise ValueError(f"X has 0 samples (shape={rows.shape}). Pass at least one row.")
    remedy = "fill them in, e.g. with sklearn.impute.SimpleImputer"
    if hasattr(estimator, "missing"):
        remedy += f", or change missing={estimator.missing!r}"
    _check_finite(rows, feature_names(X), allow_missing=allow_missing, remedy=remedy)
    return rows


def _is_sound(X: OnDevice, at_least: int) -> bool:
    """Whether no check would refuse or change the rows, found out on the device."""
    tensor = X.tensor
    return (
        tensor.ndim == 2
        and min(tensor.shape) >= 1
        and len(tensor) >= at_least
        and str(tensor.dtype) in ("torch.float32", "torch.float64")
        and tensor.is_contiguous()
        and bool(tensor.isfinite().all())
    )


def check_blocks(estimator: Any, rows: Rows, *, training: bool, at_least: int = 2) -> Rows:
    """Rows that are not in memory, whose values their engine has checked."""
    names = None if rows.names is None else np.asarray(rows.names, dtype=object)
    if training:
        if rows.n_rows < at_least:
            raise ValueError(
                f"X has {rows.n_rows} sample(s) (n_samples={rows.n_rows}), but "
                f"{type(estimator).__name__} needs at least {at_least} sample(s)."
            )
        estimator.n_features_in_ = rows.n_features
        if names is not None:
            estimator.feature_names_in_ = names
        return rows
    if rows.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {rows.n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and list(known) != list(names):
        raise ValueError(
            f"The columns of X are {', '.join(names)}, but the model was fitted on "
            f"{', '.join(known)}: pass these columns, in that order."
        )
    return rows


def as_frame(X: Any, **how: Any) -> Any:
    """A dataframe as narwhals has it; anything else as it is."""
    try:
        return narwhals.from_native(X, pass_through=True, **how)
    except narwhals.exceptions.DuplicateError as error:
        twice = next(name for name, count in Counter(X.columns).items() if count > 1)
        raise ValueError(
            f"X has several columns called {twice!r}. Give each column another name, or drop all "
            "but one."
        ) from error


def refuse_dates(X: Any) -> None:
    """Dates would pass as their number of nanoseconds."""
    table = as_frame(X)
    named = table.schema.items() if hasattr(table, "schema") else []
    dates = [f"column {name!r}" for name, dtype in named if dtype.is_temporal()]
    if getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        dates = ["the whole array"]
    if dates:
        raise ValueError(
            f"X contains dates or times in {dates[0]}, which are not numbers. Convert them "
            "to numbers, e.g. days since the first date, or drop them."
        )


def _refuse_masks(array: Any, name: str, remedy: str) -> None:
    """What lies under a mask would be taken for a value."""
    if np.ma.is_masked(array):
        masked = np.argwhere(np.ma.getmaskarray(array))
        row = int(masked[0][0])
        raise ValueError(
            f"{name} is a masked array with {len(masked)} masked value(s), first in "
            f"row {row} (counted from 0). {remedy}."
        )


def _not_a_number(X: Any) -> str | None:
    """The first value of a table that cannot be made a number, with its place."""
    names = feature_names(X)
    try:
        table = np.asarray(X, dtype=object)
    except (TypeError, ValueError):
        return None
    if table.ndim != 2:
        return None
    for column, values in enumerate(table.T):
        for row, value in enumerate(values):
            if isinstance(value, str | bytes) or type(value).__name__ == "NAType":
                try:
                    float(value)
                except (TypeError, ValueError):
                    name = f"column {column if names is None else repr(str(names[column]))}"
                    return f"{value!r} in row {row}, {name}"
    return None


def _check_finite(rows: Floats, names: Any, *, allow_missing: bool, remedy: str) -> None:
    if is_sparse(rows):
        places = np.flatnonzero(~np.isfinite(rows.data))
        if len(places):
            first = places[0]
            row = int(np.searchsorted(rows.indptr, first, side="right")) - 1
            _refuse_not_finite(rows.data[first], row, int(rows.indices[first]), len(places), remedy)
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return
    for block in row_blocks(len(rows)):
        is_bad = np.isinf(rows[block]) if allow_missing else ~np.isfinite(rows[block])
        bad = np.argwhere(is_bad)
        if len(bad):
            row, column = bad[0] + (block.start, 0)
            name = int(column) if names is None else names[column]
            n_values = int(np.sum(~np.isfinite(rows)))
            _refuse_not_finite(rows[row, column], row, name, n_values, remedy)


def _refuse_not_finite(value: Any, row: int, column: Any, n_values: int, remedy: str) -> None:
    kind = "NaN"
    if not np.isnan(value):
        kind, remedy = "infinity", "replace them by finite numbers"
    raise ValueError(
        f"X contains {kind}, first in row {row} (counted from 0), column {column!r}; "
        f"{n_values} of its values are not finite. Remove such rows, or {remedy}."
    )


def refuse_empty_rows(rows: Floats) -> None:
    """Where values can be missing, a row needs one at least."""
    empty = np.flatnonzero(np.isnan(rows).all(axis=1))
    if len(empty):
        raise ValueError(
            f"X has no value in row {empty[0]} (counted from 0); {len(empty)} of its rows have "
            "none. Remove such rows."
        )


def check_sample_weight(sample_weight: Any, X: Floats) -> Floats | None:
    """Weights of the type of X; None where all are one."""
    if sample_weight is None:
        return None
    _refuse_masks(sample_weight, "sample_weight", "Use 0 to leave a row out")
    if isinstance(sample_weight, Real):
        sample_weight = np.full(len(X), sample_weight)
    try:
        weight = check_array(
            sample_weight,
            ensure_2d=False,
            dtype=X.dtype,
            order="C",
            ensure_all_finite=False,
            input_name="sample_weight",
        )
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")  # the rest may be the data
        raise ValueError(f"sample_weight: {reason}. Pass one number for each row of X.") from error
    if weight.ndim != 1 or len(weight) != len(X):
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(len(X),)}: "
            "pass one weight for each row of X."
        )
    bad = np.flatnonzero(~np.isfinite(weight))
    if len(bad):
        raise ValueError(
            f"sample_weight contains NaN or infinity, first in row {bad[0]}. Weights count copies "
            "of a row; use 0 to leave a row out."
        )
    negative = np.flatnonzero(weight < 0)
    if len(negative):
        raise ValueError(
            f"Negative values in sample_weight: {weight[negative[0]]} at row {negative[0]}. "
            "Weights count copies of a row; use 0 to leave a row out."
        )
    largest = np.finfo(X.dtype).max ** (1 / 3)
    if weight.max() > largest:
        raise ValueError(
            f"sample_weight is too large: {weight.max():.1e} in row {weight.argmax()}. Sums "
            f"of such weights overflow {X.dtype}. Divide all weights by the largest."
        )
    if not weight.any():
        raise ValueError(
            "All values of sample_weight are zero. Give some rows a weight above zero."
        )
    if weight.max() < np.finfo(X.dtype).tiny ** (1 / 3):
        raise ValueError(
            f"sample_weight is too small: at most {weight.max():.1e}. Sums of such weights "
            f"vanish in {X.dtype}. Divide all weights by the largest."
        )
    return None if (weight == 1).all() else np.asarray(weight)


def check_distinct_rows(X: Floats, sample_weight: Floats | None, n_clusters: int) -> None:
    """There must be as many distinct rows as clusters."""
    n_distinct = count_distinct_rows(X, sample_weight, n_clusters)
    if n_distinct < n_clusters:
        weighted = "" if sample_weight is None else " of positive weight"
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_distinct} distinct rows{weighted} of X "
            f"(n_samples={len(X)}). Choose n_clusters <= {n_distinct}, or pass more data."
        )


def check_varying_rows(X: Floats, sample_weight: Floats | None) -> None:
    """There must be two distinct rows: of one, there is nothing to find out."""
    if count_distinct_rows(X, sample_weight, 2) < 2:
        weighted = "" if sample_weight is None else " of positive weight"
        raise ValueError(
            f"All rows{weighted} of X are the same (n_samples={len(X)}): there are no clusters "
            "to find, and no distance to set a scale by. Check how the data were made."
        )


def check_magnitudes(features: Features, dtype: np.dtype[Any]) -> None:
    """Squared distances must neither overflow nor vanish in the type of the data."""
    with np.errstate(over="ignore"):
        widest = np.sum((features.high - features.low) ** 2)
    limits = np.finfo(dtype)
    if not widest < limits.max / OVERFLOW_MARGIN:
        raise ValueError(
            f"The values of X are too large: squared distances of up to {widest:.1e} overflow "
            f"{dtype}. Rescale the features, e.g. with sklearn.preprocessing.StandardScaler."
        )
    if 0 < (features.high - features.low).max() < np.sqrt(limits.tiny) * 1e8:
        raise ValueError(
            f"The values of X lie too close together: squared distances vanish in {dtype}. "
            "Rescale the features, e.g. with sklearn.preprocessing.StandardScaler."
        )


def check_reach(rows: Floats, dtype: np.dtype[Any], first_row: int = 0) -> None:
    """Rows must not be so far away that squared distances overflow in the type of the data."""
    limit = 0.5 * float(np.sqrt(np.finfo(dtype).max / OVERFLOW_MARGIN / rows.shape[1]))
    values = rows.data if is_sparse(rows) else rows
    if not values.size or max(-np.nanmin(values), np.nanmax(values)) <= limit:
        return
    place = int(np.argmax(np.abs(values) > limit))
    if is_sparse(rows):
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
    else:
        row = place // rows.shape[1]
    raise ValueError(
        f"X has a value that is too large in row {first_row + row}: its squared distance overflows "
        f"{dtype}. Remove the row, or fit and predict on rescaled features."
    )
