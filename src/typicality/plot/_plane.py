"""A grid over two features of the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import narwhals
import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array

from typicality._arguments import check_whole
from typicality._compat import feature_names
from typicality._typing import Doubles
from typicality.fitted import FittedView

_MARGIN = 0.08  # of the range of the data, on each side


@dataclass(frozen=True, eq=False)
class Plane:
    """Points of a plane through the data: two features vary, the others keep their median.

    Parameters
    ----------
    xx0, xx1 : arrays of shape (r, r)
        The two features at the points of a grid.
    grid : array or dataframe of shape (r * r, d)
        The same points with all features, of the kind of the data.
    points : array of shape (n, 2)
        The rows of the data, seen along the other features.
    names : tuple of str
        What the two features are called.
    n_others : int
        The number of the other features.
    """

    xx0: Doubles
    xx1: Doubles
    grid: Any
    points: Doubles
    names: tuple[str, str]
    n_others: int

    @classmethod
    def through(cls, X: Any, features: Any, grid_resolution: Any, *, estimator: Any) -> Self:
        """The plane of two features, over the range of the rows and a little more."""
        size = check_whole(grid_resolution, "grid_resolution", least=2)
        names = feature_names(X)
        rows, places = _two_features(estimator, X, features, names)
        points = rows[:, places]
        xx0, xx1 = np.meshgrid(*(_ticks(column, size) for column in points.T))
        grid = np.tile(np.median(rows, axis=0), (size * size, 1))
        grid[:, places] = np.column_stack([xx0.ravel(), xx1.ravel()])
        called = [f"feature {place}" if names is None else str(names[place]) for place in places]
        n_others = rows.shape[1] - 2
        return cls(xx0, xx1, _like(X, grid, names), points, (called[0], called[1]), n_others)

    @property
    def parts(self) -> dict[str, Any]:
        """The arguments of displays that draw over the plane."""
        return {
            "xx0": self.xx0,
            "xx1": self.xx1,
            "points": self.points,
            "xlabel": self.names[0],
            "ylabel": self.names[1],
        }

    def membership(self, view: FittedView, cluster: Any) -> tuple[Doubles, str]:
        """The membership in a cluster at the points of the grid, or the largest; and its name.

        `view` is that of the grid. A tree and a detector have one surface, the typicality.
        """
        surfaces = view.strength[:, None] if view.memberships is None else view.memberships
        n_surfaces = surfaces.shape[1]
        name = "largest membership" if view.shares else "typicality"
        surface = surfaces.max(axis=1, initial=0.0)
        if cluster is not None:
            if not isinstance(cluster, Integral) or int(cluster) not in range(n_surfaces):
                known = f"they go from 0 to {n_surfaces - 1}" if n_surfaces else "there is none"
                raise ValueError(
                    f"cluster must be the number of a cluster ({known}); got {cluster!r}."
                )
            name = view.word if n_surfaces == 1 else f"{view.word} of cluster {cluster}"
            surface = surfaces[:, cluster]
        return np.asarray(surface.reshape(self.shape), dtype=np.float64), name

    @property
    def slice_note(self) -> str:
        """A line for the title about the other features, if there are any."""
        if self.n_others == 0:
            return ""
        others = "other feature" if self.n_others == 1 else f"{self.n_others} other features"
        return f"\ncontours: the {others} at the median"

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the grid."""
        return self.xx0.shape[0], self.xx0.shape[1]


def _ticks(column: Doubles, size: int) -> Doubles:
    low, high = column.min(), column.max()
    margin = _MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, size)


def _like(X: Any, rows: Doubles, names: Any) -> Any:
    """Rows as a dataframe of the kind of X where that has names: estimators compare them."""
    if names is None:
        return rows
    columns = {str(name): column for name, column in zip(names, rows.T, strict=True)}
    backend = narwhals.get_native_namespace(X)
    return narwhals.from_dict(columns, backend=backend).to_native()


def _two_features(
    estimator: Any, X: Any, features: Any, names: Sequence[str] | None
) -> tuple[Doubles, tuple[int, int]]:
    """The rows as points, and the places of two features of them, given by place or by name."""
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"With kernel={estimator.kernel!r} rows have no coordinates to draw. Fit on rows of "
            "features, with a kernel of them."
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
            f"features: {feature!r} is not a feature of X, which has {n_features}: take numbers "
            f"from 0 to {n_features - 1}, or names of columns."
        )
    return int(feature)
