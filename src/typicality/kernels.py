r"""Kernels: frozen value objects with an exact block, an exact diagonal and exact distances.

A kernel is a scalar product :math:`K(x, y) = \Phi(x)^\top \Phi(y)` of rows mapped to another space.
What the algorithms need of it are distances there,

.. math:: \lVert \Phi(x) - \Phi(y) \rVert^2 = K(x, x) + K(y, y) - 2 K(x, y),

so a kernel gives these itself (`sqdist`), without the cancellation of the formula where it can.
Implements :cite:`filippone2010`, eq. (14)-(15), (18).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from scipy.sparse import issparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from typicality._cached import cached_property
from typicality._sparse import is_sparse, sparse_distances, sparse_products
from typicality._typing import Doubles, Floats

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


WIDTH_SHARE = 0.283  # of the distance to the k-th neighbour, the width of a local kernel

_SMALLEST_WIDTH = 1e-150  # its square does not vanish
_DIAGONAL_BLOCK = 32  # rows at a time where a diagonal can only be cut out of a block
_MANY_DIMENSIONS = 8  # where a k-d tree looks at most rows anyway
_FEW_NEIGHBOURS = 16  # a k-d tree is quicker for fewer than a sixteenth of the rows
_PAIRS_AT_A_TIME = 2**22
_COMPILED_METRICS = ("sqeuclidean", "euclidean", "cityblock")
_MANY_FEATURES = 16  # where distances are most of the work, and compiled code is quicker
_WORTH_COMPILING = 2**26  # features of all pairs: SciPy takes .03 s, loading numba takes longer


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
    distances: Doubles = cdist(X, Y, metric)
    return distances


def compiled_distances(X: Floats, Y: Floats, metric: str) -> Doubles:
    """The same by compiled code: nearly as quick as a matrix product, and without cancellation."""
    from typicality.compiled.distances import fill_distances  # numba takes a second to load

    form = LaplacianForm(1.0) if metric == "cityblock" else GaussianForm(1.0)
    dtype = np.result_type(X, Y)
    out = np.empty((len(X), len(Y)))
    fill_distances(form, np.ascontiguousarray(X, dtype), np.ascontiguousarray(Y, dtype), out)
    return np.sqrt(out, out=out) if metric == "euclidean" else out


# ---- kernels of a distance ----------------------------------------------------------------------


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
    def compiled_form(self) -> Any:
        """Parameters of the compiled form; None without one: then the array form is used.

        A named tuple whose class has a static method `functions`, which imports numba and returns
        :class:`CompiledKernel`. A subclass may have another profile, so it does not inherit the
        form.
        """
        return None

    def single_precision(self, n_features: int) -> SinglePrecision:
        """Where compiled sums may use single precision; nowhere, if a kernel does not say it."""
        return SinglePrecision(scale=1.0, widest=-1.0, lowest=0.0)

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


@dataclass(frozen=True, eq=False)
class LocalGaussian:
    r"""A Gaussian kernel that is narrow where rows are dense and wide where they are sparse.

    .. math:: K(x, y) = \Big( \frac{2 h_x h_y}{h_x^2 + h_y^2} \Big)^{d/2}
        e^{-\lVert x - y \rVert^2 / (2 (h_x^2 + h_y^2))},

    where :math:`h_x` is 0.283 times the distance from x to the k-th nearest of some reference rows,
    x itself not counted. It is the cosine of two normal densities of these widths, so it is a
    scalar product with :math:`K(x, x) = 1`, if d is at least the number of features.

    Original to typicality, see docs/theory. A block costs the search for k neighbours of each row.

    Parameters
    ----------
    rows : array of shape (n, n_features)
        The reference rows; they should be distinct.
    n_neighbors : int, default=22
        The number k of the neighbour that tells the width.
    dimension : float, optional
        The exponent d; the number of features when left out. With the dimension of a curve or a
        sheet in many features, rows of different widths are less far apart.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.kernels import LocalGaussian
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 0.1, (100, 2)), rng.normal(9, 1.0, (100, 2))])
    >>> kernel = LocalGaussian(X, n_neighbors=10)
    >>> narrow, wide = kernel.widths(X[:100]), kernel.widths(X[100:])
    >>> bool(np.median(wide) > 5 * np.median(narrow))
    True
    """

    rows: Annotated[Floats, "_reference _coordinates"]
    n_neighbors: int = 22
    dimension: float | None = None

    order = 2
    on_sphere = True

    @property
    def positive_semidefinite(self) -> bool:
        return self.dimension is None or self.dimension >= self.rows.shape[1]

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        values = self.log(X, Y)
        return np.exp(values, out=values)

    def diag(self, X: Floats) -> Floats:
        return np.ones(len(X))

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        sqdist = np.expm1(self.log(X, Y))
        sqdist *= -2.0
        return sqdist

    def log(self, X: Floats, Y: Floats, *, widths: Doubles | None = None) -> Floats:
        """The logarithms of kernel values; `widths` are those at Y, where they are known."""
        one = self.widths(X)[:, None]
        other = (self.widths(Y) if widths is None else widths)[None, :]
        both = one**2 + other**2
        dimension = self.rows.shape[1] if self.dimension is None else self.dimension
        log: Floats = 0.5 * dimension * np.log(2.0 * one * other / both)
        log -= 0.5 * pair_distances(X, Y, "sqeuclidean") / both
        return log

    def widths(self, X: Floats) -> Doubles:
        """The width at each row; the neighbours of a reference row are the others."""
        k = min(self.n_neighbors, len(self.rows) - 1)
        if k < 1:
            return np.ones(len(X))
        widths = np.empty(len(X))
        step = max(1, _PAIRS_AT_A_TIME // len(self.rows))
        for start in range(0, len(X), step):
            nearest = self._distances(X[start : start + step], k + 1)
            at_row = nearest[:, 0] == 0.0
            widths[start : start + step] = np.where(at_row, nearest[:, k], nearest[:, k - 1])
        return np.maximum(WIDTH_SHARE * widths, _SMALLEST_WIDTH)

    def _distances(self, X: Floats, k: int) -> Doubles:
        """The distances to the k nearest reference rows, exact pair by pair."""
        if self.rows.shape[1] <= _MANY_DIMENSIONS and _FEW_NEIGHBOURS * k < len(self.rows):
            found = self._tree.query(X, k=np.arange(1, k + 1))[0]
            return np.asarray(found)
        distances = pair_distances(X, self.rows, "euclidean")
        return np.asarray(np.sort(np.partition(distances, k - 1, axis=1)[:, :k], axis=1))

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.rows)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_tree"}

    def __repr__(self) -> str:
        dimension = "" if self.dimension is None else f", dimension={self.dimension:.3g}"
        return f"LocalGaussian({len(self.rows)} rows, n_neighbors={self.n_neighbors}{dimension})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LocalGaussian)
            and (self.n_neighbors, self.dimension) == (other.n_neighbors, other.dimension)
            and np.array_equal(self.rows, other.rows)
        )

    def __hash__(self) -> int:
        return hash((self.n_neighbors, self.dimension, self.rows.tobytes()))


# ---- kernels of scalar products, and any function -----------------------------------------------


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
        return pair_distances(X, Y, "sqeuclidean")


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

    degree: float = 3
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
        if is_sparse(X):
            return np.asarray(X.sqnorms > 0, dtype=np.float64)
        return np.asarray(X.any(axis=1), dtype=np.float64)

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        return pair_distances(_directions(X), _directions(Y), "sqeuclidean")


@dataclass(frozen=True)
class Mixed:
    r"""Numbers and categories: a Gaussian kernel, times a factor for each category that differs.

    .. math:: K(x, y) = e^{-\lVert x - y \rVert^2 / (2 \sigma^2)}
        \prod_j \lambda_j^{[c_j \ne d_j]}

    Rows are as :class:`typicality.preprocessing.MixedColumns` makes them: first the numbers, then
    for each category a column that is :math:`\sqrt{-\ln \lambda_j}` in rows of that category and 0
    in others. Rows of different categories have the squared distance
    :math:`-2 \ln \lambda_j` there, so with these columns times :math:`\sigma` the kernel is a
    Gaussian. An estimator multiplies them, and computes its sums as those of a Gaussian kernel.

    Implements :cite:`aitchison1976` and :cite:`li2003`, the kernel of unordered categories.

    Parameters
    ----------
    n_numeric : int
        How many columns hold numbers; they come first.
    sigma : float, optional
        The width for these. When left out, the parameter `sigma` of the estimator gives the width
        or the rule for it, which then looks at the numbers only; without numbers a rule gives 1.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.kernels import Mixed
    >>> half = np.sqrt(-np.log(0.5))
    >>> X = np.array([[1.0, half, 0.0], [1.0, 0.0, half]])
    >>> Mixed(1, sigma=2.0)(X, X)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    n_numeric: int
    sigma: float | None = None
    positive_semidefinite = True

    def __post_init__(self) -> None:
        if not isinstance(self.n_numeric, int) or self.n_numeric < 0:
            raise ValueError(
                f"n_numeric must be a whole number, 0 or more, got {self.n_numeric!r}: it is "
                "the number of numeric columns, which come first."
            )
        if self.sigma is not None:
            Gaussian(self.sigma)  # checks it

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        return Gaussian(1.0)(self._in_widths(X), self._in_widths(Y))

    def diag(self, X: Floats) -> Floats:
        return np.ones(len(X))

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        return Gaussian(1.0).sqdist(self._in_widths(X), self._in_widths(Y))

    def factors(self, n_features: int, sigma: float) -> Doubles:
        """What columns are multiplied by to make the kernel a Gaussian of width `sigma`."""
        if self.n_numeric > n_features:
            raise ValueError(
                f"X has {n_features} columns, fewer than the n_numeric={self.n_numeric} numeric "
                "columns of kernels.Mixed. Pass rows made by preprocessing.MixedColumns."
            )
        return np.where(np.arange(n_features) < self.n_numeric, 1.0, sigma)

    def _in_widths(self, X: Floats) -> Floats:
        if self.sigma is None:
            raise ValueError(
                "kernels.Mixed has no sigma: set one, or pass the kernel to an estimator, "
                "which chooses it."
            )
        return np.asarray(X * (self.factors(X.shape[1], self.sigma) / self.sigma))


