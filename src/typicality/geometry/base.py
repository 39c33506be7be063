"""The interface of a geometry and its prototypes, documented once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats, Places
from typicality.membership.base import MembershipRule
from typicality.rows import Additive, Rows

TOWARDS_THE_MEAN = 0.05


def relative_move(moves: Doubles, total_variance: float) -> float:
    """The largest of some squared moves as a distance, relative to the spread of the data."""
    return float(np.sqrt(moves.max() / total_variance)) if moves.any() else 0.0


class Predictor(Protocol):
    """What prediction keeps of prototypes; the same calls serve training rows and new rows."""

    @property
    def n_clusters(self) -> int:
        """How many there are."""

    def sqdist(self, X: Floats) -> Floats:
        """Squared distances, shape (n, c); never negative."""

    def memberships(self, rule: MembershipRule, X: Floats) -> Floats:
        """Memberships of the rows, shape (n, c)."""

    def labels(self, rule: MembershipRule, X: Floats) -> NDArray[np.int32]:
        """The prototype each row prefers, shape (n,)."""

    def labels_and_memberships(
        self, rule: MembershipRule, X: Floats
    ) -> tuple[NDArray[np.int32], Floats]:
        """Both from one pass, the same to the last bit."""

    def objective(self, rule: MembershipRule, X: Floats, sample_weight: Floats | None) -> float:
        """The objective of the rows with the memberships that minimise it."""


class Prototypes(Predictor, Protocol):
    """Prototypes of clusters."""

    def mutual_sqdist(self) -> Doubles:
        """Squared distances among the prototypes, shape (c, c)."""

    def take(self, order: Places) -> Self:
        """The prototypes in another order, or some of them."""

    def join(self, other: Self) -> Self:
        """These prototypes, followed by others."""

    def blend(self, other: Self, share: float) -> Self:
        """Prototypes moved by a share of the way to others."""

    def for_prediction(self) -> Predictor:
        """The same without what only the training rows need."""


P = TypeVar("P", bound=Prototypes)
P_contra = TypeVar("P_contra", bound=Prototypes, contravariant=True)


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
    """

    prototypes: P
    objective: float
    mass: Doubles
    within_sqdist: Doubles
    relative_move: float


@dataclass(frozen=True, eq=False)
class Members(Generic[P]):
    """The rows that prefer each cluster.

    Parameters
    ----------
    mass : array of shape (c,)
        The sum of their sample weights.
    means : Prototypes
        Their means; anything where there are none.
    distance : array of shape (c,)
        Their mean distance, not squared, to their mean; zero where there are none.
    sqdist : array of shape (c,)
        Their mean squared distance.
    """

    mass: Doubles
    means: P
    distance: Doubles
    sqdist: Doubles


@dataclass(frozen=True, eq=False)
class LabelledSweep(Sweep[P]):
    """A pass that also sorted the rows by the cluster they prefer.

    Parameters
    ----------
    members : Members
        The rows that prefer each of the prototypes that went in.
    """

    members: Members[P]


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
    def of(cls, labels: NDArray[np.int32], weight: Floats | None, n_clusters: int) -> Self:
        places = np.where(labels < 0, n_clusters, labels)
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


@dataclass(frozen=True, eq=False)
class Subsample(Generic[P]):
    """The space of a sample of the distinct rows, with the weight of all their copies.

    The sample depends on the content of the rows, not on their order.

    Parameters
    ----------
    geometry : Geometry
        The space of the sample.
    to_full : callable
        Prototypes of that space in the space of all rows.
    to_sample : callable
        The reverse, where prototypes have coordinates.
    """

    geometry: "Geometry[P]"
    to_full: Callable[[P], P]
    to_sample: Callable[[P], P]


class Gaps(Protocol[P_contra]):
    """Squared distances to the nearest distinct rows of positive weight.

    Isolated rows, if there are any, are left out of `max_gap` and `farthest_row`.
    """

    @property
    def max_gap(self) -> float:
        """The largest of all distances from a row to its nearest row."""

    def farthest_row(self, prototypes: P_contra) -> int:
        """The row that is farthest from its nearest prototype."""

    def densest(self, rule: MembershipRule, prototypes: P_contra) -> int | None:
        """Of the rows in no cluster, the one whose tenth nearest row is closest; None without."""

    def near(self, prototypes: P_contra, n_neighbors: int) -> Doubles:
        """The distances from each prototype to its nearest rows, in rising order.

        A row that coincides with the prototype does not count.
        """


