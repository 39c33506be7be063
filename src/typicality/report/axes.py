"""The axes a page can draw: features in the units of the user, and what is made of them."""

from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA

from typicality._typing import Doubles, Floats, Places
from typicality.fitted import FittedView
from typicality.report.features import FeatureTable

_MOST_VALUES = 2_500_000  # of all axes together: 10 MB, 13 in the page
_MOST_AXES = 1000
_FARTHEST = 10.0  # spreads: one wild value would be the first principal axis all by itself
_FITTED_ROWS = 50_000  # more do not move a principal axis
_WIDE = 500  # features, from where on all covariances are too many


class Axis(NamedTuple):
    """Values to draw along: of a feature, or made of all of them."""

    name: str
    values: Floats
    is_feature: bool


class AxisChoice(NamedTuple):
    """The axes of a page.

    Parameters
    ----------
    axes : list of Axis
        Features first.
    features : array of int
        Which features those are.
    start : tuple of int
        The axes to begin with.
    note : str, optional
        What was left out, or drawn in.
    """

    axes: list[Axis]
    features: Places
    start: tuple[int, int]
    note: str | None


def choose_axes(
    found: FittedView, features: FeatureTable, shown: Places, *, importance: Doubles
) -> AxisChoice:
    """Features, the most important ones where all are too many; principal axes; the strength.

    Parameters
    ----------
    found, features : FittedView, FeatureTable
        All rows.
    shown : array of int
        Those on the page.
    importance : array of shape (d,)
        Which features to keep.
    """
    made, drawn_in = _principal_axes(features, shown)
    n_features = len(features.names)
    if n_features == 1:
        made = [Axis(found.strength_name, found.strength[shown], False)]
    room = min(_MOST_AXES, _MOST_VALUES // len(shown)) - len(made)
    kept = np.sort(np.argsort(-importance, kind="stable")[: max(room, 2)])
    axes = [Axis(features.names[j], features.shown[shown, j], True) for j in kept]
    notes = [_note_on_features(len(kept), n_features), drawn_in]
    start = (len(kept), len(kept) + 1) if len(made) == 2 else (0, 1)
    return AxisChoice(axes + made, kept, start, " ".join(filter(None, notes)) or None)


def _note_on_features(n_kept: int, n_features: int) -> str | None:
    if n_kept == n_features:
        return None
    return (
        f"Of {n_features:,} features {n_kept:,} are on this page, to keep it small: those that "
        "tell most about clusters and outliers."
    )


def _principal_axes(features: FeatureTable, shown: Places) -> tuple[list[Axis], str | None]:
    """The first two principal axes of three features or more, in units of their spreads."""
    values = features.standardised
    n_rows, n_features = values.shape
    some = values[:: -(-n_rows // _FITTED_ROWS)].clip(-_FARTHEST, _FARTHEST)
    if n_features < 3 or not some.std(axis=0).any():
        return [], None
    solver = "randomized" if n_features > _WIDE and len(some) > _WIDE else "auto"
    pca = PCA(2, svd_solver=solver, random_state=0).fit(some)
    drawn = values[shown].clip(-_FARTHEST, _FARTHEST)
    axes = [
        Axis(f"PCA {k + 1} ({100 * share:.0f} %)", column, False)
        for k, (share, column) in enumerate(
            zip(pca.explained_variance_ratio_, pca.transform(drawn).T, strict=True)
        )
    ]
    extreme = int((np.abs(values[shown]) > _FARTHEST).any(axis=1).sum())
    note = (
        f"In the PCA axes values farther than {_FARTHEST:g} spreads from the median are drawn in "
        f"to that distance ({extreme:,} rows have some)."
    )
    return axes, note if extreme else None
