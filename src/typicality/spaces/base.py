"""The interface of a space, and what is written once for every space: the sweep over the rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from typicality._cached import cached_property
from typicality._sparse import as_dense
from typicality._tensors import array_of
from typicality._typing import Doubles, Floats, Places
from typicality.membership.base import MembershipRule, labels
from typicality.membership.hard import Hard
from typicality.rows import Additive, Block, Rows
from typicality.spaces.sample import SAMPLE_ROWS, Sample

TOWARDS_THE_MEAN = 0.05
_LARGEST_START = 1024  # distinct rows a start looks at
_SPECTRUM_ROWS = 512  # rows whose eigenvalues stand for those of all


class Predictor(ABC):
    """What prediction keeps of prototypes: their distances to any rows, and what follows."""

    @property
    @abstractmethod
    def n_clusters(self) -> int:
        """How many there are."""

    @abstractmethod
    def sqdist(self, X: Any) -> Any:
        """Squared distances of rows, shape (n, c), float64; never negative."""

    def judge(
        self, rule: MembershipRule, X: Any, *, memberships: bool = True
    ) -> tuple[NDArray[np.int32], Floats | None]:
        """The prototype each row prefers, and its memberships, shape (n, c), if asked for."""
        sqdist = self.sqdist(X)
        degrees = rule.memberships(sqdist) if memberships else None
        preferred = labels(rule, sqdist, degrees).astype(np.int32)
        return preferred, degrees if degrees is None else degrees.astype(X.dtype, copy=False)

    def labels(self, rule: MembershipRule, X: Any) -> NDArray[np.int32]:
        """The prototype each row prefers, shape (n,)."""
        return self.judge(rule, X, memberships=False)[0]

    def memberships(self, rule: MembershipRule, X: Any) -> Floats:
        """Memberships of the rows, shape (n, c)."""
        return self.judge(rule, X)[1]  # type: ignore[return-value]

    def objective(self, rule: MembershipRule, X: Any, sample_weight: Floats | None = None) -> float:
        """The objective of the rows with the memberships that minimise it."""
        sqdist = self.sqdist(X)
        values = rule.objective(rule.memberships(sqdist), sqdist)
        return float(values.sum() if sample_weight is None else values @ sample_weight)


class Prototypes(Predictor):
    """Prototypes of clusters, as iterations need them."""

    @abstractmethod
    def mutual_sqdist(self) -> Doubles:
        """Squared distances among the prototypes, shape (c, c)."""

    @abstractmethod
    def sqdist_to(self, other: Self) -> Doubles:
        """Squared distances from each prototype to its successor, however small, shape (c,)."""

    @abstractmethod
    def take(self, order: Places) -> Self:
        """The prototypes in another order, or some of them."""

    @abstractmethod
    def join(self, other: Self) -> Self:
        """These prototypes, followed by others."""

    @abstractmethod
    def blend(self, other: Self, share: float) -> Self:
        """Prototypes moved by a share of the way to others."""

    def for_prediction(self) -> Predictor:
        """The same without what only the training rows need."""
        return self


P = TypeVar("P", bound=Prototypes)


class Members(NamedTuple):
    """The rows that prefer each cluster.

    Parameters
    ----------
    mass : array of shape (c,)
        The sum of their sample weights.
    distance : array of shape (c,)
        Their mean distance, not squared, to their mean; zero where there are none.
    sqdist : array of shape (c,)
        Their mean squared distance.
    """

    mass: Doubles
    distance: Doubles
    sqdist: Doubles


@dataclass(frozen=True, eq=False)
class Sweep(Generic[P]):
    """What one pass over the rows gives.

    Parameters
    ----------
    prototypes : Prototypes
        The weighted means under the memberships of the pass: the next prototypes.
    objective : float
        The objective at the prototypes that went in.
    mass : array of shape (c,)
        The sum of the weights of each cluster.
    within_sqdist : array of shape (c,)
        The weighted mean squared distance to the *next* prototypes.
    relative_move : float
        The largest move of a prototype, relative to the spread of the typical rows.
    members : Members, optional
        The rows that prefer each of the prototypes that went in, if they were asked for.
    """

    prototypes: P
    objective: float
    mass: Doubles
    within_sqdist: Doubles
    relative_move: float
    members: Members | None = None

    @property
    def pooled_within_sqdist(self) -> float:
        """`within_sqdist` of all clusters together, weighted by their mass."""
        total = self.mass.sum()
        return float(self.mass @ self.within_sqdist / total) if total > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Tally(Additive):
    """How many rows prefer each prototype; the last entry counts those that prefer none.

    Parameters
    ----------
    rows, counted : arrays of shape (c + 1,), int
        The number of rows, and of those that have a positive weight.
    weight : array of shape (c + 1,), float64
        The sum of their weights.
    """

    rows: Places
    counted: Places
    weight: Doubles

    @classmethod
    def of(cls, labels: NDArray[np.int32], weight: Any, n_clusters: int) -> Self:
        """Those of labels and sample weights."""
        places = np.where(labels < 0, n_clusters, labels)
        weight = None if weight is None else array_of(weight)
        rows = np.bincount(places, minlength=n_clusters + 1)
        counted, total = rows, rows.astype(np.float64)
        if weight is not None:
            counted = np.bincount(places[weight > 0], minlength=n_clusters + 1)
            total = np.bincount(places, weight, minlength=n_clusters + 1).astype(np.float64)
        return cls(rows, counted, total)


class Outcome(NamedTuple):
    """What prototypes make of the rows of their space.

    Parameters
    ----------
    labels : array of shape (n,), int32, or None
        The prototype each row prefers, where the rows are in memory.
    memberships : array of shape (n, c), optional
        The memberships, where they were asked for.
    objective : float
        The objective at the prototypes.
    mass : array of shape (c,)
        The sum of the weights of each cluster.
    tally : Tally
        How many rows prefer each prototype.
    """

    labels: NDArray[np.int32] | None
    memberships: Floats | None
    objective: float
    mass: Doubles
    tally: Tally


class Subsample(NamedTuple):
    """The space of a sample of the distinct rows, with the weight of all their copies.

    The sample depends on the content of the rows, not on their order.

    Parameters
    ----------
    space : Space
        The space of the sample.
    to_full : callable
        Prototypes of that space in the space of all rows.
    to_sample : callable
        The reverse.
    """

    space: "Space[Any]"
    to_full: Callable[[Any], Any]
    to_sample: Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Sums(Additive):
    """The sums over rows that the next prototypes follow from; those of two blocks add up.

    Parameters
    ----------
    sums : object
        What `Space.accumulate` returns for the weights of the rows.
    total, within : arrays of shape (c,)
        Sums of these weights, and of the weights times the squared distances.
    mass : array of shape (c,)
        The sum of `rule.weights`: the same as `total`, unless the weights were scaled.
    objective : float
        The sum of the objective of the rows.
    tally : Tally, or 0 if labels were not asked for
        How many rows prefer each prototype.
    members : object
        What `Space.accumulate` returns for the sample weights of the rows that prefer each
        prototype; 0 if they were not asked for.
    """

    sums: Any
    total: Doubles
    within: Any = 0
    mass: Any = 0
    objective: float = 0.0
    tally: Any = 0
    members: Any = 0


class Wanted(NamedTuple):
    """What a pass over the rows computes beyond its sums.

    Parameters
    ----------
    counted : bool
        Whether rows are counted by the prototype they prefer.
    members : bool
        Whether these rows are also added up.
    labels, memberships : arrays of shape (n,) and (n, c), optional
        Arrays to fill, where the rows are in memory; labels only if they are counted.
    """

    counted: bool = False
    members: bool = False
    labels: NDArray[np.int32] | None = None
    memberships: Floats | None = None


SUMS_ONLY = Wanted()


class Space(ABC, Generic[P]):
    """A space in which prototypes are weighted means of mapped rows.

    A new space implements four methods. The sweep and all passes over the rows are written
    here, once, for every rule and every place of the rows.

    Attributes
    ----------
    rows : Rows
        The rows, wherever they are.
    """

    rows: Rows

    # ---- what a space is -------------------------------------------------------------------------

    @abstractmethod
    def accumulate(self, block: Block, weights: Any) -> Any:
        """What adds up over blocks, for weights of shape (n, c): from it follow the means."""

    @abstractmethod
    def means(self, sums: Any, total: Doubles, unless_empty: P | None = None) -> P:
        """The weighted means; where the total weight is zero, those of `unless_empty`."""

    @abstractmethod
    def sample(self, at_most: int | None = SAMPLE_ROWS) -> Sample:
        """Some distinct rows, the same in any order of the rows, with their mutual distances.

        None for all of them.
        """

    @abstractmethod
    def at(self, points: Floats) -> P:
        """Where prototypes at given points of shape (c, d) start."""

    # ---- what follows, and what a space may know better ------------------------------------------

    def sqdist(self, prototypes: P, block: Block) -> Any:
        """Squared distances of the rows of a block, shape (n, c), float64; never negative."""
        return prototypes.sqdist(block.X)

    @cached_property
    def mean(self) -> P:
        """The mean of all rows, as a single prototype."""
        return self.prototypes(np.broadcast_to(1.0, (self.rows.n_rows, 1)))  # takes no memory

    @property
    def total_variance(self) -> float:
        """The mean squared distance of the rows to their mean."""
        return self.fold(Hard(), self.mean).objective / self.rows.total_weight

    @property
    def typical(self) -> Self:
        """The space of the typical rows: others, far from all rows, have weight zero there.

        Itself where every row is typical. Prototypes of one are prototypes of the other.
        """
        return self._typical or self

    _typical: Self | None = None

    @cached_property
    def _spectrum_sample(self) -> Sample:
        return self.sample(_SPECTRUM_ROWS)

    @cached_property
    def _spectrum(self) -> Doubles:
        """Eigenvalues of the covariance in this space, of a sample of distinct rows."""
        return self._spectrum_sample.moments(normalised=False)

    @property
    def dimension(self) -> float:
        """The number of dimensions the rows fill: (sum of variances)^2 / sum of squares."""
        variances = self._spectrum.clip(min=0.0)
        return float(variances.sum() ** 2 / (variances**2).sum()) if variances.any() else 1.0

    def largest_moment(self, *, normalised: bool) -> float:
        """The largest eigenvalue of the covariance of a sample of the rows.

        Normalised, that of the directions from the mean alone.
        """
        spectrum = self._spectrum_sample.moments(normalised=True) if normalised else self._spectrum
        return float(spectrum[-1])

    @property
    def how(self) -> str:
        """How an iteration is computed, in a sentence."""
        return (
            f"each iteration is one sweep over {self.rows.n_rows:,} rows x "
            f"{self.rows.n_features} features; nothing of size rows x clusters is kept."
        )

    def sqdist_of(self, prototypes: P, sample: Sample) -> Doubles:
        """Squared distances of the rows of a sample to prototypes."""
        return np.asarray(prototypes.sqdist(sample.rows))

    def candidates(self, n_clusters: int) -> Any:
        """Distinct rows that prototypes can start at: `index`, `weight` and their distances."""
        return self.sample(max(_LARGEST_START, 4 * n_clusters))

    def near_rows(self, index: Places, *, share: float = TOWARDS_THE_MEAN) -> P:
        """Prototypes at rows, drawn by a small share of the way towards the mean of the data.

        A row that coincides with a prototype has membership 1 there and holds it fast, the more the
        larger m: a start exactly on rows can look converged where it stands.
        """
        there = self.at(as_dense(self.rows.take(index)).astype(np.float64))
        mean = self.typical.mean
        return there.blend(mean.take(np.zeros(len(index), np.intp)), share) if share else there

    def subsample(self, at_most: int) -> Subsample | None:
        """The space of a sample of the rows; None where there are no more than `at_most` rows.

        Also None where rows are kernel values or dissimilarities.
        """
        return None

    def pull(self, rule: MembershipRule, prototypes: P) -> Callable[[Any], Any] | None:
        """`pull(sqdist)`: weights of which each cluster is scaled, where plain ones may vanish."""
        return None

    def fused(
        self, rule: MembershipRule, prototypes: P, block: Block, wanted: Wanted
    ) -> Sums | None:
        """The sums of a block by code that fuses all of `_sum_block`; None where there is none."""
        return None

    # ---- the rows --------------------------------------------------------------------------------

    @property
    def X(self) -> Floats:  # noqa: N802
        """The rows, where they are in memory."""
        return self.rows.X  # type: ignore[attr-defined]

    @property
    def sample_weight(self) -> Floats | None:
        """The weights, where they are in memory."""
        return self.rows.weight  # type: ignore[attr-defined]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.rows.dtype

    # ---- what is written once --------------------------------------------------------------------

    def fold(self, rule: MembershipRule, prototypes: P, wanted: Wanted = SUMS_ONLY) -> Sums:
        """One pass over the rows: memberships at the prototypes, and the sums under them."""
        pull = self.pull(rule, prototypes)
        return self.rows.resident.fold(partial(self._sum_block, rule, prototypes, wanted, pull))

    def _sum_block(
        self, rule: MembershipRule, prototypes: P, wanted: Wanted, pull: Any, block: Block
    ) -> Sums:
        """The sentence the library is made of: distances, memberships, weights, sums."""
        if wanted.labels is not None:  # the parts of the arrays that belong to the rows
            wanted = wanted._replace(labels=wanted.labels[rows_of(block)])
        if wanted.memberships is not None:
            wanted = wanted._replace(memberships=wanted.memberships[rows_of(block)])
        fused = self.fused(rule, prototypes, block, wanted)
        if fused is not None:
            return fused
        sqdist = self.sqdist(prototypes, block)
        memberships = rule.memberships(sqdist)
        mass = rule.weights(memberships)
        weights = mass if pull is None else pull(sqdist)
        objective = rule.objective(memberships, sqdist)
        if block.weight is not None:
            weight = block.weight[:, None]
            mass, weights, objective = mass * weight, weights * weight, objective * block.weight
        tally: Any = 0
        members: Any = 0
        if wanted.memberships is not None:
            wanted.memberships[:] = array_of(memberships)
        if wanted.counted:
            preferred = array_of(labels(rule, sqdist, memberships))
            tally = Tally.of(preferred, block.weight, prototypes.n_clusters)
            if wanted.labels is not None:
                wanted.labels[:] = preferred
        if wanted.members:
            own = preferred[:, None] == np.arange(prototypes.n_clusters)
            each = 1.0 if block.weight is None else array_of(block.weight)[:, None]
            members = self.accumulate(block, own * each)
        return Sums(
            self.accumulate(block, weights),
            array_of(weights.sum(0)),
            array_of((weights * sqdist).sum(0)),
            array_of(mass.sum(0)),
            float(objective.sum()),
            tally,
            members,
        )

    def sweep(self, rule: MembershipRule, prototypes: P, *, members: bool = False) -> Sweep[P]:
        """One Picard step: memberships at `prototypes`, then the weighted means."""
        keep = None
        if members and self.rows.in_memory:
            keep = np.empty(self.rows.n_rows, np.int32)
        wanted = Wanted(members, members, keep)
        sums = self.fold(rule, prototypes, wanted)
        following = self.means(sums.sums, sums.total, unless_empty=prototypes)
        moves = prototypes.sqdist_to(following)
        move = np.sqrt(moves.max() / self.typical.total_variance) if moves.any() else 0.0
        divisor = np.where(is_reached(sums.total), sums.total, 1.0)
        return Sweep(
            following,
            sums.objective,
            sums.mass,
            np.maximum(sums.within / divisor - moves, 0.0),
            float(move),
            self._members(rule, prototypes, sums, keep) if members else None,
        )

    def _members(
        self, rule: MembershipRule, prototypes: P, sums: Sums, keep: NDArray[np.int32] | None
    ) -> Members:
        """The rows of each label, by a second pass."""
        mass = sums.tally.weight[:-1]
        means = self.means(sums.members, mass, unless_empty=prototypes)
        predictor = prototypes.for_prediction()

        def distances(block: Block) -> Doubles:
            own = predictor.labels(rule, block.X) if keep is None else keep[rows_of(block)]
            some = np.flatnonzero(own >= 0)
            own = own[some]
            sqdist = array_of(self.sqdist(means, block))[some, own]
            weight = np.ones(len(some)) if block.weight is None else block.weight[some]
            both = (np.sqrt(sqdist), sqdist)
            return np.array([np.bincount(own, weight * d, len(mass)) for d in both])

        distance, sqdist = self.rows.fold(distances) / np.where(mass > 0, mass, 1.0)
        return Members(mass, distance, sqdist)

    def outcome(
        self,
        rule: MembershipRule,
        prototypes: P,
        *,
        labels: bool = True,
        memberships: bool = True,
    ) -> Outcome:
        """Labels, memberships, objective and mass at the prototypes, in one pass over the rows."""
        preferred, degrees, n_rows = None, None, self.rows.n_rows
        if self.rows.in_memory:
            preferred = np.empty(n_rows, np.int32) if labels else None
            shape = n_rows, prototypes.n_clusters
            degrees = np.empty(shape, self.dtype) if memberships else None
        wanted = Wanted(labels, labels=preferred, memberships=degrees)
        sums = self.fold(rule, prototypes, wanted)
        return Outcome(preferred, degrees, sums.objective, sums.mass, sums.tally)

    def prototypes(self, weights: Floats) -> P:
        """The weighted means of the rows, for weights of shape (n, c)."""

        def of_block(block: Block) -> Sums:
            own = weights[rows_of(block)].astype(np.float64)
            if block.weight is not None:
                own = own * block.weight[:, None]
            return Sums(self.accumulate(block, own), own.sum(0))

        sums = self.rows.fold(of_block)
        return self.means(sums.sums, sums.total)


def is_reached(total: Doubles) -> NDArray[np.bool_]:
    """Whether weights sum to something."""
    return total > np.finfo(np.float64).tiny


def rows_of(block: Block) -> slice:
    """Where the rows of a block stand."""
    return slice(block.start, block.start + len(block.X))
