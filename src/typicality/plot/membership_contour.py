"""Contours of memberships over the plane, and the clusters they make."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple, Self

import narwhals
import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array

from typicality._arguments import check_whole
from typicality._compat import feature_names
from typicality._tensors import array_of
from typicality._typing import Doubles
from typicality._words import counted
from typicality.fitted import FittedView, last_step
from typicality.plot._axes import (
    CUT,
    axes_for,
    cluster_colour,
    draw_rows,
    require_matplotlib,
    shades,
    view_of,
)

_MARGIN = 0.08  # of the range of the data, on each side
_TINT = 0.25  # opacity of the region of a cluster
_N_LEVELS = 12  # about
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


class MembershipContourDisplay:
    """Contours of memberships over two features, with the clusters and the rows.

    Darker colours are more typical. A line surrounds the region in which new rows get the label of
    a cluster. For :class:`~typicality.OneClusterPCM`, this is the line at which the score equals
    `offset_`. Rows have the colour of their cluster; unassigned rows are crosses.

    With more than two features, the contours are a slice: the other features have their median.
    Rows are drawn at their two features, whatever their other features are. With many features, few
    rows are near this slice.

    Create it with `from_estimator`. The drawn artists are attributes. Such figures are in
    :cite:`filippone2007` and :cite:`filippone2010`.

    Parameters
    ----------
    xx0, xx1 : arrays of shape (r, r)
        The two features at the points of a grid.
    membership : array of shape (r, r)
        The membership at these points.
    points : array of shape (n, 2)
        The rows.
    labels : array of shape (n,), int
        The clusters of the rows; -1 for unassigned rows.
    boundaries : sequence of (label, surface, level), default=()
        The region of each cluster, as a surface of shape (r, r) that is above the level inside the
        region.
    xlabel, ylabel : str
        The names of the features.
    name : str, default="membership"
        The name of the values.
    title : str, default=""
        The title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    surface_ : matplotlib QuadContourSet
        The filled contours.
    regions_, lines_ : lists of matplotlib QuadContourSet
        The regions of the clusters, and the lines around them, for clusters that appear in the
        slice.
    rows_ : list of matplotlib PathCollection
        The rows, one artist per label, in increasing order of labels.
    colorbar_ : matplotlib Colorbar or None
        The colorbar.

    Examples
    --------
    >>> from typicality import AlphaCutClustering
    >>> from typicality.datasets import make_discs_banana_ring
    >>> from typicality.plot import MembershipContourDisplay
    >>> X, _ = make_discs_banana_ring(random_state=0)
    >>> model = AlphaCutClustering().fit(X)
    >>> display = MembershipContourDisplay.from_estimator(model, X)  # doctest: +SKIP
    """

    def __init__(
        self,
        xx0: ArrayLike,
        xx1: ArrayLike,
        *,
        membership: ArrayLike,
        points: ArrayLike,
        labels: ArrayLike,
        boundaries: Sequence[Any] = (),
        xlabel: str,
        ylabel: str,
        name: str = "membership",
        title: str = "",
    ) -> None:
        self.xx0, self.xx1 = np.asarray(xx0), np.asarray(xx1)
        self.membership = np.asarray(membership)
        self.points, self.labels = np.asarray(points), np.asarray(labels)
        self.boundaries = [Boundary(*boundary) for boundary in boundaries]
        self.xlabel, self.ylabel, self.name, self.title = xlabel, ylabel, name, title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        cluster: int | None = None,
        grid_resolution: int = 150,
        colorbar: bool | None = None,
        ax: Any = None,
    ) -> Self:
        """Create the display from a fitted estimator.

        Costs a prediction for the grid (`grid_resolution` squared rows) and one for X.

        Parameters
        ----------
        estimator : estimator of typicality
            A fitted estimator, or a fitted pipeline that ends in one. It must be fitted on rows of
            features.
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to show, as for `predict`; training rows or others.
        features : pair of int or str, default=(0, 1)
            The two features, by number or, if X has names, by name.
        cluster : int, optional
            The cluster whose membership is drawn. By default, the largest membership of all
            clusters.
        grid_resolution : int, default=150
            The number of grid points in each direction.
        colorbar : bool, optional
            Whether to draw a colorbar, which makes the axes smaller. By default, only on a new
            figure.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        MembershipContourDisplay
        """
        require_matplotlib(cls)
        options = {"features": features, "grid_resolution": grid_resolution, "cluster": cluster}
        parts, on_grid, of_rows, note = _plane_through(estimator, X, **options)
        boundaries = _boundaries(last_step(estimator), on_grid, parts["membership"].shape)
        display = cls(
            **parts,
            boundaries=[line for line in boundaries if cluster in (None, line.label)],
            title=_summary(of_rows) + note,
        )
        return display.plot(colorbar=colorbar, ax=ax)

    def plot(self, *, colorbar: bool | None = None, ax: Any = None) -> Self:
        """Draw the contours, the clusters and the rows.

        Parameters
        ----------
        colorbar : bool, optional
            Whether to draw a colorbar, which makes the axes smaller. By default, only on a new
            figure.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        scale = ax is None if colorbar is None else colorbar
        ax = axes_for(self, ax, size=(6.4, 5.0))
        self.surface_ = ax.contourf(
            self.xx0, self.xx1, self.membership, levels=_N_LEVELS, cmap=shades()
        )
        self.regions_: list[Any] = []
        self.lines_: list[Any] = []
        for label, surface, level in self.boundaries:
            if not surface.min() < level < surface.max():
                continue  # matplotlib warns of lines that are nowhere
            style = {"colors": [cluster_colour(label)], "alpha": _TINT}
            above = [level, 2.0 * surface.max() - level]
            self.regions_.append(ax.contourf(self.xx0, self.xx1, surface, levels=above, **style))
            line = {"levels": [level], "colors": CUT, "linewidths": 1.0}
            self.lines_.append(ax.contour(self.xx0, self.xx1, surface, **line))
        self.rows_ = draw_rows(ax, self.points, self.labels)
        self.colorbar_ = (
            ax.figure.colorbar(self.surface_, ax=ax, label=self.name) if scale else None
        )
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, title=self.title)
        return self


