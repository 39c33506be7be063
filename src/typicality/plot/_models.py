"""What the pictures ask of an estimator, of whichever kind, alone or at the end of a pipeline."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.utils.validation import check_is_fitted

from typicality._typing import Doubles, Labels
from typicality._words import counted

_BLUR = 1.0  # points of the grid
_HAIR = 1e-6  # of the range of a surface: on which side of a level a point is


class Boundary(NamedTuple):
    """The line around the region of a cluster: where a surface has a level.

    Parameters
    ----------
    label : int
        The cluster.
    surface : array
        Above the level where the cluster is, below it elsewhere; in the shape of a grid.
    level : float
        The level.
    """

    label: int
    surface: Doubles
    level: float


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last step of a pipeline; of an automatic one what it chose."""
    check_is_fitted(estimator)
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    return getattr(last, "estimator_", last)


def soft_model(estimator: Any) -> "SoftModel":
    """The view of an estimator that is fitted; an error in words where it has no memberships."""
    model = last_step(estimator)
    if not (hasattr(model, "predict_memberships") or hasattr(model, "predict_typicality")):
        raise ValueError(
            f"{model!r} has neither memberships nor typicalities of new rows. Fit an estimator of "
            "typicality."
        )
    before = [step for _, step in getattr(estimator, "steps", [])[:-1]]
    steps = tuple(step for step in before if step not in (None, "passthrough"))
    if hasattr(model, "tree_"):
        return _AlphaCut(model, steps)
    if hasattr(model, "predict_memberships"):
        return _Prototypes(model, steps)
    return _Detector(model, steps)


@dataclass(frozen=True, eq=False)
class SoftModel(ABC):
    """An estimator that is fitted, and the steps that prepare its rows.

    Parameters
    ----------
    estimator : object
        The estimator.
    steps : tuple of transformers
        What rows go through before.
    """

    estimator: Any
    steps: tuple[Any, ...]

    @property
    @abstractmethod
    def word(self) -> str:
        """What its memberships are called."""

    @abstractmethod
    def memberships(self, X: Any) -> Doubles:
        """The memberships of rows, (n, c), a column a label; one column where all are one."""

    @abstractmethod
    def boundaries(self, X: Any, memberships: Doubles, shape: tuple[int, int]) -> list[Boundary]:
        """The lines around the clusters, by their memberships at the points of a grid."""

    def strengths(self, X: Any) -> Doubles:
        """What a histogram shows: a number a row, by which it does or does not belong."""
        return largest(self.memberships(X))

    @property
    def largest_name(self) -> str:
        """What the largest membership is called."""
        return self.word

    @property
    def strength_name(self) -> str:
        """What the numbers of a histogram are called."""
        return self.largest_name

    @property
    def levels(self) -> Doubles:
        """The levels they are compared with: none, one of all clusters, or one of each."""
        return np.empty(0)

    @property
    def valley(self) -> float | None:
        """Where the density of these numbers has its valley, where that is known."""
        return None

    def labels(self, X: Any) -> Labels:
        """The cluster of each row; -1 for those that belong nowhere."""
        labels: Labels = self.estimator.predict(self.prepared(X))
        return labels

    def summary(self, labels: Labels) -> str:
        """How many clusters rows are in, and how many rows are in none."""
        n_clusters = len(np.unique(labels[labels >= 0]))
        clusters = counted(n_clusters, "cluster")
        nowhere = int(np.sum(labels < 0))
        belong = "belongs" if nowhere == 1 else "belong"
        rest = f"; {nowhere} of {len(labels)} rows {belong} nowhere (×)" if nowhere else ""
        return clusters + rest

    def prepared(self, X: Any) -> Any:
        """Rows as the estimator knows them."""
        for step in self.steps:
            X = step.transform(X)
        return X


class _Prototypes(SoftModel):
    @property
    def word(self) -> str:
        names = self.estimator.get_feature_names_out()
        return str(names[0]).rpartition("_")[0] if len(names) else "membership"

    @property
    def largest_name(self) -> str:
        return f"largest {self.word}"

    def memberships(self, X: Any) -> Doubles:
        of_prototypes = self.estimator.predict_memberships(self.prepared(X))
        # Copies of a prototype, which share its label, come after the first of each label.
        n_labels = len(np.unique(self.estimator.prototype_labels_))
        return np.asarray(of_prototypes[:, :n_labels], dtype=np.float64)

    def boundaries(self, X: Any, memberships: Doubles, shape: tuple[int, int]) -> list[Boundary]:
        regions = self.labels(X)
        labels = range(memberships.shape[1])
        if (regions < 0).any():  # memberships end abruptly there, and lines would be stairs
            return [_smooth(regions.reshape(shape), label) for label in labels]
        leads = [_lead(memberships, regions, label).reshape(shape) for label in labels]
        return [Boundary(label, lead, 0.0) for label, lead in enumerate(leads)]


