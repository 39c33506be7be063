"""The interface of a membership rule, and what the rules share."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from typicality._tensors import array_namespace

Array = Any  # a NumPy array, a torch tensor, or any array of the array-API standard

_COINCIDENT_SHARE = 1e-6  # of the total variance, between squared distances


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

    def coincide(self, sqdist: Array, total_variance: float) -> Array:
        """Whether prototype h lies so near to prototype k that both stand for one cluster.

        `sqdist` and the result have shape (c, c); two prototypes coincide if it holds both ways.
        """

    def take(self, order: Array) -> Self:
        """The rule for the clusters in another order, or for some of them."""

    @property
    def compiled_form(self) -> tuple[Any, ...] | None:
        """Parameters of the compiled form; None without one: then the array form is used.

        A subclass does not inherit the form, because it may have other formulas.

        A named tuple whose class has a static method `functions`, which imports numba and returns
        :class:`CompiledRule`. One form is compiled once for all its parameters.
        """


class CompiledRule(NamedTuple):
    """The functions of a compiled form, which work on a tile of rows.

    In a tile, clusters are the first axis and rows the last, so inner loops over rows vectorise.
    `form` is the named tuple with the parameters.

    Parameters
    ----------
    memberships : callable
        `memberships(form, sqdist, low, total, out)` fills `out`. `low` and `total` are scratch
        space, one number a row; what is left in them is handed on to `pull`.
    pull : callable
        `pull(form, sqdist, low, total, out, value)` turns the memberships in `out` into weights, in
        place, and writes the objective of each row to `value`.
    closeness : callable, optional
        `closeness(form, sqdist, membership, k)` of one row to cluster k; by default the distance.
    ranks_by_membership : bool, default=False
        Whether `closeness` looks at the membership.
    """

    memberships: Callable[..., None]
    pull: Callable[..., None]
    closeness: Callable[..., float] = lambda form, sqdist, membership, k: float(sqdist)
    ranks_by_membership: bool = False


class NearestPrototype:
    """For rules that treat all clusters alike: a row prefers its nearest prototype."""

    def pull(self: Any, sqdist: Array) -> Array:
        return relative_to_largest(self.weights(self.memberships(sqdist)))

    def closeness(self, sqdist: Array) -> Array:
        return sqdist

    def coincide(self, sqdist: Array, total_variance: float) -> Array:
        return nearly_equal(sqdist, total_variance)

    def take(self, order: Array) -> Self:
        return self


def nearly_equal(sqdist: Array, total_variance: float) -> Array:
    """Whether prototypes are nearer than a thousandth of the spread of the data."""
    return sqdist <= _COINCIDENT_SHARE * total_variance


def relative_to_largest(weights: Array) -> Array:
    """Each column over its largest entry; a column of zeros stays one."""
    xp = namespace(weights)
    largest = xp.max(weights, axis=-2, keepdims=True)
    return weights / xp.where(largest > 0, largest, xp.ones_like(largest))


def labels(rule: MembershipRule, sqdist: Array, memberships: Array | None = None) -> Array:
    """The cluster each row prefers, the first of equally good ones; -1 where there is none.

    Known `memberships` save time for rules that rank clusters by them.
    """
    xp: Any = namespace(sqdist)
    nowhere = xp.full(sqdist.shape[:-1], -1, dtype=xp.int64, device=sqdist.device)
    if sqdist.shape[-1] == 0:
        return nowhere
    by_membership = getattr(rule, "closeness_by_membership", None)
    if memberships is None or by_membership is None:
        closeness = rule.closeness(sqdist)
    else:
        closeness = by_membership(memberships)
    reached = xp.min(closeness, axis=-1) < float("inf")
    return xp.where(reached, xp.argmin(closeness, axis=-1), nowhere)


# ---- what the rules need from an array library, found from the array itself ---------------------


def namespace(array: Array) -> Any:
    """The module of functions for `array`: NumPy, or a standard view of torch and others."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return array_namespace(array)


def like(values: Any, array: Array) -> Array:
    """`values` as an array of the library, type and device of `array`."""
    xp = namespace(array)
    return xp.asarray(values, dtype=array.dtype, device=array.device)


def largest_exponent(array: Array) -> float:
    """An exponent whose exponential is large but far from overflow: 603 for float64."""
    return 0.85 * math.log(float(namespace(array).finfo(array.dtype).max))


def bounded_exp(exponent: Array) -> Array:
    """exp(exponent), at most exp(largest_exponent)."""
    xp = namespace(exponent)
    limit = xp.full_like(exponent, largest_exponent(exponent))
    return xp.exp(xp.where(exponent < limit, exponent, limit))
