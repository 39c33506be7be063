"""Possibilistic memberships, or typicalities: each cluster judges a row on its own."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from typicality.membership.base import (
    Array,
    CompiledRule,
    bounded_exp,
    largest_exponent,
    like,
    namespace,
    nearly_equal,
    relative_to_largest,
)
from typicality.membership.fuzzy import Fuzzy

_COINCIDENT_TYPICALITY = 0.95


class WithSpread(ABC):
    """What possibilistic rules share: a spread `eta` for each cluster, in squared distance."""

    eta: Array

    def closeness(self, sqdist: Array) -> Array:
        return sqdist / like(self.eta, sqdist)

    def coincide(self, sqdist: Array, total_variance: float) -> Array:
        return nearly_equal(sqdist, total_variance)

    def take(self, order: Array) -> Self:
        return self.with_spread(self.eta[order])

    def with_spread(self, eta: Array) -> Self:
        """The same rule with another spread."""
        return replace(self, eta=eta)  # type: ignore[type-var]


class WithTails(WithSpread):
    """Typicalities that are above zero everywhere, but may underflow."""

    def pull(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        logarithms = self._log_weights(self.closeness(sqdist))
        return xp.exp(logarithms - xp.max(logarithms, axis=-2, keepdims=True))

    def coincide(self: Any, sqdist: Array, total_variance: float) -> Array:
        # Each prototype is typical of the other cluster: two modes are never so near.
        with np.errstate(over="ignore"):  # far apart and narrow: a typicality of zero
            return self.memberships(sqdist) >= _COINCIDENT_TYPICALITY

    @abstractmethod
    def _log_weights(self, relative: Array) -> Array:
        """Logarithms of the weights of rows at `relative` squared distances."""


def closeness_by_spread(form, sqdist, membership, k):
    """`closeness` of the compiled form of a rule with spreads."""
    return sqdist / form.eta[k]


@dataclass(frozen=True, eq=False)
class Possibilistic1993(WithTails):
    r"""Possibilistic memberships (typicalities) of 1993, with polynomial tails.

    .. math:: f(u, d) = \sum_k u_k^m d_k + \sum_k \eta_k (1 - u_k)^m, \qquad
        u_k = \big[ 1 + (d_k / \eta_k)^{1/(m-1)} \big]^{-1}.

    Typicalities need not sum to one. At the squared distance eta, the typicality is 1/2.

    Implements :cite:`krishnapuram1993`.

    Parameters
    ----------
    eta : array of shape (n_clusters,)
        The spread of each cluster, as a squared distance; positive.
    m : float, default=2.0
        The fuzzifier, above 1. With larger values, typicalities decrease more slowly for far rows.
    """

    eta: Annotated[Array, "c"]
    m: float = 2.0

    def memberships(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        relative = self.closeness(sqdist)
        safe = xp.where(relative > 0, relative, xp.ones_like(relative))
        exponent = xp.log(safe) / (self.m - 1.0)
        reached = exponent < largest_exponent(exponent)  # beyond, a typicality is zero
        typicality = xp.where(reached, 1.0 / (1.0 + bounded_exp(exponent)), xp.zeros_like(exponent))
        return xp.where(relative > 0, typicality, xp.ones_like(relative))

    def weights(self, memberships: Array) -> Array:
        return memberships**self.m

    def _log_weights(self, relative: Array) -> Array:
        xp = namespace(relative)
        safe = xp.where(relative > 0, relative, xp.ones_like(relative))
        exponent = xp.log(safe) / (self.m - 1.0)
        logarithms = -self.m * xp.logaddexp(xp.zeros_like(exponent), exponent)
        return xp.where(relative > 0, logarithms, xp.zeros_like(relative))

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        penalty = like(self.eta, sqdist) * (1.0 - memberships) ** self.m
        return xp.sum(memberships**self.m * sqdist + penalty, axis=-1)

    @property
    def compiled_form(self) -> "Possibilistic1993Form | None":
        if type(self) is not Possibilistic1993:
            return None
        return Possibilistic1993Form(self.eta, float(self.m))


class Possibilistic1993Form(NamedTuple):
    """The compiled form and its parameters."""

    eta: Any
    m: float

    @staticmethod
    def functions() -> CompiledRule:
        from typicality.compiled.arithmetic import (
            clear,
            exp,
            largest_exponent,
            log,
            lowest_exponent,
        )

        def memberships(form, sqdist, low, total, out):
            n_clusters, n_rows = sqdist.shape
            exponent = 1.0 / (form.m - 1.0)
            limit = largest_exponent(sqdist.itemsize)
            lowest = lowest_exponent(sqdist.itemsize)
            for k in range(n_clusters):
                eta = form.eta[k]
                if form.m == 2.0:
                    for r in range(n_rows):
                        out[k, r] = 1.0 / (1.0 + sqdist[k, r] / eta)
                else:
                    for r in range(n_rows):
                        relative = sqdist[k, r] / eta
                        power = log(relative) * exponent
                        degree = (
                            1.0 / (1.0 + exp(min(power, limit), lowest)) if power < limit else 0.0
                        )
                        out[k, r] = degree if relative > 0 else 1.0

        def pull(form, sqdist, low, total, out, value):
            n_clusters, n_rows = sqdist.shape
            lowest = lowest_exponent(sqdist.itemsize)
            clear(value)
            for k in range(n_clusters):
                eta = form.eta[k]
                if form.m == 2.0:
                    for r in range(n_rows):
                        value[r] += sqdist[k, r] * out[k, r]
                        out[k, r] *= out[k, r]
                else:
                    for r in range(n_rows):
                        degree = np.float64(out[k, r])
                        power = exp((form.m - 1.0) * log(degree), lowest)
                        # The same value twice. Far out, where degrees are cut off, the second is
                        # right.
                        near = sqdist[k, r] * power
                        far = eta * exp((form.m - 1.0) * log(1.0 - degree), lowest)
                        value[r] += near if sqdist[k, r] < eta else far
                        out[k, r] *= power

        return CompiledRule(memberships, pull, closeness_by_spread)


@dataclass(frozen=True, eq=False)
class PossibilisticFuzzy(Possibilistic1993):
    r"""Typicalities of 1993, with fuzzy memberships in the weights of the prototypes.

    .. math:: f(t, d) = \sum_k t_k^m d_k + \sum_k \eta_k (1 - t_k)^m + a \sum_k u_k^q d_k, \qquad
        w_k = t_k^m + a \, u_k^q,

    where :math:`t_k` is the typicality of :class:`Possibilistic1993`, and :math:`u_k` the
    membership of :class:`Fuzzy` with the fuzzifier q. The memberships of this rule are the
    typicalities. The fuzzy term keeps prototypes apart.

    Implements :cite:`pal2005`.

    Parameters
    ----------
    eta : array of shape (n_clusters,)
        The spread of each cluster, as a squared distance; positive.
    m : float, default=2.0
        The exponent of the typicalities, above 1.
    fuzzy_m : float, default=2.0
        The exponent q of the fuzzy memberships, above 1.
    fuzzy_weight : float, default=1.0
        The weight a of the fuzzy term. With 0, the rule is :class:`Possibilistic1993`.
    """

    fuzzy_m: float = 2.0
    fuzzy_weight: float = 1.0

    def weights(self, memberships: Array) -> Array:
        # Distances, which fuzzy memberships need, follow from typicalities.
        xp = namespace(memberships)
        least = math.exp(-largest_exponent(memberships) / max(1.0, self.m - 1.0))
        odds = (1.0 - memberships) / xp.where(
            memberships > least, memberships, like(least, memberships)
        )
        sqdist = like(self.eta, memberships) * odds ** (self.m - 1.0)
        fuzzy = Fuzzy(self.fuzzy_m).memberships(sqdist)
        return memberships**self.m + self.fuzzy_weight * fuzzy**self.fuzzy_m

    def pull(self, sqdist: Array) -> Array:
        return relative_to_largest(self.weights(self.memberships(sqdist)))

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        rule = Fuzzy(self.fuzzy_m)
        fuzzy = rule.objective(rule.memberships(sqdist), sqdist)
        return super().objective(memberships, sqdist) + self.fuzzy_weight * fuzzy


@dataclass(frozen=True, eq=False)
class Possibilistic1996(WithTails):
    r"""Possibilistic memberships (typicalities) of 1996: a Gaussian of the distance.

    .. math:: f(u, d) = \sum_k u_k d_k + \sum_k \eta_k (u_k \ln u_k - u_k), \qquad
        u_k = e^{-d_k / \eta_k}.

    Typicalities need not sum to one. At the squared distance eta, the typicality is exp(-1).

    Implements :cite:`filippone2010`, eq. (6) and (8); :cite:`krishnapuram1996`.

    Parameters
    ----------
    eta : array of shape (n_clusters,)
        The spread of each cluster, as a squared distance; positive.
    """

    eta: Annotated[Array, "c"]

    def memberships(self, sqdist: Array) -> Array:
        with np.errstate(under="ignore"):  # whatever the user has set: far rows have none
            return namespace(sqdist).exp(-self.closeness(sqdist))

    def weights(self, memberships: Array) -> Array:
        return memberships

    def _log_weights(self, relative: Array) -> Array:
        return -relative

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        safe = xp.where(memberships > 0, memberships, xp.ones_like(memberships))
        entropy = memberships * (xp.log(safe) - 1.0)
        return xp.sum(memberships * sqdist + like(self.eta, sqdist) * entropy, axis=-1)

    @property
    def compiled_form(self) -> "Possibilistic1996Form | None":
        return Possibilistic1996Form(self.eta) if type(self) is Possibilistic1996 else None


class Possibilistic1996Form(NamedTuple):
    """The compiled form and its parameters."""

    eta: Any

    @staticmethod
    def functions() -> CompiledRule:
        from typicality.compiled.arithmetic import clear, exp, lowest_exponent

        def memberships(form, sqdist, low, total, out):
            n_clusters, n_rows = sqdist.shape
            lowest = lowest_exponent(sqdist.itemsize)
            for k in range(n_clusters):
                eta = form.eta[k]
                for r in range(n_rows):
                    out[k, r] = exp(-(sqdist[k, r] / eta), lowest)

        def pull(form, sqdist, low, total, out, value):
            n_clusters, n_rows = sqdist.shape
            clear(value)
            for k in range(n_clusters):
                eta = form.eta[k]
                for r in range(n_rows):
                    value[r] -= eta * out[k, r]

        return CompiledRule(memberships, pull, closeness_by_spread)
