"""Mean absolute differences between the distances of pairs of rows in two partitions.

Of the same pair, which makes the generalised Rand index, and of independent pairs, which makes its
expectation when the rows of one partition are shuffled.
"""

import math
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from typicality._threads import over_ranges
from typicality._typing import Doubles
from typicality.metrics.partitions import Crisp, Soft

Counts = NDArray[np.int64]

_SORTED_ROWS = 1024  # up to so many the distances of all pairs are kept and sorted: 4 MB each


class Differences(NamedTuple):
    """Means over the same pairs, over independent pairs, and the largest error of the latter."""

    paired: float
    independent: float
    error: float = 0.0


def paired_difference(first: Crisp | Soft, second: Crisp | Soft) -> float:
    """The mean over pairs of the absolute difference of their distances; not both are crisp."""
    if isinstance(first, Soft) and isinstance(second, Soft):
        without = np.zeros((2, 0), np.int64)
        return _soft_and_soft(first, second, (without, without)) / _n_pairs(len(first))
    return differences(first, second).paired


def differences(first: Crisp | Soft, second: Crisp | Soft) -> Differences:
    """The mean over pairs, and over independent pairs; not both are crisp."""
    if isinstance(first, Crisp):
        first, second = second, first
    assert isinstance(first, Soft)
    if isinstance(second, Crisp):
        return _soft_and_crisp(first, second)
    if len(first) <= _SORTED_ROWS:
        return _by_sorting(first, second)
    return _by_histograms(first, second)


def _n_pairs(n_rows: int) -> int:
    return n_rows * (n_rows - 1) // 2


# ---- against classes: a closed form -------------------------------------------------------------


def _soft_and_crisp(soft: Soft, crisp: Crisp) -> Differences:
    """Distances in classes are 0 or 1, so sums of the others are all that is needed."""
    from typicality.metrics.pair_sums import soft_and_crisp  # numba takes a second to load

    columns = np.ascontiguousarray(soft.shares.T)
    n_items = _n_items(len(soft))
    sums = np.zeros((n_items, 2))
    over_ranges(lambda a, b: soft_and_crisp(columns, crisp.labels, a, b, sums), n_items)
    total, within = math.fsum(sums[:, 0]), math.fsum(sums[:, 1])
    n_pairs = _n_pairs(len(soft))
    n_together = sum(_n_pairs(n) for n in np.bincount(crisp.labels).tolist())
    together, mean = n_together / n_pairs, total / n_pairs
    # Within a class the difference is the distance, between classes what it lacks to one.
    paired = (within + ((n_pairs - n_together) - (total - within))) / n_pairs
    return Differences(paired, together * mean + (1 - together) * (1 - mean))


# ---- sums over all pairs ------------------------------------------------------------------------


def _n_items(n_rows: int) -> int:
    from typicality.metrics.pair_sums import TILE  # numba takes a second to load

    n_strips = -(-n_rows // TILE)
    return -(-n_strips // 2)


def _soft_and_soft(first: Soft, second: Soft, histograms: tuple[Counts, Counts]) -> float:
    """The sum over pairs of the absolute difference; histograms are filled if they have bins."""
    from typicality.metrics.pair_sums import soft_and_soft  # numba takes a second to load

    columns = [np.ascontiguousarray(p.shares.T) for p in (first, second)]
    n_items = _n_items(len(first))
    sums, lock = np.zeros(n_items), Lock()

    def task(first_item: int, last_item: int) -> None:
        own = [np.zeros_like(h) for h in histograms]
        soft_and_soft(*columns, first_item, last_item, sums, *own)
        with lock:  # whole numbers: the order of the threads does not matter
            for all_items, these in zip(histograms, own, strict=True):
                all_items += these

    over_ranges(task, n_items)
    return math.fsum(sums)


def _by_sorting(first: Soft, second: Soft) -> Differences:
    a, b = (np.minimum(pdist(p.shares) * math.sqrt(0.5), 1.0) for p in (first, second))
    return Differences(float(np.abs(a - b).mean()), float(mean_difference_to(a, b).mean()))


def mean_difference_to(values: Doubles, others: Doubles) -> Doubles:
    """The mean absolute difference of each value to all others."""
    ordered = np.sort(others)
    upto = np.concatenate([[0.0], np.cumsum(ordered)])
    n_below = np.searchsorted(ordered, values)
    below = n_below * values - upto[n_below]
    above = (upto[-1] - upto[n_below]) - (len(ordered) - n_below) * values
    mean: Doubles = (below + above) / len(ordered)
    return mean


# ---- histograms ---------------------------------------------------------------------------------


def _by_histograms(first: Soft, second: Soft) -> Differences:
    """Independent pairs from the histograms of both sides, which one pass over the pairs gives."""
    from typicality.metrics.pair_sums import N_BINS  # numba takes a second to load

    counts, steps = np.zeros((2, N_BINS), np.int64), np.zeros((2, N_BINS), np.int64)
    total = _soft_and_soft(first, second, (counts, steps))
    return Differences(total / _n_pairs(len(first)), *independent_difference(counts, steps))


def independent_difference(counts: Counts, steps: Counts) -> tuple[float, float]:
    """The mean absolute difference of two independent values, and its largest error.

    The mean of each bin is known. Values of different bins are in a known order, so they add the
    difference of the means. Values of the same bin, of width w, with means at the shares s and t of
    it, differ by w |s - t| at least and w (s (1 - t) + t (1 - s)) at the most, because the
    absolute difference is convex in both. Two thirds of the way from the one to the other are
    taken, which is right for values spread evenly over the bin; the error is w / 3 at the most.
    """
    low, width, place = _bins(counts, steps)
    share = counts / counts.sum(axis=1, keepdims=True)
    mean = low + width * place
    apart = _between_bins(share, mean)
    s, t = place
    least, most = np.abs(s - t), s * (1 - t) + t * (1 - s)
    same = share[0] * share[1] * width / 3
    return apart + float(np.sum(same * (least + 2 * most))), float(
        np.sum(same * 2 * (most - least))
    )


def _bins(counts: Counts, steps: Counts) -> tuple[Doubles, Doubles, Doubles]:
    """The lower end and width of each bin, and where in it the mean is, from 0 to 1."""
    from typicality.metrics import pair_sums  # numba takes a second to load

    octave, part = np.divmod(np.arange(pair_sums.N_BINS - 1), pair_sums.BINS_PER_OCTAVE)
    scale = np.ldexp(1.0, octave - pair_sums.N_OCTAVES)
    low = np.concatenate([[0.0], scale * (1 + part / pair_sums.BINS_PER_OCTAVE)])
    width = np.concatenate([[0.0], scale / pair_sums.BINS_PER_OCTAVE])
    width[-1] = 0.0  # the last bin holds 1, and nothing above
    inside = (steps / np.maximum(counts, 1) + 0.5) / pair_sums.STEPS_PER_BIN
    return low, width, np.where(counts > 0, inside, 0.0)


def _between_bins(share: Doubles, mean: Doubles) -> float:
    """The sum over pairs of different bins of the product of shares times the difference."""
    mass = share * mean
    share_below, mass_below = (np.cumsum(x, axis=1) - x for x in (share, mass))
    # Each bin of one side with all lower bins of the other; no BLAS, whose sums know of threads.
    return float(np.sum(mass * share_below[::-1] - share * mass_below[::-1]))
