"""Validity of soft partitions without known classes, also for typicalities.

All indices are weighted means over rows, of a function of the *shares* of a row: its memberships
divided by their sum. The *weight* of a row is the smaller of 1 and this sum. If memberships sum to
one, these are the classical indices. Outliers have small typicalities, so they have low weights.
"""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist, pdist
from scipy.special import entr
from sklearn.metrics import silhouette_samples
from sklearn.utils.validation import check_array

from typicality._arguments import check_same_length
from typicality._typing import Doubles
from typicality.metrics.partitions import check_memberships, shares_and_weights


def partition_coefficient(memberships: Any, *, rescale: bool = False) -> float:
    """The partition coefficient: how crisp the memberships are.

        PC = sum_h w_h sum_k p_hk^2 / sum_h w_h

    Here p_hk = u_hk / sum_l u_hl are the shares of row h, and w_h = min(1, sum_k u_hk) is its
    weight. For memberships that sum to one, PC is the mean over rows of sum_k u_hk^2. It is in
    [1/c, 1]; larger is crisper. It is 1 if each row belongs to one cluster only, and 1/c if all
    memberships are equal. It usually falls as c grows.

    Implements :cite:`bezdek1981`, and with `rescale` :cite:`dave1996`. The weights, for
    typicalities, are original to typicality, see docs/theory.

    Parameters
    ----------
    memberships : array-like or sparse matrix of shape (n, c)
        Memberships or typicalities, in [0, 1]. Rows need not sum to one. Rows of zeros are ignored.
    rescale : bool, default=False
        Whether to return (c PC - 1) / (c - 1), which is in [0, 1] for any c (1 for one cluster).

    Returns
    -------
    float
        The coefficient; nan if all memberships are zero.

    Examples
    --------
    >>> from typicality.metrics import partition_coefficient
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]])
    0.75
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]])
    0.75
    """
    u = check_memberships(memberships)
    shares, weights = shares_and_weights(u)
    value = _weighted_mean(np.einsum("hk,hk->h", shares, shares), weights)
    n_clusters: int = u.shape[1]
    if not rescale or n_clusters < 2:
        return value
    return (n_clusters * value - 1) / (n_clusters - 1)


def partition_entropy(memberships: Any, *, rescale: bool = False) -> float:
    """The partition entropy: how fuzzy the memberships are.

        PE = -sum_h w_h sum_k p_hk log p_hk / sum_h w_h

    Here p_hk = u_hk / sum_l u_hl are the shares of row h, and w_h = min(1, sum_k u_hk) is its
    weight. For memberships that sum to one, PE is the mean over rows of their entropy. It is in [0,
    log c], with natural logarithms; smaller is crisper. It is 0 if each row belongs to one cluster
    only, and log c if all memberships are equal. It usually rises as c grows.

    Implements :cite:`bezdek1981`. The weights, for typicalities, are original to
    typicality, see docs/theory.

    Parameters
    ----------
    memberships : array-like or sparse matrix of shape (n, c)
        Memberships or typicalities, as in :func:`partition_coefficient`.
    rescale : bool, default=False
        Whether to divide by log c, so that the result is in [0, 1] for any c (0 for one cluster).

    Returns
    -------
    float
        The entropy; nan if all memberships are zero.

    Examples
    --------
    >>> from typicality.metrics import partition_entropy
    >>> partition_entropy([[1.0, 0.0], [0.5, 0.5]], rescale=True)
    0.5
    """
    u = check_memberships(memberships)
    shares, weights = shares_and_weights(u)
    value = _weighted_mean(entr(shares).sum(axis=1), weights)
    n_clusters = u.shape[1]
    return value / float(np.log(n_clusters)) if rescale and n_clusters > 1 else value


