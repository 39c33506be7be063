"""The only place that judges user input: errors name the input, the reason and the remedy."""

from numbers import Real
from typing import Any

import narwhals
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from typicality._compat import feature_names
from typicality.geometry import Features
from typicality.geometry.base import row_blocks
from typicality.geometry.distinct import count_distinct_rows
from typicality.kernels import BANDWIDTH_KERNELS, Stationary

__all__ = [
    "check_alpha",
    "check_diagonal",
    "check_dissimilarities",
    "check_distinct_rows",
    "check_kernel",
    "check_kernel_matrix",
    "check_kernel_of_distance",
    "check_known",
    "check_magnitudes",
    "check_no_diagonal",
    "check_one_cut",
    "check_reach",
    "check_rows",
    "check_sample_weight",
    "check_spread",
    "check_start_array",
]

Floats = NDArray[np.floating]

_OVERFLOW_MARGIN = 1e6
_ASYMMETRY = 1e-6  # of the largest entry: more is no rounding


def check_rows(estimator: Any, X: Any, *, training: bool, at_least: int = 2) -> Floats:
    """The rows as a C-contiguous array of float64 or float32, or an error that says what to do."""
    _refuse_dates(X)
    try:
        rows: Floats = validate_data(
            estimator,
            X,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
            reset=training,
        )
    except (TypeError, ValueError) as error:
        if "Complex data not supported" in str(error):
            raise ValueError(
                "Complex data not supported: X has complex values. Pass real and imaginary parts "
                "as columns of their own."
            ) from error
        culprit = _not_a_number(X)
        if culprit is None:
            raise
        raise ValueError(
            f"X contains {culprit}, which is not a number. Drop such columns, convert numbers that "
            "are written as text, or encode categories, e.g. with "
            "sklearn.preprocessing.OneHotEncoder."
        ) from error
    if training and len(rows) < at_least:
        raise ValueError(
            f"X has {len(rows)} sample(s) (n_samples={len(rows)}), but {type(estimator).__name__} "
            f"needs at least {at_least} sample(s). Pass the data with one row per sample."
        )
    if not training and len(rows) == 0:
        raise ValueError(f"X has 0 samples (shape={rows.shape}). Pass at least one row.")
    _check_finite(rows, _names(X, rows.shape[1]))
    return rows


def _names(X: Any, n_features: int) -> list[str]:
    names = feature_names(X)
    if names is None:
        return [f"column {j}" for j in range(n_features)]
    return [f"column {name!r}" for name in names]


