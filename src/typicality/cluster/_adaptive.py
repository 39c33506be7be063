"""The shell of the estimators whose spreads adapt and whose clusters can vanish."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_array

from typicality._compat import Interval, StrOptions
from typicality._typing import Doubles, Floats
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._inputs import OpenSpace, has_points
from typicality.cluster._labels import Clustering
from typicality.cluster._prototypes import Found, PrototypeClusterer
from typicality.cluster._starts import check_distinct_points
from typicality.cluster._warnings import (
    warn_about_fragments,
    warn_about_kernel,
    warn_about_prototype_labels,
    warn_about_rows_nowhere,
    warn_about_vanished_clusters,
)
from typicality.geometry.checks import check_varying_rows
from typicality.membership.sparse import SparsePossibilistic
from typicality.membership.spread import AdaptedSpread, smallest_spread, spread_from_separation
from typicality.solve.picard import PicardResult
from typicality.solve.starts import max_min, start_rows
from typicality.solve.step import Alternation, ClusterState
from typicality.spaces import Euclidean, Space

Run = Callable[..., PicardResult[State]]

_SIDE = 20.0  # of a box for one feature; 10 for four of them
_SMALLEST_BOX, _LARGEST_BOX = 1e-6, 1e6

SPARSITY_CONSTRAINTS: dict[str, list[Any]] = {
    "p": [Interval(Real, 0, 1, closed="neither")],
    "assign": [StrOptions({"core", "all"})],
}


class AdaptiveClusterer(PrototypeClusterer):
    """Base of the estimators whose spreads follow the clusters; not for direct use."""

    eta_: Annotated[Doubles, "c"]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrototypeClusterer._parameter_constraints,
        "box": [Interval(Real, _SMALLEST_BOX, _LARGEST_BOX, closed="both"), None],
        "init": [StrOptions({"max-min"}), "array-like"],
    }
    _column_name = "typicality"
    _rule_attribute = "eta"
    _shares_labels = False
    _why_dense = "it scales every feature to one range, and then hardly any value is zero"
    _cap_advice = (
        "The iterations may repeat a cycle, which does not end: increase tol or max_iter, or use "
        "the result as it is."
    )

    @abstractmethod
    def _vanished_remedy(self) -> str:
        """What to do if no cluster is left."""

    # ---- the space and the start -----------------------------------------------------------------

    def _open_in_box(self, rows: Floats, weight: Floats | None) -> tuple[OpenSpace, Any]:
        """The space in the box, and the prototypes that `init` gives as points, or None.

        Raises
        ------
        ValueError
            All rows are the same, or `init` is an array that cannot be used.
        """
        check_varying_rows(rows, weight)
        given = None
        if not isinstance(self.init, str):
            given = self._checked_points(n_features=rows.shape[1])
        opened = self._open(rows, weight, box=self.box)
        if opened.space.total_variance <= 0:
            raise ValueError(
                "All rows of positive weight are one point in the space of the kernel: there "
                "are no clusters to find. Use another kernel."
            )
        if given is not None:
            given = opened.space.at(opened.reader.read(given.astype(rows.dtype)))
        return opened, given

    def _checked_points(self, *, n_features: int) -> Floats:
        if not has_points(self.kernel):
            raise ValueError(
                "init is an array, but with this kernel prototypes have no coordinates. Use "
                "init='max-min'."
            )
        points = np.asarray(
            check_array(self.init, dtype=[np.float64, np.float32], input_name="init")
        )
        if points.shape[1] != n_features:
            raise ValueError(
                f"init has shape {points.shape}; expected prototypes of shape (n_clusters, "
                f"n_features) with n_features={n_features}."
            )
        check_distinct_points(points, "init")
        n_clusters = getattr(self, "n_clusters", len(points))
        if len(points) != n_clusters:
            raise ValueError(
                f"init has {len(points)} prototype(s), but n_clusters={n_clusters}: pass one "
                "prototype for each cluster."
            )
        return points

    def _unit_of_length(self, space: Space[Any]) -> float:
        """The unit of length: features are scaled to the box already, kernels cannot be."""
        if self.box is None or isinstance(space, Euclidean):
            return 1.0
        data = space.candidates(2)
        first, second = max_min(data, 2)
        diameter = float(np.sqrt(data.sqdist_to(first)[second]))
        return diameter / self.box or 1.0

    # ---- the iteration ---------------------------------------------------------------------------

    def _sparse_rule(self, eta: Doubles, lam: float) -> SparsePossibilistic:
        """The rule of the iterations with a sparsity term; a subclass can return another one."""
        return SparsePossibilistic(eta, lam, float(self.p))

    def _first_prototypes(self, space: Space[Any]) -> Any:
        """The first `n_clusters` prototypes by `init="max-min"`; a subclass can choose others."""
        return space.near_rows(start_rows("max-min", space, self.n_clusters), share=0.0)

    def _fit_from_many(
        self,
        rows: Floats,
        weight: Floats | None,
        callbacks: FitCallbacks,
        rule: Callable[[Doubles, float], Any],
    ) -> Found:
        """Begin with `n_clusters` prototypes, and iterate until those that are not there are gone.

        `rule(eta, unit)` is the rule of the iterations, from the first spreads and the unit of
        length.
        """
        opened, start = self._open_in_box(rows, weight)
        space = opened.space
        if start is None:
            start = self._first_prototypes(space)
        self._begin(callbacks, opened, n_runs=1)
        unit = self._unit_of_length(space)
        eta = np.array([space.total_variance])
        if start.n_clusters > 1:
            eta = spread_from_separation(start.mutual_sqdist(), self.beta)
            eta = np.maximum(eta, smallest_spread(space.total_variance))
        result = adaptive_run(space, unit, callbacks)(ClusterState(start, rule(eta, unit)))
        return Found(opened, result, {})

    # ---- warnings --------------------------------------------------------------------------------

    def _warn(self, found: Clustering) -> None:
        space, state, labels, outcome = found
        if labels.n_clusters == 0:
            warn_about_vanished_clusters(self._vanished_remedy())
            return
        if warn_about_kernel(space, state.prototypes, self.kernel):
            return
        warn_about_prototype_labels(labels, about_empty="The iteration passes through such states.")
        narrower = "a box, or smaller units"
        if self.box is not None:  # distances grow like the root of the dimension
            narrower = f"box={min(self.box / 2, _SIDE / np.sqrt(space.dimension)):.2g}"
        tally = outcome.tally
        mean_weight = tally.weight.sum() / max(tally.counted.sum(), 1)
        warn_about_fragments(tally, min(1.0, mean_weight), remedy=f"Try {narrower}.")
        less_sparse = "" if isinstance(getattr(self, "lam", "auto"), str) else ", a smaller lam"
        warn_about_rows_nowhere(
            tally,
            remedy=f"Try {narrower}{less_sparse}, or assign='all', which leaves no row out.",
        )


def adaptive_run(space: Space[Any], unit: float, callbacks: FitCallbacks) -> Run:
    """The loop in which spreads follow the clusters, from a state to its end."""
    update = AdaptedSpread(unit, smallest_spread(space.total_variance))
    return partial(callbacks.run, Alternation(space, update))


def smaller_lam(lam: float) -> str:
    """What to do when lambda was too large for all clusters."""
    return (
        f"lam={lam:.3g} is too large for their spreads. Try lam={lam / 4:.2g}, a smaller box if "
        "there are many features, or let SequentialPCM(lam='auto') choose lam. (Clusters of equal "
        "rows have no spread and vanish at every lam; AdaptivePCM keeps them.)"
    )
