"""The other rule to stop of the papers: no significant improvement of the objective."""

from typing import Any

from regenerating.one_cluster import PaperAlphaCut
from typicality import FuzzyCMeans
from typicality.solve.step import Step

__all__ = ["AlphaCutByObjective", "FuzzyByObjective"]


class _ByObjective:
    """Stops when an iteration changes the objective by less than `tol`."""

    def _learn(self, rows: Any, weight: Any, callbacks: Any) -> None:
        super()._learn(rows, weight, _ByChange(callbacks))  # type: ignore[misc]


class FuzzyByObjective(_ByObjective, FuzzyCMeans):
    """Fuzzy c-means."""


class AlphaCutByObjective(_ByObjective, PaperAlphaCut):
    """The alpha-cuts of 1-PCM."""


class _ByChange:
    """Runs the steps of a fit with the change of the objective as their residual."""

    def __init__(self, callbacks: Any) -> None:
        self._callbacks = callbacks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._callbacks, name)

    def run(self, step: Step, state: Any, **options: Any) -> Any:
        def compared(state: Any) -> tuple[Any, float, float]:
            following, _, before = step(state)
            after = step(following)[2]
            return following, abs(after - before), before

        return self._callbacks.run(compared, state, **options)
