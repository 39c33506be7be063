"""Stability of clusterings: do two halves of the rows give the same clusters."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import is_outlier_detector
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_random_state

from typicality._typing import Doubles
from typicality.exceptions import ClusteringWarning, warn
from typicality.metrics.partitions import count_clusters
from typicality.stability import resample
from typicality.stability.results import standard_error

Labels = NDArray[np.int_]

# Of random labellings: the mean is then known to half a per cent; to two of fewer than ten rows.
_ROWS_DRAWN, _FEWEST_DRAWS = 20_000, 20
_SEED = 0


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringStability:
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
    def scores(self) -> Doubles:
        """One minus the instability of each repetition; NaN if both halves have one cluster.

        1 means equal clusters, and 0 no more agreement than random labels.
        """
        return 1.0 - self.distances / self.random_distances

    @property
    def stability(self) -> float:
        """The mean of the scores; NaN if most repetitions have a single cluster."""
        return float(self._known.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of the stability; NaN for a single repetition.

        It includes only the random choice of halves. Other rows from the same source can change the
        mean more.
        """
        return float(standard_error(self._known))

    @property
    def _known(self) -> Doubles:
        """The scores that are not NaN; NaN if most are."""
        known = self.scores[~np.isnan(self.scores)]
        return known if 2 * len(known) >= len(self.scores) else np.array([np.nan])

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
        An estimator with `fit` and `predict`: clusterers of typicality and scikit-learn, Gaussian
        mixtures, or a pipeline that ends in one. Wrap clusterers without `predict`, such as
        ``HDBSCAN``, in :class:`PredictByNearest`.
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
    _check_clusterer(clusterer)
    X = resample.check_rows_to_split(X, clusterer)
    work = partial(_split_once, clusterer, X)
    outcomes = resample.repeat(work, n_repeats, random_state=random_state, n_jobs=n_jobs)
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


def _split_once(clusterer: Any, X: Any, seed: int) -> tuple[float, ...]:
    """The distance of two labellings of the second half, that of random ones, and their sizes."""
    rng = check_random_state(seed)
    one, two, rows_1, rows_2, unseen = resample.halves(clusterer, X, rng)
    one.fit(rows_1)
    two.fit(rows_2)
    transferred = one.predict(unseen)
    # A pipeline or a mixture has no labels_.
    own = two.labels_ if hasattr(two, "labels_") else two.predict(rows_2)
    # scikit-learn's HDBSCAN has other negative labels than -1, for rows it cannot use.
    transferred, own = (np.maximum(np.asarray(labels), -1) for labels in (transferred, own))
    n_clusters = count_clusters(transferred), count_clusters(own)
    expected = np.nan
    if max(n_clusters) > 1:
        shares = float(np.mean(transferred < 0)), float(np.mean(own < 0))
        expected = random_distance(len(own), *n_clusters, nowhere=shares)
    return labelling_distance(transferred, own), expected, *n_clusters


def _check_clusterer(clusterer: Any) -> None:
    """An estimator that can label rows it was not fitted on."""
    resample.check_estimator(clusterer, "clusterer")
    if is_outlier_detector(clusterer):
        raise ValueError(
            f"{clusterer!r} flags outliers and finds no clusters: use outlier_stability for it."
        )
    if not hasattr(clusterer, "predict"):
        raise ValueError(
            f"{clusterer!r} has no predict to label new rows with. Wrap it: "
            f"PredictByNearest({clusterer!r}), from typicality.stability."
        )


# ---- distance of two labellings ------------------------------------------------------------------


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
    rng = np.random.default_rng(_SEED)
    n_draws = max(_FEWEST_DRAWS, _ROWS_DRAWN // n_rows)
    # One by one: with hundreds of clusters a table is large.
    tables = (rng.multinomial(n_rows, chances.ravel()) for _ in range(n_draws))
    agreeing = [_agreeing(table.reshape(chances.shape)) for table in tables]
    return 1.0 - float(np.mean(agreeing)) / n_rows


def _chances(n_clusters: int, nowhere: float) -> Doubles:
    placed = np.full(n_clusters, (1.0 - nowhere) / max(n_clusters, 1))
    return np.concatenate(([nowhere if n_clusters else 1.0], placed))
