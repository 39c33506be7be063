"""A `predict` for clusterers that have none: a new row is labelled as the rows nearest to it."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from typicality._compat import HasMethods, Interval, fit_context

Labels = NDArray[np.int_]


class PredictByNearest(ClusterMixin, MetaEstimatorMixin, BaseEstimator):
    """Add `predict` to any clusterer, by the labels of the nearest training rows.

    Some clusterers, such as ``HDBSCAN``, ``DBSCAN`` or ``AgglomerativeClustering``, label only the
    training rows. With this wrapper, they can label new rows, as :func:`clustering_stability`
    requires.

    A new row gets the most frequent label of its `n_neighbors` nearest training rows, however far
    they are. In a tie, it gets the smaller label.

    -1 is a label like any other: a new row among unassigned rows gets -1, too.

    Distances use the features as they are given. If the clusterer needs scaled features, put the
    scaler before the wrapper: ``make_pipeline(StandardScaler(), PredictByNearest(HDBSCAN()))``.

    Parameters
    ----------
    clusterer : estimator
        A clusterer of rows, not of a matrix of distances, with `fit` and `labels_`. It is cloned.
    n_neighbors : int, default=1
        The number of training rows that vote. With 1, a training row keeps its own label, unless an
        equal row has another label.

    Attributes
    ----------
    clusterer_ : estimator
        The fitted clusterer.
    labels_ : array of int of shape (n_samples,)
        The labels of the training rows.
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
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "clusterer": [HasMethods("fit")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, clusterer: Any, *, n_neighbors: int = 1) -> None:
        self.clusterer = clusterer
        self.n_neighbors = n_neighbors

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
        if get_tags(self.clusterer).input_tags.pairwise:
            raise ValueError(
                f"{self.clusterer!r} takes a square matrix, but neighbours are searched among rows."
            )
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
        n_neighbors = min(self.n_neighbors, len(labels))
        self.neighbors_ = KNeighborsClassifier(n_neighbors).fit(rows, labels)
        self.labels_ = labels.copy()
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """The labels of new rows or training rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", reset=False)
        return np.asarray(self.neighbors_.predict(rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.clusterer).input_tags.sparse
        return tags
