"""The tree of alpha-cuts: where clusters begin, and where they merge."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality._typing import Doubles, Places
from typicality.fitted import last_step, view
from typicality.levelsets.tree import AlphaTree
from typicality.plot._axes import (
    CONNECTOR,
    CUT,
    PLAIN,
    axes_for,
    cluster_colour,
    written,
)

_MOST_BRANCHES = 40
_FEWEST_ROWS = 5.0
_THINNEST, _THICKEST = 0.8, 9.0  # points
_REACH = 0.35  # how far the mark of a cut goes to both sides of a branch


class ClusterTreeDisplay:
    """The cluster tree of alpha-cuts: one line per branch, from its peak down to where it merges.

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
    alpha : float or array-like of shape (n_clusters,), optional
        The level of the cut, or of each cluster.
    min_cluster_size : float, optional
        Branches with fewer rows are not drawn. By default 5, or a larger number that leaves about
        40 branches.

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
        """Create the display from a fitted estimator.

        Parameters
        ----------
        estimator : AlphaCutClustering
            A fitted estimator, or a fitted pipeline that ends in one.
        min_cluster_size : float, optional
            Branches with fewer rows are not drawn. By default 5, or a larger number that leaves
            about 40 branches.
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
        ax = axes_for(self, ax, size=(7.0, 4.4))
        from matplotlib.collections import LineCollection

        tree, branches, fewest = self.tree, self.tree.branches, self.min_cluster_size
        if fewest is None:
            fewest = _FEWEST_ROWS
            if len(branches.weight) >= _MOST_BRANCHES:
                fewest = max(fewest, np.sort(branches.weight)[-_MOST_BRANCHES])
        large = branches.weight >= fewest
        # Arrays have an entry for the whole tree, then one for each branch by falling end.
        node = np.append(tree.heights.argmax(), branches.peak[large])
        peak, label = tree.node_alpha[node], self.node_labels[node]
        merge = np.append(tree.node_alpha.min(), tree.saddle_alpha[branches.edge[large]])
        merge[0] = merge.min()
        place = np.full(tree.n_nodes, -1)
        place[node] = np.arange(len(node))
        parent = np.append(-1, place[branches.parent[large]])
        x = _side_by_side(parent)
        # The areas of lines are as the numbers of rows.
        size = np.append(tree.weight.sum(), branches.weight[large])
        widths = (_THICKEST * np.sqrt(size / size[0])).clip(min=_THINNEST)
        inside = label >= 0
        level: Any = -np.inf if self.alpha is None else self.alpha
        level = level[label[inside]] if np.ndim(level) else level
        self.joints_ = LineCollection(
            _segments(x[1:], merge[1:], x[parent[1:]], merge[1:]),
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
        clusters = np.unique(label[inside]).tolist()
        cut = self._draw_cuts(ax, {cluster: x[label == cluster] for cluster in clusters}, peak)
        tops = [np.where(label == cluster, peak, -1.0).argmax() for cluster in clusters]
        ax.set_xticks(x[tops] if tops else [], [str(cluster) for cluster in clusters])
        drawn = "1 branch" if len(x) == 1 else f"{len(x)} branches"
        ax.set(
            xlabel="cluster" if clusters else "",
            ylabel="typicality",
            title=f"{drawn} of {fewest:g} rows or more{cut}",
        )
        return self

    def _draw_cuts(self, ax: Any, places: dict[int, Doubles], peak: Doubles) -> str:
        """Draw the level of the cut, or that of each cluster; returns words for the title."""
        self.cuts_: list[Any] = []
        if self.alpha is None:
            return ""
        if self.alpha.ndim == 0:
            self.cuts_ = [ax.axhline(self.alpha, color=CUT, ls="--", lw=1.2)]
            return f", cut at {written(float(self.alpha), float(np.ptp(peak)))}"
        for label, x in places.items():
            ends = x.min() - _REACH, x.max() + _REACH
            self.cuts_.append(ax.hlines(self.alpha[label], *ends, color=CUT, lw=1.2))
        return ", cuts in black" if len(self.alpha) else ""


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
