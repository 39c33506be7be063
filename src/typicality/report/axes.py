"""The axes of a page: features, principal axes, and the two that it opens with."""

import re
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.decomposition import PCA

from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Floats, Places
from typicality.explain import robust_scale
from typicality.fitted import FittedView
from typicality.report.assembly import clean_text, encoded
from typicality.report.features import FeatureTable
from typicality.report.outliers import Explanation, largest, times_named

_MOST_VALUES = 2_500_000  # of all axes together: 10 MB, 13 in the page
_MOST_AXES = 1000
_FARTHEST = 10.0  # spreads: a single extreme value would determine the first principal axis
_FITTED_ROWS = 50_000  # more do not move a principal axis
_WIDE = 500  # features, from where on all covariances are too many
_FLOAT32_LEAST, _FLOAT32_MOST = 1e-30, 1e38  # beyond, digits or whole numbers are lost
_FLOAT32_ERROR = 1e-6  # of the spread of a feature, that writing it in four bytes may cost
OUTSIDE = 0.99  # of the rows lie in denser places than a row that is outside of the crowd
_MOST_TRIED = 8  # features in pairs
_MOST_OUTLIERS = 500
_CROWD = 20_000  # rows are enough to see where the crowd is
_CELLS = 64  # of a plane, along each side
_STAND_OUT = "The plot opens with the two columns in which the outliers stand out most."
_BY_SCORE = (
    "The worst outlier is not isolated in any two columns: it is unusual in a "
    "combination of columns. So the plot opens with the score as the vertical axis."
)
_LONGITUDES = frozenset(["lon", "long", "lng", "longitude", "longitud", "längengrad"])
_LATITUDES = frozenset(["lat", "latitude", "latitud", "breitengrad"])


