"""Prototypes in kernel-induced spaces: weighted means of mapped rows, and their distances."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality._cached import cached_property
from typicality._tensors import resident
from typicality._threads import over_blocks
from typicality._typing import Doubles, Floats, Places
from typicality.membership.base import MembershipRule, labels
from typicality.operators import Columns, Expansion, Operator, compressed

BLOCK_ROWS = 2**17  # of work over threads: longer than what Python does between the arrays


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
    energy: Annotated[Doubles, "c"]
    dtype: np.dtype[Any]
    source: Annotated[Any, tuple[Columns, Annotated[Floats, "n c"]] | None] = None

    @property
    def n_clusters(self) -> int:
        return len(self.energy)

    def compress(self, rtol: float) -> Self:
        """The same but for `rtol` in the sums, without most of the training rows."""
        if self.source is not None:
            return replace(self, sums=compressed(*self.source, rtol=rtol), source=None)
        if rtol < self.sums.rtol:
            raise ValueError(
                "This model is already compressed: its sums are accurate to "
                f"{self.sums.rtol:.1e}, not to rtol={rtol:g}. Compress the full model."
            )
        return self

    def sqdist(self, X: Floats) -> Floats:
        return self.exact_sqdist(X).astype(self.dtype)

    def exact_sqdist(self, X: Floats) -> Doubles:
        """Squared distances that are not rounded to the type of the data."""
        return sqdist_from_products(self.sums.complement_at(X), self.energy)

    def memberships(self, rule: MembershipRule, X: Floats) -> Floats:
        return np.asarray(rule.memberships(self.exact_sqdist(X)).astype(self.dtype))

    def labels(self, rule: MembershipRule, X: Floats) -> NDArray[np.int32]:
        return np.asarray(labels(rule, self.exact_sqdist(X)).astype(np.int32))

    def labels_and_memberships(
        self, rule: MembershipRule, X: Floats
    ) -> tuple[NDArray[np.int32], Floats]:
        sqdist = self.exact_sqdist(X)
        memberships: Floats = rule.memberships(sqdist).astype(self.dtype)
        return labels(rule, sqdist).astype(np.int32), memberships

    def objective(
        self, rule: MembershipRule, X: Floats, sample_weight: Floats | None = None
    ) -> float:
        sqdist = self.exact_sqdist(X)
        values = rule.objective(rule.memberships(sqdist), sqdist)
        return float(values.sum() if sample_weight is None else values @ sample_weight)


class ByExpansion(ABC):
    """Prototypes that answer for any rows by their expansion."""

    @property
    @abstractmethod
    def _expanded(self) -> ExpandedPrototypes: ...

    def sqdist(self, X: Floats) -> Floats:
        return self._expanded.sqdist(X)

    def memberships(self, rule: MembershipRule, X: Floats) -> Floats:
        return self._expanded.memberships(rule, X)

    def labels(self, rule: MembershipRule, X: Floats) -> NDArray[np.int32]:
        return self._expanded.labels(rule, X)

    def labels_and_memberships(
        self, rule: MembershipRule, X: Floats
    ) -> tuple[NDArray[np.int32], Floats]:
        return self._expanded.labels_and_memberships(rule, X)

    def objective(
        self, rule: MembershipRule, X: Floats, sample_weight: Floats | None = None
    ) -> float:
        return self._expanded.objective(rule, X, sample_weight)


@dataclass(frozen=True, eq=False)
class KernelPrototypes(ByExpansion):
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
    weights: Annotated[Doubles, "n c"]
    cross: Annotated[Doubles, "c c"]
    dtype: Any
    products: Annotated[Doubles, "n c"]

    @property
    def n_clusters(self) -> int:
        return int(self.weights.shape[1])

    @property
    def energy(self) -> Doubles:
        r"""The mean squared distance of the weighted rows to each prototype, w' E w."""
        return np.diagonal(self.cross)

    @property
    def training_sqdist(self) -> Doubles:
        """Squared distances of the training rows, from products that are there already."""
        sqdist = np.empty_like(self.products)

        def fill(rows: slice) -> None:
            sqdist[rows] = self.sqdist_of_training(rows)

        over_blocks(fill, len(sqdist), BLOCK_ROWS)
        return sqdist

    def sqdist_of_training(self, rows: slice) -> Doubles:
        """The same for some of the rows."""
        return sqdist_from_products(self.products[rows], self.energy)

    def take(self, order: Places) -> Self:
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

    def _with(self, weights: Doubles, products: Doubles) -> Self:
        cross = np.einsum("hk,hl->kl", weights, products)
        return replace(self, weights=weights, cross=cross, products=products)

    def change_from(self, before: Self) -> float:
        """How much the weights changed, in total; the most of all prototypes."""
        there, there_before = resident(self.weights), resident(before.weights)
        if there is not None and there_before is not None:
            return float((there - there_before).abs().sum(dim=0).max())

        def change(rows: slice) -> Any:
            return np.abs(self.weights[rows] - before.weights[rows]).sum(axis=0)

        return float(np.sum(over_blocks(change, len(self.weights), BLOCK_ROWS), axis=0).max())

    def mutual_sqdist(self) -> Doubles:
        sqdist: Doubles = 2.0 * self.cross - self.energy - self.energy[:, None]
        np.fill_diagonal(sqdist, 0.0)
        return sqdist.clip(min=0.0)

    def for_prediction(self, *, rtol: float | None = None) -> ExpandedPrototypes:
        """The same without what only the training rows need; with a finer promise, if asked for."""
        if rtol is None:
            return self._expanded
        return self._with_sums(self.operator.expansion(self.weights, rtol=rtol))

    @cached_property
    def _expanded(self) -> ExpandedPrototypes:
        return self._with_sums(self.operator.expansion(self.weights))

    def _with_sums(self, sums: Expansion) -> ExpandedPrototypes:
        source = self.operator.columns, self.weights
        return ExpandedPrototypes(sums, self.energy.copy(), self.dtype, source)


def sqdist_from_products(products: Floats, energy: Floats) -> Doubles:
    """Squared distances from `E @ W` and `w' E w`.

    Negative ones can only be rounding, or a kernel that is no scalar product: they become zero.
    """
    return (2.0 * products - energy).clip(min=0.0)
