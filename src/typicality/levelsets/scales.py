"""The automatic choice: trees at many scales, whether there is more than one cluster, and which.

Original to typicality, see docs/theory.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from typicality._threads import in_threads
from typicality.geometry.nearest import GivenDistances, Neighbours, neighbours_of
from typicality.kernels import WIDTH_SHARE
from typicality.levelsets.graphs import Pairs, linked_pairs
from typicality.levelsets.landscape import Doubles, Floats
from typicality.levelsets.local import (
    LocalLandscape,
    log_heights_at,
    nearest_others,
    squared_widths,
)
from typicality.levelsets.selection import just_below_cores, raise_to
from typicality.levelsets.tree import Cut, number_clusters

Places = NDArray[np.intp]
SearchAmong = Callable[[Places], Any]

_NEIGHBOURS = (6, 11, 22, 45, 90, 180, 360, 720)  # of a scale
_ROWS_OF_A_SCALE = 4  # times its neighbours, at least
_WORK = 900_000  # rows times neighbours of a scale; of more rows, a sample
_MOST_ROWS, _MOST_ROWS_IN_MANY_DIMENSIONS, _FEW_DIMENSIONS = 50_000, 20_000, 3
_EDGES, _FEWEST_EDGES = 15, 5  # neighbours in the graph of edges, and to tell the dimension
_SMALLEST_DIMENSION, _LARGEST_DIMENSION = 0.9, 100.0

# Evidence: fitted to single clusters of many shapes, see docs/theory.
_DENSITY_SHARE = 0.4  # of the distance to the k-th neighbour
_BAR_OF_CURVES, _BAR_OF_SHEETS = 4.5, 2.7
_GROWTH, _ROWS_OF_THE_BAR = 0.08, 1000.0  # of the bar of curves
_CURVE, _SHEET = 1.3, 1.9  # dimensions
_SMALLEST_SIDE, _LARGE_SIDE = 0.005, 0.15  # of all rows
_FEWEST_ROWS = 5.0

# Rows that are dense enough to belong to a cluster, in logarithms of its median density.
_THIRD, _FIFTEENTH = math.log(3.0), math.log(15.0)
_DENSE = 0.9
_ABOVE_ROUNDING = 1.0 + 1e-9

# The vote.
_LEVELS = np.geomspace(0.6, 3.0, 24)
_PLANE = 2.0
_POWER_BELOW, _POWER_ABOVE = 1.6, 0.65  # of the dimension, below the plane and above it
_POWER_OF_SCALE = -0.25
_PRICE = 0.04  # of a cluster, times the logarithm of their number
_VOTERS = 2000
_ROUNDING = 1e-9  # of the score


@dataclass(frozen=True, eq=False)
class ScaleTree:
    """The maximum spanning tree of rows at one scale, with heights as logarithms.

    Parameters
    ----------
    rows : array of shape (m,)
        The rows in the tree, as places among all.
    counts : array of shape (m,)
        How many copies of each there are.
    n_neighbors : int
        The number k of neighbours that tells the width of the kernel.
    dimension : float
        The dimension of the rows at this scale.
    squares : array of shape (m,)
        The squared widths at the rows.
    nearest : array of shape (m, 10)
        The distances from each row to the ten nearest others, copies among them, the nearest
        first; instead of zero, the least distance of distinct rows.
    heights : array of shape (m,)
        Their heights.
    pairs : array of shape (m - 1, 2)
        The edges, by falling height.
    saddles : array of shape (m - 1,)
        Their heights.
    edges : array of shape (e, 2)
        The pairs of neighbours the tree was chosen from.
    lengths : array of shape (e,)
        Their distances.
    """

    rows: Places
    counts: Doubles
    n_neighbors: int
    dimension: float
    squares: Doubles
    nearest: Doubles
    heights: Doubles
    pairs: Pairs
    saddles: Doubles
    edges: Pairs
    lengths: Doubles

    @cached_property
    def _sides(self) -> tuple[NDArray[np.intp], Doubles, Doubles]:
        """The peaks, sizes and mean heights of what each edge joins, the higher peak first."""
        from typicality.levelsets.merging import merge_sides  # numba takes a second to load

        peaks = np.empty(self.pairs.shape, np.intp)
        sizes, means = np.empty((2, *self.pairs.shape))
        merge_sides(self.pairs, self.heights, self.counts, peaks, sizes, means)
        return peaks, sizes, means

    @property
    def peaks(self) -> NDArray[np.intp]:
        """The highest rows of the two sides of each edge."""
        return self._sides[0]

    @property
    def radii(self) -> Doubles:
        """The radius around each row that holds ten others."""
        return self.nearest[:, -1]

    @cached_property
    def log_density(self) -> Doubles:
        """The logarithm of the density at the rows, up to a constant."""
        return self._log_density_by(self.radii)

    def log_density_within(self, labels: NDArray[np.signedinteger]) -> Doubles:
        """The same, where rows of clusters of ten or fewer have as many neighbours as fit in."""
        most = self.nearest.shape[1]
        sizes = np.bincount(labels, weights=self.counts)
        others = (sizes[labels] - 1).clip(1, most).astype(np.intp)
        radii = self.nearest[np.arange(len(labels)), others - 1]
        return np.asarray(self._log_density_by(radii) + np.log(others / most))

    def log_density_between(self) -> Doubles:
        """The most that it can be midway between the rows of each edge.

        Rows that name each other as neighbours have few others between them.
        """
        return self._log_density_by(0.5 * self.lengths)

    def _log_density_by(self, radii: Doubles) -> Doubles:
        return np.asarray(-self.dimension * np.log(np.maximum(radii, np.finfo(float).tiny)))

    def evidence(self, fewest: float, least_dimension: float) -> float:
        r"""How far the clearest valley exceeds what chance makes of one cluster; 1 at the bar.

        .. math:: \max_e \sqrt k \, c_e
            \Big( \frac{\sqrt D}{4.5 \, (n / 1000)^{0.08}} \Big)^{1 - t}
            \Big( \frac{\sqrt d}{2.7} \Big( \frac{\min(q_e, 0.15)}{0.15} \Big)^{1/4} \Big)^t

        over edges with half a percent of the rows on either side, and the fewest rows of a
        cluster. :math:`c_e` is the lower of the two mean heights above the edge, less the height of
        the edge: a chance bump may have a high peak, but it has a low mean. :math:`q_e` is the
        share of the rows on the smaller side, d the dimension at this scale, and D the least of
        all scales; t rises from 0 at D = 1.3 to 1 at D = 1.9. One gap cuts a curve in two, but not
        a sheet.
        """
        n_rows = self.counts.sum()
        share = self.smaller_side / n_rows
        large = (self.smaller_side >= fewest) & (share >= _SMALLEST_SIDE)
        contrast = self._sides[2].min(axis=1) - self.saddles
        sheet = min(max((least_dimension - _CURVE) / (_SHEET - _CURVE), 0.0), 1.0)
        bar_of_curves = _BAR_OF_CURVES * (n_rows / _ROWS_OF_THE_BAR) ** _GROWTH
        as_curve = math.sqrt(least_dimension) / bar_of_curves
        as_sheet = math.sqrt(self.dimension) / _BAR_OF_SHEETS
        as_sheet = as_sheet * (share.clip(max=_LARGE_SIDE) / _LARGE_SIDE) ** 0.25
        found = contrast * as_curve ** (1.0 - sheet) * as_sheet**sheet
        return math.sqrt(self.n_neighbors) * float(found[large].max(initial=0.0))

    @cached_property
    def prominence(self) -> Doubles:
        r"""How far the lower of the two peaks that an edge joins rises above it; 1 near chance.

        .. math:: \sqrt{\frac{k}{2 \ln(m / k)}} \, 2^{0.65} \Big( \frac d 2 \Big)^a (p - t)

        for a peak of height p and an edge of height t, with a = 1.6 below two dimensions, where
        chance makes more peaks, and 0.65 above.
        """
        rise = self.heights[self.peaks[:, 1]] - self.saddles
        k = self.n_neighbors
        unit = math.sqrt(2.0 * math.log(max(len(self.heights) / k, 2.0)) / k)
        power = _POWER_BELOW if self.dimension < _PLANE else _POWER_ABOVE
        return np.asarray(rise / unit * _PLANE**_POWER_ABOVE * (self.dimension / _PLANE) ** power)

    @property
    def smaller_side(self) -> Doubles:
        """The number of rows on the smaller side of each edge."""
        return np.asarray(self._sides[1].min(axis=1))

    def cut(self, separates: NDArray[np.bool_]) -> "Partition":
        """The clusters on the two sides of the edges that separate."""
        from typicality.levelsets.merging import fill_along, label_cores  # takes a second to load

        labels = np.empty(len(self.rows), np.int64)
        n_clusters = label_cores(self.pairs, separates, self.peaks, labels)
        core = labels >= 0
        fill_along(self.pairs, labels)
        return Partition(self, separates, labels, core, n_clusters)

    def partitions(self, fewest: float) -> Iterator[tuple["Partition", int]]:
        """The partitions by prominence at all levels, and at how many levels each is met."""
        prominence = np.where(self.smaller_side >= fewest, self.prominence, 0.0)
        separates = prominence >= _LEVELS[:, None]
        met = np.count_nonzero(separates, axis=1)
        for count, levels in groupby(range(len(_LEVELS)), key=lambda level: int(met[level])):
            same = list(levels)
            if count > 0:
                yield self.cut(separates[same[0]]), len(same)


class Partition(NamedTuple):
    """Clusters of the rows of a tree.

    Parameters
    ----------
    tree : ScaleTree
        The tree.
    separates : array of shape (m - 1,), bool
        The edges that separate clusters.
    labels : array of shape (m,)
        The cluster of each row.
    core : array of shape (m,), bool
        Whether a row is above the highest saddle of its cluster.
    n_clusters : int
        The number of clusters.
    """

    tree: ScaleTree
    separates: NDArray[np.bool_]
    labels: NDArray[np.int64]
    core: NDArray[np.bool_]
    n_clusters: int


class Choice(NamedTuple):
    """The partition that was chosen, the evidence for more than one cluster, and the agreement."""

    partition: Partition
    evidence: float
    agreement: float


def choose_clusters(
    positions: Floats,
    search_among: SearchAmong,
    weight: Doubles,
    order: Places,
    *,
    at_least: int = 1,
    min_cluster_size: float = 1,
) -> Choice:
    """Grow trees at many scales, weigh the evidence, and let the scales vote.

    There is more than one cluster where the evidence of one scale is 1 or more, or where the user
    says so. Then each scale proposes the partitions of its tree at 24 levels of prominence, and
    the one that agrees best with all others is chosen: the largest mean adjusted Rand index, over
    at most 2000 rows, less 0.04 times the logarithm of the number of clusters. So of partitions
    that agree nearly as well, the one with fewer clusters wins.

    Costs O(n log n) for the neighbours and O(n k) for each scale k, with n k at most 900,000: a
    scale of more rows looks at a sample.

    Parameters
    ----------
    positions : array of shape (n, d) or (n, N)
        The coordinates of distinct rows, or their distances to all rows.
    search_among : callable
        `search_among(rows)`: a search for the nearest of some rows, by their places.
    weight : array of shape (n,)
        Their weights.
    order : array of shape (n,)
        The rows in an arbitrary order that does not depend on how they are sorted; samples are the
        first ones.
    at_least : int, default=1
        The fewest clusters, if there are enough rows.
    min_cluster_size : float, default=1
        The fewest rows of a cluster; five in any case, unless more clusters are asked for.
    """
    trees = list(_grown(positions, search_among, weight, order))

    def fewest_rows(tree: ScaleTree) -> float:
        return max(_FEWEST_ROWS, min_cluster_size * len(tree.rows) / len(order))

    least = min(density.dimension for _, density in trees)
    evidence = max(density.evidence(fewest_rows(density), least) for _, density in trees)
    fewest_clusters = 2 if at_least == 1 and evidence >= 1.0 else at_least
    voting = [tree for tree, _ in trees]
    ballots = [ballot for tree in voting for ballot in tree.partitions(fewest_rows(tree))]
    ballots = [ballot for ballot in ballots if ballot[0].n_clusters >= fewest_clusters]
    if ballots:
        n_voters = min(_VOTERS, *(len(tree.rows) for tree in voting))
        chosen, agreement = _elect(ballots, np.sort(order[:n_voters]))
    else:
        chosen, agreement = _split_anyway(voting[len(voting) // 2], fewest_clusters), 0.0
    if fewest_clusters == 1:  # which all scales agree on
        chosen, agreement = _split_anyway(max(voting, key=_smoothness), 1), 1.0
    return Choice(_without_background(chosen, fewest_clusters), evidence, agreement)


def _split_anyway(tree: ScaleTree, n_clusters: int) -> Partition:
    """The clusters on the sides of the most prominent edges, those of small sides last."""
    separates = np.zeros(len(tree.pairs), bool)
    order = np.lexsort([-tree.prominence, tree.smaller_side < _FEWEST_ROWS])
    separates[order[: n_clusters - 1]] = True
    return tree.cut(separates)


def _without_background(partition: Partition, at_least: int) -> Partition:
    """Dissolve clusters that are no denser than the places where they meet others.

    The local kernel makes groups of background noise as high as dense clusters. A group whose dense
    rows, at the 90 % point, are less dense than its border has no peak of its own: its rows go with
    the clusters around it.
    """
    from typicality.levelsets.merging import fill_along  # numba takes a second to load

    tree, labels, n_clusters = partition.tree, partition.labels, partition.n_clusters
    if n_clusters < 2:
        return partition
    density = tree.log_density_within(labels)
    dense = [np.quantile(density[labels == k], _DENSE) for k in range(n_clusters)]
    kept = np.array(dense) >= _borders(tree, labels, density)
    if kept.all() or np.count_nonzero(kept) < at_least:
        return partition
    core = partition.core & kept[labels]
    labels = np.where(core, (np.cumsum(kept) - 1)[labels], -1)
    fill_along(tree.pairs, labels)
    return Partition(tree, partition.separates, labels, core, int(np.count_nonzero(kept)))


def _borders(tree: ScaleTree, labels: NDArray[np.signedinteger], log_density: Doubles) -> Doubles:
    """The logarithm of the density where each cluster meets another: the highest of all places."""
    across = labels[tree.edges[:, 0]] != labels[tree.edges[:, 1]]
    pairs = tree.edges[across]
    ends = log_density[pairs].min(axis=1, initial=np.inf)
    lower = np.minimum(ends, tree.log_density_between()[across])
    borders = np.full(int(labels.max()) + 1, -np.inf)
    for side in pairs.T:
        np.maximum.at(borders, labels[side], lower)
    return borders


def cut_at_choice(partition: Partition, landscape: LocalLandscape, weight: Doubles) -> Cut:
    """The clusters of a partition as a cut of its tree, with a level for each.

    A row belongs to its cluster where it is dense enough: above a fifteenth of the median density
    of the cluster, and above a third of it or the density where the cluster meets another. In more
    than two dimensions densities vary more: logarithms of these shares grow with the root of the
    dimension.
    """
    tree = partition.tree
    filled = number_clusters(partition.labels.astype(np.int32), weight, 0)
    labels = np.where(partition.core, filled, np.int32(-1))
    alpha = np.zeros(partition.n_clusters)
    saddles = landscape.typicality(np.exp(tree.saddles[partition.separates]))
    for side in tree.peaks[partition.separates].T:
        raise_to(alpha, labels[side], saddles)
    node_alpha = landscape.typicality(np.exp(tree.heights))
    alpha = np.minimum(alpha, just_below_cores(labels, node_alpha, len(alpha)))
    median = np.array([np.median(tree.log_density[filled == k]) for k in range(len(alpha))])
    spread = math.sqrt(max(tree.dimension, 2.0) / 2.0)
    floor = np.minimum(_borders(tree, filled, tree.log_density), median - spread * _THIRD)
    floor = np.maximum(floor, median - spread * _FIFTEENTH)
    reach = np.exp(-floor / tree.dimension) * _ABOVE_ROUNDING
    return Cut(labels, alpha, filled, reach)


# ---- trees --------------------------------------------------------------------------------------


def _grown(
    positions: Floats, search_among: SearchAmong, weight: Doubles, order: Places
) -> Iterator[tuple[ScaleTree, ScaleTree]]:
    """The trees of the local kernel and of the density, for every scale."""
    many = positions.shape[1] > _FEW_DIMENSIONS
    most = min(len(order), _MOST_ROWS_IN_MANY_DIMENSIONS if many else _MOST_ROWS)
    scales = [(min(most, _WORK // k), k) for k in _NEIGHBOURS]
    scales = [(m, k) for m, k in scales if k <= max(m / _ROWS_OF_A_SCALE, _NEIGHBOURS[0])]
    for m, group in groupby(scales, key=lambda scale: scale[0]):
        sizes = [k for _, k in group]
        sample = _Sample.of(positions, search_among, weight, np.sort(order[:m]), max(sizes))
        tasks = [(k, mutual) for k in sizes for mutual in (True, False)]
        trees = in_threads(sample.grow, tasks)
        yield from zip(trees[::2], trees[1::2], strict=True)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Rows of a scale, their neighbours, and the edges of which trees are made."""

    rows: Places
    positions: Floats
    is_given: bool
    counts: Doubles
    near: Neighbours
    edges: Pairs
    lengths: Doubles

    @classmethod
    def of(
        cls, positions: Floats, search_among: SearchAmong, weight: Doubles, rows: Places, k: int
    ) -> Self:
        search = search_among(rows)
        near = neighbours_of(search, positions[rows], max(2 * k, _EDGES) + 1)
        is_given = isinstance(search, GivenDistances)
        own = positions[np.ix_(rows, search.columns)] if is_given else positions[rows]
        own = np.ascontiguousarray(own, dtype=np.float64)
        n_edges = _n_edges(len(rows))
        nearest = near.rows[:, : n_edges + 1]
        edges = linked_pairs(nearest, positions[rows], lambda some: search_among(rows[some]))
        sqdist = search.sqdist(positions[rows[edges[:, 0]]], edges[:, 1:])[:, 0]
        return cls(rows, own, is_given, weight[rows], near, edges, np.sqrt(sqdist))

    def grow(self, task: tuple[int, bool]) -> ScaleTree:
        """The tree at a scale k: of the local kernel (mutual widths), or of the density."""
        from typicality.levelsets.growing import grow_tree  # numba takes a second to load

        k, mutual = task
        share = WIDTH_SHARE if mutual else _DENSITY_SHARE
        dimension = self._dimension(k)
        near = self.near.nearest(2 * k + 1)
        squares = squared_widths(near, k, share)
        squares[squares == 0] = squares[squares > 0].min(initial=1.0)
        weights = self.counts / self.counts.sum()
        heights = log_heights_at(near, squares, squares, weights, dimension, mutual=mutual)
        n_edges = len(self.rows) - 1
        pairs, saddles = np.empty((n_edges, 2), np.intp), np.empty(n_edges)
        grow_tree(
            self.positions,
            self.is_given,
            near.rows,
            k,
            share,
            squares,
            weights,
            0.5 * dimension,
            mutual,
            heights,
            self.edges,
            pairs,
            saddles,
        )
        return ScaleTree(
            self.rows,
            self.counts,
            k,
            dimension,
            squares,
            self._nearest,
            heights,
            pairs,
            saddles,
            self.edges,
            self.lengths,
        )

    @cached_property
    def _nearest(self) -> Doubles:
        """The distances to the nearest others; for copies, the least distance of distinct rows."""
        sqdist = self.near.sqdist[:, :2]
        positive = sqdist[sqdist > 0]
        least = math.sqrt(positive.min()) if positive.size else 0.0
        return np.maximum(nearest_others(self.near, self.counts), least)

    def _dimension(self, k: int) -> float:
        """The dimension at a scale, at most that at the finest."""
        finest = _n_edges(len(self.rows))
        coarse, fine = (dimension_by(self.near, max(size, finest)) for size in (k, finest))
        return min(max(min(coarse, fine), _SMALLEST_DIMENSION), _LARGEST_DIMENSION)


