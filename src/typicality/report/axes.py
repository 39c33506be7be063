"""The axes of a page: features, principal axes, and the two that it opens with."""

import re
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from typicality._threads import one_blas_thread
from typicality._typing import Doubles, Floats, Places
from typicality.fitted import FittedView
from typicality.report.assembly import clean_text, encoded
from typicality.report.features import FeatureTable, times_named
from typicality.report.outliers import Explanation

_MOST_VALUES = 2_500_000  # of all axes together: 10 MB, 13 in the page
_MOST_AXES = 1000
_FARTHEST = 10.0  # spreads: a single extreme value would determine the first principal axis
_FITTED_ROWS = 50_000  # more do not move a principal axis
_WIDE = 500  # features, from where on all covariances are too many
_FLOAT32_ERROR = 1e-6  # of the spread of a feature, that writing it in four bytes may cost
_MOST_NAMED = "The plot opens with the two columns in which most outliers are most unusual."
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

    The page itself adds the strength as a last axis. It opens with a map if there is one. If it is
    about outliers, it opens with the two columns that are named most often as their first reason,
    else with principal axes.

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
    start, words = [len(kept), len(kept) + 1] if made else [0, 1], None
    east_north = find_map([features.names[j] for j in kept], features.shown[:, kept])
    if east_north is not None:
        start = list(east_north)
    elif view.kind == "detector" and view.n_unassigned and len(kept) > 1:
        flagged = view.labels[outliers.rows] < 0
        away = outliers.deviations[flagged][:, kept]
        most = np.lexsort((-np.abs(away).sum(axis=0), -times_named(away, 1)))
        start, words = sorted(most[:2].tolist()), _MOST_NAMED
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
    with np.errstate(over="ignore"):
        error = np.abs(finite.astype(np.float32) - finite).max(initial=0.0)
    spread = float(np.ptp(finite)) if len(finite) else 0.0
    return "f4" if error <= _FLOAT32_ERROR * spread else "f8"


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
