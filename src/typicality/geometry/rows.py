"""Rows of data: their features, the distinct ones, and the nearest ones.

Distinct rows depend on the data and their weights, not on the order of the rows: rows of weight
zero take no part and the weights of equal rows are added up. A row of weight k is therefore the
same as k rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from typicality._cached import cached_property
from typicality._quantiles import unit_of_weight, weighted_quantile
from typicality._typing import Doubles, Floats, Index, Places
from typicality.geometry.base import row_blocks

LARGEST_SAMPLE = 2**17  # of more distinct rows, a sample by content
_EXTREME = 5.0  # times the distance between the quartiles
_FAR = 4.0  # times the median distance to the centre
_FEW = 0.02  # of all rows: fewer together are no cluster
_ENTRIES_AT_A_TIME = 2**22
_MANY_DIMENSIONS = 8  # where a k-d tree looks at most rows anyway
_POINTS_AT_A_TIME = 2**13


@dataclass(frozen=True, eq=False)
class Features:
    """What the features of the data look like, rows of weight zero left out.

    Parameters
    ----------
    mean, variance, low, high : arrays of shape (d,), float64
        Weighted mean and variance, smallest and largest value.
    """

    mean: Doubles
    variance: Doubles
    low: Doubles
    high: Doubles

    @classmethod
    def of(cls, X: Floats, sample_weight: Floats | None = None) -> Self:
        """Two passes over the rows, in blocks."""

        def blocks() -> Iterator[tuple[Doubles, Doubles]]:
            for block in row_blocks(len(X)):
                rows = X[block].astype(np.float64, copy=False)
                if sample_weight is None:
                    yield rows, np.ones(len(rows))
                    continue
                weight = sample_weight[block].astype(np.float64)
                if weight.any():
                    yield rows[weight > 0], weight[weight > 0]

        # einsum, because a product by BLAS would depend on its threads
        sums = [
            (w.sum(), np.einsum("h,hj->j", w, x), x.min(axis=0), x.max(axis=0)) for x, w in blocks()
        ]
        total, first, low, high = (np.array(column) for column in zip(*sums, strict=True))
        mean = first.sum(axis=0) / total.sum()
        with np.errstate(over="ignore"):  # judged by `check_magnitudes`
            squares = np.sum(
                [np.einsum("h,hj->j", w, (x - mean) ** 2) for x, w in blocks()], axis=0
            )
        return cls(mean, squares / total.sum(), low.min(axis=0), high.max(axis=0))


def typical_range(X: Floats, sample_weight: Floats | None = None) -> tuple[Doubles, Doubles]:
    """The smallest and the largest value of each feature, extreme values left out.

    Extreme is what lies farther beyond a quartile than five times the distance between the
    quartiles; nothing is where half of the values are the same. One feature at a time, O(n log n).
    """
    ranges = [_typical_range(column, sample_weight) for column in X.T]
    low, high = np.array(ranges, dtype=np.float64).T
    return low, high


def _typical_range(column: Floats, sample_weight: Floats | None) -> tuple[float, float]:
    counted = slice(None) if sample_weight is None else sample_weight > 0
    values = column[counted].astype(np.float64)
    weight = None if sample_weight is None else sample_weight[counted]
    first, third = (weighted_quantile(values, rate, weight) for rate in (0.25, 0.75))
    fence = _EXTREME * (third - first)
    usual = values[(values >= first - fence) & (values <= third + fence)] if fence > 0 else values
    return float(usual.min()), float(usual.max())


def medians(X: Floats, sample_weight: Floats | None = None) -> Doubles:
    """The median of each feature: a centre that a few rows cannot move. O(n log n) a feature."""
    if sample_weight is not None:
        found = [weighted_quantile(column.astype(np.float64), 0.5, sample_weight) for column in X.T]
        return np.array(found)
    step = max(1, _ENTRIES_AT_A_TIME // len(X))
    parts = (X[:, first : first + step] for first in range(0, X.shape[1], step))
    return np.concatenate([np.median(part, axis=0) for part in parts]).astype(np.float64)


def far_rows(
    sqdist: Doubles,
    sample_weight: Floats | None,
    company: Callable[[Places], tuple[Floats, Floats]],
) -> NDArray[np.bool_] | None:
    r"""Rows that are far from most rows, and nearly alone where they are; None if there are none.

    With r the median distance of the rows to a centre, a row is far if it is more than 4 r away
    from the centre, and nearly alone if no other row, or less than 2 % of all rows, lie within 4 r
    of it. A small cluster is therefore not far, wherever it is. Original to typicality, see
    docs/theory.

    Parameters
    ----------
    sqdist : array of shape (n,), float64
        Squared distances of the rows to a centre that one row cannot move.
    sample_weight : array of shape (n,), optional
        Weight k counts as k copies of the row; rows of weight zero are never far.
    company : callable
        `company(rows) -> (sqdist, weight)`: squared distances of some rows to a sample of all rows,
        and the weights of the sample.
    """
    reach = _FAR**2 * weighted_quantile(sqdist, 0.5, sample_weight)
    if reach <= 0:
        return None
    counted = True if sample_weight is None else sample_weight > 0
    far = np.flatnonzero((sqdist > reach) & counted)
    if len(far) == 0:
        return None
    one_row = 1.0 if sample_weight is None else unit_of_weight(sample_weight)
    alone = np.zeros(len(sqdist), bool)
    for block in row_blocks(len(far)):
        between, weight = company(far[block])
        few = max(_FEW * weight.sum(dtype=np.float64), one_row)
        alone[far[block]] = (between <= reach) @ weight.astype(np.float64) <= few * (1 + 1e-9)
    return alone if alone.any() else None


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
    n_distinct : int
        The number of all distinct rows, of which these may be a sample.
    """

    rows: Floats
    weight: Doubles
    index: Places
    n_distinct: int

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
        order = _lexicographic_order(X[index])
        return cls(X[index[order]], total[order], index[order], len(distinct))

    def places_of(self, X: Floats) -> Places:
        """Where each row of X stands among these; -1 for rows that are not there."""
        keys = content_hash(self.rows)
        order = np.argsort(keys)
        wanted = content_hash(X)
        found = order[np.searchsorted(keys, wanted, sorter=order).clip(max=len(keys) - 1)]
        return np.where(keys[found] == wanted, found, -1)

    def sqdist_to(self, number: int) -> Doubles:
        """Squared distances of all these rows to one of them."""
        sqdist: Doubles = np.sum((self.rows - self.rows[number]) ** 2, axis=1)
        return sqdist

    def sqdist_to_mean(self) -> Doubles:
        """Squared distances of these rows to their weighted mean."""
        mean = np.average(self.rows.astype(np.float64), axis=0, weights=self.weight)
        sqdist: Doubles = np.sum((self.rows - mean) ** 2, axis=1)
        return sqdist


