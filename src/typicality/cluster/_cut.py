"""Parts of AlphaCutClustering: its parameters, its medoids, rows in blocks, and its warnings."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from typicality._quantiles import weighted_quantile
from typicality._typing import Doubles, Floats, Labels, Places
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._spaces import check_kernel
from typicality.cluster._warnings import (
    warn_about_constant_rows,
    warn_about_fragments,
    warn_about_vanished_clusters,
)
from typicality.exceptions import ClusteringWarning, warn
from typicality.geometry.base import Tally
from typicality.kernels import BANDWIDTH_KERNELS, Mixed, Stationary
from typicality.levelsets.graphs import components
from typicality.levelsets.tree import AlphaTree, Cut
from typicality.rows import DistinctRows, Rows, content_hash

_MEDOID_ROWS = 2000  # of a cluster, whose distances are computed
_MANY_MODES = 2**17  # the tree asks for heights often: more of them than rows take long
_SHARE_OF_A_ROW = 0.01  # of the height of a row that stands alone: how far heights may be off
_SHALLOW_VALLEY = 0.02  # of the highest density of typicalities
_LARGE_GROUP = 0.1  # of all rows
_ABOVE_ONE = 1.01  # more than rounding
_NEARLY, _BARELY = 0.8, 1.1  # evidence near the bar
_EVEN_WEIGHTS = 0.5  # of the rows, in effective number


# ---- parameters ----------------------------------------------------------------------------------


def check_cut_parameters(estimator: Any) -> None:
    """Parameters of an alpha-cut that must fit together."""
    if estimator.rejection_rate is not None and estimator.alpha != "auto":
        raise ValueError(
            f"alpha={estimator.alpha!r} and rejection_rate={estimator.rejection_rate!r} both set "
            "the level of the cut. Give only one of them."
        )
    kernel, is_local = estimator.kernel, estimator._is_local
    if not is_local:
        _check_kernel_of_distance("gaussian" if is_word(kernel, "auto") else kernel)
    if not is_local and estimator.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' works with the automatic choice of scale only. Leave kernel, "
            "sigma, weights and labelling at their defaults; use kernel='local' to give alpha."
        )
    if isinstance(kernel, Mixed) and estimator.metric != "euclidean":
        raise ValueError(
            f"kernels.Mixed has distances of its own and takes no metric={estimator.metric!r}. Use "
            "metric='euclidean'."
        )
    is_chosen = is_word(estimator.alpha, "auto") and estimator.rejection_rate is None
    if estimator.at_least > 1 and not (is_local and is_chosen):
        raise ValueError(
            f"at_least={estimator.at_least} works only with the automatic choice of "
            "clusters. Leave kernel, sigma, alpha, rejection_rate, weights and labelling "
            "at their defaults."
        )
    if is_local and estimator.labelling == "complete":
        raise ValueError("labelling='complete' needs a kernel of one width. Use kernel='gaussian'.")
    if is_local and estimator.weights == "typicality":
        raise ValueError("weights='typicality' needs a kernel of one width. Use kernel='gaussian'.")


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter, which may be an array or an object, is a word."""
    return isinstance(value, str) and value == word


def _check_kernel_of_distance(kernel: Any) -> None:
    """Alpha-cuts are of a density: the kernel must be a function of a distance."""
    check_kernel(kernel)
    if isinstance(kernel, Mixed):
        return
    named = isinstance(kernel, str) and kernel in BANDWIDTH_KERNELS
    if not (named or isinstance(kernel, Stationary)):
        raise ValueError(
            f"kernel={kernel!r} is not a function of a distance. Only with such a kernel is "
            "the typicality a density, whose level sets are clusters. Use 'local', "
            "'gaussian', 'laplacian' or 'cauchy', or OneClusterPCM, which takes all "
            "kernels."
        )
    known = named or (hasattr(kernel, "sigma") and kernel.metric in ("sqeuclidean", "cityblock"))
    if not known:
        raise ValueError(
            f"kernel={kernel!r} must have a width sigma, which sets the step size along "
            "segments, and must be a function of a Euclidean or city-block distance "
            "(metric 'sqeuclidean' or 'cityblock')."
        )


def plain_cut(estimator: Any, tree: AlphaTree) -> Cut:
    """One level for all clusters."""
    rate = estimator.rejection_rate
    if rate is not None:
        quantile = weighted_quantile(tree.node_alpha, rate, tree.weight)
        alpha = max(0.0, np.nextafter(quantile, -np.inf))  # rows that tie with it stay
    else:
        alpha = tree.valley.place if estimator.alpha == "valley" else float(estimator.alpha)
    return tree.cut_at(alpha, min_cluster_size=estimator.min_cluster_size)


# ---- medoids -------------------------------------------------------------------------------------


def medoids_of(nodes: DistinctRows, labels: Labels, n_clusters: int, *, given: bool) -> Places:
    """The row of each cluster with the least sum of distances to its rows, or to 2000 of them.

    `given` says that the rows are squared distances to all rows instead of coordinates.
    """
    label = labels[nodes.index]
    order = np.argsort(content_hash(nodes.rows), kind="stable")
    medoids = []
    for number in range(n_clusters):
        own = order[label[order] == number][:_MEDOID_ROWS]
        if given:
            distances = np.sqrt(nodes.rows[np.ix_(own, nodes.index[own])])
        else:
            distances = cdist(nodes.rows[own], nodes.rows[own])
        medoids.append(nodes.index[own[int((distances @ nodes.weight[own]).argmin())]])
    return np.array(medoids, dtype=np.intp)


# ---- rows that are read block by block: a tree of a sample, labels of all ------------------------


def learn_cut_of_sample(estimator: Any, rows: Rows, callbacks: FitCallbacks) -> None:
    """Grow the tree of a sample of the distinct rows, 131,072 at the most, and label every row.

    The sample is that of the smallest hashes, with the weight of all copies of a row. Where there
    are no more distinct rows than that, the clusters are those of all rows in memory.
    """
    if estimator.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' needs all distances in memory. Pass rows of features, or the "
            "distances among a sample of the rows."
        )
    few = rows.sample()
    estimator._learn(few.rows, few.weight.astype(rows.dtype), callbacks)
    estimator.medoid_indices_ = few.index[estimator.medoid_indices_]
    del estimator.weights_, estimator.memberships_
    if len(few.rows) < few.n_distinct:
        estimator.plan_ = replace(
            estimator.plan_,
            reason=f"the tree is that of a sample of {len(few.rows):,} distinct rows of "
            f"{rows.n_rows:,}, and every row is labelled; "
            f"{estimator.plan_.reason}",
        )
    estimator.labels_ = estimator.predict(rows)
    estimator.typicality_ = estimator.predict_typicality(rows)
    if rows.lazy:
        estimator.memberships_ = estimator.predict_memberships(rows)


# ---- warnings ------------------------------------------------------------------------------------


def warn_about_cut(model: Any, sample_weight: Floats | None) -> None:
    """Warn about clusters of a fitted model that deserve a second look, by the kind of cut."""
    tree, node_labels = model.tree_, model._cut.node_labels
    if model.n_clusters_ == 0:
        _warn_about_no_cluster(tree.node_alpha.max(), model.alpha_, model.min_cluster_size)
    elif model.rejection_rate is not None:
        _warn_about_small_pieces(node_labels, tree.weight)
    elif model.alpha == "auto":
        if model.n_clusters_ > 1:
            _warn_about_copies(sample_weight, tree.weight)
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
