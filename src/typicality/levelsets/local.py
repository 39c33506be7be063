"""The local kernel, as wide as the rows are sparse: its heights, landscape, and spanning trees."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from typicality._cached import cached_property
from typicality._progress import advance, counter
from typicality._threads import in_threads, over_ranges
from typicality._typing import Doubles, Floats, Labels, Places
from typicality.kernels.local import WIDTH_SHARE
from typicality.levelsets.graphs import Pairs, linked_pairs
from typicality.levelsets.landscape import REACH, Joined, distances_to_others, typicality_at
from typicality.levelsets.sides import Sides
from typicality.levelsets.tree import Cut
from typicality.spaces.nearest import GivenDistances, NearestRows, Neighbours, neighbours_of

SearchAmong = Callable[[Places], Any]

ROWS_OF_A_NEIGHBOUR = 4  # a scale of k neighbours needs 4 k rows

_DENSITY_SHARE = 0.4  # of the distance to the k-th neighbour
_EDGES, _FEWEST_EDGES = 15, 5  # neighbours in the graph of edges, and for the dimension
_SMALLEST_DIMENSION, _LARGEST_DIMENSION = 0.9, 100.0
_POINTS_OF_A_TASK = 256
_NEIGHBOURS_AT_A_TIME = 2**21


class LocalKernel(NamedTuple):
    """A kernel with a width for each row. Compiled code unpacks the fields in this order.

    Parameters
    ----------
    n_neighbors, share : int, float
        The width at a point is this share of the distance to its k-th nearest row.
    dimension : float
        The dimension of the rows.
    mutual : bool
        Whether the kernel is that of two widths (:class:`typicality.kernels.LocalGaussian`); else
        it is a Gaussian of the width at the point, per unit of volume: a density.
    squares : array of shape (n,)
        The squared widths at the rows.
    weights : array of shape (n,)
        The weights of the rows; they sum to one.
    """

    n_neighbors: int
    share: float
    dimension: float
    mutual: bool
    squares: Doubles
    weights: Doubles


def squared_widths(near: Neighbours, k: int, share: float) -> Doubles:
    """The squared share of the distance to the k-th nearest row, a row at the point not counted."""
    k = min(k, near.rows.shape[1] - 1)
    at_row = near.sqdist[:, 0] == 0.0
    return share**2 * np.where(at_row, near.sqdist[:, k], near.sqdist[:, max(k - 1, 0)])


def log_heights_at(near: Neighbours, own: Doubles, kernel: LocalKernel) -> Doubles:
    """Logarithms of the heights of points, from their near rows and their squared widths `own`."""
    from typicality.levelsets.growing import log_heights  # numba takes a second to load

    heights = np.empty(len(own))

    def look(first: int, last: int) -> None:
        log_heights(first, last, *near, own, kernel, heights)

    over_ranges(look, len(own), at_least=_POINTS_OF_A_TASK)
    return heights


# ---- trees ---------------------------------------------------------------------------------------


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
        return Sides.of(self.pairs, self.heights, self.sample.counts)

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

    def grow(task: Callable[[], ScaleTree]) -> ScaleTree:
        tree = task()
        count()
        return tree

    trees = in_threads(grow, tasks)
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
    edges = linked_pairs(nearest, asking, lambda some: search_among(rows[some]))
    lengths = np.sqrt(search.sqdist(asking[edges[:, 0]], edges[:, 1:])[:, 0])
    counts = weight[rows]
    distinct = near.sqdist[:, :2][near.sqdist[:, :2] > 0]
    least = math.sqrt(distinct.min()) if distinct.size else 0.0
    distances = np.maximum(distances_to_others(near, counts), least)
    sample = Sample(rows, counts, distances, edges, lengths)
    given = isinstance(search, GivenDistances)
    own = positions[np.ix_(rows, search.columns)] if given else asking
    own = np.ascontiguousarray(own, dtype=np.float64)
    finest = dimension_by(near, n_edges)

    def grow(k: int, mutual: bool) -> ScaleTree:
        dimension = min(dimension_by(near, max(k, n_edges)), finest)
        share = WIDTH_SHARE if mutual else _DENSITY_SHARE
        near_k = near.nearest(2 * k + 1)
        squares = squared_widths(near_k, k, share)
        squares[squares == 0] = squares[squares > 0].min(initial=1.0)
        kernel = LocalKernel(k, share, dimension, mutual, squares, counts / counts.sum())
        from typicality.levelsets.growing import grow_tree, log_heights  # numba takes a second

        heights = np.empty(len(rows))
        log_heights(0, len(rows), *near_k, squares, kernel, heights)
        tree = grow_tree(own, given, near_k.rows, kernel, heights, edges)
        return ScaleTree(sample, k, dimension, squares, heights, *tree)

    return [partial(grow, k, mutual) for k in scales for mutual in (True, False)]


def count_edges(n_rows: int) -> int:
    """The number of neighbours in the graph of edges, and for the dimension."""
    return min(_EDGES, max(_FEWEST_EDGES, n_rows // ROWS_OF_A_NEIGHBOUR))


def dimension_by(near: Neighbours, k: int) -> float:
    r"""The dimension of rows, from how fast the distances to their k neighbours grow.

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
    dimension = 1.0 / slope if slope > 0 else _LARGEST_DIMENSION
    return min(max(dimension, _SMALLEST_DIMENSION), _LARGEST_DIMENSION)


