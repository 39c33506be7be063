r"""Kernels: frozen value objects with an exact block, an exact diagonal and exact distances.

A kernel is a scalar product :math:`K(x, y) = \Phi(x)^\top \Phi(y)` of rows mapped to another space.
What the algorithms need of it are distances there,

.. math:: \lVert \Phi(x) - \Phi(y) \rVert^2 = K(x, x) + K(y, y) - 2 K(x, y),

so a kernel gives these itself (`sqdist`), without the cancellation of the formula where it can.
Implements :cite:`filippone2010`, eq. (14)-(15), (18).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

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
    "Polynomial",
    "Stationary",
    "named_kernel",
]

Floats = NDArray[np.floating]

_SMALLEST_WIDTH = 1e-150
_DIAGONAL_BLOCK = 32  # rows at a time where a diagonal can only be cut out of a block


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


@dataclass(frozen=True)
class Linear:
    r"""The scalar product :math:`K(x, y) = x^\top y`: the space it induces is the input space.

    Implements :cite:`filippone2010`, after eq. (17): with it PCM in kernel-induced spaces is the
    standard PCM.
    """

    positive_semidefinite = True

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        return _products(X, Y)

    def diag(self, X: Floats) -> Floats:
        return _sqnorm(X)

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        return _distances(X, Y, "sqeuclidean")


class Stationary:
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

    def log_profile(self, distance: Floats, out: Floats | None = None) -> Floats:
        r"""The logarithm of the profile, :math:`\log \kappa`; into `out`, where that is given."""
        raise NotImplementedError

    def complement(self, distance: Floats, out: Floats | None = None) -> Floats:
        r"""One minus the profile, :math:`1 - \kappa`, to full relative precision."""
        values = self.log_profile(distance, out)
        np.expm1(values, out=values)
        return np.negative(values, out=values)

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        return self.profile(self.distances(X, Y))

    def diag(self, X: Floats) -> Floats:
        return np.ones(len(X))

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        distances = self.distances(X, Y)
        return 2.0 * self.complement(distances, out=distances)

    def distances(self, X: Floats, Y: Floats) -> Floats:
        """What `profile` takes, shape (len(X), len(Y))."""
        return _distances(X, Y, self.metric)


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

    def _relative(self, sqdist: Floats, out: Floats | None = None) -> Floats:
        return np.divide(sqdist, self.sigma**2, out=out)


@dataclass(frozen=True)
class Polynomial(ByDefinition):
    r"""The polynomial kernel :math:`K(x, y) = (\gamma \, x^\top y + c_0)^p`.

    Parameters
    ----------
    degree : int, default=3
        The power p.
    gamma : float, optional
        The factor of the scalar product; one over the number of features, as in scikit-learn, when
        left out.
    coef0 : float, default=1.0
        The constant; not negative, or the kernel is no scalar product.
    """

    degree: int = 3
    gamma: float | None = None
    coef0: float = 1.0

    @property
    def positive_semidefinite(self) -> bool:
        whole = self.degree >= 1 and float(self.degree).is_integer()
        return whole and self.coef0 >= 0 and (self.gamma is None or self.gamma > 0)

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        return self._power(_products(X, Y), X.shape[1])

    def diag(self, X: Floats) -> Floats:
        return self._power(_sqnorm(X), X.shape[1])

    def _power(self, products: Floats, n_features: int) -> Floats:
        gamma = 1.0 / n_features if self.gamma is None else self.gamma
        values: Floats = (gamma * products + self.coef0) ** self.degree
        return values


@dataclass(frozen=True)
class Cosine:
    r"""The cosine of the angle, :math:`K(x, y) = x^\top y / (\lVert x \rVert \lVert y \rVert)`.

    A row of zeros has no direction; it is mapped to the origin, as in
    :func:`sklearn.metrics.pairwise.cosine_similarity`.
    """

    positive_semidefinite = True

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        return _products(_directions(X), _directions(Y))

    def diag(self, X: Floats) -> Floats:
        return np.asarray(X.any(axis=1), dtype=np.float64)

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        return _distances(_directions(X), _directions(Y), "sqeuclidean")


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


def _sqnorm(X: Floats) -> Floats:
    rows = X.astype(np.float64, copy=False)
    squares: Floats = np.einsum("ij,ij->i", rows, rows)
    return squares


def _products(X: Floats, Y: Floats) -> Floats:
    """Scalar products pair by pair: BLAS would make a row depend on its batch."""
    products: Floats = np.einsum("ij,kj->ik", X, Y, dtype=np.float64)
    return products


def _directions(X: Floats) -> Floats:
    largest = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
    scaled = X / np.where(largest > 0, largest, 1.0)  # squares of tiny numbers would vanish
    norms = np.sqrt(_sqnorm(scaled))[:, None]
    directions: Floats = scaled / np.where(norms > 0, norms, 1.0)
    return directions


def _distances(X: Floats, Y: Floats, metric: str) -> Floats:
    """Pair by pair, so that a distance does not depend on the other rows, nor on where zero is."""
    distances: Floats = cdist(X, Y, metric)
    return distances
