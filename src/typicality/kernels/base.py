"""What a kernel is."""

from typing import Any, Protocol, runtime_checkable

from typicality._typing import Floats


@runtime_checkable
class Kernel(Protocol):
    """The interface of kernels: a similarity that is a scalar product in some space."""

    @property
    def positive_semidefinite(self) -> bool:
        """Whether this is known to be a scalar product; otherwise it is tested on the data."""

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The kernel values of all pairs of rows, shape (len(X), len(Y))."""

    def diag(self, X: Floats) -> Floats:
        """The kernel value of each row with itself, shape (len(X),)."""

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        """Squared distances in the space of the kernel, shape (len(X), len(Y)); not clipped."""


class ByDefinition:
    """Base for kernels with squared distances by the formula K(x, x) + K(y, y) - 2 K(x, y)."""

    def sqdist(self: Any, X: Floats, Y: Floats) -> Floats:
        return self.diag(X)[:, None] + self.diag(Y) - 2.0 * self(X, Y)
