"""Kernels of a distance: Gaussian, Laplacian, Cauchy."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from typicality.kernels.base import Floats, pair_distances

_SMALLEST_WIDTH = 1e-150


class GaussianTwin(NamedTuple):
    """What compiled code knows of a Gaussian kernel."""

    scale: float


class LaplacianTwin(NamedTuple):
    """What compiled code knows of a Laplacian kernel."""

    scale: float


class CauchyTwin(NamedTuple):
    """What compiled code knows of a Cauchy kernel."""

    scale: float


class Stationary(ABC):
    r"""Kernels of a distance, with :math:`K(x, x) = 1`: rows are mapped onto the unit sphere.

    .. math:: K(x, y) = \kappa(\delta(x, y)), \qquad
        \lVert \Phi(x) - \Phi(y) \rVert^2 = 2 (1 - \kappa(\delta(x, y)))

    A subclass gives the distance :math:`\delta` (`metric`, a name of
    :func:`scipy.spatial.distance.cdist`), the profile :math:`\kappa`, its logarithm, which does not
    underflow, and its complement :math:`1 - \kappa`, which keeps all digits for wide kernels.
    """

    metric: ClassVar[str] = "sqeuclidean"
    order: ClassVar[int] = 2  # near zero, squared distances grow as this power of a displacement
    positive_semidefinite = True
    on_sphere = True

    sigma: float

    def __post_init__(self) -> None:
        number = isinstance(self.sigma, Real)
        if not (number and _SMALLEST_WIDTH <= self.sigma <= 1 / _SMALLEST_WIDTH):
            raise ValueError(
                f"sigma must be positive and finite (its square must be, too), got {self.sigma!r}: "
                "it is the width of the kernel, in the unit of the features. (Rules for it, like "
                "'auto', are for the parameter sigma of an estimator.)"
            )

    def profile(self, distance: Floats) -> Floats:
        r"""The kernel as a function of the distance, :math:`\kappa`."""
        values = self.log_profile(distance)
        return np.exp(values, out=values)

    @abstractmethod
    def log_profile(self, distance: Floats, out: Floats | None = None) -> Floats:
        r"""The logarithm of the profile, :math:`\log \kappa`; into `out`, where that is given."""

    def complement(self, distance: Floats, out: Floats | None = None) -> Floats:
        r"""One minus the profile, :math:`1 - \kappa`, to full relative precision."""
        values = self.log_profile(distance, out)
        np.expm1(values, out=values)
        return np.negative(values, out=values)

    def support_radius(self, rtol: float) -> float:
        """The distance (by the metric, not its square) beyond which no value exceeds `rtol`.

        Infinite where none is known.
        """
        return math.inf

    @property
    def twin(self) -> Any:
        """Parameters for compiled sums, whose type says which kernel it is; None without one.

        A subclass may have another profile, so it does not inherit the twin.
        """
        return None

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        return self.profile(self.distances(X, Y))

    def diag(self, X: Floats) -> Floats:
        return np.ones(len(X))

    def log(self, X: Floats, Y: Floats) -> Floats:
        """The logarithms of kernel values, shape (len(X), len(Y)); they do not underflow."""
        distances = self.distances(X, Y)
        return self.log_profile(distances, out=distances)

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        distances = self.distances(X, Y)
        return 2.0 * self.complement(distances, out=distances)

    def distances(self, X: Floats, Y: Floats) -> Floats:
        """What `profile` takes, shape (len(X), len(Y))."""
        return pair_distances(X, Y, self.metric)


@dataclass(frozen=True)
class Gaussian(Stationary):
    r"""The Gaussian kernel :math:`K(x, y) = e^{-\lVert x - y \rVert^2 / (2 \sigma^2)}`.

    scikit-learn writes it with :math:`\gamma`, :cite:`miyamoto2003` with :math:`c`; both are
    :math:`1 / (2 \sigma^2)`: see `gamma` and `from_gamma`.

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
        r"""The kernel :math:`e^{-\gamma \lVert x - y \rVert^2}`; gamma is `c` of miyamoto2003."""
        if not (math.isfinite(gamma) and gamma > 0):
            raise ValueError(f"gamma must be positive and finite, got {gamma!r}.")
        return cls(math.sqrt(0.5 / gamma))

    @property
    def gamma(self) -> float:
        """The width as scikit-learn writes it: 1 / (2 sigma^2)."""
        return 0.5 / self.sigma**2

    def log_profile(self, distance: Floats, out: Floats | None = None) -> Floats:
        return np.multiply(distance, -self.gamma, out=out)

    def support_radius(self, rtol: float) -> float:
        return self.sigma * math.sqrt(2.0 * math.log(1.0 / rtol)) if rtol > 0 else math.inf

    @property
    def twin(self) -> GaussianTwin | None:
        return GaussianTwin(self.gamma) if type(self) is Gaussian else None


@dataclass(frozen=True)
class Laplacian(Stationary):
    r"""The Laplacian kernel :math:`K(x, y) = e^{-\lVert x - y \rVert_1 / \sigma}`.

    The distance is the sum of absolute differences, as in
    :func:`sklearn.metrics.pairwise.laplacian_kernel`, whose gamma is :math:`1 / \sigma`. Heavier
    tails than the Gaussian, and a cusp at zero.

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
    def twin(self) -> LaplacianTwin | None:
        return LaplacianTwin(1.0 / self.sigma) if type(self) is Laplacian else None


@dataclass(frozen=True)
class Cauchy(Stationary):
    r"""The Cauchy kernel :math:`K(x, y) = (1 + \lVert x - y \rVert^2 / \sigma^2)^{-1}`.

    Tails that never vanish: far rows are told apart where a Gaussian of the same width has none
    left.

    Parameters
    ----------
    sigma : float
        The width, in the unit of the features; there the kernel is 1/2.
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
    def twin(self) -> CauchyTwin | None:
        return CauchyTwin(self.sigma**-2) if type(self) is Cauchy else None

    def _relative(self, sqdist: Floats, out: Floats | None = None) -> Floats:
        return np.divide(sqdist, self.sigma**2, out=out)
