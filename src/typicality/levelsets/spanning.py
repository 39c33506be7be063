"""The maximum spanning tree of the rows, by the heights between them."""

from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from typicality._threads import over_ranges
from typicality._typing import Doubles, Places
from typicality.levelsets.graphs import Pairs, all_pairs, distinct_pairs, neighbour_pairs
from typicality.levelsets.landscape import (
    Landscape,
    count_points,
    count_rounds,
    lowest_in_round,
    segment_lengths,
)
from typicality.levelsets.tree import SpanningTree, branches_of
from typicality.spaces.nearest import NearestRows

_CAREFUL_ROUNDS = 2  # in which most rows find their way up
_PAIRS_OF_A_TASK = 2**14


@dataclass(frozen=True, eq=False)
class Forest:
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
    """

    pairs: Pairs
    saddles: Doubles
    above: Places
    level: Doubles

    @classmethod
    def without_edges(cls, n_rows: int) -> Self:
        """A forest without edges."""
        no_pairs, no_heights = np.empty((0, 2), np.intp), np.empty(0)
        return cls(no_pairs, no_heights, np.arange(n_rows), np.full(n_rows, -np.inf))

    def joined_by(self, pairs: Pairs, heights: Doubles) -> Self:
        """The maximum spanning forest of these edges and other ones; ties go to earlier edges."""
        return self._grown(pairs, heights)[0]

    def promising(self, pairs: Pairs, bounds: Doubles) -> Places:
        """Which edges would belong to the forest if they were as high as their bounds."""
        return self._grown(pairs, bounds)[1]

    def _grown(self, pairs: Pairs, heights: Doubles) -> tuple[Self, Places]:
        from typicality.levelsets.merging import grow  # numba takes a second to load

        every_pair = np.concatenate([self.pairs, pairs])
        every_height = np.concatenate([self.saddles, heights])
        order = np.argsort(-every_height, kind="stable")
        n_rows = len(self.above)
        above, level = np.arange(n_rows), np.full(n_rows, -np.inf)
        size, chosen = np.ones(n_rows, np.intp), np.empty(n_rows, np.intp)
        chosen = chosen[: grow(every_pair, every_height, order, above, level, size, chosen)]
        forest = type(self)(every_pair[chosen], every_height[chosen], above, level)
        return forest, chosen[chosen >= len(self.pairs)] - len(self.pairs)

    def joined_at(self, pairs: Pairs) -> Doubles:
        """The level at which the two rows of each pair are joined; minus infinity for never."""
        from typicality.levelsets.merging import meet  # numba takes a second to load

        levels = np.empty(len(pairs))

        def look(first: int, last: int) -> None:
            meet(self.above, self.level, pairs, first, last, levels)

        over_ranges(look, len(pairs), at_least=_PAIRS_OF_A_TASK)
        return levels


@dataclass(eq=False)
class EdgeBounds:
    """Upper bounds on the heights of edges, the shortest edges first.

    The height of an edge is the smallest on it, so any height on it is an upper bound. Bounds fall
    round by round, each with twice as many points; after the last round they are the heights.

    Parameters
    ----------
    landscape : Landscape
        The heights between rows.
    pairs : array of shape (m, 2)
        The edges.
    bounds : array of shape (m,)
        The smallest height of each that was seen so far.
    n_points : array of shape (m,)
        The number of points on each.
    rounds : array of shape (m,)
        The number of rounds that looked at it.
    """

    landscape: Landscape
    pairs: Pairs
    bounds: Doubles
    n_points: Places
    rounds: Places

    @classmethod
    def of(cls, pairs: Pairs, landscape: Landscape, heights: Doubles) -> Self:
        """The bounds that the ends of edges give."""
        starts, stops = landscape.rows[pairs[:, 0]], landscape.rows[pairs[:, 1]]
        lengths = segment_lengths(landscape, starts, stops)
        # Of many ways up from a row, the shortest is least likely to lead through a valley.
        order = np.argsort(lengths, kind="stable")
        n_points = count_points(landscape, lengths[order])
        bounds = np.minimum(heights[pairs[:, 0]], heights[pairs[:, 1]])
        rounds = np.zeros(len(pairs), np.intp)
        return cls(landscape, pairs[order], bounds[order], n_points, rounds)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which bounds are the heights of their edges, up to the error of a height."""
        all_seen = self.rounds == count_rounds(self.n_points)
        return np.asarray(all_seen | (self.bounds <= self.landscape.rtol))

    def look_closer(self, some: Places | None = None) -> None:
        """Look at the points of one more round, on some edges or on all."""
        some = np.flatnonzero(~self.known) if some is None else some[~self.known[some]]
        # Sums at points that follow one another are quicker where these are near in space.
        some = some[np.argsort(self.pairs[some, 0], kind="stable")]
        self.rounds[some] += 1
        starts, stops = (self.landscape.rows[end] for end in self.pairs[some].T)
        way = self.n_points[some], self.rounds[some]
        lowest = lowest_in_round(self.landscape, starts, stops, *way)
        self.bounds[some] = np.minimum(self.bounds[some], lowest)

    def take(self, which: NDArray[np.bool_]) -> Self:
        """Some of the edges."""
        return type(self)(
            self.landscape,
            self.pairs[which],
            self.bounds[which],
            self.n_points[which],
            self.rounds[which],
        )


