"""How good a partition is, to choose between partitions into different numbers of clusters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.geometry import Geometry, InputSpace, Members

__all__ = ["PartitionIndex", "calinski_harabasz", "partition_index", "pooled_bic"]

_SMALLEST_VARIANCE = 1e-10  # of the largest: directions below carry no information
_ROWS_A_DIRECTION = 2.0  # with fewer rows the covariance says little


@dataclass(frozen=True)
class PartitionIndex:
    """An index of partitions, with its name and direction.

    Parameters
    ----------
    name : str
        What people call it.
    larger_is_better : bool
        The direction.
    value : callable
        `value(space, members) -> float`.
    """

    name: str
    larger_is_better: bool
    value: Callable[[Any, Members[Any]], float]


def partition_index(space: Geometry[Any]) -> PartitionIndex:
    """The index for a space: a likelihood needs coordinates."""
    if isinstance(space, InputSpace):
        return PartitionIndex("BIC", larger_is_better=False, value=pooled_bic)
    return PartitionIndex("Calinski-Harabasz", larger_is_better=True, value=calinski_harabasz)


def calinski_harabasz(space: Geometry[Any], members: Members[Any]) -> float:
    r"""The Calinski-Harabasz index: the variance between clusters over that within.

    .. math:: \frac{B / (c - 1)}{W / (n - c)}

    Larger is better; -inf for a single cluster, where it is not defined. It is that of
    :func:`sklearn.metrics.calinski_harabasz_score`, in either space and with weights.

    Implements :cite:`calinski1974`.

    Parameters
    ----------
    space : Geometry
        The space of the rows.
    members : Members
        The rows of each cluster.
    """
    alive = members.mass > 0
    n_clusters, n_rows = int(alive.sum()), _count(space, members)
    if n_clusters < 2:
        return -np.inf
    within = float(members.mass[alive] @ members.sqdist[alive] / members.mass.sum())
    between = max(space.total_variance - within, 0.0)
    ratio = between * (n_rows - n_clusters) / (n_clusters - 1)
    return ratio / within if within > 0 else np.inf


def pooled_bic(space: InputSpace, members: Members[Any]) -> float:
    r"""The Bayesian information criterion of Gaussian clusters that share their covariance.

    .. math:: n \ln \frac{|\Sigma_W|}{|\Sigma_T|} - 2 \sum_k n_k \ln \frac{n_k}{n} +
        (c r + c - 1) \ln n,

    up to a constant, with :math:`\Sigma_W` the covariance within clusters, :math:`\Sigma_T` that of
    all rows and r its rank. Smaller is better. It is defined for a single cluster, and no linear
    map of the features changes it. With fewer than two rows for each dimension both covariances are
    taken to be diagonal.

    Implements :cite:`schwarz1978` for a classification likelihood. As a rule for lambda it is
    original to typicality, see docs/theory.

    Parameters
    ----------
    space : InputSpace
        The space of the rows.
    members : Members
        The rows of each cluster.
    """
    share = members.mass[members.mass > 0] / members.mass.sum()
    n_rows = _count(space, members)
    unexplained = _unexplained(space, members, n_rows).clip(min=1.0 / n_rows)
    n_parameters = len(share) * len(unexplained) + len(share) - 1
    misfit = np.log(unexplained).sum() - 2.0 * share @ np.log(share)
    return float(n_rows * misfit + n_parameters * np.log(n_rows))


def _count(space: Geometry[Any], members: Members[Any]) -> float:
    """The number of rows: the sum of their weights, unless these are shares of a row."""
    weight = space.sample_weight
    n_rows = len(space.X) if weight is None else int(np.count_nonzero(weight))
    return max(float(members.mass.sum()), float(n_rows))


def _unexplained(space: InputSpace, members: Members[Any], n_rows: float) -> NDArray[np.float64]:
    """The variances within clusters relative to those of all rows, in [0, 1].

    Those along the directions that tell clusters and rows apart; along the features, where there
    are too few rows to know the directions.
    """
    alive = members.mass > 0
    means = members.means.offsets[alive] - space.centre
    share = members.mass[alive] / members.mass.sum()
    variances, directions = np.linalg.eigh(space.covariance)
    used = variances > _SMALLEST_VARIANCE * variances[-1]
    if n_rows < _ROWS_A_DIRECTION * used.sum():
        spread = space.features.variance
        return np.asarray(1.0 - (share @ means**2)[spread > 0] / spread[spread > 0])
    means = means @ (directions[:, used] / np.sqrt(variances[used]))
    explained: NDArray[np.float64] = np.linalg.eigvalsh((means.T * share) @ means)
    return 1.0 - explained
