"""Every row in a cluster, for methods that leave rows out."""

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

__all__ = ["fill"]


def fill(X: NDArray[np.float64], labels: NDArray[np.int_]) -> NDArray[np.int_]:
    """Rows of no cluster go to that of the nearest row that has one."""
    kept = labels >= 0
    if kept.all() or not kept.any():
        return labels
    filled: NDArray[np.int_] = KNeighborsClassifier(1).fit(X[kept], labels[kept]).predict(X)
    return filled