def xie_beni_index(X: Any, centers: Any, memberships: Any, *, m: float = 2.0) -> float:
    r"""The Xie-Beni index: the width of the clusters relative to the distance of their centres.

    .. math:: \mathrm{XB} = \frac{\sum_h w_h \sum_k p_{hk}^m \lVert x_h - v_k \rVert^2}
        {\sum_h w_h \, \min_{k \ne l} \lVert v_k - v_l \rVert^2}

    Here :math:`p_{hk} = u_{hk} / \sum_l u_{hl}` are the shares of row h, and :math:`w_h = \min(1,
    \sum_k u_{hk})` is its weight. For memberships that sum to one, :math:`p_{hk} = u_{hk}` and
    :math:`w_h = 1`. Smaller is better. The index is infinite if two centres coincide.

    Implements :cite:`xie1991`, which uses m = 2. Differs from the paper: shares and weights,
    original to typicality, see docs/theory. Without them, smaller typicalities would give a better
    index.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    centers : array-like of shape (c, d)
        The centre of each cluster (`cluster_centers_`); at least two.
    memberships : array-like or sparse matrix of shape (n, c)
        Memberships or typicalities, as in :func:`partition_coefficient`.
    m : float, default=2.0
        The exponent of the shares, above 0. Use the fuzzifier of the partition.

    Returns
    -------
    float
        The index; nan if all memberships are zero.

    Examples
    --------
    >>> from typicality.metrics import xie_beni_index
    >>> xie_beni_index([[0.0], [2.0], [9.0]], [[1.0], [9.0]], [[1, 0], [1, 0], [0, 1]])
    0.010416666666666666
    """
    sums = _sums(X, centers, memberships, m)
    return _over_gap(sums.within / sums.total if sums.total > 0 else float("nan"), sums)


def kwon_index(X: Any, centers: Any, memberships: Any, *, m: float = 2.0) -> float:
    r"""The Kwon index: the Xie-Beni index with a penalty for many clusters.

    .. math:: \frac{\sum_h w_h \sum_k p_{hk}^m \lVert x_h - v_k \rVert^2 +
        \frac{1}{c} \sum_k \lVert v_k - \bar x \rVert^2}
        {\min_{k \ne l} \lVert v_k - v_l \rVert^2}

    Here :math:`\bar x` is the mean of the rows with the weights :math:`w_h`; the other symbols are
    those of :func:`xie_beni_index`. Smaller is better. The index is infinite if two centres
    coincide.

    Implements :cite:`kwon1998`, which uses m = 2, with shares and weights as in
    :func:`xie_beni_index`.

    Parameters
    ----------
    X, centers, memberships, m
        As in :func:`xie_beni_index`.

    Returns
    -------
    float
        The index; nan if all memberships are zero.

    Examples
    --------
    >>> from typicality.metrics import kwon_index
    >>> rows, centers, memberships = [[0.0], [2.0], [9.0]], [[1.0], [9.0]], [[1, 0], [1, 0], [0, 1]]
    >>> round(kwon_index(rows, centers, memberships), 3)
    0.309
    """
    sums = _sums(X, centers, memberships, m)
    return _over_gap(sums.within + float(sums.to_mean.mean()), sums)


def fukuyama_sugeno_index(X: Any, centers: Any, memberships: Any, *, m: float = 2.0) -> float:
    r"""The Fukuyama-Sugeno index: the variance within clusters less that between clusters.

    .. math:: \sum_h w_h \sum_k p_{hk}^m
        \big( \lVert x_h - v_k \rVert^2 - \lVert v_k - \bar x \rVert^2 \big)

    The symbols are those of :func:`kwon_index`. Smaller is better.

    Implements :cite:`fukuyama1989`, with shares and weights as in :func:`xie_beni_index`. Some
    packages take the mean of the centres for :math:`\bar x`, and so get other values.

    Parameters
    ----------
    X, centers, memberships, m
        As in :func:`xie_beni_index`.

    Returns
    -------
    float
        The index; nan if all memberships are zero.

    Examples
    --------
    >>> from typicality.metrics import fukuyama_sugeno_index
    >>> rows, centers, memberships = [[0.0], [2.0], [9.0]], [[1.0], [9.0]], [[1, 0], [1, 0], [0, 1]]
    >>> round(fukuyama_sugeno_index(rows, centers, memberships), 3)
    -40.667
    """
    sums = _sums(X, centers, memberships, m)
    return sums.within - float(sums.mass @ sums.to_mean)


