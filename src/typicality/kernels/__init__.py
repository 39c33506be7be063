r"""Kernels: similarities of rows that are scalar products in another space.

A kernel is the scalar product :math:`K(x, y) = \Phi(x)^\top \Phi(y)` of rows that are mapped to
another space by :math:`\Phi`. The algorithms use the distances in that space,

.. math:: \lVert \Phi(x) - \Phi(y) \rVert^2 = K(x, x) + K(y, y) - 2 K(x, y),

A kernel computes these distances with its method `sqdist`, if possible without the rounding errors
of this formula. Implements :cite:`filippone2010`, eq. (14)-(15), (18).
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
    """The kernel with a given name; `sigma` is the width of kernels that have one.

    All names of :func:`sklearn.metrics.pairwise.pairwise_kernels` can be used. They have the
    default parameters of that function, except for the width.
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
