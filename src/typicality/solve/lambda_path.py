"""Clusters along a path of values of lambda, and those to keep."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isclose
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality.geometry import Geometry, Members
from typicality.geometry.base import P
from typicality.membership.possibilistic import Possibilistic1996
from typicality.membership.sparse import collapse_weight
from typicality.solve.alternation import ClusterState
from typicality.solve.indices import PartitionIndex
from typicality.solve.picard import PicardResult, Status
from typicality.solve.restarts import SAME_VALUE
from typicality.solve.sequential import Sequential

_LARGEST_RADIUS = 12.0  # in units of the spread of all data
_REACH = 5.0  # times the mean squared distance: the path begins where most rows belong somewhere
_N_VALUES = 50
_MORE_UNASSIGNED = 0.1  # the share of rows that clusters may lose from one value to the next


@dataclass(frozen=True, eq=False)
class LambdaPath:
    """The best clusters at each value of lambda.

    Parameters
    ----------
    lam : array of shape (n_values,)
        The values, in rising order; the last one may have left no cluster.
    n_clusters : array of shape (n_values,), int
        The number of clusters at each.
    unassigned : array of shape (n_values,)
        The share of rows in no cluster.
    index : array of shape (n_values,)
        How good the clusters are; NaN where there are none.
    criterion : str
        The name of the index.
    chosen : int
        The place of the value that was chosen.
    """

    lam: NDArray[np.float64]
    n_clusters: NDArray[np.intp]
    unassigned: NDArray[np.float64]
    index: NDArray[np.float64]
    criterion: str
    chosen: int


class _Candidate(NamedTuple):
    """Clusters at one value of the path."""

    place: int
    state: ClusterState[Any]
    n_clusters: int
    unassigned: float
    value: float
    loss: float


def one_cluster(geometry: Geometry[P]) -> tuple[P, Members[P]]:
    """All rows as a single cluster: the mean of all rows, and its members."""
    mean = geometry.prototypes(np.ones((len(geometry.X), 1)))
    alone = Possibilistic1996(np.array([geometry.total_variance]))
    return mean, geometry.labelled_sweep(alone, mean).members


def lambda_grid(geometry: Geometry[Any], unit: float, p: float) -> NDArray[np.float64]:
    r"""Values of lambda from little sparsity to the collapse, in rising order.

    At :math:`\lambda = \frac{\eta}{e p (1-p)} e^{-(1-p) \rho}` a cluster of spread :math:`\eta`
    reaches as far as :math:`R^2 = \rho \eta`. The grid is even in :math:`\rho`, with the spread
    that all data would have as a single cluster: from 12, or from what reaches most rows where that
    is more (in many dimensions it is), down to 0.

    Parameters
    ----------
    geometry : Geometry
        The space of the rows.
    unit : float
        The unit of length.
    p : float
        The exponent of the sparsity term.
    """
    _, rows = one_cluster(geometry)
    spread = float(rows.distance[0])
    largest = max(_LARGEST_RADIUS, _REACH * float(rows.sqdist[0]) / (unit * spread))
    radius = np.linspace(largest, 0.0, _N_VALUES, endpoint=False)
    grid: NDArray[np.float64] = collapse_weight(spread / unit, p) * np.exp(-(1.0 - p) * radius)
    return grid


def follow_path(
    sequential: Sequential[P],
    grid: NDArray[np.float64],
    start: ClusterState[P],
    index: PartitionIndex,
    settle: Callable[[ClusterState[P]], PicardResult[ClusterState[P]]],
) -> tuple[LambdaPath, PicardResult[ClusterState[P]]]:
    """Add clusters at rising values of lambda, each from the clusters before, until none is left.

    The results of all rounds at all values are candidates. The index judges each as it is, with the
    rows in no cluster. Kept is the best candidate that has the same number of clusters at the next
    smaller and the next larger value, with at most a tenth more of the rows in no cluster, and that
    keeps its clusters when it settles; where it does not, those with fewer clusters follow. Of
    equally good ones it is that of the smallest lambda.

    Parameters
    ----------
    sequential : Sequential
        The rounds.
    grid : array
        The values, in rising order; at least one.
    start : ClusterState
        The clusters to begin with.
    index : PartitionIndex
        Judges the labels of the rows.
    settle : callable
        `settle(state) -> result`: iterate to the end, on all rows where the path has a sample.

    Returns
    -------
    path : LambdaPath
        The record: the best candidate at each value, and the one that was chosen.
    result : PicardResult
        The clusters that were chosen, settled.
    """
    candidates: list[_Candidate] = []
    state, stopped = start, False
    for place, lam in enumerate(grid):
        rounds = sequential.grow(_at(sequential, lam, state))
        found = [_judge(sequential.geometry, place, result.state, index) for result in rounds]
        candidates += found
        state = max(found, key=lambda candidate: candidate.n_clusters).state
        stopped = any(result.status is Status.STOPPED for result in rounds)
        if stopped or state.prototypes.n_clusters == 0:
            break
    remaining, result = list(candidates), None
    while remaining and not stopped:
        chosen = _best(remaining)
        remaining.remove(chosen)
        if _is_steady(sequential, grid, chosen, index):
            result = settle(chosen.state)
            if result.state.prototypes.n_clusters == chosen.n_clusters:
                break
            remaining = [c for c in remaining if c.n_clusters < chosen.n_clusters]
    if result is None:
        chosen = _best(candidates)
        result = settle(chosen.state)
    places = [[c for c in candidates if c.place == place] for place in range(place + 1)]
    record = [_best(there) for there in places]
    record[chosen.place] = chosen
    path = LambdaPath(
        grid[: len(record)],
        np.array([candidate.n_clusters for candidate in record]),
        np.array([candidate.unassigned for candidate in record]),
        np.array([candidate.value for candidate in record]),
        index.name,
        chosen.place,
    )
    return path, result


def _at(sequential: Sequential[P], lam: float, state: ClusterState[P]) -> ClusterState[P]:
    """The same clusters, for another lambda."""
    known: Any = state.rule
    return ClusterState(state.prototypes, sequential.rule(known.eta, lam))


def _judge(
    geometry: Geometry[Any], place: int, state: ClusterState[Any], index: PartitionIndex
) -> _Candidate:
    n_clusters = state.prototypes.n_clusters
    if n_clusters == 0:
        return _Candidate(place, state, 0, 1.0, np.nan, np.inf)
    labels = geometry.labels(state.rule, state.prototypes)
    unassigned = float(np.average(labels < 0, weights=geometry.sample_weight))
    value = index.value(labels)
    return _Candidate(
        place, state, n_clusters, unassigned, value, -value if index.larger_is_better else value
    )


def _best(candidates: list[_Candidate]) -> _Candidate:
    """The first of those with the least loss, but for rounding."""
    least = min(candidate.loss for candidate in candidates)
    return next(c for c in candidates if isclose(c.loss, least, rel_tol=SAME_VALUE))


def _is_steady(
    sequential: Sequential[Any],
    grid: NDArray[np.float64],
    candidate: _Candidate,
    index: PartitionIndex,
) -> bool:
    """Whether the clusters keep their number and most of their rows at the values at both sides."""
    place = candidate.place
    for beside in {max(place - 1, 0), min(place + 1, len(grid) - 1)} - {place}:
        moved = sequential.run(_at(sequential, grid[beside], candidate.state)).state
        there = _judge(sequential.geometry, beside, moved, index)
        lost = there.unassigned - candidate.unassigned
        if there.n_clusters != candidate.n_clusters or lost > _MORE_UNASSIGNED:
            return False
    return True
