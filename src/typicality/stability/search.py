"""Parameters chosen by stability, with the interface of scikit-learn's searches."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    clone,
    is_classifier,
    is_outlier_detector,
    is_regressor,
)
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from typicality._compat import HasMethods, Interval, StrOptions, fit_context
from typicality._typing import Doubles, Places
from typicality.exceptions import RepetitionError
from typicality.stability import resample
from typicality.stability.clusters import check_clusterer, clustering_stability
from typicality.stability.outliers import TRANSFERS, check_detector, check_rates, outlier_stability
from typicality.stability.results import words_of

_FITTED_ATTRIBUTES = ("labels_", "offset_", "n_features_in_", "feature_names_in_")


def _if_chosen_has(name: str) -> Any:
    """For methods that the chosen estimator has, or before the fit the one given."""
    return available_if(
        lambda search: (
            search.refit and hasattr(getattr(search, "best_estimator_", search.estimator), name)
        )
    )


class StabilitySearch(MetaEstimatorMixin, BaseEstimator):
    """Choose parameters of a clusterer or an outlier detector by stability.

    The stability of every setting of the grid is measured by :func:`clustering_stability`, or for
    detectors by the mean of :func:`outlier_stability` over the rates. All settings use the same
    splits. No known classes are needed.

    *Ties.* A setting is as stable as the best if it is worse by at most `tolerance`, or by at most
    one standard error of the difference. Among equally stable settings of a clusterer, the one with
    the largest median number of clusters is chosen, because separate groups can be just as stable
    if they are merged. If there is still a tie, and for detectors, the first setting in the grid is
    chosen. So list the values in your order of preference. A setting with a single cluster is
    chosen only if all settings have a single cluster.

    *When to use it.* Use it to choose the number of clusters if the clusters are separate. Clusters
    that touch are often merged, because fewer clusters are more stable. Use several initialisations
    (`n_init`); otherwise poor initial values look like instability.

    .. warning:: Stable does not mean right. For detectors, wide kernels are more stable, but do not
        always find outliers better. In docs/benchmarks, `sigma` chosen by stability was about as
        good as ``sigma="auto"``; for noise around clusters it was much worse than the best `sigma`,
        which was the least stable. Use stability to exclude unstable settings.

    Parameters
    ----------
    estimator : estimator
        A clusterer with `fit` and `predict` (see :class:`PredictByNearest`), or a detector with
        `fit`, and `score_samples` or `decision_function`. It is cloned.
    param_grid : dict of str to sequence, or list of such dicts
        The values of each parameter, as for :class:`sklearn.model_selection.GridSearchCV`. All
        combinations are tried.
    kind : {"auto", "clusters", "outliers"}, default="auto"
        Whether the estimator is a clusterer or a detector. "auto" uses the tags of scikit-learn:
        outlier detectors are detectors, and all other estimators with `predict` are clusterers.
    n_repeats : int, default=10
        The number of splits.
    tolerance : float, default=0.03
        The largest difference from the best stability at which a setting is still equally stable.
        With 0, only the standard error is used.
    rates : float or sequence of float, default=(0.01, 0.05, 0.1)
        For detectors, as in :func:`outlier_stability`.
    transfer : {"threshold", "rank"}, default="threshold"
        For detectors, as in :func:`outlier_stability`.
    refit : bool, default=True
        Whether to fit the chosen setting on all rows.
    random_state : int, RandomState or None, default=None
        The seed of the splits, and of estimators whose own `random_state` is None. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        The number of repetitions that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.
    progress : bool or callable, default=False
        True shows a progress bar on stderr. A function is called as ``progress(done, total,
        words)``.

    Attributes
    ----------
    best_params_ : dict
        The chosen setting.
    best_index_ : int
        The index of the chosen setting in the grid.
    best_score_ : float
        The mean stability of the chosen setting.
    best_estimator_ : estimator
        The estimator with the chosen setting, fitted on all rows; only with ``refit=True``.
    tied_ : array of int
        The indices of the settings that are equally stable, with the chosen one.
    cv_results_ : dict of str to array
        For each setting: `params`, `param_*`, `split*_test_score`, `mean_test_score`,
        `std_test_score`, `rank_test_score` (1 for the largest mean, without ties) and, for
        clusterers, `median_n_clusters`.
    results_ : tuple of ClusteringStability or OutlierStability
        The full result of each setting.
    n_splits_ : int
        The number of splits.
    labels_ : array of int of shape (n_samples,)
        The labels of the training rows, if `best_estimator_` has them.
    offset_ : float
        The score below which a row is an outlier, if `best_estimator_` has it.
    n_features_in_ : int
        The number of features, if the estimator has this attribute.
    feature_names_in_ : array of str
        The names of the features, if X has names.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from typicality.stability import StabilitySearch
    >>> X, _ = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> search = StabilitySearch(KMeans(n_init=10), {"n_clusters": range(2, 7)}, random_state=0)
    >>> search.fit(X).best_params_
    {'n_clusters': 3}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods("fit")],
        "param_grid": [dict, list],
        "kind": [StrOptions({"auto", "clusters", "outliers"})],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "rates": ["array-like", Interval(Real, 0, 0.5, closed="right")],
        "transfer": [StrOptions(set(TRANSFERS))],
        "refit": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "progress": ["boolean", callable],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        kind: str = "auto",
        n_repeats: int = 10,
        tolerance: float = 0.03,
        rates: float | Sequence[float] = (0.01, 0.05, 0.1),
        transfer: str = "threshold",
        refit: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | resample.Progress = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.kind = kind
        self.n_repeats = n_repeats
        self.tolerance = tolerance
        self.rates = rates
        self.transfer = transfer
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Measure the stability of every setting, and fit the chosen setting on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        self
        """
        settings = list(ParameterGrid(self.param_grid))
        kind = _kind_of(self.estimator) if self.kind == "auto" else self.kind
        if kind == "clusters":
            check_clusterer(self.estimator)
        else:
            check_detector(self.estimator, None)
        check_rates(self.rates)
        candidates = [
            clone(self.estimator).set_params(**clone(setting, safe=False)) for setting in settings
        ]
        rng = check_random_state(self.random_state)
        seed = resample.draw_seed(rng)
        # Rows that it cannot use are told at once, in the words of the estimator; what it warns
        # of, the repetitions tell.
        with resample.capture_warnings():
            resample.seeded_clone(candidates[0], rng).fit(X)
        works: Any = [
            (words_of(candidate), 1, partial(self._judge, X, candidate, kind, seed=seed))
            for candidate in candidates
        ]
        found = resample.repeat_each(works, self.n_repeats, self.progress)
        results, caught = zip(*found, strict=True)
        resample.warn_once(caught, len(candidates), among="settings")
        scores = np.column_stack([result.scores.mean(axis=1) for result in results])
        means = np.array([result.mean.mean() for result in results])
        n_clusters = None
        if kind == "clusters":
            n_clusters = np.array([result.typical_n_clusters for result in results])
        best, tied = choose(scores, means, tolerance=self.tolerance, n_clusters=n_clusters)
        if self.refit:
            chosen = resample.seeded_clone(candidates[best], rng)
            self.best_estimator_ = chosen.fit(X)
        self.results_ = results
        self.cv_results_ = results_table(settings, scores, means)
        if n_clusters is not None:
            self.cv_results_["median_n_clusters"] = n_clusters
        self.tied_ = tied
        self.best_index_ = best
        self.best_params_ = settings[best]
        self.best_score_ = float(means[best])
        self.n_splits_ = self.n_repeats
        return self

    @_if_chosen_has("predict")
    def predict(self, X: ArrayLike) -> Any:
        """Predict with the chosen estimator: clusters, or 1 and -1 for outliers.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._fitted().predict(X)

    @_if_chosen_has("predict_memberships")
    def predict_memberships(self, X: ArrayLike) -> Any:
        """The memberships of the rows, by the chosen estimator.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_clusters)
        """
        return self._fitted().predict_memberships(X)

    @_if_chosen_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> Any:
        """The probabilities of mixture components for each row, by the chosen estimator.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self._fitted().predict_proba(X)

    @_if_chosen_has("transform")
    def transform(self, X: ArrayLike) -> Any:
        """Transform the rows with the chosen estimator.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        return self._fitted().transform(X)

    @_if_chosen_has("score_samples")
    def score_samples(self, X: ArrayLike) -> Any:
        """The scores of the rows, by the chosen estimator; larger is more typical.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._fitted().score_samples(X)

    @_if_chosen_has("decision_function")
    def decision_function(self, X: ArrayLike) -> Any:
        """The decision function of the chosen estimator; negative for outliers.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._fitted().decision_function(X)

    @_if_chosen_has("predict")
    def fit_predict(self, X: ArrayLike, y: Any = None) -> Any:
        """Fit, and predict the same rows with the chosen estimator.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        array of int of shape (n_samples,)
        """
        self.fit(X)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    @_if_chosen_has("transform")
    def fit_transform(self, X: ArrayLike, y: Any = None) -> Any:
        """Fit, and transform the same rows with the chosen estimator.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        return self.fit(X).transform(X)

    @_if_chosen_has("score")
    def score(self, X: ArrayLike, y: Any = None) -> float:
        """The score of the chosen estimator; this is not the stability.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.
        y : array-like, optional
            Passed to the estimator.

        Returns
        -------
        float
        """
        return float(self._fitted().score(X, y))

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def __getattr__(self, name: str) -> Any:
        if name in _FITTED_ATTRIBUTES and "best_estimator_" in vars(self):
            return getattr(self.best_estimator_, name)
        raise AttributeError(
            f"{type(self).__name__} has no {name}: set refit=True, and call fit first."
        )

    def _judge(self, X: Any, candidate: Any, kind: str, *, seed: int, progress: Any) -> Any:
        """The stability of a candidate, on the splits of a seed."""
        options: dict[str, Any] = {"n_repeats": self.n_repeats, "n_jobs": self.n_jobs}
        options |= {"random_state": seed, "progress": progress}
        try:
            if kind == "clusters":
                return clustering_stability(candidate, X, **options)
            options |= {"rates": self.rates, "transfer": self.transfer}
            return outlier_stability(candidate, X, **options)
        except RepetitionError as error:
            raise RepetitionError(f"{words_of(candidate)}: {error}") from error

    def plot(self, *, ax: Any = None) -> Any:
        """Draw a box plot of the scores of each setting.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        StabilityDisplay
        """
        from typicality.plot import StabilityDisplay

        check_is_fitted(self)
        told = {}
        for setting, result in zip(self.cv_results_["params"], self.results_, strict=True):
            scores = result.scores[~np.isnan(result.scores).any(axis=1)].mean(axis=1)
            if len(scores):
                told[", ".join(f"{name}={value!r}" for name, value in setting.items())] = scores
        if not told:
            raise ValueError("All settings have a single cluster: there is nothing to draw.")
        return StabilityDisplay.from_scores(told, ax=ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.transformer_tags = deepcopy(inner.transformer_tags)
        tags.input_tags = deepcopy(inner.input_tags)
        return tags


def select_by_stability(
    estimator: Any,
    X: ArrayLike,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    **options: Any,
) -> StabilitySearch:
    """Choose parameters by stability, and return the fitted :class:`StabilitySearch`.

    Parameters
    ----------
    estimator : estimator
        A clusterer or a detector.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The rows.
    param_grid : dict of str to sequence, or list of such dicts
        The values of each parameter.
    **options
        Other parameters of :class:`StabilitySearch`.

    Returns
    -------
    StabilitySearch
        The fitted search, with `best_params_`, `best_estimator_` and `predict`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from typicality import FuzzyCMeans
    >>> from typicality.stability import select_by_stability
    >>> X, _ = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> chosen = select_by_stability(
    ...     FuzzyCMeans(n_init=3), X, {"n_clusters": range(2, 6)}, random_state=0
    ... )
    >>> chosen.best_params_
    {'n_clusters': 3}
    """
    search: StabilitySearch = StabilitySearch(estimator, param_grid, **options).fit(X)
    return search


def _kind_of(estimator: Any) -> str:
    """What an estimator is judged as: "clusters" or "outliers"."""
    if is_classifier(estimator) or is_regressor(estimator):
        raise ValueError(
            f"estimator is {estimator!r}, which is supervised: use "
            "sklearn.model_selection.GridSearchCV for it. Stability is defined for "
            "clusterers and outlier detectors."
        )
    scores = hasattr(estimator, "score_samples") or hasattr(estimator, "decision_function")
    is_density = scores and not hasattr(estimator, "predict")
    return "outliers" if is_outlier_detector(estimator) or is_density else "clusters"


# ---- the choice ----------------------------------------------------------------------------------

_ROUNDING = 1e-9


def choose(
    scores: Doubles, means: Doubles, *, tolerance: float, n_clusters: Doubles | None = None
) -> tuple[int, Places]:
    """The most stable setting; among equally stable ones that with most clusters, then the first.

    Parameters
    ----------
    scores : array of shape (n_repeats, n_settings)
        Scores on the same splits; NaN where a split says nothing.
    means : array of shape (n_settings,)
        Their means; NaN for settings that say nothing, which are chosen only if all do.
    tolerance : float
        How far behind the best a setting may be; or one standard error of the difference.
    n_clusters : array of shape (n_settings,), optional
        How many clusters each setting has.

    Returns
    -------
    chosen : int
        Its number.
    tied : array of int
        The numbers of all that count as equally stable.
    """
    said = np.flatnonzero(~np.isnan(means))
    if len(said) == 0:
        return 0, np.arange(len(means))
    best = said[np.argmax(means[said])]
    allowed = [max(tolerance, _error(scores[:, best] - scores[:, j])) for j in said]
    # With one bad split of many the mean is behind by one standard error exactly: a tie.
    tied = said[means[best] - means[said] <= np.array(allowed) + _ROUNDING]
    most = tied if n_clusters is None else tied[n_clusters[tied] == n_clusters[tied].max()]
    return int(most[0]), tied


def _error(differences: Doubles) -> float:
    """The standard error of the mean difference; 0 where there is no telling."""
    known = differences[~np.isnan(differences)]
    return float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0


def results_table(
    settings: Sequence[Mapping[str, Any]], scores: Doubles, means: Doubles
) -> dict[str, Any]:
    """The scores of all settings in the form of scikit-learn's `cv_results_`.

    Parameters
    ----------
    settings : sequence of mapping of str to value
        The parameters of each setting.
    scores : array of shape (n_repeats, n_settings)
        The scores.
    means : array of shape (n_settings,)
        Their means.

    Returns
    -------
    dict
    """
    known = ~np.isnan(means)
    deviations = np.full(len(means), np.nan)
    deviations[known] = np.nanstd(scores[:, known], axis=0)
    parameters = {}
    for name in sorted({name for setting in settings for name in setting}):
        column = MaskedArray(np.empty(len(settings), dtype=object), mask=True)
        for i, setting in enumerate(settings):
            if name in setting:  # masked where a setting does not name it
                column[i] = setting[name]
        parameters[f"param_{name}"] = column
    return {
        **parameters,
        "params": list(settings),
        **{f"split{i}_test_score": row for i, row in enumerate(scores)},
        "mean_test_score": means,
        "std_test_score": deviations,
        "rank_test_score": rankdata(-np.where(known, means, -np.inf), method="min").astype(int),
    }
