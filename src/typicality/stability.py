"""Stability of results under resampling, and comparison with other methods.

The functions measure how much outliers and clusters change between random halves of the rows, for
any scikit-learn estimator, and choose parameters by this stability. Others compare methods on the
same rows, or compute p-values for any outlier detector.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from sklearn.base import (
    clone,
    is_outlier_detector,
)
from sklearn.metrics.cluster import contingency_matrix
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from typicality._arguments import check_choice, check_whole
from typicality._compat import n_rows_of, safe_split
from typicality._typing import Doubles, Places
from typicality.compare import (
    Comparison,
    MethodResult,
    check_rate,
    compare_methods,
    seeded_clone,
    text_table,
)
from typicality.exceptions import ClusteringWarning, warn
from typicality.metrics import jaccard_score
from typicality.metrics.partitions import count_clusters

__all__ = [
    "ClusteringStability",
    "Comparison",
    "MethodResult",
    "OutlierStability",
    "StabilityTable",
    "choose_by_stability",
    "clustering_stability",
    "compare_methods",
    "cross_conformal_p_values",
    "outlier_stability",
]

Labels = NDArray[np.int_]
Score = str | Callable[[Any, Any], Any] | None
Value = TypeVar("Value")

_LARGEST_SEED = np.iinfo(np.int32).max
_FEWEST_ROWS = 4  # two in each half
_TOLERANCE = 0.03  # settings that are less stable than the best by this are as stable
_ROUNDING = 1e-9
# Of random labellings: the mean is then known to half a per cent; to two of fewer than ten rows.
_ROWS_DRAWN, _FEWEST_DRAWS = 20_000, 20
_EQUAL_SCORES = 1e-12  # scores of equal rows differ by it, when a row is scored in another batch


# ---- resampling ----------------------------------------------------------------------------------


def _repeat(
    work: Callable[[int], Value], n_repeats: int, *, random_state: Any, n_jobs: int | None
) -> list[Value]:
    """What `work` returns for each of several seeds, which are drawn before any work starts."""
    n_repeats = check_whole(n_repeats, "n_repeats", least=1)
    seeds = check_random_state(random_state).randint(_LARGEST_SEED, size=n_repeats).tolist()
    return _run_parallel([partial(work, seed) for seed in seeds], n_jobs)


def _run_parallel(works: Iterable[Callable[[], Value]], n_jobs: int | None) -> list[Value]:
    """The values of pieces of work, in their order.

    Each runs on one thread, so that its value does not depend on how many run at the same time.
    """
    with threadpool_limits(1):
        return list(Parallel(n_jobs=n_jobs)(delayed(_on_one_thread)(work) for work in works))


def _on_one_thread(work: Callable[[], Value]) -> Value:
    with threadpool_limits(1):  # again: it may run in another process
        return work()


def _draw_seed(rng: np.random.RandomState) -> Callable[[], int]:
    return lambda: int(rng.randint(_LARGEST_SEED))


def _take(estimator: Any, X: Any, rows: Places, *, trained_on: Places) -> Any:
    """Some rows of X, as the estimator takes them; of a square matrix also the columns."""
    return safe_split(estimator, X, None, rows, trained_on)[0]


def _halves(estimator: Any, X: Any, rng: np.random.RandomState) -> tuple[Any, Any, Any, Any, Any]:
    """Two unfitted copies, the random half of the rows for each, and the second half for the first.

    The second half has one row more if their number is odd.
    """
    order = rng.permutation(n_rows_of(X))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    one, two = (seeded_clone(estimator, _draw_seed(rng)) for _ in range(2))
    rows_1 = _take(one, X, first, trained_on=first)
    rows_2 = _take(two, X, second, trained_on=second)
    return one, two, rows_1, rows_2, _take(one, X, second, trained_on=first)


def _mean(scores: Doubles) -> Any:
    """The mean over repetitions; NaN are left out, unless most scores are NaN."""
    n = np.count_nonzero(~np.isnan(scores), axis=0)
    mean = np.nansum(scores, axis=0) / np.maximum(n, 1)
    return np.where(2 * n >= len(scores), mean, np.nan)


def _standard_error(scores: Doubles) -> Any:
    """The standard error of the mean; NaN for a single score."""
    n = np.count_nonzero(~np.isnan(scores), axis=0)
    squares = np.nansum((scores - _mean(scores)) ** 2, axis=0)
    return np.sqrt(squares / np.where((n > 1) & (2 * n >= len(scores)), n * (n - 1), np.nan))


class _Repeated:
    """Scores of repetitions, one column for each setting."""

    scores: Any

    @property
    def mean(self) -> Any:
        """The mean score of each setting; NaN if most of its scores are NaN."""
        return _mean(self.scores)

    @property
    def standard_error(self) -> Any:
        """The standard error of each mean; NaN for a single repetition.

        It includes only the random choice of halves. Other rows from the same source can change the
        mean more.
        """
        return _standard_error(self.scores)


def _check_rows(X: Any, estimator: Any) -> Any:
    """Rows that can be taken by number; the estimator checks their values."""
    takes_matrix = get_tags(estimator).input_tags.pairwise
    (X,) = indexable(X if not takes_matrix or issparse(X) else np.asarray(X))
    n_rows = int(n_rows_of(X))
    if n_rows < _FEWEST_ROWS:
        raise ValueError(
            f"X has {n_rows} row(s) (n_samples={n_rows}), and at least {_FEWEST_ROWS} are needed "
            "to split them. Pass more rows."
        )
    return X


# ---- clusters ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringStability(_Repeated):
    """How well clusterings of two halves of the rows agree; see :func:`clustering_stability`.

    Parameters
    ----------
    distances : array of shape (n_repeats,)
        The fraction of rows with different labels, under the best matching of clusters.
    random_distances : array of shape (n_repeats,)
        The same fraction for random labels with the same numbers of clusters. NaN if both halves
        have a single cluster.
    n_clusters : array of int of shape (n_repeats, 2)
        The numbers of clusters in the second half: those transferred from the first half, and those
        of its own fit.
    """

    distances: Doubles
    random_distances: Doubles
    n_clusters: NDArray[np.int_]

    @property
    def scores(self) -> Any:
        """One minus the instability of each repetition; NaN if both halves have one cluster.

        1 means equal clusters, and 0 no more agreement than random labels.
        """
        return 1.0 - self.distances / self.random_distances

    @property
    def stability(self) -> float:
        """The mean of the scores; NaN if most repetitions have a single cluster."""
        return float(self.mean)

    @property
    def typical_n_clusters(self) -> float:
        """The median number of clusters that were found in a half."""
        return float(np.median(self.n_clusters[:, 1]))

    def __repr__(self) -> str:
        return (
            f"Stability {self.stability:.3f}, standard error {self.standard_error:.3f}, "
            f"{self.typical_n_clusters:g} clusters"
        )


def clustering_stability(
    clusterer: Any,
    X: Any,
    *,
    n_repeats: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ClusteringStability:
    r"""How stable clusters are between random halves of the rows.

    The rows are split into two random halves, and a copy of the clusterer is fitted on each. The
    second half :math:`X_2`, with :math:`n_2` rows, then has two labels per row: :math:`z_i` from
    its own clusterer, and :math:`\phi(x_i)` from `predict` of the first clusterer. Their distance
    is

    .. math:: d = \min_\pi \frac{1}{n_2} \sum_{i \in X_2} [\phi(x_i) \ne \pi(z_i)],

    the fraction of rows with different labels, under the best matching :math:`\pi` of clusters. The
    *instability* is this distance, divided by the distance of random labels with the same numbers
    of clusters. 0 is perfect, and 1 is no better than random. The *stability* is one minus the
    instability. This is repeated with new splits.

    A clustering can be stable and wrong: separate groups can be just as stable if they are merged
    in pairs. Therefore :func:`choose_by_stability` prefers more clusters among equally stable
    settings.

    - *Different numbers of clusters* in the halves: the additional clusters match no cluster.
    - *Unassigned rows* (-1) match only unassigned rows. Random labels have the same fractions of
      unassigned rows.
    - *A single cluster in both halves*: the score is NaN, with a warning, because all labels agree.
      If this happens in most repetitions, the mean is NaN, too.
    - *Clusters of very different sizes* agree more by chance than the random labels, which have
      clusters of equal size. For example, random labels with 90 % of the rows in one of two
      clusters have a stability of 0.6. So compare only settings with similar cluster sizes.
    - *Soft clusterers* are compared by the labels of `predict`.

    The same `random_state` gives the same splits for every clusterer and setting. A repetition
    costs two fits.

    Implements :cite:`lange2004`, as described in :cite:`filippone2010`, section V-B. Differs from
    the paper: the halves can have different numbers of clusters and unassigned rows. The distance
    of random labels is estimated from random draws, to half a per cent.

    Parameters
    ----------
    clusterer : estimator
        A clusterer of typicality or scikit-learn, a Gaussian mixture, or a pipeline that ends in
        one. Clusterers without `predict`, such as ``HDBSCAN``, give a new row the label of the
        nearest row of their fit.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The rows. With ``kernel="precomputed"``, the square matrix.
    n_repeats : int, default=20
        The number of splits.
    random_state : int, RandomState or None, default=None
        The seed of the splits, and of estimators whose own `random_state` is None. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        The number of repetitions that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.

    Returns
    -------
    ClusteringStability
        The result, with `stability`, `standard_error` and `scores`.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from typicality.stability import clustering_stability
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> clustering_stability(KMeans(3, n_init=10), X, random_state=0).stability
    1.0
    """
    if is_outlier_detector(clusterer):
        raise ValueError(
            f"{clusterer!r} flags outliers and finds no clusters: use outlier_stability for it."
        )
    if not hasattr(clusterer, "predict") and get_tags(clusterer).input_tags.pairwise:
        raise ValueError(
            f"{clusterer!r} has no predict, and takes a square matrix, among whose rows no nearest "
            "one is searched."
        )
    work = partial(_cluster_halves, clusterer, _check_rows(X, clusterer))
    outcomes = _repeat(work, n_repeats, random_state=random_state, n_jobs=n_jobs)
    distances, random_distances, *n_clusters = map(np.array, zip(*outcomes, strict=True))
    n_single = int(np.isnan(random_distances).sum())
    if n_single:
        warn(
            f"In {n_single:,} of {n_repeats:,} repetitions neither half has two clusters; "
            "such repetitions do not measure stability.",
            "Ask for more clusters, or for a finer resolution.",
            ClusteringWarning,
            "halves of one cluster",
            n_single=n_single,
            n_repeats=n_repeats,
        )
    return ClusteringStability(distances, random_distances, np.column_stack(n_clusters))


def _cluster_halves(clusterer: Any, X: Any, seed: int) -> tuple[float, ...]:
    """The distance of two labellings of the second half, that of random ones, and their sizes."""
    one, two, rows_1, rows_2, unseen = _halves(clusterer, X, check_random_state(seed))
    one.fit(rows_1)
    two.fit(rows_2)
    last_1, last_2 = (getattr(model, "steps", [[model]])[-1][-1] for model in (one, two))
    if hasattr(one, "predict"):
        transferred = one.predict(unseen)
    else:  # the labels of the nearest rows of the fit
        if last_1 is not one:
            rows_1, unseen = one[:-1].transform(rows_1), one[:-1].transform(unseen)
        transferred = KNeighborsClassifier(1).fit(rows_1, last_1.labels_).predict(unseen)
    own = last_2.labels_ if hasattr(last_2, "labels_") else two.predict(rows_2)
    # scikit-learn's HDBSCAN has other negative labels than -1, for rows it cannot use.
    transferred, own = (np.maximum(np.asarray(labels), -1) for labels in (transferred, own))
    n_clusters = count_clusters(transferred), count_clusters(own)
    expected = np.nan
    if max(n_clusters) > 1:
        shares = float(np.mean(transferred < 0)), float(np.mean(own < 0))
        expected = random_distance(len(own), *n_clusters, nowhere=shares)
    return labelling_distance(transferred, own), expected, *n_clusters


def labelling_distance(first: Labels, second: Labels) -> float:
    r"""The share of rows that differ under the best matching of clusters.

    .. math:: d(a, b) = \min_\pi \frac{1}{n} \sum_i [a_i \ne \pi(b_i)],

    over the one-to-one matchings of the clusters of one labelling with those of the other. They
    need not have equally many: what is left over matches nothing. Rows that belong nowhere (-1)
    agree with rows that belong nowhere and with no others.

    Parameters
    ----------
    first, second : array of int of shape (n,)
        Labels of the same rows.

    Returns
    -------
    float
        In [0, 1].
    """
    # A row of -1 more in each, so that the first row and column of the table are "nowhere".
    table = contingency_matrix(np.append(first, -1), np.append(second, -1))
    table[0, 0] -= 1
    return 1.0 - _agreeing(table) / len(first)


def _agreeing(table: NDArray[np.int_]) -> int:
    clusters = table[1:, 1:]
    return int(table[0, 0] + clusters[linear_sum_assignment(clusters, maximize=True)].sum())


@lru_cache(maxsize=4096)
def random_distance(
    n_rows: int, n_first: int, n_second: int, *, nowhere: tuple[float, float] = (0.0, 0.0)
) -> float:
    """The mean distance of two labellings drawn at random, each row for itself.

    A row belongs nowhere with the shares that are given, and to each cluster with the same
    probability. Such labellings make a multinomial table, of which 20 are drawn or more, the fewer
    the rows, with a seed of their own: the same arguments always give the same number.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    n_first, n_second : int
        The numbers of clusters.
    nowhere : (float, float), default=(0.0, 0.0)
        The shares of rows that belong nowhere.

    Returns
    -------
    float
    """
    chances = np.outer(_chances(n_first, nowhere[0]), _chances(n_second, nowhere[1]))
    rng = np.random.default_rng(0)
    n_draws = max(_FEWEST_DRAWS, _ROWS_DRAWN // n_rows)
    # One by one: with hundreds of clusters a table is large.
    tables = (rng.multinomial(n_rows, chances.ravel()) for _ in range(n_draws))
    agreeing = [_agreeing(table.reshape(chances.shape)) for table in tables]
    return 1.0 - float(np.mean(agreeing)) / n_rows


def _chances(n_clusters: int, nowhere: float) -> Doubles:
    placed = np.full(n_clusters, (1.0 - nowhere) / max(n_clusters, 1))
    return np.concatenate(([nowhere if n_clusters else 1.0], placed))


# ---- outliers ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class OutlierStability(_Repeated):
    """How well detectors fitted on two halves of the rows agree; see :func:`outlier_stability`.

    Parameters
    ----------
    rates : tuple of float
        The fractions of rejected rows.
    scores : array of shape (n_repeats, n_rates)
        The Jaccard indices, from 0 to 1.
    """

    rates: tuple[float, ...]
    scores: Doubles

    def to_pandas(self) -> Any:
        """The mean and its standard error at each rate, as a pandas DataFrame."""
        import pandas as pd

        columns = {"mean": self.mean, "standard error": self.standard_error}
        return pd.DataFrame(columns, index=pd.Index(self.rates, name="rate"))

    def __repr__(self) -> str:
        numbers = zip(self.rates, self.mean, self.standard_error, strict=True)
        lines = [(f"{rate}", f"{mean:.3f}", f"{error:.3f}") for rate, mean, error in numbers]
        return text_table([("rate", "mean", "standard error"), *lines])


def outlier_stability(
    detector: Any,
    X: Any,
    *,
    rates: float | Sequence[float] = (0.01, 0.05, 0.1),
    rate_parameter: str | None = None,
    transfer: str = "threshold",
    score: Score = None,
    n_repeats: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OutlierStability:
    r"""How stable outliers are between random halves of the rows.

    The rows are split into two random halves :math:`X_1` and :math:`X_2`, and a copy of the
    detector is fitted on each. Then two sets of outliers in :math:`X_2` are compared. The first set
    are the m rows with the lowest scores by the detector of :math:`X_2`, where m is the rate times
    the number of rows in :math:`X_2`, at least 1. The second set are the rows of :math:`X_2` that
    the detector of :math:`X_1` rejects. The agreement of the two sets is their Jaccard index; 1 is
    perfect. This is repeated with new splits.

    Outliers are the rows with the lowest scores; `predict` of the detector is not used. So all
    detectors reject the same number of rows. Ties are broken at random.

    The same `random_state` gives the same splits for every detector and setting. So the scores of
    two results can be subtracted, repetition by repetition.

    A repetition costs two fits for all rates together; with `rate_parameter`, two fits per rate.

    Implements :cite:`filippone2010`, table II. Differs from the paper: the rate determines the
    number of rejected rows, not a one-class SVM. ``transfer="rank"`` is original to typicality.

    Parameters
    ----------
    detector : estimator
        A detector with `fit`, and with `score_samples` or `decision_function` (larger for more
        typical rows). Examples are detectors of typicality and scikit-learn (LocalOutlierFactor
        with ``novelty=True``), densities (KernelDensity), and pipelines that end in one.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The rows. With ``kernel="precomputed"``, the square matrix.
    rates : float or sequence of float, default=(0.01, 0.05, 0.1)
        The fractions of rows to reject, above 0 and at most 0.5.
    rate_parameter : str, optional
        A parameter of the detector that is set to each rate, for example "nu" of
        :class:`sklearn.svm.OneClassSVM`. Use it if the scores depend on this parameter.
    transfer : {"threshold", "rank"}, default="threshold"
        Which rows of :math:`X_2` the detector of :math:`X_1` rejects. "threshold", as in the paper:
        the rows with a score of at most the m-th lowest score in :math:`X_1`. "rank": the m rows of
        :math:`X_2` with the lowest scores. "rank" does not include the uncertainty of the
        threshold, which is large if few rows are rejected.
    score : str or callable, optional
        The name of the method that scores rows, or a function of the fitted detector and rows;
        larger is more typical. By default `score_samples`, or `decision_function` if the detector
        has no `score_samples`.
    n_repeats : int, default=100
        The number of splits.
    random_state : int, RandomState or None, default=None
        The seed of the splits, and of estimators whose own `random_state` is None. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        The number of repetitions that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.

    Returns
    -------
    OutlierStability
        The result, with `scores`, `mean`, `standard_error` and `to_pandas`.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import OneClusterPCM
    >>> from typicality.stability import outlier_stability
    >>> X = np.random.RandomState(0).normal(size=(200, 2))
    >>> result = outlier_stability(OneClusterPCM(sigma=2.0), X, n_repeats=10, random_state=0)
    >>> result.scores.shape
    (10, 3)
    """
    if not callable(score):
        _name_of_score(detector, score)
    X = _check_rows(X, detector)
    several = tuple(np.atleast_1d(rates).tolist())
    for rate in several or (0,):
        check_rate(rate, "Every rate")
    if rate_parameter is not None:
        clone(detector).set_params(**{rate_parameter: several[0]})  # refuses unknown names
    check_choice(transfer, "transfer", ("threshold", "rank"))
    work = partial(_detect_in_halves, detector, X, several, rate_parameter, transfer, score)
    scores = _repeat(work, n_repeats, random_state=random_state, n_jobs=n_jobs)
    return OutlierStability(several, np.array(scores))


def _detect_in_halves(
    detector: Any,
    X: Any,
    rates: tuple[float, ...],
    rate_parameter: str | None,
    transfer: str,
    score: Score,
    seed: int,
) -> list[float]:
    """The agreement at each rate, for one split."""
    rng = check_random_state(seed)
    one, two, rows_1, rows_2, unseen = _halves(detector, X, rng)
    agreements = []
    for number, rate in enumerate(rates):
        if rate_parameter is not None or number == 0:
            given = {} if rate_parameter is None else {rate_parameter: rate}
            one.set_params(**given).fit(rows_1)
            two.set_params(**given).fit(rows_2)
            training, transferred, own = (
                _scores_of(model, rows, score)
                for model, rows in ((one, rows_1), (one, unseen), (two, rows_2))
            )
            if any(len(s) > 1 and s.min() == s.max() for s in (training, transferred, own)):
                warn(
                    "All rows have the same score, so which of them are rejected is arbitrary.",
                    "Check the parameters of the detector, e.g. the width of its kernel.",
                    ClusteringWarning,
                    "equal scores",
                )
        n_rejected = max(1, round(rate * len(own)))
        found = _lowest_rows(own, n_rejected, rng)
        if transfer == "rank":
            rejected = _lowest_rows(transferred, n_rejected, rng)
        else:
            nth = max(1, round(rate * len(training))) - 1
            rejected = transferred <= np.partition(training, nth)[nth]
        agreements.append(jaccard_score(found, rejected))
    return agreements


def _scores_of(model: Any, rows: Any, score: Score) -> Doubles:
    """The scores of rows, larger for rows that are more normal; NaN is refused."""
    if not callable(score):
        given = getattr(model, _name_of_score(model, score))(rows)
    else:
        given = score(model, rows)
    scores, n_rows = np.asarray(given, dtype=np.float64), n_rows_of(rows)
    if scores.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"The scores of {n_rows} rows have shape {scores.shape}, expected ({n_rows},): "
            "one number for each row, larger for more normal rows. Use another score=."
        )
    if np.isnan(scores).any():
        raise ValueError(
            f"The detector gives NaN as the score of {np.isnan(scores).sum()} of "
            f"{len(scores)} rows, and such rows cannot be ranked."
        )
    return scores.ravel()


def _name_of_score(detector: Any, score: str | None) -> str:
    """The method that scores rows that a detector was not fitted on."""
    names = ["score_samples", "decision_function"] if score is None else [score]
    for name in names:
        if hasattr(detector, name):
            return name
    raise ValueError(
        f"{detector!r} has no {' and no '.join(names)} to score new rows with. Use a detector that "
        "has one (local outlier factor: novelty=True), or pass score=, a function of the fitted "
        "detector and rows."
    )


def _lowest_rows(scores: Doubles, n_lowest: int, rng: np.random.RandomState) -> NDArray[np.bool_]:
    """Flags of the rows with the lowest scores, so many exactly; ties are broken at random."""
    flags = np.zeros(len(scores), dtype=bool)
    # By the order of the rows, a detector without any scores to speak of would seem stable.
    flags[np.lexsort((rng.random_sample(len(scores)), scores))[:n_lowest]] = True
    return flags


# ---- choice --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class StabilityTable(_Repeated):
    """The stability of several settings; the result of :func:`choose_by_stability`.

    Parameters
    ----------
    settings : tuple of dict
        The parameters of each setting, in the order of the grid.
    scores : array of shape (n_repeats, n_settings)
        The stability in each repetition; NaN where there is a single cluster. All settings see the
        same splits.
    n_clusters : array of shape (n_settings,) or None
        The median number of clusters of each setting; None for outlier detectors.
    best_index : int
        The index of the chosen setting.
    tied : array of int
        The indices of all settings that are equally stable, with the chosen one.
    """

    settings: tuple[dict[str, Any], ...]
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

        columns: dict[str, Any] = {"stability": self.mean, "standard error": self.standard_error}
        if self.n_clusters is not None:
            columns["clusters"] = self.n_clusters
        columns["chosen"] = np.arange(len(self.settings)) == self.best_index
        return pd.concat([pd.DataFrame(self.settings), pd.DataFrame(columns)], axis=1)

    def __repr__(self) -> str:
        lines = [("setting", "stability", "standard error", "chosen")]
        for k, setting in enumerate(self.settings):
            name = ", ".join(f"{key}={value!r}" for key, value in setting.items())
            chosen = "*" if k == self.best_index else ""
            lines.append((name, f"{self.mean[k]:.3f}", f"{self.standard_error[k]:.3f}", chosen))
        return text_table(lines)


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
        A clusterer (see :func:`clustering_stability`), or a detector with `fit`, and
        `score_samples` or `decision_function`. Outlier detectors, and densities without `predict`,
        are judged by their outliers; all others by their clusters.
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
    seed = int(check_random_state(random_state).randint(_LARGEST_SEED))
    options: dict[str, Any] = {"n_repeats": n_repeats, "random_state": seed, "n_jobs": n_jobs}
    n_clusters = None
    has_scores = hasattr(estimator, "score_samples") or hasattr(estimator, "decision_function")
    if is_outlier_detector(estimator) or (has_scores and not hasattr(estimator, "predict")):
        outliers = [outlier_stability(each, X, rates=rates, **options) for each in candidates]
        scores = np.column_stack([found.scores.mean(axis=1) for found in outliers])
    else:
        clusters = [clustering_stability(each, X, **options) for each in candidates]
        scores = np.column_stack([found.scores for found in clusters])
        n_clusters = np.array([found.typical_n_clusters for found in clusters])
    best, tied = choose(scores, n_clusters)
    return StabilityTable(settings, scores, n_clusters, best, tied)


def choose(scores: Doubles, n_clusters: Doubles | None) -> tuple[int, Places]:
    """The most stable setting, and all that are equally stable; see the rule above."""
    means = _mean(scores)
    known = np.flatnonzero(~np.isnan(means))
    if len(known) == 0:
        return 0, np.arange(len(means))
    best = known[np.argmax(means[known])]
    errors = np.nan_to_num(_standard_error(scores[:, [best]] - scores[:, known]))
    # With one bad split of many the mean is behind by one standard error exactly: a tie.
    allowed = np.maximum(errors, _TOLERANCE) + _ROUNDING
    tied = known[means[best] - means[known] <= allowed]
    most = tied if n_clusters is None else tied[n_clusters[tied] == n_clusters[tied].max()]
    return int(most[0]), tied


# ---- p-values ------------------------------------------------------------------------------------


def cross_conformal_p_values(
    detector: Any,
    X: Any,
    X_new: Any,
    *,
    n_splits: int = 10,
    score: Score = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Doubles:
    r"""Cross-conformal p-values of new rows, for any outlier detector.

    The p-value of a new row is the probability that a row from the source of X is as untypical as
    this row. The n reference rows X are split at random into K folds of nearly equal size. For each
    fold k, a copy of the detector is fitted on the other folds; its scores are :math:`S_{-k}`. Let
    :math:`k(i)` be the fold of row i. Then

    .. math:: p(x) = \frac{1 + \#\{i : S_{-k(i)}(x_i) \le S_{-k(i)}(x)\}}{n + 1}

    So a reference row and x are compared by a detector that was fitted without both. This is the
    cross-conformal p-value of :cite:`vovk2015`; with ``n_splits=len(X)``, it is that of the
    jackknife+ of :cite:`barber2021`. :func:`typicality.metrics.select_discoveries` selects outliers
    from p-values at a false discovery rate.

    **What is proven.** For a new row that is exchangeable with the reference rows, and any
    detector,

    .. math:: P(p \le t) \le 2 \, \frac{t (n + 1) + K - 1}{n + K},

    which is less than :math:`2 t + 2 K / n`. This holds because twice a weighted mean of the
    p-values of K split conformal detectors is a p-value (:cite:`vovk2020`). With
    ``n_splits=len(X)``, and a detector that does not depend on the order of rows, :math:`P(p \le t)
    \le 2 t` (:cite:`barber2021`, theorem 1). Then the false discovery rate of ``method="by"`` is at
    most twice its `fdr`. For "bh", there is no proof. All these statements are about the average
    over sets of reference rows.

    **What was measured.** With ten folds of 60 or 200 rows from three sources, the fraction of
    p-values up to .05 is .042 to .057 for a one-class SVM, local outlier factor and kernel density,
    and .027 to .048 for a Gaussian mixture. The fraction up to .1 is .064 to .107. "bh" with
    ``fdr=0.1`` has a false discovery rate of .03 to .08. Detectors that differ much between folds
    have fewer small p-values.

    Outliers in X make p-values larger. A new row that is also in X gets a p-value that is too
    large. For a proof without the factor 2, use ``OneClusterPCM(calibration="split")``.

    Costs `n_splits` fits, and the scores of X_new by each fitted detector.

    Parameters
    ----------
    detector : estimator
        A detector with `fit`, and with `score_samples` or `decision_function` (larger for more
        typical rows). Examples are detectors of typicality and scikit-learn (LocalOutlierFactor
        with ``novelty=True``), densities (KernelDensity), and pipelines that end in one.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The reference rows, without outliers. With ``kernel="precomputed"``, the square matrix.
    X_new : array-like, sparse matrix or dataframe of shape (n_new, n_features)
        The new rows. With ``kernel="precomputed"``, their kernel values with the rows of X.
    n_splits : int, default=10
        The number of folds K, from 2 to the number of reference rows.
    score : str or callable, optional
        As in :func:`outlier_stability`. If larger scores are less typical, use ``score=lambda
        model, rows: -model.decision_function(rows)``.
    random_state : int, RandomState or None, default=None
        The seed of the folds, and of estimators whose own `random_state` is None. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        The number of folds that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.

    Returns
    -------
    p_values : array of shape (n_new,)
        Values between 1 / (n + 1) and 1. Scores that differ only by rounding are treated as equal.

    See Also
    --------
    typicality.OneClusterPCM.p_values : p-values of one-cluster PCM, with a single fit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import OneClassSVM
    >>> from typicality.stability import cross_conformal_p_values
    >>> X = np.random.RandomState(0).normal(size=(99, 2))
    >>> cross_conformal_p_values(OneClassSVM(), X, [[0, 0], [5, 5]], random_state=0)
    array([0.55, 0.01])
    """
    if not callable(score):
        _name_of_score(detector, score)
    X = _check_rows(X, detector)
    n_rows = n_rows_of(X)
    (X_new,) = indexable(X_new)
    if np.ndim(X_new) != 2 or np.shape(X_new)[0] == 0 or np.shape(X_new)[1] != np.shape(X)[1]:
        raise ValueError(
            f"X_new has shape {np.shape(X_new)}, expected (n_new, {np.shape(X)[1]}): at least one "
            "row, with the columns of X."
        )
    n_splits = check_whole(n_splits, "n_splits", least=2)
    if n_splits > n_rows:
        raise ValueError(
            f"n_splits must be at most {n_rows}, the number of rows of X; got {n_splits}."
        )
    rng = check_random_state(random_state)
    folds = np.array_split(rng.permutation(n_rows), n_splits)
    works = [
        partial(
            _count_lower, seeded_clone(detector, _draw_seed(rng)), X, X_new, np.sort(fold), score
        )
        for fold in folds
    ]
    counts: Any = sum(_run_parallel(works, n_jobs))
    return np.asarray((1 + counts) / (n_rows + 1))


def _count_lower(model: Any, X: Any, X_new: Any, fold: Places, score: Score) -> NDArray[np.intp]:
    """How many rows of a fold score at most as high as each new row, by a fit without the fold."""
    training = np.delete(np.arange(n_rows_of(X)), fold)
    model.fit(_take(model, X, training, trained_on=training))
    held_out = _take(model, X, fold, trained_on=training)
    if get_tags(model).input_tags.pairwise:
        X_new = (X_new if issparse(X_new) else np.asarray(X_new))[:, training]
    reference, new = _scores_of(model, held_out, score), _scores_of(model, X_new, score)
    above = new * (1.0 + _EQUAL_SCORES * np.sign(new))  # infinite scores stay what they are
    return np.searchsorted(np.sort(reference), above, side="right")
