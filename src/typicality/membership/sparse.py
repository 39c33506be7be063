"""Sparse possibilistic memberships: beyond a radius a row does not belong to a cluster at all."""

from dataclasses import dataclass
from math import e
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from typicality.membership.base import (
    Array,
    CompiledRule,
    like,
    namespace,
    relative_to_largest,
)
from typicality.membership.possibilistic import WithSpread

_NEAR_THE_EDGE = 1e-2
_N_STEPS = 2


@dataclass(frozen=True, eq=False)
class SparsePossibilistic(WithSpread):
    r"""Sparse possibilistic memberships: typicalities that are zero beyond a radius.

    .. math:: f(u, d) = \sum_k u_k d_k + \sum_k \eta_k (u_k \ln u_k - u_k) + \lambda \sum_k u_k^p,

    with :math:`0 < p < 1`. If the derivative has no root, :math:`u_k = 0`. This is the case if

    .. math:: d_k \ge R_k^2 = \frac{\eta_k}{1 - p}
        \Big( -\ln \frac{\lambda p (1 - p)}{\eta_k} - 1 \Big);

    Otherwise u is the larger root, a local minimum:

    .. math:: u_k = \exp \Big( -\frac{d_k}{\eta_k} - \frac{z_k}{1 - p} \Big), \qquad
        z_k e^{-z_k} = \exp \Big( (1 - p) \frac{d_k - R_k^2}{\eta_k} - 1 \Big), \quad
        0 < z_k \le 1.

    Implements :cite:`xenaki2014`, eq. (1)-(3) and propositions 1-3. Differs from the paper: the
    root is computed to rounding error, with the Lambert function: :math:`z = -W_0(-q)`, where q is
    the right-hand side. The paper finds it by bisection.

    Parameters
    ----------
    eta : array of shape (n_clusters,)
        The spread of each cluster, as a squared distance; positive.
    lam : float
        The weight of the sparsity term, positive, in the unit of a squared distance. Larger values
        give smaller radii.
    p : float, default=0.5
        The exponent of the sparsity term, between 0 and 1.
    """

    eta: Annotated[Array, "c"]
    lam: float
    p: float = 0.5
    ranks_by_membership: ClassVar[bool] = True  # the largest is preferred; zero is no membership

    @property
    def edge(self) -> Array:
        """The squared radius divided by the spread, per cluster; not positive if empty."""
        eta = np.asarray(self.eta, dtype=np.float64)
        return -(np.log(self.lam * self.p * (1.0 - self.p) / eta) + 1.0) / (1.0 - self.p)

    @property
    def least_spread(self) -> float:
        r"""The spread :math:`e p (1 - p) \lambda`, below which a cluster contains no row."""
        return self.lam / collapse_weight(1.0, self.p)

    def memberships(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        relative = sqdist / like(self.eta, sqdist)
        below = (1.0 - self.p) * (relative - like(self.edge, sqdist))
        inside = below < 0  # most rows are beyond the radius of most clusters
        typicality = xp.zeros_like(relative)
        with np.errstate(under="ignore"):  # whatever the user has set: far rows have none
            exponent = relative[inside] + _root(below[inside]) / (1.0 - self.p)
            typicality[inside] = xp.exp(-exponent)
        return typicality

    def weights(self, memberships: Array) -> Array:
        return memberships

    def pull(self, sqdist: Array) -> Array:
        # The smallest membership is far above the smallest number.
        return relative_to_largest(self.memberships(sqdist))

    def closeness(self, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        memberships = self.memberships(sqdist)
        return xp.where(memberships > 0, -memberships, xp.full_like(memberships, float("inf")))

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        xp = namespace(sqdist)
        safe = xp.where(memberships > 0, memberships, xp.ones_like(memberships))
        log = xp.log(safe)
        entropy = memberships * (log - 1.0)
        sparsity = xp.where(memberships > 0, xp.exp(self.p * log), xp.zeros_like(safe))
        terms = memberships * sqdist + like(self.eta, sqdist) * entropy + self.lam * sparsity
        return xp.sum(terms, axis=-1)

    @property
    def compiled_form(self) -> "SparsePossibilisticForm | None":
        if type(self) is not SparsePossibilistic:
            return None
        return SparsePossibilisticForm(self.eta, self.edge, float(self.lam), float(self.p))


class SparsePossibilisticForm(NamedTuple):
    """The compiled form and its parameters."""

    eta: Any
    edge: Any
    lam: float
    p: float

    @staticmethod
    def functions() -> CompiledRule:
        from typicality.compiled.arithmetic import clear, exp, log, lowest_exponent
        from typicality.compiled.jit import inlined

        def memberships(form, sqdist, low, total, out):
            # Most rows are beyond the radius of most clusters: only the others are worked on.
            n_clusters, n_rows = sqdist.shape
            lowest = lowest_exponent(8)
            slope = 1.0 - form.p
            place = np.empty(n_rows, np.int64)
            relative = np.empty(n_rows, np.float64)
            for k in range(n_clusters):
                eta, edge = form.eta[k], form.edge[k]
                n_inside = 0
                for r in range(n_rows):
                    out[k, r] = 0.0
                    place[n_inside] = r
                    relative[n_inside] = sqdist[k, r] / eta
                    n_inside += 1 if relative[n_inside] < edge else 0
                for i in range(n_inside):
                    z = root(slope * (relative[i] - edge), lowest)
                    relative[i] = exp(-relative[i] - z / slope, lowest)
                for i in range(n_inside):
                    out[k, place[i]] = relative[i]

        @inlined
        def root(below, lowest):
            """As `_root`, the array form."""
            q = exp(below - 1.0, lowest)
            # 1 - exp(below), with all its digits near zero
            little = 1.0 + below / 3 * (1.0 + below / 4 * (1.0 + below / 5))
            little = -below * (1.0 + below / 2 * little)
            r = np.sqrt(2.0 * (little if below > -1e-3 else 1.0 - 2.718281828459045 * q))
            near = r * (43 / 540 - r * (769 / 17280 - r * 221 / 8505))
            near = 1.0 - r * (1.0 - r * (1 / 3 - r * (11 / 72 - near)))
            far = q * (1.0 + q * (1.0 + q * (1.5 + q * 8 / 3)))
            z = near if below > -1.0 else far
            inner = r > 1e-2
            for _ in range(2):
                rate = exp(-z, lowest)
                missing = q - z * rate
                left = 1.0 - z if inner else 1.0
                step = missing * left / (rate * left * left - 0.5 * (2.0 - z) * missing)
                z = z + step if inner else z
            return z

        def pull(form, sqdist, low, total, out, value):
            # Where the derivative is zero, lam u^p = -(eta / p) u (d / eta + ln u).
            n_clusters, n_rows = sqdist.shape
            ratio = (1.0 - form.p) / form.p
            clear(value)
            for k in range(n_clusters):
                eta = form.eta[k]
                for r in range(n_rows):
                    degree = np.float64(out[k, r])
                    rest = sqdist[k, r] / eta + log(degree if degree > 0 else 1.0)
                    value[r] -= eta * degree * (1.0 + ratio * rest)

        def closeness(form, sqdist, membership, k):
            return -float(membership) if membership > 0 else np.inf

        return CompiledRule(memberships, pull, closeness, ranks_by_membership=True)


def _root(below: Array) -> Array:
    r"""The z in (0, 1] with :math:`z e^{-z} = e^{b - 1}`, for b <= 0.

    A series about the branch point or about zero, and two steps of Halley: 2e-14 at most.
    """
    xp = namespace(below)
    q = xp.exp(below - 1.0)
    r = xp.sqrt(-2.0 * xp.expm1(below))
    c1, c2, c3, c4, c5 = 1 / 3, 11 / 72, 43 / 540, 769 / 17280, 221 / 8505
    near = 1.0 - r * (1.0 - r * (c1 - r * (c2 - r * (c3 - r * (c4 - r * c5)))))
    far = q * (1.0 + q * (1.0 + q * (1.5 + q * 8 / 3)))
    z = xp.where(below > -1.0, near, far)
    inner, ones = r > _NEAR_THE_EDGE, xp.ones_like(z)
    for _ in range(_N_STEPS):
        slope = xp.exp(-z)
        missing = q - z * slope
        left = xp.where(inner, 1.0 - z, ones)
        step = missing * left / (slope * left * left - 0.5 * (2.0 - z) * missing)
        z = xp.where(inner, z + step, z)
    return z


def collapse_weight(eta: float, p: float) -> float:
    r"""The lambda from which a cluster of a given spread reaches no row, :math:`\eta/(e p(1-p))`.

    Implements :cite:`xenaki2014`, section 2, "Sparsity".
    """
    return eta / (e * p * (1.0 - p))
