"""Landmarks, dense and one by one, as the formulas stand."""

import numpy as np


def projection(K, W, z):
    """The weights on rows z nearest to those on all rows, and the distance in the space."""
    new = np.linalg.solve(K[np.ix_(z, z)], K[z] @ W)
    change = -W
    change[z] += new
    return new, np.sqrt(np.einsum("rk,rs,sk->k", change, K, change).clip(min=0))
