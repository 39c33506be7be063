"""Matrices of kernel values and of dissimilarities."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from typicality._checks.rows import OVERFLOW_MARGIN
from typicality.geometry.base import row_blocks

Floats = NDArray[np.floating]

_ASYMMETRY = 1e-6  # of the largest entry: more is no rounding


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
