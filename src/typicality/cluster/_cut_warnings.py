"""Suspicious alpha-cuts, and the warnings that say what to do about them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._typing import Doubles, Floats
from typicality.cluster._warnings import (
    warn_about_constant_rows,
    warn_about_fragments,
    warn_about_vanished_clusters,
)
from typicality.exceptions import ClusteringWarning, warn
from typicality.geometry.base import Tally
from typicality.levelsets.graphs import components
from typicality.levelsets.tree import AlphaTree

_SHALLOW_VALLEY = 0.02  # of the highest density of typicalities
_LARGE_GROUP = 0.1  # of all rows
_ABOVE_ONE = 1.01  # more than rounding
_NEARLY, _BARELY = 0.8, 1.1  # evidence near the bar
_EVEN_WEIGHTS = 0.5  # of the rows, in effective number


def warn_about_cut(model: Any, sample_weight: Floats | None, *, of_a_row: float = 1.0) -> None:
    """Warn about clusters of a fitted model that deserve a second look, by the kind of cut.

    A row of a sample has the weight `of_a_row` by itself, because it stands for so many rows.
    """
    tree, node_labels = model.tree_, model._cut.node_labels
    if model.n_clusters_ == 0:
        _warn_about_no_cluster(tree.node_alpha.max(), model.alpha_, model.min_cluster_size)
    elif model.rejection_rate is not None:
        _warn_about_small_pieces(node_labels, tree.weight)
    elif model.alpha == "auto":
        if model.n_clusters_ > 1:
            given = None if sample_weight is None else sample_weight / of_a_row
            _warn_about_copies(given, tree.weight / of_a_row)
        _warn_about_group_left_out(node_labels, tree, model.min_cluster_size)
        if model._assign == "core":
            _warn_about_small_share(node_labels, tree.weight, below=0.5)
            _warn_about_dense_rows_left_out(node_labels, tree)
    elif model.alpha == "valley":
        if tree.valley.depth < _SHALLOW_VALLEY:
            warn(
                f"The density of the typicalities has no clear valley (the deepest is "
                f"{tree.valley.depth:.1%} of its height), so alpha='valley' is unreliable. Use "
                "alpha='auto', or give alpha or rejection_rate.",
                ClusteringWarning,
            )
        else:
            _warn_about_small_share(node_labels, tree.weight, below=0.25)
    else:
        _warn_about_low_level(model)
        _warn_about_small_pieces(node_labels, tree.weight)


def warn_about_choice(model: Any) -> None:
    """Warn if the evidence is near the bar, or if fewer clusters were found than asked for."""
    found, evidence = model.n_clusters_, model.evidence_
    if model.tree_.n_nodes == 1:
        warn_about_constant_rows()
    if found < model.at_least:
        warn(
            f"{found} clusters were found, fewer than at_least={model.at_least}: there are "
            "too few distinct rows. Use a smaller at_least.",
            ClusteringWarning,
        )
    elif model.at_least == 1 and found == 1 and evidence >= _NEARLY:
        warn(
            "The rows look like one cluster, but the evidence for more is close to the "
            f"threshold (evidence_={evidence:.2f}; 1 or more means several clusters). Use "
            "at_least=2 to see the best split.",
            ClusteringWarning,
        )
    elif model.at_least == 1 and found > 1 and evidence < _BARELY:
        warn(
            f"{found} clusters were found, but the evidence for more than one is close to "
            f"the threshold (evidence_={evidence:.2f}; below 1 means one cluster): a few in "
            "a hundred data sets with a single cluster look like this. Check the split, or "
            "fit again on other rows of the same source.",
            ClusteringWarning,
        )


def _warn_about_no_cluster(highest: float, alpha: Any, min_cluster_size: int) -> None:
    if np.ndim(alpha) == 0 and alpha >= highest:
        reason = (
            f"no typicality is above alpha={alpha:.4g}, the highest is {highest:.4g}. Use a "
            "smaller alpha, or alpha='auto'."
        )
    else:
        reason = f"no component has min_cluster_size={min_cluster_size} rows. Use a smaller one."
    warn_about_vanished_clusters(reason)


def _warn_about_small_pieces(node_labels: NDArray[np.int32], weight: Doubles) -> None:
    remedy = "Use a larger min_cluster_size to call them outliers, a larger sigma, or alpha='auto'."
    tally = Tally.of(node_labels, weight, int(node_labels.max()) + 1)
    warn_about_fragments(tally, 1.0, remedy=remedy)


def _warn_about_group_left_out(
    node_labels: NDArray[np.int32], tree: AlphaTree, min_cluster_size: int
) -> None:
    total = tree.weight.sum()
    edges = tree.pairs[tree.saddles > 1.0 / total]
    group = components(tree.n_nodes, edges)
    weight = np.bincount(group, weights=tree.weight)
    weight[group[node_labels >= 0]] = 0.0
    if weight.max() >= max(_LARGE_GROUP * total, min_cluster_size):
        warn(
            f"A connected group of {weight.max():.0f} rows belongs to no cluster: chance "
            "could explain the gaps between it and the other rows. Use a larger sigma, or "
            "choose the level yourself (labels_at).",
            ClusteringWarning,
        )


def _warn_about_small_share(
    node_labels: NDArray[np.int32], weight: Doubles, *, below: float
) -> None:
    inside, total = float(weight[node_labels >= 0].sum()), float(weight.sum())
    if inside < below * total:
        warn(
            f"Only {inside:.0f} of {total:.0f} rows are above the levels of the clusters. "
            "Use assign='all' to assign the others to the nearest cluster, choose another "
            "level (labels_at), or use a larger sigma if clusters were cut into pieces.",
            ClusteringWarning,
        )


def _warn_about_dense_rows_left_out(node_labels: NDArray[np.int32], tree: AlphaTree) -> None:
    core = node_labels >= 0
    peaks = np.zeros(int(node_labels.max()) + 1)
    np.maximum.at(peaks, node_labels[core], tree.heights[core])
    weight = tree.weight[~core & (tree.heights > peaks.min())].sum()
    if weight >= _LARGE_GROUP * tree.weight.sum():
        warn(
            f"{weight:.0f} rows are unassigned although they are denser than cluster "
            f"{peaks.argmin()}: they lie below the levels at which denser clusters "
            "separate. They are not outliers. Use assign='all' or a larger sigma, or "
            "choose the level yourself (labels_at).",
            ClusteringWarning,
        )


def _warn_about_copies(sample_weight: Floats | None, weight: Doubles) -> None:
    """Weights that are not numbers of copies make chance look significant."""
    given = np.ones(1) if sample_weight is None else sample_weight[sample_weight > 0]
    fractional = bool((given % 1).any())
    worth = float(given.sum() ** 2 / (given**2).sum())
    if (fractional and given.mean() > _ABOVE_ONE) or weight.min() >= 2:
        warn(
            "alpha='auto' treats a row of weight w as w independent observations: here a row "
            f"counts {weight.mean():.3g} times on average, and at least {weight.min():.3g} times, "
            "so random variation looks like clusters. If the weights express importance, divide "
            "them by their mean. If the data repeat each row, remove the copies.",
            ClusteringWarning,
        )
    elif fractional and worth < _EVEN_WEIGHTS * len(given):
        warn(
            f"The weights are very uneven: {len(given)} rows carry as much information as "
            f"{worth:.0f} rows of equal weight, and alpha='auto' may mistake heavy rows for "
            "clusters. Leave sample_weight out, or limit the largest weights.",
            ClusteringWarning,
        )


def _warn_about_low_level(model: Any) -> None:
    alpha, lowest = float(model.alpha), float(model._regions.landscape.typicality(np.zeros(1))[0])
    if 0 < alpha < lowest:
        warn(
            f"alpha={alpha:.4g} is below {lowest:.4g}, the typicality of a point far from "
            "all rows: all rows are one cluster. Use a larger alpha, rejection_rate, or "
            "alpha='auto'.",
            ClusteringWarning,
        )
