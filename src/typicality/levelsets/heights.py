"""Heights of points by a kernel of one width or by the local one, and the rows that points join."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np

from typicality._cached import cached_property
from typicality._progress import advance
from typicality._tensors import array_of
from typicality._threads import over_ranges
from typicality._typing import Doubles, Floats, Labels, Places
from typicality.kernels.local import WIDTH_SHARE
from typicality.levelsets.tree import AlphaTree, Cut
from typicality.spaces.gram import KernelPrototypes
from typicality.spaces.nearest import GivenDistances, NearestRows, Neighbours, neighbours_of
from typicality.sums import (
    Expansion,
    KernelColumns,
    Nufft,
    Tiles,
    Tolerance,
    has_compiled_sums,
)

REACH = 10  # rows in the radius that measures how sparse they are

_PAPER_POINTS = 20
_POINTS_AT_A_TIME = 2**17
MOST_POINTS = 512  # a longer segment leads through empty space, where there is nothing to miss
_ROWS_AT_A_TIME = 2**16  # a Fourier series costs as much for few points as for many
_FEW_ROWS = 1_500  # sums over all of them are quick
_NEIGHBOURS_AT_A_TIME = 2**21
_POINTS_OF_A_TASK = 256


def distances_to_others(near: Neighbours, counts: Doubles | None = None) -> Doubles:
    """The distances from points to their ten nearest rows, counting copies, the nearest first.

    One row at the point itself does not count.
    """
    near = near.nearest(REACH + 1)
    n_near = near.rows.shape[1]
    at_row = near.sqdist[:, :1] == 0.0
    if n_near > REACH and (counts is None or (counts.min() >= 1.0 and counts.max() <= 1.0)):
        return np.sqrt(np.where(at_row, near.sqdist[:, 1:], near.sqdist[:, :-1]))
    found = np.cumsum(np.ones(near.rows.shape) if counts is None else counts[near.rows], axis=1)
    found -= at_row
    place = [np.count_nonzero(found < number, axis=1) for number in range(1, REACH + 1)]
    place = np.minimum(np.column_stack(place), n_near - 1)
    return np.sqrt(np.take_along_axis(near.sqdist, place, axis=1))


class Joined(NamedTuple):
    """The node each row joins, the lowest height on the way there, and the height of the row.

    `reach` is the radius around the row that holds ten others, where the search for the node gives
    it as well.
    """

    node: Places
    entry: Doubles
    height: Doubles
    reach: Doubles | None = None


class _Typical:
    """What both landscapes have: the typicality at a height."""

    energy: float
    eta: float

    def typicality(self, heights: Doubles) -> Doubles:
        """The typicality at given heights."""
        sqdist = (2.0 * (1.0 - heights) - self.energy).clip(min=0.0)
        return np.asarray(np.exp(-sqdist / self.eta))


# ---- one width -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Landscape(_Typical):
    r"""The height (density up to a factor) at any point, and its typicality.

    .. math:: s(x) = \sum_r w_r K(x, x_r), \qquad
        u(s) = e^{-(2 (1 - s) - w^\top E w) / \eta}

    Here s is the height of a point x, and u its typicality. For kernels of a distance, u is an
    increasing function of s. So a cut of the height is also a cut of the typicality.

    Implements :cite:`filippone2010`, eq. (26)-(28), for kernels with K(x, x) = 1.

    Parameters
    ----------
    columns : KernelColumns
        The kernel with the training rows.
    weights : array of shape (n,), float64
        The weights of the training rows. They sum to one.
    energy : float
        :math:`w^\top E w`.
    eta : float
        The spread.
    sums : Expansion
        The function that computes heights at any points, with an error bound.
    labelling : {"neighbours", "complete"}, default="neighbours"
        Which pairs of rows are connected by segments, and how many points of a segment are
        evaluated: neighbours, in steps of half a bandwidth; or all pairs, with 20 points.
    n_neighbors : int, default=30
        The number of neighbours of a row.
    """

    columns: KernelColumns
    weights: Annotated[Doubles, "n"]
    energy: float
    eta: float
    sums: Expansion
    labelling: Annotated[str, Literal["neighbours", "complete"]] = "neighbours"
    n_neighbors: int = 30

    @classmethod
    def of(
        cls, mean: KernelPrototypes, tolerance: Tolerance, *, eta: float, **between: Any
    ) -> Self:
        """Create the landscape of a mean of training rows, with heights accurate to `tolerance`.

        If the iterations used all pairs of rows, the heights of other points are sums over near
        rows (over all rows, if there are few rows).
        """
        operator: Any = mean.operator
        many = len(mean.weights) > _FEW_ROWS
        if not isinstance(operator, Nufft) and many and has_compiled_sums(operator.columns):
            operator = Tiles(operator.columns, rtol=tolerance.absolute)
        sums = operator.expansion(mean.weights)
        weights, energy = array_of(mean.weights[:, 0]), float(mean.energy[0])
        return cls(operator.columns, weights, energy, eta, sums, **between)

    @property
    def rtol(self) -> float:
        """The largest error of a height."""
        return self.sums.rtol

    @cached_property
    def nearest(self) -> NearestRows:
        """A search for the nearest training rows, in the norm of the kernel."""
        return NearestRows(self.rows, 1 if self.kernel.metric == "cityblock" else 2)

    @property
    def rows(self) -> Floats:
        """The training rows."""
        return self.columns.training

    @property
    def kernel(self) -> Any:
        """The kernel."""
        return self.columns.kernel_function

    def heights(self, points: Floats) -> Doubles:
        """The heights of points. They do not depend on the other points."""
        return np.asarray(self.sums.at(points)[:, 0], dtype=np.float64)

    def row_heights(self, rows: Floats, node_heights: Doubles) -> Doubles:
        """The heights of rows. A training row has exactly the height of its node."""
        return self.heights(rows)

    def reach(self, points: Floats) -> Doubles:
        """The radius around each point that contains ten other rows."""
        near = neighbours_of(self.nearest, points, REACH + 1)
        return np.asarray(distances_to_others(near)[:, -1])

    @cached_property
    def radii(self) -> Doubles:
        """The radius around each training row that contains ten other rows."""
        return self.reach(self.rows)

    def join(self, rows: Floats, node_heights: Doubles) -> Joined:
        """The node that each row joins: the one of its nearest nodes with the highest path to it.

        The path is the straight segment to the node. The height of a path is the lowest height on
        it, with its ends. In a tie, the nearest node is chosen, so a training row joins itself. The
        choice does not depend on the cut. If the cut is below the height of the path, the row
        belongs to the cluster of this node; otherwise it belongs to no cluster.

        Original to typicality, see docs/theory.

        Parameters
        ----------
        rows : array of shape (m, d)
            New rows or training rows.
        node_heights : array of shape (n,)
            The heights of the nodes, which are the training rows.
        """
        parts = [
            self._join(rows[start : start + _ROWS_AT_A_TIME], node_heights)
            for start in range(0, len(rows), _ROWS_AT_A_TIME)
        ]
        arrays = zip(*(part[:3] for part in parts), strict=True)
        return Joined(*(np.concatenate(each) for each in arrays))

    def _join(self, rows: Floats, node_heights: Doubles) -> Joined:
        own = self.heights(rows)
        nearest = self.nearest.of(rows, self.n_neighbors)
        node, entry = nearest[:, 0].copy(), np.full(len(rows), -1.0)
        trying = np.arange(len(rows))
        for target in nearest.T:
            there = target[trying]
            between = lowest_between(self, rows[trying], self.rows[there])
            way = np.minimum(between, np.minimum(own[trying], node_heights[there]))
            better = way > entry[trying]
            node[trying[better]], entry[trying[better]] = there[better], way[better]
            trying = trying[entry[trying] < own[trying]]  # no way is higher than where it begins
        return Joined(node, entry, own)

    def fill_labels(
        self, labels: Labels, node: Places, cut: Cut, tree: AlphaTree, rows: Floats | None
    ) -> Labels:
        """Give rows below the cut the label of the nearest node that is in a cluster.

        Parameters
        ----------
        labels : array of shape (m,)
            The labels of the rows; -1 below the cut.
        node : array of shape (m,)
            The node that each row joins.
        cut : Cut
            The clusters of the nodes.
        tree : AlphaTree
            The tree.
        rows : array of shape (m, d) or None
            The rows; None for the nodes themselves.
        """
        core = np.flatnonzero(cut.node_labels >= 0)
        below = np.flatnonzero(labels < 0)
        if len(core) and len(below):
            rows = self.rows if rows is None else rows
            search = NearestRows(self.rows[core], self.nearest.norm)
            labels[below] = cut.node_labels[core[search.of(rows[below], 1)[:, 0]]]
        return labels


def lowest_between(
    landscape: Landscape, starts: Floats, stops: Floats, at_most: int = MOST_POINTS
) -> Doubles:
    r"""The smallest height on each segment, at equidistant interior points.

    .. math:: \min_{1 \le t \le m} s\Big(x + \frac{t}{m + 1} (y - x)\Big)

    With ``labelling="complete"`` m is 20, as in the papers; with "neighbours" steps are at most
    half a bandwidth, because 20 points miss gaps on long segments. Every height is a sum of its
    own, so none can overflow however long the segment is.

    Implements :cite:`filippone2007`, section 4; :cite:`filippone2010`, section IV-D.

    Parameters
    ----------
    landscape : Landscape
        The heights.
    starts, stops : arrays of shape (m, d)
        The ends, which are not looked at.
    at_most : int, default=512
        Look only at so many of the points: 1 is the one in the middle.
    """
    n_steps = count_points(landscape, starts, stops) + 1
    n_looks = np.minimum(n_steps - 1, at_most)
    lowest = np.empty(len(starts))
    for block in _blocks(n_looks):
        counts = n_looks[block]
        first = np.cumsum(counts) - counts
        segment = np.repeat(np.arange(len(counts)), counts)
        number, steps = np.arange(1, len(segment) + 1) - first[segment], n_steps[block][segment]
        share = number * steps // (counts + 1)[segment] / steps
        begin = starts[block].astype(np.float64)[segment]
        points = begin + share[:, None] * (stops[block][segment] - begin)
        lowest[block] = np.minimum.reduceat(landscape.heights(points), first)
    return lowest


def count_points(landscape: Landscape, starts: Floats, stops: Floats) -> Places:
    """The number of interior points of segments, as `lowest_between` says; at least one."""
    if landscape.labelling == "complete":
        return np.full(len(starts), _PAPER_POINTS, np.intp)
    steps = np.ceil(segment_lengths(landscape, starts, stops) / (0.5 * landscape.kernel.sigma))
    return np.asarray((steps - 1.0).clip(1.0, MOST_POINTS), dtype=np.intp)


def segment_lengths(landscape: Landscape, starts: Floats, stops: Floats) -> Doubles:
    """The lengths of segments, by the norm of the kernel."""
    ways = stops.astype(np.float64) - starts
    return np.asarray(np.linalg.norm(ways, ord=landscape.nearest.norm, axis=1))


def _blocks(counts: Places) -> Iterator[slice]:
    """Slices of segments with about `_POINTS_AT_A_TIME` points each."""
    upto = np.cumsum(counts)
    total = int(upto[-1]) if len(upto) else 0
    bounds = np.searchsorted(upto, np.arange(0, total, _POINTS_AT_A_TIME), side="right")
    bounds = np.unique([*bounds, len(counts)])
    for start, stop in pairwise(bounds):
        yield slice(int(start), int(stop))


# ---- widths that follow the density --------------------------------------------------------------


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
    from typicality.levelsets.compiled import log_heights, scratch_for  # numba loads in a second

    heights, rows = np.empty(len(own)), near.rows.astype(np.int32, copy=False)

    def look(first: int, last: int) -> None:
        log_heights(first, last, rows, near.sqdist, own, kernel, scratch_for(rows), heights)

    over_ranges(look, len(own), at_least=_POINTS_OF_A_TASK)
    return heights


@dataclass(frozen=True, eq=False)
class LocalLandscape(_Typical):
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

    @cached_property
    def weights(self) -> Doubles:
        """The weights of the rows in the mean; they sum to one."""
        return np.asarray(self.counts / self.counts.sum())

    def heights(self, points: Floats) -> Doubles:
        return np.concatenate([self._heights(near) for near in self._blocks(points)])

    def row_heights(self, rows: Floats, node_heights: Doubles) -> Doubles:
        return self.join(rows, node_heights).height

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
        self, labels: Labels, node: Places, cut: Cut, tree: AlphaTree, rows: Floats | None
    ) -> Labels:
        """Rows get the label of their node; nodes below the cut that of the node they join."""
        filled = cut.node_labels.copy()
        tree.sides.fill_along(filled)
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
