"""The automatic choice: whether there is more than one cluster, and which, by trees at many scales.

With a kernel of one width there is one tree, and the same rule.

Original to typicality, see docs/theory.
"""

import math
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats, Labels, Places
from typicality.levelsets.growing import (
    ROWS_OF_A_NEIGHBOUR,
    Sample,
    ScaleTree,
    SearchAmong,
    count_edges,
    dimensions_by,
    grow_trees,
    links,
)
from typicality.levelsets.heights import REACH, Landscape, distances_to_others
from typicality.levelsets.tree import AlphaTree, Cut, number_clusters
from typicality.rows.quantiles import weighted_quantile
from typicality.spaces.nearest import neighbours_of

_NEIGHBOURS = (6, 11, 22, 45, 90, 180, 360, 720)  # of a scale
_WORK = 900_000  # rows times neighbours of a scale; larger tables are sampled
_MOST_ROWS, _MOST_ROWS_IN_MANY_DIMENSIONS, _FEW_DIMENSIONS = 50_000, 20_000, 3

# Evidence: fitted to single clusters of many shapes, see docs/theory.
_BAR_OF_CURVES, _BAR_OF_SHEETS = 4.5, 2.7
_GROWTH, _ROWS_OF_THE_BAR = 0.08, 1000.0  # of the bar of curves
_CURVE, _SHEET = 1.3, 1.9  # dimensions
_SMALLEST_SIDE, _LARGE_SIDE = 0.005, 0.15  # of all rows
_FEWEST_ROWS = 5.0

# The vote.
_LEVELS = np.geomspace(0.6, 3.0, 24)
_PLANE = 2.0
_POWER_BELOW, _POWER_ABOVE = 1.6, 0.65  # of the dimension, below the plane and above it
_POWER_OF_SCALE = -0.25
_PRICE = 0.04  # of a cluster, times the logarithm of their number
_VOTERS = 2000
_ROUNDING = 1e-9  # of the score

# The scale of a kernel of one width, for each row under the kernel: fitted to single clusters.
_NEIGHBOURS_OF_A_SUM = 1.5

# Rows that are dense enough to belong to a cluster, in logarithms of its median density.
_TWICE, _THIRD, _FIFTEENTH = math.log(2.0), math.log(3.0), math.log(15.0)
_DENSE = 0.9
_ABOVE_ROUNDING = 1.0 + 1e-9


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
    n_clusters: int | None = None,
    min_cluster_size: float = 1,
) -> Choice:
    """Grow trees at many scales, weigh the evidence, and let the scales vote.

    There is more than one cluster if the evidence of one scale is 1 or more, or if the user asks
    for more. Then each scale proposes the partitions of its tree at 24 levels of prominence, and
    the one that agrees best with all others is chosen: the largest mean adjusted Rand index, over
    at most 2000 rows, less 0.04 times the logarithm of the number of clusters. So of partitions
    that agree nearly as well, the one with fewer clusters wins.

    Costs O(n log n) for the neighbours and O(n k) for each scale k, with n k at most 900,000: for
    more rows a scale takes a sample.

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
    n_clusters : int, optional
        The number of clusters: each scale also proposes the partition by its most prominent saddles
        into so many, and only these partitions can win the vote.
    min_cluster_size : float, default=1
        The fewest rows of a cluster; at least five, unless `at_least` asks for more clusters.
    """
    by_rows = groupby(_scales(len(order), positions.shape[1]), key=lambda scale: scale[0])
    samples = [(np.sort(order[:m]), [k for _, k in scales]) for m, scales in by_rows]
    trees = grow_trees(positions, search_among, weight, samples)
    return _choose(trees, order, at_least, n_clusters, min_cluster_size)


