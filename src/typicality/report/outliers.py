"""Why a row is unusual: the features in which it is farthest from where it should be."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats, Places
from typicality.explain import TypicalRows, are_typical
from typicality.fitted import FittedView
from typicality.report.clusters import ClusterTable
from typicality.report.features import FeatureTable, group_means, rows_by_label

_MOST_LISTED = 2000
_LISTED_ANYWAY = 20  # the least typical rows are worth a look even if every row has a cluster
_FEW = 5  # rows are too few to estimate a spread
_NARROWEST = 0.01  # of the spread of all rows: nearly equal values would make any other too far
_SPIKE = 0.5  # of a cluster has one value: its spread there is that of all rows


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
    shares: Doubles


@dataclass(frozen=True, eq=False)
class Explanation:
    """What sets clusters apart, and what makes rows unusual.

    Parameters
    ----------
    view : FittedView
        The labels of all rows, and how typical they are.
    features : FeatureTable
        The features of all rows.
    shown : array of int, optional
        The rows that can be listed; by default all.
    """

    view: FittedView
    features: FeatureTable
    shown: Places | None = None

    def among(self, shown: Places) -> Self:
        """List only rows that are shown."""
        return self if len(shown) == self.view.n_rows else replace(self, shown=shown)

    @cached_property
    def clusters(self) -> ClusterTable:
        """The table of clusters."""
        return ClusterTable.of(self)

    @cached_property
    def centers(self) -> "ClusterCenters | None":
        """The centers of the clusters, if the model has prototypes and rows have clusters."""
        is_needed = self.view.kind == "prototypes" and self.view.n_unassigned < self.view.n_rows
        return ClusterCenters.of(self.view, self.features) if is_needed else None

    @cached_property
    def rows(self) -> Places:
        """The unassigned rows and the least typical other rows, the least typical first.

        Where memberships are shares, the rows between clusters.
        """
        view, shown = self.view, np.arange(self.view.n_rows) if self.shown is None else self.shown
        if view.shares:
            rows = view.between[np.isin(view.between, shown)]
        else:
            rows = shown[np.argsort(view.depth[shown], kind="stable")]
            listed = view.labels[rows] < 0
            listed[:_LISTED_ANYWAY] = True
            if view.kind != "detector":
                listed &= view.is_example[rows]
            rows = rows[listed]
        return rows[:_MOST_LISTED]

    @cached_property
    def found(self) -> Deviations:
        """The deviations of the rows that are listed."""
        return self.deviations_of(self.rows)

    @cached_property
    def typical(self) -> TypicalRows:
        """The typical rows: those of the fit, of clusters, or most of all rows."""
        view, features = self.view, self.features
        if view.find_typical_rows is not None and features.of_model:
            return view.find_typical_rows()
        is_clustered = view.labels >= 0
        by_labels = view.kind != "detector" and is_clustered.any()
        return TypicalRows.of(
            features.rows, is_clustered if by_labels else are_typical(view.strength)
        )

    def deviations_of(self, rows: Places) -> Deviations:
        """The deviations of rows from where they should be.

        This is the center of their cluster, or the mean of the nearest typical rows.
        """
        features, centers, labels = self.features, self.centers, self.view.labels[rows]
        values, n_features = features.measured[rows], len(features.names)
        if centers is not None:
            label = np.where(labels >= 0, labels, centers.nearest(values))
            unit = centers.spread[label]
            away = np.asarray((values - centers.points[label]) / unit, dtype=np.float64)
            point = "prototype" if centers.are_prototypes else "mean of the nearest cluster"
            words = (
                f"Distance from the nearest {point}, in units of the spread of its cluster in "
                "that column; values beyond about 3 are unusual there."
            )
        else:
            unit = self.typical.scale[:n_features]
            away = self.typical.deviations(features.rows[rows])[:, :n_features]
            words = (
                f"Distance from the mean of the {self.typical.n_compared} nearest typical rows, in "
                "units of the spread of the column over all rows."
            )
        shares = np.empty((len(rows), 0))
        if features.categories is not None:
            words = f"{words} For a category: how many of the 30 nearest typical rows have it."
            shares = features.categories.shares(self.typical.rows, features.rows[rows])
        away = np.where(np.isnan(features.shown[rows]), 0.0, away)
        return Deviations(away, unit, words, shares)


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
        spread = np.tile(features.scale, (len(points), 1))
        for label, rows in enumerate(rows_by_label(labels, len(points))):
            if len(rows) < _FEW or not view.strength[rows].any():
                continue
            own = values[rows]
            variance = np.average((own - points[label]) ** 2, axis=0, weights=view.strength[rows])
            # The median is the value that half of the rows have, if there is one.
            middle = np.partition(own, len(rows) // 2, axis=0)[len(rows) // 2]
            is_spike = np.mean(own == middle, axis=0) >= _SPIKE
            spread[label] = np.where(is_spike, features.scale, np.sqrt(variance))
        spread = np.maximum(spread, _NARROWEST * features.scale)
        return cls(points, spread, features.scale, are_prototypes)

    def separation(self, labels: Places) -> Doubles:
        """The distance to the nearest other point over the root mean square one of its rows."""
        points = self.points[labels] / self.scale
        apart = cdist(points, points)
        np.fill_diagonal(apart, np.inf)
        radius = np.sqrt(((self.spread[labels] / self.scale) ** 2).sum(axis=1))
        return np.asarray(apart.min(axis=1) / radius)

    def nearest(self, values: Floats) -> NDArray[np.intp]:
        """The label whose point is nearest to each row, in units of the spread of that cluster."""
        centers = zip(self.points, self.spread, strict=True)
        away = np.array([(((values - point) / one) ** 2).sum(axis=1) for point, one in centers])
        return np.asarray(np.nan_to_num(away, nan=np.inf).argmin(axis=0))
