"""The interface of a membership rule, documented once."""

from typing import Any, Protocol, Self, runtime_checkable

from typicality.membership._arrays import Array, namespace


@runtime_checkable
class MembershipRule(Protocol):
    r"""How squared distance becomes membership.

    A rule is the pair of an objective and its minimiser. With :math:`d_{hk}` the squared
    distance of row :math:`h` to prototype :math:`k`, the family minimises

    .. math:: J(U, V) = \sum_h \omega_h \, f(u_h, d_h), \qquad u_h = \arg\min_u f(u, d_h),

    where :math:`\omega_h` is the sample weight. Arrays have rows along the last but one axis and
    clusters along the last; NumPy, torch and every array of the array-API standard will do.
    """

    def memberships(self, sqdist: Array) -> Array:
        """The memberships, shape (n, c), that minimise the objective of each row."""

    def weights(self, memberships: Array) -> Array:
        """The pull of each row on each prototype, up to one positive factor for all."""

    def pull(self, sqdist: Array) -> Array:
        """The weights at given distances, each column relative to its largest.

        Unlike `weights(memberships(sqdist))` they do not vanish where all memberships underflow.
        """

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        """The objective of each row, shape (n,)."""

    def closeness(self, sqdist: Array) -> Array:
        """A number that is smallest for the cluster a row prefers; never underflows.

        Infinite where a row does not belong to a cluster at all.
        """

    def take(self, order: Array) -> Self:
        """The rule for the clusters in another order, or for some of them."""

    @property
    def twin(self) -> tuple[Any, ...] | None:
        """Parameters of the compiled twin in `typicality.compiled`, or None without one."""


def relative_to_largest(weights: Array) -> Array:
    """Each column over its largest entry; a column of zeros stays one."""
    xp = namespace(weights)
    largest = xp.max(weights, axis=-2, keepdims=True)
    return weights / xp.where(largest > 0, largest, xp.ones_like(largest))


class NearestPrototype:
    """For rules that treat all clusters alike: a row prefers its nearest prototype."""

    def pull(self: Any, sqdist: Array) -> Array:
        return relative_to_largest(self.weights(self.memberships(sqdist)))

    def closeness(self, sqdist: Array) -> Array:
        return sqdist

    def take(self, order: Array) -> Self:
        return self


def labels(rule: MembershipRule, sqdist: Array) -> Array:
    """The cluster each row prefers, the first of equally good ones; -1 where there is none."""
    xp: Any = namespace(sqdist)
    nowhere = xp.full(sqdist.shape[:-1], -1, dtype=xp.int64, device=sqdist.device)
    if sqdist.shape[-1] == 0:
        return nowhere
    closeness = rule.closeness(sqdist)
    reached = xp.min(closeness, axis=-1) < float("inf")
    return xp.where(reached, xp.argmin(closeness, axis=-1), nowhere)
