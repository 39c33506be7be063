"""Kernels of a distance: Gaussian, Laplacian and Cauchy, with their compiled forms."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.spatial.distance import cdist

from typicality._sparse import is_sparse, sparse_distances
from typicality._typing import Doubles, Floats

SMALLEST_WIDTH = 1e-150  # its square does not vanish

_COMPILED_METRICS = ("sqeuclidean", "euclidean", "cityblock")
_MANY_FEATURES = 16  # where distances are most of the work, and compiled code is quicker
_WORTH_COMPILING = 2**26  # features of all pairs: SciPy takes .03 s, loading numba takes longer


def has_compiled_distances(n_others: int, n_features: int) -> bool:
    """Whether compiled code computes the distances to so many rows; it goes by their size alone."""
    return n_features >= _MANY_FEATURES and n_others**2 * n_features >= _WORTH_COMPILING


def pair_distances(X: Floats, Y: Floats, metric: str) -> Doubles:
    """Pair by pair, so that a distance does not depend on the other rows, nor on where zero is.

    A row of X has the same distances alone and in any batch.
    """
    if is_sparse(X) or is_sparse(Y):
        return sparse_distances(X, Y, metric)
    if metric in _COMPILED_METRICS and has_compiled_distances(*Y.shape):
        return compiled_distances(X, Y, metric)
    return cdist(X, Y, metric)


def compiled_distances(X: Floats, Y: Floats, metric: str) -> Doubles:
    """The same by compiled code: nearly as quick as a matrix product, and without cancellation."""
    from typicality.compiled.distances import fill_distances  # numba takes a second to load

    form = LaplacianForm(1.0) if metric == "cityblock" else GaussianForm(1.0)
    dtype = np.result_type(X, Y)
    out = np.empty((len(X), len(Y)))
    fill_distances(form, np.ascontiguousarray(X, dtype), np.ascontiguousarray(Y, dtype), out)
    return np.sqrt(out, out=out) if metric == "euclidean" else out


class CompiledKernel(NamedTuple):
    """The functions of a compiled form; `form` is the named tuple with its parameters.

    Parameters
    ----------
    part : callable
        `part(form, difference)`: what one feature adds to the distance, in both precisions.
    profile, complement : callable
        `profile(form, distance)`, the kernel, and one minus the kernel to full relative precision.
    profile_32, complement_32 : callable
        2**100 times these in single precision, of features scaled as in :class:`SinglePrecision`.
    log_profile : callable
        `log_profile(form, distance)`, the logarithm of the kernel.
    ratio : callable
        `ratio(form, distance, nearest)`, the kernel relative to its value at a smaller distance.
    distance_at : callable
        `distance_at(form, share)`, the distance at which one minus the kernel is `share`.
    """

    part: Callable[..., float]
    profile: Callable[..., float]
    complement: Callable[..., float]
    profile_32: Callable[..., float]
    complement_32: Callable[..., float]
    log_profile: Callable[..., float]
    ratio: Callable[..., float]
    distance_at: Callable[..., float]


class SinglePrecision(NamedTuple):
    r"""Where compiled sums may use single precision.

    A feature relative to the centre of its block is off by :math:`u = 2^{-24}` of itself. With
    half a diagonal b of the block the exponent t of a pair (to base two) is off by at most
    :math:`u (4 b \sqrt t + 4 t)` where it is a squared distance, :math:`u (2 b + 4 t)` where it is
    a sum of absolute differences. Errors of features have random signs: half a width of a few
    units for each feature, that is a diagonal that grows with :math:`\sqrt d`, keeps them below
    8e-7 once they are multiplied by the kernel.

    Parameters
    ----------
    scale : float
        Features are multiplied by this, so that the distance is what `profile_32` takes.
    widest : float
        Half the diagonal of a block, in that unit, up to which single precision will do.
    lowest : float
        Pairs of blocks with smaller values throughout are summed in double precision.
    """

    scale: float
    widest: float
    lowest: float


class Stationary(ABC):
    r"""Base for kernels that are functions of a distance, with :math:`K(x, x) = 1`.

    .. math:: K(x, y) = \kappa(\delta(x, y)), \qquad
        \lVert \Phi(x) - \Phi(y) \rVert^2 = 2 (1 - \kappa(\delta(x, y)))

    A subclass defines the distance :math:`\delta` (`metric`, a name of
    :func:`scipy.spatial.distance.cdist`) and `log_profile`, the logarithm of :math:`\kappa`, which
    does not underflow. It can override :math:`\kappa` (`profile`) and :math:`1 - \kappa`
    (`complement`) with faster or more accurate versions.
    """

    metric: ClassVar[str] = "sqeuclidean"
    order: ClassVar[int] = 2  # near zero, squared distances grow as this power of a displacement
    positive_semidefinite = True
    on_sphere = True

    sigma: float

    def __post_init__(self) -> None:
        number = isinstance(self.sigma, Real)
        if not (number and SMALLEST_WIDTH <= self.sigma <= 1 / SMALLEST_WIDTH):
            raise ValueError(
                f"sigma must be positive and finite, and so must its square; got {self.sigma!r}. "
                "It is the width of the kernel, in the unit of the features. (Rules such as "
                "'auto' work only for the parameter sigma of an estimator.)"
            )

    def profile(self, distance: Floats) -> Floats:
        r"""The kernel as a function of the distance, :math:`\kappa`."""
        values = self.log_profile(distance)
        return np.exp(values, out=values)

    @abstractmethod
    def log_profile(self, distance: Floats, out: Floats | None = None) -> Floats:
        r"""The logarithm of the profile, :math:`\log \kappa`; written to `out`, if given."""

    def complement(self, distance: Floats, out: Floats | None = None) -> Floats:
        r"""One minus the profile, :math:`1 - \kappa`, with full relative precision."""
        values = self.log_profile(distance, out)
        np.expm1(values, out=values)
        return np.negative(values, out=values)

    def support_radius(self, rtol: float) -> float:
        """The distance beyond which no kernel value exceeds `rtol`, in the metric, not squared.

        Infinite if no such distance is known.
        """
        return math.inf

    @property
    def compiled_form(self) -> Any:
        """The parameters of the compiled form; None if the kernel has only the array form.

        They are a named tuple with a static method `functions`, which imports numba and returns a
        :class:`CompiledKernel`. Subclasses do not inherit the form, because their profile can
        differ.
        """
        return None

    def single_precision(self, n_features: int) -> SinglePrecision:
        """When compiled sums may use single precision; by default, never."""
        return SinglePrecision(scale=1.0, widest=-1.0, lowest=0.0)

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        return self.profile(self.distances(X, Y))

    def diag(self, X: Floats) -> Floats:
        return np.ones(len(X))

    def log(self, X: Floats, Y: Floats) -> Floats:
        """The logarithms of the kernel values, shape (len(X), len(Y)); they do not underflow."""
        distances = self.distances(X, Y)
        return self.log_profile(distances, out=distances)

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        distances = self.distances(X, Y)
        return 2.0 * self.complement(distances, out=distances)

    def distances(self, X: Floats, Y: Floats) -> Floats:
        """The distances that `profile` takes, shape (len(X), len(Y))."""
        return pair_distances(X, Y, self.metric)


@dataclass(frozen=True)
class Gaussian(Stationary):
    r"""The Gaussian kernel :math:`K(x, y) = e^{-\lVert x - y \rVert^2 / (2 \sigma^2)}`.

    The parameter :math:`\gamma` of scikit-learn and the parameter :math:`c` of :cite:`miyamoto2003`
    are :math:`1 / (2 \sigma^2)`; see `gamma` and `from_gamma`.

    Implements :cite:`filippone2010`, eq. (18)-(19).

    Parameters
    ----------
    sigma : float
        The width, in the unit of the features.

    Examples
    --------
    >>> from typicality.kernels import Gaussian
    >>> Gaussian.from_gamma(2.0).sigma
    0.5
    >>> Gaussian(0.5).gamma
    2.0
    """

    sigma: float = 1.0

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        r"""The kernel :math:`e^{-\gamma \lVert x - y \rVert^2}`, given scikit-learn's gamma."""
        if not (math.isfinite(gamma) and gamma > 0):
            raise ValueError(f"gamma must be positive and finite, got {gamma!r}.")
        return cls(math.sqrt(0.5 / gamma))

    @property
    def gamma(self) -> float:
        """The parameter gamma of scikit-learn: 1 / (2 sigma^2)."""
        return 0.5 / self.sigma**2

    def log_profile(self, distance: Floats, out: Floats | None = None) -> Floats:
        return np.multiply(distance, -self.gamma, out=out)

    def support_radius(self, rtol: float) -> float:
        return self.sigma * math.sqrt(2.0 * math.log(1.0 / rtol)) if rtol > 0 else math.inf

    @property
    def compiled_form(self) -> "GaussianForm | None":
        return GaussianForm(self.gamma) if type(self) is Gaussian else None

    def single_precision(self, n_features: int) -> SinglePrecision:
        scale = math.sqrt(self.gamma * math.log2(math.e))
        return SinglePrecision(scale, min(1.5 * math.sqrt(n_features), 8.0), lowest=1e-5)