def choose_on_one_tree(
    landscape: Landscape,
    tree: AlphaTree,
    order: Places,
    *,
    at_least: int = 1,
    n_clusters: int | None = None,
    min_cluster_size: float = 1,
) -> Choice:
    r"""The same choice by the tree of a kernel of one width.

    Heights are :math:`2 \sqrt{s / m}`, with m the median of all s, instead of logarithms. Sums over
    few rows vary more than sums over many, and chance changes these roots equally everywhere. Near
    the median they differ as logarithms do. The scale is :math:`k = 1.5 n m`, where n m is the
    number of rows under the kernel.

    Parameters
    ----------
    landscape : Landscape
        The heights.
    tree : AlphaTree
        Their tree.
    order, at_least, n_clusters, min_cluster_size
        As in `choose_clusters`.
    """
    n_rows, rows = tree.n_nodes, landscape.rows
    n_edges = count_edges(n_rows)
    near = neighbours_of(landscape.nearest, rows, max(n_edges, REACH) + 1)
    edges = links(near.rows[:, : n_edges + 1])
    ends = rows[edges].astype(np.float64)
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    sample = Sample(np.arange(n_rows), tree.weight, distances_to_others(near), edges, lengths)
    median = weighted_quantile(tree.heights, 0.5, tree.weight)
    scale = max(_NEIGHBOURS_OF_A_SUM * n_rows * median, 1.0)
    n_near = int(min(max(2.0 * scale, n_edges), _NEIGHBOURS[-1]))
    around = neighbours_of(landscape.nearest, rows[np.sort(order[:_VOTERS])], n_near + 1)
    one_width = ScaleTree(
        sample,
        scale,
        min(dimensions_by(around, [n_edges, n_near])),
        np.full(n_rows, landscape.kernel.sigma**2),
        2.0 * np.sqrt(tree.heights / median),
        tree.pairs,
        2.0 * np.sqrt(tree.saddles / median),
    )
    trees = [(one_width, one_width)]
    return _choose(trees, order, at_least, n_clusters, min_cluster_size)


