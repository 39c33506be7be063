"""Labels, membership matrices and flags: what measures compare."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

Doubles = NDArray[np.float64]

_ROUNDING = 1e-5  # a membership this much above one is one, rounded in float32


def is_labels(partition: Any) -> bool:
    """Whether a partition is given by labels, one for each row, and not by memberships."""
    if issparse(partition):
        return False
    try:
        return np.ndim(partition) == 1
    except ValueError:  # rows of different lengths
        return False


def check_labels(labels: Any, name: str) -> NDArray[Any]:
    """One label for each row: whole numbers, of which -1 is "nowhere", truth values or text."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}, expected one label for each row. Pass labels_, or "
            f"memberships.argmax(axis=1)."
        )
    if len(array) == 0:
        raise ValueError(f"{name} is empty. Pass a label for each of one or more rows.")
    if array.dtype.kind == "f":
        return _whole_numbers(array, name)
    if array.dtype.kind in "biuUS":
        return array
    if all(isinstance(label, Integral) for label in array):  # e.g. of a data frame
        return array.astype(np.int64)
    try:
        np.unique(array)
        missing = array != array
    except TypeError as error:
        raise ValueError(
            f"{name} mixes labels of several types, which cannot be sorted. Pass whole numbers, "
            "or text."
        ) from error
    if np.any(missing):
        raise ValueError(f"{name} has no label in row {np.flatnonzero(missing)[0]}. {_NO_LABEL}")
    return array


_NO_LABEL = "Leave such rows out of all arguments, or give them the label -1: belongs nowhere."


def _whole_numbers(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise ValueError(f"{name} contains NaN or infinity, first in row {bad[0]}. {_NO_LABEL}")
    fractions = np.flatnonzero(array != np.floor(array))
    if len(fractions):
        raise ValueError(
            f"{name} has one dimension, so it is read as labels, and {array[fractions[0]]:g} in "
            f"row {fractions[0]} is not a whole number. Memberships have a column for each "
            "cluster: pass memberships.reshape(-1, 1) if there is only one."
        )
    return array.astype(np.int64)


def check_memberships(memberships: Any, name: str = "memberships") -> Doubles:
    """Memberships as a dense float64 matrix of shape (n, c), in [0, 1]; c may be zero."""
    try:
        matrix = check_array(
            memberships,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"{name}: {reason}. Pass numbers, rows x clusters.") from error
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} has shape {matrix.shape}, expected (n_samples, n_clusters): a row for each "
            "sample, a column for each cluster."
        )
    dense: Doubles = matrix.toarray() if issparse(matrix) else np.asarray(matrix)
    if len(dense) == 0:
        raise ValueError(f"{name} has no rows (shape {dense.shape}). Pass at least one row.")
    _check_degrees(dense, name)
    return dense


def _check_degrees(matrix: Doubles, name: str) -> None:
    bad = np.argwhere(~((matrix >= 0) & (matrix <= 1 + _ROUNDING)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"{name} has the value {matrix[row, column]:g} in row {row}, column {column}: "
            "memberships lie in [0, 1]. Remove rows with missing values; divide scores that are "
            "not negative by the sum of their row."
        )


def check_same_length(n_first: int, first_name: str, n_second: int, second_name: str) -> None:
    """Two arguments must speak of the same rows."""
    if n_first != n_second:
        raise ValueError(
            f"{first_name} has {n_first} rows and {second_name} has {n_second}: pass both for the "
            "same rows, in the same order."
        )


def check_points(X: Any, *, name: str = "X", accept_sparse: bool = False) -> Any:
    """Rows of finite numbers that a measure needs beside the memberships."""
    accepted = "csr" if accept_sparse else False
    return check_array(X, dtype=np.float64, accept_sparse=accepted, input_name=name)


def check_centers(centers: Any, n_clusters: int, n_features: int) -> Doubles:
    """A centre for each column of the memberships, two at least."""
    points: Doubles = np.asarray(check_points(centers, name="centers"))
    if points.shape != (n_clusters, n_features):
        raise ValueError(
            f"centers has shape {points.shape}, expected (n_clusters, n_features) = "
            f"{(n_clusters, n_features)}: a centre for each column of memberships, in the space "
            "of X."
        )
    if n_clusters < 2:
        raise ValueError(
            "One cluster has no separation from others: pass two centers or more, with a column "
            "of memberships for each."
        )
    return points


def check_flags(flags: Any, name: str) -> NDArray[np.bool_]:
    """Outlier flags: truth values, or +1 and -1 as `predict` gives them, where -1 is an outlier."""
    array = np.asarray(flags)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} has shape {array.shape}, expected one flag for each of one or more rows."
        )
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "if" and np.isin(array, (-1, 1)).all():
        outlier: NDArray[np.bool_] = array == -1
        return outlier
    raise ValueError(
        f"{name} must be truth values, True for an outlier, or +1 and -1 as predict gives them, "
        f"-1 for an outlier; it holds {_sample(array)}. Where 1 is an outlier and 0 is none, pass "
        f"{name} == 1."
    )


def _sample(array: NDArray[Any]) -> str:
    return ", ".join(repr(value) for value in array[:3].tolist()) + ", ..." * (len(array) > 3)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """A parameter that is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def check_exponent(value: Any, name: str, *, above: float) -> float:
    """A finite number above another."""
    if not isinstance(value, Real) or not above < float(value) < float("inf"):
        raise ValueError(f"{name} must be a finite number above {above:g}; got {value!r}.")
    return float(value)


def check_n_pairs(n_pairs: Any) -> int:
    """How many pairs to draw: two at least, for a standard error."""
    if not isinstance(n_pairs, Integral) or n_pairs < 2:
        raise ValueError(f"n_pairs must be a whole number, 2 or more; got {n_pairs!r}.")
    return int(n_pairs)
