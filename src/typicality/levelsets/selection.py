"""Which clusters of the tree are real."""

import numpy as np

from typicality.levelsets.tree import AlphaTree, Cut, components, number_clusters

__all__ = ["select_clusters"]


def critical(n: float) -> float:
    return 2.0 + np.sqrt(2 * np.log(max(n, 2.0)))


def select_clusters(tree: AlphaTree, *, min_cluster_size: float = 1) -> Cut:
    """The significant peaks."""
    from typicality.levelsets.merging import core_edges

    total = tree.weight.sum()
    branches = tree.branches
    strength = 2 * (
        np.sqrt(total * tree.heights[branches.peak]) - np.sqrt(total * tree.saddles[branches.edge])
    )
    real = strength > critical(total)
    background = 1.0 / total
    separates = np.zeros(len(tree.pairs), bool)
    separates[branches.edge[real]] = True
    kept = np.zeros(len(tree.pairs), bool)
    core_edges(tree.pairs, separates, kept)
    kept &= tree.saddles > background
    component = components(tree.n_nodes, tree.pairs[kept])
    peaks = np.append(tree.heights.argmax(), branches.peak[real])
    is_core = np.isin(component, component[peaks])
    component[~is_core] = -1
    labels = number_clusters(component, tree.weight, min_cluster_size)
    n = labels.max(initial=-1) + 1
    alpha = np.zeros(n)
    for peak, edge in ((branches.peak, branches.edge), (branches.parent, branches.edge)):
        of = labels[peak[real]]
        ok = of >= 0
        np.maximum.at(alpha, of[ok], tree.saddle_alpha[edge[real]][ok])
    return Cut(labels, alpha)
