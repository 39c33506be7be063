"""Where prototypes start, and the best of several starts.

A start chooses rows out of candidates. Candidates are distinct rows, so a start depends on the data
and their weights, not on the order of the rows, and a row of weight k is the same as k rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite
from typing import Any, TypeVar

import numpy as np
from sklearn.cluster import kmeans_plusplus

from typicality._sparse import is_sparse
from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Floats, Places
from typicality.membership.hard import Hard
from typicality.rows import Block, DistinctRows, content_hash, row_blocks
from typicality.spaces import Centroids, Euclidean, Gaps, Sample, Space
from typicality.spaces.base import P

Result = TypeVar("Result")
Candidates = DistinctRows | Sample  # that prototypes can start at
ChooseRows = Callable[..., Places]
Order = Callable[[Doubles, Floats], Doubles]  # squared distances to the nearest prototype, and rows

_ROUNDS = 3  # of k-means||
_OVERSAMPLING = 2  # rows for each cluster that are added in a round
SAME_VALUE = 1e-6  # of each other: values that differ by rounding only


def plus_plus(data: DistinctRows, n_clusters: int, rng: np.random.RandomState) -> Places:
    """k-means++: rows far from those already chosen are likely to come next.

    Implements :cite:`arthur2007` through :func:`sklearn.cluster.kmeans_plusplus`.
    """
    # Its distances lose digits far from zero, where sparse rows are not.
    centred = data.rows if is_sparse(data.rows) else data.rows - data.mean
    with one_blas_thread():  # nor may they depend on threads
        _, chosen = kmeans_plusplus(
            centred, n_clusters, sample_weight=data.weight, random_state=rng
        )
    return np.asarray(chosen, dtype=np.intp)


def plus_plus_by_distance(data: Candidates, n_clusters: int, rng: np.random.RandomState) -> Places:
    """k-means++ for spaces without coordinates, where scikit-learn's cannot go.

    Of a few rows drawn by their squared distance to those already chosen, the one that lowers the
    sum of squared distances the most is taken, as in :func:`sklearn.cluster.kmeans_plusplus`.

    Implements :cite:`arthur2007`.
    """
    n_trials = 2 + int(np.log(n_clusters))
    chosen = [int(_draw(data.weight, rng, 1)[0])]
    nearest = data.sqdist_to(chosen[0])
    while len(chosen) < n_clusters:
        pull = data.weight * nearest
        trials = _draw(pull if pull.any() else data.weight, rng, n_trials)
        reached = [np.minimum(nearest, data.sqdist_to(int(trial))) for trial in trials]
        best = int(np.argmin([data.weight @ sqdist for sqdist in reached]))
        chosen.append(int(trials[best]))
        nearest = reached[best]
    return np.array(chosen, dtype=np.intp)


def max_min(data: Candidates, n_clusters: int, rng: np.random.RandomState | None = None) -> Places:
    """Each point is the row farthest from those already chosen; the first, from the mean.

    Implements :cite:`xenaki2014`, section 2 (Max-Min). Differs from the paper: the first point is
    the row farthest from the mean, so that the order of the rows does not matter. No randomness.
    """
    chosen = [int(np.argmax(data.sqdist_to_mean()))]
    nearest = data.sqdist_to(chosen[0])
    while len(chosen) < n_clusters:
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, data.sqdist_to(chosen[-1]))
    return np.array(chosen, dtype=np.intp)


def farthest_rows(space: Space[P], gaps: Gaps[P], start: P, n_clusters: int) -> P:
    """Prototypes at the row farthest from the start, at the row farthest from that, and so on.

    Implements :cite:`xenaki2014`, section 2 (Max-Min); with its first row as the start, the two
    rows that are farthest apart, but for an approximation, as in section 3. Fewer than asked for
    where there are fewer rows.
    """
    prototypes = at_row(space, gaps.farthest_row(start))
    while prototypes.n_clusters < n_clusters:
        new = at_row(space, gaps.farthest_row(prototypes))
        if not prototypes.join(new).mutual_sqdist()[-1, :-1].all():
            break
        prototypes = prototypes.join(new)
    return prototypes


def at_row(space: Space[P], row: int) -> P:
    """A prototype at a row."""
    return space.near_rows(np.array([row]), share=0.0)


def random_rows(data: Candidates, n_clusters: int, rng: np.random.RandomState) -> Places:
    """Distinct rows drawn by their weights, without replacement."""
    weight = data.weight.copy()
    chosen = []
    for _ in range(n_clusters):
        chosen.append(int(_draw(weight, rng, 1)[0]))
        weight[chosen[-1]] = 0.0
    return np.array(chosen, dtype=np.intp)


def _draw(weight: Doubles, rng: np.random.RandomState, n_draws: int) -> Places:
    """Numbers drawn by inverse CDF of the weights."""
    cumulative = np.cumsum(weight)
    drawn = np.searchsorted(cumulative, rng.uniform(size=n_draws) * cumulative[-1], side="right")
    last = np.flatnonzero(weight)[-1]  # where rounding would lead past it
    return np.asarray(np.minimum(drawn, last), dtype=np.intp)


# ---- k-means||: passes over all rows, where there are more than a sample holds ------------------


@dataclass(frozen=True, eq=False)
class FirstRows:
    """The distinct rows of positive weight with the smallest keys; those of two blocks add up.

    Parameters
    ----------
    keys : array of shape (m,)
        What they are ordered by, rising.
    rows : array of shape (m, d)
        The rows.
    index : array of shape (m,)
        Where one copy of each stands among all rows.
    at_most : int
        The largest number of rows this may hold.
    """

    keys: Doubles
    rows: Floats
    index: Places
    at_most: int

    @classmethod
    def of(cls, prototypes: Centroids, order: Order, at_most: int, block: Block) -> "FirstRows":
        """Those of a block; `order(sqdist, rows)` are the keys, infinite for rows left out."""
        found = cls(np.empty(0), block.X[:0], np.empty(0, np.intp), at_most)
        for some in row_blocks(len(block.X)):
            X = block.X[some]
            keys = order(prototypes.sqdist(X).min(axis=1), X)
            if block.weight is not None:
                keys = np.where(block.weight[some] > 0, keys, np.inf)
            few = np.flatnonzero(keys < np.inf)
            if len(few) > at_most:  # copies of a row have the same key: all of them are kept
                few = few[keys[few] <= np.partition(keys[few], at_most - 1)[at_most - 1]]
            found += cls(keys[few], X[few], block.start + some.start + few, at_most)
        return found

    def __add__(self, other: "FirstRows") -> "FirstRows":
        keys = np.concatenate([self.keys, other.keys])
        rows = np.concatenate([self.rows, other.rows])
        index = np.concatenate([self.index, other.index])
        _, distinct = np.unique(content_hash(rows), return_index=True)  # in the order of the hashes
        first = distinct[np.argsort(keys[distinct], kind="stable")[: self.at_most]]
        return FirstRows(keys[first], rows[first], index[first], self.at_most)


def parallel_rows(
    space: Euclidean, rows: Floats, index: Places, rng: np.random.RandomState
) -> DistinctRows:
    r"""Candidates of k-means||: rows far from those already chosen are likely to be taken.

    Implements :cite:`bahmani2012`, algorithm 2, up to step 7. Differs from the paper: it begins
    with a row for each cluster, and each of three rounds takes exactly two more rows for each
    cluster. A row is drawn if its :math:`-\log(u) / d^2` is among the smallest, with u a hash of
    its content, so that a round is one pass.

    Parameters
    ----------
    space : Euclidean
        The space of all rows.
    rows, index : arrays of shape (c, d) and (c,)
        The rows to begin with, and their numbers.
    rng : RandomState
        It chooses the hashes.

    Returns
    -------
    candidates : DistinctRows
        Their weights are those of the rows nearest to each.
    """
    n_more = _OVERSAMPLING * len(rows)
    for _ in range(_ROUNDS):
        order = partial(_drawn, rng.randint(2**31))
        found = space.rows.fold(partial(FirstRows.of, space.at(rows), order, n_more))
        rows = np.concatenate([rows, found.rows])
        index = np.concatenate([index, found.index])
    mass = space.fold(Hard(), space.at(rows)).mass
    return DistinctRows(rows, mass, index, len(rows))


def _drawn(seed: int, sqdist: Doubles, rows: Floats) -> Doubles:
    """Keys whose smallest ones are rows drawn with probabilities in proportion to `sqdist`."""
    hashes = content_hash(np.column_stack([rows, np.full(len(rows), seed, np.float64)]))
    uniform = (hashes.astype(np.float64) + 0.5) / 2.0**64
    with np.errstate(divide="ignore"):
        return np.where(sqdist > 0, -np.log(uniform) / sqdist, np.inf)


# ---- by name -------------------------------------------------------------------------------------

NAMED_STARTS: dict[str, ChooseRows] = {
    "k-means++": plus_plus,
    "k-means||": plus_plus,  # of candidates that passes over all rows have found
    "max-min": max_min,
    "random": random_rows,
}


def start_rows(name: str, space: Any, n_clusters: int, rng: Any = None) -> Places:
    """The numbers of the rows that a start of a name chooses among a sample.

    "k-means||" looks at all rows where the sample does not hold them.
    """
    if name == "k-means||" and not isinstance(space, Euclidean):
        raise ValueError(
            "init='k-means||' needs coordinates of the prototypes, and prototypes of a "
            "kernel have none. Use init='k-means++', or kernel='linear'."
        )
    data: Any = space.candidates(n_clusters)
    if name == "k-means||" and len(data.rows) < data.n_distinct:
        first = plus_plus(data, n_clusters, rng)
        data = parallel_rows(space, data.rows[first], data.index[first], rng)
    n_clusters = min(n_clusters, len(data.index))
    choose = NAMED_STARTS[name]
    if choose is plus_plus and not isinstance(data, DistinctRows):
        choose = plus_plus_by_distance
    return data.index[choose(data, n_clusters, rng)]


def best_of(results: Sequence[Result], values: Sequence[float]) -> Result:
    """The earliest result whose value is the smallest, but for rounding.

    Runs that reach the same optimum differ in their last digits. Choosing by those would make the
    label numbers depend on rounding, so values within a millionth count as equal.

    Parameters
    ----------
    results : sequence
        The results of one or more runs.
    values : sequence of float
        The value of each; smaller is better, NaN is worst.
    """
    values = [value if isfinite(value) else inf for value in values]
    least = min(values)
    limit = least + SAME_VALUE * abs(least)
    return next(r for r, v in zip(results, values, strict=True) if v <= limit)
