"""A landscape whose kernel is as wide as the rows are sparse."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from typicality._threads import over_ranges
from typicality.geometry.nearest import Neighbours, neighbours_of
from typicality.kernels import WIDTH_SHARE
from typicality.levelsets.landscape import Doubles, Floats, Joined, typicality_at

if TYPE_CHECKING:
    from typicality.levelsets.scales import ScaleTree

_REACH = 10  # rows in the radius that tells how sparse they are
_POINTS_OF_A_TASK = 256
_NEIGHBOURS_AT_A_TIME = 2**21


def squared_widths(
    near: Neighbours, k: int, share: float = WIDTH_SHARE, *, least: float = 0.0
) -> Doubles:
    """The squared share of the distance to the k-th nearest row, a row at the point not counted.

    Where that is zero, which it is not for distinct rows with coordinates, it is the `least`.
    """
    k = min(k, near.rows.shape[1] - 1)
    at_row = near.sqdist[:, 0] == 0.0
    squares = share**2 * np.where(at_row, near.sqdist[:, k], near.sqdist[:, max(k - 1, 0)])
    return np.where(squares > 0, squares, least)


def nearest_others(near: Neighbours, counts: Doubles) -> Doubles:
    """The distances from points to the ten nearest rows, copies among them, the nearest first.

    One row at the point itself does not count.
    """
    near = near.nearest(_REACH + 1)
    found = np.cumsum(counts[near.rows], axis=1) - (near.sqdist[:, :1] == 0.0)
    place = [np.count_nonzero(found < number, axis=1) for number in range(1, _REACH + 1)]
    place = np.minimum(np.column_stack(place), near.rows.shape[1] - 1)
    return np.sqrt(np.take_along_axis(near.sqdist, place, axis=1))


def log_heights_at(
    near: Neighbours,
    own: Doubles,
    squares: Doubles,
    weights: Doubles,
    dimension: float,
    *,
    mutual: bool,
) -> Doubles:
    """Logarithms of the heights of points, from near rows and squared widths.

    Parameters
    ----------
    near : Neighbours
        The rows that are summed over.
    own : array of shape (m,)
        The squared widths at the points.
    squares, weights : arrays of shape (n,)
        The squared widths and the weights of the rows.
    dimension : float
        The dimension of the rows.
    mutual : bool
        Whether the kernel is that of two widths; else it is a density with the own width.
    """
    from typicality.levelsets.growing import log_heights  # numba takes a second to load

    heights = np.empty(len(own))

    def look(first: int, last: int) -> None:
        log_heights(first, last, *near, own, squares, weights, 0.5 * dimension, mutual, heights)

    over_ranges(look, len(own), at_least=_POINTS_OF_A_TASK)
    return heights


@dataclass(frozen=True, eq=False)
class LocalLandscape:
    r"""Heights by a Gaussian kernel whose width follows the density of the rows.

    .. math:: s(x) = \sum_r w_r K(x, x_r)

    over the 2 k nearest rows, K as in :class:`typicality.kernels.LocalGaussian`. As
    :math:`K(x, x) = 1`, the typicality is that of one-cluster PCM.

    Implements :cite:`filippone2010`, eq. (26)-(28).

    Parameters
    ----------
    search : NearestRows or GivenDistances
        A search for the nearest of the rows.
    counts : array of shape (n,)
        How many copies of each row there are.
    n_neighbors : int
        The number k of the neighbour that tells the width.
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

    search: Any
    counts: Doubles
    n_neighbors: int
    dimension: float
    squares: Doubles
    radii: Doubles
    energy: float
    eta: float

    @classmethod
    def of(cls, search: Any, tree: "ScaleTree", *, gamma: float) -> Self:
        """The landscape of which a tree was grown; all rows have the same pull."""
        mean_height = tree.counts @ np.exp(tree.heights) / tree.counts.sum()
        energy = max(1.0 - float(mean_height), 0.0)
        return cls(
            search,
            tree.counts,
            tree.n_neighbors,
            tree.dimension,
            tree.squares,
            tree.radii,
            energy,
            gamma * energy if energy > 0 else 1.0,
        )

    @cached_property
    def weights(self) -> Doubles:
        """The weights of the rows in the mean; they sum to one."""
        return np.asarray(self.counts / self.counts.sum())

    def heights(self, points: Floats) -> Doubles:
        """Heights of points; each gets the same number in any batch."""
        return np.concatenate([self._heights(near) for near in self._blocks(points)])

    def typicality(self, heights: Doubles) -> Doubles:
        """The typicality at given heights."""
        return typicality_at(heights, self.energy, self.eta)

    def join(self, heights: Doubles, points: Floats) -> Joined:
        """The nearest row of each point, the lower of the two heights, and its own height."""
        node, own = np.empty(len(points), np.intp), np.empty(len(points))
        done = 0
        for near in self._blocks(points):
            block = slice(done, done + len(near.rows))
            node[block] = near.rows[:, 0]
            at_row = near.sqdist[:, 0] == 0.0
            own[block] = np.where(at_row, heights[node[block]], self._heights(near))
            done = block.stop
        return Joined(node, np.minimum(own, heights[node]), own)

    def reach(self, points: Floats) -> Doubles:
        """The radius around each point that holds ten rows, one at the point not counted."""
        near = neighbours_of(self.search, points, _REACH + 1)
        return np.asarray(np.maximum(nearest_others(near, self.counts)[:, -1], self.radii.min()))

    def _blocks(self, points: Floats) -> Iterator[Neighbours]:
        """The neighbours of some points at a time: there are up to 1,441 of each."""
        n_near = 2 * self.n_neighbors + 1
        size = max(_NEIGHBOURS_AT_A_TIME // n_near, 1)
        for start in range(0, max(len(points), 1), size):
            yield neighbours_of(self.search, points[start : start + size], n_near)

    def _heights(self, near: Neighbours) -> Doubles:
        own = squared_widths(near, self.n_neighbors, least=float(self.squares.min()))
        log_heights = log_heights_at(
            near, own, self.squares, self.weights, self.dimension, mutual=True
        )
        return np.exp(log_heights)
