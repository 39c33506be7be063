"""Kernel-induced spaces: prototypes are weighted means of mapped rows in memory."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Self

import numpy as np

from typicality._cached import cached_property
from typicality._tensors import array_of, is_tensor, tensor_of
from typicality._typing import Doubles, Floats, Places
from typicality.kernels import Kernel
from typicality.membership.base import MembershipRule, like, namespace
from typicality.membership.hard import Hard
from typicality.membership.possibilistic import WithTails
from typicality.rows import ArrayRows, Block, DistinctRows, TensorRows, rows_in_memory
from typicality.rows.quantiles import unit_of_weight, weighted_quantile
from typicality.spaces.base import (
    TOWARDS_THE_MEAN,
    Outcome,
    Predictor,
    Prototypes,
    Space,
    Subsample,
    Tally,
    is_reached,
    rows_of,
)
from typicality.spaces.far import FarRows, reach_of
from typicality.spaces.sample import SAMPLE_ROWS, Sample
from typicality.sums import (
    EXACT,
    Columns,
    Expansion,
    KernelColumns,
    Operator,
    Tolerance,
    choose_operator,
    compressed,
)

_ABOUT = 2.0  # the factor by which a sample may be wrong
_MEDIAN_ROWS = 2**17
_BLOCK_ROWS = 2**16  # a block is arithmetic with columns: longer than what Python does in between


@dataclass(frozen=True, eq=False)
class ExpandedPrototypes(Predictor):
    r"""Prototypes as prediction needs them: the sums that lead to distances, for any row.

    .. math:: \lVert \Phi(x) - v_k \rVert^2 = 2 \sum_r w_{rk} E(x, x_r) - w_k^\top E w_k

    Implements :cite:`filippone2010`, eq. (28); :cite:`miyamoto2003`, eq. (11) and (15).

    Parameters
    ----------
    sums : Expansion
        :math:`\sum_r w_{rk} E(x, x_r)` for any x, by an operator.
    energy : array of shape (c,)
        :math:`w_k^\top E w_k`.
    source : pair of KernelColumns and array of shape (n, c), optional
        The training rows and the weights, of which a smaller model can be made.
    """

    sums: Expansion
    energy: Annotated[Doubles, "c"]
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

    def sqdist(self, X: Any) -> Doubles:
        return np.asarray(sqdist_of_products(self.sums.at(X, complement=True), self.energy))


def sqdist_of_products(products: Any, energy: Doubles) -> Any:
    """Squared distances from `E @ W` and `w' E w`.

    Negative ones can only be rounding, or a kernel that is no scalar product: they become zero.
    """
    return (2.0 * products - like(energy.copy(), products)).clip(min=0.0)


@dataclass(frozen=True, eq=False)
class KernelPrototypes(Prototypes):
    r"""Weighted means of mapped training rows, known by their weights.

    Parameters
    ----------
    operator : Operator
        Products with the kernel matrix of the training rows.
    weights, products : arrays of shape (n, c), or tensors where sums are computed on a device
        The weights, each column of which sums to one, and :math:`E w_k` on the training rows.
    """

    operator: Operator
    weights: Any
    products: Any

    @property
    def n_clusters(self) -> int:
        return int(self.weights.shape[1])

    @cached_property
    def cross(self) -> Doubles:
        r""":math:`w_k^\top E w_l`, shape (c, c)."""
        return array_of(self.weights.T @ self.products)

    @property
    def energy(self) -> Doubles:
        r"""The mean squared distance of the weighted rows to each prototype, w' E w."""
        return np.diagonal(self.cross)

    @property
    def training_sqdist(self) -> Any:
        """Squared distances of the training rows, from products that are there already."""
        return sqdist_of_products(self.products, self.energy)

    def sqdist_to(self, other: Self) -> Doubles:
        """To full precision however small they are: -delta' E delta."""
        change, shift = other.weights - self.weights, other.products - self.products
        sqdist: Doubles = array_of(-(change * shift).sum(0))
        return sqdist.clip(min=0.0)

    def take(self, order: Places) -> Self:
        return replace(self, weights=self.weights[:, order], products=self.products[:, order])

    def join(self, other: Self) -> Self:
        concat = partial(namespace(self.weights).concat, axis=1)
        weights, products = [self.weights, other.weights], [self.products, other.products]
        return replace(self, weights=concat(weights), products=concat(products))

    def blend(self, other: Self, share: float) -> Self:
        weights = self.weights + share * (other.weights - self.weights)
        products = self.products + share * (other.products - self.products)
        return replace(self, weights=weights, products=products)

    def mutual_sqdist(self) -> Doubles:
        sqdist: Doubles = 2.0 * self.cross - self.energy - self.energy[:, None]
        np.fill_diagonal(sqdist, 0.0)
        return sqdist.clip(min=0.0)

    def sqdist(self, X: Any) -> Doubles:
        return self._expanded.sqdist(X)

    def for_prediction(self, *, rtol: float | None = None) -> ExpandedPrototypes:
        """The same without what only the training rows need; with a finer promise, if asked for."""
        if rtol is None:
            return self._expanded
        return self._with_sums(self.operator.expansion(self.weights, rtol=rtol))

    @cached_property
    def _expanded(self) -> ExpandedPrototypes:
        return self._with_sums(self.operator.expansion(self.weights))

    def _with_sums(self, sums: Expansion) -> ExpandedPrototypes:
        source = self.operator.columns, array_of(self.weights)
        return ExpandedPrototypes(sums, self.energy.copy(), source)