def _lexicographic_order(rows: Floats) -> Places:
    order = np.argsort(rows[:, 0])
    first = rows[order, 0]
    if (first[1:] > first[:-1]).all():  # the other columns decide nothing, and cost a sort each
        return order
    return np.lexsort(rows.T[::-1])


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


class NeighbourSearch(Protocol):
    """Finds the nearest rows of points and knows how far they are."""

    @property
    def n_rows(self) -> int:
        """The number of rows that are searched."""

    def of(self, asking: Floats, k: int) -> Places:
        """The k nearest rows of each asking row, the nearest first, shape (len(asking), k)."""

    def sqdist(self, asking: Floats, index: Places) -> Doubles:
        """Squared distances of asking rows to some rows each, pair by pair."""


class Neighbours(NamedTuple):
    """The nearest rows of points, the nearest first, and their squared distances."""

    rows: Places
    sqdist: Doubles

    def nearest(self, k: int) -> "Neighbours":
        """The nearest k of them."""
        rows, sqdist = self.rows[:, :k], self.sqdist[:, :k]
        return Neighbours(np.ascontiguousarray(rows), np.ascontiguousarray(sqdist))


def neighbours_of(search: NeighbourSearch, asking: Floats, k: int) -> Neighbours:
    """The k nearest rows of each asking row, with distances that do not depend on the batch."""
    index = np.empty((len(asking), min(k, search.n_rows)), np.intp)
    sqdist = np.empty(index.shape)
    for start in range(0, len(asking), _POINTS_AT_A_TIME):
        block = slice(start, start + _POINTS_AT_A_TIME)
        found = search.of(asking[block], k)
        squares = search.sqdist(asking[block], found)
        order = np.argsort(squares, axis=1, kind="stable")  # a search may round
        index[block] = np.take_along_axis(found, order, axis=1)
        sqdist[block] = np.take_along_axis(squares, order, axis=1)
    return Neighbours(index, sqdist)


