"""Kernels by name, and any function as a kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from typicality.kernels.base import ByDefinition, Floats, Kernel
from typicality.kernels.of_distance import Cauchy, Gaussian, Laplacian, Stationary
from typicality.kernels.of_product import Cosine, Linear, Polynomial

_DIAGONAL_BLOCK = 32  # rows at a time where a diagonal can only be cut out of a block


@dataclass(frozen=True)
class Function(ByDefinition):
    """Any function of two sets of rows, as in :class:`sklearn.svm.SVC`.

    Parameters
    ----------
    function : callable
        `function(X, Y)` gives an array of shape (len(X), len(Y)). For a function of two single rows
        use ``functools.partial(sklearn.metrics.pairwise.pairwise_kernels, metric=function)``.
    """

    function: Callable[[Floats, Floats], Floats]
    positive_semidefinite = False

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The block of kernel values, shape (len(X), len(Y))."""
        values = self.function(X, Y)
        if issparse(values) or np.iscomplexobj(values):
            kind = "a sparse matrix" if issparse(values) else "complex numbers"
            raise ValueError(f"kernel returned {kind}: it must return an array of real numbers.")
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (len(X), len(Y)):
            raise ValueError(
                f"kernel returned shape {values.shape}, expected {(len(X), len(Y))}: it must take "
                "two arrays of rows and give one value for each pair. Wrap a function of two "
                "single rows with functools.partial(sklearn.metrics.pairwise.pairwise_kernels, "
                "metric=function)."
            )
        return values

    def diag(self, X: Floats) -> Floats:
        blocks = [X[i : i + _DIAGONAL_BLOCK] for i in range(0, len(X), _DIAGONAL_BLOCK)]
        return np.concatenate([np.diagonal(self(block, block)) for block in blocks])

    def __repr__(self) -> str:
        return f"Function({getattr(self.function, '__qualname__', repr(self.function))})"


_WITH_BANDWIDTH: dict[str, type[Stationary]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplacian": Laplacian,
    "cauchy": Cauchy,
}
_WITHOUT_BANDWIDTH: dict[str, type[Any]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "cosine": Cosine,
}
_OF_SCIKIT_LEARN = ("additive_chi2", "chi2", "sigmoid")

BANDWIDTH_KERNELS = tuple(_WITH_BANDWIDTH)
KERNEL_NAMES = (*_WITH_BANDWIDTH, *_WITHOUT_BANDWIDTH, *_OF_SCIKIT_LEARN)


def named_kernel(name: str, sigma: float | None = None) -> Kernel:
    """The kernel of a name; `sigma` is for those with a bandwidth.

    All names of :func:`sklearn.metrics.pairwise.pairwise_kernels` mean what they mean there, with
    the parameters it has by default, but for the bandwidth.
    """
    if name in _WITH_BANDWIDTH:
        kernel: Any = _WITH_BANDWIDTH[name]
        built: Kernel = kernel() if sigma is None else kernel(float(sigma))
        return built
    if name in _WITHOUT_BANDWIDTH:
        plain: Kernel = _WITHOUT_BANDWIDTH[name]()
        return plain
    if name in _OF_SCIKIT_LEARN:
        return Function(_FromScikitLearn(name))
    raise ValueError(f"Unknown kernel {name!r}; the names are {', '.join(KERNEL_NAMES)}.")


@dataclass(frozen=True)
class _FromScikitLearn:
    """A kernel function of scikit-learn, looked up when called so that it can be pickled."""

    name: str

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        from sklearn.metrics.pairwise import pairwise_kernels

        values: Floats = pairwise_kernels(X, Y, metric=self.name)
        return values
