"""One cluster more at a time, at one lambda or along a path of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Gaps, Geometry, P
from typicality.membership.spread import smallest_spread, spread_from_gaps
from typicality.solve.alternation import ClusterState
from typicality.solve.initial import at_row
from typicality.solve.picard import PicardResult, Status

__all__ = ["GrownState", "Sequential"]

LEAST_WIDTH = 4.0  # of new clusters, times what lambda lets live
_N_NEIGHBORS = 10
_IN_TURN = 3  # rows that are tried one after the other


@dataclass(frozen=True, eq=False)
class GrownState(ClusterState[P]):
    """A state that no further row could add a cluster to.

    Parameters
    ----------
    prototypes : Prototypes
        The prototypes.
    rule : MembershipRule
        The rule.
    tried : Prototypes, optional
        Rows that were tried in vain, for these prototypes.
    """

    tried: P | None


@dataclass(frozen=True, eq=False)
class Sequential(Generic[P]):
    """Add the farthest row as a cluster, iterate, and go on while clusters become more.

    Implements :cite:`xenaki2014`, section 3 (SeqSAPCM). Original to typicality, see docs/theory:
    from one lambda to the next three rows take turns, where the first was tried in vain the one
    farthest from the prototypes and from that one, and so on.

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

    def fit(
        self, lam: float, before: "GrownState[P] | None" = None
    ) -> PicardResult["GrownState[P]"]:
        """All rounds at one lambda, from the start or from the result at another lambda.

        The result is that of the last round, with the residuals and objectives of all.
        """
        result = self.run(self._begin(lam, before))
        n_clusters = result.state.prototypes.n_clusters
        known = before is not None and n_clusters == before.prototypes.n_clusters
        tried = before.tried if before is not None and known else None
        residuals, objectives = result.residuals, result.objectives
        while 0 < n_clusters < self.at_most and result.status is not Status.STOPPED:
            new = self._farthest(result.state.prototypes, tried)
            result = self.run(self._joined(result.state, new))
            residuals, objectives = residuals + result.residuals, objectives + result.objectives
            n_before, n_clusters = n_clusters, result.state.prototypes.n_clusters
            tried = _tried(tried, new) if n_clusters == n_before else None
            if n_clusters <= n_before:
                break
        state = GrownState(result.state.prototypes, result.state.rule, tried)
        return PicardResult(state, result.status, residuals, objectives)

    def _begin(self, lam: float, before: ClusterState[P] | None) -> ClusterState[P]:
        if before is None:
            rule = self.rule(np.ones(self.start.n_clusters), lam)
            return ClusterState(self.start, rule.with_spread(self._first_spread(self.start, rule)))
        known: Any = before.rule
        return ClusterState(before.prototypes, self.rule(known.eta, lam))

    def _farthest(self, prototypes: P, tried: P | None) -> P:
        known = prototypes if tried is None else prototypes.join(tried)
        return at_row(self.geometry, self.gaps.farthest(known))

    def _joined(self, state: ClusterState[P], new: P) -> ClusterState[P]:
        known: Any = state.rule
        eta = np.concatenate([known.eta, self._first_spread(new, known)])
        return ClusterState(state.prototypes.join(new), known.with_spread(eta))

    def _first_spread(self, prototypes: P, rule: Any) -> NDArray[np.float64]:
        around = self.gaps.around(prototypes, _N_NEIGHBORS)
        alive = self.least_width * rule.least_spread
        smallest = max(alive, smallest_spread(self.geometry.total_variance))
        spreads = (spread_from_gaps(self.gaps.largest, sqdist) for sqdist in around)
        return np.array([max(spread, smallest) for spread in spreads])


def _tried(before: P | None, new: P) -> P | None:
    """The rows tried in vain; after the last of a turn the first may be tried again."""
    together = new if before is None else before.join(new)
    return together if together.n_clusters < _IN_TURN else None
