"""Plots of results, as Display objects like those of scikit-learn.

They need matplotlib (``pip install matplotlib``). Each display draws on the axes `ax`, or on a new
figure, and keeps the drawn artists as attributes.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import ceil, log10
from numbers import Integral
from typing import Any, Self

import narwhals
import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, column_or_1d

from typicality._arguments import check_same_length, check_whole
from typicality._compat import feature_names
from typicality._tensors import array_of
from typicality._typing import Doubles, Places
from typicality._words import counted
from typicality.fitted import FittedView, last_step, prepared, view
from typicality.levelsets.tree import AlphaTree
from typicality.metrics.discoveries import penalty, select_discoveries

__all__ = [
    "ClusterTreeDisplay",
    "MembershipContourDisplay",
    "MembershipHistogramDisplay",
    "PValueDisplay",
]

# The palette of Okabe and Ito, which colour-blind people can distinguish, without its black; the
# strongest contrasts come first.
_CLUSTERS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_BLACK, _GREY, _PLAIN = "#000000", "#7F7F7F", "#B0B0B0"
_SHADES = ("#FFFFFF", "#8C8C8C")  # rows of any colour stand out from both

_MARGIN = 0.08  # of the range of the data, on each side
_MOST_NAMES = 10  # clusters in the legend
_THINNEST, _THICKEST = 0.8, 9.0  # points
_REACH = 0.35  # how far the mark of a cut goes to both sides of a branch


class _Display:
    """A picture on axes of matplotlib."""

    def _on_axes(self, ax: Any, *, size: tuple[float, float]) -> Any:
        """The axes given, or those of a new figure; the display keeps them and their figure."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__} needs matplotlib, which is not installed. Install it: "
                "pip install matplotlib."
            ) from error
        if ax is None:
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def cluster_colour(label: int) -> str:
    """The colour of a cluster; -1 gives the colour of unassigned rows."""
    return _BLACK if label < 0 else _CLUSTERS[label % len(_CLUSTERS)]


def _numbers(values: Any, name: str) -> Doubles:
    """One finite number or more."""
    numbers = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
    return np.asarray(column_or_1d(numbers))


def _view_of(estimator: Any, X: Any) -> FittedView:
    """The view of rows by an estimator, or by a pipeline, which prepares them."""
    model = last_step(estimator)
    if not (hasattr(model, "predict_memberships") or hasattr(model, "predict_typicality")):
        raise ValueError(
            f"{model!r} has neither memberships nor typicalities of new rows. Fit an estimator of "
            "typicality."
        )
    return view(model, prepared(estimator, X))


