"""Landmarks, dense and one by one, as the formulas stand."""

import numpy as np


def pivots(K, tolerance):
    """Rows of largest residual diagonal, until none is above the tolerance."""
    S, chosen = K.copy(), []
    while len(chosen) < len(K) and S.diagonal().max() > tolerance:
        z = int(np.argmax(S.diagonal()))
        S = S - np.outer(S[:, z], S[z]) / S[z, z]
        chosen.append(z)
    return np.array(chosen)


def low_rank(K, z):
    """K_nz K_zz^-1 K_zn, through eigenvectors."""
    values, vectors = np.linalg.eigh(K[np.ix_(z, z)])
    half = K[:, z] @ vectors / np.sqrt(values)
    return half @ half.T


def projection(K, W, z):
    """The weights on rows z nearest to those on all rows, and the distance in the space."""
    new = np.linalg.solve(K[np.ix_(z, z)], K[z] @ W)
    change = -W
    change[z] += new
    return new, np.sqrt(np.einsum("rk,rs,sk->k", change, K, change).clip(min=0))
