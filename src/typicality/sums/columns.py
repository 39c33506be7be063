"""A kernel against fixed training rows: the columns of the kernel matrix.

What a row is depends on the kernel: coordinates, or already its kernel values (with K(x, x) as the
last entry), or its squared dissimilarities to the training rows.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Protocol, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from typicality._cached import cached_property
from typicality._sparse import is_sparse, sparse_rows
from typicality._typing import Doubles, Floats, Places
from typicality.kernels import ByDefinition, Kernel, LocalGaussian, Stationary
from typicality.kernels.stationary import has_compiled_distances
from typicality.sums.row_tree import RowTree

_ROUNDING = 64.0  # in units of the last place
_SMALLEST = float(np.finfo(np.float64).tiny)  # smaller values count as this one in a logarithm


def evenly_spaced(n: int, at_most: int) -> Places:
    """Numbers below n at equal steps: a sample of rows."""
    return np.linspace(0, n - 1, min(n, at_most)).astype(np.intp)


def _error_by_definition(diagonal: Floats) -> float:
    """The rounding error of distances computed as K(x, x) + K(y, y) - 2 K(x, y)."""
    return float(_ROUNDING * np.finfo(diagonal.dtype).eps * np.abs(diagonal).max())


def is_constant(diagonal: Floats) -> bool:
    """Whether K(x, x) is the same for all rows, but for rounding."""
    return bool(np.ptp(diagonal) <= _error_by_definition(diagonal))


class Columns(Protocol):
    """The kernel of any rows with the training rows."""

    @property
    def n_training(self) -> int:
        """The number of training rows."""

    @property
    def positive_semidefinite(self) -> bool:
        """Whether the kernel is known to be a scalar product."""

    @property
    def distance_error(self) -> float:
        """The rounding error of `half_sqdist`: smaller values may be exactly zero."""

    @property
    def order(self) -> int:
        """The power of a small displacement with which squared distances grow."""

    @property
    def on_sphere(self) -> bool:
        """Whether all rows are mapped at one distance from zero and no value is negative.

        Then the typicality of a row is an increasing function of its mean similarity, which has a
        logarithm.
        """

    def sqnorm(self, rows: Floats) -> Floats:
        """The kernel of each row with itself, shape (len(rows),)."""

    def kernel(self, rows: Floats) -> Floats:
        """Kernel values, shape (len(rows), n_training)."""

    def half_sqdist(self, rows: Floats) -> Floats:
        """Half the squared distances in the induced space, shape (len(rows), n_training)."""

    def log_kernel(self, rows: Floats) -> Floats:
        """The logarithms of kernel values on the sphere."""

    def half_sqdist_among(self, rows: Floats, index: Places) -> Floats:
        """Half the squared distances between some training rows, given those rows."""


@dataclass(frozen=True, eq=False)
class KernelColumns:
    """Columns of a kernel that is a function of coordinates.

    Parameters
    ----------
    kernel_function : Kernel
        The kernel.
    training : array or SparseArray of shape (n, d)
        The training rows.
    """

    kernel_function: Annotated[Any, Kernel]
    training: Annotated[Floats, Annotated[Floats, "n d"] | Annotated[csr_array, "n d"]]

    def __post_init__(self) -> None:
        if issparse(self.training):  # as a model file holds them
            object.__setattr__(self, "training", sparse_rows(self.training))

    @property
    def n_training(self) -> int:
        return len(self.training)

    @property
    def positive_semidefinite(self) -> bool:
        return bool(self.kernel_function.positive_semidefinite)

    @property
    def on_sphere(self) -> bool:
        return bool(getattr(self.kernel_function, "on_sphere", False))

    @property
    def distance_error(self) -> float:
        by_definition = isinstance(self.kernel_function, ByDefinition)
        return _error_by_definition(self._own) if by_definition else 0.0

    @property
    def order(self) -> int:
        return int(getattr(self.kernel_function, "order", 2))

    @cached_property
    def tree(self) -> RowTree:
        """The training rows in the leaves of a k-d tree; made once, and not pickled."""
        return RowTree.of(self.training)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "tree"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # skops restores sparse rows as a csr array

    @cached_property
    def _own(self) -> Floats:
        """The kernel of each training row with itself."""
        return self.sqnorm(self.training)

    def sqnorm(self, rows: Floats) -> Floats:
        return np.asarray(self.kernel_function.diag(rows), dtype=np.float64)

    def kernel(self, rows: Floats) -> Floats:
        if isinstance(self.kernel_function, LocalGaussian):
            values = self.log_kernel(rows)
            return np.exp(values, out=values)
        return np.asarray(self.kernel_function(rows, self.training), dtype=np.float64)

    def half_sqdist(self, rows: Floats) -> Floats:
        if isinstance(self.kernel_function, LocalGaussian):
            values = self.log_kernel(rows)
            return np.negative(np.expm1(values, out=values), out=values)
        if isinstance(self.kernel_function, Stationary):
            distances = self.kernel_function.distances(rows, self.training)
            return self.kernel_function.complement(distances, out=distances)
        if isinstance(self.kernel_function, ByDefinition):
            with np.errstate(invalid="ignore"):  # the operator looks at the result
                return 0.5 * (self.sqnorm(rows)[:, None] + self._own) - self.kernel(rows)
        kernel: Kernel = self.kernel_function
        return 0.5 * np.asarray(kernel.sqdist(rows, self.training), dtype=np.float64)

    def log_kernel(self, rows: Floats) -> Floats:
        if isinstance(self.kernel_function, LocalGaussian):
            return self.kernel_function.log(rows, self.training, widths=self._widths)
        kernel: Stationary = self.kernel_function
        return kernel.log(rows, self.training)

    @cached_property
    def _widths(self) -> Doubles:
        """The widths of a local kernel at the training rows; every block needs them."""
        return self.kernel_function.widths(self.training)

    def half_sqdist_among(self, rows: Floats, index: Places) -> Floats:
        return KernelColumns(self.kernel_function, self.training[index]).half_sqdist(rows)


def has_compiled_sums(columns: Columns) -> bool:
    """Whether there are compiled sums for the kernel."""
    if not isinstance(columns, KernelColumns) or is_sparse(columns.training):
        return False
    kernel: Any = columns.kernel_function
    return isinstance(kernel, Stationary) and kernel.compiled_form is not None


def uses_compiled_distances(columns: Columns) -> bool:
    """Whether compiled code computes the distances of a kernel of a distance: for many features."""
    if not isinstance(columns, KernelColumns) or is_sparse(columns.training):
        return False
    of_distance = isinstance(columns.kernel_function, Stationary | LocalGaussian)
    return of_distance and has_compiled_distances(*columns.training.shape)


@dataclass(frozen=True, eq=False)
class PrecomputedKernel:
    """Columns of a precomputed kernel; the last entry of a row is its kernel with itself.

    Parameters
    ----------
    diagonal : array of shape (n,)
        The kernel of each training row with itself.
    on_sphere : bool
        Whether the diagonal is constant and no value negative.
    """

    diagonal: Annotated[Floats, "n"]
    on_sphere: bool
    positive_semidefinite = False
    order = 2

    @property
    def distance_error(self) -> float:
        return _error_by_definition(self.diagonal)

    @property
    def n_training(self) -> int:
        return len(self.diagonal)

    @classmethod
    def of(cls, matrix: Floats) -> tuple[Self, Floats]:
        """The columns of a square matrix of kernel values, and its rows with their diagonal."""
        diagonal = np.diagonal(matrix).copy()
        on_sphere = is_constant(diagonal) and diagonal[0] > 0 and bool(matrix.min() >= 0)
        columns = cls(diagonal, on_sphere)
        return columns, np.column_stack([matrix, diagonal])

    def sqnorm(self, rows: Floats) -> Floats:
        return rows[:, -1].astype(np.float64)

    def kernel(self, rows: Floats) -> Floats:
        return rows[:, :-1].astype(np.float64)

    def half_sqdist(self, rows: Floats) -> Floats:
        return 0.5 * (rows[:, -1:] + self.diagonal) - self.kernel(rows)

    def log_kernel(self, rows: Floats) -> Floats:
        relative = self.kernel(rows) / self.diagonal
        return np.log(np.maximum(relative, _SMALLEST, out=relative), out=relative)

    def half_sqdist_among(self, rows: Floats, index: Places) -> Floats:
        return 0.5 * (rows[:, -1:] + self.diagonal[index]) - rows[:, index]


@dataclass(frozen=True, eq=False)
class PrecomputedSqdist:
    r"""Columns of squared dissimilarities: what double centring makes of them is the kernel.

    .. math:: K(x, x_r) = -\tfrac12 \Big( \Delta(x, x_r) - \overline{\Delta(x, \cdot)} -
        \overline{\Delta(\cdot, x_r)} + \overline{\Delta} \Big)

    Its distances are the dissimilarities themselves, so only the kernel values need the means.

    Implements :cite:`filippone2010`, section IV-D.

    Parameters
    ----------
    means : array of shape (n,)
        The mean squared dissimilarity of each training row to the training rows.
    positive_semidefinite : bool
        Whether the dissimilarities are known to be distances in some Euclidean space.
    order : int
        2 where they are squares of distances in the space of the data, 1 where they are distances.
    """

    means: Annotated[Floats, "n"]
    positive_semidefinite: bool = False
    order: int = 2
    on_sphere = False
    distance_error = 0.0

    @property
    def n_training(self) -> int:
        return len(self.means)

    @classmethod
    def of(
        cls, sqdist: Floats, *, positive_semidefinite: bool = False, order: int = 2
    ) -> tuple[Self, Floats]:
        """The columns of a square matrix of squared dissimilarities, and its rows."""
        return cls(sqdist.mean(axis=0, dtype=np.float64), positive_semidefinite, order), sqdist

    def sqnorm(self, rows: Floats) -> Floats:
        return np.asarray(rows.mean(axis=1, dtype=np.float64) - 0.5 * self.means.mean())

    def kernel(self, rows: Floats) -> Floats:
        of_row = rows.mean(axis=1, keepdims=True, dtype=np.float64)
        return np.asarray(-0.5 * (rows - of_row - self.means + self.means.mean()))

    def half_sqdist(self, rows: Floats) -> Floats:
        return 0.5 * rows.astype(np.float64)

    def log_kernel(self, rows: Floats) -> Floats:
        raise TypeError("double-centred kernels have no logarithm: they can be negative")

    def half_sqdist_among(self, rows: Floats, index: Places) -> Floats:
        return 0.5 * rows[:, index].astype(np.float64)
