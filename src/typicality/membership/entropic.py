"""Entropic memberships: entropy-regularised fuzzy c-means."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from typicality.membership.base import Array, CompiledRule, NearestPrototype, namespace


@dataclass(frozen=True)
class Entropic(NearestPrototype):
    r"""Entropic memberships: a softmax of squared distances; they sum to one.

    .. math:: f(u, d) = \sum_k u_k d_k + \lambda^{-1} \sum_k u_k \log u_k, \quad \sum_k u_k = 1,
        \qquad u_k = \frac{e^{-\lambda d_k}}{\sum_j e^{-\lambda d_j}}.

    Implements :cite:`miyamoto2003`, eq. (4)-(5).

    Parameters
    ----------
    lam : float
        The factor of the squared distance, positive. Small values give fuzzy, large values hard
        memberships.
    """

    lam: float

    def memberships(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        shifted = sqdist - xp.min(sqdist, axis=-1, keepdims=True)
        pull = xp.exp(-self.lam * shifted)
        return pull / xp.sum(pull, axis=-1, keepdims=True)

    def weights(self, memberships: Array) -> Array:
        return memberships

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        safe = xp.where(memberships > 0, memberships, xp.ones_like(memberships))
        return xp.sum(memberships * (sqdist + xp.log(safe) / self.lam), axis=-1)

    @property
    def compiled_form(self) -> "EntropicForm | None":
        return EntropicForm(float(self.lam)) if type(self) is Entropic else None


class EntropicForm(NamedTuple):
    """The compiled form and its parameters."""

    lam: float

    @staticmethod
    def functions() -> CompiledRule:
        from typicality.compiled.arithmetic import clear, exp, log, lowest_exponent
        from typicality.compiled.sweep import normalise, row_minimum

        def memberships(form, sqdist, low, total, out):
            row_minimum(sqdist, low)
            n_clusters, n_rows = sqdist.shape
            lowest = lowest_exponent(sqdist.itemsize)
            clear(total)
            for k in range(n_clusters):
                for r in range(n_rows):
                    out[k, r] = exp(-form.lam * np.float64(sqdist[k, r] - low[r]), lowest)
                    total[r] += out[k, r]
            normalise(out, total)

        def pull(form, sqdist, low, total, out, value):
            for r in range(sqdist.shape[1]):
                value[r] = low[r] + log(np.float64(total[r])) / form.lam

        return CompiledRule(memberships, pull)
