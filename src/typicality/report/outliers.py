"""Why a row is unusual: the features in which it is farthest from where it should be."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats, Places
from typicality.explain import TypicalRows, are_typical
from typicality.fitted import FittedView
from typicality.report.clusters import ClusterTable
from typicality.report.features import FeatureTable, group_matrix, group_means, rows_by_label

_MOST_LISTED = 2000
_LISTED_ANYWAY = 20  # the least typical rows are worth a look even if every row has a cluster
_FEW = 5  # rows are too few to estimate a spread
_NARROWEST = 0.01  # of the spread of all rows: nearly equal values would make any other too far
_SPIKE = 0.5  # of a cluster has one value: its spread there is that of all rows


@dataclass(frozen=True, eq=False)
class Explanation:
    """The unassigned rows and the least typical other rows, and what makes them unusual.

    Where memberships are shares, the rows between clusters.

    Parameters
    ----------
    view : FittedView
        The labels of all rows, and how typical they are.
    features : FeatureTable
        The features of all rows.
    centers : ClusterCenters, optional
        The centers of the clusters, if the model has prototypes.
    rows : array of shape (m,)
        The rows that are explained, the least typical first.
    deviations : array of shape (m, d)
        How far each is from where it should be, feature by feature, in units of a spread.
    words : str
        How deviations are measured.
    shares : array of shape (m, k)
        The share of similar rows that have the category of each, column by column.
    """

    view: FittedView
    features: FeatureTable
    centers: "ClusterCenters | None"
    rows: Places
    deviations: Doubles
    words: str
    shares: Doubles

    @classmethod
    def of(cls, view: FittedView, features: FeatureTable, shown: Places | None = None) -> Self:
        """Explain rows, of all rows of the view and of `features`, or of those that are shown."""
        centers = ClusterCenters.of(view, features) if view.kind == "prototypes" else None
        shown = np.arange(view.n_rows) if shown is None else shown
        if view.shares:
            rows = view.between[np.isin(view.between, shown)][:_MOST_LISTED]
        else:
            order = np.argsort(view.depth[shown], kind="stable")
            listed = view.labels[shown[order]] < 0
            listed[:_LISTED_ANYWAY] = True
            if view.kind != "detector":
                listed &= view.is_example[shown[order]]
            rows = shown[order[listed][:_MOST_LISTED]]
        found = deviations_of(view, features, centers, rows)
        return cls(view, features, centers, rows, found.values, found.words, found.shares)

    @cached_property
    def clusters(self) -> ClusterTable:
        """The table of clusters."""
        return ClusterTable.of(self)

    def among(self, shown: Places) -> Self:
        """Explain only rows that are shown."""
        everything = len(shown) == self.view.n_rows
        return self if everything else self.of(self.view, self.features, shown)


class Deviations(NamedTuple):
    """How far rows are from where they should be, feature by feature.

    Parameters
    ----------
    values : array of shape (m, d)
        The deviations; zero where a value is missing, because what was filled in explains nothing.
    unit : array of shape (d,) or (m, d)
        What they are measured in, a spread of the feature.
    words : str
        How they are measured.
    shares : array of shape (m, k)
        The share of similar rows that have the category of each, column by column.
    """

    values: Doubles
    unit: Doubles
    words: str
    shares: Doubles = np.empty((0, 0))


def deviations_of(
    view: FittedView, features: FeatureTable, centers: "ClusterCenters | None", rows: Places
) -> Deviations:
    """The deviations of rows from where they should be."""
    if centers is None:
        found = _from_neighbours(view, features, rows)
    else:
        found = _from_centers(view, features, centers, rows)
    known = ~np.isnan(features.shown[rows])
    shares = found.shares if features.categories is not None else np.empty((len(rows), 0))
    return found._replace(values=np.where(known, found.values, 0.0), shares=shares)


def _from_centers(
    view: FittedView, features: FeatureTable, centers: "ClusterCenters", rows: Places
) -> Deviations:
    values, labels = features.measured[rows], view.labels[rows]
    label = np.where(labels >= 0, labels, centers.nearest(values))
    if (label < 0).any():  # there is no cluster at all
        words = "Distance from the median of all rows, in units of the spread of the column."
        return Deviations(features.standardised[rows], features.scale, words)
    spread = centers.spread[label]
    away = np.asarray((values - centers.points[label]) / spread, dtype=np.float64)
    point = "prototype" if centers.are_prototypes else "mean of the nearest cluster"
    words = (
        f"Distance from the nearest {point}, in units of the spread of its cluster in "
        "that column; values beyond about 3 are unusual there."
    )
    found = Deviations(away, spread, words)
    if features.categories is None:
        return found
    mixed = features.rows
    shares = features.categories.shares_in(mixed, view.labels, mixed[rows], label)
    return found._replace(
        shares=shares, words=f"{words} For a category: how often it occurs there."
    )


def _from_neighbours(view: FittedView, features: FeatureTable, rows: Places) -> Deviations:
    """Deviations from the nearest typical rows: of the fit, of clusters, or nine tenths of all."""
    values, assigned = features.rows, view.labels >= 0
    if view.find_typical_rows is not None and features.of_model:
        typical = view.find_typical_rows()
    else:
        by_labels = view.kind == "tree" and assigned.any()
        typical = TypicalRows.of(values, assigned if by_labels else are_typical(view.strength))
    words = (
        f"Distance from the mean of the {typical.n_compared} nearest typical rows, in units of "
        "the spread of the column over all rows."
    )
    n_features = features.measured.shape[1]
    deviations = typical.deviations(values[rows])[:, :n_features]
    found = Deviations(deviations, typical.scale[:n_features], words)
    if features.categories is None:
        return found
    shares = features.categories.shares(typical.rows, values[rows])
    words = f"{words} For a category: how many of the 30 nearest typical rows have it."
    return found._replace(shares=shares, words=words)


# ---- clusters and their centers ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClusterCenters:
    """The center of each cluster, in the features that are measured, and its spread.

    Parameters
    ----------
    points : array of shape (c, d)
        The prototypes, where they have coordinates, or the means of the rows of each label; NaN
        for labels without rows.
    spread : array of shape (c, d)
        The standard deviation of the rows of each label about its point, weighted by their
        typicality; that of all rows where there are fewer than five, or half of them or more have
        one value.
    scale : array of shape (d,)
        The spread of each feature over all rows.
    are_prototypes : bool
        Whether the points are prototypes.
    """

    points: Doubles
    spread: Doubles
    scale: Doubles
    are_prototypes: bool

    @classmethod
    def of(cls, view: FittedView, features: FeatureTable) -> Self:
        """The centers of the clusters of rows."""
        are_prototypes = features.of_model and view.centers is not None
        values, labels = features.measured, view.labels
        points = view.centers if are_prototypes else group_means(values, labels)
        points = np.asarray(points, dtype=np.float64)[:, : values.shape[1]]
        somewhere = np.flatnonzero(labels >= 0)
        away = values[somewhere] - points[labels[somewhere]]
        groups = group_matrix(labels[somewhere], len(points), view.strength[somewhere])
        mass = np.asarray(groups.sum(axis=1))[:, None]
        counts = np.bincount(labels[somewhere], minlength=len(points))[:, None]
        enough = (counts >= _FEW) & (mass > 0)
        variance = np.divide(groups @ away**2, mass, out=np.zeros_like(points), where=mass > 0)
        enough = enough & ~_spiky(values[somewhere], labels[somewhere], len(points))
        spread = np.where(enough, np.sqrt(variance), features.scale)
        spread = np.maximum(spread, _NARROWEST * features.scale)
        return cls(points, spread, features.scale, are_prototypes)

    def separation(self, labels: Places) -> Doubles:
        """The distance to the nearest other point over the root mean square one of its rows."""
        points = self.points[labels] / self.scale
        apart = cdist(points, points)
        np.fill_diagonal(apart, np.inf)
        radius = np.sqrt(((self.spread[labels] / self.scale) ** 2).sum(axis=1))
        return np.asarray(apart.min(axis=1) / radius)

    def nearest(self, values: Floats) -> NDArray[np.int32]:
        """The label whose point is nearest to each row, in units of the spread of that cluster."""
        nearest = np.full(len(values), -1, np.int32)
        least = np.full(len(values), np.inf)
        for label in np.flatnonzero(np.isfinite(self.points).all(axis=1)):
            away = (((values - self.points[label]) / self.spread[label]) ** 2).sum(axis=1)
            nearest[away < least] = label
            least = np.minimum(least, away)
        return nearest


def _spiky(values: Floats, labels: NDArray[np.int32], n_labels: int) -> NDArray[np.bool_]:
    """Where half of the rows of a label or more have the same value, shape (c, d)."""
    spiky = np.zeros((n_labels, values.shape[1]), dtype=bool)
    for label, rows in enumerate(rows_by_label(labels, n_labels)):
        if len(rows):
            # The median is such a value; between two middle rows it may be none.
            middle = np.partition(values[rows], len(rows) // 2, axis=0)[len(rows) // 2]
            spiky[label] = np.mean(values[rows] == middle, axis=0) >= _SPIKE
    return spiky
