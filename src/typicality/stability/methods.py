"""One method of a comparison: by name, its number of clusters, its fits, and its result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_clusterer, is_outlier_detector
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.ensemble import IsolationForest
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from typicality import cluster
from typicality._estimators import ESTIMATORS
from typicality._typing import Doubles, Places
from typicality.metrics import jaccard_score
from typicality.metrics.partitions import count_clusters
from typicality.rows import count_distinct_rows
from typicality.stability.agreement import Repeats, agreement_of_refits
from typicality.stability.resample import (
    Attempt,
    attempt,
    draw_rows,
    first_line,
    one_thread,
    seeded_clone,
)
from typicality.stability.results import as_json, words_of

_MOST_CLUSTERS = 20
_CHOICE_ROWS = 5_000
_SILHOUETTE_ROWS = 2_000  # its cost grows with the square
_ROWS_A_CLUSTER = 5
_NUMBER_PARAMETERS = {"silhouette": "n_clusters", "BIC": "n_components"}
_NOT_MEASURED = Repeats()
_WARM_UP_ROWS = 100
# What estimators raise on data they cannot use; anything else is a mistake, and is not hidden.
FIT_ERRORS = (ValueError, ArithmeticError, RuntimeError, MemoryError)
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)


class Method(NamedTuple):
    """An estimator, and what a comparison sets of its parameters.

    Parameters
    ----------
    name : str
        What it is called in tables.
    estimator : estimator
        Not fitted; it is cloned, never changed.
    number_rule : {"silhouette", "BIC"}, optional
        How the number of clusters is chosen where it must be told and is not given.
    rate_parameter : str, optional
        The parameter for the nominal rate of outliers.
    most_rows : int, optional
        It is fitted on no more rows than this: its cost grows with their square.
    """

    name: str
    estimator: Any
    number_rule: str | None = None
    rate_parameter: str | None = None
    most_rows: int | None = None

    @property
    def is_detector(self) -> bool:
        """Whether it flags outliers; else it makes clusters."""
        return bool(is_outlier_detector(self.estimator))

    def configured(self, *, rate: float | None, n_clusters: int | None) -> "Method":
        """The method with its rate and number of clusters set, where it has such parameters."""
        settings: dict[str, Any] = {}
        if self.rate_parameter is not None:
            settings[self.rate_parameter] = rate
        if self.number_rule is not None and n_clusters is not None:
            settings[_NUMBER_PARAMETERS[self.number_rule]] = n_clusters
        return self._replace(estimator=clone(self.estimator).set_params(**settings))

    def fit(self, X: Doubles, seed: int) -> tuple[Any, NDArray[Any], Doubles | None]:
        """A fitted model, labels or flags of the rows, and the scores of a detector."""
        model = seeded_clone(self.estimator, seed).fit(X[draw_rows(len(X), self.most_rows, seed)])
        if not self.is_detector:
            labels = model.labels_ if hasattr(model, "labels_") else model.predict(X)
            return model, np.asarray(labels, dtype=np.int64), None
        if hasattr(model, "negative_outlier_factor_"):
            # Local outlier factors of training rows leave the row out; score_samples would not.
            scores = np.asarray(model.negative_outlier_factor_) - model.offset_
        else:
            scores = np.asarray(model.decision_function(X), dtype=np.float64)
        return model, scores < 0, scores


def _ours(estimator: Any, **settings: Any) -> Method:
    return Method(ESTIMATORS[type(estimator).__name__].method, estimator, **settings)


_LOF = "local outlier factor"
METHODS = {
    method.name: method
    for method in (
        _ours(cluster.AutoClustering()),
        _ours(cluster.AlphaCutClustering()),
        _ours(cluster.SequentialPCM()),
        _ours(cluster.FuzzyCMeans(), number_rule="silhouette"),
        Method("k-means", KMeans(), number_rule="silhouette"),
        Method("gaussian mixture", GaussianMixture(), number_rule="BIC"),
        Method("hdbscan", HDBSCAN(copy=True)),
        _ours(cluster.OneClusterPCM(), rate_parameter="contamination"),
        Method("one-class svm", OneClassSVM(), rate_parameter="nu", most_rows=10_000),
        Method("isolation forest", IsolationForest(), rate_parameter="contamination"),
        Method(_LOF, LocalOutlierFactor(novelty=True), rate_parameter="contamination"),
    )
}


def chosen_methods(methods: Sequence[Any] | None) -> tuple[Method, ...]:
    """The methods that were asked for, all of them by default.

    Parameters
    ----------
    methods : sequence of str and estimators, or None
        Names, in which hyphens, spaces and capitals do not matter, or estimators. "lof" is
        short for one of them.

    Returns
    -------
    tuple of Method
    """
    if methods is None:
        return tuple(METHODS.values())
    if isinstance(methods, str) or not isinstance(methods, Sequence):
        raise ValueError(f"methods must be a list of names or estimators; got {methods!r}.")
    if not methods:
        raise ValueError(f"methods is empty: name one or more of {', '.join(METHODS)}.")
    chosen: dict[str, Method] = {}
    for given in methods:
        method = _named(given) if isinstance(given, str) else _own(given)
        if method.name in chosen:
            raise ValueError(f"methods lists {method.name!r} twice: leave one of them out.")
        chosen[method.name] = method
    return tuple(chosen.values())


def _named(name: str) -> Method:
    def plain(text: str) -> str:
        return "".join(letter for letter in text.lower() if letter.isalnum())

    spelled = {plain(known): method for known, method in METHODS.items()} | {"lof": METHODS[_LOF]}
    if plain(name) not in spelled:
        raise ValueError(
            f"methods lists {name!r}, which is unknown. Choose from {', '.join(METHODS)}, "
            "or pass an estimator."
        )
    return spelled[plain(name)]


def _own(estimator: Any) -> Method:
    """A method of the user's, with all its parameters as they are."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        raise ValueError(
            f"methods lists {estimator!r}, which is neither a name nor an estimator. Pass "
            "an object, e.g. KMeans(3)."
        )
    name = words_of(estimator)
    makes_clusters = is_clusterer(estimator) or hasattr(estimator, "fit_predict")
    if not (makes_clusters or is_outlier_detector(estimator)):
        raise ValueError(
            f"methods lists {name}, which neither finds clusters nor flags outliers. Leave it out."
        )
    return Method(name, estimator)


