"""The interface of a kernel, and distances by its definition."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Floats = NDArray[np.floating]


@runtime_checkable
class Kernel(Protocol):
    """A similarity that is a scalar product in some space."""

    @property
    def positive_semidefinite(self) -> bool:
        """Whether it is known to be a scalar product; else it is tested on the data."""

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""

    def diag(self, X: Floats) -> Floats:
        """The kernel of each row with itself, shape (len(X),); exact always."""

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        """Squared distances in the induced space, shape (len(X), len(Y)); not clipped."""


class ByDefinition:
    """Distances by their definition; they lose digits where the kernel is large."""

    def sqdist(self: Any, X: Floats, Y: Floats) -> Floats:
        sqdist: Floats = self.diag(X)[:, None] + self.diag(Y) - 2.0 * self(X, Y)
        return sqdist


def pair_distances(X: Floats, Y: Floats, metric: str) -> Floats:
    """Pair by pair, so that a distance does not depend on the other rows, nor on where zero is."""
    distances: Floats = cdist(X, Y, metric)
    return distances
