"""The tree of alpha-cuts for the rows that are shown."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Places
from typicality.fitted import FittedView
from typicality.levelsets import AlphaTree
from typicality.levelsets.tree import pruned
from typicality.report.encoding import encoded

_MOST_BRANCHES = 300
_FEWEST_ROWS = 5  # that a branch must have: single rows are the most persistent branches of all


class ShownBranches(NamedTuple):
    """The whole tree, and its most persistent branches.

    Parameters
    ----------
    peak : array of shape (b,)
        The node at the peak of each.
    parent : array of shape (b,)
        The place in this list of the branch that each meets; -1 for the whole tree, the first.
    peak_alpha, merge_alpha : arrays of shape (b,)
        Between these levels each is a cluster of its own.
    size : array of shape (b,)
        How many rows it has there.
    """

    peak: Places
    parent: Places
    peak_alpha: Doubles
    merge_alpha: Doubles
    size: Doubles


def choose_branches(
    tree: AlphaTree, labels: NDArray[np.int32], *, min_cluster_size: float, max_rows: int
) -> ShownBranches:
    """The whole tree and its most persistent branches, small ones left out.

    The branches of the clusters the rows are labelled by are there in any case, as far as there is
    room: amid noise handfuls of rows are more persistent. Of at most `max_rows` rows on a page the
    peaks of branches are not more than a tenth.
    """
    branches = tree.branches
    large = branches.weight >= max(_FEWEST_ROWS, min_cluster_size)
    with np.errstate(divide="ignore"):
        persistence = np.log(tree.heights[branches.peak] / tree.saddles[branches.edge])
    of_cluster = _highest_of_each(tree, labels)
    order = np.lexsort((-persistence, ~of_cluster, ~large))[: np.count_nonzero(large)]
    kept = order[: min(_MOST_BRANCHES, max_rows // 10) - 1]
    kept = kept[np.argsort(-persistence[kept], kind="stable")]
    peak = np.append(tree.heights.argmax(), branches.peak[kept])
    return ShownBranches(
        peak=peak,
        parent=_kept_parents(tree, peak),
        peak_alpha=tree.node_alpha[peak],
        merge_alpha=np.append(0.0, tree.saddle_alpha[branches.edge[kept]]),
        size=np.append(tree.weight.sum(), branches.weight[kept]),
    )


def _highest_of_each(tree: AlphaTree, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which branches have the highest peak of a cluster."""
    peak = tree.branches.peak
    label = labels[tree.row_of[peak]]
    order = np.lexsort((-tree.heights[peak], label))
    found, first = np.unique(label[order], return_index=True)
    highest = np.zeros(len(peak), bool)
    highest[order[first[found >= 0]]] = True
    return highest


def _kept_parents(tree: AlphaTree, peak: Places) -> Places:
    """The nearest ancestor of each branch that was kept, as a place in `peak`."""
    branches = tree.branches
    above = dict(zip(branches.peak.tolist(), branches.parent.tolist(), strict=True))
    place = {node: i for i, node in enumerate(peak.tolist())}
    parents = [-1]
    for node in peak[1:].tolist():
        ancestor = above[node]
        while ancestor not in place:
            ancestor = above[ancestor]
        parents.append(place[ancestor])
    return np.array(parents)


def tree_payload(
    found: FittedView, branches: ShownBranches | None, shown: Places
) -> dict[str, Any] | None:
    """What a page needs to label the rows it shows at any alpha."""
    tree = found.tree
    if tree is None or branches is None:
        return None
    part = pruned(tree, np.append(tree.node_of[shown], branches.peak))
    peaks = np.searchsorted(part.nodes, branches.peak).tolist()
    columns = (branches.parent, branches.peak_alpha, branches.merge_alpha, branches.size)
    names = ("peak", "parent", "peak_alpha", "merge_alpha", "size")
    return {
        "node_of": encoded(np.searchsorted(part.nodes, tree.node_of[shown]), "i4"),
        "entry": encoded(tree.entry_alpha[shown], "f8"),
        "node_alpha": encoded(tree.node_alpha[part.nodes], "f8"),
        "node_weight": encoded(part.weight, "f8"),
        "pairs": encoded(part.pairs.ravel(), "i4"),
        "saddle_alpha": encoded(tree.saddle_alpha[part.edge], "f8"),
        "branches": [
            dict(zip(names, branch, strict=True))
            for branch in zip(peaks, *(column.tolist() for column in columns), strict=True)
        ],
        "min_size": found.min_size,
        "counts_rows": np.array_equal(np.bincount(tree.node_of), tree.weight),
    }
