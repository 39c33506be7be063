"""The input space with a covariance for each prototype: clusters are ellipsoids."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from typicality._cached import cached_property
from typicality._sparse import as_dense
from typicality._tensors import array_of, is_tensor, tensor_of
from typicality._typing import Doubles, Floats
from typicality.rows import Block, Rows
from typicality.spaces.base import is_reached
from typicality.spaces.euclidean import Centroids, Euclidean, about

_FLATTEST = 1e-8  # the smallest eigenvalue of a covariance, relative to the largest


@dataclass(frozen=True, eq=False)
class Ellipsoids(Centroids):
    r"""Prototypes with a covariance: squared distances are Mahalanobis distances of equal volume.

    .. math:: d_{hk} = (x_h - v_k)^\top S_k^{-1} (x_h - v_k), \qquad
        S_k = F_k / \det(F_k)^{1/d}

    Parameters
    ----------
    covariances : array of shape (c, d, d)
        The covariance :math:`F_k` of each prototype, positive definite.
    """

    covariances: Annotated[Doubles, "c d d"]

    @property
    def _shapes(self) -> Doubles:
        return np.asarray(self.covariances / _sizes(self.covariances)[:, None, None])

    def sqdist(self, X: Any) -> Any:
        rows = about(self.origin, as_dense(X))
        inverses = np.asarray(np.linalg.inv(self._shapes), dtype=np.float64)
        if is_tensor(X):
            return self._of_tensor(rows, inverses)
        # One row at a time: a product of matrices would depend on the batch.
        each = [
            cdist(rows, v[None], "mahalanobis", VI=inverse) ** 2
            for v, inverse in zip(self.offsets, inverses, strict=True)
        ]
        return np.hstack(each) if each else np.empty((len(X), 0))

    def _of_tensor(self, rows: Any, inverses: Doubles) -> Any:
        import torch

        place = str(rows.device)
        pairs = zip(tensor_of(self.offsets, place), tensor_of(inverses, place), strict=True)
        return torch.stack([((rows - v) @ a * (rows - v)).sum(1) for v, a in pairs], 1).clamp(0.0)

    def mutual_sqdist(self) -> Doubles:
        roots, sizes = _roots(self._shapes), _sizes(self.covariances)
        apart = ((roots[:, None] - roots) ** 2).sum(axis=(2, 3))
        return np.asarray(super().mutual_sqdist() + apart * np.minimum(sizes[:, None], sizes))

    def sqdist_to(self, other: Self) -> Doubles:
        turned = ((_roots(self._shapes) - _roots(other._shapes)) ** 2).sum(axis=(1, 2))
        return np.asarray(super().sqdist_to(other) + turned * _sizes(self.covariances))


class Ellipsoidal(Euclidean):
    r"""The input space in which each prototype has a covariance.

    .. math:: F_k = (1 - \gamma_k) C_k + \gamma_k \det(C_k)^{1/d} I, \qquad
        C_k = \frac{\sum_h \omega_h w_{hk} (x_h - v_k) (x_h - v_k)^\top}{\sum_h \omega_h w_{hk}}

    Implements :cite:`gustafson1979`, with the shrinkage of :cite:`babuska2002`. Differs from it:
    the round covariance has the size of :math:`C_k`, not that of the covariance of all rows, which
    grows with the distances between clusters. By default
    :math:`\gamma_k = (d + 1) / (d + 1 + n_k)`, with the effective number of rows
    :math:`n_k = (\sum_h \omega_h w_{hk})^2 / \sum_h \omega_h w_{hk}^2`.

    Parameters
    ----------
    rows : Rows or array of shape (n, d)
        The rows; blocks of sparse rows are made dense.
    sample_weight : array of shape (n,), optional
        The weights of an array of rows.
    shrinkage : float or "auto", default="auto"
        The share :math:`\gamma` of the round covariance, from 0 to 1.
    adapts : bool, default=True
        Whether covariances follow the rows. If not, prototypes keep those that they have.
    """

    def __init__(
        self,
        rows: Rows | Floats,
        sample_weight: Floats | None = None,
        *,
        shrinkage: float | str = "auto",
        adapts: bool = True,
    ) -> None:
        super().__init__(rows, sample_weight)
        self.shrinkage, self.adapts = shrinkage, adapts

    def accumulate(self, block: Block, weights: Any) -> Doubles:
        return self._moments(block, weights) if self.adapts else super().accumulate(block, weights)

    def _moments(self, block: Block, weights: Any) -> Doubles:
        """Of each cluster: first moments about the origin, second moments, and squared weights."""
        rows = array_of(about(self.origin, as_dense(block.X)))
        weights = array_of(weights).astype(np.float64)
        given = np.ones(len(rows)) if block.weight is None else array_of(block.weight)
        per_row = np.divide(weights, given[:, None], where=given[:, None] > 0, out=0 * weights)
        second = [(rows * column[:, None]).T @ rows for column in weights.T]
        squares = (weights * per_row).sum(axis=0)
        flat = np.reshape(second, (weights.shape[1], rows.shape[1] ** 2))
        return np.column_stack([weights.T @ rows, flat, squares])

    def means(
        self, sums: Doubles, total: Doubles, unless_empty: Centroids | None = None
    ) -> Centroids:
        d = len(self.origin)
        centroids = super().means(sums[:, :d], total, unless_empty)
        if not self.adapts and isinstance(unless_empty, Ellipsoids):
            return replace(unless_empty, offsets=centroids.offsets)
        reached = is_reached(total)
        divisor = np.where(reached, total, 1.0)
        first = sums[:, :d] / divisor[:, None]
        second = sums[:, d:-1].reshape(-1, d, d) / divisor[:, None, None]
        found = second - first[:, :, None] * first[:, None, :]
        n_rows = total**2 / np.where(reached, sums[:, -1], 1.0) / self._unit
        covariances = self._shrunk(found, n_rows)
        if isinstance(unless_empty, Ellipsoids):
            covariances[~reached] = unless_empty.covariances[~reached]
        return Ellipsoids(self.origin, centroids.offsets, covariances)

    def _shrunk(self, found: Doubles, n_rows: Doubles) -> Doubles:
        d = found.shape[-1]
        share: Any = self.shrinkage
        if isinstance(share, str):
            share = (d + 1) / (d + 1 + n_rows)
        share = np.broadcast_to(share, len(found))[:, None, None]
        found = _clipped(found, self._ball)
        return np.asarray((1 - share) * found + share * _sizes(found)[:, None, None] * np.eye(d))

    @cached_property
    def _unit(self) -> float:
        """Weights below one on average count in units of their mean."""
        return min(1.0, float(self.rows.total_weight) / self.rows.n_rows)

    @property
    def _ball(self) -> float:
        """The mean variance of a feature, where nothing else is known."""
        return self.total_variance / len(self.origin) or 1.0

    @cached_property
    def round(self) -> Euclidean:
        """The same rows, for prototypes without covariances."""
        return Euclidean(self.rows)

    @cached_property
    def rigid(self) -> "Ellipsoidal":
        """The same rows, for prototypes whose covariances do not change."""
        return Ellipsoidal(self.rows, shrinkage=self.shrinkage, adapts=False)

    def over(self, rows: Rows) -> "Ellipsoidal":
        return Ellipsoidal(rows, shrinkage=self.shrinkage, adapts=self.adapts)

    def at(self, points: Floats) -> Ellipsoids:
        """Round prototypes: the first distances are those of the input space."""
        start = super().at(points)
        balls = np.tile(self._ball * np.eye(points.shape[1]), (len(points), 1, 1))
        return Ellipsoids(start.origin, start.offsets, balls)

    @property
    def how(self) -> str:
        return (
            f"each iteration is one sweep over {self.rows.n_rows:,} rows x "
            f"{self.rows.n_features} features, with a covariance for each cluster."
        )


def _sizes(covariances: Doubles) -> Doubles:
    """The factor of each covariance that makes its determinant one."""
    return np.asarray(np.exp(np.linalg.slogdet(covariances)[1] / covariances.shape[-1]))


def _roots(matrices: Doubles) -> Doubles:
    """The symmetric square root of each matrix."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.sqrt(values)[:, None, :]) @ vectors.transpose(0, 2, 1))


def _clipped(matrices: Doubles, otherwise: float) -> Doubles:
    """No ellipsoid is flatter than a ten-thousandth of its length."""
    values, vectors = np.linalg.eigh(matrices)
    largest = np.where(values[:, -1:] > 0, values[:, -1:], otherwise)
    values = np.maximum(values, _FLATTEST * largest)
    return np.asarray((vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1))
