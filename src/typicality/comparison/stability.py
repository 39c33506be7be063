"""Agreement of refits: how much of a result comes from the rows that happened to be drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Places

Measure = Callable[[NDArray[Any], NDArray[Any]], float]


@dataclass(frozen=True)
class Repeats:
    """A number that was measured several times.

    Parameters
    ----------
    values : tuple of float
        One for each time, at least one.
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Their mean."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """Their standard deviation, 0 where there is only one."""
        return float(np.std(self.values))


def draw_subsamples(
    n_rows: int, n_repeats: int, *, share: float = 0.8, random_state: Any = None
) -> tuple[Places, ...]:
    """Row numbers of random subsamples, without replacement, each in rising order.

    Parameters
    ----------
    n_rows : int
        The number of rows to draw from.
    n_repeats : int
        The number of subsamples.
    share : float, default=0.8
        The share of the rows in each.
    random_state : int or RandomState, optional
        The seed.

    Returns
    -------
    tuple of arrays of int

    Examples
    --------
    >>> from typicality.comparison import draw_subsamples
    >>> [len(rows) for rows in draw_subsamples(50, 3, random_state=0)]
    [40, 40, 40]
    """
    from sklearn.utils import check_random_state

    rng = check_random_state(random_state)
    size = max(1, round(share * n_rows))
    return tuple(np.sort(rng.permutation(n_rows)[:size]) for _ in range(n_repeats))


def shared_rows_agreement(
    first: tuple[Any, Any], second: tuple[Any, Any], *, measure: Measure
) -> float:
    """A measure of agreement of two results, on the rows that both are about.

    Parameters
    ----------
    first, second : tuple of (rows, result)
        The numbers of the rows, each once, and a label, flag or score for each.
    measure : callable
        ``measure(result, result)`` gives a number, e.g. :func:`sklearn.metrics.adjusted_rand_score`
        for labels or :func:`typicality.metrics.jaccard_score` for flags.

    Returns
    -------
    float
        NaN where no row is shared.

    Examples
    --------
    >>> from typicality.comparison import shared_rows_agreement
    >>> from typicality.metrics import adjusted_rand_score
    >>> first = [0, 1, 2, 3], [0, 0, 1, 1]
    >>> second = [1, 2, 3, 4], [5, 7, 7, 7]
    >>> float(shared_rows_agreement(first, second, measure=adjusted_rand_score))
    1.0
    """
    (rows_a, result_a), (rows_b, result_b) = first, second
    _, in_a, in_b = np.intersect1d(rows_a, rows_b, assume_unique=True, return_indices=True)
    if len(in_a) == 0:
        return float("nan")
    return float(measure(np.asarray(result_a)[in_a], np.asarray(result_b)[in_b]))


def agreement_of_refits(refits: Sequence[tuple[Any, Any]], *, measure: Measure) -> Repeats | None:
    """The agreement of every two refits on the rows they share.

    Parameters
    ----------
    refits : sequence of tuple of (rows, result)
        As in :func:`shared_rows_agreement`.
    measure : callable
        As in :func:`shared_rows_agreement`.

    Returns
    -------
    Repeats or None
        A value for each pair; None where there are no two refits that share rows.
    """
    pairs = combinations(refits, 2)
    values = [shared_rows_agreement(a, b, measure=measure) for a, b in pairs]
    known = tuple(value for value in values if not np.isnan(value))
    return Repeats(known) if known else None