def _refuse_dates(X: Any) -> None:
    """Dates would pass as their number of nanoseconds."""
    table = narwhals.from_native(X, pass_through=True)
    named = table.schema.items() if hasattr(table, "schema") else []
    dates = [f"column {name!r}" for name, dtype in named if dtype.is_temporal()]
    if getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        dates = ["the whole array"]
    if dates:
        raise ValueError(
            f"X contains dates or times in {dates[0]}, which are not numbers. Convert them to a "
            "number with a meaning, e.g. days since the first, or drop them."
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


def _check_finite(rows: Floats, names: list[str]) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return
    for block in row_blocks(len(rows)):
        bad = np.argwhere(~np.isfinite(rows[block]))
        if len(bad):
            row, column = bad[0] + (block.start, 0)
            kind, remedy = (
                ("NaN", "fill them in, e.g. with sklearn.impute.SimpleImputer")
                if np.isnan(rows[row, column])
                else ("infinity", "replace them by finite numbers")
            )
            raise ValueError(
                f"X contains {kind}, first in row {row} (counted from 0), {names[column]}; "
                f"{np.sum(~np.isfinite(rows))} of its values are not finite. Remove such rows, or "
                f"{remedy}."
            )


def check_sample_weight(sample_weight: Any, X: Floats) -> Floats | None:
    """Weights of the type of X; None where all are one."""
    if sample_weight is None:
        return None
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
            f"sample_weight is too large: {weight.max():.1e} in row {weight.argmax()}, and sums of "
            f"such weights overflow {X.dtype}. Divide all weights by the largest."
        )
    if not weight.any():
        raise ValueError(
            "All values of sample_weight are zero: no row takes part. Give some rows a weight "
            "above zero."
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


def check_magnitudes(features: Features, dtype: np.dtype[Any]) -> None:
    """Squared distances must neither overflow nor vanish in the type of the data."""
    with np.errstate(over="ignore"):
        widest = np.sum((features.high - features.low) ** 2)
    limits = np.finfo(dtype)
    if not widest < limits.max / _OVERFLOW_MARGIN:
        raise ValueError(
            f"The values of X are too large: squared distances of up to {widest:.1e} overflow "
            f"{dtype}. Rescale the features, e.g. with sklearn.preprocessing.StandardScaler."
        )
    if 0 < (features.high - features.low).max() < np.sqrt(limits.tiny) * 1e8:
        raise ValueError(
            f"The values of X lie too close together: squared distances vanish in {dtype}. "
            "Rescale the features, e.g. with sklearn.preprocessing.StandardScaler."
        )


def check_reach(rows: Floats, origin: Floats) -> None:
    """Rows must not be so far away that squared distances overflow."""
    limit = float(np.finfo(origin.dtype).max) / _OVERFLOW_MARGIN
    for block in row_blocks(len(rows)):
        offsets = rows[block].astype(np.float64) - origin
        with np.errstate(over="ignore"):
            sqdist = np.einsum("hj,hj->h", offsets, offsets)
        if not sqdist.max() <= limit:
            row = block.start + int(sqdist.argmax())
            raise ValueError(
                f"X has a value that is too large in row {row}: its squared distance overflows "
                f"{origin.dtype}. Remove the row, or fit and predict on rescaled features."
            )


def check_kernel_matrix(matrix: Floats) -> None:
    """`kernel="precomputed"` in training: square and symmetric."""
    _check_square(matrix, "kernel='precomputed'", "the kernel of each training row with each")
    if not np.diagonal(matrix).any() and matrix.max() > 0:
        raise ValueError(
            "X has zeros on the diagonal and larger values beside it: these look like distances, "
            "and a kernel is largest where a row meets itself. Use kernel='dissimilarities', or "
            "pass similarities."
        )


def check_dissimilarities(matrix: Floats, *, square: bool = False) -> None:
    """`kernel="dissimilarities"`: not negative; in training square, symmetric, zero with itself."""
    if matrix.min() < 0:
        row, column = np.argwhere(matrix < 0)[0]
        raise ValueError(
            f"X has a negative dissimilarity, {matrix[row, column]:.3g} in row {row}, column "
            f"{column}. Pass distances, or similarities with kernel='precomputed'."
        )
    limits = np.finfo(matrix.dtype)
    largest = float(matrix.max())
    if largest > np.sqrt(limits.max / _OVERFLOW_MARGIN) or 0 < largest < np.sqrt(limits.tiny) * 1e8:
        raise ValueError(
            f"The squares of the dissimilarities in X overflow or vanish in {matrix.dtype}: the "
            f"largest dissimilarity is {largest:.1e}. Divide all of them by a typical one."
        )
    if not square:
        return
    _check_square(matrix, "kernel='dissimilarities'", "the dissimilarity of each row to each")
    own = np.diagonal(matrix)
    if own.any():
        raise ValueError(
            f"X has a row that is dissimilar to itself: {own[np.flatnonzero(own)[0]]:.3g} on the "
            f"diagonal in row {np.flatnonzero(own)[0]}. Set the diagonal to zero, or pass "
            "similarities with kernel='precomputed'."
        )


def _check_square(matrix: Floats, parameter: str, meaning: str) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"X has shape {matrix.shape}, but {parameter} needs a square matrix in fit: {meaning}."
        )
    largest = float(np.abs(matrix).max())
    for block in row_blocks(len(matrix)):
        apart = np.abs(matrix[block] - matrix[:, block].T)
        if apart.max() > _ASYMMETRY * largest:
            row, column = np.unravel_index(apart.argmax(), apart.shape)
            raise ValueError(
                f"X is not symmetric, as {parameter} needs it: entries ({row + block.start}, "
                f"{column}) and ({column}, {row + block.start}) differ by {apart.max():.3g}. Pass "
                "(X + X.T) / 2 if that is what is meant."
            )


def check_diagonal(diag: Any, n_rows: int) -> Floats:
    """`diag` in prediction: the kernel of each new row with itself."""
    diag = np.full(n_rows, diag) if isinstance(diag, Real) else diag
    values = np.asarray(check_array(diag, ensure_2d=False, dtype=np.float64, input_name="diag"))
    if values.shape != (n_rows,):
        raise ValueError(
            f"diag has shape {values.shape}, expected {(n_rows,)}: the kernel of each row of X "
            "with itself."
        )
    return values


