"""Stability of clusterings: do two halves of the rows give the same clusters."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

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
from typicality.stability.results import RepeatedScores, words_of

Labels = NDArray[np.int_]

# Of random labellings: the mean is then known to half a per cent; to two of fewer than ten rows.
_ROWS_DRAWN, _FEWEST_DRAWS = 20_000, 20
_SEED = 0


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringStability(RepeatedScores):
    """How well clusterings of two halves of the rows agree; see :func:`clustering_stability`.

    Parameters
    ----------
    estimator : str
        The clusterer in words.
    n_rows : int
        The number of rows that were split.
    scores : array of shape (n_repeats, 1)
        One minus the instability: 1 for clusters that are the same, 0 for those that agree no more
        than random ones do, NaN where both halves have a single cluster.
    distances : array of shape (n_repeats,)
        The share of rows that are labelled differently, under the best matching of clusters.
    random_distances : array of shape (n_repeats,)
        The same share for random labellings with as many clusters.
    n_clusters : array of int of shape (n_repeats, 2)
        The number of clusters in the second half: transferred to it from the first, and its own.
    """

    setting_name: ClassVar[str] = "clusters"
    setting_is_found: ClassVar[bool] = True
    score_name: ClassVar[str] = "stability"

    distances: Doubles
    random_distances: Doubles
    n_clusters: NDArray[np.int_]

    @property
    def settings(self) -> tuple[str, ...]:
        """The number of clusters that were found in a half, in words."""
        found = self.n_clusters[:, 1]
        fewest, most = int(found.min()), int(found.max())
        return (str(fewest) if fewest == most else f"{fewest} to {most}",)

    @property
    def instabilities(self) -> Doubles:
        """The instability of each repetition: distance over random distance."""
        return 1.0 - self.scores[:, 0]

    @property
    def instability(self) -> float:
        """The mean instability: 0 for the same clusters always, 1 for no better than random."""
        return 1.0 - self.stability

    @property
    def stability(self) -> float:
        """One minus the mean instability; NaN where most repetitions have a single cluster."""
        return float(self.mean[0])

    @property
    def typical_n_clusters(self) -> float:
        """The median number of clusters that were found in a half."""
        return float(np.median(self.n_clusters[:, 1]))


def clustering_stability(
    clusterer: Any,
    X: Any,
    *,
    n_repeats: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | resample.Progress = False,
) -> ClusteringStability:
    r"""How much the clusters that are found depend on the rows that were drawn.

    The rows are split at random in two halves, and a copy of the clusterer is fitted on each. The
    second half is then labelled twice: by its own clusterer, :math:`z_2`, and by that of the first
    half, :math:`\phi(X_2)`, with `predict`. The labellings differ by

    .. math:: d = \min_\pi \frac{1}{n_2} \sum_{i \in X_2} [\phi(x_i) \ne \pi(z_i)],

    under the best matching of clusters, and the *instability* is this distance over the one that
    random labellings with as many clusters have: 0 is perfect, 1 no better than random. The
    *stability* is one minus that. It is repeated with fresh splits.

    A clustering may be stable and wrong: blobs that stand apart can be just as stable when they are
    merged in pairs. :class:`StabilitySearch` therefore prefers more clusters among settings that
    are equally stable.

    - *Different numbers of clusters* in the halves: clusters left over match nothing.
    - *Rows that belong nowhere* (-1) match rows that belong nowhere, and no others. Random
      labellings leave out the same shares of rows.
    - *A single cluster in both halves* says nothing: everything agrees with it. The score is NaN,
      with a warning, and so is the mean where most repetitions are so.
    - *Clusters of very different sizes* agree by chance more than the random labellings do, whose
      clusters are of one size: 9 of 10 rows in one of two clusters, drawn at random, have a
      stability of 0.6. Compare it between settings with alike sizes.
    - *Soft clusterers* are judged by the labels that `predict` gives.

    The same `random_state` gives the same splits for every clusterer and setting. Results do not
    depend on `n_jobs`. A repetition costs two fits.

    Implements :cite:`lange2004`, as :cite:`filippone2010`, section V-B, tells it. Differs from the
    paper: halves may differ in the number of clusters, and leave rows out; the distance of random
    labellings is the mean of draws of their table, known to half a per cent.

    Parameters
    ----------
    clusterer : estimator
        Anything with `fit` and `predict`: clusterers of typicality and scikit-learn, Gaussian
        mixtures, a Pipeline that ends in one. Others, such as ``HDBSCAN``, have to be wrapped in
        :class:`PredictByNearest`.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The rows; for clusterers of square matrices (``kernel="precomputed"``) that matrix.
    n_repeats : int, default=20
        The number of splits.
    random_state : int, RandomState or None, default=None
        Seed of the splits, and of clusterers whose own `random_state` is None.
    n_jobs : int or None, default=None
        How many repetitions run side by side; any joblib backend will do.
    progress : bool or callable, default=False
        True shows a bar on stderr; a callable is called as ``progress(done, total, words)``.

    Returns
    -------
    ClusteringStability
        With `stability`, `instability`, `scores`, `quartiles`, `standard_error`, `plot`.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from typicality.stability import clustering_stability
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> clustering_stability(KMeans(3, n_init=10), X, random_state=0).stability
    1.0
    """
    check_clusterer(clusterer)
    X, n_rows = resample.check_rows_to_split(X, clusterer)
    work = partial(_split_once, clusterer, X)
    outcomes = resample.repeat(
        work, n_repeats, random_state=random_state, n_jobs=n_jobs, progress=progress
    )
    distances, random_distances, *n_clusters = map(np.array, zip(*outcomes, strict=True))
    n_single = int(np.isnan(random_distances).sum())
    if n_single:
        warn(
            f"In {n_single:,} of {n_repeats:,} repetitions neither half has two clusters; "
            "such repetitions do not measure stability. Ask for more clusters, or for a "
            "finer resolution.",
            ClusteringWarning,
        )
    return ClusteringStability(
        words_of(clusterer),
        n_rows,
        (1.0 - distances / random_distances)[:, None],
        distances,
        random_distances,
        np.column_stack(n_clusters),
    )


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


def check_clusterer(clusterer: Any) -> None:
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
