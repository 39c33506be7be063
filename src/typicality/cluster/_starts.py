"""Starts of the estimators that are told the number of clusters, and the best run from them."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from typicality._compat import Interval, StrOptions
from typicality._typing import Floats
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._diagnostics import require_finite, tell
from typicality.cluster._inputs import SPECIAL_KERNELS, OpenSpace
from typicality.membership.base import MembershipRule
from typicality.rows import count_distinct_rows
from typicality.solve.picard import PicardResult, Status
from typicality.solve.starts import NAMED_STARTS, best_of, start_rows
from typicality.solve.step import Alternation, ClusterState
from typicality.spaces import Ellipsoidal, Space

_KEPT_OF_THE_START = 0.05  # of the way back to it, before each rule

# The parameters of the estimators that are told the number of clusters.
START_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "missing": [StrOptions({"error", "partial"})],
    "init": [StrOptions(set(NAMED_STARTS)), callable, "array-like"],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
}
# Of those whose clusters can be ellipsoids.
SHAPE_CONSTRAINTS: dict[str, list[Any]] = {
    "covariance_type": [StrOptions({"spherical", "full"})],
    "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
}


class Starts:
    """How many clusters there can be, and the prototypes to start from.

    Parameters
    ----------
    estimator : estimator
        With `n_clusters`, `init`, `n_init`, `kernel` and `random_state`.
    rows : array of shape (n, d)
        The rows.
    weight : array of shape (n,), optional
        Their weights.

    Raises
    ------
    ValueError
        There are fewer rows than clusters, or `init` is an array that cannot be used: for other
        shapes, or for more clusters than there are distinct rows.
    """

    def __init__(self, estimator: Any, rows: Floats, weight: Floats | None) -> None:
        self._estimator = estimator
        self._rows, self._weight = rows, weight
        self._init: Any = estimator.init
        self.is_array = not (isinstance(self._init, str) or callable(self._init))
        self.n_clusters = self._count()
        self._points = None  # the shape of prototypes that are given as points
        if estimator.kernel not in SPECIAL_KERNELS:
            self._points = self.n_clusters, rows.shape[1]
        if self.is_array:
            self._init = self._checked(self._init, "init")

    def _count(self) -> int:
        """`n_clusters`, or the number of distinct rows if that is less, with a warning."""
        wanted: int = self._estimator.n_clusters
        n_distinct = count_distinct_rows(self._rows, self._weight, wanted)
        if n_distinct >= wanted:
            return wanted
        n_rows: float = len(self._rows)
        if self._weight is not None:  # weight k counts as k rows
            n_rows = max(np.count_nonzero(self._weight), self._weight.sum(dtype=np.float64))
        weighted = "" if self._weight is None else " of positive weight"
        found = (
            f"n_clusters={wanted} is more than the {n_distinct} distinct rows{weighted} of X "
            f"(n_samples={len(self._rows)})"
        )
        remedy = f"Choose n_clusters <= {n_distinct}, or pass more data."
        if self.is_array or n_rows < wanted:
            raise ValueError(f"{found}. {remedy}")
        tell("few distinct rows", found=found, n_distinct=n_distinct, remedy=remedy)
        return n_distinct

    def typical(self, space: Space[Any]) -> Space[Any]:
        """The space of the typical rows, if there are enough: a far row gets its own prototype."""
        enough = space.typical.rows.sample().n_distinct >= self.n_clusters
        return space.typical if enough else space

    def draw(
        self, opened: OpenSpace, rule: MembershipRule, *, within: Space[Any] | None = None
    ) -> list[Any]:
        """The prototypes to start from; `rule` turns memberships given as `init` into weights.

        Rows are drawn from the space `within`, by default from all rows.
        """
        if self.is_array:
            return [self._at(opened, rule, self._init)]
        random = check_random_state(self._estimator.random_state)
        n_starts = self._estimator.n_init
        if callable(self._init):
            drawn = [self._init(self._rows, self.n_clusters, random) for _ in range(n_starts)]
            return [self._at(opened, rule, self._checked(array, "init()")) for array in drawn]
        name = "k-means++" if self._init == "annealing" else self._init
        space: Any = opened.space if within is None else within
        n_starts = 1 if name == "max-min" else n_starts
        chosen = [start_rows(name, space, self.n_clusters, random) for _ in range(n_starts)]
        return [space.near_rows(rows) for rows in chosen]

    def _at(self, opened: OpenSpace, rule: MembershipRule, array: Floats) -> Any:
        """Prototypes from points, or from memberships."""
        if array.shape == self._points:
            return opened.space.at(opened.reader.read(array))
        # Only the ratios within a column matter; weights of tiny memberships would vanish.
        return opened.space.prototypes(rule.weights(array / array.max(axis=0)))

    def _checked(self, init: Any, source: str) -> Floats:
        """`init` as an array: prototypes where rows have coordinates, or a membership matrix."""
        array = np.asarray(check_array(init, dtype=[np.float64, np.float32], input_name=source))
        if array.shape == self._points:
            check_distinct_points(array, source)
            return array
        memberships = len(self._rows), self.n_clusters
        if array.shape != memberships:
            points = f"prototypes of shape (n_clusters, n_features) = {self._points} or "
            raise ValueError(
                f"{source} has shape {array.shape}; expected {points if self._points else ''}"
                f"memberships of shape (n_samples, n_clusters) = {memberships}."
            )
        counted = array if self._weight is None else array[self._weight > 0]
        if array.min() < 0 or not counted.any(axis=0).all():
            raise ValueError(
                f"{source} as a membership matrix must not be negative, and every column needs "
                "a membership above zero in a row of positive weight: otherwise the initial "
                "mean of that cluster is undefined."
            )
        return array


def check_distinct_points(points: Floats, source: str) -> None:
    """Prototypes to start from must differ."""
    if len(np.unique(points, axis=0)) < len(points):
        raise ValueError(
            f"{source} has identical prototypes, which would stay identical in all "
            "iterations. Pass a different prototype for each cluster."
        )


def best_run(
    space: Space[Any],
    starts: list[Any],
    rules: Sequence[MembershipRule],
    callbacks: FitCallbacks,
) -> PicardResult[State]:
    """Iterate from every start, by the rules one after the other; the lowest objective wins.

    Before each rule the prototypes move a little towards the start: where a rule has brought them
    together, the next could not tell them apart.
    """
    step, results = Alternation(space), []
    for start in starts:
        prototypes = start
        for rule in rules:
            state = ClusterState(prototypes.blend(start, _KEPT_OF_THE_START), rule)
            result = callbacks.run(step, state)
            if result.status in (Status.NONFINITE, Status.STOPPED):
                break
            prototypes = result.state.prototypes
        results.append(result)
    best = best_of(results, [result.objectives[-1] for result in results])
    require_finite(best)
    return best


def fuzzy_run(
    space: Space[Any], starts: list[Any], rule: MembershipRule, callbacks: FitCallbacks
) -> PicardResult[State]:
    """The best run of fuzzy c-means; ellipsoids start from the round clusters that it finds."""
    if isinstance(space, Ellipsoidal):
        centers = [space.round.at(start.centers) for start in starts]
        result = best_run(space.round, centers, [rule], callbacks)
        if result.status is Status.STOPPED:
            return result
        starts = [space.at(result.state.prototypes.centers)]
    return best_run(space, starts, [rule], callbacks)
