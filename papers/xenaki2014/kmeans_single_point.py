"""K-means in two phases: batches, then single rows. The printed digits need both.

A single row moves where that lowers the sum of squares, which counts that the means move with it:
row x leaves a cluster of n rows and joins one of n' rows where

    n' / (n' + 1) |x - mean'|^2 < n / (n - 1) |x - mean|^2.

The library leaves k-means to scikit-learn, whose :class:`~sklearn.cluster.KMeans` is the first
phase alone.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


def kmeans_single_point(X: Doubles, n_clusters: int) -> Labels:
    """Labels by both phases, from the start of SeqSAPCM."""
    start = X[max_min_rows(X, n_clusters)]
    batches = KMeans(n_clusters, init=start, n_init=1, max_iter=1000, tol=0.0).fit(X)
    return _move_single_rows(X, batches.labels_.astype(np.int_), n_clusters)


def max_min_rows(X: Doubles, n_rows: int) -> list[int]:
    """The row farthest from the first one, then each time the row farthest from those chosen."""
    chosen = [int(np.argmax(pairwise_distances(X, X[:1])))]
    while len(chosen) < n_rows:
        chosen.append(int(np.argmax(pairwise_distances(X, X[chosen]).min(axis=1))))
    return chosen


def _move_single_rows(X: Doubles, labels: Labels, n_clusters: int) -> Labels:
    """Rows take turns in their order, round after round, until none wants to move."""
    last = -1
    while len(movers := _movers(X, labels, n_clusters)):
        last = movers[np.argmin((movers - last - 1) % len(X))]
        labels[last] = _best_clusters(X, labels, n_clusters)[last]
    return labels


def _movers(X: Doubles, labels: Labels, n_clusters: int) -> Labels:
    return np.flatnonzero(_best_clusters(X, labels, n_clusters) != labels)


def _best_clusters(X: Doubles, labels: Labels, n_clusters: int) -> Labels:
    """Where each row would raise the sum of squares least; ties leave it where it is."""
    rows, counts = np.arange(len(X)), np.bincount(labels, minlength=n_clusters)
    means = np.array([X[labels == k].mean(axis=0) for k in range(n_clusters)])
    sqdist = pairwise_distances(X, means, metric="sqeuclidean")
    cost = sqdist * counts / (counts + 1)
    own = counts[labels]
    # A row that is alone stays.
    stay = np.where(own > 1, sqdist[rows, labels] * own / np.maximum(own - 1, 1), 0.0)
    cost[rows, labels] = stay
    best = cost.argmin(axis=1)
    return np.where(cost[rows, best] < stay, best, labels)
