"""A `predict` for clusterers that have none: a new row is labelled as the rows nearest to it."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from typicality._compat import HasMethods, Interval, StrOptions, fit_context

Labels = NDArray[np.int_]

_SIMILARITIES = ("precomputed", "precomputed_nearest_neighbors")


class PredictByNearest(ClusterMixin, MetaEstimatorMixin, BaseEstimator):
    """Add `predict` to any clusterer, by the labels of the nearest training rows.

    Some clusterers, such as ``HDBSCAN``, ``DBSCAN`` or ``AgglomerativeClustering``, label only the
    training rows. With this wrapper, they can label new rows, as :func:`clustering_stability`
    requires.

    A new row gets the most frequent label of its `n_neighbors` nearest training rows, however far
    they are. In a tie, it gets the smaller label.

    By default, -1 is a label like any other: a new row among unassigned rows gets -1, too. With
    ``assign="all"``, unassigned training rows are not used as neighbours, so every row gets a
    cluster.

    Distances use the features as they are given. If the clusterer needs scaled features, put the
    scaler before the wrapper: ``make_pipeline(StandardScaler(), PredictByNearest(HDBSCAN()))``.

    Parameters
    ----------
    clusterer : estimator
        A clusterer with `fit` and `labels_`. It is cloned.
    n_neighbors : int, default=1
        The number of training rows that vote. With 1, a training row keeps its own label, unless an
        equal row has another label.
    assign : {"core", "all"}, default="core"
        With "core", unassigned rows keep the label -1. With "all", they get the label of their
        neighbours.
    metric : str or callable, default="minkowski"
        The distance, as in :class:`sklearn.neighbors.KNeighborsClassifier`; by default Euclidean.
        Use "precomputed" if X is a square matrix of distances.
    n_jobs : int or None, default=None
        The number of parallel jobs of the neighbour search.

    Attributes
    ----------
    clusterer_ : estimator
        The fitted clusterer.
    labels_ : array of int of shape (n_samples,)
        The labels of the training rows; with ``assign="all"``, without -1.
    neighbors_ : KNeighborsClassifier
        The fitted classifier that predicts.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features, if X has names.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> from typicality.stability import PredictByNearest
    >>> model = PredictByNearest(DBSCAN(eps=1.5, min_samples=2))
    >>> model.fit([[0.0], [1.0], [7.0], [8.0], [20.0]]).labels_
    array([ 0,  0,  1,  1, -1])
    >>> model.predict([[2.0], [6.0], [30.0]])
    array([ 0,  1, -1])
    >>> model.set_params(assign="all").fit([[0.0], [1.0], [7.0], [8.0], [20.0]]).labels_
    array([0, 0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "clusterer": [HasMethods("fit")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "assign": [StrOptions({"core", "all"})],
        "metric": [str, callable],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        clusterer: Any,
        *,
        n_neighbors: int = 1,
        assign: str = "core",
        metric: Any = "minkowski",
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_neighbors = n_neighbors
        self.assign = assign
        self.metric = metric
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Fit the clusterer, and keep its rows and labels.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        self
        """
        _check_distances_or_rows(self.clusterer, self.metric)
        rows = validate_data(self, X, accept_sparse="csr")
        # As given: the clusterer may choose columns by name.
        self.clusterer_ = clone(self.clusterer).fit(X)
        labels = np.asarray(getattr(self.clusterer_, "labels_", None))
        if labels.shape != (rows.shape[0],):
            raise ValueError(
                f"{self.clusterer_!r} has no labels_ for the {rows.shape[0]} rows it was fitted "
                "on. Wrap a clusterer of rows; in a Pipeline wrap only the last step: "
                "make_pipeline(StandardScaler(), PredictByNearest(HDBSCAN()))."
            )
        nowhere = labels < 0
        fills = self.assign == "all" and bool(nowhere.any()) and not bool(nowhere.all())
        voters = np.flatnonzero(~nowhere) if fills else np.arange(len(labels))
        self._voters = voters
        self.neighbors_ = KNeighborsClassifier(
            min(self.n_neighbors, len(voters)), metric=self.metric, n_jobs=self.n_jobs
        ).fit(self._among_voters(rows)[voters], labels[voters])
        self.labels_ = labels.copy()
        if fills:
            self.labels_[nowhere] = self._vote(rows[nowhere])
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """The labels of new rows or training rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows. With ``metric="precomputed"``, their distances to the training rows.

        Returns
        -------
        labels : array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._vote(validate_data(self, X, accept_sparse="csr", reset=False))

    def _vote(self, rows: Any) -> Labels:
        return np.asarray(self.neighbors_.predict(self._among_voters(rows)))

    def _among_voters(self, rows: Any) -> Any:
        """Of a matrix of distances, those to the rows that vote."""
        return rows[:, self._voters] if self.metric == "precomputed" else rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.clusterer).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.pairwise = inner.pairwise or self.metric == "precomputed"
        return tags


def _check_distances_or_rows(clusterer: Any, metric: Any) -> None:
    """A matrix of distances is one for the clusterer and for its neighbours, or for neither."""
    parameters = clusterer.get_params(deep=False)
    is_pairwise = get_tags(clusterer).input_tags.pairwise
    # Not all clusterers of scikit-learn that take distances say so by their tags.
    takes_matrix = is_pairwise or parameters.get("metric") == "precomputed"
    if any(parameters.get(name) in _SIMILARITIES for name in ("affinity", "kernel")):
        raise ValueError(
            f"{clusterer!r} takes a matrix of similarities, which does not give the nearest "
            "neighbours of a new row. Pass rows, or a clusterer that takes distances."
        )
    if takes_matrix and metric != "precomputed":
        raise ValueError(
            f"{clusterer!r} takes a square matrix of distances, but neighbours are searched "
            f"among rows (metric={metric!r}). Pass metric='precomputed'."
        )
    if metric == "precomputed" and not takes_matrix:
        raise ValueError(
            "metric='precomputed' treats X as a square matrix of distances, but the "
            "clusterer treats it as rows. Set both to distances, or neither."
        )
