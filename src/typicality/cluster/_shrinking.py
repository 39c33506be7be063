"""What the two estimators share that begin with too many clusters."""

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from typicality._compat import Interval
from typicality.cluster._adaptive import AdaptiveClusterer
from typicality.cluster._checks import check_start_count
from typicality.cluster._progress import FitProgress, State
from typicality.cluster._shell import TrainingRows
from typicality.geometry import Geometry
from typicality.membership.spread import smallest_spread, spread_from_separation
from typicality.solve.picard import PicardResult
from typicality.solve.starts import at_the_first_row, farthest_rows, max_min
from typicality.solve.step import ClusterState


class ShrinkingClusterer(AdaptiveClusterer, metaclass=ABCMeta):
    """Base of the estimators that begin with too many clusters; not for direct use."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AdaptiveClusterer._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, 1, closed="neither")],
    }

    @abstractmethod
    def _rule_with(self, eta: NDArray[np.float64], unit: float) -> Any:
        """The rule of the iterations."""

    def _named_starts(self, space: Geometry[Any]) -> list[Any]:
        if self._by_the_paper:
            gaps = space.gaps(all_rows=True)
            return [farthest_rows(space, gaps, at_the_first_row(space), self.n_clusters)]
        data = space.candidates(self.n_clusters)
        chosen = max_min(data, min(self.n_clusters, len(data.index)))
        return [space.near_rows(data.index[chosen], share=0.0)]

    def _given_start(self, training: TrainingRows) -> Any:
        given = super()._given_start(training)
        check_start_count(given, self.n_clusters)
        return given

    def _solve(
        self, space: Geometry[Any], starts: list[Any], progress: FitProgress
    ) -> PicardResult[State]:
        unit = self._unit(space)
        start = starts[0]
        eta = self._first_spread(space, start)
        run = self._iterate(space, unit, progress)
        return self._finished(run(ClusterState(start, self._rule_with(eta, unit))))

    def _first_spread(self, space: Geometry[Any], start: Any) -> NDArray[np.float64]:
        if start.n_clusters == 1:
            return np.array([space.total_variance])
        eta = spread_from_separation(start.mutual_sqdist(), self.beta)
        return np.maximum(eta, smallest_spread(space.total_variance))
