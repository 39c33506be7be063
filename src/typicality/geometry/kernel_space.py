"""Kernel-induced spaces: prototypes are weighted means of mapped rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._cached import cached_property
from typicality._quantiles import weighted_quantile
from typicality._threads import over_blocks
from typicality._typing import Doubles, Floats, Places
from typicality.geometry.base import (
    TOWARDS_THE_MEAN,
    LabelledSweep,
    Members,
    Outcome,
    Subsample,
    Sweep,
    Tally,
    relative_move,
)
from typicality.geometry.gaps import KernelGaps
from typicality.geometry.kernel_prototypes import BLOCK_ROWS, KernelPrototypes, sqdist_from_products
from typicality.geometry.rows import far_rows
from typicality.kernels import Kernel
from typicality.membership.base import MembershipRule, labels
from typicality.membership.hard import Hard
from typicality.membership.possibilistic import WithTails
from typicality.operators import EXACT, Columns, KernelColumns, Tolerance, choose_operator
from typicality.rows import DistinctRows, count_distinct_rows

_LARGEST_START = 1024  # distinct rows a start looks at
_ABOUT = 2.0  # the factor by which a sample may be wrong
_EVERY_ROW = slice(None)
_SPECTRUM_ROWS = 512  # rows whose eigenvalues stand for those of all
_MEDIAN_ROWS = 2**17


@dataclass(frozen=True, eq=False)
class KernelCandidates:
    """Distinct rows that prototypes can start at, with their distances in the induced space.

    Parameters
    ----------
    index : array of shape (s,)
        Where they stand among the rows.
    weight : array of shape (s,)
        The weight of all copies of each.
    half_sqdist : array of shape (s, s)
        Half their mutual squared distances.
    """

    index: Places
    weight: Doubles
    half_sqdist: Floats

    def sqdist_to(self, number: int) -> Doubles:
        return 2.0 * self.half_sqdist[:, number].clip(min=0.0)

    def sqdist_to_mean(self) -> Doubles:
        return np.asarray(np.einsum("ij,j->i", self.half_sqdist, self.weight))


class KernelSpace:
    r"""The space a kernel induces: prototypes are weighted means of mapped rows.

    With weights :math:`w_{hk}` that sum to one in each cluster and
    :math:`E_{hr} = \tfrac12 \lVert \Phi(x_h) - \Phi(x_r) \rVert^2`,

    .. math:: v_k = \sum_h w_{hk} \Phi(x_h), \qquad
        d_{hk} = \lVert \Phi(x_h) - v_k \rVert^2 = 2 (E w_k)_h - w_k^\top E w_k.

    Implements :cite:`filippone2010`, eq. (12)-(16); :cite:`miyamoto2003`, eq. (7)-(8), (12)-(13).
    Differs from the papers: distances are written with E instead of K, which is the same and keeps
    all digits for wide kernels. A step is one product `E @ W`, computed by an operator.

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
        self.X = X
        self.sample_weight = sample_weight
        self.tolerance = tolerance
        self.operator = choose_operator(self.columns, X, tolerance, device=device)
        limit = tolerance.share * self.total_variance
        if 0 < _ABOUT * limit < self.operator.rtol:  # a sample, or an operator, took it for larger
            finer = tolerance.within(limit)
            self.operator = choose_operator(self.columns, X, finer, device=device)
            del self.mean, self.total_variance

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.X.dtype

    @property
    def total_weight(self) -> float:
        return float(self._row_weight.sum())

    @cached_property
    def _row_weight(self) -> Doubles:
        if self.sample_weight is None:
            return np.broadcast_to(1.0, len(self.X))  # takes no memory
        return self.sample_weight.astype(np.float64)

    def middle(self) -> KernelPrototypes:
        return self.mean

    @cached_property
    def mean(self) -> KernelPrototypes:
        """The mean of all mapped rows, as a single prototype."""
        return self._expanded((self._row_weight / self._row_weight.sum())[:, None])

    @cached_property
    def total_variance(self) -> float:
        """The mean squared distance of the mapped rows to their mean."""
        mean = self.mean

        def of_block(rows: slice) -> float:
            return float(mean.weights[rows, 0] @ mean.sqdist_of_training(rows)[:, 0])

        return sum(over_blocks(of_block, len(self.X), BLOCK_ROWS))

    @property
    def typical(self) -> "KernelSpace":
        return self._typical or self

    @cached_property
    def _typical(self) -> "KernelSpace | None":
        """The space of the typical rows, if there are others; on a sphere no row is far."""
        if self.columns.on_sphere:
            return None
        few = self._sample
        near = [weighted_quantile(few.sqdist_to(i), 0.5, few.weight) for i in range(len(few.index))]

        def company(rows: Places) -> tuple[Doubles, Doubles]:
            sqdist = 2.0 * self.columns.half_sqdist(self.X[rows])[:, few.index]
            return sqdist.astype(np.float64), few.weight

        centre = few.index[[int(np.argmin(near))]]
        sqdist = 2.0 * self.columns.half_sqdist(self.X[centre])[0].astype(np.float64)
        far = far_rows(sqdist, self.sample_weight, company)
        if far is None:
            return None
        typical = KernelSpace.__new__(KernelSpace)
        shared = ("columns", "X", "tolerance", "operator")
        vars(typical).update({name: getattr(self, name) for name in shared})
        typical.sample_weight = np.where(far, 0.0, self._row_weight).astype(self.X.dtype)
        typical._typical = None
        return typical

    @property
    def share_of_sphere(self) -> float:
        """The variance relative to that of rows at right angles, where rows lie on a sphere."""
        return self.total_variance / self._sqradius

    @cached_property
    def neighbours(self) -> float:
        """The median number of other rows a row is similar to, where rows lie on a sphere.

        Of every k-th row, where there are very many.
        """
        unweighted = self.sample_weight is None
        counted = np.arange(len(self.X)) if unweighted else np.flatnonzero(self._row_weight)
        some = counted[:: max(1, len(counted) // _MEDIAN_ROWS)]
        similar = 1.0 - self.mean.products[some, 0] / self._sqradius
        return float(np.median(similar / self.mean.weights[some, 0])) - 1.0

    @cached_property
    def _sqradius(self) -> float:
        return float(self.columns.sqnorm(self.X[:1])[0])

    @cached_property
    def _sample(self) -> KernelCandidates:
        return self._candidates(_SPECTRUM_ROWS)

    @cached_property
    def _spectrum(self) -> Doubles:
        """Eigenvalues of the covariance in the induced space, of a sample of distinct rows."""
        return _second_moments(self._sample, normalised=False)

    @property
    def dimension(self) -> float:
        """The effective dimension of the mapped rows, (sum of variances)^2 / sum of squares."""
        variances = self._spectrum.clip(min=0.0)
        return float(variances.sum() ** 2 / (variances**2).sum()) if variances.any() else 1.0

    @cached_property
    def n_distinct_rows(self) -> int:
        return count_distinct_rows(self.X, self.sample_weight)

    @cached_property
    def _largest_of_directions(self) -> float:
        return float(_second_moments(self._sample, normalised=True)[-1])

    def largest_moment(self, *, normalised: bool) -> float:
        return self._largest_of_directions if normalised else float(self._spectrum[-1])

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

    def some_sqdist(self, prototypes: KernelPrototypes) -> Doubles:
        """Squared distances of all rows to the prototypes; elsewhere those of a sample."""
        return prototypes.training_sqdist

    def n_clipped(self, prototypes: KernelPrototypes) -> int:
        """How many squared distances to the prototypes came out negative, beyond rounding."""
        products, energy = prototypes.products, prototypes.energy

        def extremes(rows: slice) -> tuple[float, float]:
            sqdist = 2.0 * products[rows] - energy
            return float(sqdist.min()), float(sqdist.max())

        least, most = np.array(over_blocks(extremes, len(products), BLOCK_ROWS)).T
        limit = -1e-9 * max(-least.min(), most.max(), self.total_variance)
        if least.min() >= limit:
            return 0
        return int(np.sum(2.0 * products - energy < limit))

    @property
    def how(self) -> str:
        return self.operator.how

    def candidates(self, n_clusters: int) -> KernelCandidates:
        return self._candidates(max(_LARGEST_START, 4 * n_clusters))

    def _candidates(self, at_most: int) -> KernelCandidates:
        if isinstance(self.columns, KernelColumns):
            data = DistinctRows.of(self.X, self.sample_weight, at_most=at_most)
            index, weight = data.index, data.weight
        else:  # the values of a row follow the order of the training rows: go by its place instead
            data = DistinctRows.of(self.X, self.sample_weight)
            order = np.argsort(self.mean.products[data.index, 0], kind="stable")
            every = np.linspace(0, len(order) - 1, min(at_most, len(order))).astype(np.intp)
            index, weight = data.index[order[every]], data.weight[order[every]]
        return KernelCandidates(index, weight, self.columns.half_sqdist_among(self.X[index], index))

    def at(self, points: Floats) -> KernelPrototypes:
        """The means of the rows nearest to each point; of the nearest row, where it has none."""
        if not isinstance(self.columns, KernelColumns):
            raise TypeError("points have coordinates, the rows of this space have none")
        distances = KernelColumns(self.columns.kernel_function, points).half_sqdist(self.X)
        distances[self._row_weight == 0] = np.inf
        weights = Hard().memberships(distances)
        empty = np.flatnonzero((weights * self._row_weight[:, None]).sum(axis=0) == 0)
        weights[distances[:, empty].argmin(axis=0), empty] = 1.0
        return self.prototypes(weights)

    def near_rows(self, index: Places, *, share: float = TOWARDS_THE_MEAN) -> KernelPrototypes:
        mean = (self._row_weight / self._row_weight.sum())[:, None]
        weights = np.tile(share * mean, (1, len(index)))
        weights[index, np.arange(len(index))] += 1.0 - share
        return self._expanded(weights)

    def prototypes(self, weights: Floats) -> KernelPrototypes:
        weighted = weights * self._row_weight[:, None]
        return self._expanded(weighted / weighted.sum(axis=0))

    def _expanded(self, weights: Doubles) -> KernelPrototypes:
        """Prototypes by their weights, with their products: the one costly line of a step."""
        products = np.asarray(self.operator.complement(weights), dtype=np.float64)

        def of_block(rows: slice) -> Doubles:
            return np.asarray(np.einsum("hk,hl->kl", weights[rows], products[rows]))

        cross = np.sum(over_blocks(of_block, len(weights), BLOCK_ROWS), axis=0)
        return KernelPrototypes(self.operator, weights, cross, self.X.dtype, products)

    def memberships(self, rule: MembershipRule, prototypes: KernelPrototypes) -> Floats:
        out = np.empty(prototypes.products.shape, self.X.dtype)

        def fill(rows: slice) -> None:
            out[rows] = rule.memberships(prototypes.sqdist_of_training(rows))

        over_blocks(fill, len(out), BLOCK_ROWS)
        return out

    def labels(self, rule: MembershipRule, prototypes: KernelPrototypes) -> NDArray[np.int32]:
        return self._labels(rule, prototypes, prototypes.training_sqdist)

    def _labels(
        self, rule: MembershipRule, prototypes: KernelPrototypes, sqdist: Doubles
    ) -> NDArray[np.int32]:
        if self.operator.rtol > 0:  # what new rows get, to the last bit
            return prototypes.labels(rule, self.X)
        return np.asarray(labels(rule, sqdist), dtype=np.int32)

    def largest_membership(self, rule: MembershipRule, prototypes: KernelPrototypes) -> float:
        taking_part = self._row_weight > 0
        return float(self.memberships(rule, prototypes)[taking_part].max())

    def outcome(
        self, rule: MembershipRule, prototypes: KernelPrototypes, *, memberships: bool = True
    ) -> Outcome:
        sqdist = prototypes.training_sqdist
        degrees = rule.memberships(sqdist)
        kept = np.asarray(degrees, dtype=self.X.dtype) if memberships else None
        objective, mass = self._objective_and_mass(rule, sqdist, degrees)
        preferred = self._labels(rule, prototypes, sqdist)
        tally = Tally.of(preferred, self.sample_weight, prototypes.n_clusters)
        return Outcome(preferred, kept, objective, mass, tally)

    def tally(self, rule: MembershipRule, prototypes: KernelPrototypes) -> Tally:
        preferred = self.labels(rule, prototypes)
        return Tally.of(preferred, self.sample_weight, prototypes.n_clusters)

    def objective_and_mass(
        self, rule: MembershipRule, prototypes: KernelPrototypes
    ) -> tuple[float, Doubles]:
        def of_block(rows: slice) -> tuple[float, Doubles]:
            sqdist = prototypes.sqdist_of_training(rows)
            return self._objective_and_mass(rule, sqdist, rule.memberships(sqdist), rows)

        parts = over_blocks(of_block, len(self.X), BLOCK_ROWS)
        return sum(part[0] for part in parts), np.sum([part[1] for part in parts], axis=0)

    def _objective_and_mass(
        self, rule: MembershipRule, sqdist: Doubles, memberships: Floats, rows: slice = _EVERY_ROW
    ) -> tuple[float, Doubles]:
        row_weight = self._row_weight[rows]
        objective = rule.objective(memberships, sqdist)
        mass = np.einsum("h,hk->k", row_weight, rule.weights(memberships))
        return float(row_weight @ objective), mass

    def sweep(self, rule: MembershipRule, prototypes: KernelPrototypes) -> Sweep[KernelPrototypes]:
        return Sweep(**self._step(rule, prototypes))

    def labelled_sweep(
        self, rule: MembershipRule, prototypes: KernelPrototypes
    ) -> LabelledSweep[KernelPrototypes]:
        """Two products, one for the next prototypes and one for the means of the labels."""
        preferred = labels(rule, prototypes.training_sqdist)
        members = self._members(preferred, prototypes.n_clusters)
        return LabelledSweep(**self._step(rule, prototypes), members=members)

    def _step(self, rule: MembershipRule, prototypes: KernelPrototypes) -> dict[str, Any]:
        """The fields of a sweep."""
        objective, mass = self.objective_and_mass(rule, prototypes)
        following = self._expanded(self._next_weights(rule, prototypes))
        moves = self._moves(prototypes, following)
        return {
            "prototypes": following,
            "objective": objective,
            "mass": mass,
            "within_sqdist": following.energy.clip(min=0.0),
            "relative_move": relative_move(moves, self.typical.total_variance),
        }

    def _moves(self, before: KernelPrototypes, after: KernelPrototypes) -> Doubles:
        """Squared moves of prototypes, to full precision however small: -delta' E delta."""

        def of_block(rows: slice) -> Doubles:
            change = after.weights[rows] - before.weights[rows]
            shift = after.products[rows] - before.products[rows]
            return np.asarray(np.einsum("hk,hk->k", change, shift))

        moves = -np.sum(over_blocks(of_block, len(before.weights), BLOCK_ROWS), axis=0)
        return np.asarray(moves.clip(min=0.0))

    def _members(self, preferred: Places, n_clusters: int) -> Members[KernelPrototypes]:
        belongs = (preferred[:, None] == np.arange(n_clusters)) * self._row_weight[:, None]
        mass = belongs.sum(axis=0)
        weights = belongs / np.where(mass > 0, mass, 1.0)
        means = self._expanded(weights)
        distance = np.einsum("hk,hk->k", weights, np.sqrt(means.training_sqdist))
        return Members(mass, means, distance, means.energy.clip(min=0.0))

    def gaps(self) -> KernelGaps:
        distinct = DistinctRows.of(self.X, self.sample_weight, at_most=len(self.X))
        return KernelGaps(self.columns, self.X, distinct.index)

    def subsample(self, at_most: int) -> Subsample[KernelPrototypes] | None:
        if not isinstance(self.columns, KernelColumns) or len(self.X) <= at_most:
            return None
        few = DistinctRows.of(self.X, self.sample_weight, at_most=at_most)
        sample = KernelSpace(
            self.columns.kernel_function, few.rows, few.weight.astype(self.X.dtype)
        )
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

    def _pull(self, rule: MembershipRule, sqdist: Doubles, rows: slice = _EVERY_ROW) -> Doubles:
        """The pull of rows on each prototype; rows of no weight have none."""
        if self.sample_weight is None:
            return np.asarray(rule.pull(sqdist), dtype=np.float64)
        row_weight = self._row_weight[rows]
        taking_part = row_weight > 0
        pull = np.zeros_like(sqdist)
        pull[taking_part] = rule.pull(sqdist[taking_part])
        return pull * row_weight[:, None]

    def _next_weights(self, rule: MembershipRule, prototypes: KernelPrototypes) -> Doubles:
        n_rows = len(self.X)
        if isinstance(rule, WithTails) and n_rows > BLOCK_ROWS and self.sample_weight is None:
            pull, total = self._pull_by_blocks(rule, prototypes)
        else:
            pull = self._pull(rule, prototypes.training_sqdist)
            total = pull.sum(axis=0)
        reached = total > 0
        divisor = np.where(reached, total, 1.0)

        def divide(rows: slice) -> None:
            pull[rows] /= divisor

        over_blocks(divide, n_rows, BLOCK_ROWS)
        pull[:, ~reached] = prototypes.weights[:, ~reached]  # what pulls no row stays where it is
        return pull

    def _pull_by_blocks(
        self, rule: WithTails, prototypes: KernelPrototypes
    ) -> tuple[Doubles, Doubles]:
        """The pull of all rows, and its sums; a block at a time stays in the cache."""
        n_rows, products = len(self.X), prototypes.products
        least = over_blocks(lambda rows: products[rows].min(axis=0), n_rows, BLOCK_ROWS)
        nearest = sqdist_from_products(np.min(least, axis=0), prototypes.energy)
        pull = np.empty(products.shape)

        def fill(rows: slice) -> Doubles:
            # Pull is relative to the nearest row: with its distance on top, to that of all rows.
            sqdist = np.vstack([nearest, prototypes.sqdist_of_training(rows)])
            pull[rows] = rule.pull(sqdist)[1:]
            return np.asarray(pull[rows].sum(axis=0))

        return pull, np.sum(over_blocks(fill, n_rows, BLOCK_ROWS), axis=0)


def _second_moments(sample: KernelCandidates, *, normalised: bool) -> Doubles:
    """Eigenvalues, in rising order, of the covariance in the induced space; normalised, of the
    directions from the mean alone. They are those of the centred Gram matrix of the sample.
    """
    share = sample.weight / sample.weight.sum()
    to_mean = sample.half_sqdist @ share
    energy = share @ to_mean
    gram = to_mean[:, None] + to_mean - energy - sample.half_sqdist
    scale = np.sqrt(share)
    if normalised:
        sqnorm = np.diagonal(gram)
        scale = np.where(sqnorm > 0, scale / np.sqrt(np.where(sqnorm > 0, sqnorm, 1.0)), 0.0)
    return np.linalg.eigvalsh(gram * scale * scale[:, None])