def _n_edges(n_rows: int) -> int:
    """The number of neighbours that make edges and tell the dimension: fewer for few rows."""
    return min(_EDGES, max(_FEWEST_EDGES, n_rows // _ROWS_OF_A_SCALE))


def dimension_by(near: Neighbours, k: int) -> float:
    r"""The dimension of rows by the growth of their distances to k neighbours.

    .. math:: \hat d = \Big( \frac{1}{n (k - 1)} \sum_i \sum_{j < k} \ln \frac{r_k(i)}{r_j(i)}
        \Big)^{-1}

    Implements :cite:`levina2004`, averaged as :cite:`mackay2005` proposed.
    """
    k = min(k, near.sqdist.shape[1] - 1)
    if k < 2:
        return 1.0
    sqdist = near.sqdist[:, 1 : k + 1]
    sqdist = sqdist[sqdist[:, 0] > 0]
    slope = 0.5 * float(np.mean(np.log(sqdist[:, -1:] / sqdist[:, :-1]))) if len(sqdist) else 1.0
    return 1.0 / slope if slope > 0 else float("inf")


# ---- the vote -----------------------------------------------------------------------------------


def _elect(ballots: list[tuple[Partition, int]], voters: Places) -> tuple[Partition, float]:
    """The partition of largest mean agreement with all, at a price, and that mean.

    Of scales with the same partition the smoothest is taken.
    """
    weights = np.array([n * part.tree.n_neighbors**_POWER_OF_SCALE for part, n in ballots])
    labels = [part.labels[np.searchsorted(part.tree.rows, voters)] for part, _ in ballots]
    support = adjusted_rand_matrix(labels) @ (weights / weights.sum())
    price = _PRICE * np.log([part.n_clusters for part, _ in ballots])
    score = support - price
    same = np.flatnonzero(score >= score.max() - _ROUNDING)
    best = max(same, key=lambda place: _smoothness(ballots[place][0].tree))
    return ballots[best][0], float(support[best])


def _smoothness(tree: ScaleTree) -> tuple[int, int]:
    """Trees of more rows come first, then those of more neighbours: their heights vary less."""
    return len(tree.rows), tree.n_neighbors


def adjusted_rand_matrix(labels: list[NDArray[np.int64]]) -> Doubles:
    """The adjusted Rand index of every two of some partitions of the same rows.

    Quicker than :func:`sklearn.metrics.adjusted_rand_score` for each pair, which sorts the labels.
    """
    n_parts, n_rows = len(labels), len(labels[0])
    together = np.empty((n_parts, n_parts))
    for i, one in enumerate(labels):
        for j, other in enumerate(labels[: i + 1]):
            table = np.bincount(one * (int(other.max()) + 1) + other)
            together[i, j] = together[j, i] = table @ (table - 1)
    own = np.diagonal(together)
    expected = np.outer(own, own) / max(n_rows * (n_rows - 1), 1)
    largest = 0.5 * (own[:, None] + own)
    same = largest == expected
    index = (together - expected) / np.where(same, 1.0, largest - expected)
    return np.where(same, 1.0, index)
