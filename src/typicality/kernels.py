"""Kernels: frozen value objects with an exact block and an exact diagonal."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kernel", "Linear"]


@runtime_checkable
class Kernel(Protocol):
    """A similarity that is a scalar product in some space."""

    def __call__(self, X: NDArray[np.floating], Y: NDArray[np.floating]) -> NDArray[np.floating]:
        """The exact block of kernel values, shape (len(X), len(Y))."""

    def diag(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """The kernel of each row with itself, shape (len(X),); exact always."""


@dataclass(frozen=True)
class Linear:
    r"""The scalar product :math:`K(x, y) = x^\top y`: the space it induces is the input space.

    Implements :cite:`filippone2010`, after eq. (17): with it PCM in kernel-induced spaces is the
    standard PCM.
    """

    def __call__(self, X: NDArray[np.floating], Y: NDArray[np.floating]) -> NDArray[np.floating]:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        return X @ Y.T

    def diag(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        squares: NDArray[np.floating] = np.einsum("ij,ij->i", X, X)
        return squares
