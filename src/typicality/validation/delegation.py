"""What a search hands on to the estimator it has chosen."""

from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

__all__ = ["ChosenEstimator"]


def _chosen_has(name: str) -> Any:
    """Whether the chosen estimator, or before the fit the one given, has a method."""

    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(f"{name} needs refit=True: nothing was fitted on all rows.")
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class ChosenEstimator:
    """The methods of `best_estimator_`, those that it has."""

    best_estimator_: Any
    fit: Any

    @available_if(_chosen_has("predict"))
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """What the chosen estimator says of rows: their clusters, or 1, and -1 for outliers.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of int of shape (n_samples,)
        """
        return self._ask("predict", X)

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
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    @available_if(_chosen_has("predict_memberships"))
    def predict_memberships(self, X: ArrayLike) -> NDArray[Any]:
        """The memberships of rows in the clusters of the chosen estimator.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_clusters)
        """
        return self._ask("predict_memberships", X)

    @available_if(_chosen_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> NDArray[Any]:
        """The probabilities of the components, for rows, by the chosen estimator.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self._ask("predict_proba", X)

    @available_if(_chosen_has("transform"))
    def transform(self, X: ArrayLike) -> Any:
        """Rows as the chosen estimator transforms them.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        return self._ask("transform", X)

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

    @available_if(_chosen_has("score_samples"))
    def score_samples(self, X: ArrayLike) -> NDArray[Any]:
        """The scores of rows by the chosen estimator, larger for more normal ones.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._ask("score_samples", X)

    @available_if(_chosen_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """The decision of the chosen estimator on rows, negative for outliers.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._ask("decision_function", X)

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

    def _ask(self, method: str, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        answer: NDArray[Any] = getattr(self.best_estimator_, method)(X)
        return answer

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
