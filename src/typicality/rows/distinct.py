"""Distinct rows: equal rows become one, and samples that depend on the content of rows alone.

Rows of weight zero take no part and the weights of equal rows are added up. A row of weight k is
therefore the same as k rows, and the order of the rows does not matter.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality._sparse import (
    as_dense,
    is_sparse,
    sparse_hash,
    sparse_order,
    sqdist_to_points,
    stack_rows,
)
from typicality._tensors import OnDevice, array_of, resident
from typicality._typing import Doubles, Floats, Places

LARGEST_SAMPLE = 2**17  # of more distinct rows, a sample by content


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows in lexicographic order with their weights.

    Parameters
    ----------
    rows : array or SparseArray of shape (n, d)
        The rows.
    weight : array of shape (n,), float64
        The sum of the weights of the rows that are equal to each.
    index : array of shape (n,)
        Where one copy of each stands among all rows.
    n_distinct : int
        The number of all distinct rows; estimated from the hashes of a sample, if it is one.
    at_most : int
        The largest number of rows this may hold.
    """

    rows: Floats
    weight: Doubles
    index: Places
    n_distinct: int
    at_most: int = LARGEST_SAMPLE

    @classmethod
    def of(
        cls,
        X: Floats,
        sample_weight: Floats | None = None,
        *,
        at_most: int = LARGEST_SAMPLE,
        first_row: int = 0,
        share: float = 1.0,
    ) -> Self:
        """Add up the weights of equal rows; of more than `at_most` distinct rows, take a sample.

        Equal rows are found by a hash of their content. The sample is those of smallest hash: it
        is the same in any order, and keeps all copies of a row or none. Costs a sort of n integers;
        with a `share` below 1, rows of larger hashes than this share of all are not looked at.
        """
        if resident(X) is not None and sample_weight is None:
            return cls._on_device(resident(X), at_most, first_row)
        keys = content_hash(X)
        index = np.arange(len(X)) if sample_weight is None else np.flatnonzero(sample_weight)
        if share < 1.0:
            index = index[keys[index] < np.uint64(share * 2.0**64)]
        keys = keys[index]
        ordered = np.sort(keys)  # much faster than np.unique
        distinct = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        n_distinct = len(distinct)
        if n_distinct > at_most:
            limit = ordered[distinct[at_most - 1]]
            n_distinct = _estimated(at_most, limit)
            kept = keys <= limit
            keys, index = keys[kept], index[kept]
        _, first, copy_of = np.unique(keys, return_index=True, return_inverse=True)
        weight = None if sample_weight is None else sample_weight[index]
        total = np.bincount(copy_of, weight, minlength=len(first)).astype(np.float64)
        places = index[first]
        order = lexicographic_order(X[places])
        places = places[order]
        return cls(X[places], total[order], places + first_row, n_distinct, at_most)

    @classmethod
    def _on_device(cls, X: Any, at_most: int, first_row: int) -> Self:
        from typicality.rows.tensor import lexicographic_order, smallest_keys

        copies, places, n_distinct, limit = smallest_keys(X, at_most)
        if limit is not None:
            n_distinct = _estimated(at_most, limit)
        rows = X[places]
        order = lexicographic_order(rows)
        weight, index = copies[order].double(), places[order] + first_row
        # Rows stay on the device: of many, few are looked at.
        given: Any = OnDevice(rows[order])
        return cls(given, array_of(weight), array_of(index), n_distinct, at_most)

    def __add__(self, other: Self) -> Self:
        """The distinct rows of both, or the same sample of them as of all rows at once."""
        rows = stack_rows([self.rows, other.rows])
        both = self.of(rows, np.concatenate([self.weight, other.weight]), at_most=self.at_most)
        index = np.concatenate([self.index, other.index])[both.index]
        n_distinct = both.n_distinct
        if n_distinct <= self.at_most < max(self.n_distinct, other.n_distinct):
            n_distinct = max(self.n_distinct, other.n_distinct)
        return replace(both, index=index, n_distinct=n_distinct)

    def smallest(self, at_most: int) -> Self:
        """The sample of at most so many of these rows."""
        if len(self.rows) <= at_most:
            return self
        keys = content_hash(self.rows)
        kept = keys <= np.partition(keys, at_most - 1)[at_most - 1]
        return type(self)(
            self.rows[kept], self.weight[kept], self.index[kept], self.n_distinct, at_most
        )

    def places_of(self, X: Floats) -> Places:
        """Where each row of X stands among these; -1 for rows that are not there."""
        keys = content_hash(self.rows)
        order = np.argsort(keys)
        wanted = content_hash(X)
        found = order[np.searchsorted(keys, wanted, sorter=order).clip(max=len(keys) - 1)]
        return np.where(keys[found] == wanted, found, -1)

    @property
    def mean(self) -> Doubles:
        """The weighted mean."""
        if is_sparse(self.rows):
            return np.asarray(self.rows.T @ self.weight / self.weight.sum())
        return np.average(self.rows.astype(np.float64), axis=0, weights=self.weight)

    def sqdist_to(self, number: int) -> Doubles:
        """Squared distances of all these rows to one of them."""
        return self._sqdist(as_dense(self.rows[[number]]))

    def sqdist_to_mean(self) -> Doubles:
        """Squared distances of these rows to their weighted mean."""
        return self._sqdist(self.mean[None, :])

    def _sqdist(self, point: Floats) -> Doubles:
        if is_sparse(self.rows):
            return sqdist_to_points(self.rows, point)[:, 0]
        return np.asarray(np.sum((self.rows - point) ** 2, axis=1))


def _estimated(n_rows: int, limit: np.uint64) -> int:
    """How many hashes there are, if so many lie at or below a limit: they fill 64 bits evenly."""
    return max(n_rows + 1, round((n_rows - 1) / ((int(limit) + 1) / 2**64)))


def lexicographic_order(rows: Floats) -> Places:
    """The places of the rows in the order of their first column, then of their second, ..."""
    if len(rows) < 2:
        return np.arange(len(rows))
    if is_sparse(rows):
        return sparse_order(rows)
    order = np.argsort(rows[:, 0])
    first = rows[order, 0]
    if (first[1:] > first[:-1]).all():  # the other columns decide nothing, and cost a sort each
        return order
    return np.lexsort(rows.T[::-1])


def content_hash(X: Floats) -> NDArray[np.uint64]:
    """A number for each row that depends on its values alone.

    The mixing is that of splitmix64. Two of a million distinct rows share a number once in 30
    million data sets; then they are taken for one. Sparse rows have other numbers than the same
    rows as an array: their zeros are not looked at.
    """
    if is_sparse(X):
        return sparse_hash(X, _mix)
    if resident(X) is not None:
        from typicality.rows.tensor import content_keys

        return array_of(content_keys(resident(X))).view(np.uint64)
    mixed = np.zeros(len(X), np.uint64)
    for column in X.T:
        mixed ^= (column.astype(np.float64) + 0.0).view(np.uint64)  # + 0.0: no negative zero
        mixed = _mix(mixed)
    return mixed


def _mix(mixed: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed += np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
