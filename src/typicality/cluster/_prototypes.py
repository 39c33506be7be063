"""The shell of every estimator with prototypes: run the algorithm, label, publish, warn."""

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from typicality._checks import check_sample_weight
from typicality._typing import Doubles, Floats, Index, Labels, Places
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._diagnostics import (
    require_finite,
    tell_once,
    warn_about_convergence,
    warn_about_features,
)
from typicality.cluster._estimator import (
    KERNEL_CONSTRAINTS,
    SAMPLE_CONSTRAINTS,
    Estimator,
    by_blocks,
    like_rows,
)
from typicality.cluster._inputs import OpenSpace, check_compressible, has_input_space, open_space
from typicality.cluster._learned import how_learned, learned_rows, map_rows, read_at_once
from typicality.membership.base import MembershipRule
from typicality.membership.possibilistic import Possibilistic1996
from typicality.rows import Rows
from typicality.solve.picard import PicardResult
from typicality.solve.step import ClusterState
from typicality.spaces import Space
from typicality.spaces.base import Outcome
from typicality.spaces.ellipsoids import Ellipsoidal, Ellipsoids
from typicality.spaces.euclidean import Centroids, Euclidean
from typicality.spaces.gram import ExpandedPrototypes

Found = tuple[OpenSpace, PicardResult[State]]


class PrototypeLabels(NamedTuple):
    """Which prototype stands for which label.

    Parameters
    ----------
    order : array of shape (c,)
        An order of the prototypes: first one for each label that rows carry, then the rest.
    prototype_labels : array of shape (c,)
        The label of each prototype in that order; coincident prototypes share theirs.
    n_clusters : int
        The number of labels that rows carry, rows of weight zero not counted.
    n_coincident : int
        The number of prototypes that share the label of an earlier one.
    """

    order: Places
    prototype_labels: Labels
    n_clusters: int
    n_coincident: int


class Clustering(NamedTuple):
    """The result of a fit, as warnings look at it.

    Parameters
    ----------
    space : Space
        The space of the rows.
    state : ClusterState
        Prototypes and rule, in the order of the labels.
    labels : PrototypeLabels
        The label of each prototype.
    outcome : Outcome
        What prototypes and rule make of the rows.
    """

    space: Space[Any]
    state: ClusterState[Any]
    labels: PrototypeLabels
    outcome: Outcome


