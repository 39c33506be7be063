"""One cluster more at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Gaps, Geometry, P
from typicality.membership.spread import smallest_spread, spread_from_gaps
from typicality.solve.alternation import ClusterState
from typicality.solve.initial import at_row
from typicality.solve.picard import PicardResult, Status

LEAST_WIDTH = 4.0  # of new clusters, times what lambda lets live
_N_NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class Sequential(Generic[P]):
    """Add the farthest row as a cluster, iterate, and go on while clusters become more.

    Implements :cite:`xenaki2014`, section 3 (SeqSAPCM).

    Parameters
    ----------
    geometry : Geometry
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

    geometry: Geometry[P]
    gaps: Gaps[P]
    run: Callable[[ClusterState[P]], PicardResult[ClusterState[P]]]
    rule: Callable[[NDArray[np.float64], float], Any]
    start: P
    at_most: int
    least_width: float = LEAST_WIDTH

    def fit(self, lam: float) -> PicardResult[ClusterState[P]]:
        """All rounds at one lambda, from the start, as in the paper.

        The result is that of the last round, with the residuals and objectives of all.
        """
        rounds = list(self._rounds(self.begin(lam), self._farthest))
        residuals = tuple(value for result in rounds for value in result.residuals)
        objectives = tuple(value for result in rounds for value in result.objectives)
        return replace(rounds[-1], residuals=residuals, objectives=objectives)

    def grow(self, state: ClusterState[P]) -> list[PicardResult[ClusterState[P]]]:
        """All rounds from a state, at the lambda of its rule.

        Where the farthest row brings no cluster, the densest of the rows in no cluster is tried.
        Original to typicality, see docs/theory.
        """
        return list(self._rounds(state, self._farthest, self._densest))

    def begin(self, lam: float) -> ClusterState[P]:
        """The first prototypes, with their first spreads."""
        rule = self.rule(np.ones(self.start.n_clusters), lam)
        return ClusterState(self.start, rule.with_spread(self._first_spread(self.start, rule)))

    def _rounds(
        self, state: ClusterState[P], *places: Callable[[ClusterState[P]], int | None]
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
            if row is None:
                failed += 1
                continue
            result = self.run(self._joined(best.state, at_row(self.geometry, row)))
            yield result
            if result.state.prototypes.n_clusters > best.state.prototypes.n_clusters:
                best, failed = result, 0
            else:
                failed += 1

    def _farthest(self, state: ClusterState[P]) -> int:
        return self.gaps.farthest_row(state.prototypes)

    def _densest(self, state: ClusterState[P]) -> int | None:
        return self.gaps.densest(self.geometry.labels(state.rule, state.prototypes) < 0)

    def _joined(self, state: ClusterState[P], new: P) -> ClusterState[P]:
        known: Any = state.rule
        eta = np.concatenate([known.eta, self._first_spread(new, known)])
        return ClusterState(state.prototypes.join(new), known.with_spread(eta))

    def _first_spread(self, prototypes: P, rule: Any) -> NDArray[np.float64]:
        around = self.gaps.near(prototypes, _N_NEIGHBORS)
        alive = self.least_width * rule.least_spread
        smallest = max(alive, smallest_spread(self.geometry.total_variance))
        spreads = (spread_from_gaps(self.gaps.max_gap, sqdist) for sqdist in around)
        return np.array([max(spread, smallest) for spread in spreads])
