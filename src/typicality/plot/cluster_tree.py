"""The tree of alpha-cuts: where clusters begin, and where they merge."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from typicality._typing import Doubles, Places
from typicality.fitted import view
from typicality.levelsets.tree import AlphaTree
from typicality.plot._axes import axes_for, last_step, require_matplotlib, written
from typicality.plot._colours import CONNECTOR, CUT, PLAIN, cluster_colour

_MOST_BRANCHES = 40
_FEWEST_ROWS = 5.0
_THINNEST, _THICKEST = 0.8, 9.0  # points
_REACH = 0.35  # how far the mark of a cut goes to both sides of a branch


class ClusterTreeDisplay:
    """The tree of alpha-cuts: a line from the peak of each branch down to where it merges.

    Read it from the bottom: a connected cluster is one line, which forks at the level where a
    valley separates it. A branch is a cluster of its own for every alpha between its ends; thicker
    branches have more rows. Branches have the colour of the cluster their peak is in, down to the
    level of its cut, which is drawn in black.

    Make it by `from_estimator`; the parts of the picture are attributes afterwards.

    Parameters
    ----------
    tree : AlphaTree
        The tree, `tree_` of an :class:`~typicality.AlphaCutClustering`.
    node_labels : array-like of shape (n_nodes,), int, optional
        The cluster of each node; -1 for those that belong nowhere, as all do by default.
    alpha : float or array-like of shape (n_clusters,), optional
        The level of the cut, or of each cluster.
    min_cluster_size : float, optional
        Branches of fewer rows are left out. By default five, or so many that about 40 branches are
        left.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        Their figure.
    branches_ : matplotlib LineCollection
        The branches, from peak to end, the whole tree first and then by falling end.
    coloured_ : matplotlib LineCollection
        The parts of them that are in clusters.
    joints_ : matplotlib LineCollection
        The lines from their ends to the branches they merge with.
    cuts_ : list of matplotlib artists
        The level of the cut, or of each cluster.

    Examples
    --------
    >>> from typicality import AlphaCutClustering
    >>> from typicality.datasets import make_discs_banana_ring
    >>> from typicality.plot import ClusterTreeDisplay
    >>> X, _ = make_discs_banana_ring(random_state=0)
    >>> model = AlphaCutClustering().fit(X)
    >>> display = ClusterTreeDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        tree: AlphaTree,
        *,
        node_labels: ArrayLike | None = None,
        alpha: ArrayLike | None = None,
        min_cluster_size: float | None = None,
    ) -> None:
        self.tree = tree
        nowhere = np.full(tree.n_nodes, -1)
        self.node_labels = nowhere if node_labels is None else np.asarray(node_labels)
        self.alpha = None if alpha is None else np.asarray(alpha, dtype=np.float64)
        self.min_cluster_size = min_cluster_size

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, min_cluster_size: float | None = None, ax: Any = None
    ) -> Self:
        """The picture of a fitted estimator.

        Parameters
        ----------
        estimator : AlphaCutClustering
            Fitted; or a pipeline that ends in one.
        min_cluster_size : float, optional
            Branches of fewer rows are left out. By default five, or so many that about 40 branches
            are left.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        ClusterTreeDisplay
        """
        require_matplotlib(cls)
        model = last_step(estimator)
        tree: Any = getattr(model, "tree_", None)
        if not hasattr(tree, "branches"):
            raise ValueError(f"{model!r} has no tree of alpha-cuts. Fit an AlphaCutClustering.")
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
            Where to draw; a new figure otherwise.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax, size=(7.0, 4.4))
        lines = _TreeLines.of(self.tree, self.node_labels, self.min_cluster_size)
        self._draw_branches(ax, lines)
        cut = self._draw_cuts(ax, lines)
        clusters = np.unique(lines.label[lines.label >= 0]).tolist()
        tops = [np.where(lines.label == label, lines.peak, -1.0).argmax() for label in clusters]
        ax.set_xticks(lines.x[tops] if tops else [], [str(label) for label in clusters])
        n_branches = len(lines.x)
        branches = "1 branch" if n_branches == 1 else f"{n_branches} branches"
        ax.set(
            xlabel="cluster" if clusters else "",
            ylabel="typicality",
            title=f"{branches} of {lines.fewest:g} rows or more{cut}",
        )
        return self

    def _draw_branches(self, ax: Any, lines: "_TreeLines") -> None:
        from matplotlib.collections import LineCollection

        x, peak, merge, label = lines.x, lines.peak, lines.merge, lines.label
        # The areas of lines are as the numbers of rows.
        widths = (_THICKEST * np.sqrt(lines.size / lines.size[0])).clip(min=_THINNEST)
        joined, inside = lines.parent >= 0, label >= 0
        level: Any = -np.inf if self.alpha is None else self.alpha
        level = level[label[inside]] if np.ndim(level) else level
        self.joints_ = LineCollection(
            _segments(x[joined], merge[joined], x[lines.parent[joined]], merge[joined]),
            colors=CONNECTOR,
            linewidths=_THINNEST,
        )
        self.branches_ = LineCollection(
            _segments(x, peak, x, merge), colors=PLAIN, linewidths=widths
        )
        self.coloured_ = LineCollection(
            _segments(x[inside], peak[inside], x[inside], np.maximum(merge[inside], level)),
            colors=[cluster_colour(cluster) for cluster in label[inside]],
            linewidths=widths[inside],
        )
        for collection in (self.joints_, self.branches_, self.coloured_):
            ax.add_collection(collection)
        ax.autoscale_view()
        ax.set_xlim(-0.8, len(x) - 0.2)

    def _draw_cuts(self, ax: Any, lines: "_TreeLines") -> str:
        """Draw the level of the cut, or that of each cluster; returns words for the title."""
        self.cuts_: list[Any] = []
        if self.alpha is None:
            return ""
        if self.alpha.ndim == 0:
            self.cuts_ = [ax.axhline(self.alpha, color=CUT, ls="--", lw=1.2)]
            return f", cut at {written(float(self.alpha), float(np.ptp(lines.peak)))}"
        for label in np.unique(lines.label[lines.label >= 0]):
            x, level = lines.x[lines.label == label], self.alpha[label]
            cut = ax.hlines(level, x.min() - _REACH, x.max() + _REACH, color=CUT, lw=1.2)
            self.cuts_.append(cut)
        return ", cuts in black" if len(self.alpha) else ""


