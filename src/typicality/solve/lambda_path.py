"""Results along a path of values of lambda, and the one to keep."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isclose
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from typicality.geometry import Geometry
from typicality.membership.possibilistic import Possibilistic1996
from typicality.membership.sparse import collapse_weight
from typicality.solve.alternation import ClusterState
from typicality.solve.indices import PartitionIndex
from typicality.solve.picard import PicardResult, Status
from typicality.solve.restarts import SAME_VALUE

__all__ = ["LambdaPath", "follow_path", "lambda_grid"]

State = TypeVar("State", bound=ClusterState[Any])

_LARGEST_RADIUS = 12.0  # in units of the spread of all data
_REACH = 1.5  # times the mean squared distance: the path begins where most rows belong somewhere
_N_VALUES = 80


@dataclass(frozen=True, eq=False)
class LambdaPath:
    """What was found at each value of lambda.

    Parameters
    ----------
    lam : array of shape (n_values,)
        The values, in rising order; the last one may have left no cluster.
    n_clusters : array of shape (n_values,), int
        The number of clusters at each.
    index : array of shape (n_values,)
        How good the clusters are; NaN where there are none.
    criterion : str
        The name of the index.
    chosen : int
        The place of the value that was chosen.
    """

    lam: NDArray[np.float64]
    n_clusters: NDArray[np.intp]
    index: NDArray[np.float64]
    criterion: str
    chosen: int


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
    everything = geometry.prototypes(np.ones((len(geometry.X), 1)))
    alone = Possibilistic1996(np.array([geometry.total_variance]))
    rows = geometry.labelled_sweep(alone, everything).members
    spread = float(rows.distance[0])
    largest = max(_LARGEST_RADIUS, _REACH * float(rows.sqdist[0]) / (unit * spread))
    radius = np.linspace(largest, 0.0, _N_VALUES, endpoint=False)
    grid: NDArray[np.float64] = collapse_weight(spread / unit, p) * np.exp(-(1.0 - p) * radius)
    return grid


def follow_path(
    geometry: Geometry[Any],
    grid: Iterable[float],
    fit: Callable[[float, State | None], PicardResult[State]],
    index: PartitionIndex,
) -> tuple[LambdaPath, PicardResult[State]]:
    """Fit at rising values of lambda, each from the result before, until no cluster is left.

    Parameters
    ----------
    geometry : Geometry
        The space of the rows.
    grid : iterable of float
        The values, in rising order; at least one.
    fit : callable
        `fit(lam, state) -> result`, from the state at the value before, or None at the first.
    index : PartitionIndex
        Judges the clusters, every row assigned to one; the first of the best is kept.

    Returns
    -------
    path : LambdaPath
        The record.
    result : PicardResult
        The result that was chosen.
    """
    record: list[tuple[float, int, float]] = []
    best: list[PicardResult[State]] = []
    chosen, least = 0, np.inf
    state: State | None = None
    for lam in grid:
        result = fit(lam, state)
        state = result.state
        value = _value(geometry, index, state)
        record.append((lam, state.prototypes.n_clusters, value))
        loss = -value if index.larger_is_better else value
        if not best or (loss < least and not isclose(loss, least, rel_tol=SAME_VALUE)):
            best, chosen, least = [result], len(record) - 1, loss
        if state.prototypes.n_clusters == 0 or result.status is Status.STOPPED:
            break
    values, counts, indices = (np.array(column) for column in zip(*record, strict=True))
    return LambdaPath(values, counts, indices, index.name, chosen), best[0]


def _value(geometry: Geometry[Any], index: PartitionIndex, state: ClusterState[Any]) -> float:
    if state.prototypes.n_clusters == 0:
        return np.nan
    rule: Any = state.rule
    everywhere = Possibilistic1996(rule.eta)  # no row is left out
    return index.value(geometry, geometry.labelled_sweep(everywhere, state.prototypes).members)
