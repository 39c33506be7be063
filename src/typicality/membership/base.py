"""The interface of a membership rule, and what the rules share."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from typicality._tensors import array_namespace

Array = Any  # a NumPy array, a torch tensor, or any array of the array-API standard

_COINCIDENT_SHARE = 1e-6  # of the total variance, between squared distances


@runtime_checkable
class MembershipRule(Protocol):
    r"""The interface of membership rules: memberships from squared distances.

    A rule consists of an objective and its minimiser. Let :math:`d_{hk}` be the squared distance of
    row :math:`h` to prototype :math:`k`. A rule with the objective f of one row minimises

    .. math:: J(U, V) = \sum_h \omega_h \, f(u_h, d_h), \qquad u_h = \arg\min_u f(u, d_h),

    where :math:`\omega_h` is the sample weight. In arrays, the last axis has the clusters, and the
    axis before it the rows. Arrays of NumPy, torch and other libraries of the array-API standard
    can be used.
    """

    def memberships(self, sqdist: Array) -> Array:
        """The memberships, shape (n, c), that minimise the objective of each row."""

    def weights(self, memberships: Array) -> Array:
        """The weight of each row in each prototype, up to a common positive factor."""

    def pull(self, sqdist: Array) -> Array:
        """The weights at given distances, each column divided by its largest value.

        Unlike `weights(memberships(sqdist))`, they are not zero if all memberships underflow.
        """

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        """The objective of each row, shape (n,)."""

    def closeness(self, sqdist: Array) -> Array:
        """A number that is smallest for the preferred cluster of a row; it never underflows.

        Infinite if a row does not belong to a cluster at all.
        """

    def coincide(self, sqdist: Array, total_variance: float) -> Array:
        """Whether prototypes h and k are so close that they describe the same cluster.

        `sqdist` and the result have shape (c, c). Two prototypes coincide if both entries are true.
        """

    def take(self, order: Array) -> Self:
        """The rule for some of the clusters, or for another order of clusters."""

    @property
    def compiled_form(self) -> tuple[Any, ...] | None:
        """The parameters of the compiled form; None if the rule has only the array form.

        Subclasses do not inherit the form, because their formulas can differ.

        The parameters are a named tuple with a static method `functions`, which imports numba and
        returns a :class:`CompiledRule`.
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
    """Base for rules in which a row prefers its nearest prototype."""

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
    """The preferred cluster of each row, the first one in a tie; -1 if there is none.

    Pass `memberships`, if they are known, to save time.
    """
    xp: Any = namespace(sqdist)
    nowhere = xp.full(sqdist.shape[:-1], -1, dtype=xp.int64, device=sqdist.device)
    if sqdist.shape[-1] == 0:
        return nowhere
    if memberships is not None and getattr(rule, "ranks_by_membership", False):
        closeness, outside = -memberships, 0.0
    else:
        closeness, outside = rule.closeness(sqdist), math.inf
    reached = xp.min(closeness, axis=-1) < outside
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
