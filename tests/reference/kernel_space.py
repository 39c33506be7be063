"""Prototypes in a kernel-induced space, written as the formulas of the papers stand."""

import numpy as np
from scipy.special import logsumexp


def sqdist(K, K_new, diag_new, u):
    """filippone2010, eq. (16) and (28): the squared distances of rows to weighted means.

    K: kernel of the training rows; K_new: of the rows against them; u: unnormalised, (n, c).
    """
    b = 1 / u.sum(axis=0)
    cross = b * (K_new @ u)
    square = b**2 * np.einsum("rk,sk,rs->k", u, u, K)
    return diag_new[:, None] - 2 * cross + square


def step(rule, K, sample_weight, u):
    """Squared distances to the means under u, the next unnormalised weights, the objective."""
    d = np.maximum(sqdist(K, K, np.diag(K), u), 0)
    memberships = rule.memberships(d)
    weights = rule.weights(memberships) * sample_weight[:, None]
    objective = float(sample_weight @ rule.objective(memberships, d))
    return d, weights, objective


def one_cluster(K, gamma=1.0, n_iter=500):
    """filippone2010, table I: typicalities with eta fixed after eq. (27)."""
    u = np.full(len(K), 1 / len(K))
    eta = None
    for _ in range(n_iter):
        b = 1 / u.sum()
        d = np.diag(K) - 2 * b * (K @ u) + b**2 * (u @ K @ u)
        if eta is None:
            eta = gamma * b * (u @ d)
        u = np.exp(-d / eta)
    return u, eta


def leave_one_out(K, weights, h):
    """The mean similarity of row h to the others, with its own weight taken away."""
    others = np.arange(len(K)) != h
    return K[h, others] @ weights[others] / weights[others].sum()


def log_score(X, weights, row, kernel):
    """The logarithm of the mean similarity of a row to the others, without one copy of itself."""
    same = (row == X).all(axis=1)
    own = weights[same].sum()
    unit = own / max(same.sum(), 1)
    log_kernel = kernel.log_profile(kernel.distances(row[None], X[~same]))[0]
    rest = [np.log(own - unit)] if same.sum() > 1 else []
    return logsumexp([*(log_kernel + np.log(weights[~same])), *rest]) - np.log1p(-unit)
