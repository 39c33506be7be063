"""One iteration in the input space, written as the formulas stand."""

import numpy as np


def sqdist(X, centers):
    """Squared distances, shape (n, c)."""
    return np.array([[np.sum((x - v) ** 2) for v in centers] for x in X])


def step(rule, X, sample_weight, centers):
    """Next centers, objective, mass, and weighted squared distances to the old centers.

    A center that pulls at no row is NaN.
    """
    d = sqdist(X, centers)
    u = rule.memberships(d)
    w = rule.weights(u) * sample_weight[:, None]
    mass = w.sum(axis=0)
    objective = float(np.sum(sample_weight * rule.objective(u, d)))
    next_centers = (w.T @ X) / np.where(mass > 0, mass, np.nan)[:, None]
    return next_centers, objective, mass, (w * d).sum(axis=0)
