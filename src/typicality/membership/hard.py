"""Hard memberships: k-means as the limit of every other rule."""

from dataclasses import dataclass
from typing import NamedTuple

from typicality.membership.base import Array, CompiledRule, NearestPrototype, namespace


@dataclass(frozen=True)
class Hard(NearestPrototype):
    r"""Hard memberships: each row belongs only to its nearest prototype.

    .. math:: f(u, d) = \sum_k u_k d_k, \qquad u \in \{0, 1\}^c, \ \sum_k u_k = 1.

    One iteration with this rule is an iteration of Lloyd's k-means. In a tie, the first prototype
    is used.

    Implements :cite:`miyamoto2003`, remark after eq. (3); :cite:`lloyd1982`.
    """

    def memberships(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        nearest = xp.argmin(sqdist, axis=-1)[..., None]
        clusters = xp.arange(sqdist.shape[-1], device=sqdist.device)
        return xp.astype(clusters == nearest, sqdist.dtype)

    def weights(self, memberships: Array) -> Array:
        return memberships

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        return namespace(sqdist).sum(memberships * sqdist, axis=-1)

    @property
    def compiled_form(self) -> "HardForm | None":
        return HardForm() if type(self) is Hard else None


class HardForm(NamedTuple):
    """The compiled form; it needs no parameter."""

    @staticmethod
    def functions() -> CompiledRule:
        from typicality.compiled.arithmetic import clear
        from typicality.compiled.sweep import row_minimum

        def memberships(form, sqdist, low, total, out):
            row_minimum(sqdist, low)
            n_clusters, n_rows = sqdist.shape
            clear(total)
            for k in range(n_clusters):
                for r in range(n_rows):
                    first = sqdist[k, r] <= low[r] and total[r] == 0
                    out[k, r] = 1 if first else 0
                    total[r] += out[k, r]

        def pull(form, sqdist, low, total, out, value):
            for r in range(low.size):
                value[r] = low[r]

        return CompiledRule(memberships, pull)
