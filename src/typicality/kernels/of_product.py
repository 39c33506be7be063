"""Kernels of scalar products: linear, polynomial, cosine."""

from dataclasses import dataclass

import numpy as np

from typicality.kernels.base import ByDefinition, Floats, pair_distances


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
        return pair_distances(_directions(X), _directions(Y), "sqeuclidean")


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
