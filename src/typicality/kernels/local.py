"""A Gaussian kernel whose width follows the density of the rows."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.spatial import cKDTree

from typicality._cached import cached_property
from typicality._typing import Doubles, Floats
from typicality.kernels.stationary import SMALLEST_WIDTH, pair_distances

WIDTH_SHARE = 0.283  # of the distance to the k-th neighbour, the width of a local kernel
_MANY_DIMENSIONS = 8  # where a k-d tree looks at most rows anyway
_FEW_NEIGHBOURS = 16  # a k-d tree is quicker for fewer than a sixteenth of the rows
_PAIRS_AT_A_TIME = 2**22


@dataclass(frozen=True, eq=False)
class LocalGaussian:
    r"""A Gaussian kernel that is narrow where rows are dense and wide where they are sparse.

    .. math:: K(x, y) = \Big( \frac{2 h_x h_y}{h_x^2 + h_y^2} \Big)^{d/2}
        e^{-\lVert x - y \rVert^2 / (2 (h_x^2 + h_y^2))},

    where :math:`h_x` is 0.283 times the distance from x to its k-th nearest reference row (other
    than x). This is the cosine similarity of two normal densities with these widths. So it is a
    scalar product with :math:`K(x, x) = 1`, if d is at least the number of features.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    rows : array of shape (n, n_features)
        The reference rows. They should be distinct.
    n_neighbors : int, default=22
        The number k of the neighbour that determines the width. Larger values give a wider kernel.
    dimension : float, optional
        The exponent d; by default the number of features. If the rows lie on a curve or a surface,
        its dimension can be used. Then rows with different widths are closer to each other.

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
        """The logarithms of the kernel values; `widths` are the widths at Y, if known."""
        one = self.widths(X)[:, None]
        other = (self.widths(Y) if widths is None else widths)[None, :]
        both = one**2 + other**2
        dimension = self.rows.shape[1] if self.dimension is None else self.dimension
        log: Floats = 0.5 * dimension * np.log(2.0 * one * other / both)
        log -= 0.5 * pair_distances(X, Y, "sqeuclidean") / both
        return log

    def widths(self, X: Floats) -> Doubles:
        """The width at each row. A reference row is not its own neighbour."""
        k = min(self.n_neighbors, len(self.rows) - 1)
        if k < 1:
            return np.ones(len(X))
        widths = np.empty(len(X))
        step = max(1, _PAIRS_AT_A_TIME // len(self.rows))
        for start in range(0, len(X), step):
            nearest = self._distances(X[start : start + step], k + 1)
            at_row = nearest[:, 0] == 0.0
            widths[start : start + step] = np.where(at_row, nearest[:, k], nearest[:, k - 1])
        return np.maximum(WIDTH_SHARE * widths, SMALLEST_WIDTH)

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
