"""What a search hands on to the estimator it has chosen."""

from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _chosen_has(name: str) -> Any:
    """Whether the chosen estimator, or before the fit the one given, has a method."""

    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(f"{name} needs refit=True: nothing was fitted on all rows.")
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


_DOCSTRING = """{words}

Parameters
----------
X : array-like or dataframe of shape (n_samples, n_features)
    The rows.

Returns
-------
array of shape ({shape})
"""


def _handed_on(name: str, words: str, *, shape: str = "n_samples,") -> Any:
    """A method of rows alone that the chosen estimator answers."""

    def ask(self: Any, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        answer: NDArray[Any] = getattr(self.best_estimator_, name)(X)
        return answer

    ask.__name__, ask.__qualname__ = name, f"ChosenEstimator.{name}"
    ask.__doc__ = _DOCSTRING.format(words=words, shape=shape)
    return available_if(_chosen_has(name))(ask)


class ChosenEstimator:
    """The methods of `best_estimator_`, those that it has."""

    best_estimator_: Any
    fit: Any

    predict = _handed_on(
        "predict",
        "What the chosen estimator says of rows: their clusters, or 1, and -1 for outliers.",
    )
    predict_memberships = _handed_on(
        "predict_memberships",
        "The memberships of rows in the clusters of the chosen estimator.",
        shape="n_samples, n_clusters",
    )
    predict_proba = _handed_on(
        "predict_proba",
        "The probabilities of the components, for rows, by the chosen estimator.",
        shape="n_samples, n_components",
    )
    transform = _handed_on(
        "transform",
        "Rows as the chosen estimator transforms them.",
        shape="n_samples, n_columns",
    )
    score_samples = _handed_on(
        "score_samples",
        "The scores of rows by the chosen estimator, larger for more normal ones.",
    )
    decision_function = _handed_on(
        "decision_function",
        "The decision of the chosen estimator on rows, negative for outliers.",
    )

    @available_if(_chosen_has("predict"))
    def fit_predict(self, X: ArrayLike, y: Any = None) -> NDArray[Any]:
        """Search, and say what the chosen estimator says of the same rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        array of int of shape (n_samples,)
        """
        self.fit(X)
        labels: NDArray[Any] = self.labels_ if hasattr(self, "labels_") else self.predict(X)
        return labels

    @available_if(_chosen_has("transform"))
    def fit_transform(self, X: ArrayLike, y: Any = None) -> Any:
        """Search, and transform the same rows as the chosen estimator does.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        return self.fit(X).transform(X)

    @available_if(_chosen_has("score"))
    def score(self, X: ArrayLike, y: Any = None) -> float:
        """The score of the chosen estimator on rows. It is not the stability.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.
        y : array-like, optional
            Handed on.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y))

    @property
    def labels_(self) -> NDArray[Any]:
        """The labels of the training rows."""
        labels: NDArray[Any] = self._fitted("labels_").labels_
        return labels

    @property
    def offset_(self) -> float:
        """The score below which a row is an outlier."""
        return float(self._fitted("offset_").offset_)

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return int(self._fitted("n_features_in_").n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features."""
        names: NDArray[Any] = self._fitted("feature_names_in_").feature_names_in_
        return names

    def _fitted(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"{type(self).__name__} has no {name}: call fit, with refit=True, first."
            )
        return self.best_estimator_
