"""Parameters chosen by stability."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_outlier_detector
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state

from typicality._typing import Doubles, Places
from typicality.stability.clusters import clustering_stability
from typicality.stability.outliers import outlier_stability
from typicality.stability.results import standard_error, text_table

_TOLERANCE = 0.03  # settings that are less stable than the best by this are as stable
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class StabilityTable:
    """The stability of several settings; the result of :func:`choose_by_stability`.

    Parameters
    ----------
    settings : tuple of dict
        The parameters of each setting, in the order of the grid.
    mean : array of shape (n_settings,)
        The mean stability of each setting; NaN if it has a single cluster.
    standard_error : array of shape (n_settings,)
        The standard errors of the means.
    scores : array of shape (n_repeats, n_settings)
        The stability in each repetition. All settings see the same splits.
    n_clusters : array of shape (n_settings,) or None
        The median number of clusters of each setting; None for outlier detectors.
    best_index : int
        The index of the chosen setting.
    tied : array of int
        The indices of all settings that are equally stable, with the chosen one.
    """

    settings: tuple[dict[str, Any], ...]
    mean: Doubles
    standard_error: Doubles
    scores: Doubles
    n_clusters: Doubles | None
    best_index: int
    tied: Places

    @property
    def best_params(self) -> dict[str, Any]:
        """The chosen setting."""
        return self.settings[self.best_index]

    def to_pandas(self) -> Any:
        """One row per setting, as a pandas DataFrame."""
        import pandas as pd

        return pd.concat([pd.DataFrame(self.settings), pd.DataFrame(self._columns())], axis=1)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"stability": self.mean, "standard error": self.standard_error}
        if self.n_clusters is not None:
            columns["clusters"] = self.n_clusters
        columns["chosen"] = np.arange(len(self.settings)) == self.best_index
        return columns

    def __repr__(self) -> str:
        names = [", ".join(f"{key}={value!r}" for key, value in s.items()) for s in self.settings]
        lines = [
            (name, f"{mean:.3f}", f"{error:.3f}", "*" if place == self.best_index else "")
            for place, (name, mean, error) in enumerate(
                zip(names, self.mean, self.standard_error, strict=True)
            )
        ]
        header = ("setting", "stability", "standard error", "chosen")
        return text_table([header, *lines], left=0)


def choose_by_stability(
    estimator: Any,
    X: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    *,
    rates: float | Sequence[float] = (0.01, 0.05, 0.1),
    n_repeats: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> StabilityTable:
    """Choose parameters of a clusterer or an outlier detector by stability.

    The stability of every setting of the grid is measured by :func:`clustering_stability`, or for
    detectors by the mean of :func:`outlier_stability` over the rates. All settings use the same
    splits. No known classes are needed.

    *Ties.* A setting is as stable as the best if it is worse by at most 0.03, or by at most one
    standard error of the difference. Among equally stable settings of a clusterer, the one with the
    largest median number of clusters is chosen, because separate groups can be just as stable if
    they are merged. If there is still a tie, and for detectors, the first setting in the grid is
    chosen. So list the values in your order of preference. A setting with a single cluster is
    chosen only if all settings have a single cluster.

    *When to use it.* Use it to choose the number of clusters if the clusters are separate. Clusters
    that touch are often merged, because fewer clusters are more stable. Use several initialisations
    (`n_init`); otherwise poor initial values look like instability.

    .. warning:: Stable does not mean right. For detectors, wide kernels are more stable, but do not
        always find outliers better: `sigma` chosen by stability was about as good as
        ``sigma="auto"``, and much worse than the best `sigma` for noise around clusters. Use
        stability to exclude unstable settings.

    Parameters
    ----------
    estimator : estimator
        A clusterer with `fit` and `predict` (see :class:`PredictByNearest`), or a detector with
        `fit`, and `score_samples` or `decision_function`. Outlier detectors, and densities without
        `predict`, are judged by their outliers; all others by their clusters.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The rows.
    grid : dict of str to sequence, or list of such dicts
        The values of each parameter, as for :class:`sklearn.model_selection.GridSearchCV`. All
        combinations are tried.
    rates : float or sequence of float, default=(0.01, 0.05, 0.1)
        For detectors, as in :func:`outlier_stability`.
    n_repeats : int, default=10
        The number of splits.
    random_state : int, RandomState or None, default=None
        The seed of the splits, and of estimators whose own `random_state` is None. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        The number of repetitions that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.

    Returns
    -------
    StabilityTable
        The stability of every setting, with `best_params` and `to_pandas`.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from typicality.stability import choose_by_stability
    >>> X, _ = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> table = choose_by_stability(
    ...     KMeans(n_init=10), X, {"n_clusters": range(2, 6)}, random_state=0
    ... )
    >>> table.best_params
    {'n_clusters': 3}
    >>> model = KMeans(n_init=10, **table.best_params).fit(X)
    """
    settings = tuple(ParameterGrid(grid))
    candidates = [clone(estimator).set_params(**setting) for setting in settings]
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    options: dict[str, Any] = {"n_repeats": n_repeats, "random_state": seed, "n_jobs": n_jobs}
    n_clusters = None
    if _is_detector(estimator):
        outliers = [outlier_stability(each, X, rates=rates, **options) for each in candidates]
        scores = np.column_stack([found.scores.mean(axis=1) for found in outliers])
        means = scores.mean(axis=0)
        errors = standard_error(scores)
    else:
        clusters = [clustering_stability(each, X, **options) for each in candidates]
        scores = np.column_stack([found.scores for found in clusters])
        means = np.array([found.stability for found in clusters])
        errors = np.array([found.standard_error for found in clusters])
        n_clusters = np.array([found.typical_n_clusters for found in clusters])
    best, tied = choose(scores, means, n_clusters)
    return StabilityTable(settings, means, errors, scores, n_clusters, best, tied)


def _is_detector(estimator: Any) -> bool:
    scores = hasattr(estimator, "score_samples") or hasattr(estimator, "decision_function")
    return bool(is_outlier_detector(estimator)) or (scores and not hasattr(estimator, "predict"))


def choose(scores: Doubles, means: Doubles, n_clusters: Doubles | None) -> tuple[int, Places]:
    """The most stable setting, and all that are equally stable; see the rule above."""
    known = np.flatnonzero(~np.isnan(means))
    if len(known) == 0:
        return 0, np.arange(len(means))
    best = known[np.argmax(means[known])]
    behind = scores[:, [best]] - scores[:, known]
    errors = [np.nan_to_num(standard_error(each[~np.isnan(each)])) for each in behind.T]
    # With one bad split of many the mean is behind by one standard error exactly: a tie.
    allowed = np.maximum(errors, _TOLERANCE) + _ROUNDING
    tied = known[means[best] - means[known] <= allowed]
    most = tied if n_clusters is None else tied[n_clusters[tied] == n_clusters[tied].max()]
    return int(most[0]), tied
