"""The tree of alpha-cuts as some of its nodes see it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality.levelsets.graphs import Pairs
from typicality.levelsets.landscape import Doubles
from typicality.levelsets.tree import AlphaTree


class PrunedTree(NamedTuple):
    """A spanning tree of some nodes of a tree: they hang together as they do there, at any alpha.

    Parameters
    ----------
    nodes : array of shape (k,)
        The nodes that were kept, in rising order.
    pairs : array of shape (k - 1, 2)
        The edges between them, as places in `nodes`, by falling height.
    edge : array of shape (k - 1,)
        The edge of the whole tree at which the two components meet.
    weight : array of shape (k,)
        The weight of each node and of those left out that are part of it: that joined its component
        while it was the lowest node of it. Sizes at any alpha are exact but for nodes between two
        that were kept.
    """

    nodes: NDArray[np.intp]
    pairs: Pairs
    edge: NDArray[np.intp]
    weight: Doubles


def pruned(tree: AlphaTree, nodes: NDArray[np.intp]) -> PrunedTree:
    """The tree between some of its nodes; O(n), and the tree itself where all are kept.

    Original to typicality: Kruskal's algorithm over the edges of the whole tree, where components
    without a node that is kept leave no trace but their weight.
    """
    from typicality.levelsets.merging import prune  # numba takes a second to load

    kept = np.zeros(tree.n_nodes, bool)
    kept[nodes] = True
    nodes = np.flatnonzero(kept)
    if len(nodes) == tree.n_nodes:
        return PrunedTree(nodes, tree.pairs, np.arange(len(tree.pairs)), tree.weight)
    edge = np.empty(len(tree.pairs), np.intp)
    ends = np.empty((len(tree.pairs), 2), np.intp)
    total = np.empty(tree.n_nodes)
    n_edges = prune(tree.pairs, kept, tree.heights, tree.weight, edge, ends, total)
    pairs = np.searchsorted(nodes, ends[:n_edges])
    return PrunedTree(nodes, pairs, edge[:n_edges].copy(), total[nodes])
