"""The parameters of an alpha-cut: whether they fit together, and the cut that they ask for."""

from typing import Any

import numpy as np

from typicality._quantiles import weighted_quantile
from typicality.cluster._spaces import check_kernel
from typicality.kernels import BANDWIDTH_KERNELS, Mixed, Stationary
from typicality.levelsets import AlphaTree, Cut


def check_cut_parameters(estimator: Any) -> None:
    """Parameters of an alpha-cut that must fit together."""
    _check_one_cut(estimator.alpha, estimator.rejection_rate)
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


def _check_one_cut(alpha: Any, rejection_rate: Any) -> None:
    """Either a level or a rate."""
    if rejection_rate is not None and alpha != "auto":
        raise ValueError(
            f"alpha={alpha!r} and rejection_rate={rejection_rate!r} both set the level of "
            "the cut. Give only one of them."
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