class Geometry(Protocol[P]):
    """A space in which weighted means of rows are prototypes."""

    @property
    def X(self) -> Floats:  # noqa: N802
        """The rows, where they are in memory."""

    @property
    def sample_weight(self) -> Floats | None:
        """The weights, where they are in memory."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the rows."""

    @property
    def total_weight(self) -> float:
        """The sum of the weights of the rows."""

    @property
    def total_variance(self) -> float:
        """The mean squared distance of the rows to their mean."""

    @property
    def typical(self) -> "Geometry[P]":
        """The space of the typical rows: others, far from all rows, have weight zero there.

        Itself where every row is typical. Prototypes of one are prototypes of the other.
        """

    @property
    def dimension(self) -> float:
        """The number of dimensions the rows fill."""

    @property
    def n_distinct_rows(self) -> int:
        """The number of distinct rows of positive weight."""

    def largest_moment(self, *, normalised: bool) -> float:
        """The largest eigenvalue of the covariance of a sample of the rows.

        Normalised, that of the directions from the mean alone.
        """

    @property
    def how(self) -> str:
        """How an iteration is computed, in a sentence."""

    def candidates(self, n_clusters: int) -> Any:
        """Distinct rows that prototypes can start at: `index`, `weight` and their distances."""

    def at(self, points: Floats) -> P:
        """Where prototypes at given points of shape (c, d) start."""

    def near_rows(self, index: Places, *, share: float = TOWARDS_THE_MEAN) -> P:
        """Prototypes at rows, drawn by a small share of the way towards the mean of the data.

        A row that coincides with a prototype has membership 1 there and holds it fast, the more the
        larger m: a start exactly on rows can look converged where it stands.
        """

    def prototypes(self, weights: Floats) -> P:
        """The weighted means of the rows, for weights of shape (n, c)."""

    def middle(self) -> P:
        """The mean of all rows, as a single prototype."""

    def sweep(self, rule: MembershipRule, prototypes: P) -> Sweep[P]:
        """One Picard step: memberships at `prototypes`, then the weighted means."""

    def labelled_sweep(self, rule: MembershipRule, prototypes: P) -> LabelledSweep[P]:
        """The same, with the rows sorted by the prototype they prefer."""

    def gaps(self) -> Gaps[P]:
        """Distances from rows to their nearest rows, isolated rows left out."""

    def subsample(self, at_most: int) -> "Subsample[P] | None":
        """The space of a sample of the rows; None where there are no more than `at_most` rows.

        Also None where rows are kernel values or dissimilarities.
        """

    def outcome(self, rule: MembershipRule, prototypes: P, *, memberships: bool = True) -> Outcome:
        """Labels, memberships, objective and mass at the prototypes, in one pass over the rows.

        They are the same to the last bit as those of `labels`, `memberships` and
        `objective_and_mass`.
        """

    def tally(self, rule: MembershipRule, prototypes: P) -> Tally:
        """How many rows prefer each prototype."""

    def objective_and_mass(self, rule: MembershipRule, prototypes: P) -> tuple[float, Doubles]:
        """The objective at the prototypes, and the sum of the weights of each cluster there."""

    def memberships(self, rule: MembershipRule, prototypes: P) -> Floats:
        """Memberships of the rows of this space: what the prototypes say of them."""

    def labels(self, rule: MembershipRule, prototypes: P) -> NDArray[np.int32]:
        """The prototype each row of this space prefers."""

    def largest_membership(self, rule: MembershipRule, prototypes: P) -> float:
        """The clearest membership of a sample of the rows that take part."""


class OverRows(Generic[P]):
    """What spaces share that go over rows block by block, wherever these are."""

    rows: Rows

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.rows.dtype

    @property
    def total_weight(self) -> float:
        return self.rows.total_weight

    @property
    def n_distinct_rows(self) -> int:
        return self.rows.sample().n_distinct

    def memberships(self, rule: MembershipRule, prototypes: P) -> Floats:
        predictor = prototypes.for_prediction()
        found: Floats = self.rows.map(lambda block: predictor.memberships(rule, block.X))
        return found

    def labels(self, rule: MembershipRule, prototypes: P) -> NDArray[np.int32]:
        predictor = prototypes.for_prediction()
        found: NDArray[np.int32] = self.rows.map(lambda block: predictor.labels(rule, block.X))
        return found
