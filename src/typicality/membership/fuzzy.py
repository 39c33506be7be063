"""Fuzzy memberships: Bezdek's fuzzy c-means."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import inf

from typicality.membership.base import (
    Array,
    CompiledRule,
    NearestPrototype,
    bounded_exp,
    largest_exponent,
    namespace,
)


@dataclass(frozen=True)
class Fuzzy(NearestPrototype):
    r"""Fuzzy c-means memberships; they sum to one.

    .. math:: f(u, d) = \sum_k u_k^m d_k, \quad \sum_k u_k = 1, \qquad
        u_k = \Big[ \sum_j (d_k / d_j)^{1/(m-1)} \Big]^{-1}.

    If a row coincides with one or more prototypes, it has equal memberships in these, and 0 in all
    others. The formula is evaluated with logarithms, so it is accurate for m close to 1 and for
    very large m.

    Implements :cite:`miyamoto2003`, eq. (1)-(3); :cite:`bezdek1981`.

    The exponent for squared distances is 1/(m-1), not 2/(m-1) as printed in :cite:`lecture20`.

    Parameters
    ----------
    m : float, default=2.0
        The fuzzifier, above 1. Larger values give fuzzier memberships; the limit 1 is
        :class:`Hard`.
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
    def compiled_form(self) -> "FuzzyForm | None":
        return _form(self.m, math.inf) if type(self) is Fuzzy else None


