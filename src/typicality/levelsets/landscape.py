"""The landscape of a kernel with one width: heights of points, of segments, and rows to join."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np

from typicality._cached import cached_property
from typicality._tensors import array_of
from typicality._typing import Doubles, Floats, Labels, Places
from typicality.levelsets.graphs import Pairs
from typicality.levelsets.tree import Cut
from typicality.operators import (
    Expansion,
    KernelColumns,
    Nufft,
    Tiles,
    Tolerance,
    has_compiled_sums,
)
from typicality.spaces.gram import KernelPrototypes
from typicality.spaces.nearest import NearestRows, Neighbours, neighbours_of

_PAPER_POINTS = 20
_POINTS_AT_A_TIME = 2**17
_MOST_POINTS = 512  # a longer segment leads through empty space, where there is nothing to miss
_ROWS_AT_A_TIME = 2**16  # a Fourier series costs as much for few points as for many
_FEW_ROWS = 1_500  # sums over all of them are quick
REACH = 10  # rows in the radius that measures how sparse they are


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


@dataclass(frozen=True, eq=False)
class Landscape:
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

    def typicality(self, heights: Doubles) -> Doubles:
        """The typicality at given heights."""
        return typicality_at(heights, self.energy, self.eta)

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
        self, labels: Labels, node: Places, cut: Cut, pairs: Pairs, rows: Floats | None
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
        pairs : array of shape (n - 1, 2)
            The edges of the tree.
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


def typicality_at(heights: Doubles, energy: float, eta: float) -> Doubles:
    r"""The typicality :math:`u(s) = e^{-(2 (1 - s) - w^\top E w) / \eta}` at given heights."""
    sqdist = (2.0 * (1.0 - heights) - energy).clip(min=0.0)
    return np.asarray(np.exp(-sqdist / eta))


# ---- segments ------------------------------------------------------------------------------------


def lowest_between(landscape: Landscape, starts: Floats, stops: Floats) -> Doubles:
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
    """
    lengths = segment_lengths(landscape, starts, stops)
    n_points = count_points(landscape, lengths)
    lowest = np.empty(len(starts))
    for block in _blocks(n_points):
        segment, place = _numbered(n_points[block])
        share = (place + 1) / (n_points[block] + 1)[segment]
        lowest[block] = _lowest(landscape, starts[block], stops[block], segment, share)
    return lowest


def lowest_in_round(
    landscape: Landscape,
    starts: Floats,
    stops: Floats,
    n_points: Places,
    rounds: Places,
) -> Doubles:
    r"""The smallest height at some of the points of `lowest_between`, twice as many each round.

    In round :math:`t = 1, 2, \dots` these are the points next to odd multiples of
    :math:`2^{-t}` of the way that earlier rounds left out: the one in the middle, those at the
    quarters, and so on. :func:`count_rounds` rounds look at every point once.

    Parameters
    ----------
    landscape : Landscape
        The heights.
    starts, stops : arrays of shape (m, d)
        The ends.
    n_points : array of shape (m,)
        How many points there are on each segment, by `count_points`.
    rounds : array of shape (m,)
        The round of each segment.
    """
    n_tried = 2 ** (rounds - 1)
    lowest = np.empty(len(starts))
    for block in _blocks(n_tried):
        segment, number = _numbered(n_tried[block])
        steps, before = (n_points[block] + 1)[segment], n_tried[block][segment]
        place = -(-(2 * number + 1) * steps // (2 * before))
        new = place * before // steps == (place - 1) * before // steps
        segment, share = segment[new], (place / steps)[new]
        lowest[block] = _lowest(landscape, starts[block], stops[block], segment, share)
    return lowest


def count_rounds(n_points: Places) -> Places:
    """The number of rounds that look at all points of a segment."""
    return np.asarray(np.frexp(n_points)[1], dtype=np.intp)


def count_points(landscape: Landscape, lengths: Doubles) -> Places:
    """The number of interior points of segments, as `lowest_between` says; at least one."""
    if landscape.labelling == "complete":
        return np.full(len(lengths), _PAPER_POINTS, np.intp)
    steps = np.ceil(lengths / (0.5 * landscape.kernel.sigma))
    return np.asarray((steps - 1.0).clip(1.0, _MOST_POINTS), dtype=np.intp)


def segment_lengths(landscape: Landscape, starts: Floats, stops: Floats) -> Doubles:
    """The lengths of segments, by the norm of the kernel."""
    ways = stops.astype(np.float64) - starts
    return np.asarray(np.linalg.norm(ways, ord=landscape.nearest.norm, axis=1))


def _lowest(
    landscape: Landscape, starts: Floats, stops: Floats, segment: Places, share: Doubles
) -> Doubles:
    """The smallest height of each segment at shares of the way, sorted by segment."""
    begin = starts.astype(np.float64)
    way = stops.astype(np.float64) - begin
    heights = landscape.heights(np.asarray(begin[segment] + share[:, None] * way[segment]))
    first = np.flatnonzero(np.diff(segment, prepend=-1))
    return np.asarray(np.minimum.reduceat(heights, first))


def _numbered(counts: Places) -> tuple[Places, Places]:
    """Items of all segments in a row: the segment of each, and its number there from 0."""
    segment = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return segment, np.arange(len(segment)) - first[segment]


def _blocks(counts: Places) -> Iterator[slice]:
    """Slices of segments with about `_POINTS_AT_A_TIME` points each."""
    upto = np.cumsum(counts)
    total = int(upto[-1]) if len(upto) else 0
    bounds = np.searchsorted(upto, np.arange(0, total, _POINTS_AT_A_TIME), side="right")
    bounds = np.unique([*bounds, len(counts)])
    for start, stop in pairwise(bounds):
        yield slice(int(start), int(stop))
