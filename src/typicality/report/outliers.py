"""Why a row is unusual: the features in which it is farthest from where it should be."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Places
from typicality.fitted import FittedView
from typicality.geometry.rows import NearestRows
from typicality.report.features import FeatureTable
from typicality.report.middles import Middles

_MOST_LISTED = 2000
_LISTED_ANYWAY = 20  # the least typical rows are worth a look even where all rows belong somewhere
_NEIGHBOURS = 20
_NEIGHBOURS_AMONG = 20_000  # typical rows: more of them are no nearer to an outlier


class Outliers(NamedTuple):
    """The rows that belong nowhere and the least typical of the others, least typical first.

    Parameters
    ----------
    rows : array of shape (m,)
        The rows, as their numbers in the data.
    deviations : array of shape (m, d)
        How far each is from where it should be, in units of a spread, feature by feature.
    words : str
        How deviations are measured.
    """

    rows: Places
    deviations: Doubles
    words: str


def explain(
    found: FittedView, features: FeatureTable, middles: Middles | None, shown: Places
) -> Outliers:
    """The outliers among the rows that are shown, and the deviations that make them so."""
    strength = found.strength[shown]
    order = np.argsort(strength, kind="stable")
    listed = found.labels[shown[order]] < 0
    listed[:_LISTED_ANYWAY] = True
    rows = shown[order[listed][:_MOST_LISTED]]
    if middles is None:
        return _from_neighbours(found, features, rows)
    return _from_middles(found.labels[rows], features, middles, rows)


def _from_middles(
    labels: NDArray[np.int32], features: FeatureTable, middles: Middles, rows: Places
) -> Outliers:
    values = features.measured[rows]
    label = np.where(labels >= 0, labels, middles.nearest(values))
    if (label < 0).any():  # there is no cluster at all
        words = "Distance from the median of all rows, in units of the spread of the feature."
        return Outliers(rows, features.standardised[rows], words)
    away = (values - middles.points[label]) / middles.spread[label]
    point = "prototype" if middles.are_prototypes else "mean of the nearest cluster"
    words = (
        f"Distance from the nearest {point}, in units of the spread of its cluster in that "
        "feature: beyond 3 or so a value is unusual there."
    )
    return Outliers(rows, np.asarray(away, dtype=np.float64), words)


def _from_neighbours(found: FittedView, features: FeatureTable, rows: Places) -> Outliers:
    typical = _typical_rows(found, rows)
    values = features.standardised
    n_neighbours = min(_NEIGHBOURS, len(typical))
    words = (
        f"Distance from the mean of the {n_neighbours} nearest typical rows, in units of the "
        "spread of the feature over all rows."
    )
    if len(typical) == 0:
        return Outliers(rows, values[rows], "Distance from the median of all rows.")
    nearest = NearestRows(values[typical], 2).of(values[rows], n_neighbours)
    expected = np.mean([values[typical[column]] for column in nearest.T], axis=0)
    return Outliers(rows, values[rows] - expected, words)


def _typical_rows(found: FittedView, outliers: Places) -> Places:
    """Rows of clusters, or the more typical half where there are none; the outliers left out."""
    typical = found.labels >= 0
    if not typical.any():
        typical = found.strength >= np.median(found.strength)
    typical[outliers] = False
    rows = np.flatnonzero(typical)
    step = -(-len(rows) // _NEIGHBOURS_AMONG)
    return rows[:: max(step, 1)]
