"""The density of all rows: OneClusterPCM scores rows by it, AlphaCutClustering cuts it."""

from typing import Annotated, Any

import numpy as np

from typicality._typing import Doubles
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._diagnostics import (
    require_finite,
    tell,
    warn_about_convergence,
    warn_about_equal_typicalities,
    warn_about_kernel,
)
from typicality.cluster._estimator import Estimator
from typicality.cluster._inputs import Reader
from typicality.kernels import BANDWIDTH_KERNELS, Kernel
from typicality.membership.possibilistic import Possibilistic1996
from typicality.solve.picard import PicardResult, Status
from typicality.solve.step import (
    Alternation,
    ByWeights,
    ClusterState,
    Step,
)

LOOP_SHARE = 0.7  # of the time of a fit; the rest is the scores of all rows


class DensityEstimator(Estimator):
    """Base of the estimators that model the density of all rows; not for direct use."""

    _reader: Annotated[Any, Reader]
    kernel_: Annotated[Any, str | Kernel]
    sigma_: float | None
    n_iter_: int
    status_: Status
    objective_path_: Annotated[Doubles, "_steps"]
    sums_: str

    def _step(self, space: Any) -> Step:
        """One iteration. A subclass can change the spread, or the residual that `tol` bounds."""
        return ByWeights(Alternation(space))


def solve_one_cluster(
    estimator: "DensityEstimator", space: Any, callbacks: FitCallbacks, *, weights: str
) -> PicardResult[State]:
    """Iterate from the mean of all rows; with uniform weights that mean is the result.

    Implements :cite:`filippone2010`, table I; for uniform weights, the end of its section IV-D.
    """
    rule = Possibilistic1996(np.array([first_spread(estimator, space)]))
    state: State = ClusterState(space.mean, rule)
    if weights == "uniform":  # the kernel density estimate
        objective = space.fold(rule, space.mean).objective
        return PicardResult(state, Status.CONVERGED, (0.0,), (objective,))
    result = callbacks.run(estimator._step(space), state)
    require_finite(result)
    return result


def first_spread(estimator: Any, space: Any) -> float:
    """The spread at the mean of all rows; 1 with a warning where all rows are one point."""
    eta: float = estimator.eta_scale * space.total_variance
    if eta > 0:
        return eta
    if not space.n_clipped(space.mean):  # there is a warning about clipped distances
        tell("constant rows")
    return 1.0  # all distances are zero: every typicality is one whatever eta is


def warn_about_density(
    estimator: Any, space: Any, result: PicardResult[State], **instead: str
) -> None:
    """No convergence, a kernel too wide or too narrow, typicalities all alike."""
    change = "the weights still change by {:.1e} in total"
    warn_about_convergence(result, tol=estimator.tol, max_iter=estimator.max_iter, change=change)
    # Rules for sigma are not second-guessed: scores are sums of logarithms, however narrow.
    named = isinstance(estimator.kernel, str) and estimator.kernel
    by_rule = named in ("auto", *BANDWIDTH_KERNELS) and isinstance(estimator.sigma, str)
    by_rule |= named == "local"
    state = result.state
    too_narrow = warn_about_kernel(
        space, state.prototypes, estimator.kernel, narrow=not by_rule, **instead
    )
    on_sphere = space.columns.on_sphere and space.total_variance > 0
    if on_sphere and not by_rule and not too_narrow:
        rule: Any = state.rule
        log_typicality = state.prototypes.training_sqdist / rule.eta[0]
        warn_about_equal_typicalities(log_typicality, estimator.eta_scale, space.neighbours)
