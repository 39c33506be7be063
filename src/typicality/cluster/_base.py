"""The shell of every estimator with prototypes: check, start, iterate, publish, warn."""

from abc import ABCMeta, abstractmethod
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from typicality._checks import (
    check_distinct_rows,
    check_magnitudes,
    check_points,
    check_reach,
    check_rows,
    check_sample_weight,
    check_start_array,
)
from typicality._compat import Interval, StrOptions, check_feature_names_in, fit_context
from typicality.cluster._progress import FitProgress, State
from typicality.cluster.diagnostics import (
    Labelling,
    Sample,
    coincident_groups,
    label_prototypes,
    memberships_collapsed,
    require_finite,
    warn_about_collapse,
    warn_about_convergence,
    warn_about_features,
    warn_about_labelling,
)
from typicality.geometry import Centroids, InputSpace, Sweep
from typicality.geometry.distinct import LARGEST_SAMPLE, DistinctRows
from typicality.kernels import Linear
from typicality.membership.base import MembershipRule
from typicality.solve.alternation import Alternation, ClusterState
from typicality.solve.initial import NAMED_STARTS
from typicality.solve.picard import PicardResult
from typicality.solve.restarts import best_of

Floats = NDArray[np.floating]


class PrototypeClusterer(
    CallbackSupportMixin, TransformerMixin, ClusterMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base of the estimators that describe clusters by prototypes; not for direct use."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"linear"}), Linear],
        "init": [StrOptions(set(NAMED_STARTS)), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "store_memberships": ["boolean"],
    }

    _column_name: ClassVar[str] = "membership"

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to cluster. float32 stays float32.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of the row; 0 leaves a row out of everything but its label.

        Returns
        -------
        self
        """
        self._check_parameters()
        candidate = copy(self)  # what X says of features is kept only once the fit is done
        rows = check_rows(candidate, X, training=True)
        weight = check_sample_weight(sample_weight, rows)
        check_distinct_rows(rows, weight, self.n_clusters)
        space = InputSpace(rows, weight)
        check_magnitudes(space.features, rows.dtype)
        check_reach(rows, space.origin)
        starts = self._starts(space)
        warn_about_features(space.features, candidate._feature_labels())
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        data = {"X": X, "metadata": metadata}
        progress = FitProgress(self, candidate, n_runs=self._n_runs(len(starts)), data=data)
        result = self._solve(space, starts, progress)
        self._take_schema(candidate)
        self._publish(space, result)
        progress.finish()
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """The cluster each row prefers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones: `fit(X).predict(X)` is `fit_predict(X)`.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        rows = self._known_rows(X)
        labels: NDArray[np.int32] = self.prototype_labels_[
            self._prototypes.labels(self._rule, rows)
        ]
        return labels

    def predict_memberships(self, X: ArrayLike) -> Floats:
        """The membership of each row in each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            A column for each prototype in `cluster_centers_`.
        """
        rows = self._known_rows(X)
        memberships: Floats = self._prototypes.memberships(self._rule, rows)
        return memberships

    def transform(self, X: ArrayLike) -> Floats:
        """The memberships of the rows, as features for what comes next in a pipeline.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
        """
        return self.predict_memberships(X)

    def score(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """The negative objective of the rows; larger is better between models of one kind.

        It compares starts, or rows, under the same parameters. Do not choose `n_clusters` or any
        other parameter by it: the objective changes its meaning with them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of the row.

        Returns
        -------
        score : float
        """
        rows = self._known_rows(X)
        weight = check_sample_weight(sample_weight, rows)
        return -float(self._prototypes.objective(self._rule, rows, weight))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: membership_0, ... or typicality_0, ...

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the features that went in, only checked for their number.

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        check_feature_names_in(self, input_features, generate_names=False)
        names = [f"{self._column_name}_{k}" for k in range(self._prototypes.n_clusters)]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # ---- what a subclass supplies ----------------------------------------------------------------

    @abstractmethod
    def _solve(
        self, space: InputSpace, starts: list[Centroids], progress: FitProgress
    ) -> PicardResult[State]:
        """Iterate from the starts; the run to keep."""

    def _check_parameters(self) -> None:
        """What `_parameter_constraints` cannot say."""
        return

    @abstractmethod
    def _start_rule(self) -> MembershipRule:
        """The rule that turns memberships given as `init` into weights."""

    def _n_runs(self, n_starts: int) -> int:
        """How many runs of the loop `_solve` makes at the most."""
        return n_starts

    def _collapse_advice(self, sample: Sample) -> str:
        """What to do when all memberships are alike."""
        return ""

    _can_collapse: ClassVar[bool] = True  # memberships sum to one

    @abstractmethod
    def _coincidence_advice(self) -> str:
        """What to do when prototypes coincide."""

    # ---- shared steps ----------------------------------------------------------------------------

    def _starts(self, space: InputSpace) -> list[Centroids]:
        n_samples, n_features = space.X.shape
        shape = (self.n_clusters, n_features)
        rng = check_random_state(self.random_state)
        if isinstance(self.init, str):
            at_most = max(LARGEST_SAMPLE, 4 * self.n_clusters)
            data = DistinctRows.of(space.X, space.sample_weight, at_most=at_most)
            start = NAMED_STARTS[self.init]
            n_starts = 1 if self.init == "max-min" else self.n_init
            drawn = [start(data, self.n_clusters, rng) for _ in range(n_starts)]
            return [space.near_rows(data.index[chosen]) for chosen in drawn]
        if callable(self.init):
            given = [self.init(space.X, self.n_clusters, rng) for _ in range(self.n_init)]
            return [space.at(check_points(points, shape, source="init()")) for points in given]
        array = check_start_array(self.init, n_samples, *shape, space.sample_weight)
        if array.shape == shape:
            return [space.at(array)]
        # Only the ratios within a column matter; weights of tiny memberships would vanish.
        return [space.prototypes(self._start_rule().weights(array / array.max(axis=0)))]

    def _publish(self, space: InputSpace, result: PicardResult[State]) -> None:
        prototypes = result.state.prototypes
        rule = result.state.rule
        groups = coincident_groups(prototypes, rule, space.total_variance)
        preferred = prototypes.labels(rule, space.X)
        labelling = label_prototypes(groups, preferred, space.sample_weight)
        state = ClusterState(prototypes.take(labelling.order), rule.take(labelling.order))
        for name, value in self._prediction_attributes(state, labelling).items():
            setattr(self, name, value)
        if (np.diff(labelling.order) < 0).any():  # ties go to the first, whichever that is now
            preferred = self._prototypes.labels(self._rule, space.X)
        self.labels_ = self.prototype_labels_[preferred]
        if self.store_memberships:
            self.memberships_ = self._prototypes.memberships(self._rule, space.X)
        elif hasattr(self, "memberships_"):
            del self.memberships_
        final = space.sweep(self._rule, self._prototypes)
        self.objective_ = final.objective
        self.objective_path_ = np.array(result.objectives)
        self.n_iter_ = result.n_iter
        self.status_ = result.status
        self.plan_ = space.plan(self.n_clusters)
        warn_about_convergence(result, tol=self.tol, max_iter=self.max_iter)
        self._warn_about_result(space, labelling, final)

    def _prediction_attributes(
        self, state: State, labelling: Labelling | None = None
    ) -> dict[str, Any]:
        """All that prediction needs."""
        prototypes = state.prototypes
        n_clusters = prototypes.n_clusters
        labels = np.arange(n_clusters, dtype=np.int32)
        return {
            "_prototypes": prototypes,
            "_rule": state.rule,
            "cluster_centers_": prototypes.centers,
            "prototype_labels_": labels if labelling is None else labelling.prototype_labels,
            "n_clusters_": n_clusters if labelling is None else labelling.n_clusters,
        }

    def _warn_about_result(
        self, space: InputSpace, labelling: Labelling, final: Sweep[Centroids]
    ) -> None:
        sample = Sample.of(space)
        if self._can_collapse and memberships_collapsed(self._prototypes, self._rule, sample):
            warn_about_collapse(self.n_clusters, advice=self._collapse_advice(sample))
            return
        warn_about_labelling(labelling, advice=self._coincidence_advice())

    def _take_schema(self, candidate: Self) -> None:
        self.n_features_in_ = candidate.n_features_in_
        if hasattr(candidate, "feature_names_in_"):
            self.feature_names_in_ = candidate.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _known_rows(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows = check_rows(self, X, training=False)
        check_reach(rows, self._prototypes.origin)
        return rows.astype(self._prototypes.origin.dtype, copy=False)

    def _feature_labels(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"feature {j}" for j in range(self.n_features_in_)]
        return [f"feature {str(name)!r}" for name in names]


def best_run(
    space: InputSpace, starts: list[Centroids], rule: MembershipRule, progress: FitProgress
) -> PicardResult[State]:
    """Iterate from every start; the result of lowest objective."""
    step = Alternation(space)
    result = best_of(
        starts,
        lambda start: progress.run(step, ClusterState(start, rule)),
        value=lambda result: result.objectives[-1],
    )
    require_finite(result)
    return result