@dataclass(frozen=True, eq=False)
class _TreeLines:
    """Where the lines of a tree go; the whole tree first, then branches by falling end.

    Parameters
    ----------
    x : array of shape (k,)
        The places of the branches, side by side.
    peak, merge : arrays of shape (k,)
        The typicalities where they begin and end; the whole tree ends at the lowest of all.
    parent : array of shape (k,), int
        Which branch each merges with; -1 for the whole tree.
    size : array of shape (k,)
        The rows of each.
    label : array of shape (k,), int
        The cluster its peak is in.
    fewest : float
        The rows of the smallest branch that may be here.
    """

    x: Doubles
    peak: Doubles
    merge: Doubles
    parent: Places
    size: Doubles
    label: NDArray[np.integer]
    fewest: float

    @classmethod
    def of(
        cls, tree: AlphaTree, node_labels: NDArray[np.integer], fewest: float | None
    ) -> "_TreeLines":
        """The lines of a tree without its small branches."""
        branches = tree.branches
        if fewest is None:
            fewest = _FEWEST_ROWS
            if len(branches.weight) >= _MOST_BRANCHES:
                fewest = max(fewest, np.sort(branches.weight)[-_MOST_BRANCHES])
        large = branches.weight >= fewest
        peak = np.append(tree.heights.argmax(), branches.peak[large])
        place = np.full(tree.n_nodes, -1)
        place[peak] = np.arange(len(peak))
        parent = np.append(-1, place[branches.parent[large]])
        merge = np.append(tree.node_alpha.min(), tree.saddle_alpha[branches.edge[large]])
        merge[0] = merge.min()
        size = np.append(tree.weight.sum(), branches.weight[large])
        peak_alpha, label = tree.node_alpha[peak], node_labels[peak]
        return cls(_side_by_side(parent), peak_alpha, merge, parent, size, label, float(fewest))


def _side_by_side(parent: Places) -> Doubles:
    """Places of branches by falling end so that no line crosses another.

    A branch that ends higher stands nearer to the one it merges with: the lines of those that end
    lower pass below it.
    """
    stands = [[branch] for branch in range(len(parent))]
    to_the_right = np.zeros(len(parent), np.intp)
    for branch in range(1, len(parent)):
        host, own = int(parent[branch]), stands[branch]
        right = to_the_right[host] <= len(stands[host]) - 1 - to_the_right[host]
        stands[host] = stands[host] + own if right else own + stands[host]
        to_the_right[host] += len(own) if right else 0
    x = np.empty(len(parent))
    x[stands[0]] = np.arange(len(parent))
    return x


def _segments(x0: Any, y0: Any, x1: Any, y1: Any) -> Any:
    return np.stack([np.column_stack([x0, y0]), np.column_stack([x1, y1])], axis=1)
