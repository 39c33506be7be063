"""The generalised Rand index from a sample of pairs, with its standard error."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from typicality._arguments import check_whole
from typicality._typing import Doubles
from typicality.metrics.differences import mean_difference_to
from typicality.metrics.partitions import Crisp, Soft, read_two

_BLOCK_PAIRS = 65_536


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
        Labels or memberships, as in :func:`generalized_rand_score`, which is exact.
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
    from_a, from_b = mean_difference_to(a, b), mean_difference_to(b, a)
    # The combinations contain each pair with itself, which is not independent.
    independent = (float(from_a.mean()) * n_pairs - paired) / (n_pairs - 1)
    if independent <= 0:
        return 1.0, 0.0
    ratio = paired / independent
    influence = (apart - ratio * (from_a + from_b)) / independent
    return 1.0 - ratio, _standard_error(influence)


def _standard_error(values: Doubles) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))
