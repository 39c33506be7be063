"""How wide a possibilistic cluster is: the spread eta, where it comes from and how it changes."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FixedSpread",
    "ReestimatedSpread",
    "SpreadUpdate",
    "smallest_spread",
    "spread_from_partition",
    "spread_update",
]

SMALLEST_SHARE = 1e-12  # of the total variance: below this a spread is taken for zero


class SpreadUpdate(Protocol):
    """What happens to the spreads after each sweep."""

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        """The rule and the prototypes for the next sweep, given what this one found.

        There may be fewer of both than before: clusters can be dropped here.
        """


@dataclass(frozen=True)
class FixedSpread:
    """The spreads stay as they were at the start; the objective then never rises."""

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        return rule, sweep.prototypes


@dataclass(frozen=True)
class ReestimatedSpread:
    r"""The spreads are estimated anew after each sweep.

    .. math:: \eta_k = \gamma \frac{\sum_h w_{hk} d_{hk}}{\sum_h w_{hk}}

    .. warning::
        The objective then changes from step to step, so it may rise, and spreads can shrink
        without end: for the 1996 form and a Gaussian cluster in d dimensions with variance s in
        each, the fixed point is :math:`\eta = (\gamma d - 2) s`, so a cluster of effective
        dimension :math:`d \le 2 / \gamma` collapses onto a point. Prefer fixed spreads.

    Implements :cite:`filippone2010`, eq. (10) and the remark after eq. (17): "at each iteration".

    Parameters
    ----------
    gamma : float, default=1.0
        The multiplier of the mean squared distance.
    smallest : float, default=0.0
        Spreads are not let below this.
    """

    gamma: float = 1.0
    smallest: float = 0.0

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        eta = np.maximum(self.gamma * sweep.spread, self.smallest)
        return rule.with_spread(eta), sweep.prototypes


def spread_update(when: str, *, gamma: float, total_variance: float) -> SpreadUpdate:
    """What `eta_update` of an estimator means: "never" or "each_step"."""
    if when == "never":
        return FixedSpread()
    return ReestimatedSpread(gamma, smallest_spread(total_variance))


def smallest_spread(total_variance: float) -> float:
    """Below, a spread is taken for zero."""
    return SMALLEST_SHARE * (total_variance or 1.0)


def spread_from_partition(
    spread: NDArray[np.float64], *, gamma: float, total_variance: float
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    r"""Spreads from the mean squared distances of a preliminary fuzzy partition.

    .. math:: \eta_k = \gamma \frac{\sum_h u_{hk}^m d_{hk}}{\sum_h u_{hk}^m}

    A cluster whose weight lies on identical rows has no spread of its own; it is given the median
    of the others; where there are none, the total variance, and 1 where that is zero too.

    Implements :cite:`krishnapuram1993`; :cite:`filippone2010`, eq. (10).

    Returns
    -------
    eta : array of shape (c,)
        The spreads, all positive.
    degenerate : array of int
        The clusters that had none of their own.
    """
    usable = spread > SMALLEST_SHARE * total_variance
    fallback = np.median(spread[usable]) if usable.any() else total_variance or 1.0
    eta = np.maximum(gamma * np.where(usable, spread, fallback), np.finfo(np.float64).tiny)
    return eta, np.flatnonzero(~usable)