def _summary(view: FittedView) -> str:
    """How many clusters rows are in, and how many rows are in none."""
    labels, unassigned = view.labels, view.n_unassigned
    if view.kind == "detector":
        return f"{unassigned} of {len(labels)} rows flagged as outliers (×)"
    rest = f"; {unassigned} of {len(labels)} rows unassigned (×)" if unassigned else ""
    return counted(len(np.unique(labels[labels >= 0])), "cluster") + rest


# ---- the plane of two features -------------------------------------------------------------------


def _plane_through(
    estimator: Any, X: Any, *, features: Any, grid_resolution: Any, cluster: Any
) -> tuple[dict[str, Any], FittedView, FittedView, str]:
    """The plane of two features, over the range of the rows and a little more.

    The other features keep their median.

    Returns
    -------
    parts : dict
        The arguments of a display over the plane: the features at the points of a grid, the
        membership there, the rows seen along the other features, their labels, and the names.
    on_grid, of_rows : FittedView
        The views of the points of the grid, and of the rows.
    note : str
        A line for the title about the other features, if there are any.
    """
    size = check_whole(grid_resolution, "grid_resolution", least=2)
    X = array_of(X)
    names = feature_names(X)
    rows, places = _two_features(last_step(estimator), X, features, names)
    points = rows[:, places]
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, _MARGIN * (high - low), 1.0)
    xx0, xx1 = np.meshgrid(*np.linspace(low - margin, high + margin, size).T)
    grid: Any = np.tile(np.median(rows, axis=0), (size * size, 1))
    grid[:, places] = np.column_stack([xx0.ravel(), xx1.ravel()])
    xlabel, ylabel = (f"feature {j}" if names is None else str(names[j]) for j in places)
    if names is not None:  # a dataframe of the kind of X: estimators compare names
        columns = dict(zip(map(str, names), grid.T, strict=True))
        grid = narwhals.from_dict(columns, backend=narwhals.get_native_namespace(X)).to_native()
    on_grid, of_rows = view_of(estimator, grid), view_of(estimator, X)
    membership, name = _membership(on_grid, cluster)
    parts = {
        "xx0": xx0,
        "xx1": xx1,
        "membership": membership.reshape(size, size),
        "points": points,
        "labels": of_rows.labels,
        "xlabel": xlabel,
        "ylabel": ylabel,
        "name": name,
    }
    n_others = rows.shape[1] - 2
    others = "other feature is" if n_others == 1 else f"{n_others} other features are"
    note = (
        f"\nContours are a slice: the {others} at the median there.\n"
        "Rows with other values may lie outside the region of their cluster."
    )
    note = note if n_others else ""
    return parts, on_grid, of_rows, note


