"""The maximum spanning tree of the rows, by the heights between them."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality.geometry.rows import NearestRows
from typicality.levelsets.candidates import Candidates
from typicality.levelsets.forest import Forest
from typicality.levelsets.graphs import (
    Pairs,
    all_pairs,
    distinct_pairs,
    neighbour_pairs,
)
from typicality.levelsets.landscape import Doubles, Landscape

_CAREFUL_ROUNDS = 2  # in which most rows find their way up


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
    landscape: Landscape,
    heights: Doubles,
    *,
    labelling: str,
    n_neighbors: int,
    search: NearestRows | None = None,
) -> SpanningTree:
    """The maximum spanning tree of the rows of a landscape.

    An edge can only matter where its rows are not joined already at a height that was met on it:
    most are left out before all their points are looked at, and the tree is the same, down to the
    heights the landscape promises to know. To begin with, only the edges are looked at that would
    be the tree if no edge led through a valley: about one for each row.

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
    search : NearestRows, optional
        A search for the nearest rows, where one was begun before.
    """
    search = landscape.nearest if search is None else search
    forest = Forest.bare(len(heights))
    for pairs in _pairs_of(search, labelling, n_neighbors):
        forest = _improved(forest, pairs, landscape, heights, labelling)
    if labelling == "neighbours":
        pairs = _peak_pairs(forest, landscape, heights, n_neighbors)
        forest = _improved(forest, pairs, landscape, heights, labelling)
    return SpanningTree(forest.pairs, forest.saddles)


def _improved(
    forest: Forest, pairs: Pairs, landscape: Landscape, heights: Doubles, labelling: str
) -> Forest:
    """The maximum spanning forest of a forest and more pairs."""
    lower_ends = np.minimum(heights[pairs[:, 0]], heights[pairs[:, 1]])
    pairs = pairs[lower_ends > forest.joined_at(pairs)]
    edges = Candidates.of(pairs, landscape, heights, labelling=labelling)
    careful = 0 if len(forest.pairs) else _CAREFUL_ROUNDS
    while len(edges.pairs):
        careful -= 1
        some = forest.promising(edges.pairs, edges.bounds) if careful >= 0 else None
        edges.look_closer(some)
        known = edges.known
        forest = forest.joined_by(edges.pairs[known], edges.bounds[known])
        edges = edges.taken(~known & (edges.bounds > forest.joined_at(edges.pairs)))
    return forest


def _pairs_of(search: NearestRows, labelling: str, n_neighbors: int) -> Iterator[Pairs]:
    neighbours = neighbour_pairs(search, n_neighbors)
    if labelling == "complete":  # a good tree to begin with spares most of the work
        return chain(neighbours, all_pairs(len(search.rows)))
    return neighbours


def _peak_pairs(forest: Forest, landscape: Landscape, heights: Doubles, k: int) -> Pairs:
    """Each peak with the higher one it meets, and with the nearest others.

    In many dimensions a peak may have hundreds of neighbours nearer than the next peak, and yet the
    straight way between the two be higher than any through neighbours.
    """
    tree = SpanningTree(forest.pairs, forest.saddles)
    branches = branches_of(tree, heights, np.ones(len(heights)))
    peaks = np.append(heights.argmax(), branches.peak)
    near = NearestRows(landscape.rows[peaks], landscape.nearest.norm).among(k)
    here = np.repeat(peaks, near.shape[1])
    met = np.column_stack([branches.peak, branches.parent])
    return distinct_pairs(np.concatenate([met, np.column_stack([here, peaks[near.ravel()]])]))
