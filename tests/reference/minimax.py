"""Minimax distances, written as the formulas stand."""

import math

import numpy as np


def euclidean(X, Y):
    """Euclidean distances, shape (len(X), len(Y))."""
    return np.array([[math.dist(x, y) for y in Y] for x in X])


def distances(X):
    """Distances among the rows: allow the paths through one more row at a time."""
    d = euclidean(X, X)
    for through in range(len(X)):
        d = np.minimum(d, np.maximum(d[:, [through]], d[[through], :]))
    return d


def distances_to(X, X_new):
    """Distances of new rows to the rows: try every row that a path can go to first."""
    among, direct = distances(X), euclidean(X_new, X)
    return np.array([[np.min(np.maximum(near, to_row)) for to_row in among.T] for near in direct])
