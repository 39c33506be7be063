"""The rows of k-means, fuzzy c-means and possibilistic c-means."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler, minmax_scale

from typicality import FuzzyCMeans, PossibilisticCMeans
from xenaki2014.adaptive_rows import Outcome
from xenaki2014.kmeans_single_point import kmeans_single_point
from xenaki2014.printed import Row

_EPSILON, _N_ITER = 1e-5, 100
_BOX, _SAME = 10.0, 0.5
_FUZZIFIER = 3.1  # of the possibilistic rows: where those of one cluster come out

Doubles = NDArray[np.float64]


def as_for_kmeans(row: Row, X: Doubles) -> Doubles:
    """Iris with unit variances, all else as it is."""
    return StandardScaler().fit_transform(X) if row.data == "Iris" else X


def by_kmeans(row: Row, X: Doubles) -> Outcome:
    """K-means in two phases."""
    labels = kmeans_single_point(as_for_kmeans(row, X), row.m_ini or 0)
    return Outcome(len(np.unique(labels)), labels, None)


class SmallChange:
    """Stops where the objective changes by less than a given amount, as the rows of FCM do."""

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing was seen yet."""
        self.score = -np.inf

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing is left to do."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing is to be done before."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Doubles, fitted_estimator: Any
    ) -> bool:
        """Compare with the iteration before."""
        before, self.score = self.score, fitted_estimator.score(X)
        return context.task_name == "iteration" and abs(self.score - before) < _EPSILON


def by_fuzzy_c_means(row: Row, X: Doubles, n_starts: int) -> Iterator[Outcome]:
    """Fuzzy c-means from random memberships, one outcome for each start."""
    X = as_for_kmeans(row, X)
    for seed in range(n_starts):
        start = np.random.RandomState(seed).uniform(size=(len(X), row.m_ini or 0))
        start /= start.sum(axis=1, keepdims=True)
        model = FuzzyCMeans(row.m_ini, m=2.0, init=start, max_iter=_N_ITER, tol=0.0)
        model.set_callbacks(SmallChange()).fit(X)
        yield Outcome(len(np.unique(model.labels_)), model.labels_, model.memberships_)


def by_possibilistic_c_means(row: Row, X: Doubles) -> Outcome:
    """The form of 1993 on boxed rows; of prototypes that are together, the first one counts."""
    X = _BOX * minmax_scale(X)
    settings: dict[str, Any] = {"objective": "1993", "eta_scale": 1.0, "m": _FUZZIFIER}
    model = PossibilisticCMeans(row.m_ini, init="max-min", **settings).fit(X)
    different: list[int] = []
    for k, near in enumerate(pairwise_distances(model.cluster_centers_)):
        if np.all(near[different] > _SAME):
            different.append(k)
    u = model.memberships_[:, different]
    return Outcome(len(different), u.argmax(axis=1), u)