def _sqnorm(X: Floats) -> Floats:
    if is_sparse(X):
        return X.sqnorms
    rows = X.astype(np.float64, copy=False)
    squares: Floats = np.einsum("ij,ij->i", rows, rows)
    return squares


def _products(X: Floats, Y: Floats) -> Floats:
    """Scalar products pair by pair: BLAS would make a row depend on its batch."""
    if is_sparse(X) or is_sparse(Y):
        return sparse_products(X, Y)
    products: Floats = np.einsum("ij,kj->ik", X, Y, dtype=np.float64)
    return products


def _directions(X: Floats) -> Floats:
    if is_sparse(X):
        return X.directions
    largest = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
    scaled = X / np.where(largest > 0, largest, 1.0)  # squares of tiny numbers would vanish
    norms = np.sqrt(_sqnorm(scaled))[:, None]
    directions: Floats = scaled / np.where(norms > 0, norms, 1.0)
    return directions


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


@dataclass(frozen=True)
class _FromScikitLearn:
    """A kernel function of scikit-learn, looked up when called so that it can be pickled."""

    name: Annotated[str, Literal["additive_chi2", "chi2", "sigmoid"]]

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        from sklearn.metrics.pairwise import pairwise_kernels

        values: Floats = pairwise_kernels(X, Y, metric=self.name)
        return values


# ---- names --------------------------------------------------------------------------------------

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
        return Function(_FromScikitLearn(name))
    if name not in _KERNELS:
        raise ValueError(f"Unknown kernel {name!r}; the names are {', '.join(KERNEL_NAMES)}.")
    if sigma is None or name not in BANDWIDTH_KERNELS:
        kernel: Kernel = _KERNELS[name]()
    else:
        kernel = _KERNELS[name](float(sigma))
    return kernel