def spanning_tree(landscape: Landscape, heights: Doubles) -> SpanningTree:
    """The maximum spanning tree of the rows of a landscape.

    An edge matters only if its rows are not yet joined at a height seen on it. Most edges are
    left out before all their points are looked at, and the tree is the same up to the error of a
    height. The first rounds look only at the edges that would be the tree if no edge led through a
    valley: about one for each row.

    Parameters
    ----------
    landscape : Landscape
        The heights between rows.
    heights : array of shape (n,)
        The heights of the rows.
    """
    search = landscape.nearest
    forest = Forest.without_edges(len(heights))
    every_pair = neighbour_pairs(search, landscape.n_neighbors)
    if landscape.labelling == "complete":  # a good tree to begin with spares most of the work
        every_pair = chain(every_pair, all_pairs(len(search.rows)))
    for pairs in every_pair:
        forest = _improved(forest, pairs, landscape, heights)
    if landscape.labelling == "neighbours":
        pairs = _peak_pairs(forest, landscape, heights)
        forest = _improved(forest, pairs, landscape, heights)
    return SpanningTree(forest.pairs, forest.saddles)


def _improved(forest: Forest, pairs: Pairs, landscape: Landscape, heights: Doubles) -> Forest:
    """The maximum spanning forest of a forest and more pairs."""
    lower_ends = np.minimum(heights[pairs[:, 0]], heights[pairs[:, 1]])
    pairs = pairs[lower_ends > forest.joined_at(pairs)]
    edges = EdgeBounds.of(pairs, landscape, heights)
    careful = 0 if len(forest.pairs) else _CAREFUL_ROUNDS
    while len(edges.pairs):
        careful -= 1
        some = forest.promising(edges.pairs, edges.bounds) if careful >= 0 else None
        edges.look_closer(some)
        known = edges.known
        forest = forest.joined_by(edges.pairs[known], edges.bounds[known])
        edges = edges.take(~known & (edges.bounds > forest.joined_at(edges.pairs)))
    return forest


def _peak_pairs(forest: Forest, landscape: Landscape, heights: Doubles) -> Pairs:
    """Each peak with the higher one it meets, and with the nearest others.

    In many dimensions hundreds of rows may be nearer to a peak than the next peak is, and still the
    straight way between the two peaks may be higher than any way through neighbours.
    """
    tree = SpanningTree(forest.pairs, forest.saddles)
    branches = branches_of(tree, heights, np.ones(len(heights)))
    peaks = np.append(heights.argmax(), branches.peak)
    search = NearestRows(landscape.rows[peaks], landscape.nearest.norm)
    near = search.among(landscape.n_neighbors)
    here = np.repeat(peaks, near.shape[1])
    met = np.column_stack([branches.peak, branches.parent])
    return distinct_pairs(np.concatenate([met, np.column_stack([here, peaks[near.ravel()]])]))
