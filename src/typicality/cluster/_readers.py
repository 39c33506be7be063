"""How rows, old and new, enter the space of an estimator."""

from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from typicality._sparse import sparse_rows
from typicality._typing import Floats
from typicality.geometry.checks import OVERFLOW_MARGIN, check_reach, differ
from typicality.minimax import MinimaxPaths
from typicality.operators.columns import is_constant
from typicality.rows import content_hash, row_blocks

_ASYMMETRY = 1e-6  # of the largest entry: more is no rounding
_NARROWEST = 4.0  # times the extent whose factor overflows


class Reader(Protocol):
    """Turns validated rows into the rows of the space."""

    def read(self, rows: Floats) -> Floats:
        """New rows, or old ones."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Rows are points."""

    origin: Annotated[Floats, "d"]

    def read(self, rows: Floats) -> Floats:
        check_reach(rows, self.origin)
        return rows.astype(self.origin.dtype, copy=False)

    def restore(self, points: Floats) -> Floats:
        """Points of the space in the coordinates of the data."""
        return points


@dataclass(frozen=True, eq=False)
class SparseCoordinates(Coordinates):
    """Rows are points whose zeros are not stored; arrays are converted."""

    def read(self, rows: Floats) -> Floats:
        return super().read(sparse_rows(rows))


@dataclass(frozen=True, eq=False)
class Stretched:
    """Rows are points, each feature multiplied by a factor.

    Parameters
    ----------
    coordinates : Coordinates
        How the points enter the space.
    factor : array of shape (d,)
        What features are multiplied by.
    """

    coordinates: Coordinates
    factor: Annotated[Floats, "d"]

    def read(self, rows: Floats) -> Floats:
        with np.errstate(over="ignore"):
            points: Floats = rows * self.factor.astype(rows.dtype)
        return self.coordinates.read(points)


