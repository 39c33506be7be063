"""What is compared: rows with their shares of the clusters, and of a class "nowhere"."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._checks import check_labels, check_memberships, check_same_length, is_labels

Doubles = NDArray[np.float64]


def count_clusters(labels: NDArray[Any]) -> int:
    """The number of clusters; rows that belong nowhere (negative labels) are none."""
    return len(np.unique(labels[labels >= 0]))


@dataclass(frozen=True, eq=False)
class Crisp:
    """Each row has one class, a whole number from 0."""

    labels: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.labels)

    def distances(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> Doubles:
        """Distances of pairs of rows over sqrt 2: 1 between classes, 0 within."""
        apart: Doubles = (self.labels[i] != self.labels[j]).astype(np.float64)
        return apart


@dataclass(frozen=True, eq=False)
class Soft:
    """Each row has shares of the classes, which sum to one; shape (n, c)."""

    shares: Doubles

    def __len__(self) -> int:
        return len(self.shares)

    def distances(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> Doubles:
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
    if is_labels(partition):
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
