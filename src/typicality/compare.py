"""Several methods on the same rows, and which of them agree."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_outlier_detector
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.ensemble import IsolationForest
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM
from sklearn.utils import check_random_state

from typicality import cluster
from typicality._arguments import check_same_length, check_whole
from typicality._checks import (
    check_distinct_rows,
    check_magnitudes,
    check_rows,
    check_varying_rows,
)
from typicality._typing import Doubles, Places
from typicality.metrics import jaccard_score
from typicality.metrics.partitions import count_clusters
from typicality.rows import Features

_FEWEST_ROWS = 10
# What estimators raise on data that they cannot use; anything else is a mistake, and is not hidden.
_FIT_ERRORS = (ValueError, ArithmeticError, RuntimeError, MemoryError)
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)

# Each method, and its parameter that gets the number of clusters or the fraction of outliers.
METHODS: dict[str, tuple[Any, str]] = {
    "auto": (cluster.AutoClustering(), ""),
    "alpha-cut": (cluster.AlphaCutClustering(), ""),
    "sequential": (cluster.SequentialPCM(), ""),
    "fcm": (cluster.FuzzyCMeans(), "n_clusters"),
    "k-means": (KMeans(), "n_clusters"),
    "gaussian mixture": (GaussianMixture(), "n_components"),
    "hdbscan": (HDBSCAN(copy=True), ""),
    "one-cluster": (cluster.OneClusterPCM(), "contamination"),
    "one-class svm": (OneClassSVM(), "nu"),
    "isolation forest": (IsolationForest(), "contamination"),
    "local outlier factor": (LocalOutlierFactor(), "contamination"),
}


@dataclass(frozen=True, eq=False)
class MethodResult:
    """One fit of a method.

    Parameters
    ----------
    name : str
        The method.
    estimator : estimator
        The fitted estimator.
    is_detector : bool
        Whether the method flags outliers; otherwise it finds clusters.
    labels : array of shape (n,) or None
        The cluster of each row, -1 for unassigned rows; for detectors, -1 for outliers and 0 for
        other rows. None if the method failed.
    seconds : float
        The time of the fit.
    warnings : tuple of str
        The warnings of the method.
    failure : str or None
        Why the method failed.
    """

    name: str
    estimator: Any
    is_detector: bool
    labels: NDArray[np.int64] | None
    seconds: float
    warnings: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters; None for detectors and failed methods."""
        return None if self.labels is None or self.is_detector else count_clusters(self.labels)

    @property
    def unassigned(self) -> float | None:
        """The fraction of rows that are unassigned, or flagged as outliers."""
        return None if self.labels is None else float(np.mean(self.labels < 0))


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of :func:`compare_methods`. Print it for tables and findings.

    Parameters
    ----------
    n_rows, n_features : int
        The size of the data.
    rows : array of int
        The numbers of the compared rows: all rows, or a sample.
    results : tuple of MethodResult
        The result of each method.
    known : array of shape (n,) or None
        The known classes of the compared rows.
    n_clusters : int or None
        The number of clusters that methods were given if they need it.
    """

    n_rows: int
    n_features: int
    rows: Places
    results: tuple[MethodResult, ...]
    known: NDArray[Any] | None
    n_clusters: int | None

    @property
    def labels(self) -> dict[str, NDArray[np.int64]]:
        """The labels of the compared rows, by method, of clusterers that worked."""
        return {r.name: r.labels for r in self._worked if not r.is_detector}

    @property
    def flagged(self) -> dict[str, NDArray[np.bool_]]:
        """Which of the compared rows are outliers, by method, of detectors that worked."""
        return {r.name: r.labels < 0 for r in self._worked if r.is_detector}

    @property
    def _worked(self) -> list[Any]:
        return [r for r in self.results if r.labels is not None]

    @property
    def label_agreement(self) -> dict[str, dict[str, float]]:
        """The adjusted Rand index of all pairs of clusterers; -1 is treated as a cluster.

        Known classes are the first entry, "known".
        """
        known = {} if self.known is None else {"known": self.known}
        return _agreement(known | self.labels, adjusted_rand_score)

    @property
    def flag_agreement(self) -> dict[str, dict[str, float]]:
        """The Jaccard index of the flagged rows of all pairs of detectors."""
        return _agreement(self.flagged, jaccard_score)

    @property
    def findings(self) -> tuple[str, ...]:
        """What the tables do not show, as sentences: failures, and what methods were given."""
        sentences = [f"{r.name} failed: {r.failure}" for r in self.results if r.failure]
        if len(self.rows) < self.n_rows:
            sentences.append(f"Only {len(self.rows):,} rows, drawn at random, were compared.")
        informed = ", ".join(n for n in self.labels if METHODS.get(n, (None, ""))[1])
        if informed:
            sentences.append(f"Number of clusters given to {informed}: {self.n_clusters}.")
        if len(self.flagged) > 1:
            flags = np.array(list(self.flagged.values()))
            sentences.append(
                f"{flags.any(axis=0).sum():,} rows are flagged by at least one of {len(flags)} "
                f"detectors, {flags.all(axis=0).sum():,} by all."
            )
        return tuple(sentences)

    def table(self) -> list[dict[str, Any]]:
        """One entry per method: clusters, unassigned rows, seconds, agreement with the first.

        A clusterer is compared with the known classes, or else with the first clusterer; a detector
        with the first detector.
        """
        matrices = (self.label_agreement, self.flag_agreement)
        agreement = {
            k: v for matrix in matrices for k, v in next(iter(matrix.values()), {}).items()
        }
        return [
            {
                "method": r.name,
                "kind": "detector" if r.is_detector else "clusterer",
                "clusters": r.n_clusters,
                "unassigned": r.unassigned,
                "agreement": agreement.get(r.name),
                "seconds": r.seconds,
                "failure": r.failure,
                "warnings": list(r.warnings),
            }
            for r in self.results
        ]

    def to_pandas(self) -> Any:
        """One row per method, as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.table())

    def to_dict(self) -> dict[str, Any]:
        """Everything except labels, as a dictionary for JSON."""
        return {
            "n_rows": self.n_rows,
            "n_compared": len(self.rows),
            "n_features": self.n_features,
            "n_clusters": self.n_clusters,
            "methods": self.table(),
            "label_agreement": self.label_agreement,
            "flag_agreement": self.flag_agreement,
            "findings": list(self.findings),
        }

    @property
    def sections(self) -> dict[str, str]:
        """The tables and findings as text, by heading."""
        lines = [("method", "clusters", "unassigned", "agreement", "seconds")]
        for entry in self.table():
            clusters = "failed" if entry["failure"] else _cell(entry["clusters"], "d")
            rest = (_cell(entry["unassigned"], ".1%"), _cell(entry["agreement"], ".2f"))
            lines.append((entry["method"], clusters, *rest, _cell(entry["seconds"], ".2f")))
        first = "first clusterer or detector"
        if self.known is not None:
            first = "known classes, or the first detector"
        about = "Unassigned: rows in no cluster, or flagged as outliers. Agreement: with the"
        sections = {"Methods": f"{text_table(lines)}\n{about} {first}."}
        for heading, matrix in (
            ("Agreement of clusters (adjusted Rand index)", self.label_agreement),
            ("Agreement on outliers (Jaccard index)", self.flag_agreement),
        ):
            if len(matrix) > 1:
                sections[heading] = _agreement_table(matrix)
        sections["Findings"] = "\n".join(f"- {sentence}" for sentence in self.findings)
        return {heading: text for heading, text in sections.items() if text}

    def __repr__(self) -> str:
        return "\n\n".join(f"{heading}\n{text}" for heading, text in self.sections.items())


