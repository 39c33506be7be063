"""What the estimators share whose spreads adapt and whose clusters can vanish."""

from abc import ABCMeta, abstractmethod
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from typicality._compat import Interval, StrOptions
from typicality._quantiles import unit_of_weight
from typicality.cluster._base import PrototypeClusterer
from typicality.cluster._checks import check_start_points, check_variance
from typicality.cluster._progress import FitProgress, State
from typicality.cluster._readers import Reader
from typicality.cluster._shell import TrainingRows
from typicality.cluster._spaces import OpenSpace, has_points, open_space
from typicality.cluster.diagnostics import (
    warn_about_fragments,
    warn_about_labelling,
    warn_about_rows_nowhere,
    warn_about_vanished_clusters,
)
from typicality.cluster.labelling import Labelling
from typicality.geometry import Geometry, InputSpace
from typicality.geometry.base import row_blocks
from typicality.geometry.checks import check_varying_rows
from typicality.membership.base import MembershipRule
from typicality.membership.spread import AdaptedSpread, smallest_spread
from typicality.solve.picard import PicardResult
from typicality.solve.starts import max_min
from typicality.solve.step import Alternation, ClusterState

Floats = NDArray[np.floating]

_SIDE = 20.0  # of a box for one feature; 10 for four of them
_SMALLEST_BOX, _LARGEST_BOX = 1e-6, 1e6


class AdaptiveClusterer(PrototypeClusterer, metaclass=ABCMeta):
    """Base of the estimators whose spreads adapt in each step; not for direct use."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrototypeClusterer._parameter_constraints,
        "box": [Interval(Real, _SMALLEST_BOX, _LARGEST_BOX, closed="both"), None],
        "init": [StrOptions({"max-min", "paper"}), "array-like"],
        "store_memberships": ["boolean", StrOptions({"sparse"})],
    }

    _column_name = "typicality"
    _cap_advice = (
        "The iteration may go in a cycle, which more iterations do not end: increase tol or "
        "max_iter, or take the result as it is."
    )

    # ---- what a subclass supplies ----------------------------------------------------------------

    @property
    def _less_sparse(self) -> str:
        """What else brings rows in: a smaller lam, unless that was chosen."""
        return "" if isinstance(getattr(self, "lam", "auto"), str) else ", a smaller lam"

    def _final_rule(self, rule: Any) -> Any:
        """The rule of the result."""
        return rule

    @abstractmethod
    def _named_starts(self, space: Geometry[Any]) -> list[Any]:
        """The start that `init` names."""

    # ---- shared steps ----------------------------------------------------------------------------

    @property
    def _by_the_paper(self) -> bool:
        """Whether nothing of our own is done to the data and the start."""
        return isinstance(self.init, str) and self.init == "paper"

    def _check_rows(self, training: TrainingRows) -> None:
        check_varying_rows(training.rows, training.sample_weight)

    def _open(self, training: TrainingRows) -> OpenSpace:
        rows, weight = training.rows, training.sample_weight
        opened = open_space(
            self.kernel,
            self.sigma,
            rows,
            weight,
            sums=self._sums_wanted,
            box=self.box,
            trim=not self._by_the_paper,
        )
        check_variance(opened.space.total_variance)
        return opened

    def _given_start(self, training: TrainingRows) -> Floats | None:
        if isinstance(self.init, str):
            return None
        return check_start_points(
            self.init, n_features=training.rows.shape[1], allowed=has_points(self.kernel)
        )

    def _starts(self, opened: OpenSpace, training: TrainingRows, given: Floats | None) -> list[Any]:
        if given is None:
            return self._named_starts(opened.space)
        points = opened.reader.read(given.astype(training.rows.dtype), None)
        return [opened.space.at(points)]

    def _iterate(
        self, space: Geometry[Any], unit: float, progress: FitProgress
    ) -> "partial[PicardResult[State]]":
        """The loop: from a state to its end."""
        update = AdaptedSpread(unit, smallest_spread(space.total_variance))
        return partial(progress.run, Alternation(space, update))

    def _unit(self, space: Geometry[Any]) -> float:
        """The unit of length: features are scaled to the box already, kernels cannot be."""
        if self.box is None or isinstance(space, InputSpace):
            return 1.0
        data = space.candidates(2)
        first, second = max_min(data, 2)
        diameter = float(np.sqrt(data.sqdist_to(first)[second]))
        return diameter / self.box or 1.0

    def _finished(self, result: PicardResult[State]) -> PicardResult[State]:
        """The result by the final rule."""
        state = result.state
        return replace(result, state=ClusterState(state.prototypes, self._final_rule(state.rule)))

    def _coincident(
        self, prototypes: Any, rule: MembershipRule, space: Geometry[Any]
    ) -> NDArray[np.intp]:
        return np.arange(prototypes.n_clusters)

    def _memberships(self, space: Geometry[Any], state: State) -> Any:
        if self.store_memberships != "sparse":
            return super()._memberships(space, state)
        shape = (0, state.prototypes.n_clusters)
        blocks = [csr_array(shape, dtype=space.X.dtype)]
        blocks += [
            csr_array(state.prototypes.memberships(state.rule, space.X[rows]))
            for rows in row_blocks(len(space.X))
        ]
        return vstack(blocks, format="csr")

    def _warn(
        self, space: Geometry[Any], state: State, labelling: Labelling, mass: NDArray[np.float64]
    ) -> None:
        if labelling.n_clusters == 0:
            warn_about_vanished_clusters(self._collapse_remedy())
        else:
            super()._warn(space, state, labelling, mass)

    def _warn_about_result(
        self, space: Geometry[Any], state: State, labelling: Labelling, mass: NDArray[np.float64]
    ) -> None:
        warn_about_labelling(labelling, about_empty="The iteration passes through such states.")
        narrower = self._smaller_box(space)
        weight = space.sample_weight
        copies = None if weight is None else weight / unit_of_weight(weight)
        warn_about_fragments(self.labels_, copies, remedy=f"Try {narrower}.")
        warn_about_rows_nowhere(
            self.labels_,
            remedy=f"Try {narrower}{self._less_sparse}, or assign='all', which leaves no row out.",
        )

    def _smaller_box(self, space: Geometry[Any]) -> str:
        """A box in which clusters are wider: distances grow like the root of the dimension."""
        if self.box is None:
            return "a box, or smaller units"
        return f"box={min(self.box / 2, _SIDE / np.sqrt(space.dimension)):.2g}"

    def _collapse_remedy(self) -> str:
        """What to do when no cluster is left."""
        return "Check the parameters."

    def _prediction_attributes(
        self, state: State, reader: Reader, labelling: Labelling | None = None
    ) -> dict[str, Any]:
        rule: Any = self._final_rule(state.rule)
        state = ClusterState(state.prototypes, rule)
        return super()._prediction_attributes(state, reader, labelling) | {"eta_": rule.eta.copy()}