@dataclass(frozen=True, eq=False)
class NearestRows:
    """A search for the nearest of some rows.

    Costs O(log n) a row in few dimensions, O(n d) in more than eight.

    Parameters
    ----------
    rows : array of shape (n, d)
        The rows.
    norm : {1, 2}, default=2
        The order of the norm.
    """

    rows: Annotated[Floats, "n _coordinates"]
    norm: int = 2

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def sqdist(self, asking: Floats, index: Places) -> Doubles:
        """Squared Euclidean distances of asking rows to some rows each, pair by pair."""
        sqdist = np.zeros(index.shape)
        for column, own in zip(self.rows.T, asking.T.astype(np.float64), strict=True):
            sqdist += (column.astype(np.float64)[index] - own[:, None]) ** 2
        return sqdist

    def of(self, asking: Floats, k: int) -> Places:
        """The k nearest rows of each asking row, the nearest first, shape (len(asking), k)."""
        k = min(k, len(self.rows))
        if isinstance(self._search, cKDTree):
            every = np.arange(1, k + 1)
            found = self._search.query(asking, k=every, p=self.norm, workers=-1)[1]
        else:
            found = self._search.kneighbors(asking - self._middle, k, return_distance=False)
        return np.asarray(found, dtype=np.intp)

    def among(self, k: int) -> Places:
        """The k nearest rows of each of these rows, itself one of them."""
        order = self.order  # rows that follow one another then have the same neighbours at hand
        found = np.empty((len(self.rows), min(k, len(self.rows))), np.intp)
        found[order] = self.of(self.rows[order], k)
        return found

    @property
    def order(self) -> Places:
        """The rows in an order in which rows near one another mostly are near in space."""
        tree = self._search if isinstance(self._search, cKDTree) else cKDTree(self.rows)
        return np.asarray(tree.indices, dtype=np.intp)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_search"}

    @cached_property
    def _search(self) -> Any:
        if self.rows.shape[1] <= _MANY_DIMENSIONS:
            return cKDTree(self.rows)
        metric = "cityblock" if self.norm == 1 else "euclidean"
        return NearestNeighbors(algorithm="brute", metric=metric).fit(self.rows - self._middle)

    @cached_property
    def _middle(self) -> Floats:
        # Distances come from scalar products, which lose digits far from zero.
        return np.asarray(np.median(self.rows, axis=0))


class RememberedNearest(NearestRows):
    """A search that remembers the nearest of its own rows: the longest list anyone asked for.

    It is meant for the time of a fit: the list is many times as large as the rows.
    """

    def among(self, k: int) -> Places:
        k = min(k, len(self.rows))
        if self._longest[0].shape[1] < k:
            self._longest[0] = super().among(k)
        return self._longest[0][:, :k]

    @cached_property
    def _longest(self) -> list[Places]:
        return [np.empty((len(self.rows), 0), np.intp)]


@dataclass(frozen=True, eq=False)
class GivenDistances:
    """A search among rows where an asking row is its squared distances to all training rows.

    Parameters
    ----------
    columns : array of shape (n,)
        The training rows that are searched.
    """

    columns: Annotated[Places, "n", Index()]

    @property
    def n_rows(self) -> int:
        return len(self.columns)

    def of(self, asking: Floats, k: int) -> Places:
        sqdist = asking[:, self.columns]
        k = min(k, sqdist.shape[1])
        some = np.sort(np.argpartition(sqdist, k - 1, axis=1)[:, :k], axis=1)
        order = np.argsort(np.take_along_axis(sqdist, some, axis=1), axis=1, kind="stable")
        return np.asarray(np.take_along_axis(some, order, axis=1))

    def sqdist(self, asking: Floats, index: Places) -> Doubles:
        return np.take_along_axis(asking, self.columns[index], axis=1).astype(np.float64)
