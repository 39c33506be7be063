"""Entropic memberships: entropy-regularised fuzzy c-means."""

from dataclasses import dataclass
from typing import NamedTuple

from typicality.membership._arrays import Array, namespace
from typicality.membership.base import NearestPrototype


class EntropicTwin(NamedTuple):
    """Parameters of the compiled rule."""

    lam: float


@dataclass(frozen=True)
class Entropic(NearestPrototype):
    r"""Memberships that sum to one, a softmax of the squared distances.

    .. math:: f(u, d) = \sum_k u_k d_k + \lambda^{-1} \sum_k u_k \log u_k, \quad \sum_k u_k = 1,
        \qquad u_k = \frac{e^{-\lambda d_k}}{\sum_j e^{-\lambda d_j}}.

    Implements :cite:`miyamoto2003`, eq. (4)-(5).

    Parameters
    ----------
    lam : float
        The multiplier of the squared distance, positive: small is fuzzy, infinity is hard. It has
        the unit of one over a squared distance.
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
    def twin(self) -> EntropicTwin:
        return EntropicTwin(float(self.lam))
