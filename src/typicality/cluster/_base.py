"""The shell of every estimator with prototypes: check, start, iterate, publish, warn."""

from abc import ABCMeta, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from typicality._compat import check_feature_names_in, fit_context
from typicality.cluster._checks import check_compressible
from typicality.cluster._progress import FitProgress, State
from typicality.cluster._readers import Reader
from typicality.cluster._shell import SpaceEstimator, TrainingRows, feature_labels, small_copy
from typicality.cluster._spaces import OpenSpace, open_space
from typicality.cluster.diagnostics import (
    require_finite,
    warn_about_convergence,
    warn_about_features,
    warn_about_kernel,
)
from typicality.cluster.labelling import Labelling, label_prototypes
from typicality.geometry import Geometry
from typicality.geometry.checks import check_sample_weight
from typicality.membership.base import MembershipRule
from typicality.solve.picard import PicardResult
from typicality.solve.step import ClusterState

Floats = NDArray[np.floating]


class PrototypeClusterer(TransformerMixin, ClusterMixin, SpaceEstimator, metaclass=ABCMeta):
    """Base of the estimators that describe clusters by prototypes; not for direct use."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SpaceEstimator._parameter_constraints,
        "store_memberships": ["boolean"],
    }

    _column_name: ClassVar[str] = "membership"
    _cap_advice: ClassVar[str] = "Increase max_iter, or tol if that is precise enough."

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to cluster. float32 stays float32. With ``kernel="precomputed"`` the square
            matrix of kernel values, with ``kernel="dissimilarities"`` that of dissimilarities.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of the row; 0 leaves a row out of everything but its label.

        Returns
        -------
        self
        """
        self._check_parameters()
        training = self._training_rows(X, sample_weight, at_least=2)
        self._check_rows(training)
        given = self._given_start(training)
        opened = self._open(training)
        starts = self._starts(opened, training, given)
        warn_about_features(opened.features, feature_labels(training.schema), opened.kernel)
        progress = FitProgress(
            self,
            training.schema,
            n_runs=self._n_runs(len(starts)),
            data=training.for_callbacks,
            attributes=lambda state: self._prediction_attributes(state, opened.reader),
        )
        result = self._solve(opened.space, starts, progress)
        require_finite(result)
        self._take_schema(training.schema)
        self._publish(opened, result)
        progress.finish()
        return self

    def predict(self, X: ArrayLike, *, diag: ArrayLike | None = None) -> NDArray[np.int32]:
        """The cluster each row prefers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones: `fit(X).predict(X)` is `fit_predict(X)`. With
            ``kernel="precomputed"`` their kernel values with the training rows.
        diag : array-like of shape (n_samples,), optional
            With ``kernel="precomputed"``, the kernel of each row with itself; needed for new rows
            where it is not the same for all training rows.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        rows = self._known_rows(X, diag)
        return self._labels_of(self._prototypes.labels(self._rule, rows))

    def predict_memberships(self, X: ArrayLike, *, diag: ArrayLike | None = None) -> Floats:
        """The membership of each row in each cluster: the classification functions.

        Implements :cite:`miyamoto2003`, eq. (10) and (16); :cite:`filippone2010`, eq. (28).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones.
        diag : array-like of shape (n_samples,), optional
            As in `predict`.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            A column for each prototype.
        """
        rows = self._known_rows(X, diag)
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

    def score(
        self,
        X: ArrayLike,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        *,
        diag: ArrayLike | None = None,
    ) -> float:
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
        diag : array-like of shape (n_samples,), optional
            As in `predict`.

        Returns
        -------
        score : float
        """
        rows = self._known_rows(X, diag)
        weight = check_sample_weight(sample_weight, rows)
        return -float(self._prototypes.objective(self._rule, rows, weight))

    def compress(self, rtol: float = 1e-4) -> Self:
        """A small model for prediction only: it needs no training rows, or few of them.

        Gaussian sums in up to three dimensions become Fourier coefficients, others a reduced set of
        rows: the sparsification :cite:`filippone2010` asks for in its conclusions.

        Parameters
        ----------
        rtol : float, default=1e-4
            The promise: means of kernel values are off by at most so much, at any point. Squared
            distances are off by at most twice as much.

        Returns
        -------
        model : estimator of the same kind
            It predicts as this one does, within the promise; attributes with a number for each
            training row (`labels_`, `memberships_`) are not there.
        """
        check_is_fitted(self)
        check_compressible(self.kernel_, rtol)
        prototypes = self._prototypes.compress(rtol)
        return small_copy(self, without=("labels_", "memberships_"), _prototypes=prototypes)

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
        self, space: Geometry[Any], starts: list[Any], progress: FitProgress
    ) -> PicardResult[State]:
        """Iterate from the starts; the run to keep."""

    def _check_parameters(self) -> None:
        """What `_parameter_constraints` cannot say."""
        return

    @abstractmethod
    def _check_rows(self, training: TrainingRows) -> None:
        """Whether there are rows enough."""

    @abstractmethod
    def _given_start(self, training: TrainingRows) -> Floats | None:
        """`init` where it is an array, judged before any work begins."""

    @abstractmethod
    def _starts(self, opened: OpenSpace, training: TrainingRows, given: Floats | None) -> list[Any]:
        """The prototypes to start from."""

    @abstractmethod
    def _coincident(
        self, prototypes: Any, rule: MembershipRule, space: Geometry[Any]
    ) -> NDArray[np.intp]:
        """For each prototype the first one it shares its label with."""

    @abstractmethod
    def _warn_about_result(
        self, space: Geometry[Any], state: State, labelling: Labelling, mass: NDArray[np.float64]
    ) -> None:
        """Say what is suspicious."""

    def _open(self, training: TrainingRows) -> OpenSpace:
        """The space of the training rows."""
        return open_space(
            self.kernel,
            self.sigma,
            training.rows,
            training.sample_weight,
            sums=self._sums_wanted,
        )

    def _n_runs(self, n_starts: int) -> int | None:
        """How many runs of the loop `_solve` makes at the most, where that is known."""
        return n_starts

    # ---- shared steps ----------------------------------------------------------------------------

    def _labels_of(self, preferred: NDArray[np.int32]) -> NDArray[np.int32]:
        """The labels of rows by the prototypes they prefer; -1 where they prefer none."""
        labels: NDArray[np.int32] = np.append(self.prototype_labels_, np.int32(-1))[preferred]
        return labels

    def _publish(self, opened: OpenSpace, result: PicardResult[State]) -> None:
        space = opened.space
        prototypes = result.state.prototypes
        rule = result.state.rule
        groups = self._coincident(prototypes, rule, space)
        preferred = space.labels(rule, prototypes)
        labelling = label_prototypes(groups, preferred, space.sample_weight)
        state = ClusterState(prototypes.take(labelling.order), rule.take(labelling.order))
        if (np.diff(labelling.order) < 0).any():  # ties go to the first, whichever that is now
            preferred = space.labels(state.rule, state.prototypes)
        for name, value in self._prediction_attributes(state, opened.reader, labelling).items():
            setattr(self, name, value)
        if not hasattr(state.prototypes, "centers") and hasattr(self, "cluster_centers_"):
            del self.cluster_centers_
        self.kernel_ = opened.kernel
        self.sigma_ = opened.sigma
        self.labels_ = self._labels_of(preferred)
        if self.store_memberships:
            self.memberships_ = self._memberships(space, state)
        elif hasattr(self, "memberships_"):
            del self.memberships_
        self.objective_, mass = space.objective_and_mass(state.rule, state.prototypes)
        self.objective_path_ = np.array(result.objectives)
        self.n_iter_ = result.n_iter
        self.status_ = result.status
        self.plan_ = space.plan(prototypes.n_clusters)
        warn_about_convergence(
            result, tol=self.tol, max_iter=self.max_iter, advice=self._cap_advice
        )
        self._warn(space, state, labelling, mass)

    def _memberships(self, space: Geometry[Any], state: State) -> Any:
        """The memberships of the training rows, as they are kept."""
        return space.memberships(state.rule, state.prototypes)

    def _warn(
        self, space: Geometry[Any], state: State, labelling: Labelling, mass: NDArray[np.float64]
    ) -> None:
        if not warn_about_kernel(space, state.prototypes, self.kernel):
            self._warn_about_result(space, state, labelling, mass)

    def _prediction_attributes(
        self, state: State, reader: Reader, labelling: Labelling | None = None
    ) -> dict[str, Any]:
        """All that prediction needs."""
        prototypes = state.prototypes
        n_clusters = prototypes.n_clusters
        labels = np.arange(n_clusters, dtype=np.int32)
        return {
            "_prototypes": prototypes.for_prediction(),
            "_rule": state.rule,
            "_reader": reader,
            "prototype_labels_": labels if labelling is None else labelling.prototype_labels,
            "n_clusters_": n_clusters if labelling is None else labelling.n_clusters,
        } | _centers(prototypes, reader)


def _centers(prototypes: Any, reader: Any) -> dict[str, Floats]:
    """The attribute with the coordinates of the prototypes, where they have some."""
    if not hasattr(prototypes, "centers"):
        return {}
    return {"cluster_centers_": reader.restore(prototypes.centers)}
