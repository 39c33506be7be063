"""How good a partition is, to choose between partitions into different numbers of clusters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._cached import cached_property
from typicality._typing import Doubles
from typicality.spaces import Euclidean, Space

Labels = NDArray[np.integer]

_SMALLEST_VARIANCE = 1e-10  # of the largest: directions below carry no information
_ROWS_A_DIRECTION = 5.0  # with fewer rows the covariance says little
_MOST_NOISE = 0.2  # the largest share of rows that is taken for the probability of noise
_LEAST_INSIDE = 0.5  # the share of rows in clusters: fewer do not describe the data
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PartitionIndex:
    """An index of partitions of all rows of a space, with its name and direction.

    Parameters
    ----------
    name : str
        What people call it.
    larger_is_better : bool
        The direction.
    value : callable
        `value(labels) -> float`; label -1 is a row in no cluster, and counts too.
    """

    name: str
    larger_is_better: bool
    value: Callable[[Labels], float]


def partition_index(space: Space[Any]) -> PartitionIndex:
    """The index for a space: a likelihood needs coordinates."""
    if isinstance(space, Euclidean):
        return PartitionIndex("BIC", larger_is_better=False, value=NoiseBIC(space))
    return PartitionIndex(
        "Calinski-Harabasz",
        larger_is_better=True,
        value=lambda labels: calinski_harabasz(space, labels),
    )


def calinski_harabasz(space: Space[Any], labels: Labels) -> float:
    r"""The Calinski-Harabasz index: the variance between clusters over the rest.

    .. math:: \frac{B / (c - 1)}{(n T - B) / (n - c)}, \qquad
        B = \sum_k n_k \lVert \mu_k - \mu \rVert^2

    Larger is better; -inf for a single cluster, where it is not defined. Where every row is in a
    cluster, it is that of :func:`sklearn.metrics.calinski_harabasz_score`, in either space and with
    weights. A row in no cluster counts with its whole squared distance to the mean of all rows.

    Implements :cite:`calinski1974`. Its use for rows in no cluster is original to typicality.

    Parameters
    ----------
    space : Space
        The space of the rows.
    labels : array of shape (n,), int
        The cluster of each row; -1 for none.
    """
    weight = _weights(space)
    used = np.unique(labels[(labels >= 0) & (weight > 0)])
    if len(used) < 2:
        return -np.inf
    members = (labels[:, None] == used).astype(space.X.dtype)
    means = space.prototypes(np.column_stack([np.ones_like(members[:, :1]), members]))
    between = float((weight @ members) @ means.mutual_sqdist()[0, 1:])
    rest = weight.sum() * space.total_variance - between
    ratio = between * (weight.sum() - len(used)) / (len(used) - 1)
    return ratio / rest if rest > 0 else np.inf


@dataclass(frozen=True, eq=False)
class NoiseBIC:
    r"""The Bayesian information criterion of Gaussian clusters and uniform noise.

    The covariances :math:`s_k \Sigma` of clusters have one shape and different sizes. A row in no
    cluster has the density 1 / V of the box of all rows. With :math:`n_0` such rows and
    :math:`\pi_0 = \min(n_0 / n, 0.2)`

    .. math:: \sum_k n_k \Big( \ln |s_k \Sigma| + r \ln 2 \pi e - 2 \ln \frac{n_k}{n} \Big) +
        2 n_0 \ln \frac{V}{\pi_0} + q \ln n,

    where r is the rank of the data and q the number of parameters. Smaller is better. It is defined
    for a single cluster, and infinite where fewer than half of the rows are in clusters. V is the
    smaller of the volumes of two boxes: along the features, and along the principal axes. With
    fewer than five rows for each dimension, covariances are diagonal.

    Implements :cite:`schwarz1978` for a classification likelihood. As a rule for lambda it is
    original to typicality, see docs/theory.

    Parameters
    ----------
    space : Euclidean
        The space of the rows.
    """

    space: Euclidean

    def __call__(self, labels: Labels) -> float:
        rows, log_volume, by_feature = self._standardised
        weight, rank = _weights(self.space), rows.shape[1]
        n_rows = weight.sum()
        inside = (labels >= 0) & (weight > 0)
        if weight[inside].sum() < _LEAST_INSIDE * n_rows:
            return np.inf
        _, cluster = np.unique(labels[inside], return_inverse=True)
        rows, weight = rows[inside], weight[inside]
        mass = np.bincount(cluster, weight)
        sums = np.array([np.bincount(cluster, weight * column) for column in rows.T])
        rows = rows - (sums / mass).T[cluster]
        _, sqnorm = _shape(rows, weight, mass.sum(), by_feature=by_feature)
        # One more row of the common size keeps the sizes of small clusters from falling to zero.
        size = (np.bincount(cluster, weight * sqnorm) + rank) / (rank * mass + rank)
        variances, _ = _shape(rows, weight / size[cluster], mass.sum(), by_feature=by_feature)

        n_noise = n_rows - mass.sum()
        any_noise = n_noise > _ROUNDING * n_rows
        misfit = mass.sum() * (np.log(variances).sum() + rank * (1.0 + np.log(2.0 * np.pi)))
        misfit += mass @ (rank * np.log(size) - 2.0 * np.log(mass / n_rows))
        if any_noise:
            misfit += 2.0 * n_noise * (log_volume - np.log(min(n_noise / n_rows, _MOST_NOISE)))
        n_parameters = len(mass) * rank + 2 * (len(mass) - 1) + any_noise
        return float(misfit + n_parameters * np.log(n_rows))

    @cached_property
    def _standardised(self) -> tuple[Doubles, float, bool]:
        """Rows with variance 1 in all directions, the log of their volume, and if by feature."""
        weight = _weights(self.space)
        spread = np.sqrt(self.space.rows.features.variance)
        varies = spread > 0
        rows = (self.space.X[:, varies] - self.space.rows.features.mean[varies]) / spread[varies]
        if len(rows) < rows.shape[1]:  # the others are zero, and all would cost O(d^3)
            factor = rows * np.sqrt(weight / weight.sum())[:, None]
            _, scales, across = np.linalg.svd(factor, full_matrices=False)
            variances, directions = scales[::-1] ** 2, across[::-1].T
        else:
            correlation = (rows.T * (weight / weight.sum())) @ rows
            variances, directions = np.linalg.eigh(correlation)
        used = variances > _SMALLEST_VARIANCE * variances[-1]
        log_volume = _log_volume(rows, weight)
        if weight.sum() < _ROWS_A_DIRECTION * used.sum():
            return rows, log_volume, True
        rows = rows @ (directions[:, used] / np.sqrt(variances[used]))
        along_axes = _log_volume(rows, weight)
        if len(used) == len(directions) and used.all():
            along_axes = min(along_axes, log_volume - 0.5 * np.log(variances).sum())
        return rows, along_axes, False


def _shape(
    rows: Doubles, weight: Doubles, total: float, *, by_feature: bool
) -> tuple[Doubles, Doubles]:
    """The variances of centred rows along their axes, and their squared norms by these."""
    if by_feature:
        variances, along = weight @ rows**2 / total, rows
    else:
        variances, directions = np.linalg.eigh((rows.T * weight) @ rows / total)
        along = rows @ directions
    variances = variances.clip(min=1.0 / total**2)  # rows are not known to lie closer
    return variances, np.sum(along**2 / variances, axis=1)


def _log_volume(rows: Doubles, weight: Doubles) -> float:
    return float(np.log(np.ptp(rows[weight > 0], axis=0)).sum())


def _weights(space: Space[Any]) -> Doubles:
    """The weights of the rows, which sum to the number of rows where they are shares of a row."""
    if space.sample_weight is None:
        return np.ones(len(space.X))
    weight = space.sample_weight.astype(np.float64)
    total, n_rows = weight.sum(), np.count_nonzero(weight)
    return weight if total >= n_rows else weight * (n_rows / total)
