"""The density of all rows: OneClusterPCM scores rows by it, AlphaCutClustering cuts it."""

from typing import Any

import numpy as np

from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._diagnostics import (
    require_finite,
    tell,
    warn_about_convergence,
    warn_about_equal_typicalities,
    warn_about_kernel,
)
from typicality.cluster._estimator import Estimator
from typicality.kernels import BANDWIDTH_KERNELS
from typicality.membership.possibilistic import Possibilistic1996
from typicality.solve.picard import PicardResult, Status
from typicality.solve.step import Alternation, ClusterState, Step

LOOP_SHARE = 0.7  # of the time of a fit; the rest is the scores of all rows


class DensityEstimator(Estimator):
    """Base of the estimators that model the density of all rows; not for direct use."""

    def _step(self, space: Any) -> Step:
        """One iteration. A subclass can change the spread, or the residual that `tol` bounds."""
        return Alternation(space)


def solve_one_cluster(
    estimator: Any, space: Any, callbacks: FitCallbacks, *, weights: str
) -> PicardResult[State]:
    """Iterate from the mean of all rows; with uniform weights that mean is the result.

    Implements :cite:`filippone2010`, table I; for uniform weights, the end of its section IV-D.
    """
    eta: float = estimator.eta_scale * space.total_variance
    if not eta > 0:  # all distances are zero: every typicality is one whatever eta is
        eta = 1.0
        if not space.n_clipped(space.mean):  # there is a warning about clipped distances
            tell("constant rows")
    rule = Possibilistic1996(np.array([eta]))
    state: State = ClusterState(space.mean, rule)
    if weights == "uniform":  # the kernel density estimate
        objective = space.fold(rule, space.mean).objective
        return PicardResult(state, Status.CONVERGED, (0.0,), (objective,))
    result = callbacks.run(estimator._step(space), state)
    require_finite(result)
    return result


def warn_about_density(
    estimator: Any, space: Any, result: PicardResult[State], **instead: str
) -> None:
    """No convergence, a kernel too wide or too narrow, typicalities all alike."""
    warn_about_convergence(result, tol=estimator.tol, max_iter=estimator.max_iter)
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
