"""The step of every algorithm of the family, and other residuals to stop by."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Generic

from typicality.membership.base import MembershipRule
from typicality.membership.spread import FixedSpread, SpreadUpdate
from typicality.spaces.base import P, Space

Step = Callable[[Any], tuple[Any, float, float]]


@dataclass(frozen=True, eq=False)
class ClusterState(Generic[P]):
    """Prototypes, and the rule with the spread that belongs to them."""

    prototypes: P
    rule: MembershipRule


@dataclass(frozen=True)
class Alternation(Generic[P]):
    r"""One Picard step, for `typicality.solve.picard.picard`.

    .. math:: U \leftarrow \arg\min_U J(U, V), \qquad V \leftarrow \arg\min_V J(U, V),

    and, where spreads adapt, the spreads from the same sweep. The residual is the largest move of a
    prototype relative to the root mean square distance of the rows to their mean, and infinite when
    clusters were dropped.
    """

    space: Space[P]
    spread: SpreadUpdate = field(default_factory=FixedSpread)

    def __call__(self, state: ClusterState[P]) -> tuple[ClusterState[P], float, float]:
        n_clusters = state.prototypes.n_clusters
        if n_clusters == 0:  # all were dropped: nothing is left to change
            return state, 0.0, 0.0
        sweep = self.space.sweep(state.rule, state.prototypes, members=self.spread.labelled)
        rule, prototypes = self.spread.update(state.rule, sweep)
        residual = sweep.relative_move if prototypes.n_clusters == n_clusters else inf
        return ClusterState(prototypes, rule), residual, sweep.objective
