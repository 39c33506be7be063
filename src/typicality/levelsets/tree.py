"""Spanning trees of rows: the two sides of each edge, and the clusters at every alpha at once."""

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from typicality._cached import cached_property
from typicality._typing import Doubles, Index, Labels, Places
from typicality.bandwidth import bandwidth
from typicality.kernels import Gaussian
from typicality.sums import DenseSums, KernelColumns

Pairs = Places

_WHOLE = 1.0 - 1e-12  # a sum of fractions may end just below a whole number
_GRID = 1000  # points at which the density of typicalities is evaluated


def components(n_rows: int, pairs: Pairs) -> NDArray[np.int32]:
    """The connected component of each row."""
    graph = coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), (n_rows, n_rows))
    return np.asarray(connected_components(graph, directed=False)[1])


class Sides(NamedTuple):
    """The two sides of each edge of a spanning tree, as ranges of rows in one order.

    The rows of the side with the higher peak are those with places from `first` to `middle`, those
    of the other side go from there to `last`. Either side begins with its peak. Between two
    neighbouring places is one edge, that with the second place as its `middle`; the lowest edge
    between two places is that at which their rows are joined.

    Parameters
    ----------
    pairs : array of shape (n - 1, 2)
        The edges.
    peaks, sizes, means : arrays of shape (n - 1, 2)
        The highest row of each side, the higher one first, its number of rows, and its mean height.
    above : array of shape (n - 1,)
        The number of rows of the side with the lower peak that are above the edge.
    place : array of shape (n,)
        The place of each row.
    first, middle, last : arrays of shape (n - 1,)
        The ranges.
    """

    pairs: Pairs
    peaks: Places
    sizes: Doubles
    means: Doubles
    above: Doubles
    place: Places
    first: Places
    middle: Places
    last: Places

    @classmethod
    def of(cls, pairs: Pairs, saddles: Doubles, heights: Doubles, counts: Doubles) -> Self:
        """The sides of the edges of a spanning tree, by falling height.

        A row counts as many times as there are copies of it.
        """
        from typicality.levelsets.compiled import merge_sides  # numba takes a second to load

        peaks, (sizes, sums) = np.empty((len(pairs), 2), np.intp), np.empty((2, len(pairs), 2))
        low_rows, above = np.empty(len(pairs), np.intp), np.empty(len(pairs))
        place, own = np.ones(len(heights), np.intp), np.arange(len(heights))
        counts = counts.astype(np.float64)
        merge_sides(
            pairs, saddles, heights, peaks, low_rows, sizes, sums, above,
            counts.copy(), heights * counts, place,
            own.copy(), own.copy(), np.full_like(own, -1), heights.copy(), counts,
        )  # fmt: skip
        first, middle = place[peaks].T
        return cls(
            pairs, peaks, sizes, sums / sizes, above, place, first, middle, middle + low_rows
        )

    def label_cores(self, separates: NDArray[np.bool_]) -> tuple[NDArray[np.int64], int]:
        """Label what joins a peak before an edge separates it from another; -1 for all else.

        A separating edge gives a label to the higher peak of either side. Returns the labels and
        their number.
        """
        from typicality.levelsets.compiled import label_cores  # numba takes a second to load

        labels = np.zeros(len(self.place), np.int64)
        if not separates.any():
            return labels, 1
        where = self.peaks, self.place, self.first, self.middle, self.last
        return labels, label_cores(separates, *where, *np.empty((3, len(labels)), np.intp), labels)

    def fill_along(self, labels: NDArray[np.signedinteger]) -> None:
        """Rows without a label take that of the row by which they join, higher edges first."""
        from typicality.levelsets.compiled import fill  # numba takes a second to load

        fill(self.pairs, np.arange(len(labels)), labels)


class Branches(NamedTuple):
    """The branches of a cluster tree, one per peak except the highest, by decreasing saddle.

    A branch starts at a peak. It ends at its saddle, where it meets a branch with a higher peak.

    Parameters
    ----------
    peak, parent : arrays of shape (n_branches,)
        The node at the peak, and the node at the higher peak that the branch meets.
    edge : array of shape (n_branches,)
        The edge of the tree at which they meet.
    weight : array of shape (n_branches,)
        The weight of the rows that are connected to the peak above this edge.
    """

    peak: Places
    parent: Places
    edge: Places
    weight: Doubles


