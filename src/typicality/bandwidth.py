r"""Rules for the bandwidth of a radial kernel :math:`e^{-|x-y|^2 / 2\sigma^2}`.

A bandwidth does not depend on the order of the rows. A row of weight k has the effect of k rows,
and rows of weight zero have no effect. Distances are those of distinct rows. If there are many
distinct rows, a sample is used. The bandwidth scales with the unit of the data; only with more than
131,072 distinct rows, the sample can change with the unit. If all rows are equal, every rule
returns 0.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import pdist, squareform
from scipy.special import logsumexp

from typicality._sparse import is_sparse, row_distances
from typicality._tensors import resident
from typicality._typing import Doubles, Floats, Places
from typicality.kernels.stationary import has_compiled_distances, pair_distances
from typicality.rows import DistinctRows, Features, count_distinct_rows
from typicality.spaces.nearest import NearestRows

__all__ = ["BANDWIDTH_RULES", "bandwidth", "median_distance", "neighbour_distance"]


MEDIAN_ROWS = 2048
QUERY_ROWS = 4096
LIKELIHOOD_ROWS = 2000
NEIGHBOUR = 10
ALPHA_CUT_SHARE = 0.7  # of h; measured on 76 public data sets
_FIFTH, _NEAREST_NEIGHBOUR = 5, 4

_BLOCK_ROWS = 64  # a block of squared distances stays in cache
_GRID = 16
_BELOW_NEIGHBOUR, _ABOVE_MEDIAN = 0.01, 4.0
_PRECISION = 1e-13


def bandwidth(
    rule: str,
    X: Floats,
    sample_weight: Floats | None = None,
    *,
    novelty: bool = False,
    metric: str = "euclidean",
) -> float:
    r"""The bandwidth :math:`\sigma` of the data by a named rule.

    In this table, n is the sum of the weights, d the number of features, s the square root of the
    mean variance of the features, M the :func:`median_distance` and h the
    :func:`neighbour_distance`.

    ====================  =========================================================================
    ``"scott"``           :math:`s\, n^{-1/(d+4)}`. Implements :cite:`scott1992`, eq. (6.42).
    ``"silverman"``       :math:`s\, (n (d+2)/4)^{-1/(d+4)}`. Implements :cite:`silverman1986`,
                          eq. (4.14) with the constant of Table 4.1.
    ``"median"``          M
    ``"knn"``             h
    ``"alpha-cut"``       0.7 h, the rule of :class:`typicality.AlphaCutClustering`. With fewer than
                          50 distinct rows n', h is the distance to neighbour number n' / 5 (at
                          least 4) instead of 10.
    ``"loo-likelihood"``  the maximum of the leave-one-out likelihood of a Gaussian density estimate
    ``"auto"``            M / 2; with `novelty`, M / 8
    ====================  =========================================================================

    Differs from Scott, who uses one bandwidth per feature: here all features share one s.

    The leave-one-out likelihood is the weighted mean over rows of

    .. math:: \log \frac{s_h - w_h / k_h}{1 - w_h / k_h} - d \log \sigma, \qquad
        s_h = \sum_r w_r e^{-|x_h - x_r|^2 / 2\sigma^2},

    where :math:`k_h` is the weight of row h and :math:`w_h = k_h / \sum k`. One copy of row h is
    left out (all of it if :math:`k_h < 1`). Implements :cite:`duin1976`. Bandwidths from h / 100 to
    4 M are searched, which takes about thirty sums over all pairs of rows. At most 2000 distinct
    rows are used; with more rows, the result is the bandwidth of a sample, which is too wide for
    all rows. With many repeated rows, the result is the lower bound h / 100.

    Parameters
    ----------
    rule : {"alpha-cut", "auto", "knn", "loo-likelihood", "median", "scott", "silverman"}
        The name of the rule.
    X : array of shape (n, d)
        The rows, float32 or float64.
    sample_weight : array of shape (n,), optional
        The number of copies of each row.
    novelty : bool, default=False
        Whether the rows contain no outliers. Then "auto" is narrower. The other rules do not use
        it.
    metric : {"euclidean", "cityblock"}, default="euclidean"
        The distance that the kernel uses, for M and h.

    Returns
    -------
    float
        The bandwidth, in the unit of the data.
    """
    if rule not in BANDWIDTH_RULES:
        raise ValueError(
            f"{rule!r} is not a rule for the bandwidth. Choose one of "
            f"{', '.join(map(repr, BANDWIDTH_RULES))}, or give a number."
        )
    if rule == "auto":
        return median_distance(X, sample_weight, metric=metric) / (8 if novelty else 2)
    if rule in _OF_DISTANCES:
        return _OF_DISTANCES[rule](X, sample_weight, metric=metric)
    return _OF_SCALES[rule](X, sample_weight)


def median_distance(
    X: Floats, sample_weight: Floats | None = None, *, metric: str = "euclidean"
) -> float:
    """The median distance M of pairs of distinct rows.

    It is computed from a sample of at most 2048 distinct rows. It is 0 if all rows are equal.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows.
    sample_weight : array of shape (n,), optional
        Rows of weight zero are not used. Otherwise, weights have no effect.
    metric : {"euclidean", "cityblock"}, default="euclidean"
        The distance.
    """
    rows, _ = _sample(DistinctRows.of(X, sample_weight), MEDIAN_ROWS)
    if len(rows) < 2:
        return 0.0
    if resident(X) is not None:
        from typicality.rows.tensor import median_of_distances

        return median_of_distances(rows, metric, str(resident(X).device))
    if is_sparse(rows) or has_compiled_distances(*rows.shape):
        apart = squareform(pair_distances(rows, rows, metric), checks=False)
    else:
        apart = pdist(rows, metric)
    return float(np.median(apart, overwrite_input=True))


def neighbour_distance(
    X: Floats,
    sample_weight: Floats | None = None,
    *,
    k: int = NEIGHBOUR,
    metric: str = "euclidean",
) -> float:
    """The median distance h of a distinct row to its k-th nearest other row.

    It is the median over at most 4096 rows, with neighbours among at most 131,072 rows. It is 0 if
    all rows are equal.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows.
    sample_weight : array of shape (n,), optional
        Rows of weight zero are not used. Otherwise, weights have no effect.
    k : int, default=10
        The neighbour. If there are fewer other rows, the farthest one is used.
    metric : {"euclidean", "cityblock"}, default="euclidean"
        The distance.
    """
    data = _distinct(X, sample_weight)
    if len(data.rows) < 2:
        return 0.0
    k = min(k, len(data.rows) - 1)
    asking, _ = _sample(data, QUERY_ROWS)
    nearest = NearestRows(data.rows, 1 if metric == "cityblock" else 2).of(asking, k + 1)
    if is_sparse(asking):
        own = np.repeat(np.arange(len(asking)), nearest.shape[1])
        distances: Doubles = row_distances(asking[own], data.rows[nearest.ravel()], metric)
        distances = distances.reshape(nearest.shape)
        return float(np.median(np.partition(distances, k, axis=1)[:, k]))
    apart = np.abs(asking[:, None, :] - data.rows[nearest])
    distances = apart.sum(axis=2) if metric == "cityblock" else np.sqrt((apart**2).sum(axis=2))
    return float(np.median(np.partition(distances, k, axis=1)[:, k]))


def _distinct(X: Floats, sample_weight: Floats | None) -> DistinctRows:
    """Distinct rows in float64."""
    data = DistinctRows.of(X, sample_weight)
    return replace(data, rows=np.asarray(data.rows, dtype=np.float64))


def _sample(data: DistinctRows, at_most: int) -> tuple[Doubles, Doubles]:
    """Some of the rows with their weights, always the same places of their order."""
    places = _places(len(data.rows), at_most)
    rows: Any = data.rows[places]
    return rows.astype(np.float64), data.weight[places]


@lru_cache(maxsize=16)
def _places(n_rows: int, at_most: int) -> Places:
    if n_rows <= at_most:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(0).choice(n_rows, at_most, replace=False))


def _by_scale(X: Floats, sample_weight: Floats | None, *, silverman: bool = False) -> float:
    """The root of the mean variance, exactly 0 where all rows are equal, times a power of n."""
    d, features = X.shape[1], Features.of(X, sample_weight)
    n = float(len(X) if sample_weight is None else sample_weight.sum(dtype=np.float64))
    spread = np.sqrt(np.mean(np.where(features.high > features.low, features.variance, 0.0)))
    return float(spread * (n * (d + 2) / 4 if silverman else n) ** (-1 / (d + 4)))


def _most_likely(X: Floats, sample_weight: Floats | None) -> float:
    """The bandwidth of largest leave-one-out likelihood.

    The likelihood may have several maxima: those between points of a grid are found as roots of its
    slope, which fixes them to full precision, and compared with one another and the bounds.
    """
    rows, weight = _sample(DistinctRows.of(X, sample_weight), LIKELIHOOD_ROWS)
    if len(rows) < 2:
        return 0.0
    likelihood = _LeaveOneOut(pair_distances(rows, rows, "sqeuclidean"), weight, rows.shape[1])
    low, high = likelihood.bounds()
    grid = np.linspace(np.log(low), np.log(high), _GRID)
    slope = np.array([likelihood.at(t)[1] for t in grid])
    peaks = [
        brentq(lambda t: likelihood.at(t)[1], grid[i], grid[i + 1], xtol=_PRECISION)
        for i in np.flatnonzero((slope[:-1] > 0) & (slope[1:] <= 0))
    ]
    return float(np.exp(max([grid[0], grid[-1], *peaks], key=lambda t: likelihood.at(t)[0])))


@dataclass(frozen=True, eq=False)
class _LeaveOneOut:
    """The leave-one-out log-likelihood of a Gaussian density estimate, per unit of weight.

    Parameters
    ----------
    sqdist : array of shape (n, n)
        Squared distances of distinct rows.
    weight : array of shape (n,)
        Their weights.
    n_features : int
        The dimension of the density.
    """

    sqdist: Doubles
    weight: Doubles
    n_features: int

    def bounds(self) -> tuple[float, float]:
        """Where to search, from the neighbour distance and the median distance of the rows."""
        k = min(NEIGHBOUR, len(self.weight) - 1)
        neighbour = np.sqrt(np.median(np.partition(self.sqdist, k, axis=1)[:, k]))
        median = np.sqrt(np.median(self.sqdist[np.triu_indices(len(self.weight), 1)]))
        return float(_BELOW_NEIGHBOUR * neighbour), float(_ABOVE_MEDIAN * median)

    def at(self, log_sigma: float) -> tuple[float, float]:
        """The likelihood and its slope, both over the logarithm of the bandwidth."""
        variance = np.exp(2 * log_sigma)
        unit = np.minimum(self.weight, 1.0)
        log_sum, expected = self._sums(variance, unit)
        total = self.weight.sum()
        value = self.weight @ (log_sum - np.log(total - unit)) / total
        slope = self.weight @ expected / (variance * total)
        return float(value - self.n_features * log_sigma), float(slope - self.n_features)

    def _sums(self, variance: float, unit: Doubles) -> tuple[Doubles, Doubles]:
        """Logarithms of the sums over other rows, and the mean squared distance under them."""
        log_weight = np.log(self.weight)
        with np.errstate(divide="ignore"):  # nothing is left of most rows
            log_rest = np.log(self.weight - unit)
        log_sum, expected = np.empty_like(unit), np.empty_like(unit)
        for start in range(0, len(unit), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            sqdist = self.sqdist[block]
            log_terms = log_weight - sqdist / (2 * variance)
            own = np.arange(len(sqdist))
            log_terms[own, start + own] = log_rest[block]
            log_sum[block] = logsumexp(log_terms, axis=1)
            share = np.exp(log_terms - log_sum[block, None])
            expected[block] = np.einsum("hr,hr->h", share, sqdist)
        return log_sum, expected


def _alpha_cut(X: Floats, sample_weight: Floats | None, *, metric: str) -> float:
    # The tenth neighbour of a row in a group of ten belongs to another group.
    n_rows = count_distinct_rows(X, sample_weight, _FIFTH * NEIGHBOUR)
    k = min(NEIGHBOUR, max(_NEAREST_NEIGHBOUR, n_rows // _FIFTH))
    return ALPHA_CUT_SHARE * neighbour_distance(X, sample_weight, k=k, metric=metric)


_OF_DISTANCES: dict[str, Callable[..., float]] = {
    "alpha-cut": _alpha_cut,
    "knn": neighbour_distance,
    "median": median_distance,
}
_OF_SCALES: dict[str, Callable[[Floats, Floats | None], float]] = {
    "loo-likelihood": _most_likely,
    "scott": _by_scale,
    "silverman": partial(_by_scale, silverman=True),
}
BANDWIDTH_RULES = ("auto", *sorted([*_OF_DISTANCES, *_OF_SCALES]))
