"""Checks of what only the estimators take."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from typicality.geometry.base import row_blocks
from typicality.geometry.checks import OVERFLOW_MARGIN
from typicality.kernels import BANDWIDTH_KERNELS, Linear, Stationary

Floats = NDArray[np.floating]

_ASYMMETRY = 1e-6  # of the largest entry: more is no rounding
_NARROWEST = 4.0  # times the extent whose factor overflows


def check_kernel(kernel: Any) -> None:
    """`kernel` given as a class where an object is meant."""
    if isinstance(kernel, type):
        raise ValueError(
            f"kernel is the class {kernel.__name__}: pass an object, e.g. {kernel.__name__}(1.0), "
            "or a name."
        )


def check_algorithm(algorithm: str, kernel: Any, *, explicit: bool) -> None:
    """A way to compute sums of kernel values where there are none to compute."""
    if algorithm == "auto":
        return
    linear = isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")
    if explicit and linear:
        raise ValueError(
            f"algorithm={algorithm!r} is a way to compute sums of kernel values, and with the "
            "linear kernel there are none: the iteration runs in the input space. Leave algorithm "
            "out, or take another kernel, e.g. kernel='gaussian'."
        )
    given = isinstance(kernel, str) and kernel in ("precomputed", "dissimilarities", "connectivity")
    if given and algorithm != "blocked":
        raise ValueError(
            f"algorithm={algorithm!r} has no use with kernel={kernel!r}: the matrix is there "
            "already, and products with it are computed block by block. Leave algorithm out."
        )


def check_compressible(kernel: Any, rtol: Any) -> None:
    """A model that can be made small, and a promise."""
    if not (isinstance(rtol, Real) and 0 < float(rtol) < 1):
        raise ValueError(f"rtol must be between 0 and 1, got {rtol!r}: it is the error allowed.")
    if isinstance(kernel, Linear):
        raise ValueError(
            "A model in the input space is small already: it keeps its prototypes, not the rows."
        )
    if not isinstance(kernel, Stationary):
        raise ValueError(
            f"kernel_={kernel!r} is not a kernel of a distance, and only sums of those can be "
            "made small with a promise. Use 'gaussian', 'laplacian' or 'cauchy'."
        )


def check_alpha_cut(estimator: Any) -> None:
    """Parameters of an alpha-cut that must fit together."""
    _check_one_cut(estimator.alpha, estimator.rejection_rate)
    kernel, is_local = estimator.kernel, estimator._is_local
    if not is_local:
        _check_kernel_of_distance("gaussian" if _is_word(kernel, "auto") else kernel)
    if not is_local and estimator.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' works with the automatic choice of scale only. Leave kernel, "
            "sigma, weights and labelling at their defaults; use kernel='local' to give alpha."
        )
    is_chosen = _is_word(estimator.alpha, "auto") and estimator.rejection_rate is None
    if estimator.at_least > 1 and not (is_local and is_chosen):
        raise ValueError(
            f"at_least={estimator.at_least} is for the automatic choice of clusters. Leave kernel, "
            "sigma, alpha, rejection_rate, weights and labelling at their defaults."
        )
    if is_local and estimator.labelling == "complete":
        raise ValueError("labelling='complete' needs a kernel of one width. Use kernel='gaussian'.")
    if is_local and estimator.weights == "typicality":
        raise ValueError("weights='typicality' needs a kernel of one width. Use kernel='gaussian'.")


def _is_word(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def _check_kernel_of_distance(kernel: Any) -> None:
    """Alpha-cuts are of a density: the kernel must be a function of a distance."""
    check_kernel(kernel)
    named = isinstance(kernel, str) and kernel in BANDWIDTH_KERNELS
    if not (named or isinstance(kernel, Stationary)):
        raise ValueError(
            f"kernel={kernel!r} is not a kernel of a distance, and only with those is the "
            "typicality a density whose level sets are clusters. Use 'local', 'gaussian', "
            "'laplacian' or 'cauchy', or OneClusterPCM, which takes all kernels."
        )
    known = named or (hasattr(kernel, "sigma") and kernel.metric in ("sqeuclidean", "cityblock"))
    if not known:
        raise ValueError(
            f"kernel={kernel!r} must have a width sigma, which sets the steps along segments, and "
            "be a function of a Euclidean or city-block distance (metric 'sqeuclidean' or "
            "'cityblock')."
        )


def _check_one_cut(alpha: Any, rejection_rate: Any) -> None:
    """Either a level or a rate."""
    if rejection_rate is not None and alpha != "auto":
        raise ValueError(
            f"alpha={alpha!r} and rejection_rate={rejection_rate!r} both say where to cut. Give "
            "one of them."
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
            f"{column}. Pass distances; similarities are for an estimator with "
            "kernel='precomputed'."
        )
    limits = np.finfo(matrix.dtype)
    largest = float(matrix.max())
    if largest > np.sqrt(limits.max / OVERFLOW_MARGIN) or 0 < largest < np.sqrt(limits.tiny) * 1e8:
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
            f"diagonal in row {np.flatnonzero(own)[0]}. Set the diagonal to zero; similarities are "
            "for an estimator with kernel='precomputed'."
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


def check_extents(extent: NDArray[np.float64], box: float, dtype: np.dtype[Any]) -> None:
    """Features must not be so narrow that stretching them to the box overflows."""
    narrow = (extent > 0) & (extent < box * _NARROWEST / float(np.finfo(dtype).max))
    if narrow.any():
        feature = int(narrow.argmax())
        raise ValueError(
            f"Feature {feature} of X spans only {extent[feature]:.3g}, too little to be stretched "
            f"to a box of {box:g} in {dtype}. Drop the feature, or pass X in other units."
        )


def check_on_sphere(rows: Floats, metric: str) -> None:
    """Rows that have a direction, or are places on the globe."""
    if metric == "cosine":
        if not rows.any(axis=1).all():
            row = int(np.flatnonzero(~rows.any(axis=1))[0])
            raise ValueError(
                f"Row {row} of X is all zeros and has no direction, which metric='cosine' needs. "
                "Drop such rows, or use metric='euclidean'."
            )
        return
    if rows.shape[1] != 2:
        raise ValueError(
            f"metric='haversine' needs two columns, latitude and longitude, but X has "
            f"{rows.shape[1]}."
        )
    if np.abs(rows[:, 0]).max() > np.pi / 2 or np.abs(rows[:, 1]).max() > 2 * np.pi:
        raise ValueError(
            "metric='haversine' needs latitude and longitude in radians, and X has larger values. "
            "Convert degrees with numpy.radians(X); latitude is the first column."
        )
