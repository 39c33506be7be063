"""The rows of k-means, fuzzy c-means and possibilistic c-means."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from regenerating.stopping import FuzzyByObjective
from typicality import FuzzyCMeans, PossibilisticCMeans
from xenaki2014.adaptive_rows import Outcome
from xenaki2014.kmeans_single_point import kmeans_single_point
from xenaki2014.printed import Row

_EPSILON, _N_ITER = 1e-5, 100
_BOX, _SAME = 10.0, 0.5
_FUZZY_M, _POSSIBILISTIC_M = 2.0, 3.2  # where the numbers of clusters of the PCM rows come out

Doubles = NDArray[np.float64]


def as_for_kmeans(row: Row, X: Doubles) -> Doubles:
    """Iris with unit variances, all else as it is."""
    return StandardScaler().fit_transform(X) if row.data == "Iris" else X


def by_kmeans(row: Row, X: Doubles) -> Outcome:
    """K-means in two phases."""
    X = as_for_kmeans(row, X)
    labels = kmeans_single_point(X, row.m_ini or 0)
    prototypes = np.array([X[labels == k].mean(axis=0) for k in np.unique(labels)])
    return Outcome(len(prototypes), labels, None, prototypes)


def by_fuzzy_c_means(row: Row, X: Doubles, n_starts: int) -> Iterator[Outcome]:
    """Fuzzy c-means from random memberships, one outcome for each start."""
    X = as_for_kmeans(row, X)
    for seed in range(n_starts):
        start = np.random.RandomState(seed).uniform(size=(len(X), row.m_ini or 0))
        start /= start.sum(axis=1, keepdims=True)
        model = FuzzyByObjective(row.m_ini, m=2.0, init=start, max_iter=_N_ITER, tol=_EPSILON).fit(
            X
        )
        n_clusters = len(np.unique(model.labels_))
        yield Outcome(n_clusters, model.labels_, model.memberships_, model.cluster_centers_)


def by_possibilistic_c_means(row: Row, X: Doubles) -> Outcome:
    """The form of 1993 on boxed rows; of prototypes that are together, the first one counts.

    The start and eta are those of fuzzy c-means with a fuzzifier of its own.
    """
    low, width = X.min(axis=0), np.ptp(X, axis=0) / _BOX
    X = (X - low) / width
    fuzzy = FuzzyCMeans(row.m_ini, m=_FUZZY_M, init="max-min").fit(X)
    start = {"init": fuzzy.cluster_centers_, "eta": _spreads(fuzzy, X)}
    form: dict[str, Any] = {"objective": "1993", "m": _POSSIBILISTIC_M}
    model = PossibilisticCMeans(row.m_ini, **form, **start).fit(X)
    different: list[int] = []
    for k, near in enumerate(pairwise_distances(model.cluster_centers_)):
        if np.all(near[different] > _SAME):
            different.append(k)
    u = model.memberships_[:, different]
    prototypes = low + width * model.cluster_centers_[different]
    radii = model.eta_[different, None] * width
    return Outcome(len(different), u.argmax(axis=1), u, prototypes, radii)


def _spreads(fuzzy: FuzzyCMeans, X: Doubles) -> Doubles:
    """The mean squared distance within each cluster, with the weights of fuzzy c-means."""
    weights = fuzzy.memberships_**_FUZZY_M
    sqdist = pairwise_distances(X, fuzzy.cluster_centers_, metric="sqeuclidean")
    spreads: Doubles = (weights * sqdist).sum(axis=0) / weights.sum(axis=0)
    return spreads
