"""Latitude and longitude as points on a sphere."""

from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from typicality._compat import Interval, fit_context
from typicality._typing import Floats, Places


class SphereEmbedding(TransformerMixin, BaseEstimator):
    r"""Replace latitude and longitude, in degrees, by a point on a sphere.

    .. math:: x = r \cos\phi \cos\lambda, \quad y = r \cos\phi \sin\lambda, \quad z = r \sin\phi

    for a latitude :math:`\phi` and a longitude :math:`\lambda`. The Euclidean distance of two
    points is the length of the straight line between two places. It is nearly the distance on the
    ground for places up to 1,000 km apart (0.1 % less), also near the poles and across the date
    line. Other columns follow x, y and z, unchanged.

    Parameters
    ----------
    columns : pair of str or int, default=(0, 1)
        The columns with the latitude and the longitude, by name or by number.
    radius : float, default=6371.0
        The radius of the sphere. The default is that of the Earth in kilometres.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, if X has names.

    See Also
    --------
    sklearn.preprocessing.Normalizer : Rows as directions, for cosine distances.

    Examples
    --------
    >>> from typicality.preprocessing import SphereEmbedding
    >>> SphereEmbedding(radius=1.0).fit_transform([[0, 0], [0, 90], [90, 0]]).round(6)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    n_features_in_: Annotated[int, "_columns"]
    feature_names_in_: Annotated[NDArray[np.object_], "_columns"]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [tuple, list],
        "radius": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, columns: tuple[Any, Any] = (0, 1), *, radius: float = 6371.0) -> None:
        self.columns = columns
        self.radius = radius

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Check the columns.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : None
            Not used.
        """
        self._points(validate_data(self, X, dtype=np.float64))
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """The rows with x, y and z in place of latitude and longitude.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        embedded : array of shape (n, d + 1)
        """
        check_is_fitted(self, "n_features_in_")
        return self._points(validate_data(self, X, dtype=np.float64, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns: x, y, z, and those of the other columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of X; by default those of `fit`.
        """
        check_is_fitted(self, "n_features_in_")
        numbered = [f"x{j}" for j in range(self.n_features_in_)]
        names = getattr(self, "feature_names_in_", numbered)
        names = np.asarray(names if input_features is None else input_features, dtype=object)
        return np.concatenate([np.array(["x", "y", "z"], object), np.delete(names, self._places())])

    def _places(self) -> Places:
        names = list(getattr(self, "feature_names_in_", ()))
        known = [*names, *range(self.n_features_in_)]
        if missing := [column for column in self.columns if column not in known]:
            raise ValueError(
                f"X has no column {missing[0]!r} for columns={self.columns!r}: it has "
                f"{self.n_features_in_} feature(s)."
            )
        return np.array([names.index(c) if isinstance(c, str) else c for c in self.columns])

    def _points(self, rows: Floats) -> Floats:
        places = self._places()
        degrees = rows[:, places]
        row = int(np.abs(degrees[:, 0]).argmax())
        if abs(degrees[row, 0]) > 90.0:
            raise ValueError(
                f"The latitude in row {row} of X is {degrees[row, 0]:g}, outside -90 to 90 "
                "degrees. Set columns to the columns of the latitude and the longitude, in degrees."
            )
        latitude, longitude = np.radians(degrees).T
        across = self.radius * np.cos(latitude)
        x, y, z = across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)
        return np.column_stack([x, y, self.radius * z, np.delete(rows, places, axis=1)])
