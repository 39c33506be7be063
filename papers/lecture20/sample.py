"""The rows that all sections look at, and a fit of fuzzy c-means to them."""

import numpy as np
from numpy.typing import NDArray

from typicality import FuzzyCMeans
from typicality.datasets import make_three_gaussians

__all__ = ["N_CLUSTERS", "Doubles", "fitted", "rows", "squared_distances"]

N_CLUSTERS = 3

Doubles = NDArray[np.float64]


def rows() -> tuple[Doubles, NDArray[np.int_]]:
    """Three Gaussian clusters of 150, 100 and 100 rows, two of them close to each other."""
    return make_three_gaussians(150, 100, random_state=0)


def fitted(X: Doubles, m: float = 2.0) -> FuzzyCMeans:
    """Fuzzy c-means, run until rounding is all that is left to gain."""
    return FuzzyCMeans(N_CLUSTERS, m=m, n_init=5, tol=1e-12, random_state=0).fit(X)


def squared_distances(X: Doubles, centers: Doubles) -> Doubles:
    """Of each row to each centre."""
    sqdist: Doubles = np.sum((X[:, None] - centers) ** 2, axis=2)
    return sqdist
