"""What a kernel is."""

from typing import Any, Protocol, runtime_checkable

from typicality._typing import Floats


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