# ---- contours ------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class MembershipContourDisplay(_Display):
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
    boundaries : sequence of (label, surface), default=()
        The region of each cluster, as a surface of shape (r, r) that is above 0 inside the region.
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

    xx0: Any
    xx1: Any
    _: KW_ONLY
    membership: Any
    points: Any
    labels: Any
    boundaries: Sequence[Any] = ()
    xlabel: str
    ylabel: str
    name: str = "membership"
    title: str = ""

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
        size = check_whole(grid_resolution, "grid_resolution", least=2)
        X, model = array_of(X), last_step(estimator)
        names = feature_names(X)
        rows = _check_plane(model, X)
        places = _places(features, rows.shape[1], names)
        points = rows[:, places]
        low, high = points.min(axis=0), points.max(axis=0)
        margin = np.where(high > low, _MARGIN * (high - low), 1.0)
        xx0, xx1 = np.meshgrid(*np.linspace(low - margin, high + margin, size).T)
        grid: Any = np.tile(np.median(rows, axis=0), (size * size, 1))
        grid[:, places] = np.column_stack([xx0.ravel(), xx1.ravel()])
        if names is not None:  # a dataframe of the kind of X: estimators compare names
            columns = dict(zip(map(str, names), grid.T, strict=True))
            grid = narwhals.from_dict(columns, backend=narwhals.get_native_namespace(X)).to_native()
        on_grid, of_rows = _view_of(estimator, grid), _view_of(estimator, X)
        membership, name = _membership(on_grid, cluster)
        labels = on_grid.labels.reshape(xx0.shape)
        # Smoothed over two steps of the grid: without that, lines along the grid are stairs.
        boundaries = [
            (label, gaussian_filter(np.where(labels == label, 1.0, -1.0), 2.0))
            for label in range(int(labels.max()) + 1)
            if cluster in (None, label)
        ]
        xlabel, ylabel = (f"feature {j}" if names is None else str(names[j]) for j in places)
        display = cls(
            *(xx0, xx1),
            membership=membership.reshape(xx0.shape),
            points=points,
            labels=of_rows.labels,
            boundaries=boundaries,
            xlabel=xlabel,
            ylabel=ylabel,
            name=name,
            title=_summary(of_rows, rows.shape[1] - 2),
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
        ax = self._on_axes(ax, size=(6.4, 5.0))
        from matplotlib.colors import LinearSegmentedColormap

        greys = LinearSegmentedColormap.from_list("typicality", _SHADES)
        self.surface_ = ax.contourf(self.xx0, self.xx1, self.membership, levels=12, cmap=greys)
        self.regions_: list[Any] = []
        self.lines_: list[Any] = []
        for label, surface in self.boundaries:
            if not surface.min() < 0.0 < surface.max():
                continue  # matplotlib warns of lines that are nowhere
            inside = {"levels": [0.0, 2.0], "colors": cluster_colour(label), "alpha": 0.25}
            self.regions_.append(ax.contourf(self.xx0, self.xx1, surface, **inside))
            line = {"levels": [0.0], "colors": _BLACK, "linewidths": 1.0}
            self.lines_.append(ax.contour(self.xx0, self.xx1, surface, **line))
        area = float(np.clip(250.0 / np.sqrt(max(len(self.points), 1)), 0.5, 25.0))
        rim = {"linewidths": 0.5, "edgecolors": "black"} if area > 6.0 else {"linewidths": 0.0}
        self.rows_: list[Any] = []
        for label in np.unique(self.labels).tolist():
            style: dict[str, Any] = {"marker": "x", "s": 1.5 * area, "linewidths": 0.8}
            if label >= 0:  # clusters that share a colour have different markers
                marker = _MARKERS[label // len(_CLUSTERS) % len(_MARKERS)]
                style = {"marker": marker, "s": area, **rim}
            points = self.points[self.labels == label].T
            self.rows_.append(ax.scatter(*points, color=cluster_colour(label), **style))
        self.colorbar_ = (
            ax.figure.colorbar(self.surface_, ax=ax, label=self.name) if scale else None
        )
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, title=self.title)
        return self


def _summary(view: FittedView, n_others: int) -> str:
    """How many clusters rows are in, how many rows are in none, and what a slice is."""
    which = "flagged as outliers" if view.kind == "detector" else "unassigned"
    title = f"{view.n_unassigned} of {view.n_rows} rows {which} (×)"
    if view.kind != "detector":
        found = counted(len(view.most_typical[0]), "cluster")
        title = f"{found}; {title}" if view.n_unassigned else found
    if not n_others:
        return title
    others = "other feature is" if n_others == 1 else f"{n_others} other features are"
    return (
        f"{title}\nContours are a slice: the {others} at the median there.\n"
        "Rows with other values may lie outside the region of their cluster."
    )


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
        known = f"they are numbered from 0 to {n_surfaces - 1}"
        if n_surfaces == 0:
            known = "the model has no clusters"
        raise ValueError(f"cluster must be the number of a cluster ({known}); got {cluster!r}.")
    name = view.word if n_surfaces == 1 else f"{view.word} of cluster {cluster}"
    return np.asarray(surfaces[:, cluster], dtype=np.float64), name


def _check_plane(estimator: Any, X: Any) -> Doubles:
    """The rows as points with two coordinates or more."""
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"With kernel={estimator.kernel!r}, rows have no coordinates to draw. Fit the model on "
            "rows of features, e.g. with kernel='gaussian'."
        )
    points: Doubles = check_array(X, dtype=np.float64, input_name="X")
    if points.shape[1] < 2:
        raise ValueError(
            f"X has {points.shape[1]} feature(s), and a plane needs two. Use "
            "MembershipHistogramDisplay."
        )
    return points


