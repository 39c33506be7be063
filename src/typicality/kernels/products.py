"""Kernels of scalar products, of mixed columns, and any function of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from scipy.sparse import issparse

from typicality._sparse import is_sparse, sparse_products
from typicality._typing import Doubles, Floats
from typicality.kernels.base import ByDefinition
from typicality.kernels.stationary import Gaussian, pair_distances

_DIAGONAL_BLOCK = 32  # rows at a time where a diagonal can only be cut out of a block


@dataclass(frozen=True)
class Linear:
    r"""The scalar product :math:`K(x, y) = x^\top y`, whose space is the input space.

    Implements :cite:`filippone2010`, after eq. (17): with this kernel, kernel PCM is standard PCM.
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
        The factor of the scalar product. By default 1 / n_features, as in scikit-learn.
    coef0 : float, default=1.0
        The constant, not negative. (With a negative constant, the kernel would not be a scalar
        product.)
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
        return (gamma * products + self.coef0) ** self.degree


@dataclass(frozen=True)
class Cosine:
    r"""The cosine of the angle, :math:`K(x, y) = x^\top y / (\lVert x \rVert \lVert y \rVert)`.

    A row of zeros is mapped to the origin, as in
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
    r"""A kernel for numbers and categories: a Gaussian, times a factor per category that differs.

    .. math:: K(x, y) = e^{-\lVert x - y \rVert^2 / (2 \sigma^2)}
        \prod_j \lambda_j^{[c_j \ne d_j]}

    Here x and y are the numbers of two rows, and :math:`c_j` and :math:`d_j` their categories in
    column j. The rows must be those that :class:`typicality.preprocessing.MixedColumns` returns.
    They have the numbers first, and then one column per category, which is :math:`\sqrt{-\ln
    \lambda_j}` for rows of this category and 0 otherwise.

    Implements :cite:`aitchison1976` and :cite:`li2003`, the kernel of unordered categories.

    Parameters
    ----------
    n_numeric : int
        The number of columns that hold numbers. They come first.
    sigma : float, optional
        The width for the numbers. By default, the parameter `sigma` of the estimator is used. A
        rule of the estimator uses only the numbers; if there are no numbers, the width is 1.

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
        """The factors of the columns with which this kernel is a Gaussian of width `sigma`."""
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
    return np.einsum("ij,ij->i", rows, rows)


def _products(X: Floats, Y: Floats) -> Floats:
    """Scalar products pair by pair: BLAS would make a row depend on its batch."""
    if is_sparse(X) or is_sparse(Y):
        return sparse_products(X, Y)
    return np.einsum("ij,kj->ik", X, Y, dtype=np.float64)


def _directions(X: Floats) -> Floats:
    if is_sparse(X):
        return X.directions
    largest = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
    scaled = X / np.where(largest > 0, largest, 1.0)  # squares of tiny numbers would vanish
    norms = np.sqrt(_sqnorm(scaled))[:, None]
    return scaled / np.where(norms > 0, norms, 1.0)


@dataclass(frozen=True)
class Function(ByDefinition):
    """A kernel from a function of two arrays of rows, as in :class:`sklearn.svm.SVC`.

    Parameters
    ----------
    function : callable
        `function(X, Y)` returns an array of shape (len(X), len(Y)). If your function takes two
        single rows, use ``functools.partial(sklearn.metrics.pairwise.pairwise_kernels,
        metric=function)``.
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
class FromScikitLearn:
    """A kernel function of scikit-learn, looked up when called so that it can be pickled."""

    name: Annotated[str, Literal["additive_chi2", "chi2", "sigmoid"]]

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        from sklearn.metrics.pairwise import pairwise_kernels

        return pairwise_kernels(X, Y, metric=self.name)