def branches_of(sides: Sides, saddles: Doubles, heights: Doubles) -> Branches:
    """The branches of a spanning tree, given the sides of its edges.

    A node that joins a slope has no peak of its own and makes no branch.
    """
    parent, peak = sides.peaks.T
    edge = np.flatnonzero(heights[peak] > saddles)
    return Branches(peak[edge], parent[edge], edge, sides.above[edge])


class Valley(NamedTuple):
    """A valley of a density: its place between two peaks, and its depth below the lower peak.

    The depth is relative to the highest density. It is 0 if there is only one peak.
    """

    place: float
    depth: float


def deepest_valley(values: Doubles, weight: Doubles) -> Valley:
    """The most persistent valley of the density of some values.

    The density is a Gaussian kernel density estimate with Silverman's bandwidth. The depth of a
    valley is measured from the lower of two peaks: the highest peak to its left, and the highest
    peak to its right.

    Implements :cite:`filippone2007`, section 5: "the value of membership separating the two modes
    of the histogram". The paper finds this value by eye.

    Parameters
    ----------
    values : array of shape (n,)
        Typicalities.
    weight : array of shape (n,)
        The number of copies of each value.
    """
    column = values[:, None]
    width = bandwidth("silverman", column, weight)
    if width == 0:
        return Valley(float(values[0]), 0.0)
    at = np.linspace(values.min(), values.max(), _GRID)
    sums = DenseSums(KernelColumns(Gaussian(width), column), weight[:, None])
    density = sums.at(at[:, None])[:, 0]
    left = np.maximum.accumulate(density)
    right = np.maximum.accumulate(density[::-1])[::-1]
    depths = np.minimum(left, right) - density
    lowest = int(depths.argmax())
    return Valley(float(at[lowest]), float(depths[lowest] / density.max()))


class Cut(NamedTuple):
    """The clusters of the nodes of a tree, at one level or at one level per cluster.

    Parameters
    ----------
    node_labels : array of shape (n_nodes,), int32
        The cluster of each node; -1 for nodes below the cut.
    alpha : float or array of shape (n_clusters,)
        The level of all clusters, or of each cluster.
    filled : array of shape (n_nodes,), int32, optional
        The cluster of each node, also for nodes below the cut. Only for automatic choices.
    reach : array of shape (n_clusters,), optional
        For each cluster, the radius with ten rows at which a row is just dense enough to belong to
        it.
    """

    node_labels: Annotated[Labels, "n", Index("n", lowest=-1)]
    alpha: float | Annotated[Doubles, "_clusters"]
    filled: Annotated[Labels, "n", Index("_clusters")] | None = None
    reach: Annotated[Doubles, "_clusters"] | None = None

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.node_labels.max(initial=-1)) + 1

    def labels(self, node: Places, entry_alpha: Doubles) -> Labels:
        """The label of the node that each row joins; -1 if the path is below the level."""
        labels = self.node_labels[node]
        levels = np.append(np.broadcast_to(self.alpha, self.n_clusters), np.inf)  # of -1: inf
        return np.where(entry_alpha > levels[labels], labels, np.int32(-1))


