"""Fuzzy memberships: Bezdek's fuzzy c-means."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from typicality.membership._arrays import Array, bounded_exp, largest_exponent, namespace
from typicality.membership.base import NearestPrototype


class FuzzyTwin(NamedTuple):
    """Parameters of the compiled rule."""

    m: float


@dataclass(frozen=True)
class Fuzzy(NearestPrototype):
    r"""Memberships that sum to one, fuzzier as `m` grows.

    .. math:: f(u, d) = \sum_k u_k^m d_k, \quad \sum_k u_k = 1, \qquad
        u_k = \Big[ \sum_j (d_k / d_j)^{1/(m-1)} \Big]^{-1}.

    A row that coincides with prototypes is shared equally among those and belongs to no other.
    Ratios are taken in logarithms relative to the nearest prototype, so that m close to 1 and m
    very large are exact.

    Implements :cite:`miyamoto2003`, eq. (1)-(3); :cite:`bezdek1981`.

    Differs from the paper: the exponent 2/(m-1) printed in :cite:`lecture20` for squared distances
    is not stationary; 1/(m-1) is.

    Parameters
    ----------
    m : float, default=2.0
        The fuzzifier, above 1. The limit 1 is :class:`Hard`.
    """

    m: float = 2.0

    def memberships(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        low = xp.min(sqdist, axis=-1, keepdims=True)
        nearest = sqdist <= low
        apart = low > 0  # else the row coincides with a prototype and no ratio is needed
        log_low = xp.log(xp.where(apart, low, xp.ones_like(low)))
        log_ratio = log_low - xp.log(xp.where(apart, sqdist, xp.ones_like(sqdist)))
        ratio = xp.where(apart, xp.exp(log_ratio / (self.m - 1.0)), xp.zeros_like(sqdist))
        ratio = xp.where(nearest, xp.ones_like(ratio), ratio)
        return ratio / xp.sum(ratio, axis=-1, keepdims=True)

    def weights(self, memberships: Array) -> Array:
        n_clusters = memberships.shape[-1]
        if self.m * math.log(n_clusters) < largest_exponent(memberships) / 3:
            return memberships**self.m
        # u ** m comes near the smallest number for u = 1 / c: a common factor c ** m keeps it off.
        xp = namespace(memberships)
        positive = memberships > 0
        safe = xp.where(positive, memberships, xp.ones_like(memberships))
        pull = bounded_exp(self.m * xp.log(safe * n_clusters))
        return xp.where(positive, pull, xp.zeros_like(memberships))

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        return namespace(sqdist).sum(memberships**self.m * sqdist, axis=-1)

    @property
    def twin(self) -> FuzzyTwin:
        return FuzzyTwin(float(self.m))
