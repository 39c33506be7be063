"""How wide a possibilistic cluster is: the spread eta, where it comes from and how it changes."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from typicality._typing import Doubles, Places

__all__ = [
    "AdaptedSpread",
    "FixedSpread",
    "ReestimatedSpread",
    "SpreadUpdate",
    "smallest_spread",
    "spread_from_gaps",
    "spread_from_partition",
    "spread_from_separation",
    "spread_update",
]

SMALLEST_SHARE = 1e-12  # of the total variance: below this a spread is taken for zero


class SpreadUpdate(Protocol):
    """What happens to the spreads after each sweep."""

    labelled: ClassVar[bool]  # whether it asks for the rows that prefer each cluster

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        """The rule and the prototypes for the next sweep, given what this one found.

        There may be fewer of both than before: clusters can be dropped here.
        """


@dataclass(frozen=True)
class FixedSpread:
    """The spreads stay as they were at the start; the objective then never rises."""

    labelled: ClassVar[bool] = False

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        return rule, sweep.prototypes


@dataclass(frozen=True)
class ReestimatedSpread:
    r"""The spreads are estimated again after each sweep.

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
    labelled: ClassVar[bool] = False

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        eta = np.maximum(self.gamma * sweep.within_sqdist, self.smallest)
        return rule.with_spread(eta), sweep.prototypes


@dataclass(frozen=True)
class AdaptedSpread:
    r"""The spreads follow the rows that prefer each cluster; clusters that none prefers go.

    .. math:: \eta_k = \kappa \, \frac{1}{n_k} \sum_{h \in C_k} \lVert x_h - \mu_k \rVert, \qquad
        \mu_k = \frac{1}{n_k} \sum_{h \in C_k} x_h,

    where :math:`C_k` are the :math:`n_k` rows whose membership is largest in cluster k. The
    distances are not squared, so the unit of length :math:`\kappa` matters.

    Implements :cite:`xenaki2014`, section 2 (APCM and SAPCM). Differs from the paper: there the
    unit is a tenth of the range of the features, once they are scaled to [0, 10].

    Parameters
    ----------
    unit : float, default=1.0
        The unit of length.
    smallest : float, default=0.0
        Spreads are not let below this.
    """

    unit: float = 1.0
    smallest: float = 0.0
    labelled: ClassVar[bool] = True

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        alive = np.flatnonzero(sweep.members.mass > 0)
        eta = np.maximum(self.unit * sweep.members.distance[alive], self.smallest)
        return rule.with_spread(eta), sweep.prototypes.take(alive)


def spread_from_separation(sqdist: Doubles, beta: float) -> Doubles:
    r"""Spreads such that a row at half the squared distance to the nearest other prototype is beta.

    .. math:: \eta_k = \frac{\min_{l \ne k} \lVert v_k - v_l \rVert^2 / 2}{-\ln \beta}

    Implements :cite:`xenaki2014`, section 2, "Initialization".

    Parameters
    ----------
    sqdist : array of shape (c, c)
        Squared distances among the prototypes; at least two.
    beta : float
        Between 0 and 1.
    """
    others = sqdist + np.diag(np.full(len(sqdist), np.inf))
    spread: Doubles = others.min(axis=1) / (-2.0 * np.log(beta))
    return spread


def spread_from_gaps(largest: float, around: Doubles) -> float:
    r"""The spread of a new cluster that starts at a row.

    .. math:: \eta = \max ( d_{\max}^2, d_{\mathrm{slope}}^2 ),

    where :math:`d_{\max}` is the largest distance of a row to its nearest row, and
    :math:`d_{\mathrm{slope}}` the distance after the largest jump between the sorted distances from
    the row to its nearest rows.

    Implements :cite:`xenaki2014`, section 3; eta is compared with squared distances, so these are
    squared.

    Parameters
    ----------
    largest : float
        The largest squared distance of a row to its nearest row.
    around : array
        Squared distances from the row of the start to its nearest rows, in rising order.
    """
    jumps = np.diff(np.sqrt(around))
    slope = around[jumps.argmax() + 1] if len(jumps) else around.max(initial=0.0)
    return float(max(largest, slope))


def spread_update(when: str, *, gamma: float, total_variance: float) -> SpreadUpdate:
    """What `eta_update` of an estimator means: "never" or "each_step"."""
    if when == "never":
        return FixedSpread()
    return ReestimatedSpread(gamma, smallest_spread(total_variance))


def smallest_spread(total_variance: float) -> float:
    """Below, a spread is taken for zero."""
    return SMALLEST_SHARE * (total_variance or 1.0)


def spread_from_partition(
    spread: Doubles, *, gamma: float, total_variance: float
) -> tuple[Doubles, Places]:
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
