"""Prototypes in a kernel-induced space: weights on the training rows."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Floats
from typicality.membership.base import MembershipRule, labels
from typicality.operators import Blocked, Columns

__all__ = ["KernelPrototypes"]


@dataclass(frozen=True, eq=False)
class KernelPrototypes:
    r"""Weighted means of mapped training rows, known by their weights.

    .. math:: \lVert \Phi(x) - v_k \rVert^2 = 2 \sum_r w_{rk} E(x, x_r) - w_k^\top E w_k

    for any row, old or new.

    Implements :cite:`filippone2010`, eq. (28); :cite:`miyamoto2003`, eq. (11) and (15).

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    weights : array of shape (n, c)
        The weights; each column sums to one.
    cross : array of shape (c, c)
        :math:`w_k^\top E w_l`.
    dtype : dtype
        The type of the data, and of what is given back.
    products : array of shape (n, c), optional
        :math:`E w_k`, on the training rows; None where only new rows are asked for.
    """

    columns: Columns
    weights: NDArray[np.float64]
    cross: NDArray[np.float64]
    dtype: Any
    products: Any = None

    @property
    def n_clusters(self) -> int:
        return int(self.weights.shape[1])

    @property
    def energy(self) -> NDArray[np.float64]:
        r"""The mean squared distance of the weighted rows to each prototype, w' E w."""
        return np.diagonal(self.cross)

    def take(self, order: NDArray[np.intp]) -> Self:
        return replace(
            self,
            weights=self.weights[:, order],
            cross=self.cross[np.ix_(order, order)],
            products=None if self.products is None else self.products[:, order],
        )

    def join(self, other: Self) -> Self:
        weights = np.hstack([self.weights, other.weights])
        products = np.hstack([self.products, other.products])
        cross = np.einsum("hk,hl->kl", weights, products)
        return replace(self, weights=weights, cross=cross, products=products)

    def blend(self, other: Self, share: float) -> Self:
        weights = self.weights + share * (other.weights - self.weights)
        products = self.products + share * (other.products - self.products)
        cross = np.einsum("hk,hl->kl", weights, products)
        return replace(self, weights=weights, cross=cross, products=products)

    def for_prediction(self) -> Self:
        return replace(self, products=None)

    def mutual_sqdist(self) -> NDArray[np.float64]:
        sqdist: NDArray[np.float64] = 2.0 * self.cross - self.energy - self.energy[:, None]
        np.fill_diagonal(sqdist, 0.0)
        return sqdist.clip(min=0.0)

    def sqdist(self, X: Floats) -> Floats:
        return self._sqdist(X).astype(self.dtype)

    def _sqdist(self, X: Floats) -> NDArray[np.float64]:
        return sqdist_from_products(Blocked(self.columns, X).complement(self.weights), self.energy)

    def memberships(self, rule: MembershipRule, X: Floats) -> Floats:
        memberships: Floats = rule.memberships(self._sqdist(X)).astype(self.dtype)
        return memberships

    def labels(self, rule: MembershipRule, X: Floats) -> NDArray[np.int32]:
        preferred: NDArray[np.int32] = labels(rule, self._sqdist(X)).astype(np.int32)
        return preferred

    def objective(
        self, rule: MembershipRule, X: Floats, sample_weight: Floats | None = None
    ) -> float:
        sqdist = self._sqdist(X)
        values = rule.objective(rule.memberships(sqdist), sqdist)
        return float(values.sum() if sample_weight is None else values @ sample_weight)


def sqdist_from_products(products: Floats, energy: Floats) -> NDArray[np.float64]:
    """Squared distances from `E @ W` and `w' E w`.

    Negative ones can only be rounding, or a kernel that is no scalar product: they become zero.
    """
    sqdist: NDArray[np.float64] = (2.0 * products - energy).clip(min=0.0)
    return sqdist
