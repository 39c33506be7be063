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
LARGEST_START = 2**17  # rows a start looks at; of more, a systematic sample by weight


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

    @classmethod
    def of(cls, X: Floats, sample_weight: Floats | None = None) -> Self:
        """Sort, add up the weights of equal rows, and sample if there are very many."""
        weight = np.ones(len(X)) if sample_weight is None else sample_weight.astype(np.float64)
        order = _lexicographic_order(X)
        order = order[weight[order] > 0]
        first = np.ones(len(order), dtype=bool)
        for start in range(1, len(order), LARGEST_START):
            block = slice(start, min(start + LARGEST_START, len(order)))
            before = slice(block.start - 1, block.stop - 1)
            first[block] = (X[order[block]] != X[order[before]]).any(axis=1)
        weight = np.add.reduceat(weight[order], np.flatnonzero(first))
        order = order[first]
        if len(order) > LARGEST_START:
            chosen, weight = _systematic_sample(weight, LARGEST_START)
            order = order[chosen]
        return cls(X[order], weight)


def _lexicographic_order(X: Floats) -> NDArray[np.intp]:
    """The order of the rows by the first feature, then the second, and so on."""
    order = np.argsort(X[:, 0], kind="stable")
    leading = X[order, 0]
    if (leading[1:] != leading[:-1]).all():
        return order
    return np.lexsort(X.T[::-1])


def _systematic_sample(
    weight: NDArray[np.float64], size: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Every (total / size)-th unit of weight: heavy rows come several times, merged."""
    cumulative = np.cumsum(weight)
    units = (np.arange(size) + 0.5) * (cumulative[-1] / size)
    chosen, times = np.unique(np.searchsorted(cumulative, units), return_counts=True)
    return chosen, times.astype(np.float64)


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
    points, _ = kmeans_plusplus(data.rows, n_clusters, sample_weight=data.weight, random_state=rng)
    return np.asarray(points)


def max_min(data: DistinctRows, n_clusters: int, rng: np.random.RandomState) -> Floats:
    """Each point is the row farthest from those already chosen; the first, from the mean.

    Implements :cite:`xenaki2014`, section 2 (Max-Min). Differs from the paper: the first point is
    the row farthest from the mean, so that the order of the rows does not matter. No randomness.
    """
    centre = np.average(data.rows, axis=0, weights=data.weight)
    sqdist = np.sum((data.rows - centre) ** 2, axis=1)
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
    centre = np.average(data.rows, axis=0, weights=data.weight)
    return (points + _TOWARDS_THE_MEAN * (centre - points)).astype(points.dtype)


Start = Callable[[DistinctRows, int, np.random.RandomState], Floats]
NAMED_STARTS: dict[str, Start] = {
    "k-means++": plus_plus,
    "max-min": max_min,
    "random": random_rows,
}
