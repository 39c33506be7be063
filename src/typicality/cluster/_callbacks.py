"""The progress of a fit, and its iterations as tasks of `sklearn.callback`."""

from collections.abc import Callable
from math import inf, log
from typing import Any

from typicality._progress import advance, part
from typicality.solve.picard import PicardResult, picard
from typicality.solve.step import ClusterState, Step

State = ClusterState[Any]
_RUNS_LEFT = 3  # that are expected where their number is not known before


class FitCallbacks:
    """The tasks of a fit: a few runs, each of at most `max_iter` iterations.

    Parameters
    ----------
    estimator : estimator
        With `tol`, `max_iter`, and the callbacks.
    model : estimator
        The copy that is being fitted; it knows the features of the data.
    X, sample_weight : array-like
        As the user gave them.
    """

    def __init__(self, estimator: Any, model: Any, X: Any, sample_weight: Any) -> None:
        self._estimator = estimator
        self._model = model
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"estimator": estimator, "X": X, "metadata": metadata}
        self._fit: Any = None

    def begin(
        self,
        n_runs: int | None,
        attributes: Callable[[Any], dict[str, Any]],
        *,
        loop_share: float = 0.9,
    ) -> None:
        """Begin the fit.

        Parameters
        ----------
        n_runs : int or None
            The most runs of the loop, where that is known.
        attributes : callable
            `attributes(state)`: what a model as of an iteration needs for prediction.
        loop_share : float, default=0.9
            The share of the time that the runs usually take.
        """
        self._n_runs, self._n_done, self._loop_share = n_runs, 0, loop_share
        self._attributes = attributes
        if hasattr(self._estimator, "_init_callback_context"):  # scikit-learn 1.9 and newer
            self._fit = self._estimator._init_callback_context(max_subtasks=n_runs)
            self._fit.call_on_fit_task_begin(**self._data)

    def run(
        self, step: Step, state: State, *, tol: float | None = None, max_iter: int | None = None
    ) -> PicardResult[State]:
        """One run of the loop; a callback may stop it after any iteration.

        `tol` and `max_iter` are those of the estimator unless they are given.
        """
        tol = self._estimator.tol if tol is None else tol
        most: int = self._estimator.max_iter if max_iter is None else max_iter
        run, iteration = None, None
        if getattr(self._estimator, "_skl_callbacks", None):
            run = self._begin_task(self._fit, "run", most)
            iteration = self._begin_task(run, "iteration")
        largest = 0.0

        def watch(n_iter: int, residual: float, state: State) -> bool:
            nonlocal largest, iteration
            largest = max(largest, residual) if residual < inf else largest
            advance(max(n_iter / most, _share_of_way(residual, largest, tol)))
            if run is None:
                return False
            stop = self._end_task(iteration, state)
            if not stop and residual >= tol and n_iter < most:
                iteration = self._begin_task(run, "iteration")
            return stop

        with part(self._share_of_fit(self._n_done), self._share_of_fit(self._n_done + 1)):
            result = picard(step, state, tol=tol, max_iter=most, watch=watch)
        if run is not None:
            self._end_task(run, result.state)
        self._n_done += 1
        return result

    def _share_of_fit(self, n_runs: int) -> float:
        """How far the fit is after some runs; where their number is unknown, the steps shrink."""
        most = n_runs + _RUNS_LEFT if self._n_runs is None else max(self._n_runs, n_runs, 1)
        return self._loop_share * n_runs / most

    def _begin_task(self, above: Any, name: str, max_subtasks: int = 0) -> Any:
        task = above.subcontext(task_name=name, max_subtasks=max_subtasks)
        task.call_on_fit_task_begin(**self._data)
        return task

    def _end_task(self, task: Any, state: State) -> bool:
        """End a task; whether a callback wants to stop."""
        features = ("n_features_in_", "feature_names_in_")
        known = {name: getattr(self._model, name, None) for name in features}
        return task.call_on_fit_task_end(
            reconstruction_attributes=lambda: known | self._attributes(state), **self._data
        )

    def end(self) -> None:
        """The fit is done."""
        if self._fit is not None:
            self._fit.call_on_fit_task_end(
                reconstruction_attributes=lambda: vars(self._estimator), **self._data
            )


def _share_of_way(residual: float, largest: float, tol: float) -> float:
    """How far a run is on its way to `tol`: residuals usually fall by the same factor each time."""
    if 0.0 < residual < inf and 0.0 < tol < largest:
        return log(largest / residual) / log(largest / tol)
    return 0.0
