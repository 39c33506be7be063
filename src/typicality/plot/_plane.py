"""A grid over two features of the data."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import narwhals
import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array

from typicality._arguments import check_whole
from typicality._compat import feature_names
from typicality._tensors import array_of
from typicality._typing import Doubles
from typicality.fitted import FittedView, last_step
from typicality.plot._axes import view_of

_MARGIN = 0.08  # of the range of the data, on each side


def plane_through(
    estimator: Any, X: Any, *, features: Any, grid_resolution: Any, cluster: Any
) -> tuple[dict[str, Any], FittedView, FittedView, str]:
    """The plane of two features, over the range of the rows and a little more.

    The other features keep their median.

    Returns
    -------
    parts : dict
        The arguments of a display over the plane: the features at the points of a grid, the
        membership there, the rows seen along the other features, their labels, and the names.
    on_grid, of_rows : FittedView
        The views of the points of the grid, and of the rows.
    note : str
        A line for the title about the other features, if there are any.
    """
    size = check_whole(grid_resolution, "grid_resolution", least=2)
    X = array_of(X)
    names = feature_names(X)
    rows, places = _two_features(last_step(estimator), X, features, names)
    points = rows[:, places]
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, _MARGIN * (high - low), 1.0)
    xx0, xx1 = np.meshgrid(*np.linspace(low - margin, high + margin, size).T)
    grid: Any = np.tile(np.median(rows, axis=0), (size * size, 1))
    grid[:, places] = np.column_stack([xx0.ravel(), xx1.ravel()])
    xlabel, ylabel = (f"feature {j}" if names is None else str(names[j]) for j in places)
    if names is not None:  # a dataframe of the kind of X: estimators compare names
        columns = dict(zip(map(str, names), grid.T, strict=True))
        grid = narwhals.from_dict(columns, backend=narwhals.get_native_namespace(X)).to_native()
    on_grid, of_rows = view_of(estimator, grid), view_of(estimator, X)
    membership, name = _membership(on_grid, cluster)
    parts = {
        "xx0": xx0,
        "xx1": xx1,
        "membership": membership.reshape(size, size),
        "points": points,
        "labels": of_rows.labels,
        "xlabel": xlabel,
        "ylabel": ylabel,
        "name": name,
    }
    n_others = rows.shape[1] - 2
    others = "other feature is" if n_others == 1 else f"{n_others} other features are"
    note = (
        f"\nContours are a slice: the {others} at the median there.\n"
        "Rows with other values may lie outside the region of their cluster."
    )
    note = note if n_others else ""
    return parts, on_grid, of_rows, note


def _membership(view: FittedView, cluster: Any) -> tuple[Doubles, str]:
    """The membership of rows in a cluster, or the largest; and its name.

    A tree and a detector have one surface, the typicality.
    """
    surfaces = view.strength[:, None] if view.memberships is None else view.memberships
    n_surfaces = surfaces.shape[1]
    if cluster is None:
        name = "largest membership" if view.shares else "typicality"
        return np.asarray(surfaces.max(axis=1, initial=0.0), dtype=np.float64), name
    if not isinstance(cluster, Integral) or int(cluster) not in range(n_surfaces):
        known = f"they are numbered from 0 to {n_surfaces - 1}" if n_surfaces else "there is none"
        raise ValueError(f"cluster must be the number of a cluster ({known}); got {cluster!r}.")
    name = view.word if n_surfaces == 1 else f"{view.word} of cluster {cluster}"
    return np.asarray(surfaces[:, cluster], dtype=np.float64), name


def _two_features(
    estimator: Any, X: Any, features: Any, names: Sequence[str] | None
) -> tuple[Doubles, tuple[int, int]]:
    """The rows as points, and the places of two features of them, given by place or by name."""
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"With kernel={estimator.kernel!r}, rows have no coordinates to draw. Fit the model on "
            "rows of features, e.g. with kernel='gaussian'."
        )
    points = check_array(X, dtype=np.float64, input_name="X")
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
            f"features: {feature!r} is not a feature of X, which has {n_features}: pass "
            f"numbers from 0 to {n_features - 1}, or names of columns."
        )
    return int(feature)