def choose_axes(
    view: FittedView,
    features: FeatureTable,
    shown: Places,
    *,
    importance: Doubles,
    outliers: Explanation,
) -> tuple[Places, dict[str, Any]]:
    """Features, the most important ones where all are too many, and principal axes.

    The page itself adds the strength as a last axis. It opens with the axes in which outliers stand
    out if it is about outliers (:func:`outlier_axes`), else with a map if there is one, else with
    principal axes.

    Parameters
    ----------
    view, features : FittedView, FeatureTable
        All rows.
    shown : array of int
        Those on the page.
    importance : array of shape (d,)
        Which features to keep.
    outliers : Explanation
        The least typical rows, the worst first.

    Returns
    -------
    kept : array of int
        The features that are axes; they come first.
    payload : dict
        The axes as a page reads them.
    """
    made = _principal_axes(features, shown)
    n_features = len(features.names)
    room = min(_MOST_AXES, _MOST_VALUES // len(shown)) - len(made)
    kept = np.sort(np.argsort(-importance, kind="stable")[: max(room, 2)])
    left_out = None
    if len(kept) < n_features:
        left_out = (
            f"This page shows {len(kept):,} of {n_features:,} columns, to keep it small: "
            "those that explain most about clusters and outliers."
        )
    axes = [(features.names[j], features.shown[shown, j]) for j in kept] + made
    start, words = _opening_axes(view, features, kept, outliers, n_made=len(made))
    return kept, {
        "axes": [
            {
                "name": clean_text(name),
                "values": encoded(values, _float_type(values)),
                "feature": number < len(kept),
            }
            for number, (name, values) in enumerate(axes)
        ],
        "features_note": left_out,
        "start_axes": start,
        "start_words": words,
    }


def _opening_axes(
    view: FittedView, features: FeatureTable, kept: Places, outliers: Explanation, *, n_made: int
) -> tuple[list[int], str | None]:
    """The two axes that a page opens with, and a sentence about them."""
    values, deviations = features.shown[:, kept], outliers.deviations[:, kept]
    start, words = [len(kept), len(kept) + 1] if n_made else [0, 1], None
    if view.kind == "detector" and view.n_unassigned:
        start, stands_out = outlier_axes(view, values, outliers.rows, deviations)
        start = [len(kept) + n_made if axis == len(kept) else axis for axis in start]
        words = _STAND_OUT if stands_out else _BY_SCORE
    east_north = find_map([features.names[j] for j in kept], values)
    if east_north is not None and (words is None or set(start) == set(east_north)):
        start = list(east_north)
    return start, words if len(features.names) > 1 else None


def _principal_axes(features: FeatureTable, shown: Places) -> list[tuple[str, Floats]]:
    """The first two principal axes of three features or more, in units of their spreads.

    Far values count as if they were 10 spreads away when axes are sought, and are drawn where they
    are.
    """
    values = features.standardised
    if features.mixed is not None and features.categories is not None:
        # Categories as the model saw them; they are on one scale with standardised numbers.
        categories = features.mixed[:, features.categories.n_numeric :]
        values = np.column_stack([values, categories - categories.mean(axis=0)])
    n_rows, n_features = values.shape
    some = values[:: -(-n_rows // _FITTED_ROWS)].clip(-_FARTHEST, _FARTHEST)
    if n_features < 3 or not some.std(axis=0).any():
        return []
    solver = "randomized" if n_features > _WIDE and len(some) > _WIDE else "auto"
    with one_blas_thread():
        pca = PCA(2, svd_solver=solver, random_state=0).fit(some)
        drawn = pca.transform(values[shown])
    names = [f"PCA {k + 1} ({100 * s:.0f} %)" for k, s in enumerate(pca.explained_variance_ratio_)]
    return list(zip(names, drawn.T, strict=True))


def _float_type(values: Floats) -> str:
    """Four bytes a value, but for numbers that would lose what makes them differ, like dates."""
    finite = values[np.isfinite(values)].astype(np.float64)
    largest_one = np.abs(finite).max(initial=0.0)
    spread = float(np.ptp(finite)) if len(finite) else 0.0
    coarse = largest_one * np.finfo(np.float32).eps > _FLOAT32_ERROR * spread > 0
    beyond = largest_one > _FLOAT32_MOST or 0 < largest_one < _FLOAT32_LEAST
    return "f8" if coarse or beyond else "f4"


# ---- the axes in which outliers stand out --------------------------------------------------------


def outlier_axes(
    view: FittedView, values: Floats, rows: Places, deviations: Doubles
) -> tuple[list[int], bool]:
    """The two features in which outliers stand out, and whether the worst one does.

    A row is *outside of the crowd* in a plane if at least 99 % of the other rows lie in denser
    places of it. Density is that of a smoothed histogram on the scale on which a page draws far
    values closer. Tried are all pairs of the eight features that are named most often as reasons
    for outliers, and of those named for the worst one. Of the pairs in which the worst outlier is
    outside of the crowd, that one is chosen in which most of the crowd is denser than an outlier,
    on average over outliers; the k-th worst counts 1 / k.

    If there is no such pair, the worst outlier is unusual by a combination of features. Then the
    second axis is the score (feature number d), in which the worst row is lowest by definition.
    Costs O(n) for at most 20,000 rows.

    Parameters
    ----------
    view : FittedView
        All rows, of a detector.
    values : array of shape (n, d)
        The features as they are drawn; NaN where a value is missing.
    rows : array of shape (m,)
        The least typical rows, the worst first.
    deviations : array of shape (m, d)
        How far they are from where they should be, feature by feature.
    """
    flagged = np.flatnonzero(view.labels[rows] < 0)[:_MOST_OUTLIERS]
    sizes, counts = np.abs(deviations[flagged]).sum(axis=0), times_named(deviations[flagged], 3)
    order = np.concatenate([largest(deviations[:1], 3)[0][0], np.lexsort((-sizes, -counts))])
    tried = np.array(list(dict.fromkeys(order[order >= 0].tolist())), dtype=np.intp)[:_MOST_TRIED]
    crowd = np.arange(0, len(values), -(-len(values) // _CROWD))
    planes = _Planes(values[:, tried], crowd, rows[flagged])
    weights = 1.0 / np.arange(1, len(flagged) + 1)
    best, most = None, -np.inf
    for pair in combinations(range(len(tried)), 2):
        outside = planes.denser_shares(*pair)
        if outside[0] >= OUTSIDE and outside @ weights > most:
            best, most = pair, float(outside @ weights)
    if best is None:
        return [int(tried[0]) if len(tried) else 0, values.shape[1]], False
    return sorted(tried[list(best)].tolist()), True


class _Planes:
    """Rows in planes of two features, each plane cut into cells."""

    def __init__(self, values: Floats, crowd: Places, outliers: Places) -> None:
        """Some rows are the crowd; outliers are compared with them, be they among them or not."""
        self._n_crowd = len(crowd)
        rows = np.concatenate([crowd, outliers])
        self._is_crowd_too = np.isin(outliers, crowd)
        some = values[rows].astype(np.float64)
        known = np.isfinite(some)
        self._cells = np.full(some.shape, -1, dtype=np.intp)
        self._smoothing = np.ones(some.shape[1])
        for j in range(some.shape[1]):
            column = some[known[:, j], j]
            if not len(column):
                continue
            place = np.arcsinh((column - np.median(column)) / robust_scale(column[:, None])[0])
            width = float(np.ptp(place)) or 1.0
            self._cells[known[:, j], j] = (place - place.min()) / width * (_CELLS - 1)
            # The rule of Scott in two dimensions.
            spread = place.std() / width * (_CELLS - 1)
            self._smoothing[j] = max(spread * len(column) ** (-1 / 6), 0.7)

    def denser_shares(self, across: int, up: int) -> Doubles:
        """For each outlier the share of the other rows of the crowd that lie in denser places."""
        x, y = self._cells[:, across], self._cells[:, up]
        drawn = (x >= 0) & (y >= 0)
        cell = np.where(drawn, x * _CELLS + y, 0)
        smoothing = self._smoothing[[across, up]]
        density = self._smooth(
            np.bincount(cell[: self._n_crowd][drawn[: self._n_crowd]]), smoothing
        )
        itself = self._smooth(np.bincount([_CELLS * _CELLS // 2 + _CELLS // 2]), smoothing).max()
        found = density[cell]
        found[: self._n_crowd] -= itself
        outliers = np.where(
            self._is_crowd_too, found[self._n_crowd :] - itself, found[self._n_crowd :]
        )
        # Differences of rounding are none.
        unit = 1e-9 * max(float(density.max()), 1e-300)
        crowd = np.sort(np.rint(found[: self._n_crowd][drawn[: self._n_crowd]] / unit))
        n_sparser = np.searchsorted(crowd, np.rint(outliers / unit), side="right")
        n_others = np.maximum(len(crowd) - self._is_crowd_too, 1)
        return np.where(drawn[self._n_crowd :], (len(crowd) - n_sparser) / n_others, 0.0)

    @staticmethod
    def _smooth(counts: NDArray[np.intp], smoothing: Doubles) -> Doubles:
        plane = np.zeros(_CELLS * _CELLS)
        plane[: len(counts)] = counts
        plane = gaussian_filter(plane.reshape(_CELLS, _CELLS), smoothing, mode="constant")
        return np.asarray(plane.ravel())


# ---- maps ----------------------------------------------------------------------------------------


def find_map(names: list[str], values: Floats) -> tuple[int, int] | None:
    """The places of longitude and latitude among features; None where there are none.

    They are found by their names, in which what is left must agree (start_lon and start_lat), and
    all values must be degrees that exist.
    """
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for place, name in enumerate(names):
        split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
        words = re.findall(r"[^\W\d_]+", split)
        for kind, known, degrees in (
            ("east", _LONGITUDES, (-180, 360)),
            ("north", _LATITUDES, (-90, 90)),
        ):
            rest = tuple(word for word in words if word not in known)
            if len(rest) < len(words) and _are_between(values[:, place], *degrees):
                found.setdefault(rest, {}).setdefault(kind, place)
    return next(((two["east"], two["north"]) for two in found.values() if len(two) == 2), None)


def _are_between(values: Floats, low: float, high: float) -> bool:
    known = values[np.isfinite(values)]
    return bool(len(known) and low <= known.min() and known.max() <= high)