@dataclass(frozen=True)
class FuzzyWithNoise(Fuzzy):
    r"""Fuzzy c-means memberships with a noise cluster at the same distance from all rows.

    .. math:: f(u, d) = \sum_k u_k^m d_k + \Big( 1 - \sum_k u_k \Big)^m \delta^2, \qquad
        u_k = \Big[ \sum_j (d_k / d_j)^{1/(m-1)} + (d_k / \delta^2)^{1/(m-1)} \Big]^{-1}.

    The rest, :math:`1 - \sum_k u_k`, is the membership in the noise cluster. A row is in no cluster
    if its nearest prototype is farther than :math:`\delta`: then its membership in the noise
    cluster is the largest.

    Implements :cite:`dave1991`.

    Parameters
    ----------
    m : float, default=2.0
        The fuzzifier, above 1.
    noise_sqdist : float, default=inf
        The squared distance :math:`\delta^2` of the noise cluster. Infinite is :class:`Fuzzy`.
    """

    noise_sqdist: float = math.inf

    def memberships(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        noise = xp.full_like(sqdist[..., :1], self.noise_sqdist)
        return super().memberships(xp.concat([sqdist, noise], axis=-1))[..., :-1]

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        rest = 1.0 - xp.sum(memberships, axis=-1)
        rest = xp.where(rest > 0, rest, xp.zeros_like(rest))
        return super().objective(memberships, sqdist) + rest**self.m * self.noise_sqdist

    def closeness(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        return xp.where(sqdist <= self.noise_sqdist, sqdist, xp.full_like(sqdist, math.inf))

    @property
    def compiled_form(self) -> "FuzzyForm | None":
        return _form(self.m, self.noise_sqdist) if type(self) is FuzzyWithNoise else None


class FuzzyForm(NamedTuple):
    """The compiled form and its parameters."""

    m: float
    exponent: float  # 1 / (m - 1); computed in a loop, it would become a division for each entry
    noise_sqdist: float  # infinite without a noise cluster

    @staticmethod
    def functions() -> CompiledRule:
        from typicality.compiled.arithmetic import (
            LOG2_E,
            clear,
            exp2,
            largest_exponent,
            log2,
            lowest_exponent,
        )
        from typicality.compiled.sweep import normalise, row_minimum

        def memberships(form, sqdist, low, total, out):
            n_clusters, n_rows = sqdist.shape
            clear(total)
            one, none = sqdist.dtype.type(1), sqdist.dtype.type(0)
            noise = sqdist.dtype.type(form.noise_sqdist)
            if form.m == 2.0:
                # Reciprocals of distances, none so small that it overflows.
                smallest = sqdist.dtype.type(1e-300 if sqdist.itemsize == 8 else 1e-34)
                for r in range(n_rows):
                    total[r] = one / noise
                for k in range(n_clusters):
                    for r in range(n_rows):
                        out[k, r] = one / max(sqdist[k, r], smallest)
                        total[r] += out[k, r]
                normalise(out, total)
                return
            row_minimum(sqdist, low)
            for r in range(n_rows):
                low[r] = min(low[r], noise)
            if form.m == 1.5:
                # The square of a ratio, without logarithms; nothing so small that it underflows.
                smallest = sqdist.dtype.type(1e-150 if sqdist.itemsize == 8 else 1e-17)
                for r in range(n_rows):
                    ratio = low[r] / noise
                    total[r] = ratio * ratio if ratio > smallest else none
                for k in range(n_clusters):
                    for r in range(n_rows):
                        ratio = low[r] / sqdist[k, r] if sqdist[k, r] > low[r] else one
                        ratio = ratio if ratio > smallest else none
                        out[k, r] = ratio * ratio
                        total[r] += out[k, r]
            else:
                lowest = LOG2_E * lowest_exponent(sqdist.itemsize)
                log_low, log_power = np.empty(n_rows), np.empty(n_rows)
                for r in range(n_rows):
                    log_low[r] = log2(low[r]) if low[r] > 0 else -1e300
                if noise < inf:
                    log_noise = log2(noise)
                    for r in range(n_rows):
                        total[r] = exp2((log_low[r] - log_noise) * form.exponent, lowest)
                for k in range(n_clusters):
                    # Two loops: a single one would need more registers than there are.
                    for r in range(n_rows):
                        log_power[r] = (log_low[r] - log2(sqdist[k, r])) * form.exponent
                    for r in range(n_rows):
                        power = exp2(log_power[r], lowest)
                        out[k, r] = power if sqdist[k, r] > low[r] else 1.0
                        total[r] += out[k, r]
            normalise(out, total)

        def pull(form, sqdist, low, total, out, value):
            n_clusters, n_rows = sqdist.shape
            if form.m == 2.0:
                for r in range(n_rows):
                    value[r] = total[r]  # one over the sum of the reciprocals
                for k in range(n_clusters):
                    for r in range(n_rows):
                        out[k, r] *= out[k, r]
                return
            limit = LOG2_E * largest_exponent(sqdist.itemsize)
            lowest = LOG2_E * lowest_exponent(sqdist.itemsize)
            lowest_value = LOG2_E * lowest_exponent(value.itemsize)
            shift = form.m * log2(np.float64(n_clusters))  # as in Fuzzy.weights: off the smallest
            shift = shift if shift >= limit / 3 else 0.0
            largest = np.empty(n_rows, np.float64)
            for r in range(n_rows):
                # The membership u of the nearest cluster; u ** (m - 1) * sqdist is the same for all
                u = np.float64(total[r])
                log_power = (form.m - 1.0) * log2(u)
                value[r] = low[r] * exp2(log_power, lowest_value)
                largest[r] = exp2(min(shift + log_power + log2(u), limit), lowest)
                total[r] = low[r] * largest[r] / u
            for k in range(n_clusters):
                for r in range(n_rows):
                    weight = out[k, r] * total[r] / sqdist[k, r]
                    out[k, r] = weight if sqdist[k, r] > low[r] else largest[r]

        def closeness(form, sqdist, membership, k):
            return sqdist if sqdist <= form.noise_sqdist else inf

        return CompiledRule(memberships, pull, closeness)


def _form(m: float, noise_sqdist: float) -> FuzzyForm:
    return FuzzyForm(float(m), 1.0 / (m - 1.0), float(noise_sqdist))
