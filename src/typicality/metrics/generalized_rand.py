"""The Rand index of soft partitions, the same adjusted for chance, and estimates of both."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.utils import check_random_state

from typicality._arguments import check_whole
from typicality._typing import Doubles
from typicality.metrics.partitions import Crisp, Soft, read_two

EXACT_ROWS = 20_000  # all pairs of up to this many rows are compared, which takes seconds
SORTED_ROWS = 4_000  # all distances of up to this many rows are kept and sorted: 64 MB each
_BLOCK_ROWS = 128
_BLOCK_PAIRS = 65_536


def generalized_rand_score(
    reference: Any, memberships: Any, *, normalize: bool = True, random_state: Any = 0
) -> float:
    r"""The generalised Rand index: the agreement of two crisp or soft partitions.

    Let p be the shares of a row: its memberships divided by their sum. Then

    .. math:: E(i, j) = 1 - \lVert p_i - p_j \rVert / \sqrt 2

    is the degree to which rows i and j are together, and

    .. math:: \mathrm{GRM} = \operatorname{mean}_{i < j} \big( 1 - |E_U(i, j) - E_P(i, j)| \big)

    is the index of the partitions U and P. It is in [0, 1]; larger is better, and equal partitions
    have the index 1. For two crisp partitions, it equals :func:`sklearn.metrics.rand_score`. It is
    symmetric, and does not depend on the order of the clusters. The numbers of clusters can differ.

    Implements :cite:`hullermeier2012`, and GRM of :cite:`xenaki2014`, section 4. Differs from the
    papers: rows can belong to no cluster.

    Parameters
    ----------
    reference, memberships : array-like of shape (n,) or (n, c), or sparse matrix
        Labels, one per row, or memberships in [0, 1], one column per cluster. Sparse matrices are
        converted to dense ones. Unassigned rows have the label -1, or only zeros. All unassigned
        rows together are treated as one class, as in :func:`sklearn.metrics.rand_score`.
    normalize : bool, default=True
        Whether to divide each row by its sum. If False, only rows with a sum above one are divided
        by it. If the sum of a row is below one, the rest is its membership in the class of
        unassigned rows. Use False for typicalities, if a small sum means that a row is an outlier.
        For memberships that sum to one, there is no difference.
    random_state : int, RandomState or None, default=0
        The seed or generator that draws the pairs, if there are more than 20,000 rows.

    Returns
    -------
    float
        The index; 1 for a single row.

    See Also
    --------
    generalized_rand_estimate : The estimate from random pairs, with its standard error.
    adjusted_generalized_rand_score : The index adjusted for chance.

    Notes
    -----
    The index is exact for up to 20,000 rows and for two crisp partitions. All pairs of rows are
    compared, so the time grows with the square of n and with c: memberships of shape (20,000, 10)
    take a few seconds. For more rows, the index is the estimate of
    :func:`generalized_rand_estimate` from a million pairs. Its standard error is at most 5e-4.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.metrics import generalized_rand_score
    >>> memberships = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]])
    >>> round(generalized_rand_score([0, 0, 1, 1], memberships), 3)
    0.767
    >>> round(generalized_rand_score([0, 1, 0, 1], memberships), 3)
    0.367
    """
    first, second = read_two(reference, memberships, normalize=normalize)
    if isinstance(first, Crisp) and isinstance(second, Crisp):
        return float(rand_score(first.labels, second.labels))
    if len(first) == 1:
        return 1.0
    if len(first) > EXACT_ROWS:
        return _estimate(first, second, random_state).score
    return 1.0 - _mean_differences(first, second)[0]


def adjusted_generalized_rand_score(
    reference: Any, memberships: Any, *, normalize: bool = True, random_state: Any = 0
) -> float:
    r"""The generalised Rand index adjusted for chance.

    .. math:: \frac{\mathrm{GRM} - \mathrm E[\mathrm{GRM}]}{1 - \mathrm E[\mathrm{GRM}]}

    The expectation is over all permutations of the rows of one partition:

    .. math:: \mathrm E[\mathrm{GRM}] =
        1 - \operatorname{mean}_{i < j, \, k < l} |E_U(i, j) - E_P(k, l)|.

    Larger is better. Equal partitions have the index 1, independent partitions about 0, and
    partitions that agree less than by chance have a negative index. For two crisp partitions, it
    equals :func:`sklearn.metrics.adjusted_rand_score`. If the expectation is 1, the index is 1,
    too.

    Implements the adjusted concordance index of :cite:`dambrosio2021`, without its random
    permutations, as :cite:`andrews2022` does.

    Parameters
    ----------
    reference, memberships : array-like of shape (n,) or (n, c), or sparse matrix
        Labels or memberships, as in :func:`generalized_rand_score`.
    normalize : bool, default=True
        As in :func:`generalized_rand_score`.

    random_state : int, RandomState or None, default=0
        The seed or generator that draws the pairs, if the index is estimated.

    Returns
    -------
    float
        The adjusted index; 1 for a single row.

    Notes
    -----
    The index is exact for up to 20,000 rows if one of the partitions is crisp, and for up to 4,000
    rows if both are soft. For more rows, it is the estimate of :func:`generalized_rand_estimate`
    from a million pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.metrics import adjusted_generalized_rand_score
    >>> memberships = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]])
    >>> round(adjusted_generalized_rand_score([0, 0, 1, 1], memberships), 3)
    0.533
    >>> round(adjusted_generalized_rand_score([0, 1, 0, 1], memberships), 3)
    -0.267
    """
    first, second = read_two(reference, memberships, normalize=normalize)
    if isinstance(first, Crisp) and isinstance(second, Crisp):
        return float(adjusted_rand_score(first.labels, second.labels))
    if len(first) == 1:
        return 1.0
    one_is_crisp = isinstance(first, Crisp) or isinstance(second, Crisp)
    if len(first) > (EXACT_ROWS if one_is_crisp else SORTED_ROWS):
        return _estimate(first, second, random_state).adjusted
    paired, mean_first, mean_second = _mean_differences(first, second)
    if isinstance(first, Crisp) or isinstance(second, Crisp):  # with distances of 0 or 1
        independent = (1 - mean_second) * mean_first + mean_second * (1 - mean_first)
    else:
        a, b = (np.sort(pdist(p.shares) * math.sqrt(0.5)) for p in (first, second))
        independent = float(_mean_difference_to(a, b).mean())
    return 1.0 - paired / independent if independent > 0 else 1.0


def _mean_differences(first: Crisp | Soft, second: Crisp | Soft) -> tuple[float, float, float]:
    """Means over all pairs: of the absolute difference of their distances, and of each distance."""
    apart = in_first = in_second = 0.0
    for start in range(0, len(first), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        a, b = _distances(first, rows), _distances(second, rows)
        in_first, in_second = in_first + float(a.sum()), in_second + float(b.sum())
        apart += float(np.abs(np.subtract(a, b, out=a), out=a).sum())
    n_pairs = len(first) * (len(first) - 1)  # each pair twice; a row has no distance to itself
    return apart / n_pairs, in_first / n_pairs, in_second / n_pairs


def _distances(partition: Crisp | Soft, rows: slice) -> Doubles:
    """Distances of some rows to all rows, in [0, 1]."""
    if isinstance(partition, Crisp):
        labels = partition.labels
        return (labels[rows, None] != labels).astype(np.float64)
    distances: Doubles = cdist(partition.shares[rows], partition.shares) * math.sqrt(0.5)
    return np.minimum(distances, 1.0)


def _mean_difference_to(values: Doubles, others: Doubles) -> Doubles:
    """The mean absolute difference of each value to all others."""
    ordered = np.sort(others)
    upto = np.concatenate([[0.0], np.cumsum(ordered)])
    n_below = np.searchsorted(ordered, values)
    below = n_below * values - upto[n_below]
    above = (upto[-1] - upto[n_below]) - (len(ordered) - n_below) * values
    return (below + above) / len(ordered)


# ---- a sample of pairs, with standard errors -----------------------------------------------------


@dataclass(frozen=True)
class RandEstimate:
    """Estimates of the generalised Rand index and of the adjusted index, with standard errors.

    Parameters
    ----------
    score : float
        An unbiased estimate of :func:`generalized_rand_score`.
    standard_error : float
        The standard error of `score`. In about 95 % of draws, the true value is within two standard
        errors.
    adjusted : float
        An estimate of :func:`adjusted_generalized_rand_score`. Its bias is of the order 1 /
        n_pairs.
    adjusted_standard_error : float
        The standard error of `adjusted`, to first order.
    n_pairs : int
        The number of pairs that were drawn.
    """

    score: float
    standard_error: float
    adjusted: float
    adjusted_standard_error: float
    n_pairs: int


def generalized_rand_estimate(
    reference: Any,
    memberships: Any,
    *,
    n_pairs: int = 1_000_000,
    normalize: bool = True,
    random_state: Any = None,
) -> RandEstimate:
    r"""Estimate the generalised Rand index and the adjusted index from random pairs of rows.

    Pairs of different rows are drawn independently and uniformly, with replacement. Let a and b be
    the distances of a pair in the two partitions. Let d be the mean of \|a - b\| over the drawn
    pairs, and e the mean of \|a - b\| if a and b come from different drawn pairs. Then

    .. math:: \mathrm{score} = 1 - d, \qquad \mathrm{adjusted} = 1 - d / e.

    The standard error of the score is the standard deviation of \|a - b\| divided by sqrt(n_pairs).
    A million pairs give a standard error of at most 5e-4 in one or two seconds, for any number of
    rows.

    Implements :cite:`hullermeier2012` on a sample. The standard error of `adjusted` is
    original to typicality, see docs/theory.

    Parameters
    ----------
    reference, memberships : array-like of shape (n,) or (n, c), or sparse matrix
        Labels or memberships, as in :func:`generalized_rand_score`.
    n_pairs : int, default=1_000_000
        The number of pairs to draw. Four times as many pairs halve the standard error.
    normalize : bool, default=True
        As in :func:`generalized_rand_score`.
    random_state : int, RandomState or None, default=None
        The seed or generator that draws the pairs. Pass an int for reproducible results.

    Returns
    -------
    RandEstimate
        Both estimates with their standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.metrics import generalized_rand_estimate, generalized_rand_score
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=2000)
    >>> memberships = 0.5 * np.eye(3)[labels] + 0.5 * rng.dirichlet(np.ones(3), 2000)
    >>> estimate = generalized_rand_estimate(labels, memberships, random_state=0)
    >>> error = estimate.score - generalized_rand_score(labels, memberships)
    >>> abs(error) < 3 * estimate.standard_error < 1e-3
    True
    """
    n_pairs = check_whole(n_pairs, "n_pairs", least=2)  # two, for a standard error
    first, second = read_two(reference, memberships, normalize=normalize)
    if len(first) == 1:
        return RandEstimate(1.0, 0.0, 1.0, 0.0, 0)
    return _estimate(first, second, random_state, n_pairs)


def _estimate(
    first: Crisp | Soft, second: Crisp | Soft, random_state: Any, n_pairs: int = 1_000_000
) -> RandEstimate:
    a, b = _draw(first, second, n_pairs, check_random_state(random_state))
    apart = np.abs(a - b)
    score, error = 1.0 - float(apart.mean()), _standard_error(apart)
    return RandEstimate(score, error, *_adjusted(a, b, apart), n_pairs)


def _draw(
    first: Crisp | Soft, second: Crisp | Soft, n_pairs: int, random_state: np.random.RandomState
) -> tuple[Doubles, Doubles]:
    """Distances of random pairs in both partitions; differences of shares a block at a time."""
    a, b = np.empty(n_pairs), np.empty(n_pairs)
    for start in range(0, n_pairs, _BLOCK_PAIRS):
        block = slice(start, min(start + _BLOCK_PAIRS, n_pairs))
        i = random_state.randint(len(first), size=block.stop - start)
        j = random_state.randint(len(first) - 1, size=block.stop - start)
        j += j >= i  # any row but i
        a[block], b[block] = first.distances(i, j), second.distances(i, j)
    return a, b


def _adjusted(a: Doubles, b: Doubles, apart: Doubles) -> tuple[float, float]:
    n_pairs, paired = len(a), float(apart.mean())
    from_a, from_b = _mean_difference_to(a, b), _mean_difference_to(b, a)
    # The combinations contain each pair with itself, which is not independent.
    independent = (float(from_a.mean()) * n_pairs - paired) / (n_pairs - 1)
    if independent <= 0:
        return 1.0, 0.0
    ratio = paired / independent
    influence = (apart - ratio * (from_a + from_b)) / independent
    return 1.0 - ratio, _standard_error(influence)


def _standard_error(values: Doubles) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))
