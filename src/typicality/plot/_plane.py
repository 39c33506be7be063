"""A grid over two features of the data."""

from dataclasses import dataclass
from typing import Any, Self

import narwhals
import numpy as np
from numpy.typing import NDArray

from typicality._checks import check_grid_resolution, check_plane
from typicality._compat import feature_names

Doubles = NDArray[np.float64]

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
        size = check_grid_resolution(grid_resolution)
        names = feature_names(X)
        rows, places = check_plane(estimator, X, features, names)
        points = rows[:, places]
        xx0, xx1 = np.meshgrid(*(_ticks(column, size) for column in points.T))
        grid = np.tile(np.median(rows, axis=0), (size * size, 1))
        grid[:, places] = np.column_stack([xx0.ravel(), xx1.ravel()])
        called = [f"feature {place}" if names is None else str(names[place]) for place in places]
        n_others = rows.shape[1] - 2
        return cls(xx0, xx1, _like(X, grid, names), points, (called[0], called[1]), n_others)

    @property
    def slice_note(self) -> str:
        """A line for a title that says what became of the other features."""
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