def compare_methods(
    X: ArrayLike,
    *,
    methods: Sequence[Any] | None = None,
    known: ArrayLike | None = None,
    n_clusters: int | None = None,
    contamination: float = 0.05,
    random_state: Any = None,
    max_rows: int = 5_000,
) -> Comparison:
    """Compare methods of typicality with k-means, Gaussian mixtures, HDBSCAN and others.

    Every method is fitted once, with the default parameters of its library. The agreement of two
    clusterers is the adjusted Rand index, with all unassigned rows as one more cluster. The
    agreement of two outlier detectors is the Jaccard index of the flagged rows.

    fcm, k-means and Gaussian mixture need the number of clusters. Without `n_clusters`, they get
    the number that :class:`~typicality.AutoClustering` finds.

    Methods that agree can all be wrong. If they disagree, the clusters are not clearly separated,
    or the methods define a cluster differently.

    Original to typicality.

    Parameters
    ----------
    X : array-like or dataframe of shape (n_samples, n_features)
        The rows, at least ten. They are not scaled, so scale features with different units first.
    methods : sequence of str and estimators, optional
        The methods. By default, all: the clusterers "auto", "alpha-cut", "sequential", "fcm",
        "k-means", "gaussian mixture" and "hdbscan", and the outlier detectors "one-cluster",
        "one-class svm", "isolation forest" and "local outlier factor". Estimators of your own need
        `fit_predict`, and keep their parameters, but a `random_state` of None is replaced by a
        seed.
    known : array-like of shape (n_samples,), optional
        Known classes. The methods do not see them.
    n_clusters : int, optional
        The number of clusters for the methods that need it.
    contamination : float, default=0.05
        The fraction of outliers that all detectors should flag.
    random_state : int, RandomState or None, default=None
        The seed. Pass an int for reproducible results (except for the seconds).
    max_rows : int, default=5_000
        If there are more rows, a random sample of this size is compared.

    Returns
    -------
    Comparison
        The result. If a method fails, the comparison continues, and the result has the reason.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from typicality.stability import compare_methods
    >>> X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> found = compare_methods(X, methods=["sequential", "k-means"], known=y, random_state=0)
    >>> found.label_agreement["sequential"]["k-means"]
    1.0
    """
    estimators = chosen_methods(methods)
    check_rate(contamination, "contamination")
    if n_clusters is not None:
        n_clusters = check_whole(n_clusters, "n_clusters", least=1)
    max_rows = check_whole(max_rows, "max_rows", least=_FEWEST_ROWS)
    every_row = check_rows(BaseEstimator(), X, training=True, at_least=0)
    if len(every_row) < _FEWEST_ROWS:
        raise ValueError(f"X has {len(every_row)} row(s); pass {_FEWEST_ROWS} rows or more.")
    rng = check_random_state(random_state)
    rows = np.sort(rng.permutation(len(every_row))[:max_rows])
    seed = int(rng.randint(np.iinfo(np.int32).max))
    compared = every_row[rows].astype(np.float64, copy=False)
    check_varying_rows(compared, None)
    check_distinct_rows(compared, None, n_clusters or 1)
    # HDBSCAN of scikit-learn never ends where squared distances overflow.
    check_magnitudes(Features.of(compared), compared.dtype)
    classes = None if known is None else np.asarray(known)
    if classes is not None:
        check_same_length(len(every_row), "X", len(classes), "known")
        classes = classes[rows]
    need = [each for each, given in estimators.values() if given]
    if n_clusters is None and not all(map(is_outlier_detector, need)):
        auto = _fit("auto", METHODS["auto"][0], compared, seed)
        if auto.n_clusters is None:
            raise ValueError(f"auto found no number of clusters: {auto.failure} Pass n_clusters.")
        n_clusters = max(1, auto.n_clusters)
    results = []
    for name, (estimator, given) in estimators.items():
        value = contamination if is_outlier_detector(estimator) else n_clusters
        model = clone(estimator).set_params(**({given: value} if given else {}))
        results.append(_fit(name, model, compared, seed))
    shape = every_row.shape
    return Comparison(shape[0], shape[1], rows, tuple(results), classes, n_clusters)