def _membership(view: FittedView, cluster: Any) -> tuple[Doubles, str]:
    """The membership of rows in a cluster, or the largest; and its name.

    A tree and a detector have one surface, the typicality.
    """
    surfaces = view.strength[:, None] if view.memberships is None else view.memberships
    n_surfaces = surfaces.shape[1]
    if cluster is None:
        name = "largest membership" if view.shares else "typicality"
        return np.asarray(surfaces.max(axis=1, initial=0.0), dtype=np.float64), name
    if not isinstance(cluster, Integral) or int(cluster) not in range(n_surfaces):
        known = f"they are numbered from 0 to {n_surfaces - 1}" if n_surfaces else "there is none"
        raise ValueError(f"cluster must be the number of a cluster ({known}); got {cluster!r}.")
    name = view.word if n_surfaces == 1 else f"{view.word} of cluster {cluster}"
    return np.asarray(surfaces[:, cluster], dtype=np.float64), name


def _two_features(
    estimator: Any, X: Any, features: Any, names: Sequence[str] | None
) -> tuple[Doubles, tuple[int, int]]:
    """The rows as points, and the places of two features of them, given by place or by name."""
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"With kernel={estimator.kernel!r}, rows have no coordinates to draw. Fit the model on "
            "rows of features, e.g. with kernel='gaussian'."
        )
    points = check_array(X, dtype=np.float64, input_name="X")
    n_features = points.shape[1]
    if n_features < 2:
        raise ValueError(
            f"X has {n_features} feature(s), and a plane needs two. Use MembershipHistogramDisplay."
        )
    if isinstance(features, str) or not hasattr(features, "__len__") or len(features) != 2:
        raise ValueError(f"features must be two of the features of X; got {features!r}.")
    first, second = (_place(feature, n_features, names) for feature in features)
    if first == second:
        raise ValueError(f"features must be two different features of X; got {features!r}.")
    return points, (first, second)


def _place(feature: Any, n_features: int, names: Sequence[str] | None) -> int:
    """The number of a column, given as number or name."""
    if isinstance(feature, str):
        if names is None or feature not in list(names):
            known = "X has no names" if names is None else f"X has {', '.join(names)}"
            raise ValueError(f"features: no feature is named {feature!r}; {known}.")
        return list(names).index(feature)
    if not isinstance(feature, Integral) or int(feature) not in range(n_features):
        raise ValueError(
            f"features: {feature!r} is not a feature of X, which has {n_features}: pass "
            f"numbers from 0 to {n_features - 1}, or names of columns."
        )
    return int(feature)


# ---- the lines around clusters -------------------------------------------------------------------


def _boundaries(model: Any, view: FittedView, shape: tuple[int, int]) -> list[Boundary]:
    """The lines around the clusters, from the view of the points of a grid."""
    if view.kind == "detector":
        finite = np.nan_to_num(view.strength - model.offset_, neginf=np.finfo(np.float64).min)
        return [Boundary(0, finite.reshape(shape), 0.0)]
    memberships = view.memberships
    if memberships is None:
        n_clusters, has_levels = model.n_clusters_, model._assign != "typical"
    else:  # with copies of a prototype, the largest membership need not be that of the nearest
        n_clusters = memberships.shape[1]
        has_levels = view.n_unassigned == 0 and len(model.prototype_labels_) == n_clusters
    boundaries = []
    for label in range(n_clusters):
        inside = view.labels == label
        level: Any = 0.0
        if not has_levels:  # no surface has a level there, and lines along the grid are stairs
            side = np.where(inside, 1.0, -1.0).reshape(shape)
            surface = gaussian_filter(side, _BLUR)
        elif memberships is None:
            level = view.cut if view.levels is None else view.levels[label]
            outside = np.minimum(view.strength, level - _hair(view.strength))
            surface = np.where(inside, view.strength, outside)
        else:
            others = np.delete(memberships, label, axis=1).max(axis=1, initial=0.0)
            lead = memberships[:, label] - others
            # Far away all memberships may be zero, and yet a row has a nearest prototype.
            hair = _hair(lead)
            surface = np.where(inside, np.maximum(lead, hair), np.minimum(lead, -hair))
        boundaries.append(Boundary(label, surface.reshape(shape), level))
    return boundaries


def _hair(surface: Doubles) -> float:
    return _HAIR * max(float(np.ptp(surface)), _HAIR)
