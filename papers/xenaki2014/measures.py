"""The measures of the tables: Rand (RM), generalised Rand (GRM), success rate (SR)."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics import rand_score
from sklearn.metrics.cluster import contingency_matrix

__all__ = ["generalized_rand_score", "rand_score", "success_rate"]

_BLOCK = 500


def generalized_rand_score(truth: NDArray[np.int_], memberships: NDArray[np.float64]) -> float:
    """Mean over all pairs of 1 - |E_U - E_P|, where E = 1 - |u_i - u_j| / sqrt 2.

    Rows of the memberships are divided by their sums. E_P is 1 where both rows are of one class.
    """
    u, n = memberships / memberships.sum(axis=1, keepdims=True), len(truth)
    total = 0.0
    for begin in range(0, n, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        alike = 1 - cdist(u[block], u) / np.sqrt(2)
        total += np.sum(1 - np.abs(alike - (truth[block, None] == truth)))
    return float((total - n) / (n * (n - 1)))  # a row agrees with itself


def success_rate(truth: NDArray[np.int_], labels: NDArray[np.int_]) -> float:
    """Share of rows in matched cells: the largest cell first, then the largest of what is left."""
    table, matched = contingency_matrix(truth, labels), 0
    while table.size:
        row, column = np.unravel_index(table.argmax(), table.shape)
        matched += table[row, column]
        table = np.delete(np.delete(table, row, axis=0), column, axis=1)
    return float(matched / len(truth))
