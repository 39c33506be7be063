"""The only fixed-point loop; it knows nothing of clusters."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

State = TypeVar("State")
Step = Callable[[State], tuple[State, float, float]]


class Status(StrEnum):
    """How an iteration ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    NONFINITE = "nonfinite"
    STOPPED = "stopped"


@dataclass(frozen=True)
class PicardResult(Generic[State]):
    """The last state and the record of the way to it.

    Parameters
    ----------
    state : object
        The last state; with status NONFINITE, the last one that was finite.
    status : Status
        How the iteration ended.
    residuals, objectives : tuple of float
        One value a step; the objective is that of the state the step began with.
    """

    state: State
    status: Status
    residuals: tuple[float, ...]
    objectives: tuple[float, ...]

    @property
    def n_iter(self) -> int:
        """The number of steps."""
        return len(self.residuals)


def picard(
    step: Step[State],
    state: State,
    *,
    tol: float,
    max_iter: int,
    watch: Callable[[int, float, State], bool] | None = None,
) -> PicardResult[State]:
    """Repeat `step` until its residual falls below `tol`.

    Parameters
    ----------
    step : callable
        `step(state) -> (state, residual, objective)`. An infinite residual says that the state
        changed in kind (another number of clusters): the iteration goes on.
    state : object
        The start.
    tol : float
        Stop when the residual is below; 0 runs to `max_iter`.
    max_iter : int
        The most steps.
    watch : callable, optional
        `watch(n_iter, residual, state)` after each step; a true answer stops the iteration.

    Returns
    -------
    PicardResult
    """
    residuals: list[float] = []
    objectives: list[float] = []
    status = Status.MAX_ITER
    for n_iter in range(1, max_iter + 1):
        following, residual, objective = step(state)
        residuals.append(residual)
        objectives.append(objective)
        stopped = watch is not None and watch(n_iter, residual, following)
        if math.isnan(residual) or not math.isfinite(objective):
            status = Status.NONFINITE
            break
        state = following
        if residual < tol:
            status = Status.CONVERGED
            break
        if stopped:
            status = Status.STOPPED
            break
    return PicardResult(state, status, tuple(residuals), tuple(objectives))
