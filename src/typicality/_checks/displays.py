"""What pictures are made of."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from typicality._checks.partitions import check_points

Doubles = NDArray[np.float64]


def check_has_path(estimator: Any) -> Any:
    """The path of lambda of an estimator that was fitted with lam='auto'."""
    check_is_fitted(estimator)
    path = getattr(estimator, "lambda_path_", None)
    if path is None:
        raise ValueError(
            f"{estimator!r} has no path of lambda. Fit a SequentialPCM with lam='auto'."
        )
    return path


def check_has_tree(estimator: Any) -> Any:
    """The tree of alpha-cuts of an estimator."""
    check_is_fitted(estimator)
    tree = getattr(estimator, "tree_", None)
    if not hasattr(tree, "branches"):
        raise ValueError(f"{estimator!r} has no tree of alpha-cuts. Fit an AlphaCutClustering.")
    return tree


def check_has_objectives(estimator: Any) -> Doubles:
    """The objective of an estimator before each of its iterations."""
    check_is_fitted(estimator)
    path = getattr(estimator, "objective_path_", None)
    if path is None:
        raise ValueError(
            f"{estimator!r} keeps no objective of its iterations (objective_path_). Fit an "
            "estimator of typicality."
        )
    return np.asarray(path, dtype=np.float64)


def check_has_memberships(estimator: Any) -> None:
    """An estimator that tells how typical any row is, by coordinates."""
    check_is_fitted(estimator)
    if not (hasattr(estimator, "predict_memberships") or hasattr(estimator, "predict_typicality")):
        raise ValueError(
            f"{estimator!r} has neither memberships nor typicalities of new rows. Fit an estimator "
            "of typicality."
        )


def check_plane(
    estimator: Any, X: Any, features: Any, names: Sequence[str] | None
) -> tuple[Doubles, tuple[int, int]]:
    """The rows as points, and the places of two features of them, given by place or by name."""
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"With kernel={estimator.kernel!r} rows have no coordinates to draw. Fit on rows of "
            "features, with a kernel of them."
        )
    points = check_points(X)
    n_features = points.shape[1]
    if n_features < 2:
        raise ValueError(
            f"X has {n_features} feature(s), and a plane needs two. Use MembershipHistogramDisplay."
        )
    if isinstance(features, str) or not hasattr(features, "__len__") or len(features) != 2:
        raise ValueError(f"features must be two of the features of X; got {features!r}.")
    first, second = (_place(feature, n_features, names) for feature in features)
    if first == second:
        raise ValueError(f"features must be two different features of X; got {features!r}.")
    return points, (first, second)


def _place(feature: Any, n_features: int, names: Sequence[str] | None) -> int:
    """The number of a column, given as number or name."""
    if isinstance(feature, str):
        if names is None or feature not in list(names):
            known = "X has no names" if names is None else f"X has {', '.join(names)}"
            raise ValueError(f"features: no feature is named {feature!r}; {known}.")
        return list(names).index(feature)
    if not isinstance(feature, Integral) or int(feature) not in range(n_features):
        raise ValueError(
            f"features: {feature!r} is not a feature of X, which has {n_features}: take numbers "
            f"from 0 to {n_features - 1}, or names of columns."
        )
    return int(feature)


def check_grid_resolution(grid_resolution: Any) -> int:
    """How many points a side of the grid has."""
    if not isinstance(grid_resolution, Integral) or grid_resolution < 2:
        raise ValueError(
            f"grid_resolution must be a whole number, 2 or more; got {grid_resolution!r}."
        )
    return int(grid_resolution)


def check_cluster(cluster: Any, n_clusters: int) -> int:
    """The number of one of the clusters."""
    if not isinstance(cluster, Integral) or int(cluster) not in range(n_clusters):
        known = "there is none" if n_clusters == 0 else f"they go from 0 to {n_clusters - 1}"
        raise ValueError(f"cluster must be the number of a cluster ({known}); got {cluster!r}.")
    return int(cluster)


def check_values(values: Any, *, name: str) -> Doubles:
    """One finite number or more."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers; got {values!r}.") from error
    if numbers.ndim != 1 or len(numbers) == 0 or not np.isfinite(numbers).all():
        raise ValueError(
            f"{name} must be one finite number or more, in a list; got shape {numbers.shape}"
            f"{'' if np.isfinite(numbers).all() else ' with NaN or infinity in it'}."
        )
    return numbers


def check_scores(scores: Any) -> dict[str, Doubles]:
    """A list of scores for each of one name or more."""
    if not isinstance(scores, Mapping) or not scores:
        raise ValueError(
            "scores must be a mapping from the name of each setting to its scores, e.g. "
            f"{{'sigma = 1': [0.8, 0.9]}}; got {scores!r}."
        )
    return {str(n): check_values(s, name=f"scores[{n!r}]") for n, s in scores.items()}


def check_results(results: Any) -> dict[Any, Any]:
    """Results of validation by name, or by a number; settings that were not found are the same."""
    if not isinstance(results, Mapping) or not results:
        raise ValueError(
            "results must be a mapping from names to results of typicality.validation, e.g. "
            f"{{'1-PCM': outlier_stability(...)}}; got {results!r}."
        )
    for name, result in results.items():
        if not (hasattr(result, "scores") and hasattr(result, "settings")):
            raise ValueError(f"results[{name!r}] is no result of typicality.validation: {result!r}")
    kinds = {(result.setting_name, tuple(result.settings)) for result in results.values()}
    found = all(getattr(result, "setting_is_found", False) for result in results.values())
    if len(kinds) > 1 and not found:
        told = " and ".join(sorted(f"{name} {settings}" for name, settings in kinds))
        raise ValueError(f"results differ in their settings: {told}. Compute all for the same.")
    return dict(results)


def check_repeated_scores(scores: Any, n_settings: int) -> dict[str, Doubles]:
    """For each of one name or more, a column of scores for each setting; NaN says nothing."""
    if not isinstance(scores, Mapping) or not scores:
        raise ValueError(
            "scores must be a mapping from names to arrays of shape (n_repeats, n_settings); got "
            f"{scores!r}."
        )
    arrays = {str(name): np.asarray(s, dtype=np.float64) for name, s in scores.items()}
    for name, array in arrays.items():
        if array.ndim != 2 or array.shape[1] != n_settings or len(array) == 0:
            raise ValueError(
                f"scores[{name!r}] has shape {array.shape}, expected (n_repeats, {n_settings}): a "
                "column for each setting."
            )
        if np.isnan(array).all():
            raise ValueError(f"scores[{name!r}] are all NaN: there is nothing to draw.")
        check_values(array[~np.isnan(array)], name=f"scores[{name!r}]")
    return arrays


def check_surface_axes(ax: Any) -> None:
    """Axes that can show a surface."""
    if ax is not None and not hasattr(ax, "plot_surface"):
        raise ValueError(
            "ax has two dimensions, and a surface needs three: make it with "
            'figure.add_subplot(projection="3d"), or leave ax out.'
        )
