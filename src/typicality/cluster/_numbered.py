"""What the estimators share that are told the number of clusters: starts, and the best of them."""

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from typicality._compat import Interval, StrOptions
from typicality.cluster._base import PrototypeClusterer
from typicality.cluster._checks import check_start_array
from typicality.cluster._progress import FitProgress, State
from typicality.cluster._shell import TrainingRows
from typicality.cluster._spaces import OpenSpace, has_points
from typicality.cluster.diagnostics import (
    memberships_collapsed,
    require_finite,
    warn_about_collapse,
    warn_about_labelling,
)
from typicality.cluster.labelling import Labelling, coincident_groups
from typicality.geometry import Geometry
from typicality.geometry.checks import check_distinct_rows
from typicality.membership.base import MembershipRule
from typicality.solve.picard import PicardResult
from typicality.solve.schedules import anneal
from typicality.solve.starts import NAMED_STARTS, best_of, named_start
from typicality.solve.step import Alternation

Floats = NDArray[np.floating]


class NumberedClusterer(PrototypeClusterer, metaclass=ABCMeta):
    """Base of the estimators that are told the number of clusters; not for direct use."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrototypeClusterer._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(NAMED_STARTS)), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    # ---- what a subclass supplies ----------------------------------------------------------------

    @abstractmethod
    def _start_rule(self, space: Geometry[Any]) -> MembershipRule:
        """The rule that turns memberships given as `init` into weights."""

    @property
    def _start_name(self) -> Any:
        """The name of the start, or `init` where that is a function."""
        return self.init

    def _collapse_advice(self, space: Geometry[Any]) -> str:
        """What to do when all memberships are alike."""
        return ""

    _can_collapse: ClassVar[bool] = True  # memberships sum to one

    @abstractmethod
    def _coincidence_advice(self) -> str:
        """What to do when prototypes coincide."""

    # ---- starts ----------------------------------------------------------------------------------

    def _check_rows(self, training: TrainingRows) -> None:
        check_distinct_rows(training.rows, training.sample_weight, self.n_clusters)

    def _given_start(self, training: TrainingRows) -> Floats | None:
        if isinstance(self.init, str) or callable(self.init):
            return None
        return self._checked_start(self.init, training, source="init")

    def _checked_start(self, init: Any, training: TrainingRows, *, source: str) -> Floats:
        n_samples, n_features = training.rows.shape
        return check_start_array(
            init,
            memberships=(n_samples, self.n_clusters),
            points=(self.n_clusters, n_features) if has_points(self.kernel) else None,
            sample_weight=training.sample_weight,
            source=source,
        )

    def _starts(self, opened: OpenSpace, training: TrainingRows, given: Floats | None) -> list[Any]:
        space = opened.space
        if given is not None:
            return [self._start_at(space, given)]
        rng = check_random_state(self.random_state)
        name = self._start_name
        if callable(name):
            drawn = [name(training.rows, self.n_clusters, rng) for _ in range(self.n_init)]
            checked = [self._checked_start(a, training, source="init()") for a in drawn]
            return [self._start_at(space, array) for array in checked]
        data = space.candidates(self.n_clusters)
        start = named_start(name, data)
        n_starts = 1 if name == "max-min" else self.n_init
        chosen = [start(data, self.n_clusters, rng) for _ in range(n_starts)]
        return [space.near_rows(data.index[rows]) for rows in chosen]

    def _start_at(self, space: Geometry[Any], array: Floats) -> Any:
        """Prototypes from points, or from memberships."""
        if has_points(self.kernel) and array.shape == (self.n_clusters, space.X.shape[1]):
            return space.at(array)
        # Only the ratios within a column matter; weights of tiny memberships would vanish.
        return space.prototypes(self._start_rule(space).weights(array / array.max(axis=0)))

    # ---- results ---------------------------------------------------------------------------------

    def _coincident(
        self, prototypes: Any, rule: MembershipRule, space: Geometry[Any]
    ) -> NDArray[np.intp]:
        return coincident_groups(prototypes, rule, space.total_variance)

    def _warn_about_result(
        self, space: Geometry[Any], state: State, labelling: Labelling, mass: NDArray[np.float64]
    ) -> None:
        if self._can_collapse and memberships_collapsed(space, state):
            warn_about_collapse(self.n_clusters, advice=self._collapse_advice(space))
            return
        warn_about_labelling(labelling, advice=self._coincidence_advice())


def best_run(
    space: Geometry[Any],
    starts: list[Any],
    rules: Sequence[MembershipRule],
    progress: FitProgress,
) -> PicardResult[State]:
    """Iterate from every start, by the rules one after the other; the lowest objective wins."""
    step: Alternation[Any] = Alternation(space)
    result = best_of(
        starts,
        lambda start: anneal(start, rules, lambda state: progress.run(step, state)),
        value=lambda result: result.objectives[-1],
    )
    require_finite(result)
    return result
