"""When to stop: steps whose residual is the change of weights or of memberships."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Geometry
from typicality.solve.alternation import ClusterState

Step = Callable[[Any], tuple[Any, float, float]]


@dataclass(frozen=True)
class ByWeights:
    r"""A step whose residual is the change of the weights of the prototypes, :math:`\sum |dw|`.

    Weights sum to one, so the residual has the same meaning however small memberships are.

    Parameters
    ----------
    step : callable
        A step on a state whose prototypes are weights on rows.
    """

    step: Step

    def __call__(self, state: ClusterState[Any]) -> tuple[ClusterState[Any], float, float]:
        following, _, objective = self.step(state)
        change = np.abs(following.prototypes.weights - state.prototypes.weights)
        return following, float(change.sum(axis=0).max()), objective


@dataclass(frozen=True, eq=False)
class WatchedState(ClusterState[Any]):
    """A state with the memberships of the step before."""

    memberships: NDArray[np.floating]


@dataclass(frozen=True)
class ByMemberships:
    r"""A step whose residual is the change of the memberships, :math:`\sum |du|`.

    Implements :cite:`filippone2010`, table I; :cite:`filippone2007`, section 5. The residual falls
    below any tolerance where all memberships are tiny: prefer :class:`ByWeights`.

    Parameters
    ----------
    step : callable
        A step on a state.
    geometry : Geometry
        The space of the rows.
    """

    step: Step
    geometry: Geometry[Any]

    def __call__(self, state: WatchedState) -> tuple[WatchedState, float, float]:
        memberships = self.geometry.memberships(state.rule, state.prototypes)
        change = np.abs(memberships - state.memberships).sum(axis=1)
        weight = self.geometry.sample_weight
        following, _, objective = self.step(state)
        residual = float(change.sum() if weight is None else change @ weight)
        return WatchedState(following.prototypes, following.rule, memberships), residual, objective