def _fit(name: str, estimator: Any, X: Doubles, seed: int) -> MethodResult:
    """The labels of a method, how long it took, and what it warned of."""
    model = seeded_clone(estimator, lambda: seed)
    labels, failure = None, None
    is_detector = bool(is_outlier_detector(model))
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            labels = np.asarray(model.fit_predict(X), dtype=np.int64)
        except _FIT_ERRORS as error:
            failure = _first_line(error) or type(error).__name__
    seconds = perf_counter() - start
    if labels is not None and is_detector:
        labels = np.where(labels < 0, -1, 0)
    remarks = [w.message for w in caught if not issubclass(w.category, _FOR_DEVELOPERS)]
    distinct = tuple(dict.fromkeys(map(_first_line, remarks)))
    return MethodResult(name, model, is_detector, labels, seconds, distinct, failure)


def seeded_clone(estimator: Any, draw: Callable[[], int]) -> Any:
    """An unfitted copy; each `random_state` of None, its own or of a part of it, gets a seed."""
    seeds = {
        name: draw()
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and name.split("__")[-1] == "random_state"
    }
    return clone(estimator).set_params(**seeds)


def _first_line(message: Any) -> str:
    return next((line.strip() for line in str(message).splitlines() if line.strip()), "")


def _agreement(
    results: Mapping[str, NDArray[Any]], measure: Callable[[Any, Any], float]
) -> dict[str, dict[str, float]]:
    """The agreement of all pairs of results on the same rows."""
    matrix = {name: dict.fromkeys(results, 1.0) for name in results}
    for (first, a), (second, b) in combinations(results.items(), 2):
        matrix[first][second] = matrix[second][first] = float(measure(a, b))
    return matrix