def _choose(
    trees: list[tuple[ScaleTree, ScaleTree]],
    order: Places,
    at_least: int,
    n_clusters: int | None,
    min_cluster_size: float,
) -> Choice:
    """The vote of the first tree of each pair, if the second ones show that there is a choice."""

    def fewest_rows(tree: ScaleTree) -> float:
        return max(_FEWEST_ROWS, min_cluster_size * len(tree.heights) / len(order))

    least = min(density.dimension for _, density in trees)
    evidence = max(evidence_of(density, fewest_rows(density), least) for _, density in trees)
    fewest_clusters = n_clusters or (2 if at_least == 1 and evidence >= 1.0 else at_least)
    voting = [tree for tree, _ in trees]
    ballots = [each for tree in voting for each in _partitions(tree, fewest_rows(tree), n_clusters)]
    if n_clusters is None:
        ballots = [ballot for ballot in ballots if ballot[0].n_clusters >= fewest_clusters]
    eligible = np.array([n_clusters in (None, part.n_clusters) for part, _ in ballots], bool)
    if fewest_clusters == 1:  # all scales agree on one cluster
        chosen, agreement = _split_anyway(max(voting, key=_smoothness), 1), 1.0
    elif eligible.any():
        n_voters = min(_VOTERS, *(len(tree.heights) for tree in voting))
        chosen, agreement = _elect(ballots, np.sort(order[:n_voters]), eligible)
    else:
        chosen, agreement = _split_anyway(voting[len(voting) // 2], fewest_clusters), 0.0
    return Choice(_without_background(chosen, fewest_clusters), evidence, agreement)


def _scales(n_rows: int, n_features: int) -> list[tuple[int, int]]:
    """How many rows trees have, and of how many neighbours; the largest trees first."""
    many = n_features > _FEW_DIMENSIONS
    most = min(n_rows, _MOST_ROWS_IN_MANY_DIMENSIONS if many else _MOST_ROWS)
    scales = [(min(most, _WORK // k), k) for k in _NEIGHBOURS]
    return [(m, k) for m, k in scales if k <= max(m / ROWS_OF_A_NEIGHBOUR, _NEIGHBOURS[0])]


def evidence_of(tree: ScaleTree, fewest: float, least_dimension: float) -> float:
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
    n_rows = tree.sample.counts.sum()
    smaller_side = tree.sides.sizes.min(axis=1)
    share = smaller_side / n_rows
    large = (smaller_side >= fewest) & (share >= _SMALLEST_SIDE)
    contrast = tree.sides.means.min(axis=1) - tree.saddles
    sheet = min(max((least_dimension - _CURVE) / (_SHEET - _CURVE), 0.0), 1.0)
    bar_of_curves = _BAR_OF_CURVES * (n_rows / _ROWS_OF_THE_BAR) ** _GROWTH
    as_curve = math.sqrt(least_dimension) / bar_of_curves
    as_sheet = math.sqrt(tree.dimension) / _BAR_OF_SHEETS
    as_sheet = as_sheet * (share.clip(max=_LARGE_SIDE) / _LARGE_SIDE) ** 0.25
    found = contrast * as_curve ** (1.0 - sheet) * as_sheet**sheet
    return math.sqrt(tree.n_neighbors) * float(found[large].max(initial=0.0))


# ---- partitions of a tree ------------------------------------------------------------------------


def _prominence(tree: ScaleTree) -> Doubles:
    r"""How far the lower of the two peaks that an edge joins rises above it; 1 near chance.

    .. math:: \sqrt{\frac{k}{2 \ln(m / k)}} \, 2^{0.65} \Big( \frac d 2 \Big)^a (p - t)

    for a peak of height p and an edge of height t, with a = 1.6 below two dimensions, where
    chance makes more peaks, and 0.65 above.
    """
    rise = tree.heights[tree.sides.peaks[:, 1]] - tree.saddles
    k, dimension = tree.n_neighbors, tree.dimension
    unit = math.sqrt(2.0 * math.log(max(len(tree.heights) / k, 2.0)) / k)
    power = _POWER_BELOW if dimension < _PLANE else _POWER_ABOVE
    return np.asarray(rise / unit * _PLANE**_POWER_ABOVE * (dimension / _PLANE) ** power)


def _partitions(
    tree: ScaleTree, fewest: float, n_clusters: int | None
) -> Iterator[tuple[Partition, int]]:
    """The partitions by prominence at all levels, and at how many levels each is found.

    The one with a given number of clusters counts as a level of its own.
    """
    prominence = np.where(tree.sides.sizes.min(axis=1) >= fewest, _prominence(tree), 0.0)
    separates = prominence >= _LEVELS[:, None]
    n_separating = np.count_nonzero(separates, axis=1).tolist()
    for count, levels in groupby(range(len(_LEVELS)), key=n_separating.__getitem__):
        same = list(levels)
        if count > 0:
            yield partition_by(tree, separates[same[0]]), len(same)
    if n_clusters is not None:
        yield _split_anyway(tree, n_clusters, fewest), 1


def _split_anyway(tree: ScaleTree, n_clusters: int, fewest: float = _FEWEST_ROWS) -> Partition:
    """The clusters on the sides of the most prominent edges, those of small sides last."""
    separates = np.zeros(len(tree.pairs), bool)
    order = np.lexsort([-_prominence(tree), tree.sides.sizes.min(axis=1) < fewest])
    separates[order[: n_clusters - 1]] = True
    return partition_by(tree, separates)


def partition_by(tree: ScaleTree, separates: NDArray[np.bool_]) -> Partition:
    """The clusters on the two sides of the edges that separate."""
    labels, n_clusters = tree.sides.label_cores(separates)
    core = labels >= 0
    tree.sides.fill_along(labels)
    return Partition(tree, separates, labels, core, n_clusters)


# ---- the vote ------------------------------------------------------------------------------------


def _elect(
    ballots: list[tuple[Partition, int]], voters: Places, eligible: NDArray[np.bool_]
) -> tuple[Partition, float]:
    """The eligible partition with the largest mean agreement, less the price of its clusters.

    Also that mean. If several scales have the same partition, the smoothest scale is taken.
    """
    weights = np.array([n * part.tree.n_neighbors**_POWER_OF_SCALE for part, n in ballots])
    labels = [part.labels[np.searchsorted(part.tree.sample.rows, voters)] for part, _ in ballots]
    support = adjusted_rand_matrix(labels) @ (weights / weights.sum())
    score = support - _PRICE * np.log([part.n_clusters for part, _ in ballots])
    score[~eligible] = -np.inf
    same = np.flatnonzero(score >= score.max() - _ROUNDING)
    best = max(same, key=lambda place: _smoothness(ballots[place][0].tree))
    return ballots[best][0], float(support[best])


def _smoothness(tree: ScaleTree) -> tuple[int, float]:
    """Trees of more rows come first, then those of more neighbours: their heights vary less."""
    return len(tree.heights), tree.n_neighbors


def adjusted_rand_matrix(labels: list[NDArray[np.int64]]) -> Doubles:
    """The adjusted Rand index of every two of some partitions of the same rows.

    Quicker than :func:`sklearn.metrics.adjusted_rand_score` for each pair, which sorts the labels.
    """
    from typicality.levelsets.compiled import pairs_together  # numba takes a second to load

    n_parts, n_rows = len(labels), len(labels[0])
    sizes = np.array([int(each.max()) + 1 for each in labels])
    together = np.zeros((n_parts, n_parts))
    pairs_together(np.stack(labels), sizes, np.zeros(sizes.max() ** 2, np.int64), together)
    own = np.diagonal(together)
    expected = np.outer(own, own) / max(n_rows * (n_rows - 1), 1)
    largest = 0.5 * (own[:, None] + own)
    same = largest == expected
    index = (together - expected) / np.where(same, 1.0, largest - expected)
    return np.where(same, 1.0, index)


# ---- density: background, and rows that belong to a cluster --------------------------------------


def log_density(tree: ScaleTree, radii: Doubles) -> Doubles:
    """The logarithm of the density where so large a radius holds ten rows, up to a constant."""
    return np.asarray(-tree.dimension * np.log(np.maximum(radii, np.finfo(float).tiny)))


def log_density_within(tree: ScaleTree, labels: NDArray[np.signedinteger]) -> Doubles:
    """The log density at the rows; a cluster of ten or fewer rows counts all others in it."""
    distances = tree.sample.distances
    most = distances.shape[1]
    sizes = np.bincount(labels, weights=tree.sample.counts)
    others = (sizes[labels] - 1).clip(1, most).astype(np.intp)
    radii = distances[np.arange(len(labels)), others - 1]
    return np.asarray(log_density(tree, radii) + np.log(others / most))


def _log_density_at_borders(
    tree: ScaleTree, labels: NDArray[np.signedinteger], at_rows: Doubles
) -> Doubles:
    """The largest log density on an edge from each cluster to another one.

    On an edge it is the least of both ends and the most that it can be midway: rows that are
    neighbours of each other have few others between them.
    """
    edges = tree.sample.edges
    across = labels[edges[:, 0]] != labels[edges[:, 1]]
    pairs, lengths = edges[across], tree.sample.lengths[across]
    ends = at_rows[pairs].min(axis=1, initial=np.inf)
    lower = np.minimum(ends, log_density(tree, 0.5 * lengths))
    borders = np.full(int(labels.max()) + 1, -np.inf)
    for side in pairs.T:
        np.maximum.at(borders, labels[side], lower)
    return borders


def _without_background(partition: Partition, at_least: int) -> Partition:
    """Dissolve clusters that are no denser than the places where they meet others.

    The local kernel makes groups of background noise as high as dense clusters. A group whose dense
    rows, at the 90 % point, are less dense than its border has no peak of its own: its rows go to
    the clusters around it.
    """
    tree, labels, n_clusters = partition.tree, partition.labels, partition.n_clusters
    if n_clusters < 2:
        return partition
    density = log_density_within(tree, labels)
    dense = [np.quantile(density[labels == k], _DENSE) for k in range(n_clusters)]
    kept = np.array(dense) >= _log_density_at_borders(tree, labels, density)
    if kept.all() or np.count_nonzero(kept) < at_least:
        return partition
    core = partition.core & kept[labels]
    labels = np.where(core, (np.cumsum(kept) - 1)[labels], -1)
    tree.sides.fill_along(labels)
    return Partition(tree, partition.separates, labels, core, int(np.count_nonzero(kept)))


def cut_at_choice(partition: Partition, levels: AlphaTree) -> Cut:
    """The clusters of a partition as a cut of its tree, with a level for each.

    A row belongs to its cluster if it is dense enough: above a fifteenth of the median density
    of the cluster, and above a third of it or the density where the cluster meets another. The
    third does not count where two clusters overlap. There, fewer rows are below it than between it
    and its double; in a Gaussian in the plane they are as many. In more than two dimensions
    densities vary more: logarithms of these shares grow with the root of the dimension.
    """
    tree, dimension = partition.tree, partition.tree.dimension
    filled = number_clusters(partition.labels.astype(np.int32), levels.weight, 0)
    labels = np.where(partition.core, filled, np.int32(-1))
    alpha = np.zeros(partition.n_clusters)
    saddles = levels.saddle_alpha[partition.separates]
    for side in labels[tree.sides.peaks[partition.separates].T]:
        found = side >= 0
        np.maximum.at(alpha, side[found], saddles[found])
    alpha = np.minimum(alpha, _just_below_cores(labels, levels.node_alpha, len(alpha)))
    density = log_density(tree, tree.sample.distances[:, -1])
    median = np.array([np.median(density[filled == k]) for k in range(len(alpha))])
    spread = math.sqrt(max(dimension, 2.0) / 2.0)
    borders = _log_density_at_borders(tree, filled, density)
    third = median - spread * _THIRD
    above = (density - third[filled]) / spread
    n_below = np.bincount(filled[above < 0], minlength=len(alpha))
    n_above = np.bincount(filled[(above >= 0) & (above < _TWICE)], minlength=len(alpha))
    background = (borders < third) | (n_below >= np.maximum(n_above, 1))
    floor = np.where(background, np.minimum(borders, third), -np.inf)
    floor = np.maximum(floor, median - spread * _FIFTEENTH)
    reach = np.exp(-floor / dimension) * _ABOVE_ROUNDING
    return Cut(labels, alpha, filled, reach)


def _just_below_cores(labels: Labels, node_alpha: Doubles, n_clusters: int) -> Doubles:
    """Levels that no core touches, even where typicalities differ by less than rounding."""
    lowest = np.full(n_clusters, np.inf)
    core = labels >= 0
    np.minimum.at(lowest, labels[core], node_alpha[core])
    return np.asarray(np.nextafter(lowest, -np.inf))
