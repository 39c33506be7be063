"""Rows sorted by the cluster they prefer, written as the formulas stand."""

import numpy as np

from typicality.membership import labels


def members(rule, X, sample_weight, sqdist):
    """Mass, mean and mean distance to that mean of the rows of each label."""
    preferred = labels(rule, sqdist)
    n_clusters = sqdist.shape[1]
    mass, distance = np.zeros(n_clusters), np.zeros(n_clusters)
    means = np.zeros((n_clusters, X.shape[1]))
    for k in range(n_clusters):
        own = preferred == k
        mass[k] = sample_weight[own].sum()
        if mass[k] > 0:
            means[k] = np.average(X[own], axis=0, weights=sample_weight[own])
            lengths = np.linalg.norm(X[own] - means[k], axis=1)
            distance[k] = np.average(lengths, weights=sample_weight[own])
    return mass, means, distance


def nearest_sqdist(X):
    """The squared distance of each row to its nearest other row."""
    sqdist = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(sqdist, np.inf)
    return sqdist.min(axis=1)
