"""The Picard loop as tasks of `sklearn.callback`: progress bars and early stopping."""

from collections.abc import Callable
from math import inf, log
from typing import Any

from typicality._progress import advance, part
from typicality.solve.picard import PicardResult, picard
from typicality.solve.step import ClusterState, Step

State = ClusterState[Any]
_USUAL_RUNS = 10  # where their number is not known before


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
        self._fit = self._estimator._init_callback_context(max_subtasks=n_runs)
        self._fit.call_on_fit_task_begin(**self._data)

    def run(
        self, step: Step, state: State, *, tol: float | None = None, max_iter: int | None = None
    ) -> PicardResult[State]:
        """One run of the loop; a callback may stop it after any iteration.

        `tol` and `max_iter` are those of the estimator unless they are given.
        """
        tol = self._estimator.tol if tol is None else tol
        max_iter = self._estimator.max_iter if max_iter is None else max_iter
        step = _advancing(step, tol, max_iter)
        with part(*self._part_of_run()):
            result = self._loop(step, state, tol=tol, max_iter=max_iter)
        self._n_done += 1
        return result

    def _part_of_run(self) -> tuple[float, float]:
        """Which part of the fit the next run is; where their number is unknown, parts shrink."""
        done = self._n_done, self._n_done + 1
        if self._n_runs is None:
            shares = [number / (number + _USUAL_RUNS) for number in done]
        else:
            shares = [number / max(self._n_runs, done[1]) for number in done]
        return self._loop_share * shares[0], self._loop_share * shares[1]

    def _loop(self, step: Step, state: State, *, tol: float, max_iter: int) -> PicardResult[State]:
        if not getattr(self._estimator, "_skl_callbacks", None):
            return picard(step, state, tol=tol, max_iter=max_iter)
        task = self._fit.subcontext(task_name="run", max_subtasks=max_iter)
        task.call_on_fit_task_begin(**self._data)
        stop = False

        def watched_step(state: State) -> tuple[State, float, float]:
            nonlocal stop
            iteration = task.subcontext(task_name="iteration")
            iteration.call_on_fit_task_begin(**self._data)
            result = step(state)
            stop = iteration.call_on_fit_task_end(
                reconstruction_attributes=self._fitted_as_of(result[0]), **self._data
            )
            return result

        result = picard(
            watched_step, state, tol=tol, max_iter=max_iter, callback=lambda n_iter, state: stop
        )
        task.call_on_fit_task_end(
            reconstruction_attributes=self._fitted_as_of(result.state), **self._data
        )
        return result

    def end(self) -> None:
        """The fit is done."""
        if self._fit is not None:
            self._fit.call_on_fit_task_end(
                reconstruction_attributes=lambda: vars(self._estimator), **self._data
            )

    def _fitted_as_of(self, state: State) -> Callable[[], dict[str, Any]]:
        schema = {
            "n_features_in_": self._model.n_features_in_,
            "feature_names_in_": getattr(self._model, "feature_names_in_", None),
        }
        return lambda: schema | self._attributes(state)


def _advancing(step: Step, tol: float, max_iter: int) -> Step:
    """The step, which also reports how far its run is.

    Residuals usually fall by the same factor in each iteration, so the logarithm of the residual
    says how far it is on its way to `tol`.
    """
    n_iter, first = 0, inf

    def counted_step(state: State) -> tuple[State, float, float]:
        nonlocal n_iter, first
        result = step(state)
        n_iter += 1
        residual = result[1]
        share = n_iter / max_iter
        if 0.0 < residual < inf:
            first = residual if first == inf else max(first, residual)
            if 0.0 < tol < first:
                share = max(share, log(first / residual) / log(first / tol))
        advance(share)
        return result

    return counted_step