def fuzzy_silhouette_score(
    X: Any, memberships: Any, *, alpha: float = 1.0, metric: str = "euclidean"
) -> float:
    """The fuzzy silhouette: a mean silhouette with low weights for rows between clusters.

        FS = sum_h q_h s_h / sum_h q_h,    q_h = w_h (p_h(1) - p_h(2))^alpha

    Here s_h is the silhouette of row h, if each row is in the cluster of its largest membership.
    p_h(1) and p_h(2) are the largest and the second largest share of the row, where p_hk = u_hk /
    sum_l u_hl. The weight is w_h = min(1, sum_k u_hk). For memberships that sum to one, q_h is the
    difference of the two largest memberships, to the power alpha. The score is in [-1, 1]; larger
    is better. It is 0 if every row has two equal largest memberships.

    Implements :cite:`campello2006`. The weights, for typicalities, are original to
    typicality, see docs/theory.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or (n, n) for `metric="precomputed"`
        The rows, or the distances of all pairs of rows.
    memberships : array-like or sparse matrix of shape (n, c)
        Memberships or typicalities, as in :func:`partition_coefficient`. Rows of zeros are left
        out.
    alpha : float, default=1.0
        The exponent of the weights, above 0. Larger values reduce the weight of rows between
        clusters. (0 would be the plain silhouette.)
    metric : str, default="euclidean"
        A metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed".

    Returns
    -------
    float
        The score.

    Notes
    -----
    The silhouettes are computed by scikit-learn. The time grows with the square of the number of
    rows; the memory is limited by the setting `working_memory` of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.metrics import fuzzy_silhouette_score
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0], [5.0]])
    >>> memberships = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.5, 0.5]])
    >>> round(fuzzy_silhouette_score(X, memberships), 3)
    0.781
    """
    u = check_memberships(memberships)
    points = check_array(X, dtype=np.float64, accept_sparse="csr", input_name="X")
    check_same_length(points.shape[0], "X", len(u), "memberships")
    alpha = _check_exponent(alpha, "alpha")
    shares, weights = shares_and_weights(u)
    counted = weights > 0
    labels = shares[counted].argmax(axis=1) if u.shape[1] else np.empty(0, np.intp)
    n_clusters, n_rows = len(np.unique(labels)), len(labels)
    if not 2 <= n_clusters < n_rows:
        raise ValueError(
            f"memberships put {n_rows} rows into {n_clusters} cluster(s), but silhouettes "
            "need at least two clusters, and more rows than clusters. Use another number "
            "of clusters."
        )
    some = points[counted][:, counted] if metric == "precomputed" else points[counted]
    silhouettes = silhouette_samples(some, labels, metric=metric)
    second, largest = np.partition(shares[counted], -2, axis=1)[:, -2:].T
    preference = weights[counted] * (largest - second) ** alpha
    return _weighted_mean(silhouettes, preference) if preference.any() else 0.0


class _Sums(NamedTuple):
    """What indices of centres are made of."""

    total: float  # of the weights of the rows
    within: float
    mass: Doubles  # of each cluster
    to_mean: Doubles  # squared distances of the centres to the mean of the rows
    gap: float  # the least squared distance between centres


def _sums(X: Any, centers: Any, memberships: Any, m: float) -> _Sums:
    u = check_memberships(memberships)
    points = check_array(X, dtype=np.float64, input_name="X")
    check_same_length(points.shape[0], "X", len(u), "memberships")
    centers = _check_centers(centers, u.shape[1], points.shape[1])
    shares, weights = shares_and_weights(u)
    pulls = weights[:, None] * shares ** _check_exponent(m, "m")
    within = float(np.sum(pulls * cdist(points, centers, "sqeuclidean")))
    total = float(weights.sum())
    mean = np.sum(weights[:, None] * points, axis=0) / (total or float("nan"))
    to_mean = np.sum((centers - mean) ** 2, axis=1)
    return _Sums(total, within, pulls.sum(axis=0), to_mean, pdist(centers, "sqeuclidean").min())


def _over_gap(value: float, sums: _Sums) -> float:
    return float(value / sums.gap) if sums.gap > 0 else value + float("inf")  # nan stays nan


def _weighted_mean(values: Doubles, weights: Doubles) -> float:
    total = float(weights.sum())
    # Not a product of vectors: sums of BLAS depend on the number of threads.
    return float(np.sum(weights * values)) / total if total > 0 else float("nan")


def _check_centers(centers: Any, n_clusters: int, n_features: int) -> Doubles:
    """A centre for each column of the memberships, two at least."""
    points: Doubles = check_array(centers, dtype=np.float64, input_name="centers")
    if points.shape != (n_clusters, n_features):
        raise ValueError(
            f"centers has shape {points.shape}, expected (n_clusters, n_features) = "
            f"{(n_clusters, n_features)}: one centre for each column of memberships, with "
            "the features of X."
        )
    if n_clusters < 2:
        raise ValueError(
            "The index is not defined for one cluster: pass two or more centers, and one "
            "column of memberships for each."
        )
    return points


def _check_exponent(value: Any, name: str) -> float:
    if not isinstance(value, Real) or not 0 < float(value) < float("inf"):
        raise ValueError(f"{name} must be a finite number above 0; got {value!r}.")
    return float(value)
