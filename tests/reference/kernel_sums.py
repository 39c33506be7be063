"""Kernel sums written plainly, one point at a time: the slow twins of the compiled ones."""

import numpy as np


def sums_at(kernel, rows, weights, points, *, complement=False):
    """`K(points, rows) @ weights`, or with `1 - K`, each entry in full precision."""
    out = np.empty((len(points), weights.shape[1]))
    for i, point in enumerate(points):
        values = 0.5 * kernel.sqdist(point[None], rows) if complement else kernel(point[None], rows)
        out[i] = (values[0][:, None] * weights).sum(axis=0)
    return out


def coincidences(kernel, rows, weights, sample_weight, nearest, points):
    """Weight and copies of the rows in the same place as each point."""
    here = 0.5 * kernel.sqdist(points, rows) <= nearest
    return here @ weights, here @ sample_weight


def log_sums(kernel, rows, weights, nearest, points):
    """Logarithms of the sums over the rows in other places, minus infinity without one."""
    out = np.full(len(points), -np.inf)
    for i, point in enumerate(points):
        distances = kernel.distances(point[None], rows)[0]
        others = (kernel.complement(distances) > nearest) & (weights > 0)
        exponents = kernel.log_profile(distances)[others] + np.log(weights[others])
        if len(exponents):
            highest = exponents.max()
            out[i] = highest + np.log(np.exp(exponents - highest).sum())
    return out
