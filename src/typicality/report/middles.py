"""The middles of clusters, and how far their rows are from them."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from typicality._typing import Doubles, Floats, Places
from typicality.fitted import FittedView
from typicality.report.features import FeatureTable

_FEW = 5  # rows say little about a spread
_NARROWEST = 0.01  # of the spread of all rows: equal values would make any other infinitely far


@dataclass(frozen=True, eq=False)
class Middles:
    """A point amid each cluster, in the features that are measured, and its spread.

    Parameters
    ----------
    points : array of shape (c, d)
        The prototypes, where they have coordinates, or the means of the rows of each label; NaN
        for labels without rows.
    spread : array of shape (c, d)
        The standard deviation of the rows of each label about its point, weighted by their
        typicality; that of all rows where there are fewer than five.
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
    def of(cls, found: FittedView, features: FeatureTable) -> Self:
        """The middles of the clusters of rows."""
        are_prototypes = features.of_model and found.centers is not None
        values, labels = features.measured, found.labels
        points = found.centers if are_prototypes else group_means(values, labels)
        points = np.asarray(points, dtype=np.float64)
        somewhere = np.flatnonzero(labels >= 0)
        away = values[somewhere] - points[labels[somewhere]]
        groups = _groups(labels[somewhere], len(points), found.strength[somewhere])
        mass = np.asarray(groups.sum(axis=1))[:, None]
        counts = np.bincount(labels[somewhere], minlength=len(points))[:, None]
        enough = (counts >= _FEW) & (mass > 0)
        variance = np.divide(groups @ away**2, mass, out=np.zeros_like(points), where=mass > 0)
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


def group_means(values: Floats, labels: NDArray[np.int32]) -> Doubles:
    """The means of the rows of each label, missing values left out; NaN where there are none."""
    missing = np.isnan(values)
    somewhere = np.flatnonzero(labels >= 0)
    n_labels = labels.max(initial=-1) + 1
    groups = _groups(labels[somewhere], n_labels, np.ones(len(somewhere)))
    sums = groups @ np.where(missing, 0.0, values)[somewhere]
    counts = groups @ (~missing).astype(np.float64)[somewhere]
    means: Doubles = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return means


def _groups(labels: NDArray[np.int32], n_labels: int, weight: Doubles) -> csr_array:
    """A matrix whose product with values sums them over the rows of each label."""
    places = (labels, np.arange(len(labels)))
    return csr_array((weight, places), shape=(n_labels, len(labels)))
