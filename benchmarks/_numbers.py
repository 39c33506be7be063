"""Methods that say how many clusters there are: ours, HDBSCAN, a Dirichlet mixture, k-means."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import pairwise_distances, silhouette_score
from sklearn.mixture import BayesianGaussianMixture

from _filling import fill
from typicality import AdaptivePCM, SequentialPCM, SparseAdaptivePCM

__all__ = ["FROM_MANY", "METHODS", "TOO_MANY"]

TOO_MANY = 30
_MIXTURE_ITER = 1000

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


def _fitted(build: Callable[[], Any]) -> Callable[[Doubles], Labels]:
    return lambda X: fill(X, build().fit_predict(X))


def _mixture() -> Any:
    return BayesianGaussianMixture(n_components=TOO_MANY, max_iter=_MIXTURE_ITER, random_state=0)


def _k_means(X: Doubles) -> Labels:
    """The partition with the largest silhouette among those of 2 to 30 clusters."""
    distances = pairwise_distances(X)
    fits = [KMeans(k, n_init=10, random_state=0).fit(X) for k in range(2, TOO_MANY + 1)]
    silhouettes = [silhouette_score(distances, fit.labels_, metric="precomputed") for fit in fits]
    labels: Labels = fits[int(np.argmax(silhouettes))].labels_
    return labels


METHODS: dict[str, Callable[[Doubles], Labels]] = {
    "SequentialPCM": _fitted(lambda: SequentialPCM(assign="all")),
    "k-means": _k_means,
    "H5": _fitted(lambda: HDBSCAN(min_cluster_size=5, copy=True)),
    "H10": _fitted(lambda: HDBSCAN(min_cluster_size=10, copy=True)),
    "mixture": _fitted(_mixture),
}

FROM_MANY: dict[str, Callable[[Doubles], Labels]] = {
    "AdaptivePCM(30)": _fitted(lambda: AdaptivePCM(TOO_MANY)),
    "SparseAdaptivePCM(30)": _fitted(lambda: SparseAdaptivePCM(TOO_MANY, assign="all")),
}