class Gram(Space[KernelPrototypes]):
    r"""The space a kernel induces: prototypes are weighted means of mapped rows.

    With weights :math:`w_{hk}` that sum to one in each cluster and
    :math:`E_{hr} = \tfrac12 \lVert \Phi(x_h) - \Phi(x_r) \rVert^2`,

    .. math:: v_k = \sum_h w_{hk} \Phi(x_h), \qquad
        d_{hk} = \lVert \Phi(x_h) - v_k \rVert^2 = 2 (E w_k)_h - w_k^\top E w_k.

    What adds up over blocks is the weights themselves, and the means are one product `E @ W`,
    computed by an operator.

    Implements :cite:`filippone2010`, eq. (12)-(16); :cite:`miyamoto2003`, eq. (7)-(8), (12)-(13).
    Differs from the papers: distances are written with E instead of K, which is the same and keeps
    all digits for wide kernels.

    Parameters
    ----------
    kernel : Kernel or Columns
        The kernel, or its columns where the rows are not coordinates.
    X : array of shape (n, d)
        The rows.
    sample_weight : array of shape (n,), optional
        Weight k counts as k copies of the row.
    tolerance : Tolerance
        How far means of kernel values may be off; not at all, but for rounding, when left out.
    device : str, optional
        Where products are computed, as torch names it; None for NumPy and compiled code.
    """

    def __init__(
        self,
        kernel: Kernel | Columns,
        X: Floats,
        sample_weight: Floats | None = None,
        *,
        tolerance: Tolerance = EXACT,
        device: str | None = None,
    ) -> None:
        self.columns: Columns = KernelColumns(kernel, X) if isinstance(kernel, Kernel) else kernel
        self.tolerance = tolerance
        self.operator = choose_operator(self.columns, X, tolerance, device=device)
        self.rows = self._blocks_of(X, sample_weight)
        where = getattr(self.operator, "device", None)
        if hasattr(self.operator, "complement_of"):  # weights and products stay on the device
            self.rows = TensorRows(X, sample_weight, str(where))
        limit = tolerance.share * self.total_variance
        if 0 < _ABOUT * limit < self.operator.rtol:  # a sample, or an operator, took it for larger
            finer = tolerance.within(limit)
            self.operator = choose_operator(self.columns, X, finer, device=device)
            del self.mean, self.total_variance

    @staticmethod
    def _blocks_of(X: Floats, weight: Floats | None) -> ArrayRows:
        return rows_in_memory(X, weight, range(_BLOCK_ROWS, len(X), _BLOCK_ROWS))

    @property
    def X(self) -> Floats:  # noqa: N802
        rows: Any = self.rows
        return rows.given if isinstance(rows, TensorRows) else rows.X

    # ---- the space -------------------------------------------------------------------------------

    def sqdist(self, prototypes: KernelPrototypes, block: Block) -> Any:
        return sqdist_of_products(prototypes.products[rows_of(block)], prototypes.energy)

    def accumulate(self, block: Block, weights: Any) -> list[Any]:
        return [weights]

    def means(
        self, sums: list[Any], total: Doubles, unless_empty: KernelPrototypes | None = None
    ) -> KernelPrototypes:
        weights = sums[0] if len(sums) == 1 else np.concatenate(sums)
        reached = is_reached(total)
        weights = weights / like(np.where(reached, total, 1.0), weights)
        if unless_empty is not None and not reached.all():
            weights[:, ~reached] = unless_empty.weights[:, ~reached]
        return self._expanded(weights)

    def _expanded(self, weights: Any) -> KernelPrototypes:
        """Prototypes by their weights, with their products: the one costly line of a step."""
        operator: Any = self.operator
        if isinstance(self.rows, TensorRows):
            weights = weights if is_tensor(weights) else tensor_of(weights, self.rows.device)
            products = operator.complement_of(weights)
        else:
            products = np.asarray(operator.complement(weights), dtype=np.float64)
        return KernelPrototypes(operator, weights, products)

    def pull(
        self, rule: MembershipRule, prototypes: KernelPrototypes
    ) -> Callable[[Any], Any] | None:
        """Relative to the weight of the nearest row, where all weights might underflow."""
        if not isinstance(rule, WithTails):
            return None
        counted = prototypes.products
        if self.sample_weight is not None:
            counted = counted[np.flatnonzero(self.sample_weight)]
        xp = namespace(counted)
        nearest = sqdist_of_products(xp.min(counted, axis=0), prototypes.energy)[None]

        def relative(sqdist: Any) -> Any:
            # Only rows of no weight are nearer. Pull is relative to the first of the rows given.
            return rule.pull(xp.concat([nearest, xp.maximum(sqdist, nearest)], axis=0))[1:]

        return relative

    def outcome(
        self,
        rule: MembershipRule,
        prototypes: KernelPrototypes,
        *,
        labels: bool = True,
        memberships: bool = True,
    ) -> Outcome:
        by_products = labels and self.operator.rtol == 0
        found = super().outcome(rule, prototypes, labels=by_products, memberships=memberships)
        if by_products or not labels:
            return found
        preferred = prototypes.labels(rule, self.X)  # what new rows get, to the last bit
        tally = Tally.of(preferred, self.sample_weight, prototypes.n_clusters)
        return found._replace(labels=preferred, tally=tally)

    @property
    def how(self) -> str:
        return self.operator.how

    # ---- the mean and the variance ---------------------------------------------------------------

    @cached_property
    def total_variance(self) -> float:
        mean = self.mean
        return float((mean.weights * mean.training_sqdist).sum())

    @cached_property
    def _typical(self) -> "Gram | None":  # type: ignore[override]
        """The space of the typical rows, if there are others; on a sphere no row is far."""
        if self.columns.on_sphere:
            return None
        few, half_sqdist = self._spectrum_sample, self.columns.half_sqdist
        near = [weighted_quantile(few.sqdist_to(i), 0.5, few.weight) for i in range(len(few.index))]
        centre = few.index[[int(np.argmin(near))]]
        sqdist = 2.0 * half_sqdist(self.X[centre])[0].astype(np.float64)
        weight = self.sample_weight
        far = FarRows(
            reach_of(sqdist, weight),
            lambda block: sqdist,
            lambda X: 2.0 * half_sqdist(X)[:, few.index],
            few.weight,
            1.0 if weight is None else unit_of_weight(weight),
        )
        everything = Block(self.X, weight, 0)
        if not len(far.find(everything)):
            return None
        typical = copy(self)
        for name in ("mean", "total_variance", "_spectrum_sample", "_spectrum"):
            vars(typical).pop(name, None)
        typical.rows = self._blocks_of(self.X, far.weigh(everything))
        typical._typical = None
        return typical

    # ---- a sample --------------------------------------------------------------------------------

    def sample(self, at_most: int | None = SAMPLE_ROWS) -> Sample:
        at_most = len(self.X) if at_most is None else at_most
        if isinstance(self.columns, KernelColumns):
            data = DistinctRows.of(self.X, self.sample_weight, at_most=at_most)
            index, weight = data.index, data.weight
        else:  # the values of a row follow the order of the training rows: go by its place instead
            data = DistinctRows.of(self.X, self.sample_weight)
            order = np.argsort(self.mean.products[data.index, 0], kind="stable")
            every = np.linspace(0, len(order) - 1, min(at_most, len(order))).astype(np.intp)
            index, weight = data.index[order[every]], data.weight[order[every]]
        rows = self.X[index]
        return Sample(rows, index, weight, lambda: self.columns.half_sqdist_among(rows, index))

    def sqdist_of(self, prototypes: KernelPrototypes, sample: Sample) -> Doubles:
        return np.asarray(
            array_of(sqdist_of_products(prototypes.products[sample.index], prototypes.energy))
        )

    # ---- starts ----------------------------------------------------------------------------------

    def at(self, points: Floats) -> KernelPrototypes:
        """The means of the rows nearest to each point; of the nearest row, where it has none."""
        if not isinstance(self.columns, KernelColumns):
            raise TypeError("points have coordinates, the rows of this space have none")
        distances = KernelColumns(self.columns.kernel_function, points).half_sqdist(self.X)
        row_weight = self._row_weight
        distances[row_weight == 0] = np.inf
        weights = Hard().memberships(distances)
        empty = np.flatnonzero((weights * row_weight[:, None]).sum(axis=0) == 0)
        weights[distances[:, empty].argmin(axis=0), empty] = 1.0
        return self.prototypes(weights)

    def near_rows(self, index: Places, *, share: float = TOWARDS_THE_MEAN) -> KernelPrototypes:
        mean = (self._row_weight / self._row_weight.sum())[:, None]
        weights = np.tile(share * mean, (1, len(index)))
        weights[index, np.arange(len(index))] += 1.0 - share
        return self._expanded(weights)

    @property
    def _row_weight(self) -> Doubles:
        if self.sample_weight is None:
            return np.broadcast_to(1.0, len(self.X))  # takes no memory
        return self.sample_weight.astype(np.float64)

    def subsample(self, at_most: int) -> Subsample | None:
        if not isinstance(self.columns, KernelColumns) or len(self.X) <= at_most:
            return None
        few = DistinctRows.of(self.X, self.sample_weight, at_most=at_most)
        sample = Gram(self.columns.kernel_function, few.rows, few.weight.astype(self.dtype))
        own = self._row_weight[few.index]

        def to_full(prototypes: KernelPrototypes) -> KernelPrototypes:
            weights = np.zeros((len(self.X), prototypes.n_clusters))
            weights[few.index] = prototypes.weights / own[:, None]
            return self.prototypes(weights)

        def to_sample(prototypes: KernelPrototypes) -> KernelPrototypes:
            # The nearest row of the sample: all that a start needs.
            nearest = prototypes.sqdist(few.rows).argmin(axis=0)
            return sample.near_rows(nearest, share=0.0)

        return Subsample(sample, to_full, to_sample)

    # ---- what warnings ask -----------------------------------------------------------------------

    @property
    def share_of_sphere(self) -> float:
        """The variance relative to that of rows at right angles, where rows lie on a sphere."""
        return self.total_variance / self._sqradius

    @cached_property
    def neighbours(self) -> float:
        """The median number of other rows a row is similar to, where rows lie on a sphere.

        Of every k-th row, where there are very many.
        """
        counted = np.flatnonzero(self._row_weight)
        some = counted[:: max(1, len(counted) // _MEDIAN_ROWS)]
        weights, products = (array_of(a[some, 0]) for a in (self.mean.weights, self.mean.products))
        return float(np.median((1.0 - products / self._sqradius) / weights)) - 1.0

    @cached_property
    def _sqradius(self) -> float:
        return float(self.columns.sqnorm(self.X[:1])[0])

    @property
    def negative_share(self) -> float:
        """The part of the variance that is negative; above zero, the kernel is no product."""
        if self.columns.positive_semidefinite:
            return 0.0
        negative = -self._spectrum.clip(max=0.0).sum()
        return float(negative / max(np.abs(self._spectrum).sum(), np.finfo(np.float64).tiny))

    @property
    def missing_sqdist(self) -> float:
        """What all squared distances between rows lack to be those of points in some space."""
        n_rows = len(self._spectrum)
        return float(max(-2.0 * n_rows * self._spectrum[0], 0.0))

    @property
    def lost_share(self) -> float:
        """How much of the variance may be rounding, where distances are differences of kernels."""
        rounding = self.columns.distance_error
        return rounding / self.total_variance if self.total_variance > 0 else 0.0

    def n_clipped(self, prototypes: KernelPrototypes) -> int:
        """How many squared distances to the prototypes came out negative, beyond rounding."""
        sqdist = 2.0 * prototypes.products - like(prototypes.energy.copy(), prototypes.products)
        largest = max(float(abs(sqdist).max()), self.total_variance)
        return int((sqdist < -1e-9 * largest).sum())
