"""The table of clusters: how large, how far apart, what sets each apart from the others."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Places
from typicality.fitted import FittedView
from typicality.levelsets import AlphaTree
from typicality.levelsets.tree import pruned
from typicality.report.features import FeatureTable
from typicality.report.middles import Middles, group_means

_MOST_DESCRIBED = 1000
_FEW = 5  # rows, of which one may make the mean
_FARTHEST = 1000.0  # a ratio for clusters with next to nothing between them

_TREE_WORDS = (
    "How many times denser the densest place of a cluster is than the best way from there to "
    "another cluster: near 1 there is hardly a gap, at 1000 there is nothing between."
)
_PROTOTYPE_WORDS = (
    "The distance to the nearest other prototype, where 1 is the usual distance of the rows of the "
    "cluster from their own, each feature in units of its spread; below 2 clusters overlap."
)


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """The clusters that rows belong to, by falling size.

    Parameters
    ----------
    labels, sizes : arrays of shape (c,)
        The label of each, and the number of its rows.
    typical_rows : array of shape (c,)
        Its most typical row.
    separation : array of shape (c,)
        How far apart it is from the others; NaN where that has no meaning.
    separation_words : str, optional
        What that number means.
    means : array of shape (min(c, 1000), d)
        The means of the features in the units of the user; NaN where all values are missing.
    deviations : array of shape (min(c, 1000), d)
        How far its means are from those of the rows of other clusters, in units of the spread.
    """

    labels: NDArray[np.int32]
    sizes: Places
    typical_rows: Places
    separation: Doubles
    separation_words: str | None
    means: Doubles
    deviations: Doubles

    @classmethod
    def of(cls, found: FittedView, features: FeatureTable, middles: Middles | None) -> Self:
        """The clusters of the rows a model has judged."""
        sizes = np.bincount(found.labels[found.labels >= 0])
        listed = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        described = listed[:_MOST_DESCRIBED]
        typical = _most_typical_rows(found, listed)
        separation, words = _separation(found.tree, middles, listed, typical)
        return cls(
            labels=listed.astype(np.int32),
            sizes=sizes[listed],
            typical_rows=typical,
            separation=separation,
            separation_words=words,
            means=group_means(features.shown, found.labels)[described],
            deviations=_deviations(found.labels, features)[described],
        )


def _most_typical_rows(found: FittedView, listed: Places) -> Places:
    order = np.lexsort((-found.strength, found.labels))
    present, first = np.unique(found.labels[order], return_index=True)
    return order[first[np.searchsorted(present, listed)]]


def _deviations(labels: NDArray[np.int32], features: FeatureTable) -> Doubles:
    """Means of the rows of a cluster less those of the rows of other clusters.

    Where there is no other cluster, less those of the rows that belong nowhere; zero where these
    are too few to have a mean worth speaking of.
    """
    values = features.measured
    counts = np.bincount(labels[labels >= 0]).astype(np.float64)[:, None]
    means = np.nan_to_num(group_means(values, labels))
    sums = means * counts
    others, n_others = sums.sum(axis=0) - sums, counts.sum() - counts
    if np.count_nonzero(counts) == 1:
        others = values[labels < 0].sum(axis=0, dtype=np.float64)[None]
        n_others = np.full_like(counts, np.count_nonzero(labels < 0))
        n_others[n_others < _FEW] = 0.0
    rest = np.divide(others, n_others, out=means.copy(), where=n_others > 0)
    return np.asarray((means - rest) / features.scale)


def _separation(
    tree: AlphaTree | None, middles: Middles | None, listed: Places, typical: Places
) -> tuple[Doubles, str | None]:
    if len(listed) > 1 and tree is not None:
        return _heights_over_saddles(tree, tree.node_of[typical]), _TREE_WORDS
    if len(listed) > 1 and middles is not None and middles.are_prototypes:
        return middles.separation(listed), _PROTOTYPE_WORDS
    return np.full(len(listed), np.nan), None


def _heights_over_saddles(tree: AlphaTree, peaks: Places) -> Doubles:
    """The height of each peak over that of the saddle where its cluster first meets another."""
    between = pruned(tree, peaks)
    # A cluster is alone until it first stands at an end of an edge.
    first = np.unique(between.pairs.ravel(), return_index=True)[1] // 2
    saddles = tree.saddles[between.edge[first]]
    heights = tree.heights[between.nodes]
    ratio = np.divide(heights, saddles, out=np.full(len(heights), np.inf), where=saddles > 0)
    return np.asarray(np.minimum(ratio, _FARTHEST))[np.searchsorted(between.nodes, peaks)]
