"""Where prototypes start.

Starts depend on the data and their weights, not on the order of the rows: they work on the distinct
rows in lexicographic order with the weights of equal rows added up, and rows of weight zero take no
part. A row of weight k is therefore the same as k rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus
from threadpoolctl import threadpool_limits

__all__ = [
    "NAMED_STARTS",
    "DistinctRows",
    "count_distinct_rows",
    "max_min",
    "off_the_rows",
    "plus_plus",
    "random_rows",
]

Floats = NDArray[np.floating]

_TOWARDS_THE_MEAN = 0.05
LARGEST_START = 2**17  # distinct rows a start looks at; of more, a sample by content


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows in lexicographic order with their weights.

    Parameters
    ----------
    rows : array of shape (n, d)
        The rows.
    weight : array of shape (n,), float64
        The sum of the weights of the rows that are equal to each.
    """

    rows: Floats
    weight: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The weighted mean of the rows."""
        mean: NDArray[np.float64] = np.average(
            self.rows.astype(np.float64), axis=0, weights=self.weight
        )
        return mean

    @classmethod
    def of(cls, X: Floats, sample_weight: Floats | None = None, *, at_least: int = 1) -> Self:
        """Add up the weights of equal rows; of very many distinct rows, take a sample.

        The sample is of four times `at_least` or more.
        Equal rows are found by a hash of their content. The sample is those of smallest hash: it
        is the same in any order, and keeps all copies of a row or none. Costs a sort of n integers.
        """
        keys = _content_hash(X)
        keep = np.ones(len(X), bool) if sample_weight is None else sample_weight > 0
        ordered = np.sort(keys[keep])  # much faster than np.unique
        distinct = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        largest = max(LARGEST_START, 4 * at_least)
        if len(distinct) > largest:
            keep &= keys <= ordered[distinct[largest - 1]]
        chosen = np.flatnonzero(keep)
        _, first, copy_of = np.unique(keys[chosen], return_index=True, return_inverse=True)
        weight = None if sample_weight is None else sample_weight[chosen]
        total = np.bincount(copy_of, weights=weight).astype(np.float64)
        rows = X[chosen[first]]
        order = np.lexsort(rows.T[::-1])
        return cls(rows[order], total[order])


def _content_hash(X: Floats) -> NDArray[np.uint64]:
    """A number for each row that depends on its values alone.

    The mixing is that of splitmix64. Two of a million distinct rows share a number once in 30
    million data sets; then they are taken for one, which a start can bear.
    """
    mixed = np.zeros(len(X), np.uint64)
    for column in X.T:
        mixed ^= (column.astype(np.float64) + 0.0).view(np.uint64)  # + 0.0: no negative zero
        mixed += np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def count_distinct_rows(X: Floats, sample_weight: Floats | None, enough: int) -> int:
    """The number of distinct rows of positive weight, or some number that is `enough`."""
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


def plus_plus(data: DistinctRows, n_clusters: int, rng: np.random.RandomState) -> Floats:
    """k-means++: rows far from those already chosen are likely to come next.

    Implements :cite:`arthur2007` through :func:`sklearn.cluster.kmeans_plusplus`.
    """
    centred = data.rows - data.mean  # its distances lose digits far from zero
    with threadpool_limits(1, user_api="blas"):  # nor may they depend on threads
        _, chosen = kmeans_plusplus(
            centred, n_clusters, sample_weight=data.weight, random_state=rng
        )
    points: Floats = data.rows[chosen]
    return points


def max_min(data: DistinctRows, n_clusters: int, rng: np.random.RandomState) -> Floats:
    """Each point is the row farthest from those already chosen; the first, from the mean.

    Implements :cite:`xenaki2014`, section 2 (Max-Min). Differs from the paper: the first point is
    the row farthest from the mean, so that the order of the rows does not matter. No randomness.
    """
    sqdist = np.sum((data.rows - data.mean) ** 2, axis=1)
    chosen = [int(np.argmax(sqdist))]
    sqdist[:] = np.inf
    while len(chosen) < n_clusters:
        latest = np.sum((data.rows - data.rows[chosen[-1]]) ** 2, axis=1)
        np.minimum(sqdist, latest, out=sqdist)
        chosen.append(int(np.argmax(sqdist)))
    return data.rows[chosen]


def random_rows(data: DistinctRows, n_clusters: int, rng: np.random.RandomState) -> Floats:
    """Distinct rows drawn by their weights, without replacement."""
    weight = data.weight.copy()
    chosen = []
    for _ in range(n_clusters):
        cumulative = np.cumsum(weight)
        drawn = int(np.searchsorted(cumulative, rng.uniform() * cumulative[-1], side="right"))
        chosen.append(drawn)
        weight[drawn] = 0.0
    return data.rows[chosen]


def off_the_rows(points: Floats, data: DistinctRows) -> Floats:
    """Points drawn a little towards the mean of the data.

    A row that coincides with a prototype has membership 1 there and holds it fast, the more the
    larger m: a start exactly on rows can look converged where it stands.
    """
    return (points + _TOWARDS_THE_MEAN * (data.mean - points)).astype(points.dtype)


Start = Callable[[DistinctRows, int, np.random.RandomState], Floats]
NAMED_STARTS: dict[str, Start] = {
    "k-means++": plus_plus,
    "max-min": max_min,
    "random": random_rows,
}