@dataclass(frozen=True, eq=False)
class AlphaTree:
    r"""A tree with the clusters of the alpha-cut for every alpha.

    The height of an edge between two rows is the smallest height on the segment between them, with
    its ends. Two rows are connected at a level if a path of edges above this level joins them. If
    there is such a path, there is also one in the maximum spanning tree. So the n - 1 edges of this
    tree determine the clusters at every level:

    .. math:: \text{clusters at } \alpha = \text{components of }
        \big\{ \text{rows, tree edges} : u > \alpha \big\}

    Levels are typicalities :math:`u`, which are an increasing function of heights :math:`s`. Equal
    rows are one node of the tree.

    Implements :cite:`filippone2007`, eq. (17) and section 4; :cite:`filippone2010`, section IV-D.
    The papers cut at one alpha; the tree is original to typicality, see docs/theory.

    Parameters
    ----------
    heights : array of shape (n_nodes,)
        The height of each node.
    weight : array of shape (n_nodes,)
        The number of rows at each node.
    pairs : array of shape (n_nodes - 1, 2)
        The edges of the maximum spanning tree, by decreasing height.
    saddles : array of shape (n_nodes - 1,)
        The heights of the edges.
    node_alpha, saddle_alpha : arrays
        The typicality at the heights of the nodes and of the edges.
    node_of : array of shape (n_samples,)
        The node of each training row. For a row of weight zero, the node that it would join.
    entry_alpha : array of shape (n_samples,)
        The typicality below which each training row belongs to the component of its node. For a row
        of weight zero, the lowest typicality on the path to its node.
    row_of : array of shape (n_nodes,)
        A training row at each node.
    """

    heights: Annotated[Doubles, "n"]
    weight: Annotated[Doubles, "n"]
    pairs: Annotated[Pairs, "n-1 2", Index("n")]
    saddles: Annotated[Doubles, "n-1"]
    node_alpha: Annotated[Doubles, "n"]
    saddle_alpha: Annotated[Doubles, "n-1"]
    node_of: Annotated[Places, "N", Index("n")]
    entry_alpha: Annotated[Doubles, "N"]
    row_of: Annotated[Places, "n", Index("N")]

    @property
    def n_nodes(self) -> int:
        """The number of distinct rows."""
        return len(self.heights)

    def labels_at(self, alpha: float, *, min_cluster_size: float = 1) -> Labels:
        """The cluster of each training row at the level alpha; -1 below the level.

        Costs O(n log n).

        Parameters
        ----------
        alpha : float
            The level. Rows with a larger typicality belong to clusters.
        min_cluster_size : float, default=1
            Clusters with fewer rows (less weight) get the label -1.

        Returns
        -------
        labels : array of shape (n_samples,), int32
            Labels 0, 1, 2, ... by decreasing size.
        """
        cut = self.cut_at(alpha, min_cluster_size=min_cluster_size)
        return cut.labels(self.node_of, self.entry_alpha)

    def n_clusters_at(self, alpha: float, *, min_cluster_size: float = 1) -> int:
        """The number of clusters at the level alpha.

        Costs O(n log n).

        Parameters
        ----------
        alpha : float
            The level.
        min_cluster_size : float, default=1
            Clusters with fewer rows (less weight) are not counted.
        """
        return self.cut_at(alpha, min_cluster_size=min_cluster_size).n_clusters

    def cut_at(self, alpha: float, *, min_cluster_size: float = 1) -> Cut:
        """The clusters of the nodes at a level, as in `labels_at`."""
        alpha = _check_alpha(alpha)
        component = components(self.n_nodes, self.pairs[self.saddle_alpha > alpha])
        component[self.node_alpha <= alpha] = -1
        return Cut(number_clusters(component, self.weight, min_cluster_size), alpha)

    @property
    def sides(self) -> Sides:
        """The two sides of each edge."""
        return Sides.of(self.pairs, self.saddles, self.heights, self.weight)

    @cached_property
    def branches(self) -> Branches:
        """The branches, by decreasing saddle."""
        return branches_of(self.sides, self.saddles, self.heights)

    def largest_branches(self, *, at_most: int = 40, fewest: float = 5.0) -> Branches:
        """The whole tree, and its largest branches by decreasing saddle.

        `fewest` is the weight of the smallest branch. Parents are places among these branches, -1
        for the whole tree. A branch is larger than those that meet it, so its parent is there.
        """
        branches = self.branches
        order = np.lexsort((-branches.edge, -branches.weight))[: at_most - 1]
        kept = np.sort(order[branches.weight[order] >= fewest])
        peak = np.append(self.heights.argmax(), branches.peak[kept])
        place = np.full(self.n_nodes, -1)
        place[peak] = np.arange(len(peak))
        return Branches(
            peak,
            np.append(-1, place[branches.parent[kept]]),
            np.append(-1, branches.edge[kept]),
            np.append(self.weight.sum(), branches.weight[kept]),
        )

    def __repr__(self) -> str:
        return f"AlphaTree({self.n_nodes} distinct rows, {len(self.branches.peak)} branches)"

    def to_pandas(self, *, min_cluster_size: float = 1) -> Any:
        """The branches as a pandas DataFrame: the whole tree, then by decreasing persistence.

        The columns are:

        - `peak`: a training row at the peak;
        - `parent`: a training row at the higher peak that the branch meets (-1 for the whole tree);
        - `peak_alpha`, `merge_alpha`: the typicalities at the two ends of the branch; for every
          alpha between them, the branch is a separate cluster;
        - `persistence`: the logarithm of the ratio of the heights at the two ends;
        - `size`: the number of rows that are connected above the lower end.

        Parameters
        ----------
        min_cluster_size : float, default=1
            Branches with fewer rows are left out. Single outliers are persistent branches, too.
        """
        import pandas as pd

        branches = self.branches
        peak = np.append(self.heights.argmax(), branches.peak)
        with np.errstate(divide="ignore"):
            persistence = np.log(self.heights[branches.peak] / self.saddles[branches.edge])
        table = pd.DataFrame(
            {
                "peak": self.row_of[peak],
                "parent": np.append(-1, self.row_of[branches.parent]),
                "peak_alpha": self.node_alpha[peak],
                "merge_alpha": np.append(0.0, self.saddle_alpha[branches.edge]),
                "persistence": np.append(np.inf, persistence),
                "size": np.append(self.weight.sum(), branches.weight),
            }
        )
        large = table[table["size"] >= min_cluster_size]
        return large.sort_values("persistence", ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def valley(self) -> Valley:
        """The most persistent valley of the density of the typicalities of the rows."""
        return deepest_valley(self.node_alpha, self.weight)


def number_clusters(component: NDArray[np.int32], weight: Doubles, min_size: float) -> Labels:
    """Number components by falling weight, then by first node; small ones and -1 get -1."""
    nodes = np.flatnonzero(component >= 0)
    labels = np.full(len(component), -1, np.int32)
    if len(nodes) == 0:
        return labels
    _, first, place = np.unique(component[nodes], return_index=True, return_inverse=True)
    total = np.bincount(place, weights=weight[nodes])
    order = np.lexsort([first, -np.round(total / total.max(), 12)])  # sums of fractions may tie
    order = order[total[order] >= min_size * _WHOLE]
    number = np.full(len(first), -1, np.int32)
    number[order] = np.arange(len(order))
    labels[nodes] = number[place]
    return labels


# ---- the tree of some of its nodes --------------------------------------------------------------


class PrunedTree(NamedTuple):
    """A spanning tree of some nodes of a tree, with the same components at any alpha.

    Parameters
    ----------
    nodes : array of shape (k,)
        The nodes that were kept, in rising order.
    pairs : array of shape (k - 1, 2)
        The edges between them, as places in `nodes`, by falling height.
    edge : array of shape (k - 1,)
        The edge of the whole tree at which the two components meet.
    weight : array of shape (k,)
        The weight of each node and of the nodes left out that are joined to it before any other.
    """

    nodes: Places
    pairs: Pairs
    edge: Places
    weight: Doubles


def pruned(tree: AlphaTree, nodes: Places) -> PrunedTree:
    """The tree of some of its nodes; the tree itself if all are kept. Costs O(n).

    Original to typicality: in the order of `Sides`, neighbouring nodes that are kept are joined at
    the lowest edge between them, and those left out on either side of this edge belong to them.
    """
    nodes, every = np.unique(nodes), np.arange(tree.n_nodes)
    if len(nodes) == tree.n_nodes:
        return PrunedTree(nodes, tree.pairs, every[:-1], tree.weight)
    sides = tree.sides
    in_order = np.argsort(sides.place[nodes])
    edge_before = np.empty(tree.n_nodes + 1, np.intp)  # each place, and one after the last
    edge_before[sides.middle], edge_before[-1] = every[:-1], -1
    edge = np.maximum.reduceat(edge_before, sides.place[nodes[in_order]] + 1)[:-1]
    weight = np.empty(len(nodes))
    ordered = np.empty(tree.n_nodes)
    ordered[sides.place] = tree.weight
    weight[in_order] = np.add.reduceat(ordered, np.append(0, sides.middle[edge]))
    falling = np.argsort(edge)
    pairs = np.column_stack([in_order[:-1], in_order[1:]])[falling]
    return PrunedTree(nodes, pairs, edge[falling], weight)


def _check_alpha(alpha: Any) -> float:
    """A level of typicality."""
    alpha = alpha.item() if isinstance(alpha, np.ndarray) and alpha.ndim == 0 else alpha
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 <= float(alpha) <= 1:
        raise ValueError(f"alpha must be a number from 0 to 1, a typicality; got {alpha!r}.")
    return float(alpha)
