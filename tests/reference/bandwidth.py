"""Rules for the bandwidth, written as the formulas stand; rows are distinct and of weight one."""

import math

import numpy as np


def distances(X):
    """Distances of all pairs, shape (n, n)."""
    return np.array([[math.dist(x, y) for y in X] for x in X])


def median_distance(X):
    D = distances(X)
    return np.median([D[i, j] for i in range(len(X)) for j in range(i)])


def neighbour_distance(X, k=10):
    return np.median([sorted(row)[min(k, len(X) - 1)] for row in distances(X)])


def scott(X):
    n, d = X.shape
    return math.sqrt(np.mean([np.var(x) for x in X.T])) * n ** (-1 / (d + 4))


def silverman(X):
    n, d = X.shape
    return math.sqrt(np.mean([np.var(x) for x in X.T])) * (n * (d + 2) / 4) ** (-1 / (d + 4))


def loo_log_likelihood(X, sigma):
    """The sum over rows of the log density that the other rows estimate there."""
    n, d = X.shape
    total = 0.0
    for h in range(n):
        kernel = [math.exp(-(math.dist(X[h], x) ** 2) / (2 * sigma**2)) for x in X]
        w = 1 / n
        s = sum(w * value for value in kernel)
        total += math.log((s - w) / (1 - w)) - d * math.log(sigma * math.sqrt(2 * math.pi))
    return total
