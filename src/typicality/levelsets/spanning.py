"""The maximum spanning tree of the rows, by the heights between them."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from typicality.geometry.nearest import NearestRows
from typicality.levelsets.graphs import (
    Pairs,
    all_pairs,
    distinct_pairs,
    neighbour_pairs,
)
from typicality.levelsets.landscape import Doubles, Landscape
from typicality.levelsets.segments import height_amid, lowest_between

__all__ = ["Branches", "SpanningTree", "branches_of", "spanning_tree"]


class Branches(NamedTuple):
    """The branches of a tree, one for each peak but the highest, by falling saddle.

    A branch begins at a peak of the landscape and ends where it meets a higher one.

    Parameters
    ----------
    peak, parent : arrays of shape (n_branches,)
        The rows at its peak, and at the higher peak it meets.
    edge : array of shape (n_branches,)
        The edge of the tree where they meet.
    weight : array of shape (n_branches,)
        The weight of what hangs together with the peak above that edge.
    """

    peak: NDArray[np.intp]
    parent: NDArray[np.intp]
    edge: NDArray[np.intp]
    weight: Doubles


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


def branches_of(tree: SpanningTree, heights: Doubles, weight: Doubles) -> Branches:
    """The branches of a spanning tree over rows of given heights and weights.

    Rows that join a slope, without a peak of their own, are none.
    """
    from typicality.levelsets.merging import merge_peaks  # numba takes a second to load

    parent, peak = np.empty((2, len(tree.pairs)), np.intp)
    above = np.empty(len(tree.pairs))
    merge_peaks(tree.pairs, tree.saddles, heights, weight, parent, peak, above)
    edge = np.flatnonzero(heights[peak] > tree.saddles)
    return Branches(peak[edge], parent[edge], edge, above[edge])


def spanning_tree(
    landscape: Landscape, heights: Doubles, *, labelling: str, n_neighbors: int
) -> SpanningTree:
    """The maximum spanning tree of the rows of a landscape.

    An edge can only matter where its rows are not joined already at the height of the lower one, or
    at the height amid the edge: most are left out before all their points are looked at, and the
    tree is the same, down to the heights the landscape promises to know.

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
    tree = SpanningTree(np.empty((0, 2), np.intp), np.empty(0))
    for pairs in _pairs_of(landscape, labelling, n_neighbors):
        tree = _improved(tree, pairs, landscape, heights, labelling)
    if labelling == "complete":
        return tree
    pairs = _peak_pairs(tree, landscape, heights, n_neighbors)
    return _improved(tree, pairs, landscape, heights, labelling)


def _improved(
    tree: SpanningTree, pairs: Pairs, landscape: Landscape, heights: Doubles, labelling: str
) -> SpanningTree:
    """The maximum spanning tree of a tree and more pairs."""
    rows, n_rows = landscape.rows, len(heights)
    bounds = heights[pairs].min(axis=1)
    for sharpen in (height_amid, lowest_between):
        pairs, bounds = tree.undecided(pairs, bounds, n_rows)
        # What is lower than heights are known has no height to speak of.
        some = np.flatnonzero(bounds > landscape.rtol)
        ends = rows[pairs[some, 0]], rows[pairs[some, 1]]
        bounds[some] = np.minimum(bounds[some], sharpen(landscape, *ends, labelling=labelling))
    return tree.joined_by(*tree.undecided(pairs, bounds, n_rows), n_rows)


def _pairs_of(landscape: Landscape, labelling: str, n_neighbors: int) -> Iterator[Pairs]:
    neighbours = neighbour_pairs(landscape.nearest, n_neighbors)
    if labelling == "complete":  # a good tree to begin with spares most of the work
        return chain(neighbours, all_pairs(len(landscape.rows)))
    return neighbours


def _peak_pairs(tree: SpanningTree, landscape: Landscape, heights: Doubles, k: int) -> Pairs:
    """Each peak with the higher one it meets, and with the nearest others.

    In many dimensions a peak may have hundreds of neighbours nearer than the next peak, and yet the
    straight way between the two be higher than any through neighbours.
    """
    branches = branches_of(tree, heights, np.ones(len(heights)))
    peaks = np.append(heights.argmax(), branches.peak)
    near = NearestRows(landscape.rows[peaks], landscape.nearest.norm).of(landscape.rows[peaks], k)
    here = np.repeat(peaks, near.shape[1])
    met = np.column_stack([branches.peak, branches.parent])
    return distinct_pairs(np.concatenate([met, np.column_stack([here, peaks[near.ravel()]])]))
