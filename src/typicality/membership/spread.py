"""The spread eta of possibilistic clusters: initial values and updates."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from typicality._typing import Doubles, Places

__all__ = [
    "AdaptedSpread",
    "FixedSpread",
    "SpreadUpdate",
    "smallest_spread",
    "spread_from_gaps",
    "spread_from_partition",
    "spread_from_separation",
]

SMALLEST_SHARE = 1e-12  # of the total variance: below this a spread is taken for zero


class SpreadUpdate(Protocol):
    """The interface of updates of the spreads after each iteration."""

    labelled: ClassVar[bool]  # whether it asks for the rows that prefer each cluster

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        """The rule and the prototypes for the next iteration, from the results of this one.

        There can be fewer clusters than before, because clusters can be dropped.
        """


@dataclass(frozen=True)
class FixedSpread:
    """Fixed spreads; with these, the objective never rises."""

    labelled: ClassVar[bool] = False

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        return rule, sweep.prototypes


@dataclass(frozen=True)
class AdaptedSpread:
    r"""Spreads that adapt to the rows of each cluster; clusters without rows are dropped.

    .. math:: \eta_k = \kappa \, \frac{1}{n_k} \sum_{h \in C_k} \lVert x_h - \mu_k \rVert, \qquad
        \mu_k = \frac{1}{n_k} \sum_{h \in C_k} x_h,

    where :math:`C_k` are the :math:`n_k` rows whose membership is largest in cluster k. The
    distances are not squared, so the result depends on the unit of length :math:`\kappa`.

    Implements :cite:`xenaki2014`, section 2 (APCM and SAPCM). Differs from the paper, which scales
    the features to [0, 10] instead of using a unit.

    Parameters
    ----------
    unit : float, default=1.0
        The unit of length :math:`\kappa`.
    smallest : float, default=0.0
        The smallest spread.
    """

    unit: float = 1.0
    smallest: float = 0.0
    labelled: ClassVar[bool] = True

    def update(self, rule: Any, sweep: Any) -> tuple[Any, Any]:
        alive = np.flatnonzero(sweep.members.mass > 0)
        eta = np.maximum(self.unit * sweep.members.distance[alive], self.smallest)
        return rule.with_spread(eta), sweep.prototypes.take(alive)


def spread_from_separation(sqdist: Doubles, beta: float) -> Doubles:
    r"""Initial spreads from the distances between prototypes.

    .. math:: \eta_k = \frac{\min_{l \ne k} \lVert v_k - v_l \rVert^2 / 2}{-\ln \beta}

    At half of the squared distance to the nearest other prototype, the typicality is beta.
    Implements :cite:`xenaki2014`, section 2, "Initialization".

    Parameters
    ----------
    sqdist : array of shape (c, c)
        Squared distances between the prototypes; at least two.
    beta : float
        The typicality, between 0 and 1. Larger values give larger spreads.
    """
    others = sqdist + np.diag(np.full(len(sqdist), np.inf))
    return others.min(axis=1) / (-2.0 * np.log(beta))


def spread_from_gaps(largest: float, around: Doubles) -> float:
    r"""The initial spread of a new cluster at a given row.

    .. math:: \eta = \max ( d_{\max}^2, d_{\mathrm{slope}}^2 ),

    where :math:`d_{\max}` is the largest distance of a row to its nearest other row. For
    :math:`d_{\mathrm{slope}}`, the distances from the given row to its nearest rows are sorted; it
    is the distance after the largest jump.

    Implements :cite:`xenaki2014`, section 3.

    Parameters
    ----------
    largest : float
        The largest squared distance of a row to its nearest other row.
    around : array
        Squared distances from the given row to its nearest rows, in increasing order.
    """
    jumps = np.diff(np.sqrt(around))
    slope = around[jumps.argmax() + 1] if len(jumps) else around.max(initial=0.0)
    return float(max(largest, slope))


def smallest_spread(total_variance: float) -> float:
    """The value below which a spread is treated as zero."""
    return SMALLEST_SHARE * (total_variance or 1.0)


def spread_from_partition(
    spread: Doubles, *, eta_scale: float, total_variance: float
) -> tuple[Doubles, Places]:
    r"""Initial spreads from the mean squared distances of a fuzzy partition.

    .. math:: \eta_k = \gamma \frac{\sum_h u_{hk}^m d_{hk}}{\sum_h u_{hk}^m}

    If all rows of a cluster are identical, its spread would be zero. Such a cluster gets the median
    of the other spreads. If there are no others, it gets the total variance, or 1 if this is zero,
    too.

    Implements :cite:`krishnapuram1993`; :cite:`filippone2010`, eq. (10).

    Returns
    -------
    eta : array of shape (c,)
        The spreads, all positive.
    degenerate : array of int
        The clusters whose spread would be zero.
    """
    usable = spread > SMALLEST_SHARE * total_variance
    fallback = np.median(spread[usable]) if usable.any() else total_variance or 1.0
    eta = np.maximum(eta_scale * np.where(usable, spread, fallback), np.finfo(np.float64).tiny)
    return eta, np.flatnonzero(~usable)
