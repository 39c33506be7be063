"""What is compared: rows with their shares of the clusters, and of a class "nowhere"."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from typicality._arguments import check_same_length
from typicality._typing import Doubles, Places

_ROUNDING = 1e-5  # a membership this much above one is one, rounded in float32
_NO_LABEL = "Leave such rows out of all arguments, or give them the label -1 (in no cluster)."


def count_clusters(labels: NDArray[Any]) -> int:
    """The number of clusters; rows that belong nowhere (negative labels) are none."""
    return len(np.unique(labels[labels >= 0]))


@dataclass(frozen=True, eq=False)
class Crisp:
    """Each row has one class, a whole number from 0."""

    labels: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.labels)

    def distances(self, i: Places, j: Places) -> Doubles:
        """Distances of pairs of rows over sqrt 2: 1 between classes, 0 within."""
        return (self.labels[i] != self.labels[j]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Soft:
    """Each row has shares of the classes, which sum to one; shape (n, c)."""

    shares: Doubles

    def __len__(self) -> int:
        return len(self.shares)

    def distances(self, i: Places, j: Places) -> Doubles:
        """Distances of pairs of rows over sqrt 2, in [0, 1]."""
        apart = self.shares[i] - self.shares[j]
        sqdist: Doubles = np.einsum("hk,hk->h", apart, apart)
        return np.minimum(np.sqrt(0.5 * sqdist), 1.0)


def read_two(
    reference: Any, memberships: Any, *, normalize: bool
) -> tuple[Crisp | Soft, Crisp | Soft]:
    """Two partitions of the same rows, each given by labels or by memberships."""
    first = _read(reference, "reference", normalize)
    second = _read(memberships, "memberships", normalize)
    check_same_length(len(first), "reference", len(second), "memberships")
    return first, second


def _read(partition: Any, name: str, normalize: bool) -> Crisp | Soft:
    if _is_labels(partition):
        return _by_class(check_labels(partition, name))
    shares = shares_with_nowhere(check_memberships(partition, name), normalize=normalize)
    # Shares that are all 0 or 1 are classes, which cost no distance.
    return _by_class(shares.argmax(axis=1)) if (shares.max(axis=1) == 1).all() else Soft(shares)


def _by_class(labels: NDArray[Any]) -> Crisp:
    return Crisp(np.unique(labels, return_inverse=True)[1].astype(np.int32))


def shares_with_nowhere(memberships: Doubles, *, normalize: bool) -> Doubles:
    """Shares that sum to one, what a row lacks being its share of a last column, "nowhere".

    With `normalize` rows are divided by their sum, and only rows of zeros belong nowhere; else they
    are divided by it where it is above one, so that typicalities keep their meaning.
    """
    total = memberships.sum(axis=1)
    divisor = np.where(total > 0, total, 1.0) if normalize else np.maximum(total, 1.0)
    shares = memberships / divisor[:, None]
    nowhere = 1.0 - (total > 0) if normalize else 1.0 - np.minimum(total, 1.0)
    return np.column_stack([shares, nowhere]) if nowhere.any() else shares


def shares_and_weights(memberships: Doubles) -> tuple[Doubles, Doubles]:
    """Shares of each row, and its weight min(1, sum of its memberships): how far it belongs.

    A row of a partition weighs one. Rows of zeros have shares and weight zero.
    """
    total = memberships.sum(axis=1)
    shares = memberships / np.where(total > 0, total, 1.0)[:, None]
    return shares, np.minimum(total, 1.0)


def _is_labels(partition: Any) -> bool:
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
        raise ValueError(f"{name} is empty. Pass one label for each row, and at least one row.")
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


def _whole_numbers(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise ValueError(f"{name} contains NaN or infinity, first in row {bad[0]}. {_NO_LABEL}")
    fractions = np.flatnonzero(array != np.floor(array))
    if len(fractions):
        raise ValueError(
            f"{name} has one dimension, so it is treated as labels, but "
            f"{array[fractions[0]]:g} in row {fractions[0]} is not a whole number. "
            "Memberships have a column for each cluster: pass memberships.reshape(-1, 1) "
            "if there is only one."
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
        raise ValueError(
            f"{name}: {reason}. Pass an array of numbers of shape (n_samples, n_clusters)."
        ) from error
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} has shape {matrix.shape}, expected (n_samples, n_clusters): a row for each "
            "sample, a column for each cluster."
        )
    dense: Doubles = matrix.toarray() if issparse(matrix) else np.asarray(matrix)
    if len(dense) == 0:
        raise ValueError(f"{name} has no rows (shape {dense.shape}). Pass at least one row.")
    for row, column in np.argwhere(~((dense >= 0) & (dense <= 1 + _ROUNDING))):
        raise ValueError(
            f"{name} has the value {dense[row, column]:g} in row {row}, column {column}: "
            "memberships lie in [0, 1]. Remove rows with missing values. If the values are scores, "
            "0 or more, divide each row by its sum."
        )
    return dense
