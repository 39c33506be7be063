"""Maximum spanning trees of rows, by the heights on the way between neighbours."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from typicality._cached import cached_property
from typicality._progress import counter
from typicality._threads import added, over_blocks, over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.kernels.local import WIDTH_SHARE
from typicality.levelsets.heights import (
    MOST_POINTS,
    Landscape,
    LocalKernel,
    LocalLandscape,
    count_points,
    distances_to_others,
    log_heights_at,
    lowest_between,
    segment_lengths,
    squared_widths,
)
from typicality.levelsets.tree import Pairs, Sides, branches_of, components
from typicality.spaces.nearest import GivenDistances, NearestRows, Neighbours, neighbours_of

SearchAmong = Callable[[Places], Any]

ROWS_OF_A_NEIGHBOUR = 4  # a scale of k neighbours needs 4 k rows

_PAIRS_AT_A_TIME = 2**16
_PAIRS_OF_A_TASK = 2**14
_ROWS_OF_A_BLOCK = 2**7
_NEAREST, _NEAREST_ISLANDS = 5, 5
_CAREFUL_ROUNDS = 2  # in which most rows find their way up
_LOOKS = (1, 2, 4, 8, MOST_POINTS)  # points of an edge, round by round
_DENSITY_SHARE = 0.4  # of the distance to the k-th neighbour
_EDGES, _FEWEST_EDGES = 15, 5  # neighbours in the graph of edges, and for the dimension
_SMALLEST_DIMENSION, _LARGEST_DIMENSION = 0.9, 100.0


# ---- pairs of rows -------------------------------------------------------------------------------


def neighbour_pairs(search: NearestRows, k: int) -> Iterator[Pairs]:
    """Pairs of which one row is among the k nearest of the other, and bridges between islands.

    The nearest pairs come first: among them most rows find their way up. Then come all pairs. Their
    graph may have several components, the islands. Each is linked to its five nearest islands, by
    their means, through the k closest pairs of rows, until the graph is connected.
    """
    nearest = search.among(k + 1)
    yield links(nearest[:, : _NEAREST + 1])
    pairs = links(nearest)
    island = components(search.n_rows, pairs)
    while island.max() > 0:
        pairs = np.concatenate([pairs, _bridges(search, island, k)])
        island = components(search.n_rows, pairs)
    yield pairs


def _bridges(search: NearestRows, island: NDArray[np.int32], k: int) -> Pairs:
    """The k closest pairs of rows between each island and its nearest ones."""
    rows, norm = search.rows, search.norm
    members = np.split(np.argsort(island, kind="stable"), np.cumsum(np.bincount(island))[:-1])
    middles = np.array([rows[own].mean(axis=0, dtype=np.float64) for own in members])
    near = links(NearestRows(middles, norm).among(_NEAREST_ISLANDS + 1))
    bridges = []
    for one, other in ((members[a], members[b]) for a, b in near):
        distance, place = cKDTree(rows[other]).query(rows[one], p=norm)
        closest = np.argsort(distance, kind="stable")[:k]
        bridges.append(np.column_stack([one[closest], other[place[closest]]]))
    return np.sort(np.concatenate(bridges), axis=1)


def linked_pairs(
    nearest: Places, search: Any, asking: Floats, search_among: Callable[[Places], Any]
) -> Pairs:
    """Pairs of which one row is near the other, and the shortest bridges between islands.

    Parameters
    ----------
    nearest : array of shape (n, k)
        The nearest rows of each row.
    search : NearestRows or GivenDistances
        A search for the nearest of all rows.
    asking : array of shape (n, ...)
        The rows in the form that a search takes.
    search_among : callable
        `search_among(rows)`: a search for the nearest of some of the rows.
    """
    pairs = links(nearest)
    island = components(len(nearest), pairs)
    while island.max() > 0:
        sizes = np.bincount(island)
        bridges = []
        for number in np.delete(np.arange(len(sizes)), sizes.argmax()):
            own, others = np.flatnonzero(island == number), np.flatnonzero(island != number)
            own, others = search.facing(own, others)
            near = neighbours_of(search_among(others), asking[own], 1)
            shortest = int(near.sqdist.argmin())
            bridges.append((own[shortest], others[near.rows[shortest, 0]]))
        pairs = np.concatenate([pairs, distinct_pairs(np.array(bridges))])
        island = components(len(sizes), island.astype(np.intp)[np.array(bridges)])[island]
    return pairs


def links(nearest: Places) -> Pairs:
    """Each row with its nearest rows; each pair once, the smaller index first."""
    from typicality.levelsets.compiled import link  # numba takes a second to load

    pairs = np.empty((nearest.size, 2), np.intp)
    return pairs[: link(np.ascontiguousarray(nearest), pairs)]


def distinct_pairs(pairs: Pairs) -> Pairs:
    """Pairs of two rows, each once, the smaller index first, in lexicographic order."""
    one, other = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int64).T
    codes = np.sort((np.minimum(one, other) << 32) + np.maximum(one, other))  # quicker than pairs
    codes = codes[np.diff(codes, prepend=-1) > 0]  # much faster than np.unique
    return np.column_stack([codes >> 32, codes & 0xFFFFFFFF]).astype(np.intp, copy=False)


def all_pairs(n_rows: int) -> Iterator[Pairs]:
    """All pairs, some at a time."""
    every, step = np.arange(n_rows), max(1, _PAIRS_AT_A_TIME // n_rows)
    for first in range(0, n_rows, step):
        one, other = np.nonzero(every[first : first + step, None] < every)
        yield np.column_stack([one + first, other])


# ---- the tree of a kernel of one width -----------------------------------------------------------


class Forest(NamedTuple):
    """The edges of a maximum spanning forest, by falling height, and its union-find structure.

    Where two components meet, the root of the smaller one becomes a child of the root of the
    larger. So no row is deeper than log2(n), and the level at which two rows are joined is found
    on the way up from both to where they meet.

    Parameters
    ----------
    pairs : array of shape (m, 2)
        The edges.
    saddles : array of shape (m,)
        Their heights.
    above : array of shape (n,)
        The parent of each row; the row itself for roots.
    level : array of shape (n,)
        The height of the edge that joined it to its parent; minus infinity for roots.
    chosen : array of shape (m,)
        The places of the edges among those that the forest was chosen from.
    """

    pairs: Pairs
    saddles: Doubles
    above: Places
    level: Doubles
    chosen: Places

    @classmethod
    def of(cls, n_rows: int, pairs: Pairs, heights: Doubles) -> Self:
        """The maximum spanning forest of some edges; ties go to earlier edges."""
        from typicality.levelsets.compiled import grow  # numba takes a second to load

        order = np.argsort(-heights, kind="stable")
        above, level = np.arange(n_rows), np.full(n_rows, -np.inf)
        size, chosen = np.ones(n_rows, np.intp), np.empty(n_rows, np.intp)
        chosen = chosen[: grow(pairs, heights, order, above, level, size, chosen)]
        return cls(pairs[chosen], heights[chosen], above, level, chosen)

    def joined_at(self, pairs: Pairs) -> Doubles:
        """The level at which the two rows of each pair are joined; minus infinity for never."""
        from typicality.levelsets.compiled import meet  # numba takes a second to load

        levels = np.empty(len(pairs))

        def look(first: int, last: int) -> None:
            meet(self.above, self.level, pairs, first, last, levels)

        over_ranges(look, len(pairs), at_least=_PAIRS_OF_A_TASK)
        return levels


def spanning_tree(landscape: Landscape, heights: Doubles) -> tuple[Pairs, Doubles]:
    """The maximum spanning tree of the rows of a landscape: its edges and their heights.

    Parameters
    ----------
    landscape : Landscape
        The heights between rows.
    heights : array of shape (n,)
        The heights of the rows.
    """
    forest = Forest.of(len(heights), np.empty((0, 2), np.intp), np.empty(0))
    every_pair = neighbour_pairs(landscape.nearest, landscape.n_neighbors)
    if landscape.labelling == "complete":  # a good tree to begin with spares most of the work
        every_pair = chain(every_pair, all_pairs(len(heights)))
    for pairs in every_pair:
        forest = _improved(forest, pairs, landscape, heights)
    if landscape.labelling == "neighbours":
        pairs = _peak_pairs(forest, landscape, heights)
        forest = _improved(forest, pairs, landscape, heights)
    return forest.pairs, forest.saddles


def _improved(forest: Forest, pairs: Pairs, landscape: Landscape, heights: Doubles) -> Forest:
    """The maximum spanning forest of a forest and more pairs.

    An edge is as high as the lowest point on it, so any height on it is an upper bound. An edge
    matters only if its rows are not yet joined at its bound, so most edges are never looked at as a
    whole. First come those that would be the tree if no edge led through a valley, about one for
    each row; then all others, at more points each round.
    """
    n_rows, rows = len(heights), landscape.rows
    pairs = pairs[heights[pairs].min(axis=1) > forest.joined_at(pairs)]
    # Of many ways up from a row, the shortest is least likely to lead through a valley.
    pairs = pairs[np.argsort(segment_lengths(landscape, *rows[pairs.T]), kind="stable")]
    is_known = np.arange(len(forest.pairs) + len(pairs)) < len(forest.pairs)
    bounds = np.concatenate([forest.saddles, heights[pairs].min(axis=1)])
    pairs = np.concatenate([forest.pairs, pairs])
    n_points = count_points(landscape, *rows[pairs.T])

    def look(some: Places, at_most: int) -> None:
        # Sums at points that follow one another are quicker where these are near in space.
        some = some[np.argsort(pairs[some, 0], kind="stable")]
        starts, stops = rows[pairs[some].T]
        found = lowest_between(landscape, starts, stops, at_most)
        bounds[some] = np.minimum(bounds[some], found)
        is_known[some] = (n_points[some] <= at_most) | (bounds[some] <= landscape.rtol)

    for _ in range(0 if len(forest.pairs) else _CAREFUL_ROUNDS):
        chosen = Forest.of(n_rows, pairs, bounds).chosen
        look(chosen[~is_known[chosen]], MOST_POINTS)
    for at_most in _LOOKS:
        forest = Forest.of(n_rows, pairs[is_known], bounds[is_known])
        look(np.flatnonzero(~is_known & (bounds > forest.joined_at(pairs))), at_most)
    return Forest.of(n_rows, pairs[is_known], bounds[is_known])


def _peak_pairs(forest: Forest, landscape: Landscape, heights: Doubles) -> Pairs:
    """Each peak with the higher one it meets, and with the nearest others.

    In many dimensions hundreds of rows may be nearer to a peak than the next peak is, and still the
    straight way between the two peaks may be higher than any way through neighbours.
    """
    sides = Sides.of(forest.pairs, forest.saddles, heights, np.ones(len(heights)))
    branches = branches_of(sides, forest.saddles, heights)
    peaks = np.append(heights.argmax(), branches.peak)
    search = NearestRows(landscape.rows[peaks], landscape.nearest.norm)
    near = search.among(landscape.n_neighbors)
    here = np.repeat(peaks, near.shape[1])
    met = np.column_stack([branches.peak, branches.parent])
    return distinct_pairs(np.concatenate([met, np.column_stack([here, peaks[near.ravel()]])]))


# ---- the trees of local kernels ------------------------------------------------------------------


class Sample(NamedTuple):
    """Rows at one or more scales, and the graph of neighbours that trees are chosen from.

    Parameters
    ----------
    rows : array of shape (m,)
        The rows, as places among all.
    counts : array of shape (m,)
        How many copies of each there are.
    distances : array of shape (m, 10)
        The distances from each row to the ten nearest others, counting copies, the nearest first;
        instead of zero, the least distance of distinct rows.
    edges : array of shape (e, 2)
        The pairs of neighbours.
    lengths : array of shape (e,)
        Their distances.
    """

    rows: Places
    counts: Doubles
    distances: Doubles
    edges: Pairs
    lengths: Doubles


@dataclass(frozen=True, eq=False)
class ScaleTree:
    """The maximum spanning tree of a sample at one scale.

    Heights are logarithms, or in units in which they vary by chance as these do.

    Parameters
    ----------
    sample : Sample
        The rows of the tree.
    n_neighbors : float
        The scale: the number of rows that a height averages over.
    dimension : float
        The dimension of the rows.
    squares : array of shape (m,)
        The squared widths of the kernel at the rows.
    heights : array of shape (m,)
        The heights of the rows.
    pairs : array of shape (m - 1, 2)
        The edges, by falling height.
    saddles : array of shape (m - 1,)
        Their heights.
    """

    sample: Sample
    n_neighbors: float
    dimension: float
    squares: Doubles
    heights: Doubles
    pairs: Pairs
    saddles: Doubles

    @cached_property
    def sides(self) -> Sides:
        """What each edge joins."""
        return Sides.of(self.pairs, self.saddles, self.heights, self.sample.counts)

    def landscape(self, search: Any, *, eta_scale: float) -> LocalLandscape:
        """The landscape that the tree was grown on; all rows have the same weight."""
        counts = self.sample.counts
        energy = max(1.0 - float(counts @ np.exp(self.heights) / counts.sum()), 0.0)
        return LocalLandscape(
            search,
            counts,
            int(self.n_neighbors),
            self.dimension,
            self.squares,
            self.sample.distances[:, -1],
            energy,
            eta_scale * energy if energy > 0 else 1.0,
        )

    def how(self, n_rows: int) -> str:
        """A sentence about how the tree was computed, for a number of distinct rows."""
        m, k = len(self.heights), int(self.n_neighbors)
        sample = "" if m == n_rows else f" of a sample of {m:,} rows"
        how = f"sums over the {2 * k} nearest rows of each row, at the scale of the {k} nearest"
        return f"{how}{sample}; the scale was chosen by agreement with the other scales."


def grow_trees(
    positions: Floats,
    search_among: SearchAmong,
    weight: Doubles,
    samples: Sequence[tuple[Places, Sequence[int]]],
) -> list[tuple[ScaleTree, ScaleTree]]:
    """For each scale, the tree of the local kernel and that of the density.

    All trees grow at the same time, each in one thread.

    Parameters
    ----------
    positions, search_among, weight
        As in `choose_clusters`.
    samples : sequence of (rows, scales)
        The rows of trees, as places among all, and the numbers of neighbours for which they are
        grown.
    """
    tasks: list[Callable[[], ScaleTree]] = []
    count = counter(sum(1 + 2 * len(scales) for _, scales in samples))
    for rows, scales in samples:
        tasks += _tree_tasks(positions, search_among, weight, rows, scales)
        count()

    def grow(number: slice) -> ScaleTree:
        tree: ScaleTree = tasks[number.start]()
        count()
        return tree

    trees = over_blocks(grow, len(tasks), 1)
    return list(zip(trees[::2], trees[1::2], strict=True))


def _tree_tasks(
    positions: Floats,
    search_among: SearchAmong,
    weight: Doubles,
    rows: Places,
    scales: Sequence[int],
) -> list[Callable[[], ScaleTree]]:
    """Functions that grow the trees of some rows: they share one search for neighbours."""
    search, asking = search_among(rows), positions[rows]
    near = neighbours_of(search, asking, max(2 * max(scales), _EDGES) + 1)
    n_edges = count_edges(len(rows))
    nearest = near.rows[:, : n_edges + 1]
    edges = linked_pairs(nearest, search, asking, lambda some: search_among(rows[some]))
    lengths = np.sqrt(search.sqdist(asking[edges[:, 0]], edges[:, 1:])[:, 0])
    # Of edges up from a row that are equally high, the shortest is the first to be tried: it is
    # least likely to lead through a valley, and joins the row to what is nearest.
    shortest = _rising(lengths)
    edges, lengths = edges[shortest], lengths[shortest]
    counts = weight[rows]
    distinct = near.sqdist[:, :2][near.sqdist[:, :2] > 0]
    least = math.sqrt(distinct.min()) if distinct.size else 0.0
    distances = np.maximum(distances_to_others(near, counts), least)
    sample = Sample(rows, counts, distances, edges, lengths)
    given = isinstance(search, GivenDistances)
    own = positions[np.ix_(rows, search.columns)] if given else asking
    own = np.ascontiguousarray(own, dtype=np.float64)
    sizes = [n_edges, *(max(k, n_edges) for k in scales)]
    finest, *others = dimensions_by(near, sizes)
    dimensions = {k: min(each, finest) for k, each in zip(scales, others, strict=True)}
    small = Neighbours(near.rows.astype(np.int32), near.sqdist)  # half as many bytes

    def grow(k: int, mutual: bool) -> ScaleTree:
        share = WIDTH_SHARE if mutual else _DENSITY_SHARE
        around = small.nearest(2 * k + 1)
        squares = squared_widths(around, k, share)
        squares[squares == 0] = squares[squares > 0].min(initial=1.0)
        kernel = LocalKernel(k, share, dimensions[k], mutual, squares, counts / counts.sum())
        from typicality.levelsets.compiled import grow_tree  # numba takes a second to load

        heights = log_heights_at(around, squares, kernel)
        tree = grow_tree(own, given, *around, kernel, heights, edges)
        return ScaleTree(sample, k, dimensions[k], squares, heights, *tree)

    return [partial(grow, k, mutual) for k in scales for mutual in (True, False)]


def _rising(values: Doubles) -> Places:
    """The places of positive values in rising order; almost equal ones keep their order.

    A sort of whole numbers, the bits of each value with its place in the lowest ones, takes an
    eighth of the time of a stable sort.
    """
    mask = (1 << len(values).bit_length()) - 1
    return np.sort((values.view(np.int64) & ~mask) | np.arange(len(values))) & mask


def count_edges(n_rows: int) -> int:
    """The number of neighbours in the graph of edges, and for the dimension."""
    return min(_EDGES, max(_FEWEST_EDGES, n_rows // ROWS_OF_A_NEIGHBOUR))


def dimensions_by(near: Neighbours, sizes: Sequence[int]) -> list[float]:
    r"""The dimension of rows, from how fast the distances to their k neighbours grow, for each k.

    .. math:: \hat d = \Big( \frac{1}{n (k - 1)} \sum_i \sum_{j < k} \ln \frac{r_k(i)}{r_j(i)}
        \Big)^{-1}

    Implements :cite:`levina2004`, averaged as :cite:`mackay2005` proposed.
    """
    sqdist = near.sqdist[:, 1 : max(sizes) + 1]
    is_apart = np.asarray(sqdist[:, :1].any(axis=1))

    def logarithms(block: slice) -> Doubles:
        return np.asarray(np.log(sqdist[block][is_apart[block]]).sum(axis=0))

    if not is_apart.any():
        return [1.0] * len(sizes)
    sums = added(over_blocks(logarithms, len(sqdist), _ROWS_OF_A_BLOCK))  # fits into the cache
    growth = 0.5 * sums / np.count_nonzero(is_apart)
    return [_dimension(growth[:k]) for k in sizes]


def _dimension(growth: Doubles) -> float:
    """The dimension by the mean logarithms of the distances to the first, second, ... neighbour."""
    if len(growth) < 2:
        return 1.0
    slope = float(growth[-1] - growth[:-1].mean())
    dimension = 1.0 / slope if slope > 0 else _LARGEST_DIMENSION
    return min(max(dimension, _SMALLEST_DIMENSION), _LARGEST_DIMENSION)