class GaussianForm(NamedTuple):
    """The compiled form and its parameter."""

    scale: float

    @staticmethod
    def functions() -> CompiledKernel:
        return _exponential(lambda form, difference: difference * difference)


@dataclass(frozen=True)
class Laplacian(Stationary):
    r"""The Laplacian kernel :math:`K(x, y) = e^{-\lVert x - y \rVert_1 / \sigma}`.

    The distance is the sum of absolute differences, as in
    :func:`sklearn.metrics.pairwise.laplacian_kernel`, with gamma = :math:`1 / \sigma`. This kernel
    decreases more slowly than the Gaussian for far rows.

    Parameters
    ----------
    sigma : float
        The width, in the unit of the features.
    """

    metric: ClassVar[str] = "cityblock"
    order: ClassVar[int] = 1

    sigma: float = 1.0

    def log_profile(self, distance: Floats, out: Floats | None = None) -> Floats:
        return np.divide(distance, -self.sigma, out=out)

    def support_radius(self, rtol: float) -> float:
        return self.sigma * math.log(1.0 / rtol) if rtol > 0 else math.inf

    @property
    def compiled_form(self) -> "LaplacianForm | None":
        return LaplacianForm(1.0 / self.sigma) if type(self) is Laplacian else None

    def single_precision(self, n_features: int) -> SinglePrecision:
        scale = 1.0 / self.sigma * math.log2(math.e)
        return SinglePrecision(scale, 3.0 * math.sqrt(n_features), lowest=1e-5)


