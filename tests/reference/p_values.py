"""p-values from kernel sums, and procedures that reject them, one row and one sum at a time."""

import numpy as np
from scipy.special import logsumexp


def log_sums_without(log_K, weights):
    """The logarithm of the sum of each row over the other rows."""
    n = len(log_K)
    others = [np.arange(n) != i for i in range(n)]
    return np.array([logsumexp(log_K[i, o], b=weights[o]) for i, o in enumerate(others)])


def loo(log_K, log_K_new, weights):
    """The share of rows that are no more typical of the others than a new row is of all."""
    reference = log_sums_without(log_K, weights)
    new = [logsumexp(row, b=weights) for row in log_K_new]
    return np.array([(1 + np.sum(reference <= s)) / (len(log_K) + 1) for s in new])


def full(log_K, log_K_new, weights, new_weights):
    """The same where the new row also enters the sums of the others."""
    reference = log_sums_without(log_K, weights)
    out = []
    for row, w in zip(log_K_new, new_weights, strict=True):
        augmented = np.logaddexp(reference, np.log(w) + row)
        out.append((1 + np.sum(augmented <= logsumexp(row, b=weights))) / (len(log_K) + 1))
    return np.array(out)


def rejected(p, alpha):
    """Step up: the k smallest p-values for the largest k with p_(k) <= alpha k / m."""
    m = len(p)
    within = [k for k in range(1, m + 1) if np.sort(p)[k - 1] <= alpha * k / m]
    return p <= np.sort(p)[max(within) - 1] if within else np.zeros(m, dtype=bool)


def cross_conformal(fitted, X, new, folds):
    """Row by row: how many reference rows score no higher than a new one, both by the same model.

    fitted: gives a function that scores one row, from training rows.
    """
    fold_of = {i: k for k, fold in enumerate(folds) for i in fold}
    without = [fitted(np.delete(X, fold, axis=0)) for fold in folds]
    at_most = [[without[fold_of[i]](X[i]) <= without[fold_of[i]](x) for i in fold_of] for x in new]
    return np.array([(1 + sum(row)) / (len(X) + 1) for row in at_most])