@dataclass(frozen=True, eq=False)
class Box(Coordinates):
    r"""Rows are points, each feature scaled to the same range.

    .. math:: x_j \mapsto b \, (x_j - l_j) / (h_j - l_j)

    from the range of each feature to [0, b], and no farther than b outside of it: extreme values
    are outliers however extreme they are. A constant feature becomes zero, and so does one whose
    values differ by rounding only.

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

    low: Annotated[Floats, "d"]
    factor: Annotated[Floats, "d"]
    size: float

    @classmethod
    def of(cls, low: Floats, high: Floats, origin: Floats, size: float) -> "Box":
        extent = np.where(differ(low, high, origin.dtype), high - low, 0.0)
        narrow = (extent > 0) & (extent < size * _NARROWEST / float(np.finfo(origin.dtype).max))
        if narrow.any():
            feature = int(narrow.argmax())
            raise ValueError(
                f"Feature {feature} of X has a range of only {extent[feature]:.3g}, too small "
                f"to be scaled to a box of {size:g} in {origin.dtype}. Drop the feature, or pass X "
                "in other units."
            )
        factor = np.divide(size, extent, out=np.zeros_like(extent), where=extent > 0)
        return cls(origin, low.astype(origin.dtype), factor, size)

    def read(self, rows: Floats) -> Floats:
        boxed: Floats = super().read(rows) - self.low
        with np.errstate(over="ignore"):
            boxed *= self.factor.astype(boxed.dtype)
        return np.clip(boxed, -self.size, 2.0 * self.size, out=boxed)

    def restore(self, points: Floats) -> Floats:
        extent = np.divide(1.0, self.factor, out=np.zeros_like(self.factor), where=self.factor > 0)
        return (points * extent + self.low).astype(points.dtype)


@dataclass(frozen=True, eq=False)
class KernelValues:
    """Rows are kernel values with the training rows; K(x, x) is appended to them.

    That is known if it is the same for all training rows, or for a row whose values are those of a
    training row.
    """

    dtype: np.dtype[Any]
    keys: Annotated[NDArray[np.uint64], "_known"]
    diagonal: Annotated[Floats, "_values"]

    @classmethod
    def of(cls, matrix: Floats) -> "KernelValues":
        diagonal = np.diagonal(matrix).copy()
        if is_constant(diagonal):  # no row needs to be looked up
            return cls(matrix.dtype, np.empty(0, np.uint64), diagonal)
        keys, first = np.unique(content_hash(matrix), return_index=True)
        return cls(matrix.dtype, keys, diagonal[first])

    def read(self, rows: Floats) -> Floats:
        rows = rows.astype(self.dtype, copy=False)
        return np.column_stack([rows, self._diagonal_of(rows)])

    def _diagonal_of(self, rows: Floats) -> Floats:
        if is_constant(self.diagonal):
            return np.full(len(rows), self.diagonal[0])
        wanted = content_hash(rows)
        found = np.searchsorted(self.keys, wanted).clip(max=len(self.keys) - 1)
        known = self.keys[found] == wanted
        if not known.all():
            raise ValueError(
                f"Row {int(np.flatnonzero(~known)[0])} of X is not a training row, so its kernel "
                "value with itself is not known: this value differs between the training rows. "
                "Pass the kernel as a function, or use kernel='dissimilarities' with the distances "
                "sqrt(K(x, x) + K(y, y) - 2 K(x, y)), in fit and in prediction."
            )
        return np.asarray(self.diagonal[found])


@dataclass(frozen=True, eq=False)
class Dissimilarities:
    """Rows are dissimilarities to the training rows; the space works with their squares."""

    dtype: np.dtype[Any]

    def read(self, rows: Floats) -> Floats:
        check_dissimilarities(rows)
        return rows.astype(self.dtype, copy=False) ** 2


@dataclass(frozen=True, eq=False)
class Paths:
    """Rows are points; the minimax path distances are the squared distances of the space.

    Not their squares: with d itself no new row comes out at a negative squared distance of a
    mean, because d(i, j) <= d(x, i) + d(x, j). The square roots of an ultrametric are distances in
    a Euclidean space, as the ultrametric is.
    """

    coordinates: Coordinates | Box
    paths: MinimaxPaths
    taking_part: Annotated[NDArray[np.bool_], "n"]

    def read(self, rows: Floats) -> Floats:
        # Paths lead through rows of positive weight only; the other columns have no weight.
        known = self.coordinates.read(rows)
        distances: Floats = self.paths.distances_to(known).astype(known.dtype, copy=False)
        if self.taking_part.all():
            return distances
        sqdist = np.zeros((len(rows), len(self.taking_part)), known.dtype)
        sqdist[:, self.taking_part] = distances
        return sqdist


# ---- checks -------------------------------------------------------------------------------------


def check_kernel_matrix(matrix: Floats) -> None:
    """`kernel="precomputed"` in training: square and symmetric."""
    _check_square(matrix, "kernel='precomputed'", "the kernel of each training row with each")
    if not np.diagonal(matrix).any() and matrix.max() > 0:
        raise ValueError(
            "X has zeros on the diagonal and larger values elsewhere, so it looks like a "
            "matrix of distances; a kernel is largest on the diagonal. Use "
            "kernel='dissimilarities', or pass similarities."
        )


def check_dissimilarities(matrix: Floats, *, square: bool = False) -> None:
    """`kernel="dissimilarities"`: not negative; in training square, symmetric, zero with itself."""
    if matrix.min() < 0:
        row, column = np.argwhere(matrix < 0)[0]
        raise ValueError(
            f"X has a negative dissimilarity, {matrix[row, column]:.3g} in row {row}, "
            f"column {column}. Pass distances; for similarities, use an estimator with "
            "kernel='precomputed'."
        )
    limits = np.finfo(matrix.dtype)
    largest = float(matrix.max())
    if largest > np.sqrt(limits.max / OVERFLOW_MARGIN) or 0 < largest < np.sqrt(limits.tiny) * 1e8:
        raise ValueError(
            f"The squares of the dissimilarities in X overflow or vanish in {matrix.dtype}: the "
            f"largest dissimilarity is {largest:.1e}. Divide all dissimilarities by a typical "
            "value."
        )
    if not square:
        return
    _check_square(matrix, "kernel='dissimilarities'", "the dissimilarity of each row to each")
    own = np.diagonal(matrix)
    if own.any():
        raise ValueError(
            f"X has a nonzero value on the diagonal, {own[np.flatnonzero(own)[0]]:.3g} in "
            f"row {np.flatnonzero(own)[0]}, so a row is dissimilar to itself. Set the "
            "diagonal to zero; for similarities, use an estimator with "
            "kernel='precomputed'."
        )


def _check_square(matrix: Floats, parameter: str, meaning: str) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"X has shape {matrix.shape}, but {parameter} needs a square matrix in fit: {meaning}."
        )
    largest = float(np.abs(matrix).max())
    for block in row_blocks(len(matrix)):
        apart = np.abs(matrix[block] - matrix[:, block].T)
        if apart.max() > _ASYMMETRY * largest:
            row, column = np.unravel_index(apart.argmax(), apart.shape)
            raise ValueError(
                f"X is not symmetric, but {parameter} needs a symmetric matrix: entries "
                f"({row + block.start}, {column}) and ({column}, {row + block.start}) differ by "
                f"{apart.max():.3g}. Pass (X + X.T) / 2 if the difference is an error of "
                "rounding."
            )
