"""Distinct rows: what starts and bandwidths look at, and how a known row is recognised.

They depend on the data and their weights, not on the order of the rows: rows of weight zero take no
part and the weights of equal rows are added up. A row of weight k is therefore the same as k rows.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Floats

__all__ = ["DistinctRows", "content_hash", "count_distinct_rows"]

LARGEST_SAMPLE = 2**17  # of more distinct rows, a sample by content


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows in lexicographic order with their weights.

    Parameters
    ----------
    rows : array of shape (n, d)
        The rows.
    weight : array of shape (n,), float64
        The sum of the weights of the rows that are equal to each.
    index : array of shape (n,)
        Where one copy of each stands among all rows.
    """

    rows: Floats
    weight: NDArray[np.float64]
    index: NDArray[np.intp]

    @classmethod
    def of(
        cls, X: Floats, sample_weight: Floats | None = None, *, at_most: int | None = None
    ) -> Self:
        """Add up the weights of equal rows; of more than `at_most` distinct rows, take a sample.

        Equal rows are found by a hash of their content. The sample is those of smallest hash: it
        is the same in any order, and keeps all copies of a row or none. Costs a sort of n integers.
        """
        largest = LARGEST_SAMPLE if at_most is None else at_most
        keys = content_hash(X)
        keep = np.ones(len(X), bool) if sample_weight is None else sample_weight > 0
        ordered = np.sort(keys[keep])  # much faster than np.unique
        distinct = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        if len(distinct) > largest:
            keep &= keys <= ordered[distinct[largest - 1]]
        chosen = np.flatnonzero(keep)
        _, first, copy_of = np.unique(keys[chosen], return_index=True, return_inverse=True)
        weight = None if sample_weight is None else sample_weight[chosen]
        total = np.bincount(copy_of, weights=weight).astype(np.float64)
        index = chosen[first]
        order = np.lexsort(X[index].T[::-1])
        return cls(X[index[order]], total[order], index[order])

    def places_of(self, X: Floats) -> NDArray[np.intp]:
        """Where each row of X stands among these; -1 for rows that are not there."""
        keys = content_hash(self.rows)
        order = np.argsort(keys)
        wanted = content_hash(X)
        found = order[np.searchsorted(keys, wanted, sorter=order).clip(max=len(keys) - 1)]
        return np.where(keys[found] == wanted, found, -1)

    def sqdist_to(self, number: int) -> NDArray[np.float64]:
        """Squared distances of all these rows to one of them."""
        sqdist: NDArray[np.float64] = np.sum((self.rows - self.rows[number]) ** 2, axis=1)
        return sqdist

    def sqdist_to_mean(self) -> NDArray[np.float64]:
        """Squared distances of these rows to their weighted mean."""
        mean = np.average(self.rows.astype(np.float64), axis=0, weights=self.weight)
        sqdist: NDArray[np.float64] = np.sum((self.rows - mean) ** 2, axis=1)
        return sqdist


def content_hash(X: Floats) -> NDArray[np.uint64]:
    """A number for each row that depends on its values alone.

    The mixing is that of splitmix64. Two of a million distinct rows share a number once in 30
    million data sets; then they are taken for one.
    """
    mixed = np.zeros(len(X), np.uint64)
    for column in X.T:
        mixed ^= (column.astype(np.float64) + 0.0).view(np.uint64)  # + 0.0: no negative zero
        mixed += np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def count_distinct_rows(X: Floats, sample_weight: Floats | None, enough: int | None = None) -> int:
    """The number of distinct rows of positive weight, or some number that is `enough`.

    Without `enough`, all rows are counted by a hash of their content: a sort of n integers.
    """
    if enough is None:
        keys = content_hash(X if sample_weight is None else X[sample_weight > 0])
        return int(np.count_nonzero(np.diff(np.sort(keys)))) + min(len(keys), 1)
    distinct = np.empty((0, X.shape[1]), X.dtype)
    step = max(1024, 4 * enough)
    for start in range(0, len(X), step):
        block = X[start : start + step]
        if sample_weight is not None:
            block = block[sample_weight[start : start + step] > 0]
        distinct = np.unique(np.concatenate([distinct, block]), axis=0)
        if len(distinct) >= enough:
            break
    return len(distinct)
