"""Typicalities and memberships as features: `transform` of the estimators of a density."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from typicality._compat import check_feature_names_in
from typicality._typing import Floats
from typicality.cluster._estimator import like_rows


class SoftFeatures(TransformerMixin):
    """Makes a transformer of an estimator; a class defines `_soft_features` and `_soft_names`."""

    @like_rows
    def transform(self: Any, X: ArrayLike) -> Floats:
        """The typicality or the memberships of the rows, as features for a pipeline.

        OneClusterPCM returns one column, the typicalities. AlphaCutClustering returns the
        memberships, one column per cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        features : array of shape (n_samples, n_columns)
        """
        features: Floats = self._soft_features(X)
        return features

    def get_feature_names_out(self: Any, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: typicality, or membership_0, membership_1, ...

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the input features. Only their number is checked.

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        check_feature_names_in(self, input_features, generate_names=False)
        return np.asarray(self._soft_names(), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
