"""A kernel against fixed training rows: the columns of the kernel matrix.

What a row is depends on the kernel: coordinates, or already its kernel values (with K(x, x) as the
last entry), or its squared dissimilarities to the training rows.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from typicality.kernels import ByDefinition, Kernel, LocalGaussian, Stationary
from typicality.operators.row_tree import RowTree

Floats = NDArray[np.floating]

_ROUNDING = 64.0  # in units of the last place
_SMALLEST = float(np.finfo(np.float64).tiny)  # a kernel value below has no logarithm to speak of


def rounding_of(diagonal: Floats) -> float:
    """How far distances by the definition, K(x, x) + K(y, y) - 2 K(x, y), may be off."""
    return float(_ROUNDING * np.finfo(diagonal.dtype).eps * np.abs(diagonal).max())


def is_constant(diagonal: Floats) -> bool:
    """Whether K(x, x) is the same for all rows, but for rounding."""
    return bool(np.ptp(diagonal) <= rounding_of(diagonal))


class Columns(Protocol):
    """The kernel of any rows with the training rows."""

    @property
    def n_training(self) -> int:
        """The number of training rows."""

    @property
    def positive_semidefinite(self) -> bool:
        """Whether the kernel is known to be a scalar product."""

    @property
    def is_given(self) -> bool:
        """Whether rows are the values themselves, so that there is nothing to compute."""

    @property
    def rounding(self) -> float:
        """Half a squared distance that may be zero in truth."""

    @property
    def order(self) -> int:
        """The power of a small displacement with which squared distances grow."""

    @property
    def on_sphere(self) -> bool:
        """Whether all rows are mapped at one distance from zero and no value is negative.

        Then the typicality of a row is an increasing function of its mean similarity, which has a
        logarithm.
        """

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""

    def sqnorm(self, rows: Floats) -> Floats:
        """The kernel of each row with itself, shape (len(rows),)."""

    def kernel(self, rows: Floats) -> Floats:
        """Kernel values, shape (len(rows), n_training)."""

    def half_sqdist(self, rows: Floats) -> Floats:
        """Half the squared distances in the induced space, shape (len(rows), n_training)."""

    def log_kernel(self, rows: Floats) -> Floats:
        """The logarithms of kernel values on the sphere."""

    def among(self, rows: Floats, index: NDArray[np.intp]) -> Floats:
        """Half the squared distances of training rows among each other, given those rows."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Columns of a kernel that is a function of coordinates.

    Parameters
    ----------
    kernel_object : Kernel
        The kernel.
    training : array of shape (n, d)
        The training rows.
    """

    kernel_object: Any
    training: Floats
    is_given = False

    @property
    def n_training(self) -> int:
        return len(self.training)

    @property
    def n_bytes(self) -> int:
        return self.training.nbytes

    @property
    def positive_semidefinite(self) -> bool:
        return bool(self.kernel_object.positive_semidefinite)

    @property
    def on_sphere(self) -> bool:
        return bool(getattr(self.kernel_object, "on_sphere", False))

    @property
    def rounding(self) -> float:
        by_definition = isinstance(self.kernel_object, ByDefinition)
        return rounding_of(self._own) if by_definition else 0.0

    @property
    def order(self) -> int:
        return int(getattr(self.kernel_object, "order", 2))

    @cached_property
    def tree(self) -> RowTree:
        """The training rows in the leaves of a k-d tree; made once, and not pickled."""
        return RowTree.of(self.training)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "tree"}

    @cached_property
    def _own(self) -> Floats:
        """The kernel of each training row with itself."""
        return self.sqnorm(self.training)

    def sqnorm(self, rows: Floats) -> Floats:
        return np.asarray(self.kernel_object.diag(rows), dtype=np.float64)

    def kernel(self, rows: Floats) -> Floats:
        if isinstance(self.kernel_object, LocalGaussian):
            values = self.log_kernel(rows)
            return np.exp(values, out=values)
        return np.asarray(self.kernel_object(rows, self.training), dtype=np.float64)

    def half_sqdist(self, rows: Floats) -> Floats:
        if isinstance(self.kernel_object, LocalGaussian):
            values = self.log_kernel(rows)
            return np.negative(np.expm1(values, out=values), out=values)
        if isinstance(self.kernel_object, Stationary):
            distances = self.kernel_object.distances(rows, self.training)
            return self.kernel_object.complement(distances, out=distances)
        if isinstance(self.kernel_object, ByDefinition):
            with np.errstate(invalid="ignore"):  # the operator looks at the result
                return 0.5 * (self.sqnorm(rows)[:, None] + self._own) - self.kernel(rows)
        kernel: Kernel = self.kernel_object
        return 0.5 * np.asarray(kernel.sqdist(rows, self.training), dtype=np.float64)

    def log_kernel(self, rows: Floats) -> Floats:
        if isinstance(self.kernel_object, LocalGaussian):
            return self.kernel_object.log(rows, self.training, widths=self._widths)
        kernel: Stationary = self.kernel_object
        return kernel.log(rows, self.training)

    @cached_property
    def _widths(self) -> NDArray[np.float64]:
        """The widths of a local kernel at the training rows, which every block needs."""
        widths: NDArray[np.float64] = self.kernel_object.widths(self.training)
        return widths

    def among(self, rows: Floats, index: NDArray[np.intp]) -> Floats:
        return Evaluated(self.kernel_object, self.training[index]).half_sqdist(rows)


@dataclass(frozen=True, eq=False)
class GivenKernel:
    """Columns of a precomputed kernel; the last entry of a row is its kernel with itself.

    Parameters
    ----------
    diagonal : array of shape (n,)
        The kernel of each training row with itself.
    on_sphere : bool
        Whether the diagonal is constant and no value negative.
    """

    diagonal: Floats
    on_sphere: bool
    positive_semidefinite = False
    is_given = True
    order = 2

    @property
    def rounding(self) -> float:
        return rounding_of(self.diagonal)

    @property
    def n_training(self) -> int:
        return len(self.diagonal)

    @property
    def n_bytes(self) -> int:
        return self.diagonal.nbytes

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
        if not is_constant(np.append(rows[:, -1], self.diagonal[0])):
            raise ValueError(
                "diag differs from the kernel of the training rows with themselves, which is "
                f"{self.diagonal[0]:.6g} for all of them: scores are those of a kernel for which "
                "that holds for new rows too."
            )
        relative = self.kernel(rows) / self.diagonal
        logarithms: Floats = np.log(np.maximum(relative, _SMALLEST, out=relative), out=relative)
        return logarithms

    def among(self, rows: Floats, index: NDArray[np.intp]) -> Floats:
        return 0.5 * (rows[:, -1:] + self.diagonal[index]) - rows[:, index]


@dataclass(frozen=True, eq=False)
class GivenSqdist:
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

    means: Floats
    positive_semidefinite: bool = False
    order: int = 2
    on_sphere = False
    is_given = True
    rounding = 0.0

    @property
    def n_training(self) -> int:
        return len(self.means)

    @property
    def n_bytes(self) -> int:
        return self.means.nbytes

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
        raise TypeError("double-centred kernels can be negative")

    def among(self, rows: Floats, index: NDArray[np.intp]) -> Floats:
        return 0.5 * rows[:, index].astype(np.float64)
