"""The maximum spanning tree of the rows, by the heights between them."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from typicality.levelsets.graphs import Pairs, all_pairs, neighbour_pairs
from typicality.levelsets.landscape import Doubles, Landscape
from typicality.levelsets.segments import height_amid, lowest_between

__all__ = ["SpanningTree", "spanning_tree"]


class SpanningTree(NamedTuple):
    """The edges of a maximum spanning tree, by falling height."""

    pairs: Pairs
    saddles: Doubles

    def undecided(self, pairs: Pairs, bounds: Doubles, n_rows: int) -> tuple[Pairs, Doubles]:
        """The pairs that are not joined already at a level their own edges cannot improve on.

        `bounds` are heights, or more than the heights, of these edges.
        """
        from typicality.levelsets.merging import joined_above  # numba takes a second to load

        joined = np.empty(len(pairs), bool)
        order = np.argsort(-bounds, kind="stable")
        joined_above(n_rows, self.pairs, self.saddles, pairs, bounds, order, joined)
        return pairs[~joined], bounds[~joined]

    def joined_by(self, pairs: Pairs, saddles: Doubles, n_rows: int) -> Self:
        """The maximum spanning tree of these edges and other ones; ties go to the earlier edge."""
        every_pair = np.concatenate([self.pairs, pairs])
        heights = np.concatenate([self.saddles, saddles])
        order = np.argsort(-heights, kind="stable")
        rank = np.empty(len(order))
        rank[order] = np.arange(1.0, len(order) + 1.0)  # a weight of zero would be no edge
        graph = coo_array((rank, (every_pair[:, 0], every_pair[:, 1])), (n_rows, n_rows)).tocsr()
        chosen = order[np.sort(minimum_spanning_tree(graph).data).astype(np.intp) - 1]
        return type(self)(every_pair[chosen], heights[chosen])


def spanning_tree(
    landscape: Landscape, heights: Doubles, *, labelling: str, n_neighbors: int
) -> SpanningTree:
    """The maximum spanning tree of the rows of a landscape.

    An edge can only matter where its rows are not joined already at the height of the lower one, or
    at the height amid the edge: most are left out before all their points are looked at, and the
    tree is the same.

    Parameters
    ----------
    landscape : Landscape
        The heights between rows.
    heights : array of shape (n,)
        The heights of the rows.
    labelling : {"neighbours", "complete"}
        Edges of a graph of neighbours, in steps of half a bandwidth; or all pairs, at 20 points.
    n_neighbors : int
        The number of neighbours.
    """
    rows = landscape.rows
    n_rows = len(rows)
    tree = SpanningTree(np.empty((0, 2), np.intp), np.empty(0))
    for pairs in _pairs_of(landscape, labelling, n_neighbors):
        bounds = heights[pairs].min(axis=1)
        for sharpen in (height_amid, lowest_between):
            pairs, bounds = tree.undecided(pairs, bounds, n_rows)
            # What is lower than heights are known has no height to speak of.
            some = np.flatnonzero(bounds > landscape.rtol)
            ends = rows[pairs[some, 0]], rows[pairs[some, 1]]
            bounds[some] = np.minimum(bounds[some], sharpen(landscape, *ends, labelling=labelling))
        tree = tree.joined_by(*tree.undecided(pairs, bounds, n_rows), n_rows)
    return tree


def _pairs_of(landscape: Landscape, labelling: str, n_neighbors: int) -> Iterator[Pairs]:
    neighbours = neighbour_pairs(landscape.nearest, n_neighbors)
    if labelling == "complete":  # a good tree to begin with spares most of the work
        return chain(neighbours, all_pairs(len(landscape.rows)))
    return neighbours
