r"""Kernels: frozen value objects with an exact block, an exact diagonal and exact distances.

A kernel is a scalar product :math:`K(x, y) = \Phi(x)^\top \Phi(y)` of rows mapped to another space.
What the algorithms need of it are distances there,

.. math:: \lVert \Phi(x) - \Phi(y) \rVert^2 = K(x, x) + K(y, y) - 2 K(x, y),

so a kernel gives these itself (`sqdist`), without the cancellation of the formula where it can.
Implements :cite:`filippone2010`, eq. (14)-(15), (18).
"""

from typing import Any

from typicality.kernels.base import ByDefinition, Kernel
from typicality.kernels.local import LocalGaussian
from typicality.kernels.products import Cosine, FromScikitLearn, Function, Linear, Mixed, Polynomial
from typicality.kernels.stationary import Cauchy, Gaussian, Laplacian, Stationary

__all__ = [
    "BANDWIDTH_KERNELS",
    "KERNEL_NAMES",
    "ByDefinition",
    "Cauchy",
    "Cosine",
    "Function",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "LocalGaussian",
    "Mixed",
    "Polynomial",
    "Stationary",
    "named_kernel",
]

_KERNELS: dict[str, type[Any]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplacian": Laplacian,
    "cauchy": Cauchy,
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "cosine": Cosine,
}
_OF_SCIKIT_LEARN = ("additive_chi2", "chi2", "sigmoid")
_OF_DISTANCE = {name: kind for name, kind in _KERNELS.items() if issubclass(kind, Stationary)}

KERNEL_NAMES = (*_KERNELS, *_OF_SCIKIT_LEARN)
BANDWIDTH_KERNELS = tuple(_OF_DISTANCE)
_FIRST_NAMES = {kind: name for name, kind in reversed(_OF_DISTANCE.items())}
DISTANCE_KERNELS = tuple(name for name in _OF_DISTANCE if name in _FIRST_NAMES.values())


def named_kernel(name: str, sigma: float | None = None) -> Kernel:
    """The kernel of a name; `sigma` is for those with a bandwidth.

    All names of :func:`sklearn.metrics.pairwise.pairwise_kernels` mean what they mean there, with
    the parameters it has by default, but for the bandwidth.
    """
    if name in _OF_SCIKIT_LEARN:
        return Function(FromScikitLearn(name))
    if name not in _KERNELS:
        raise ValueError(f"Unknown kernel {name!r}; the names are {', '.join(KERNEL_NAMES)}.")
    if sigma is None or name not in BANDWIDTH_KERNELS:
        kernel: Kernel = _KERNELS[name]()
    else:
        kernel = _KERNELS[name](float(sigma))
    return kernel
