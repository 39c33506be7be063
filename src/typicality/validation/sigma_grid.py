"""Bandwidths worth comparing: those of the rules, and some between them."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from typicality._typing import Doubles
from typicality.bandwidth import median_distance, neighbour_distance

_DIGITS = 4  # so many are printed, and typed again
_APART = 1.1  # the rules count as one where they are closer than this


class NamedSigma(NamedTuple):
    """A bandwidth, and the rule it comes from; "" where it lies between those of rules."""

    sigma: float
    rule: str


def named_sigmas(X: Doubles, *, n_values: int = 7) -> tuple[NamedSigma, ...]:
    """Bandwidths from h / 2 to M, with h the neighbour distance and M the median distance.

    Among them are those of the rules "knn" (h), "auto" (M / 2, what
    :class:`typicality.OneClusterPCM` takes by itself) and "median" (M). In many dimensions h comes
    near M: then they begin at M / 4. The widest gaps between them are halved until there are
    `n_values`. All but that of "auto" have four digits.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows; they must not all be equal.
    n_values : int, default=7
        How many; four at the least.

    Returns
    -------
    tuple of NamedSigma
        In rising order.
    """
    median, neighbour = median_distance(X), neighbour_distance(X)
    chosen = {median / 2: "auto (M / 2)", rounded(median): "median (M)"}
    if neighbour <= median / 2:
        chosen[rounded(neighbour / 2)] = "h / 2"
    else:
        chosen[rounded(median / 4)] = "M / 4"
    if neighbour < median and _stands_apart(neighbour, chosen):
        chosen[rounded(neighbour)] = "knn (h)"
    while len(chosen) < n_values:
        chosen[_amid_widest_gap(sorted(chosen))] = ""
    return tuple(NamedSigma(sigma, chosen[sigma]) for sigma in sorted(chosen))


def _stands_apart(sigma: float, others: Iterable[float]) -> bool:
    return all(max(sigma / other, other / sigma) > _APART for other in others)


def _amid_widest_gap(sigmas: list[float]) -> float:
    logs = np.log(sigmas)
    widest = int(np.argmax(np.diff(logs)))
    return rounded(float(np.exp(logs[widest : widest + 2].mean())))


def rounded(sigma: float) -> float:
    """A bandwidth as it is printed and can be typed again."""
    return float(f"{sigma:.{_DIGITS}g}")
