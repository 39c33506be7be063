"""A Gaussian kernel whose width follows the density of the rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from typicality.kernels.base import Floats, pair_distances

WIDTH_SHARE = 0.283  # of the distance to the k-th neighbour


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

    rows: Floats
    n_neighbors: int = 22
    dimension: float | None = None

    order = 2

    @property
    def positive_semidefinite(self) -> bool:
        return self.dimension is None or self.dimension >= self.rows.shape[1]

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        """The exact block of kernel values, shape (len(X), len(Y))."""
        values: Floats = np.exp(self._log(X, Y))
        return values

    def diag(self, X: Floats) -> Floats:
        return np.ones(len(X))

    def sqdist(self, X: Floats, Y: Floats) -> Floats:
        sqdist: Floats = -2.0 * np.expm1(self._log(X, Y))
        return sqdist

    def widths(self, X: Floats) -> NDArray[np.float64]:
        """The width at each row; the neighbours of a reference row are the others."""
        k = min(self.n_neighbors, len(self.rows) - 1)
        if k < 1:
            return np.ones(len(X))
        distances = self._search.kneighbors(X, k + 1)[0]
        is_reference = distances[:, 0] <= self._nothing
        return np.asarray(
            WIDTH_SHARE * np.where(is_reference, distances[:, k], distances[:, k - 1])
        )

    @cached_property
    def _search(self) -> Any:
        return NearestNeighbors().fit(self.rows)

    @cached_property
    def _nothing(self) -> float:
        """A distance that is zero but for rounding."""
        return float(1e-12 * np.ptp(self.rows, axis=0).max())

    def _log(self, X: Floats, Y: Floats) -> Floats:
        one, other = self.widths(X)[:, None], self.widths(Y)[None, :]
        both = one**2 + other**2
        dimension = self.rows.shape[1] if self.dimension is None else self.dimension
        log: Floats = 0.5 * dimension * np.log(2.0 * one * other / both)
        log -= 0.5 * pair_distances(X, Y, "sqeuclidean") / both
        return log
