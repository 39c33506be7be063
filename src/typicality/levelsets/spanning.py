"""The maximum spanning tree of the rows, by the heights between them."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
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

    def joins(self, pairs: Pairs, bounds: Doubles, n_rows: int) -> NDArray[np.bool_]:
        """Whether pairs are joined at a level their own edge, bounded so, could not improve on."""
        from typicality.levelsets.merging import joined_above  # numba takes a second to load

        joined = np.empty(len(pairs), bool)
        order = np.argsort(-bounds, kind="stable")
        joined_above(n_rows, self.pairs, self.saddles, pairs, bounds, order, joined)
        return joined

    def joined_by(self, pairs: Pairs, saddles: Doubles, n_rows: int) -> Self:
        """The maximum spanning tree of these edges and others; ties go to the earlier edge."""
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
        for bound in (None, height_amid, lowest_between):
            if bound is not None:
                ends = rows[pairs[:, 0]], rows[pairs[:, 1]]
                bounds = np.minimum(bounds, bound(landscape, *ends, labelling=labelling))
            undecided = ~tree.joins(pairs, bounds, n_rows)
            pairs, bounds = pairs[undecided], bounds[undecided]
        tree = tree.joined_by(pairs, bounds, n_rows)
    return tree


def _pairs_of(landscape: Landscape, labelling: str, n_neighbors: int) -> Iterator[Pairs]:
    neighbours = neighbour_pairs(landscape.nearest, n_neighbors)
    if labelling == "complete":  # a good tree to begin with spares most of the work
        return chain(neighbours, all_pairs(len(landscape.rows)))
    return neighbours
