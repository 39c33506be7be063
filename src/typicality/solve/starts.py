"""Where prototypes start, and the best of several starts.

A start chooses rows out of candidates. Candidates are distinct rows, so a start depends on the data
and their weights, not on the order of the rows, and a row of weight k is the same as k rows.
"""

from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import Any, TypeVar

import numpy as np
from sklearn.cluster import kmeans_plusplus

from typicality._sparse import is_sparse
from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Places
from typicality.rows import DistinctRows
from typicality.spaces import Gaps, Sample, Space
from typicality.spaces.base import P

Result = TypeVar("Result")
Candidates = DistinctRows | Sample  # that prototypes can start at
ChooseRows = Callable[..., Places]

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


# ---- by name -------------------------------------------------------------------------------------

NAMED_STARTS: dict[str, ChooseRows] = {
    "k-means++": plus_plus,
    "max-min": max_min,
    "random": random_rows,
}


def start_rows(name: str, space: Any, n_clusters: int, rng: Any = None) -> Places:
    """The numbers of the rows that a start of a name chooses among a sample."""
    data: Any = space.candidates(n_clusters)
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
