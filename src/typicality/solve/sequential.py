"""One cluster more at a time, at one lambda or along a path of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Geometry, P
from typicality.membership.spread import smallest_spread, spread_from_gaps
from typicality.solve.alternation import ClusterState
from typicality.solve.picard import PicardResult, Status

__all__ = ["Sequential"]

_N_NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class Sequential(Generic[P]):
    """Add the farthest row as a cluster, iterate, and go on while clusters become more.

    Implements :cite:`xenaki2014`, section 3 (SeqSAPCM).

    Parameters
    ----------
    geometry : Geometry
        The space of the rows.
    run : callable
        `run(state) -> result`: iterate to the end.
    rule : callable
        `rule(eta, lam)`: the rule of the iterations.
    start : Prototypes
        The first prototypes.
    at_most : int
        No cluster is added beyond this number.
    """

    geometry: Geometry[P]
    run: Callable[[ClusterState[P]], PicardResult[ClusterState[P]]]
    rule: Callable[[NDArray[np.float64], float], Any]
    start: P
    at_most: int

    def fit(
        self, lam: float, before: ClusterState[P] | None = None
    ) -> PicardResult[ClusterState[P]]:
        """All rounds at one lambda, from the start or from the result at another lambda.

        The result is that of the last round, with the residuals and objectives of all.
        """
        result = self.run(self._begin(lam, before))
        n_before = 0
        while n_before < result.state.prototypes.n_clusters < self.at_most:
            if result.status is Status.STOPPED:
                break
            n_before = result.state.prototypes.n_clusters
            following = self.run(self._with_one_more(result.state))
            result = replace(
                following,
                residuals=result.residuals + following.residuals,
                objectives=result.objectives + following.objectives,
            )
        return result

    def _begin(self, lam: float, before: ClusterState[P] | None) -> ClusterState[P]:
        if before is None:
            return ClusterState(self.start, self.rule(self._first_spread(self.start), lam))
        known: Any = before.rule
        return ClusterState(before.prototypes, self.rule(known.eta, lam))

    def _with_one_more(self, state: ClusterState[P]) -> ClusterState[P]:
        known: Any = state.rule
        row = np.array([self.geometry.farthest_row(state.prototypes)])
        new = self.geometry.near_rows(row, share=0.0)
        eta = np.concatenate([known.eta, self._first_spread(new)])
        return ClusterState(state.prototypes.join(new), known.with_spread(eta))

    def _first_spread(self, prototypes: P) -> NDArray[np.float64]:
        gaps = self.geometry.gaps
        around = gaps.around(prototypes, _N_NEIGHBORS)
        smallest = smallest_spread(self.geometry.total_variance)
        spreads = (spread_from_gaps(gaps.largest, sqdist) for sqdist in around)
        return np.array([max(spread, smallest) for spread in spreads])