def check_known(known: NDArray[np.bool_]) -> None:
    """Rows of a precomputed kernel without `diag` must be training rows."""
    if not known.all():
        raise ValueError(
            f"Row {int(np.flatnonzero(~known)[0])} of X is new, and the kernel of a row with "
            "itself is not the same for all training rows: pass diag, the kernel of each row of X "
            "with itself, to predict, predict_memberships, score, predict_typicality, "
            "score_samples or decision_function."
        )


def check_no_diagonal(diag: Any) -> None:
    """`diag` has a meaning for precomputed kernels only."""
    if diag is not None:
        raise ValueError("diag is for kernel='precomputed' alone: leave it out.")


def check_kernel(kernel: Any) -> None:
    """`kernel` given as a class where an object is meant."""
    if isinstance(kernel, type):
        raise ValueError(
            f"kernel is the class {kernel.__name__}: pass an object, e.g. {kernel.__name__}(1.0), "
            "or a name."
        )


def check_kernel_of_distance(kernel: Any) -> None:
    """Alpha-cuts are of a density: the kernel must be a function of a distance."""
    check_kernel(kernel)
    named = isinstance(kernel, str) and kernel in BANDWIDTH_KERNELS
    if not (named or isinstance(kernel, Stationary)):
        raise ValueError(
            f"kernel={kernel!r} is not a kernel of a distance, and only with those is the "
            "typicality a density whose level sets are clusters. Use 'gaussian', 'laplacian' or "
            "'cauchy', or OneClusterPCM, which takes all kernels."
        )
    known = named or (hasattr(kernel, "sigma") and kernel.metric in ("sqeuclidean", "cityblock"))
    if not known:
        raise ValueError(
            f"kernel={kernel!r} must have a width sigma, which sets the steps along segments, and "
            "be a function of a Euclidean or city-block distance (metric 'sqeuclidean' or "
            "'cityblock')."
        )


def check_one_cut(alpha: Any, rejection_rate: Any) -> None:
    """Either a level or a rate."""
    if rejection_rate is not None and alpha != "auto":
        raise ValueError(
            f"alpha={alpha!r} and rejection_rate={rejection_rate!r} both say where to cut. Give "
            "one of them."
        )


def check_alpha(alpha: Any) -> float:
    """A level of typicality."""
    alpha = alpha.item() if isinstance(alpha, np.ndarray) and alpha.ndim == 0 else alpha
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 <= float(alpha) <= 1:
        raise ValueError(f"alpha must be a number from 0 to 1, a typicality; got {alpha!r}.")
    return float(alpha)


def check_start_array(
    init: Any,
    *,
    memberships: tuple[int, int],
    points: tuple[int, int] | None,
    sample_weight: Floats | None,
    source: str,
) -> Floats:
    """`init` given as an array: prototypes where rows have coordinates, or a membership matrix."""
    array = np.asarray(check_array(init, dtype=[np.float64, np.float32], input_name=source))
    if array.shape == points:
        _check_points(array, source)
        return array
    if array.shape != memberships:
        prototypes = (
            f"prototypes of shape (n_clusters, n_features) = {points} or " if points else ""
        )
        raise ValueError(
            f"{source} has shape {array.shape}; expected {prototypes}memberships of shape "
            f"(n_samples, n_clusters) = {memberships}."
        )
    counted = array if sample_weight is None else array[sample_weight > 0]
    if array.min() < 0 or not counted.any(axis=0).all():
        raise ValueError(
            f"{source} as a membership matrix must not be negative, and every column needs a "
            "membership above zero in a row of positive weight: otherwise that cluster has no mean "
            "to start from."
        )
    return array


def _check_points(points: Floats, source: str) -> None:
    if len(np.unique(points, axis=0)) < len(points):
        raise ValueError(
            f"{source} has identical prototypes: they would move together for ever. Give each "
            "cluster a start of its own."
        )


def check_spread(eta: Any, n_clusters: int) -> NDArray[np.float64]:
    """`eta` given as a number or an array: one positive spread for each cluster."""
    try:
        spread = np.asarray(eta, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"eta must be 'fcm', a number, or one number for each cluster, got {eta!r}."
        ) from error
    if spread.ndim > 1 or (spread.ndim == 1 and len(spread) != n_clusters):
        raise ValueError(
            f"eta has shape {spread.shape}, expected a number or an array of shape "
            f"({n_clusters},): one spread for each cluster."
        )
    if not (np.isfinite(spread) & (spread > 0)).all():
        raise ValueError(
            f"eta must be positive and finite, got {eta!r}. It is a squared distance: the "
            "typicality of a row at squared distance eta is exp(-1) (1/2 in the 1993 form)."
        )
    return np.broadcast_to(spread, (n_clusters,)).copy()
