"""The dual of the support vector domain description, solved two weights at a time."""

import numpy as np


def weights(K, nu, *, tol=1e-10):
    """filippone2010, section IV-A: min a'Ka - sum a_h k_hh, 0 <= a_h <= 1 / (n nu), sum a_h = 1.

    While the gradient is smaller at a weight that may grow than at one that may shrink, the two
    exchange what lowers the objective most.
    """
    n, diag = len(K), np.diag(K)
    ceiling = 1 / (n * nu)
    a = np.full(n, 1 / n)
    while True:
        gradient = 2 * K @ a - diag
        grows = np.argmin(np.where(a < ceiling, gradient, np.inf))
        shrinks = np.argmax(np.where(a > 0, gradient, -np.inf))
        gain = gradient[shrinks] - gradient[grows]
        if gain <= tol:
            return a
        curvature = 2 * (diag[grows] + diag[shrinks] - 2 * K[grows, shrinks])
        step = min(gain / curvature, ceiling - a[grows], a[shrinks])
        a[grows] = min(a[grows] + step, ceiling)
        a[shrinks] = max(a[shrinks] - step, 0.0)


def sqdist(K, a):
    """filippone2010, eq. (21): the squared distances of the rows to the centre."""
    return np.diag(K) - 2 * K @ a + a @ K @ a