# ---- the number of clusters for methods that must be told ----------------------------------------


def _choose_number(method: Method, X: Doubles, *, seed: int) -> int:
    """The number of clusters with the best silhouette, or with the smallest BIC.

    Tried, on at most 5,000 rows, are 2 (1 for the BIC, which knows of it) to 20, and no more than a
    fifth of the rows. The silhouette is a mean over at most 2,000 rows; numbers that the method
    does not come up with, because prototypes meet, do not count. Of equally good numbers the
    smallest is taken.

    Parameters
    ----------
    method : Method
        One with a `number_rule`.
    X : array of shape (n, d)
        The rows.
    seed : int
        The seed of the fits and of the sample.

    Returns
    -------
    int
    """
    X = X[draw_rows(len(X), _CHOICE_ROWS, seed)]
    most = min(_MOST_CLUSTERS, max(2, len(X) // _ROWS_A_CLUSTER))
    most = min(most, count_distinct_rows(X, None, most))
    by_silhouette = method.number_rule == "silhouette"
    numbers = range(2 if by_silhouette else 1, most + 1)
    rows = np.random.RandomState(seed).permutation(len(X))[:_SILHOUETTE_ROWS]
    losses = []
    for number in numbers:
        model, labels, _ = method.configured(rate=None, n_clusters=number).fit(X, seed)
        if not by_silhouette:
            losses.append(model.bic(X))
        elif number == len(np.unique(labels[rows])) < len(rows):
            losses.append(-silhouette_score(X[rows], labels[rows]))
        else:
            losses.append(1.0)
    return numbers[int(np.argmin(losses))]


# ---- what a comparison found out about each ------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class _MethodResult:
    """What clusterers and detectors have in common."""

    name: str
    estimator: str
    seconds: float
    reproducibility: Repeats = _NOT_MEASURED
    warnings: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class ClustererResult(_MethodResult):
    """The result of a clusterer in a comparison.

    Parameters
    ----------
    name : str
        The method.
    estimator : str
        The fitted estimator, as text.
    labels : array of shape (n,) or None
        The cluster of each compared row, -1 for unassigned rows; None if the method failed.
    number_from : {"found", "given", "silhouette", "BIC"}
        Where the number of clusters comes from: found by the method, given by the user, or chosen
        by the silhouette or the BIC.
    seconds : float
        The time of a fit, without the choice of the number of clusters.
    seconds_choosing : float
        The time to choose the number of clusters.
    reproducibility : Repeats
        The adjusted Rand index of all pairs of refits, on the rows that they share.
    refit_n_clusters : tuple of int
        The number of clusters in each refit.
    warnings : tuple of str
        The warnings of the method.
    failure : str or None
        Why the method failed.
    """

    labels: NDArray[np.int64] | None
    number_from: str
    seconds_choosing: float
    refit_n_clusters: tuple[int, ...] = ()

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters, without the label -1."""
        return None if self.labels is None else count_clusters(self.labels)

    @property
    def left_out(self) -> float | None:
        """The fraction of unassigned rows."""
        return None if self.labels is None else float(np.mean(self.labels < 0))

    @property
    def may_find_one(self) -> bool:
        """Whether the method can find a single cluster."""
        return self.number_from in ("found", "BIC")

    def to_dict(self) -> dict[str, Any]:
        """Everything except the labels, as a dictionary for JSON."""
        return as_json(
            kind="clusterer",
            method=self.name,
            estimator=self.estimator,
            n_clusters=self.n_clusters,
            number_from=self.number_from,
            left_out=self.left_out,
            reproducibility=self.reproducibility.mean,
            reproducibility_deviation=self.reproducibility.deviation,
            refit_n_clusters=self.refit_n_clusters,
            seconds=None if self.failure else self.seconds,
            seconds_choosing=self.seconds_choosing,
            warnings=self.warnings,
            failure=self.failure,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class DetectorResult(_MethodResult):
    """The result of an outlier detector in a comparison.

    Parameters
    ----------
    name : str
        The method.
    estimator : str
        The fitted estimator, as text.
    scores : array of shape (n,) or None
        The score of each compared row minus the threshold: larger is more typical, and negative is
        an outlier. None if the method failed.
    flagged : array of shape (n,) of bool or None
        Whether the row is an outlier.
    rate : float or None
        The nominal fraction of outliers; None for estimators of the user, which keep their
        parameters.
    n_fitted : int
        The number of rows of the fit.
    held_out : Repeats
        For each refit, the fraction of unseen rows that it flags.
    seconds : float
        The time to fit and to flag all rows.
    reproducibility : Repeats
        The Jaccard index of the flagged rows of all pairs of refits, on the rows that they share.
    warnings : tuple of str
        The warnings of the method.
    failure : str or None
        Why the method failed.
    """

    scores: Doubles | None
    flagged: NDArray[np.bool_] | None
    rate: float | None
    n_fitted: int
    held_out: Repeats = _NOT_MEASURED

    @property
    def flagged_share(self) -> float | None:
        """The fraction of rows that are flagged."""
        return None if self.flagged is None else float(np.mean(self.flagged))

    def to_dict(self) -> dict[str, Any]:
        """Everything except scores and flags, as a dictionary for JSON."""
        return as_json(
            kind="detector",
            method=self.name,
            estimator=self.estimator,
            rate=self.rate,
            flagged=self.flagged_share,
            held_out=self.held_out.mean,
            reproducibility=self.reproducibility.mean,
            reproducibility_deviation=self.reproducibility.deviation,
            n_fitted=self.n_fitted,
            seconds=None if self.failure else self.seconds,
            warnings=self.warnings,
            failure=self.failure,
        )


Result = ClustererResult | DetectorResult


# ---- fits of a method ----------------------------------------------------------------------------


def first_fit(
    method: Method, X: Doubles, *, n_clusters: int | None, rate: float, seed: int
) -> tuple[Method, Result]:
    """The method with all its settings, and its timed fit on all rows."""
    number_from, choice = "found", Attempt[int]()
    if method.number_rule is not None:
        number_from = "given" if n_clusters is not None else method.number_rule
    if number_from not in ("found", "given"):
        with one_thread():  # small products of matrices lose more to threads than they win
            choice = attempt(lambda: _choose_number(method, X, seed=seed), catch=FIT_ERRORS)
        n_clusters = choice.value
    method = method.configured(rate=rate, n_clusters=n_clusters)
    fit: Attempt[Any] = Attempt(failure=choice.failure)
    if choice.failure is None:
        # The first fit compiles code of ours, which depends on the number of rows, or loads that of
        # others: it is not counted.
        compiles = type(method.estimator).__module__.startswith("typicality.")
        warm_up = X if compiles else X[:_WARM_UP_ROWS]
        attempt(lambda: method.fit(warm_up, seed), catch=FIT_ERRORS)
        fit = attempt(lambda: method.fit(X, seed)[1:], catch=FIT_ERRORS)
    found, scores = fit.value or (None, None)
    remarks = [first_line(w) for kind, w in fit.warnings if not issubclass(kind, _FOR_DEVELOPERS)]
    if choice.value == _MOST_CLUSTERS:
        most = f"{_MOST_CLUSTERS} clusters are the most that were tried; there may be more."
        remarks = [most, *remarks]
    about: dict[str, Any] = {
        "name": method.name,
        "estimator": words_of(seeded_clone(method.estimator, seed)),
        "seconds": fit.seconds,
        "warnings": tuple(dict.fromkeys(remarks)),
        "failure": fit.failure,
    }
    if not method.is_detector:
        return method, ClustererResult(
            labels=found, number_from=number_from, seconds_choosing=choice.seconds, **about
        )
    return method, DetectorResult(
        scores=scores,
        flagged=found,
        rate=None if method.rate_parameter is None else rate,
        n_fitted=0 if found is None else min(len(X), method.most_rows or len(X)),
        **about,
    )


def refit(method: Method, X: Doubles, rows: Places, seed: int) -> tuple[NDArray[Any], float | None]:
    """Labels or flags of some rows by a fit on them, and the share flagged of the others."""
    model, found, _ = method.fit(X[rows], seed)
    unseen = np.setdiff1d(np.arange(len(X)), rows, assume_unique=True)
    if not (method.is_detector and len(unseen) and hasattr(model, "predict")):
        return found, None
    return found, float(np.mean(model.predict(X[unseen]) == -1))


def with_refits(result: Result, drawn: Sequence[Places], refits: Sequence[Attempt[Any]]) -> Result:
    """The result of a method with what its refits say."""
    pairs = zip(drawn, refits, strict=True)
    fits = [(rows, *one.value) for rows, one in pairs if one.value is not None]
    found = [(rows, labels_or_flags) for rows, labels_or_flags, _ in fits]
    failures = [one.failure for one in refits if one.failure is not None]
    remarks = result.warnings
    if failures:
        remarks += (f"{len(failures)} of {len(refits)} refits failed: {failures[0]}",)
    told: dict[str, Any] = {"warnings": remarks}
    if isinstance(result, ClustererResult):
        told["reproducibility"] = agreement_of_refits(found, measure=adjusted_rand_score)
        told["refit_n_clusters"] = tuple(count_clusters(labels) for _, labels in found)
    else:
        told["reproducibility"] = agreement_of_refits(found, measure=jaccard_score)
        told["held_out"] = Repeats(tuple(share for *_, share in fits if share is not None))
    return replace(result, **told)