class PrototypeClusterer(ClusterMixin, Estimator):
    """Base of the estimators that describe clusters by prototypes; not for direct use."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **SAMPLE_CONSTRAINTS,
        "store_memberships": ["boolean"],
    }

    _prototypes: Annotated[Any, Centroids | ExpandedPrototypes]
    _rule: Annotated[Any, MembershipRule]
    _mass: Annotated[Doubles, "c"]  # sums of weights, for later batches
    prototype_labels_: Annotated[Labels, "c", Index("c", lowest=-1)]
    n_clusters_: int
    cluster_centers_: Annotated[Floats, "c d"]
    covariances_: Annotated[Floats, "c d d"]
    labels_: Annotated[Labels, "N"]
    memberships_: Annotated[Floats, "N c"]
    objective_: float
    _fewest_rows = 2
    _column_name: ClassVar[str] = "membership"
    _rule_attribute: ClassVar[str]  # the parameter of the rule that is published
    _shares_labels: ClassVar[bool] = True  # prototypes that coincide have one label
    _cap_advice: ClassVar[str] = "Increase max_iter, or tol if that is precise enough."
    _number_was_set: bool = False

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn; `score` warns if `n_clusters` is among them.

        Parameters
        ----------
        **params : dict
            The parameters.

        Returns
        -------
        self
        """
        self._number_was_set = self._number_was_set or "n_clusters" in params
        super().set_params(**params)
        return self

    @abstractmethod
    def _find(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> Found:
        """Check the parameters, open the space, and iterate: the space, and the run to keep."""

    @abstractmethod
    def _warn(self, found: Clustering) -> None:
        """Warn of what is suspicious in the result; all attributes are set."""

    @like_rows
    @by_blocks
    def predict(self, X: ArrayLike) -> Labels:
        """The cluster of each row: the one with its largest membership.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows; `fit(X).predict(X)` equals `fit_predict(X)`. With
            ``kernel="precomputed"``, the kernel values of these rows with the training rows;
            new rows need a kernel with a constant diagonal.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        rows = self._read(X)
        return self._labels_of(self._prototypes.labels(self._rule, rows))

    @like_rows
    @by_blocks
    def predict_memberships(self, X: ArrayLike) -> Floats:
        """The membership of each row in each cluster.

        Implements :cite:`miyamoto2003`, eq. (10) and (16); :cite:`filippone2010`, eq. (28).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            One column per prototype.
        """
        rows = self._read(X)
        return self._prototypes.memberships(self._rule, rows)

    @like_rows
    def score(
        self,
        X: ArrayLike,
        y: None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The negative objective of the rows; larger is better.

        Use it only to compare models with equal parameters: scores for different parameters are not
        comparable, and the score grows with every additional cluster.
        :class:`sklearn.model_selection.GridSearchCV` over `n_clusters` without `scoring` uses this
        score, and so prefers the largest number: there is a warning if `n_clusters` was set by
        `set_params`. Use :func:`typicality.stability.choose_by_stability` instead, or pass a
        `scoring`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k has the effect of k copies of the row.

        Returns
        -------
        score : float
        """
        rows = self._read(X)
        weight = check_sample_weight(sample_weight, rows)
        if self._number_was_set:
            tell_once("search over clusters")
        return -float(self._prototypes.objective(self._rule, rows, weight))

    def compress(self, rtol: float = 1e-4) -> Self:
        """A small copy of the model for prediction, with few training rows or none.

        For Gaussian kernels and up to three features, the training rows are replaced by Fourier
        coefficients, and otherwise by a smaller set of rows. This is the sparsification that
        :cite:`filippone2010` proposes in its conclusions.

        Parameters
        ----------
        rtol : float, default=1e-4
            The largest error of weighted means of kernel values, at any point. The error of squared
            distances is at most twice as large.

        Returns
        -------
        model : estimator of the same kind
            It predicts as this model does, up to the error `rtol`. It has no attributes with a
            value per training row (`labels_`, `memberships_`).
        """
        check_is_fitted(self)
        check_compressible(self.kernel_, rtol, self._reader)
        prototypes = self._prototypes.compress(rtol)
        return self._without("labels_", "memberships_", _prototypes=prototypes)

    def _soft_features(self, X: ArrayLike) -> Floats:
        return self.predict_memberships(X)

    def _soft_names(self) -> list[str]:
        return [f"{self._column_name}_{k}" for k in range(self._prototypes.n_clusters)]

    # ---- a fit -----------------------------------------------------------------------------------

    def _open(self, rows: Floats, weight: Floats | None, **scaling: Any) -> OpenSpace:
        opened = open_space(self.kernel, self.sigma, rows, weight, estimator=self, **scaling)
        if getattr(self, "covariance_type", "spherical") == "spherical":
            return opened
        if self._takes_missing:
            raise ValueError(
                "covariance_type='full' needs all values of a row. Use "
                "covariance_type='spherical', or fill in the missing values."
            )
        if type(opened.space) is not Euclidean:
            raise ValueError(
                f"covariance_type='full' needs coordinates, and kernel={self.kernel!r} has none. "
                "Use kernel='linear', or covariance_type='spherical'."
            )
        shrinkage = self.shrinkage
        return replace(opened, space=Ellipsoidal(opened.space.rows, shrinkage=shrinkage))

    def _begin(self, callbacks: FitCallbacks, opened: OpenSpace, *, n_runs: int | None) -> None:
        """Warn of suspicious features, and begin the runs."""
        warn_about_features(opened, self)
        callbacks.begin(n_runs, partial(self._for_prediction, opened=opened))

    def _learn(self, rows: Any, weight: Floats | None, callbacks: FitCallbacks) -> None:
        given = rows
        if not has_input_space(self.kernel):
            rows, weight = read_at_once(rows, weight)
        learned = learned_rows(self, rows, weight)
        is_all = learned.is_all and given is rows
        opened, result = self._find(learned.rows, learned.weight, callbacks)
        require_finite(result)
        space, last = opened.space, self._final(result.state)
        dense = is_all and self.store_memberships
        labels, outcome = self._labelled(space, last, memberships=dense)
        state = ClusterState(last.prototypes.take(labels.order), last.rule.take(labels.order))
        if (np.diff(labels.order) < 0).any():  # ties go to the first, whichever that is now
            outcome = space.outcome(state.rule, state.prototypes, memberships=dense)
        self.__dict__.update(self._for_prediction(state, opened))
        self.__dict__.update(self._record(opened, result))
        self.objective_, self._mass = outcome.objective, outcome.mass
        self.prototype_labels_ = labels.prototype_labels
        self.n_clusters_ = labels.n_clusters
        if is_all and outcome.labels is not None:
            self.labels_ = self._labels_of(outcome.labels)
            if outcome.memberships is not None:
                self.memberships_ = outcome.memberships
        else:
            self._judge(given)
            self.sums_ = how_learned(learned, len(given), self.sums_)
        warn_about_convergence(
            result, tol=self.tol, max_iter=self.max_iter, advice=self._cap_advice
        )
        self._warn(Clustering(space, state, labels, outcome))

    def _judge(self, rows: Any) -> None:
        """Set `labels_` and `memberships_` of rows that a fit kept none of."""
        prototypes, rule, read = self._prototypes, self._rule, self._reader.read
        self.labels_ = map_rows(rows, lambda X: self._labels_of(prototypes.labels(rule, read(X))))
        if self.store_memberships and (not isinstance(rows, Rows) or rows.lazy):
            self.memberships_ = map_rows(rows, lambda X: prototypes.memberships(rule, read(X)))

    def _labelled(
        self, space: Space[Any], state: State, *, memberships: bool
    ) -> tuple[PrototypeLabels, Outcome]:
        """The label of each prototype, and what the prototypes make of the rows."""
        prototypes, rule = state.prototypes, state.rule
        n_clusters = prototypes.n_clusters
        groups = np.arange(n_clusters)  # for each prototype the first one it coincides with
        if self._shares_labels:
            near = rule.coincide(prototypes.mutual_sqdist(), space.typical.total_variance)
            for k, both in enumerate(near & near.T):
                groups[k] = groups[np.flatnonzero(both)[0]]
        outcome = space.outcome(rule, prototypes, memberships=memberships)
        # Groups that some row prefers come first, then those of rows of weight zero alone.
        populated = np.unique(groups[np.flatnonzero(outcome.tally.counted[:-1])])
        aside = np.setdiff1d(groups[np.flatnonzero(outcome.tally.rows[:-1])], populated)
        representatives = np.unique(groups)
        empty = np.setdiff1d(representatives, [*populated, *aside])
        copies = np.setdiff1d(np.arange(n_clusters), representatives)
        order = np.concatenate([populated, aside, empty, copies]).astype(np.intp)
        label_of = np.empty(n_clusters, np.int32)
        label_of[order[: len(representatives)]] = np.arange(len(representatives))
        labels = PrototypeLabels(order, label_of[groups[order]], len(populated), len(copies))
        return labels, outcome

    def _final(self, state: State) -> State:
        """The state of the result: ``assign="all"`` drops the sparsity once clusters are found."""
        if getattr(self, "assign", "core") == "core":
            return state
        rule: Any = state.rule
        return ClusterState(state.prototypes, Possibilistic1996(rule.eta))

    def _for_prediction(self, state: State, opened: OpenSpace) -> dict[str, Any]:
        """The attributes that prediction needs, for a state of the iteration."""
        prototypes, rule = state.prototypes, self._final(state).rule
        attributes = {
            "_prototypes": prototypes.for_prediction(),
            "_rule": rule,
            "_reader": opened.reader,
            "prototype_labels_": np.arange(prototypes.n_clusters, dtype=np.int32),
            "n_clusters_": prototypes.n_clusters,
        }
        if hasattr(rule, self._rule_attribute):  # other rules come first in some fits
            attributes[f"{self._rule_attribute}_"] = copy(getattr(rule, self._rule_attribute))
        if isinstance(prototypes, Centroids):
            reader: Any = opened.reader
            attributes["cluster_centers_"] = reader.restore(prototypes.centers)
        if isinstance(prototypes, Ellipsoids):
            attributes["covariances_"] = prototypes.covariances.astype(opened.space.dtype)
        return attributes

    def _labels_and_memberships(self, X: ArrayLike) -> tuple[Labels, Floats]:
        """`predict` and `predict_memberships` from one pass, the same to the last bit."""
        preferred, memberships = self._prototypes.judge(self._rule, self._read(X))
        return self._labels_of(preferred), memberships

    def _labels_of(self, preferred: Labels) -> Labels:
        """The labels of rows by the prototypes they prefer; -1 where they prefer none."""
        return np.append(self.prototype_labels_, np.int32(-1))[preferred]