def check_rate(rate: Any, name: str) -> None:
    """A fraction of rows that are outliers."""
    if isinstance(rate, bool) or not isinstance(rate, Real) or not 0 < float(rate) <= 0.5:
        raise ValueError(f"{name} must be a fraction above 0 and at most 0.5; got {rate!r}.")


def chosen_methods(methods: Sequence[Any] | None) -> dict[str, tuple[Any, str]]:
    """The methods that were asked for, all of them by default, as `METHODS` has them.

    In names, hyphens, spaces and capitals do not matter; "lof" is short for one of them.
    """
    if methods is None:
        return METHODS
    if isinstance(methods, str) or not isinstance(methods, Sequence) or not methods:
        raise ValueError(
            f"methods must be a list of one or more of {', '.join(METHODS)}; got {methods!r}."
        )
    spelled = {_plain(name): name for name in METHODS} | {"lof": "local outlier factor"}
    chosen = {}
    for given in methods:
        name = spelled.get(_plain(given)) if isinstance(given, str) else None
        if name is None and (isinstance(given, type) or not hasattr(given, "fit_predict")):
            raise ValueError(
                f"the method {given!r} is unknown. Choose from {', '.join(METHODS)}, "
                "or pass an estimator with fit_predict, e.g. KMeans(3)."
            )
        chosen[name or " ".join(repr(given).split())] = METHODS[name] if name else (given, "")
    return chosen


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


# ---- tables of text ------------------------------------------------------------------------------


def _agreement_table(matrix: Mapping[str, Mapping[str, float]]) -> str:
    """A row for each method, with the methods as numbered columns."""
    lines = [("", *(str(number) for number in range(1, len(matrix) + 1)))]
    for number, (name, row) in enumerate(matrix.items(), 1):
        cells = ["" if other == name else _cell(value, ".2f") for other, value in row.items()]
        lines.append((f"{number} {name}", *cells))
    return text_table(lines)


def _cell(value: Any, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def text_table(lines: Sequence[Sequence[str]]) -> str:
    """A header and rows, in columns of equal width: the first to the left, others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    )
