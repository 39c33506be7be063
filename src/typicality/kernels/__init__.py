r"""Kernels: frozen value objects with an exact block, an exact diagonal and exact distances.

A kernel is a scalar product :math:`K(x, y) = \Phi(x)^\top \Phi(y)` of rows mapped to another space.
What the algorithms need of it are distances there,

.. math:: \lVert \Phi(x) - \Phi(y) \rVert^2 = K(x, x) + K(y, y) - 2 K(x, y),

so a kernel gives these itself (`sqdist`), without the cancellation of the formula where it can.
Implements :cite:`filippone2010`, eq. (14)-(15), (18).
"""

from typicality.kernels.base import ByDefinition, Kernel
from typicality.kernels.local import LocalGaussian
from typicality.kernels.named import BANDWIDTH_KERNELS, KERNEL_NAMES, Function, named_kernel
from typicality.kernels.of_distance import Cauchy, Gaussian, Laplacian, Stationary
from typicality.kernels.of_product import Cosine, Linear, Polynomial

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
    "Polynomial",
    "Stationary",
    "named_kernel",
]
