"""The step of every algorithm of the family: memberships, prototypes, spread."""

from dataclasses import dataclass, field
from math import inf
from typing import Generic

from typicality.geometry.base import Geometry, P
from typicality.membership.base import MembershipRule
from typicality.membership.spread import FixedSpread, SpreadUpdate


@dataclass(frozen=True, eq=False)
class ClusterState(Generic[P]):
    """Prototypes, and the rule with the spread that belongs to them."""

    prototypes: P
    rule: MembershipRule


@dataclass(frozen=True)
class Alternation(Generic[P]):
    r"""One Picard step, for :func:`typicality.solve.picard.picard`.

    .. math:: U \leftarrow \arg\min_U J(U, V), \qquad V \leftarrow \arg\min_V J(U, V),

    and, where spreads adapt, the spreads from the same sweep. The residual is the largest move of a
    prototype relative to the root mean square distance of the rows to their mean, and infinite when
    clusters were dropped.
    """

    geometry: Geometry[P]
    spread: SpreadUpdate = field(default_factory=FixedSpread)

    def __call__(self, state: ClusterState[P]) -> tuple[ClusterState[P], float, float]:
        if state.prototypes.n_clusters == 0:  # all were dropped: nothing is left to change
            return state, 0.0, 0.0
        sweep = self.spread.sweep(self.geometry, state.rule, state.prototypes)
        rule, prototypes = self.spread.update(state.rule, sweep)
        dropped = prototypes.n_clusters != state.prototypes.n_clusters
        return (
            ClusterState(prototypes, rule),
            inf if dropped else sweep.relative_move,
            sweep.objective,
        )