class LaplacianForm(NamedTuple):
    """The compiled form and its parameter."""

    scale: float

    @staticmethod
    def functions() -> CompiledKernel:
        return _exponential(lambda form, difference: abs(difference))


def _exponential(part: Callable[..., float]) -> CompiledKernel:
    """The functions of exp(-scale distance), the distance a sum of parts."""
    from typicality.compiled.arithmetic import (
        exp,
        lowest_exponent,
        one_minus_exp,
        one_minus_power_32,
        power_32,
    )

    def profile(form, distance):
        return exp(-form.scale * distance, lowest_exponent(8))

    def complement(form, distance):
        return one_minus_exp(-form.scale * distance, lowest_exponent(8))

    def profile_32(form, distance):
        return power_32(distance)

    def complement_32(form, distance):
        return one_minus_power_32(distance)

    def log_profile(form, distance):
        return -form.scale * distance

    def ratio(form, distance, nearest):
        return exp(-form.scale * (distance - nearest), lowest_exponent(8))

    def distance_at(form, share):
        return -np.log1p(-share) / form.scale

    return CompiledKernel(
        part, profile, complement, profile_32, complement_32, log_profile, ratio, distance_at
    )


@dataclass(frozen=True)
class Cauchy(Stationary):
    r"""The Cauchy kernel :math:`K(x, y) = (1 + \lVert x - y \rVert^2 / \sigma^2)^{-1}`.

    This kernel decreases slowly. So it distinguishes far rows for which a Gaussian of the same
    width is practically zero.

    Parameters
    ----------
    sigma : float
        The width, in the unit of the features. The kernel is 1/2 at this distance.
    """

    sigma: float = 1.0

    def profile(self, distance: Floats) -> Floats:
        return 1.0 / (1.0 + self._relative(distance))

    def log_profile(self, distance: Floats, out: Floats | None = None) -> Floats:
        values = self._relative(distance, out)
        np.log1p(values, out=values)
        return np.negative(values, out=values)

    def complement(self, distance: Floats, out: Floats | None = None) -> Floats:
        relative = self._relative(distance, out)
        relative /= 1.0 + relative
        return relative

    def support_radius(self, rtol: float) -> float:
        return self.sigma * math.sqrt(1.0 / rtol - 1.0) if rtol > 0 else math.inf

    @property
    def compiled_form(self) -> "CauchyForm | None":
        return CauchyForm(self.sigma**-2) if type(self) is Cauchy else None

    def single_precision(self, n_features: int) -> SinglePrecision:
        scale = math.sqrt(self.sigma**-2)
        return SinglePrecision(scale, min(1.5 * math.sqrt(n_features), 8.0), lowest=0.0)

    def _relative(self, sqdist: Floats, out: Floats | None = None) -> Floats:
        return np.divide(sqdist, self.sigma**2, out=out)


class CauchyForm(NamedTuple):
    """The compiled form and its parameter."""

    scale: float

    @staticmethod
    def functions() -> CompiledKernel:
        from typicality.compiled.arithmetic import ONE_32, UNIT_32

        largest = 1e300  # a number over itself: infinity would be none
        largest_32 = np.float32(1e38)

        def part(form, difference):
            return difference * difference

        def profile(form, distance):
            return 1.0 / (1.0 + form.scale * distance)

        def complement(form, distance):
            relative = min(form.scale * distance, largest)
            return relative / (1.0 + relative)

        def profile_32(form, distance):
            return UNIT_32 / (ONE_32 + distance)

        def complement_32(form, distance):
            relative = min(distance, largest_32)
            return relative * (UNIT_32 / (ONE_32 + relative))  # the product of both would overflow

        def log_profile(form, distance):
            return -np.log1p(form.scale * distance)

        def ratio(form, distance, nearest):
            far = 1.0 + min(form.scale * distance, largest)
            return (1.0 + min(form.scale * nearest, largest)) / far

        def distance_at(form, share):
            return share / (1.0 - share) / form.scale

        return CompiledKernel(
            part, profile, complement, profile_32, complement_32, log_profile, ratio, distance_at
        )
