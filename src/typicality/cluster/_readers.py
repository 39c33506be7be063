"""How rows, old and new, enter the space of an estimator."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from typicality.cluster._checks import (
    check_diagonal,
    check_dissimilarities,
    check_extents,
    check_known,
    check_no_diagonal,
    check_on_sphere,
)
from typicality.geometry.checks import check_reach
from typicality.geometry.rows import content_hash
from typicality.minimax import MinimaxPaths
from typicality.operators.columns import is_constant

Floats = NDArray[np.floating]


class Reader(Protocol):
    """Turns validated rows into the rows of the space."""

    def read(self, rows: Floats, diag: Any) -> Floats:
        """New rows, or old ones; `diag` is their kernel with themselves, where that is asked."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Rows are points."""

    origin: Floats

    def read(self, rows: Floats, diag: Any) -> Floats:
        check_no_diagonal(diag)
        check_reach(rows, self.origin)
        return rows.astype(self.origin.dtype, copy=False)

    def restore(self, points: Floats) -> Floats:
        """Points of the space in the coordinates of the data."""
        return points


@dataclass(frozen=True, eq=False)
class Box(Coordinates):
    r"""Rows are points, each feature scaled to the same range.

    .. math:: x_j \mapsto b \, (x_j - l_j) / (h_j - l_j)

    from the range of each feature to [0, b], and no farther than b outside of it: extreme values
    are outliers however extreme they are. A constant feature becomes zero.

    Implements :cite:`xenaki2014`, section 3, with b = 10.

    Parameters
    ----------
    origin : array of shape (d,)
        The mean of the rows, for checks.
    low, factor : arrays of shape (d,)
        The smallest values, and what differences from them are multiplied by.
    size : float
        The side of the box.
    """

    low: Floats
    factor: Floats
    size: float

    @classmethod
    def of(cls, low: Floats, high: Floats, origin: Floats, size: float) -> "Box":
        extent = high - low
        check_extents(extent, size, origin.dtype)
        factor = np.divide(size, extent, out=np.zeros_like(extent), where=extent > 0)
        return cls(origin, low.astype(origin.dtype), factor, size)

    def read(self, rows: Floats, diag: Any) -> Floats:
        boxed: Floats = super().read(rows, diag) - self.low
        with np.errstate(over="ignore"):
            boxed *= self.factor.astype(boxed.dtype)
        return np.clip(boxed, -self.size, 2.0 * self.size, out=boxed)

    def restore(self, points: Floats) -> Floats:
        extent = np.divide(1.0, self.factor, out=np.zeros_like(self.factor), where=self.factor > 0)
        restored: Floats = (points * extent + self.low).astype(points.dtype)
        return restored


@dataclass(frozen=True, eq=False)
class KernelValues:
    """Rows are kernel values with the training rows; K(x, x) is appended to them.

    A row that is known (its values are those of a training row) has a known diagonal.
    """

    dtype: Any
    keys: NDArray[np.uint64]
    diagonal: Floats

    @classmethod
    def of(cls, matrix: Floats) -> "KernelValues":
        diagonal = np.diagonal(matrix).copy()
        if is_constant(diagonal):  # no row needs to be looked up
            return cls(matrix.dtype, np.empty(0, np.uint64), diagonal)
        keys, first = np.unique(content_hash(matrix), return_index=True)
        return cls(matrix.dtype, keys, diagonal[first])

    def read(self, rows: Floats, diag: Any) -> Floats:
        rows = rows.astype(self.dtype, copy=False)
        return np.column_stack([rows, self._diagonal_of(rows, diag)])

    def _diagonal_of(self, rows: Floats, diag: Any) -> Floats:
        if diag is not None:
            return check_diagonal(diag, len(rows)).astype(self.dtype)
        if is_constant(self.diagonal):
            return np.full(len(rows), self.diagonal[0])
        wanted = content_hash(rows)
        found = np.searchsorted(self.keys, wanted).clip(max=len(self.keys) - 1)
        check_known(self.keys[found] == wanted)
        return np.asarray(self.diagonal[found])


@dataclass(frozen=True, eq=False)
class Dissimilarities:
    """Rows are dissimilarities to the training rows; the space works with their squares."""

    dtype: Any

    def read(self, rows: Floats, diag: Any) -> Floats:
        check_no_diagonal(diag)
        check_dissimilarities(rows)
        squares: Floats = rows.astype(self.dtype, copy=False) ** 2
        return squares


@dataclass(frozen=True, eq=False)
class Sphere:
    """Rows are directions, or places on the globe: points of the unit sphere.

    The distance of two points through the sphere grows with the angle between them.

    Parameters
    ----------
    metric : {"cosine", "haversine"}
        "cosine": the direction of a row. "haversine": latitude and longitude in radians, as in
        :func:`sklearn.metrics.pairwise.haversine_distances`.
    """

    metric: str

    def read(self, rows: Floats, diag: Any) -> Floats:
        check_no_diagonal(diag)
        check_on_sphere(rows, self.metric)
        if self.metric == "cosine":
            longest = np.abs(rows).max(axis=1, keepdims=True)  # no square overflows
            scaled = rows / longest
            return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True))
        latitude, longitude = rows.T
        across = np.cos(latitude)
        return np.column_stack(
            [across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)]
        )


@dataclass(frozen=True, eq=False)
class Paths:
    """Rows are points; the minimax path distances are the squared distances of the space.

    Not their squares: with d itself no new row comes out at a negative squared distance of a
    mean, because d(i, j) <= d(x, i) + d(x, j). The square roots of an ultrametric are distances in
    a Euclidean space, as the ultrametric is.
    """

    coordinates: Coordinates
    paths: MinimaxPaths
    taking_part: NDArray[np.bool_]

    def read(self, rows: Floats, diag: Any) -> Floats:
        # Paths lead through rows of positive weight only; the other columns have no weight.
        known = self.coordinates.read(rows, diag)
        distances: Floats = self.paths.distances_to(known).astype(known.dtype, copy=False)
        if self.taking_part.all():
            return distances
        sqdist = np.zeros((len(rows), len(self.taking_part)), known.dtype)
        sqdist[:, self.taking_part] = distances
        return sqdist