# ---- the landscape -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LocalLandscape:
    r"""Heights by a Gaussian kernel whose width follows the density of the rows.

    .. math:: s(x) = \sum_r w_r K(x, x_r)

    over the 2 k nearest rows, K as in :class:`typicality.kernels.LocalGaussian`. As
    :math:`K(x, x) = 1`, the typicality is that of one-cluster PCM. The methods are those of
    :class:`typicality.levelsets.Landscape`.

    Implements :cite:`filippone2010`, eq. (26)-(28).

    Parameters
    ----------
    search : NearestRows or GivenDistances
        A search for the nearest of the rows.
    counts : array of shape (n,)
        How many copies of each row there are.
    n_neighbors : int
        The width at a point follows from the distance to its k-th nearest row.
    dimension : float
        The dimension of the rows.
    squares : array of shape (n,)
        The squared widths at the rows.
    radii : array of shape (n,)
        The radius around each row that holds ten others.
    energy : float
        :math:`1 - w^\top K w`.
    eta : float
        The spread.
    """

    search: NearestRows | GivenDistances
    counts: Annotated[Doubles, "n"]
    n_neighbors: int
    dimension: float
    squares: Annotated[Doubles, "n"]
    radii: Annotated[Doubles, "n"]
    energy: float
    eta: float

    @classmethod
    def of(cls, search: Any, tree: ScaleTree, *, eta_scale: float) -> Self:
        """The landscape that a tree was grown on; all rows have the same weight."""
        counts = tree.sample.counts
        mean_height = counts @ np.exp(tree.heights) / counts.sum()
        energy = max(1.0 - float(mean_height), 0.0)
        return cls(
            search,
            counts,
            int(tree.n_neighbors),
            tree.dimension,
            tree.squares,
            tree.sample.distances[:, -1],
            energy,
            eta_scale * energy if energy > 0 else 1.0,
        )

    @cached_property
    def weights(self) -> Doubles:
        """The weights of the rows in the mean; they sum to one."""
        return np.asarray(self.counts / self.counts.sum())

    def heights(self, points: Floats) -> Doubles:
        return np.concatenate([self._heights(near) for near in self._blocks(points)])

    def row_heights(self, rows: Floats, node_heights: Doubles) -> Doubles:
        return self.join(rows, node_heights).height

    def typicality(self, heights: Doubles) -> Doubles:
        return typicality_at(heights, self.energy, self.eta)

    def join(self, rows: Floats, node_heights: Doubles) -> Joined:
        """The nearest node: the kernel is as wide as the way there, so no valley is on it.

        The way is as high as the lower of its ends.
        """
        node, (own, reach) = np.empty(len(rows), np.intp), np.empty((2, len(rows)))
        done = 0
        for near in self._blocks(rows):
            block = slice(done, done + len(near.rows))
            node[block] = near.rows[:, 0]
            at_row = near.sqdist[:, 0] == 0.0
            own[block] = np.where(at_row, node_heights[node[block]], self._heights(near))
            reach[block] = self._reach(near)
            done = block.stop
            advance(done / max(len(rows), 1))
        return Joined(node, np.minimum(own, node_heights[node]), own, reach)

    def fill_labels(
        self, labels: Labels, node: Places, cut: Cut, pairs: Pairs, rows: Floats | None
    ) -> Labels:
        """Rows get the label of their node; nodes below the cut that of the node they join."""
        filled = cut.node_labels.copy()
        alike = np.ones(len(filled))
        Sides.of(pairs, alike, alike).fill_along(filled)
        return filled[node]

    def reach(self, points: Floats) -> Doubles:
        """The radius around each point that holds ten rows, one at the point not counted."""
        return self._reach(neighbours_of(self.search, points, REACH + 1))

    def _reach(self, near: Neighbours) -> Doubles:
        radii = distances_to_others(near, self.counts)[:, -1]
        return np.asarray(np.maximum(radii, self.radii.min()))

    def _blocks(self, points: Floats) -> Iterator[Neighbours]:
        """The neighbours of some points at a time: there are up to 1,441 of each."""
        n_near = 2 * self.n_neighbors + 1
        size = max(_NEIGHBOURS_AT_A_TIME // n_near, 1)
        for start in range(0, max(len(points), 1), size):
            yield neighbours_of(self.search, points[start : start + size], n_near)

    def _heights(self, near: Neighbours) -> Doubles:
        squares = squared_widths(near, self.n_neighbors, WIDTH_SHARE)
        squares = np.where(squares > 0, squares, self.squares.min())
        kernel = LocalKernel(
            self.n_neighbors, WIDTH_SHARE, self.dimension, True, self.squares, self.weights
        )
        return np.exp(log_heights_at(near, squares, kernel))
