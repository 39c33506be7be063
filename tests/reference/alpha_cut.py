"""Alpha-cuts as the papers describe them: one cut, all pairs, twenty points."""

import numpy as np


def typicality(kernel, X, u, eta, points):
    """filippone2010, eq. (28), the norm squared; u: typicalities of the training rows."""
    b = 1 / u.sum()
    cross = b * kernel(points, X) @ u
    square = b**2 * (u @ kernel(X, X) @ u)
    return np.exp(-(1 - 2 * cross + square) / eta)


def labels(kernel, X, u, eta, alpha, *, n_points=20):
    """filippone2010, section IV-D: rows in A_alpha, joined when their segment lies in A_alpha."""
    above = np.flatnonzero(u > alpha)
    share = np.arange(1, n_points + 1) / (n_points + 1)
    neighbours = {i: set() for i in above}
    for place, i in enumerate(above):
        others = above[place + 1 :]
        points = X[i] + share[:, None, None] * (X[others] - X[i])
        degrees = typicality(kernel, X, u, eta, points.reshape(-1, X.shape[1]))
        inside = (degrees.reshape(n_points, -1) >= alpha).all(axis=0)
        for j in others[inside]:
            neighbours[i].add(j)
            neighbours[j].add(i)
    return walk(len(X), neighbours)


def walk(n_rows, neighbours):
    """Connected components by a walk; -1 for rows that are not in the graph."""
    found = np.full(n_rows, -1)
    n_found = 0
    for start in neighbours:
        waiting = [start] if found[start] < 0 else []
        n_found += bool(waiting)
        while waiting:
            here = waiting.pop()
            found[here] = n_found - 1
            waiting += [j for j in neighbours[here] if found[j] < 0]
    return found


def same_partition(a, b):
    """Whether two labellings are equal but for the numbers; -1 must stay -1."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    firsts, seconds = zip(*pairs, strict=True)
    one_to_one = len(set(firsts)) == len(pairs) == len(set(seconds))
    return one_to_one and all((i == -1) == (j == -1) for i, j in pairs)
