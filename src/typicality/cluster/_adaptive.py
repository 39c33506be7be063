"""What the estimators share whose spreads adapt and whose clusters can vanish."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from typicality._compat import Interval, StrOptions
from typicality._typing import Doubles, Floats
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._labels import PrototypeLabels
from typicality.cluster._prototypes import Found
from typicality.cluster._spaces import OpenSpace, SumOptions, has_points, open_space
from typicality.cluster._starts import check_distinct_points
from typicality.cluster._warnings import (
    warn_about_features,
    warn_about_fragments,
    warn_about_kernel,
    warn_about_prototype_labels,
    warn_about_rows_nowhere,
    warn_about_vanished_clusters,
)
from typicality.geometry import Geometry, InputSpace
from typicality.geometry.base import Outcome
from typicality.geometry.checks import check_varying_rows
from typicality.membership.possibilistic import Possibilistic1996
from typicality.membership.sparse import BisectedSparsePossibilistic, SparsePossibilistic
from typicality.membership.spread import AdaptedSpread, smallest_spread, spread_from_separation
from typicality.solve.picard import PicardResult
from typicality.solve.starts import at_the_first_row, farthest_rows, max_min, start_rows
from typicality.solve.step import Alternation, ClusterState

Run = Callable[..., PicardResult[State]]

_SIDE = 20.0  # of a box for one feature; 10 for four of them
_SMALLEST_BOX, _LARGEST_BOX = 1e-6, 1e6
_USUAL_ITERATIONS = 200  # from ten to some hundred

WHY_DENSE = "it scales every feature to one range, and then hardly any value is zero"

CYCLE_ADVICE = (
    "The iterations may repeat a cycle, which does not end: increase tol or max_iter, or use the "
    "result as it is."
)

ADAPTIVE_CONSTRAINTS: dict[str, list[Any]] = {
    "box": [Interval(Real, _SMALLEST_BOX, _LARGEST_BOX, closed="both"), None],
    "init": [StrOptions({"max-min", "paper"}), "array-like"],
    "store_memberships": ["boolean", StrOptions({"sparse"})],
}
SPARSITY_CONSTRAINTS: dict[str, list[Any]] = {
    "p": [Interval(Real, 0, 1, closed="neither")],
    "root": [StrOptions({"exact", "bisection"})],
    "assign": [StrOptions({"core", "all"})],
}


# ---- the space and the start ---------------------------------------------------------------------


def starts_by_the_paper(estimator: Any) -> bool:
    """Whether nothing of our own is done to the data and the start."""
    return isinstance(estimator.init, str) and estimator.init == "paper"


def open_adaptive(
    estimator: Any, rows: Floats, weight: Floats | None, n_columns: int = 1
) -> tuple[OpenSpace, Any]:
    """The space in the box, and the prototypes that `init` gives as points, or None.

    Raises
    ------
    ValueError
        All rows are the same, or `init` is an array that cannot be used.
    """
    check_varying_rows(rows, weight)
    given = None
    if not isinstance(estimator.init, str):
        given = _checked_points(estimator, n_features=rows.shape[1])
    opened = open_space(
        estimator.kernel,
        estimator.sigma,
        rows,
        weight,
        sums=SumOptions.of(estimator, n_columns),
        box=estimator.box,
        trim=not starts_by_the_paper(estimator),
    )
    if opened.space.total_variance <= 0:
        raise ValueError(
            "All rows of positive weight are one point in the space of the kernel: there "
            "are no clusters to find. Use another kernel."
        )
    if given is not None:
        given = opened.space.at(opened.reader.read(given.astype(rows.dtype), None))
    return opened, given


def _checked_points(estimator: Any, *, n_features: int) -> Floats:
    if not has_points(estimator.kernel):
        raise ValueError(
            "init is an array, but with this kernel prototypes have no coordinates. Use "
            "init='max-min' or init='paper'."
        )
    points = np.asarray(
        check_array(estimator.init, dtype=[np.float64, np.float32], input_name="init")
    )
    if points.shape[1] != n_features:
        raise ValueError(
            f"init has shape {points.shape}; expected prototypes of shape (n_clusters, n_features) "
            f"with n_features={n_features}."
        )
    check_distinct_points(points, "init")
    n_clusters = getattr(estimator, "n_clusters", len(points))
    if len(points) != n_clusters:
        raise ValueError(
            f"init has {len(points)} prototype(s), but n_clusters={n_clusters}: pass one "
            "prototype for each cluster."
        )
    return points


def unit_of_length(space: Geometry[Any], box: float | None) -> float:
    """The unit of length: features are scaled to the box already, kernels cannot be."""
    if box is None or isinstance(space, InputSpace):
        return 1.0
    data = space.candidates(2)
    first, second = max_min(data, 2)
    diameter = float(np.sqrt(data.sqdist_to(first)[second]))
    return diameter / box or 1.0


# ---- the iteration -------------------------------------------------------------------------------


def adaptive_run(space: Geometry[Any], unit: float, callbacks: FitCallbacks) -> Run:
    """The loop in which spreads follow the clusters, from a state to its end."""
    update = AdaptedSpread(unit, smallest_spread(space.total_variance))
    return partial(callbacks.run, Alternation(space, update))


def sparse_rule(estimator: Any, eta: Doubles, lam: float) -> SparsePossibilistic:
    """The rule of the iterations with a sparsity term."""
    kind = SparsePossibilistic if estimator.root == "exact" else BisectedSparsePossibilistic
    return kind(eta, lam, float(estimator.p))


def final_state(state: State, assign: str) -> State:
    """The state of the result: ``assign="all"`` drops the sparsity once clusters are found."""
    if assign == "core":
        return state
    rule: Any = state.rule
    return ClusterState(state.prototypes, Possibilistic1996(rule.eta))


def fit_from_many(
    estimator: Any,
    rows: Floats,
    weight: Floats | None,
    callbacks: FitCallbacks,
    *,
    rule: Callable[[Doubles, float], Any],
    assign: str = "core",
) -> Found:
    """Begin with `n_clusters` prototypes, and iterate until those that are not there are gone.

    Parameters
    ----------
    estimator : AdaptivePCM or SparseAdaptivePCM
        With its parameters.
    rows, weight : arrays
        The rows and their weights.
    callbacks : FitCallbacks
        Runs the loop.
    rule : callable
        `rule(eta, unit)`: the rule of the iterations, from the first spreads and the unit of
        length.
    assign : {"core", "all"}, default="core"
        As in the estimator.
    """
    opened, start = open_adaptive(estimator, rows, weight, estimator.n_clusters)
    space = opened.space
    if start is None and starts_by_the_paper(estimator):
        gaps = space.gaps(all_rows=True)
        start = farthest_rows(space, gaps, at_the_first_row(space), estimator.n_clusters)
    elif start is None:
        start = space.near_rows(start_rows("max-min", space, estimator.n_clusters), share=0.0)
    warn_about_features(opened, estimator)
    callbacks.begin(
        1,
        lambda state: estimator._for_prediction(final_state(state, assign), opened),
        space.plan(start.n_clusters),
        n_iter=_USUAL_ITERATIONS,
    )
    unit = unit_of_length(space, estimator.box)
    eta = np.array([space.total_variance])
    if start.n_clusters > 1:
        eta = spread_from_separation(start.mutual_sqdist(), estimator.beta)
        eta = np.maximum(eta, smallest_spread(space.total_variance))
    result = adaptive_run(space, unit, callbacks)(ClusterState(start, rule(eta, unit)))
    return Found(opened, replace(result, state=final_state(result.state, assign)), {})


# ---- warnings ------------------------------------------------------------------------------------


def warn_about_adaptive(
    estimator: Any,
    space: Geometry[Any],
    state: State,
    labels: PrototypeLabels,
    outcome: Outcome,
    *,
    if_none: str = "Check the parameters.",
) -> None:
    """No cluster is left, prototypes without rows, fragments, many rows in no cluster."""
    if labels.n_clusters == 0:
        warn_about_vanished_clusters(if_none)
        return
    if warn_about_kernel(space, state.prototypes, estimator.kernel):
        return
    warn_about_prototype_labels(labels, about_empty="The iteration passes through such states.")
    narrower = "a box, or smaller units"
    if estimator.box is not None:  # distances grow like the root of the dimension
        narrower = f"box={min(estimator.box / 2, _SIDE / np.sqrt(space.dimension)):.2g}"
    tally = outcome.tally
    mean_weight = tally.weight.sum() / max(tally.counted.sum(), 1)
    warn_about_fragments(tally, min(1.0, mean_weight), remedy=f"Try {narrower}.")
    less_sparse = "" if isinstance(getattr(estimator, "lam", "auto"), str) else ", a smaller lam"
    warn_about_rows_nowhere(
        tally,
        remedy=f"Try {narrower}{less_sparse}, or assign='all', which leaves no row out.",
    )


def vanished_remedy(lam: float) -> str:
    """What to do when lambda was too large for all clusters."""
    return (
        f"lam={lam:.3g} is too large for their spreads. Try lam={lam / 4:.2g}, a smaller box if "
        "there are many features, or let SequentialPCM(lam='auto') choose lam. (Clusters of equal "
        "rows have no spread and vanish at every lam; AdaptivePCM keeps them.)"
    )
