"""One-cluster PCM and its alpha-cuts with the rule to stop of filippone2007 and filippone2010."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from typicality import AlphaCutClustering, OneClusterPCM
from typicality.membership.spread import FixedSpread, SpreadUpdate, smallest_spread
from typicality.solve.step import Alternation, Step

__all__ = ["PaperAlphaCut", "PaperOneCluster", "ReestimatedSpread", "RenewedEta"]


@dataclass(frozen=True)
class ReestimatedSpread:
    """Spreads that are estimated again after each iteration (2010, after eq. 17).

    The objective changes in each iteration, so it can rise, and the spreads can shrink to zero.
    """

    eta_scale: float
    smallest: float
    labelled: ClassVar[bool] = False

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        """As `SpreadUpdate` has it."""
        eta = np.maximum(self.eta_scale * sweep.within_sqdist, self.smallest)
        return rule.with_spread(eta), sweep.prototypes


class _ByMemberships:
    """Stops when the sum of the changes of all memberships is below `tol` (2010, table I)."""

    def _spread(self, space: Any) -> SpreadUpdate:
        return FixedSpread()

    def _step(self, space: Any) -> Step:
        step, before = Alternation(space, self._spread(space)), np.ones((len(space.X), 1))

        def compared(state: Any) -> tuple[Any, float, float]:
            nonlocal before
            memberships = space.outcome(state.rule, state.prototypes, labels=False).memberships
            change = np.abs(memberships - before)[:, 0]
            weight, before = space.sample_weight, memberships
            following, _, objective = step(state)
            return following, float(change.sum() if weight is None else change @ weight), objective

        return compared


class PaperOneCluster(_ByMemberships, OneClusterPCM):
    """1-PCM; the papers use tol=0.01."""


class PaperAlphaCut(_ByMemberships, AlphaCutClustering):
    """The alpha-cuts of 1-PCM; the papers use tol=0.01."""


class RenewedEta(PaperOneCluster):
    """1-PCM whose eta is estimated again in each iteration (2010, after eq. 17)."""

    def _spread(self, space: Any) -> SpreadUpdate:
        return ReestimatedSpread(self.eta_scale, smallest_spread(space.total_variance))