def _places(features: Any, n_features: int, names: Sequence[str] | None) -> list[int]:
    """The numbers of two columns, given by number or name."""
    known = [] if names is None else list(names)
    try:
        places = [known.index(f) if f in known else range(n_features)[f] for f in features]
    except (TypeError, IndexError):
        places = []
    if len(places) != 2 or places[0] == places[1]:
        has = f"X has {', '.join(known)}" if known else "X has no names"
        raise ValueError(
            "features must be two different features of X, by number from 0 to "
            f"{n_features - 1} or by name ({has}); got {features!r}."
        )
    return places


# ---- histograms ----------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class MembershipHistogramDisplay(_Display):
    """A histogram of the typicalities of rows, with the cut.

    For :class:`~typicality.AlphaCutClustering`, it shows typicalities and `alpha_`. For
    :class:`~typicality.OneClusterPCM`, it shows scores, with `offset_`. For estimators with
    prototypes, it shows the largest membership of each row.

    Create it with `from_estimator`, or from known values, for example `typicality_`. The drawn
    artists are attributes.

    Parameters
    ----------
    values : array of shape (n,)
        One number per row.
    labels : array of shape (n,), int, optional
        The clusters of the rows. If given, bars are stacked by cluster.
    levels : array-like of float, default=()
        The levels of the cut. If there are as many levels as clusters, each cluster has its own.
    name : str, default="typicality"
        The name of the values.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    counts_ : array of shape (n_labels, n_bins)
        The number of rows in each bin, by cluster in increasing order of labels. If bars are not
        stacked, the shape is (1, n_bins).
    bin_edges_ : array of shape (n_bins + 1,)
        The edges of the bins.
    bars_ : list of matplotlib BarContainer
        The bars, one container for each row of `counts_`.
    level_lines_ : list of matplotlib Line2D
        The levels of the cut.

    Examples
    --------
    >>> from typicality import AlphaCutClustering
    >>> from typicality.datasets import make_dense_regions
    >>> from typicality.plot import MembershipHistogramDisplay
    >>> X, _ = make_dense_regions(random_state=0)
    >>> model = AlphaCutClustering(sigma=0.5, alpha="valley").fit(X)
    >>> display = MembershipHistogramDisplay.from_estimator(model, X)  # doctest: +SKIP
    """

    values: Any
    _: KW_ONLY
    labels: Any = None
    levels: Any = ()
    name: str = "typicality"

    def __post_init__(self) -> None:
        self.values = _numbers(self.values, "values")
        if self.labels is not None:
            self.labels = np.asarray(self.labels)
            check_same_length(len(self.values), "values", len(self.labels), "labels")
        self.levels = np.atleast_1d(np.asarray(self.levels, dtype=np.float64))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        by_cluster: bool = False,
        bins: Any = 30,
        ax: Any = None,
    ) -> Self:
        """Create the display from a fitted estimator.

        Costs a prediction for X.

        Parameters
        ----------
        estimator : estimator of typicality
            A fitted estimator, or a fitted pipeline that ends in one.
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to count, as for `predict`. Sample weights are not used.
        by_cluster : bool, default=False
            Whether bars are stacked by cluster.
        bins : int, str or sequence of float, default=30
            The bins, as in :func:`numpy.histogram_bin_edges`.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        MembershipHistogramDisplay
        """
        view = _view_of(estimator, X)
        levels: Any = view.cut if view.levels is None else view.levels
        display = cls(
            view.strength,
            labels=view.labels if by_cluster else None,
            levels=() if view.kind == "prototypes" else levels,
            name=view.strength_name,
        )
        return display.plot(bins=bins, ax=ax)

    def plot(self, *, bins: Any = 30, ax: Any = None) -> Self:
        """Draw the histogram.

        Parameters
        ----------
        bins : int, str or sequence of float, default=30
            The bins, as in :func:`numpy.histogram_bin_edges`.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        ax = self._on_axes(ax, size=(7.0, 3.8))
        low, high = float(self.values.min()), float(self.values.max())
        wide = 1e-6 * max(abs(low), abs(high), 1.0)
        # Values that differ by rounding only need bins around them.
        room = (low - wide, high + wide) if 0 < high - low < wide else None
        self.bin_edges_ = np.histogram_bin_edges(self.values, bins=bins, range=room)
        labels = np.zeros(len(self.values), np.int32) if self.labels is None else self.labels
        known = np.unique(labels).tolist()
        named = self.labels is not None and len(known) <= _MOST_NAMES
        plain = [self.labels is None or label < 0 for label in known]
        names = [f"cluster {label}" if label >= 0 else "unassigned" for label in known]
        tops, _, bars = ax.hist(
            [self.values[labels == label] for label in known],
            self.bin_edges_,
            stacked=True,
            label=names if named else None,
            color=[_PLAIN if p else cluster_colour(k) for k, p in zip(known, plain, strict=True)],
        )
        self.counts_ = np.diff(np.atleast_2d(tops), axis=0, prepend=0).astype(np.intp)
        self.bars_ = [bars] if len(known) == 1 else list(bars)
        one = len(self.levels) == 1
        self.level_lines_ = [
            ax.axvline(level, color=_BLACK if one else cluster_colour(k), ls="--", lw=1.2)
            for k, level in enumerate(self.levels)
        ]
        if self.level_lines_:
            decimals = max(0, 2 + ceil(-log10(high - low))) if high > low else 2
            cut = f"cut at {self.levels[0]:.{decimals}f}"
            self.level_lines_[0].set_label(cut if one else "cut, one for each cluster")
        ax.set(xlabel=self.name, ylabel="rows")
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.xaxis.get_major_locator().set_params(nbins=7)
        if ax.get_legend_handles_labels()[0]:
            ax.margins(y=0.2)  # room for the legend
            ax.legend(loc="upper center", ncols=3, fontsize="small", frameon=False)
        return self


# ---- trees ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class ClusterTreeDisplay(_Display):
    """The cluster tree of alpha-cuts: a line for each branch, from its peak to where it merges.

    Only the 40 largest branches are drawn.

    Read the tree from the bottom. A connected cluster is one line, which forks at the level where a
    valley separates it into two. Between its two ends, a branch is a separate cluster. Thicker
    branches have more rows. A branch has the colour of the cluster of its peak, down to the level
    of the cut. The cut is drawn in black.

    Create it with `from_estimator`. The drawn artists are attributes.

    Parameters
    ----------
    tree : AlphaTree
        The tree, `tree_` of an :class:`~typicality.AlphaCutClustering`.
    node_labels : array-like of shape (n_nodes,), int, optional
        The cluster of each node; -1 for unassigned nodes. By default, all nodes are unassigned.
    alpha : float or array-like of shape (n_clusters,), default=0
        The level of the cut, or of each cluster.
    min_cluster_size : float, default=5
        Branches with fewer rows are not drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    branches_ : matplotlib LineCollection
        The branches, from the peak to the end: first the whole tree, then by decreasing level of
        the end.
    coloured_ : matplotlib LineCollection
        The parts of the branches that are in clusters.
    joints_ : matplotlib LineCollection
        The lines from the ends of branches to the branches that they merge with.
    cuts_ : list of matplotlib artists
        The level of the cut of each cluster.

    Examples
    --------
    >>> from typicality import AlphaCutClustering
    >>> from typicality.datasets import make_discs_banana_ring
    >>> from typicality.plot import ClusterTreeDisplay
    >>> X, _ = make_discs_banana_ring(random_state=0)
    >>> model = AlphaCutClustering().fit(X)
    >>> display = ClusterTreeDisplay.from_estimator(model)  # doctest: +SKIP
    """

    tree: AlphaTree
    _: KW_ONLY
    node_labels: Any = None
    alpha: Any = 0.0
    min_cluster_size: float = 5.0

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, min_cluster_size: float = 5.0, ax: Any = None
    ) -> Self:
        """Create the display from a fitted estimator.

        Parameters
        ----------
        estimator : AlphaCutClustering
            A fitted estimator, or a fitted pipeline that ends in one.
        min_cluster_size : float, default=5
            Branches with fewer rows are not drawn.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        ClusterTreeDisplay
        """
        model = last_step(estimator)
        tree: Any = getattr(model, "tree_", None)
        if not hasattr(tree, "branches"):
            raise ValueError(f"{model!r} has no tree of clusters. Fit an AlphaCutClustering.")
        found = view(model, training=True)
        display = cls(
            tree,
            node_labels=found.labels[tree.row_of],
            alpha=found.cut if found.levels is None else found.levels,
            min_cluster_size=min_cluster_size,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        ax = self._on_axes(ax, size=(7.0, 4.4))
        from matplotlib.collections import LineCollection

        tree = self.tree
        branches = tree.largest_branches(fewest=self.min_cluster_size)
        peak, size = tree.node_alpha[branches.peak], branches.weight
        label = np.full(len(peak), -1)
        if self.node_labels is not None:
            label = np.asarray(self.node_labels)[branches.peak]
        merge = np.append(tree.node_alpha.min(), tree.saddle_alpha[branches.edge[1:]])
        merge[0] = merge.min()
        parent, x = branches.parent, np.empty(len(peak))
        x[_side_by_side(branches.parent)] = np.arange(len(peak))
        # The areas of lines are as the numbers of rows.
        widths = (_THICKEST * np.sqrt(size / size[0])).clip(min=_THINNEST)
        inside = label >= 0
        levels = np.broadcast_to(np.asarray(self.alpha, np.float64), label.max(initial=-1) + 1)
        cut = np.maximum(merge[inside], levels[label[inside]])
        joints = _segments(x[1:], merge[1:], x[parent[1:]], merge[1:])
        self.joints_ = LineCollection(joints, colors=_GREY, linewidths=_THINNEST)
        whole = _segments(x, peak, x, merge)
        self.branches_ = LineCollection(whole, colors=_PLAIN, linewidths=widths)
        self.coloured_ = LineCollection(
            _segments(x[inside], peak[inside], x[inside], cut),
            colors=[cluster_colour(cluster) for cluster in label[inside]],
            linewidths=widths[inside],
        )
        for collection in (self.joints_, self.branches_, self.coloured_):
            ax.add_collection(collection)
        ax.autoscale_view()
        ax.set_xlim(-0.8, len(x) - 0.2)
        clusters = np.unique(label[inside]).tolist()
        places = [x[label == cluster] for cluster in clusters]
        self.cuts_ = [
            ax.hlines(alpha, x.min() - _REACH, x.max() + _REACH, color=_BLACK, lw=1.2)
            for alpha, x in zip(levels[clusters], places, strict=True)
        ]
        tops = [np.where(label == cluster, peak, -1.0).argmax() for cluster in clusters]
        ax.set_xticks(x[tops] if tops else [], [str(cluster) for cluster in clusters])
        drawn = "1 branch" if len(x) == 1 else f"{len(x)} branches"
        ax.set(
            xlabel="cluster" if clusters else "",
            ylabel="typicality",
            title=f"{drawn}, the smallest of {size.min():g} rows"
            f"{'; cuts in black' if clusters else ''}",
        )
        return self


def _side_by_side(parent: Places, branch: int = 0) -> list[int]:
    """Branches from left to right, so that no line crosses another.

    A branch is followed by those that merge with it, those that end high first: the lines of those
    that end lower pass below them.
    """
    children = np.flatnonzero(parent == branch).tolist()
    return [branch, *(each for child in children for each in _side_by_side(parent, child))]


def _segments(x0: Any, y0: Any, x1: Any, y1: Any) -> Any:
    return np.stack([np.column_stack([x0, y0]), np.column_stack([x1, y1])], axis=1)


# ---- p-values ------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class PValueDisplay(_Display):
    r"""The p-values of rows in increasing order, and those rejected at a false discovery rate.

    Both axes are logarithmic. If all rows come from the same source as the training rows, their
    p-values are near the dashed diagonal. The solid line is :math:`\alpha k / (c m)`, see
    :func:`typicality.metrics.select_discoveries`. Find the last p-value below this line; it and all
    smaller p-values are rejected.

    Create it with `from_estimator`, or from p-values. The drawn artists are attributes.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        The p-values, in (0, 1].
    fdr : float, default=0.1
        The false discovery rate.
    method : {"bh", "by", "storey"}, default="bh"
        The procedure, as in :func:`typicality.metrics.select_discoveries`.

    Attributes
    ----------
    rejected : array of shape (m,), bool
        Which p-values are rejected.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    points_ : list of matplotlib Line2D
        The p-values that are not rejected, and those that are.
    level_line_ : matplotlib Line2D
        The line of the procedure.

    Examples
    --------
    >>> from typicality.plot import PValueDisplay
    >>> display = PValueDisplay([0.001, 0.8, 0.02, 0.3]).plot()  # doctest: +SKIP
    """

    p_values: Any
    _: KW_ONLY
    fdr: float = 0.1
    method: str = "bh"

    def __post_init__(self) -> None:
        self.p_values = _numbers(self.p_values, "p_values")
        self.rejected = select_discoveries(self.p_values, fdr=self.fdr, method=self.method)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, fdr: float = 0.1, method: str = "bh", ax: Any = None
    ) -> Self:
        """Create the display for new rows.

        Parameters
        ----------
        estimator : OneClusterPCM
            A fitted estimator, or a fitted pipeline that ends in one.
        X : array-like or dataframe of shape (n_samples, n_features)
            New rows, as for `predict`.
        fdr : float, default=0.1
            The false discovery rate.
        method : {"bh", "by", "storey"}, default="bh"
            The procedure, as in :func:`typicality.metrics.select_discoveries`.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        PValueDisplay
        """
        model = last_step(estimator)
        if not hasattr(model, "p_values"):
            raise ValueError(f"{model!r} has no p-values of new rows. Fit a OneClusterPCM.")
        return cls(model.p_values(prepared(estimator, X)), fdr=fdr, method=method).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the p-values.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        ax = self._on_axes(ax, size=(6.4, 4.4))
        order = np.argsort(self.p_values, kind="stable")
        rank, p = np.arange(1, len(order) + 1), self.p_values[order]
        rejected = self.rejected[order]
        ends = np.array([1.0, max(len(order), 2)])
        level = self.fdr / penalty(self.p_values, self.method)
        ax.plot(ends, ends / len(order), color=_GREY, ls="--", lw=1.0, label="same source")
        words = f"{self.method}, false discovery rate {self.fdr:g}"
        (self.level_line_,) = ax.plot(ends, level * ends / len(order), color=_BLACK, label=words)
        dots = {"ls": "none", "marker": "o", "ms": 4.0}
        kept = {"color": _CLUSTERS[0], "mfc": "none", "label": "kept", **dots}
        self.points_ = [
            *ax.plot(rank[~rejected], p[~rejected], **kept),
            *ax.plot(rank[rejected], p[rejected], color=_BLACK, **dots, label="rejected"),
        ]
        found = counted(int(rejected.sum()), "outlier")
        ax.set(
            xscale="log",
            yscale="log",
            xlabel="rank of the row",
            ylabel="p-value",
            title=f"{found} among {counted(len(order), 'row')}",
        )
        ax.legend(loc="lower right", fontsize="small")
        return self
