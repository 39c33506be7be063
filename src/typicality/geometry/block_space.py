"""Kernel-induced spaces of rows that are read block by block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats, Places
from typicality.geometry.base import (
    TOWARDS_THE_MEAN,
    Gaps,
    LabelledSweep,
    Outcome,
    OverRows,
    Subsample,
    Sweep,
    Tally,
    relative_move,
)
from typicality.geometry.kernel_prototypes import ByExpansion, ExpandedPrototypes
from typicality.geometry.kernel_space import KernelCandidates, KernelSpace
from typicality.kernels import Kernel
from typicality.membership.base import MembershipRule, labels
from typicality.membership.hard import Hard
from typicality.operators import KernelColumns, Tolerance
from typicality.operators.bases import Basis, Coefficients, choose_basis
from typicality.rows import Additive, Block, DistinctRows, Rows

_ENTRIES = 2**21  # rows x clusters at a time
_FEWEST_ROWS = 2**16  # at a time: each part of a block costs a transform of its own
_SAMPLE_ROWS = 4096
_START_ROWS = 1024
_ABOUT = 2.0  # the factor by which a sample may be wrong about the variance


@dataclass(frozen=True, eq=False)
class BlockSums(Additive):
    """What a pass over rows adds up.

    Parameters
    ----------
    sums : array of shape (c, ...)
        What the coefficients of the next prototypes follow from.
    mass : array of shape (c,)
        Sums of the weights.
    objective, change : float
        The objective, and the weighted sum of the changes of the memberships.
    tally : Tally
        How many rows prefer each prototype.
    """

    sums: Coefficients
    mass: Doubles
    objective: float
    change: float
    tally: Tally


@dataclass(frozen=True, eq=False)
class _Pass:
    """The function of a block in an iteration; all that travels to the blocks.

    Parameters
    ----------
    rule : MembershipRule
        The rule.
    prototypes : ExpandedPrototypes
        The prototypes, followed by those of the step before where memberships are compared.
    summing : callable, optional
        `summing(rows, weights)` of a basis; None where no next prototypes are needed.
    n_clusters : int
        The number of prototypes.
    rule_before : MembershipRule, optional
        The rule of the step before.
    compare : bool, default=False
        Whether memberships are compared with those of the step before, or with 1 without one.
    """

    rule: MembershipRule
    prototypes: ExpandedPrototypes
    summing: Callable[[Floats, Floats], Coefficients] | None
    n_clusters: int
    rule_before: MembershipRule | None = None
    compare: bool = False

    def __call__(self, block: Block) -> BlockSums:
        parts = [self._part(X, weight) for X, weight in _parts(block, self.n_clusters)]
        return sum(parts[1:], start=parts[0])

    def _part(self, X: Floats, weight: Doubles) -> BlockSums:
        sqdist = self.prototypes.exact_sqdist(X)
        own = sqdist[:, : self.n_clusters]
        memberships = self.rule.memberships(own)
        weights = self.rule.weights(memberships) * weight[:, None]
        change = 0.0
        if self.compare:
            before: Any = 1.0
            if self.rule_before is not None:
                before = self.rule_before.memberships(sqdist[:, self.n_clusters :])
            change = float(weight @ np.abs(memberships - before).sum(axis=1))
        return BlockSums(
            np.zeros(0) if self.summing is None else self.summing(X, weights),
            weights.sum(axis=0),
            float(weight @ self.rule.objective(memberships, own)),
            change,
            Tally.of(labels(self.rule, own).astype(np.int32), weight, self.n_clusters),
        )


def _parts(block: Block, n_columns: int) -> Iterator[tuple[Floats, Doubles]]:
    """The rows of a block and their weights, so many that their distances fit into memory."""
    step = max(_FEWEST_ROWS, _ENTRIES // n_columns)
    for start in range(0, len(block.X), step):
        X = block.X[start : start + step]
        if block.weight is None:
            yield X, np.ones(len(X))
        else:
            yield X, block.weight[start : start + step].astype(np.float64)


@dataclass(frozen=True, eq=False)
class BlockPrototypes(ByExpansion):
    """Weighted means of mapped rows, known by their coefficients in a basis.

    Parameters
    ----------
    basis : Basis
        The basis.
    coefficients : array of shape (c, ...)
        The coefficients.
    dtype : dtype
        The type of the data, and of what is given back.
    """

    basis: Basis
    coefficients: Coefficients
    dtype: Any

    @property
    def n_clusters(self) -> int:
        return len(self.coefficients)

    @cached_property
    def energy(self) -> Doubles:
        """The mean squared distance of the weighted rows to each prototype: 1 - <v, v>."""
        return 1.0 - self.basis.sqnorms(self.coefficients)

    def take(self, order: Places) -> Self:
        return replace(self, coefficients=self.coefficients[order])

    def join(self, other: Self) -> Self:
        both = np.concatenate([self.coefficients, other.coefficients])
        return replace(self, coefficients=both)

    def blend(self, other: Self, share: float) -> Self:
        moved = self.coefficients + share * (other.coefficients - self.coefficients)
        return replace(self, coefficients=moved)

    def mutual_sqdist(self) -> Doubles:
        apart = [self.basis.sqnorms(self.coefficients - one) for one in self.coefficients]
        return np.array(apart).reshape(self.n_clusters, self.n_clusters)

    def for_prediction(self) -> ExpandedPrototypes:
        return self._expanded

    @cached_property
    def _expanded(self) -> ExpandedPrototypes:
        sums = self.basis.expansion(self.coefficients)
        return ExpandedPrototypes(sums, self.energy, self.dtype)


class BlockSpace(OverRows[BlockPrototypes]):
    r"""The space that a kernel of a distance induces, of rows that are read block by block.

    Distances are those of :class:`~typicality.geometry.kernel_space.KernelSpace`. Prototypes are
    their coefficients in a finite basis of the space (`operators.bases`), which add up over blocks:
    an iteration is one fold, and nothing is kept for each row. What needs pairs of rows, such as
    starts, works on a sample of stated size.

    Parameters
    ----------
    kernel : Stationary
        The kernel.
    rows : Rows
        The rows.
    basis : Basis
        The basis.
    """

    def __init__(self, kernel: Kernel, rows: Rows, basis: Basis) -> None:
        self.kernel, self.rows, self.basis = kernel, rows, basis

    @classmethod
    def of(cls, kernel: Kernel, rows: Rows, *, rtol: float, n_columns: int = 1) -> Self:
        """The space with a basis for squared distances known to `rtol` times the variance.

        Raises
        ------
        ValueError
            There is no such basis; the message has the reasons and the remedy.
        """
        few = rows.sample(_SAMPLE_ROWS)
        columns = KernelColumns(kernel, few.rows)
        promise = Tolerance.of_distances(columns, few.weight, rtol).absolute
        promise = promise or rtol  # all rows are equal: any promise will do
        basis = choose_basis(kernel, rows, rtol=promise, n_columns=n_columns)
        space = cls(kernel, rows, basis)
        limit = rtol * space.total_variance
        if 0 < _ABOUT * limit < basis.rtol:  # the sample took the variance for larger
            basis = choose_basis(kernel, rows, rtol=limit, n_columns=n_columns)
            space = cls(kernel, rows, basis)
        return space

    @property
    def X(self) -> Floats:  # noqa: N802
        raise AttributeError("the rows are not in memory")

    @property
    def sample_weight(self) -> Floats | None:
        raise AttributeError("the rows are not in memory")

    @property
    def typical(self) -> Self:
        return self  # on a sphere no row is far

    # ---- what a sample tells ---------------------------------------------------------------------

    @cached_property
    def sample(self) -> KernelSpace:
        """The space of a sample of 4096 distinct rows, with the weight of all their copies."""
        few = self.rows.sample(_SAMPLE_ROWS)
        return KernelSpace(self.kernel, few.rows, few.weight.astype(self.dtype))

    @property
    def columns(self) -> KernelColumns:
        """The kernel against the rows of the sample."""
        return KernelColumns(self.kernel, self.sample.X)

    @property
    def dimension(self) -> float:
        return self.sample.dimension

    def largest_moment(self, *, normalised: bool) -> float:
        return self.sample.largest_moment(normalised=normalised)

    def candidates(self, n_clusters: int) -> KernelCandidates:
        few = self.rows.sample(max(_START_ROWS, 4 * n_clusters))
        half_sqdist = KernelColumns(self.kernel, few.rows).half_sqdist(few.rows)
        return KernelCandidates(few.index, few.weight, half_sqdist)

    def largest_membership(self, rule: MembershipRule, prototypes: BlockPrototypes) -> float:
        return float(prototypes.memberships(rule, self.sample.X).max())

    @property
    def negative_share(self) -> float:
        return 0.0  # such kernels are scalar products

    @property
    def lost_share(self) -> float:
        return self.columns.distance_error

    def some_sqdist(self, prototypes: BlockPrototypes) -> Doubles:
        """Squared distances of the rows of the sample to the prototypes."""
        return prototypes.for_prediction().exact_sqdist(self.sample.X)

    def n_clipped(self, prototypes: BlockPrototypes) -> int:
        return 0

    @property
    def share_of_sphere(self) -> float:
        """The variance relative to that of rows at right angles."""
        return self.total_variance

    @cached_property
    def neighbours(self) -> float:
        """The median number of other rows that a row of the sample is similar to."""
        few: DistinctRows = self.rows.sample(_SAMPLE_ROWS)
        similar = self.mean.for_prediction().sums.at(few.rows)[:, 0]
        return float(np.median(similar * self.total_weight / few.weight)) - 1.0

    # ---- prototypes ------------------------------------------------------------------------------

    def prototypes_of(self, sums: Coefficients, mass: Doubles) -> BlockPrototypes:
        """Means from weighted sums over all rows."""
        means = self.basis.coefficients(sums)
        means = means / mass.reshape(-1, *[1] * (means.ndim - 1))
        return BlockPrototypes(self.basis, means, self.dtype)

    def means(self, weights_of: Callable[[Block], Floats]) -> BlockPrototypes:
        """The means of all rows under the weights of each block, shape (n, c)."""
        return self.prototypes_of(*self._weighted_sums(weights_of))

    def _weighted_sums(self, weights_of: Callable[[Block], Floats]) -> tuple[Coefficients, Doubles]:
        summing = self.basis.summing

        def add(block: Block) -> BlockSums:
            weights = weights_of(block).astype(np.float64)
            if block.weight is not None:
                weights = weights * block.weight[:, None]
            nobody = Tally.of(np.empty(0, np.int32), None, 0)
            return BlockSums(summing(block.X, weights), weights.sum(axis=0), 0.0, 0.0, nobody)

        found = self.rows.fold(add)
        return found.sums, found.mass

    @cached_property
    def mean(self) -> BlockPrototypes:
        """The mean of all mapped rows, as a single prototype."""
        return self.means(lambda block: np.ones((len(block.X), 1)))

    @cached_property
    def total_variance(self) -> float:
        """The mean squared distance of the mapped rows to their mean."""
        return float(self.mean.energy[0]) if self.n_distinct_rows > 1 else 0.0

    def middle(self) -> BlockPrototypes:
        return self.mean

    def prototypes(self, weights: Floats) -> BlockPrototypes:
        return self.means(lambda block: weights[block.start : block.start + len(block.X)])

    def near_rows(self, index: Places, *, share: float = TOWARDS_THE_MEAN) -> BlockPrototypes:
        sums = self.basis.summing(self.rows.take(index), np.eye(len(index)))
        return self.prototypes_of(sums, np.ones(len(index))).blend(
            replace(self.mean, coefficients=np.repeat(self.mean.coefficients, len(index), axis=0)),
            share,
        )

    def at(self, points: Floats) -> BlockPrototypes:
        """The means of the rows nearest to each point; of a row of the sample, without any."""
        columns = KernelColumns(self.kernel, points)
        few = self.rows.sample(_SAMPLE_ROWS)
        sums, mass = self._weighted_sums(
            lambda block: Hard().memberships(columns.half_sqdist(block.X))
        )
        empty = np.flatnonzero(mass == 0)
        if len(empty):
            nearest = columns.half_sqdist(few.rows).argmin(axis=0)[empty]
            sums[empty] = self.basis.summing(few.rows[nearest], np.eye(len(empty)))
            mass[empty] = 1.0
        return self.prototypes_of(sums, mass)

    # ---- passes over the rows --------------------------------------------------------------------

    def sweep(self, rule: MembershipRule, prototypes: BlockPrototypes) -> Sweep[BlockPrototypes]:
        return self.compared_sweep(rule, prototypes, None, compare=False)[0]

    def compared_sweep(
        self,
        rule: MembershipRule,
        prototypes: BlockPrototypes,
        before: tuple[MembershipRule, BlockPrototypes] | None,
        *,
        compare: bool = True,
    ) -> tuple[Sweep[BlockPrototypes], float]:
        """A sweep, and how much memberships differ from those of the step before, in total.

        Without a step before, they are compared with 1.
        """
        c = prototypes.n_clusters
        both = prototypes if before is None else prototypes.join(before[1])
        rule_before = None if before is None else before[0]
        step = _Pass(rule, both.for_prediction(), self.basis.summing, c, rule_before, compare)
        found = self.rows.fold(step)
        reached = found.mass > np.finfo(np.float64).tiny
        following = self.prototypes_of(found.sums, np.where(reached, found.mass, 1.0))
        following.coefficients[~reached] = prototypes.coefficients[~reached]  # it stays
        moves = self.basis.sqnorms(following.coefficients - prototypes.coefficients)
        if self.total_variance == 0:  # one point: moves are rounding
            moves = np.zeros_like(moves)
        sweep = Sweep(
            prototypes=following,
            objective=found.objective,
            mass=found.mass,
            within_sqdist=following.energy.clip(min=0.0),
            relative_move=relative_move(moves, self.total_variance),
        )
        return sweep, found.change

    def outcome(
        self, rule: MembershipRule, prototypes: BlockPrototypes, *, memberships: bool = True
    ) -> Outcome:
        found = self._fold(rule, prototypes)
        return Outcome(None, None, found.objective, found.mass, found.tally)

    def tally(self, rule: MembershipRule, prototypes: BlockPrototypes) -> Tally:
        return self._fold(rule, prototypes).tally

    def objective_and_mass(
        self, rule: MembershipRule, prototypes: BlockPrototypes
    ) -> tuple[float, Doubles]:
        found = self._fold(rule, prototypes)
        return found.objective, found.mass

    def _fold(self, rule: MembershipRule, prototypes: BlockPrototypes) -> BlockSums:
        step = _Pass(rule, prototypes.for_prediction(), None, prototypes.n_clusters)
        return self.rows.fold(step)

    @property
    def how(self) -> str:
        return self.basis.how(self.rows.n_rows)

    # ---- what takes all rows ---------------------------------------------------------------------

    def labelled_sweep(
        self, rule: MembershipRule, prototypes: BlockPrototypes
    ) -> LabelledSweep[BlockPrototypes]:
        raise ValueError(_NEEDS_ROWS)

    def gaps(self) -> Gaps[BlockPrototypes]:
        raise ValueError(_NEEDS_ROWS)

    def subsample(self, at_most: int) -> Subsample[BlockPrototypes] | None:
        raise ValueError(_NEEDS_ROWS)


_NEEDS_ROWS = (
    "This estimator needs all rows in memory with a kernel. Use kernel='linear', or a sample of "
    "the rows."
)
