"""Parts of AlphaCutClustering: its parameters, its medoids, rows in blocks, and its warnings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from typicality._typing import Doubles, Labels, Places
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._diagnostics import tell, warn_about_fragments
from typicality.cluster._inputs import check_kernel
from typicality.kernels import BANDWIDTH_KERNELS, Mixed, Stationary
from typicality.levelsets.tree import AlphaTree, Cut
from typicality.rows import DistinctRows, Rows, content_hash
from typicality.spaces.base import Tally

_MEDOID_ROWS = 2000  # of a cluster, whose distances are computed
_SHALLOW_VALLEY = 0.02  # of the highest density of typicalities
_SMALL_SHARE = 0.25  # of all rows
_NEARLY, _BARELY = 0.8, 1.1  # evidence near the bar


# ---- parameters ----------------------------------------------------------------------------------


def check_cut_parameters(estimator: Any) -> None:
    """Parameters of an alpha-cut that must fit together."""
    kernel, is_local = estimator.kernel, estimator._is_local
    if not is_local:
        _check_kernel_of_distance("gaussian" if is_word(kernel, "auto") else kernel)
    if estimator.at_least > 1 and not is_word(estimator.alpha, "auto"):
        raise ValueError(
            f"at_least={estimator.at_least} works only with the automatic choice of clusters, and "
            f"alpha={estimator.alpha!r} sets a level. Use alpha='auto'."
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
    if estimator._takes_distances:
        raise ValueError(
            "kernel='dissimilarities' needs all distances in memory. Pass rows of features, or the "
            "distances among a sample of the rows."
        )
    few = rows.sample()
    estimator._learn(few.rows, few.weight.astype(rows.dtype), callbacks)
    estimator.medoid_indices_ = few.index[estimator.medoid_indices_]
    del estimator.weights_, estimator.memberships_
    if len(few.rows) < few.n_distinct:
        estimator.sums_ = (
            f"the tree is that of a sample of {len(few.rows):,} distinct rows of "
            f"{rows.n_rows:,}, and every row is labelled; {estimator.sums_}"
        )
    estimator.labels_ = estimator.predict(rows)
    estimator.typicality_ = estimator.predict_typicality(rows)
    if rows.lazy:
        estimator.memberships_ = estimator.predict_memberships(rows)


# ---- warnings ------------------------------------------------------------------------------------


def warn_about_cut(model: Any) -> None:
    """Warn about clusters of a fitted model that deserve a second look, by the kind of cut."""
    tree, node_labels = model.tree_, model._cut.node_labels
    if is_word(model.alpha, "auto"):
        _warn_about_choice(model)
    elif model.n_clusters_ == 0:
        _warn_about_no_cluster(tree.node_alpha.max(), model.alpha_, model.min_cluster_size)
    elif model.alpha == "valley":
        _warn_about_valley(node_labels, tree)
    else:
        _warn_about_low_level(model)
        _warn_about_small_pieces(node_labels, tree.weight)


def _warn_about_choice(model: Any) -> None:
    """Warn if the evidence is near the bar, or if fewer clusters were found than asked for."""
    found, evidence = model.n_clusters_, model.evidence_
    if model.tree_.n_nodes == 1:
        tell("constant rows")
    if found < model.at_least:
        tell("fewer clusters than asked for", found=found, at_least=model.at_least)
    elif model.at_least == 1 and found == 1 and evidence >= _NEARLY:
        tell("nearly several clusters", evidence=evidence)
    elif model.at_least == 1 and found > 1 and evidence < _BARELY:
        tell("barely several clusters", found=found, evidence=evidence)


def _warn_about_no_cluster(highest: float, alpha: Any, min_cluster_size: int) -> None:
    reason = f"no component has min_cluster_size={min_cluster_size} rows"
    remedy = "Use a smaller one."
    if np.ndim(alpha) == 0 and alpha >= highest:
        reason = f"no typicality is above alpha={alpha:.4g}, the highest is {highest:.4g}"
        remedy = "Use a smaller alpha, or alpha='auto'."
    tell("no cluster", reason=reason, remedy=remedy, alpha=alpha, highest=highest)


def _warn_about_small_pieces(node_labels: NDArray[np.int32], weight: Doubles) -> None:
    remedy = "Use a larger min_cluster_size to call them outliers, a larger sigma, or alpha='auto'."
    tally = Tally.of(node_labels, weight, int(node_labels.max()) + 1)
    warn_about_fragments(tally, 1.0, remedy=remedy)


def _warn_about_valley(node_labels: NDArray[np.int32], tree: AlphaTree) -> None:
    inside, total = float(tree.weight[node_labels >= 0].sum()), float(tree.weight.sum())
    if tree.valley.depth < _SHALLOW_VALLEY:
        tell("no valley", depth=tree.valley.depth)
    elif inside < _SMALL_SHARE * total:
        tell("few rows above", inside=inside, total=total)


def _warn_about_low_level(model: Any) -> None:
    alpha, lowest = float(model.alpha), float(model._regions.landscape.typicality(np.zeros(1))[0])
    if 0 < alpha < lowest:
        tell("low level", alpha=alpha, lowest=lowest)
