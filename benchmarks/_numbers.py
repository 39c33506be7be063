"""Methods that say how many clusters there are: ours, HDBSCAN, mixtures, k-means."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import pairwise_distances, silhouette_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from typicality import AdaptivePCM, AlphaCutClustering, SequentialPCM, SparseAdaptivePCM

__all__ = ["FROM_MANY", "METHODS", "TOO_MANY"]

TOO_MANY = 30
_MIXTURE_ITER = 1000
_SILHOUETTE_ROWS = 2000

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


def _fitted(build: Callable[[], Any]) -> Callable[[Doubles], Labels]:
    return lambda X: np.asarray(build().fit_predict(X))


def _mixture() -> Any:
    return BayesianGaussianMixture(n_components=TOO_MANY, max_iter=_MIXTURE_ITER, random_state=0)


def _k_means(X: Doubles) -> Labels:
    """The partition with the largest silhouette among those of 2 to 30 clusters."""
    chosen = np.random.default_rng(0).permutation(len(X))[:_SILHOUETTE_ROWS]
    distances = pairwise_distances(X[chosen])
    fits = [KMeans(k, n_init=3, random_state=0).fit(X) for k in range(2, TOO_MANY + 1)]
    silhouettes = [
        silhouette_score(distances, fit.labels_[chosen], metric="precomputed") for fit in fits
    ]
    labels: Labels = fits[int(np.argmax(silhouettes))].labels_
    return labels


def _mixture_by_bic(X: Doubles) -> Labels:
    """The mixture with the smallest BIC among those of 1 to 20 components."""
    fits = (GaussianMixture(k, random_state=0, reg_covar=1e-4).fit(X) for k in range(1, 21))
    return np.asarray(min(fits, key=lambda fit: fit.bic(X)).predict(X))


METHODS: dict[str, Callable[[Doubles], Labels]] = {
    "SequentialPCM": _fitted(SequentialPCM),
    "..., assign='all'": _fitted(lambda: SequentialPCM(assign="all")),
    "AlphaCut": _fitted(AlphaCutClustering),
    "k-means": _k_means,
    "H10": _fitted(lambda: HDBSCAN(min_cluster_size=10, copy=True)),
    "mixture, BIC": _mixture_by_bic,
    "Bayesian mixture": _fitted(_mixture),
}

FROM_MANY: dict[str, Callable[[Doubles], Labels]] = {
    "AdaptivePCM(30)": _fitted(lambda: AdaptivePCM(TOO_MANY)),
    "SparseAdaptivePCM(30)": _fitted(lambda: SparseAdaptivePCM(TOO_MANY, assign="all")),
}
