"""Prototypes in a kernel-induced space: weights on the training rows."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.base import Floats
from typicality.membership.base import MembershipRule, labels
from typicality.operators import Expansion, Operator, compressed


@dataclass(frozen=True, eq=False)
class ExpandedPrototypes:
    r"""Prototypes as prediction needs them: the sums that lead to distances, for any row.

    .. math:: \lVert \Phi(x) - v_k \rVert^2 = 2 \sum_r w_{rk} E(x, x_r) - w_k^\top E w_k

    Implements :cite:`filippone2010`, eq. (28); :cite:`miyamoto2003`, eq. (11) and (15).

    Parameters
    ----------
    sums : Expansion
        :math:`\sum_r w_{rk} E(x, x_r)` for any x, by an operator.
    energy : array of shape (c,)
        :math:`w_k^\top E w_k`.
    dtype : dtype
        The type of the data, and of what is given back.
    source : pair of KernelColumns and array of shape (n, c), optional
        The training rows and the weights, of which a smaller model can be made.
    """

    sums: Expansion
    energy: NDArray[np.float64]
    dtype: Any
    source: Any = None

    @property
    def n_clusters(self) -> int:
        return len(self.energy)

    def compress(self, rtol: float) -> Self:
        """The same but for `rtol` in the sums, without most of the training rows."""
        if self.source is not None:
            return replace(self, sums=compressed(*self.source, rtol=rtol), source=None)
        if rtol < self.sums.rtol:
            raise ValueError(
                f"This model is compressed already and knows its sums to {self.sums.rtol:.1e} "
                f"only, not to rtol={rtol:g}. Compress the full model."
            )
        return self

    def sqdist(self, X: Floats) -> Floats:
        return self._sqdist(X).astype(self.dtype)

    def _sqdist(self, X: Floats) -> NDArray[np.float64]:
        return sqdist_from_products(self.sums.complement_at(X), self.energy)

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


@dataclass(frozen=True, eq=False)
class KernelPrototypes:
    r"""Weighted means of mapped training rows, known by their weights.

    Parameters
    ----------
    operator : Operator
        Products with the kernel matrix of the training rows.
    weights : array of shape (n, c)
        The weights; each column sums to one.
    cross : array of shape (c, c)
        :math:`w_k^\top E w_l`.
    dtype : dtype
        The type of the data, and of what is given back.
    products : array of shape (n, c)
        :math:`E w_k`, on the training rows.
    """

    operator: Operator
    weights: NDArray[np.float64]
    cross: NDArray[np.float64]
    dtype: Any
    products: NDArray[np.float64]

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
            products=self.products[:, order],
        )

    def join(self, other: Self) -> Self:
        weights = np.hstack([self.weights, other.weights])
        products = np.hstack([self.products, other.products])
        return self._with(weights, products)

    def blend(self, other: Self, share: float) -> Self:
        weights = self.weights + share * (other.weights - self.weights)
        products = self.products + share * (other.products - self.products)
        return self._with(weights, products)

    def _with(self, weights: NDArray[np.float64], products: NDArray[np.float64]) -> Self:
        cross = np.einsum("hk,hl->kl", weights, products)
        return replace(self, weights=weights, cross=cross, products=products)

    def mutual_sqdist(self) -> NDArray[np.float64]:
        sqdist: NDArray[np.float64] = 2.0 * self.cross - self.energy - self.energy[:, None]
        np.fill_diagonal(sqdist, 0.0)
        return sqdist.clip(min=0.0)

    def for_prediction(self, *, rtol: float | None = None) -> ExpandedPrototypes:
        """The same without what only the training rows need; with a finer promise, if asked for."""
        sums = self.operator.expansion(self.weights, rtol=rtol)
        source = self.operator.columns, self.weights
        return ExpandedPrototypes(sums, self.energy.copy(), self.dtype, source)

    @cached_property
    def _expanded(self) -> ExpandedPrototypes:
        return self.for_prediction()

    def sqdist(self, X: Floats) -> Floats:
        return self._expanded.sqdist(X)

    def memberships(self, rule: MembershipRule, X: Floats) -> Floats:
        return self._expanded.memberships(rule, X)

    def labels(self, rule: MembershipRule, X: Floats) -> NDArray[np.int32]:
        return self._expanded.labels(rule, X)

    def objective(
        self, rule: MembershipRule, X: Floats, sample_weight: Floats | None = None
    ) -> float:
        return self._expanded.objective(rule, X, sample_weight)


def sqdist_from_products(products: Floats, energy: Floats) -> NDArray[np.float64]:
    """Squared distances from `E @ W` and `w' E w`.

    Negative ones can only be rounding, or a kernel that is no scalar product: they become zero.
    """
    sqdist: NDArray[np.float64] = (2.0 * products - energy).clip(min=0.0)
    return sqdist