class _AlphaCut(SoftModel):
    word = "typicality"

    def memberships(self, X: Any) -> Doubles:
        typicality = self.estimator.predict_typicality(self.prepared(X))
        return np.asarray(typicality, dtype=np.float64)[:, None]

    @property
    def levels(self) -> Doubles:
        return np.atleast_1d(np.asarray(self.estimator.alpha_, dtype=np.float64))

    @property
    def valley(self) -> float | None:
        place, depth = self.estimator.tree_.valley
        return float(place) if depth > 0 else None

    def boundaries(self, X: Any, memberships: Doubles, shape: tuple[int, int]) -> list[Boundary]:
        regions, typicality = self.labels(X), memberships[:, 0]
        if self.estimator._assign == "typical":  # where rows are dense enough, at no level
            labels = range(self.estimator.n_clusters_)
            return [_smooth(regions.reshape(shape), label) for label in labels]
        hair = _hair(typicality)
        found = []
        for label, level in enumerate(np.broadcast_to(self.levels, self.estimator.n_clusters_)):
            outside = np.minimum(typicality, level - hair)
            surface = np.where(regions == label, typicality, outside)
            found.append(Boundary(label, surface.reshape(shape), float(level)))
        return found


class _Detector(SoftModel):
    word = "typicality"
    strength_name = "typicality score"

    def memberships(self, X: Any) -> Doubles:
        typicality = self.estimator.predict_typicality(self.prepared(X))
        return np.asarray(typicality, dtype=np.float64)[:, None]

    def strengths(self, X: Any) -> Doubles:
        # A row has a part in its typicality but not in its score, by which it is flagged.
        return np.asarray(self.estimator.score_samples(self.prepared(X)))

    @property
    def levels(self) -> Doubles:
        return np.array([self.estimator.offset_])

    def boundaries(self, X: Any, memberships: Doubles, shape: tuple[int, int]) -> list[Boundary]:
        decisions = np.asarray(self.estimator.decision_function(self.prepared(X)))
        finite = np.nan_to_num(decisions, neginf=np.finfo(np.float64).min)
        return [Boundary(0, finite.reshape(shape), 0.0)]

    def labels(self, X: Any) -> Labels:
        typical = super().labels(X) > 0
        return np.where(typical, 0, -1).astype(np.int32)

    def summary(self, labels: Labels) -> str:
        return f"{np.sum(labels < 0)} of {len(labels)} rows flagged as outliers (×)"


def largest(memberships: Doubles) -> Doubles:
    """The largest membership of each row; zero where there is no cluster at all."""
    return np.asarray(memberships.max(axis=1, initial=0.0))


def _smooth(regions: Labels, label: int) -> Boundary:
    """The line around a region, without the stairs of the grid."""
    side = np.where(regions == label, 1.0, -1.0)
    return Boundary(label, gaussian_filter(side, _BLUR), 0.0)


def _lead(memberships: Doubles, regions: Labels, label: int) -> Doubles:
    """How far a cluster is ahead of the others: positive where rows have its label."""
    lead = memberships[:, label] - largest(np.delete(memberships, label, axis=1))
    # Far away all memberships may be zero, and yet a row has a nearest prototype.
    hair = _hair(lead)
    return np.where(regions == label, np.maximum(lead, hair), np.minimum(lead, -hair))


def _hair(surface: Doubles) -> float:
    return _HAIR * max(float(np.ptp(surface)), _HAIR)


def check_cluster(cluster: Any, n_clusters: int) -> int:
    """The number of one of the clusters."""
    if not isinstance(cluster, Integral) or int(cluster) not in range(n_clusters):
        known = "there is none" if n_clusters == 0 else f"they go from 0 to {n_clusters - 1}"
        raise ValueError(f"cluster must be the number of a cluster ({known}); got {cluster!r}.")
    return int(cluster)
