"""Runs of the loop in a row: annealing, one cluster more at a time, a path of lambda."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import isclose
from typing import Annotated, Any, Generic, NamedTuple

import numpy as np

from typicality._typing import Doubles, Places
from typicality.membership.possibilistic import Possibilistic1996
from typicality.membership.sparse import collapse_weight
from typicality.membership.spread import smallest_spread, spread_from_gaps
from typicality.solve.indices import PartitionIndex
from typicality.solve.picard import PicardResult, Status
from typicality.solve.starts import SAME_VALUE, at_row
from typicality.solve.step import ClusterState
from typicality.spaces import Gaps, Members, Space
from typicality.spaces.base import P

_LEAST_WIDTH = 4.0  # of new clusters, times what lambda lets live
_ANNEALING_FACTOR = 1.5
_N_NEIGHBORS = 10
_LARGEST_RADIUS = 12.0  # in units of the spread of all data
_REACH = 5.0  # times the mean squared distance: the path begins where most rows belong somewhere
_N_VALUES = 50
_PAUSE = 1  # values at which an attempt that has failed is not repeated
_MORE_UNASSIGNED = 0.1  # the share of rows that clusters may lose from one value to the next

Attempt = tuple[int | None, int]  # a row where a cluster begins, and the number of clusters before


def rising_path(last: float, lowest: float) -> list[float]:
    """A geometric path that rises to `last`; its first value is the least above `lowest`.

    >>> rising_path(9.0, 3.0)
    [4.0, 6.0, 9.0]
    """
    path = [last]
    while path[-1] / _ANNEALING_FACTOR > lowest:
        path.append(path[-1] / _ANNEALING_FACTOR)
    return path[::-1]


@dataclass(frozen=True, eq=False)
class Sequential(Generic[P]):
    """Add the farthest row as a cluster, iterate, and go on while clusters become more.

    Implements :cite:`xenaki2014`, section 3 (SeqSAPCM).

    Parameters
    ----------
    space : Space
        The space of the rows.
    gaps : Gaps
        Its gaps, which say where clusters start and how wide.
    run : callable
        `run(state) -> result`: iterate to the end.
    rule : callable
        `rule(eta, lam)`: the rule of the iterations.
    start : Prototypes
        The first prototypes.
    at_most : int
        No cluster is added beyond this number.
    least_width : float, default=4.0
        New clusters begin at least so many times as wide as they must be to reach any row. Between
        many rows gaps are small, and clusters as wide as a gap would vanish at once. Original to
        typicality; 0 is the paper's way.
    """

    space: Space[P]
    gaps: Gaps[P]
    run: Callable[[ClusterState[P]], PicardResult[ClusterState[P]]]
    rule: Callable[[Doubles, float], Any]
    start: P
    at_most: int
    least_width: float = _LEAST_WIDTH

    def fit(self, lam: float) -> PicardResult[ClusterState[P]]:
        """All rounds at one lambda, from the start, as in the paper.

        The result is that of the last round, with the residuals and objectives of all.
        """
        rounds = list(self._rounds(self.begin(lam), {}, self._farthest))
        residuals = tuple(value for result in rounds for value in result.residuals)
        objectives = tuple(value for result in rounds for value in result.objectives)
        return replace(rounds[-1], residuals=residuals, objectives=objectives)

    def grow(
        self, state: ClusterState[P], paused: dict[Attempt, int]
    ) -> list[PicardResult[ClusterState[P]]]:
        """All rounds from a state, at the lambda of its rule.

        Where the farthest row brings no cluster, the densest of the rows in no cluster is tried.
        Attempts in `paused` are left out, and those that fail are put there. Original to
        typicality, see docs/theory.
        """
        return list(self._rounds(state, paused, self._farthest, self._densest))

    def begin(self, lam: float) -> ClusterState[P]:
        """The first prototypes, with their first spreads."""
        rule = self.rule(np.ones(self.start.n_clusters), lam)
        return ClusterState(self.start, rule.with_spread(self._first_spread(self.start, rule)))

    def _rounds(
        self,
        state: ClusterState[P],
        paused: dict[Attempt, int],
        *places: Callable[[ClusterState[P]], int | None],
    ) -> Iterator[PicardResult[ClusterState[P]]]:
        """The result of each round; a place is asked for a row when those before it have failed."""
        best = result = self.run(state)
        yield result
        failed = 0
        while (
            failed < len(places)
            and 0 < best.state.prototypes.n_clusters < self.at_most
            and result.status is not Status.STOPPED
        ):
            row = places[failed](best.state)
            attempt = row, best.state.prototypes.n_clusters
            if row is None or attempt in paused:
                failed += 1
                continue
            result = self.run(self._joined(best.state, at_row(self.space, row)))
            yield result
            if result.state.prototypes.n_clusters > best.state.prototypes.n_clusters:
                best, failed = result, 0
            else:
                paused[attempt] = _PAUSE
                failed += 1

    def _farthest(self, state: ClusterState[P]) -> int:
        return self.gaps.farthest_row(state.prototypes)

    def _densest(self, state: ClusterState[P]) -> int | None:
        return self.gaps.densest(state.rule, state.prototypes)

    def _joined(self, state: ClusterState[P], new: P) -> ClusterState[P]:
        known: Any = state.rule
        eta = np.concatenate([known.eta, self._first_spread(new, known)])
        return ClusterState(state.prototypes.join(new), known.with_spread(eta))

    def _first_spread(self, prototypes: P, rule: Any) -> Doubles:
        around = self.gaps.near(prototypes, _N_NEIGHBORS)
        alive = self.least_width * rule.least_spread
        smallest = max(alive, smallest_spread(self.space.total_variance))
        spreads = (spread_from_gaps(self.gaps.max_gap, sqdist) for sqdist in around)
        return np.array([max(spread, smallest) for spread in spreads])


@dataclass(frozen=True, eq=False)
class LambdaPath:
    """The values of lambda that were tried, with the clusters at each value.

    Parameters
    ----------
    lam : array of shape (n_values,)
        The values, in increasing order. The last value can be one at which no cluster is left.
    n_clusters : array of shape (n_values,), int
        The number of clusters at each value.
    unassigned : array of shape (n_values,)
        The fraction of rows in no cluster.
    index : array of shape (n_values,)
        The criterion of the choice; NaN if there are no clusters.
    criterion : str
        The name of the criterion.
    chosen : int
        The index of the chosen value.
    """

    lam: Annotated[Doubles, "_tried"]
    n_clusters: Annotated[Places, "_tried"]
    unassigned: Annotated[Doubles, "_tried"]
    index: Annotated[Doubles, "_tried"]
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


def one_cluster(space: Space[P]) -> tuple[P, Members]:
    """All rows as a single cluster: the mean of all rows, and its members."""
    mean = space.mean
    alone = Possibilistic1996(np.array([space.total_variance]))
    rows: Any = space.sweep(alone, mean, members=True).members
    return mean, rows


def lambda_grid(space: Space[Any], unit: float, p: float) -> Doubles:
    r"""Values of lambda from little sparsity to the collapse, in rising order.

    At :math:`\lambda = \frac{\eta}{e p (1-p)} e^{-(1-p) \rho}` a cluster of spread :math:`\eta`
    reaches as far as :math:`R^2 = \rho \eta`. The grid is even in :math:`\rho`, with the spread
    that all data would have as a single cluster: from 12, or from what reaches most rows where that
    is more (in many dimensions it is), down to 0.

    Parameters
    ----------
    space : Space
        The space of the rows.
    unit : float
        The unit of length.
    p : float
        The exponent of the sparsity term.
    """
    _, rows = one_cluster(space)
    spread = float(rows.distance[0])
    largest = max(_LARGEST_RADIUS, _REACH * float(rows.sqdist[0]) / (unit * spread))
    radius = np.linspace(largest, 0.0, _N_VALUES, endpoint=False)
    return collapse_weight(spread / unit, p) * np.exp(-(1.0 - p) * radius)


def follow_path(
    sequential: Sequential[P],
    grid: Doubles,
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
    paused: dict[Attempt, int] = {}
    for place, lam in enumerate(grid):
        paused = {attempt: left - 1 for attempt, left in paused.items() if left}
        rounds = sequential.grow(_at(sequential, lam, state), paused)
        found = [_judge(sequential.space, place, result.state, index) for result in rounds]
        candidates += found
        state = max(found, key=lambda candidate: candidate.n_clusters).state
        stopped = any(result.status is Status.STOPPED for result in rounds)
        if stopped or state.prototypes.n_clusters == 0:
            break
    remaining, result = list(candidates), None
    while remaining and not stopped:
        candidate = _best(remaining)
        remaining.remove(candidate)
        if _is_steady(sequential, grid, candidate, index):
            chosen, result = candidate, settle(candidate.state)
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
    space: Space[Any], place: int, state: ClusterState[Any], index: PartitionIndex
) -> _Candidate:
    n_clusters = state.prototypes.n_clusters
    if n_clusters == 0:
        return _Candidate(place, state, 0, 1.0, np.nan, np.inf)
    labels: Any = space.outcome(state.rule, state.prototypes, memberships=False).labels
    unassigned = float(np.average(labels < 0, weights=space.sample_weight))
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
    grid: Doubles,
    candidate: _Candidate,
    index: PartitionIndex,
) -> bool:
    """Whether the clusters keep their number and most of their rows at the values at both sides."""
    place = candidate.place
    for beside in {max(place - 1, 0), min(place + 1, len(grid) - 1)} - {place}:
        moved = sequential.run(_at(sequential, grid[beside], candidate.state)).state
        there = _judge(sequential.space, beside, moved, index)
        lost = there.unassigned - candidate.unassigned
        if there.n_clusters != candidate.n_clusters or lost > _MORE_UNASSIGNED:
            return False
    return True
