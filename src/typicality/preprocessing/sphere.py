"""Latitude and longitude as points on a sphere."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from typicality._typing import Doubles, Floats
from typicality.exceptions import ColumnError
from typicality.preprocessing.scaling import ColumnScaler
from typicality.rows import Rows

_EARTH = 6371.0  # kilometres


def _directions(degrees: Floats) -> Doubles:
    """The unit vectors of latitudes and longitudes, shape (n, 3)."""
    latitude, longitude = np.radians(np.asarray(degrees, dtype=np.float64)).T
    across = np.cos(latitude)
    return np.column_stack(
        [across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)]
    )


class PlaceScaler(ColumnScaler):
    r"""Scale columns of which two are latitude and longitude, which become a point on a sphere.

    .. math:: x = r \cos\phi \cos\lambda, \quad y = r \cos\phi \sin\lambda, \quad z = r \sin\phi

    for a latitude :math:`\phi`, a longitude :math:`\lambda` and :math:`r = 6371` kilometres. The
    Euclidean distance of two points is the length of the straight line between two places. It is
    nearly the distance on the ground for places up to 1,000 km apart (0.1 % less), also near the
    poles and across the date line.

    The sphere is turned so that the mean direction of the training rows points up. So the column of
    the latitude becomes the distance to the north, that of the longitude the distance to the east,
    and the height over the plane of the equator of these axes is a further column, the last one.
    The three columns are divided by one number, so that they count as much as two columns, and are
    not replaced by logarithms. Other columns are scaled as by :class:`ColumnScaler`. A place with a
    missing value is replaced by the medians of the three.

    Parameters
    ----------
    columns : pair of int, default=(0, 1)
        The columns with the latitude and the longitude in degrees, by number.
    scale, missing, log
        As in :class:`ColumnScaler`. With ``scale="none"``, places are in kilometres.

    Attributes
    ----------
    axes_ : array of shape (3, 3)
        The directions to the north, to the east and up.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    sklearn.preprocessing.Normalizer : Rows as directions, for cosine distances.

    Examples
    --------
    >>> from typicality.preprocessing import PlaceScaler
    >>> PlaceScaler(scale="none").fit_transform([[0, 179], [0, -179]]).round(1)
    array([[   0. , -111.2, 6370. ],
           [   0. ,  111.2, 6370. ]])
    """

    axes_: Annotated[Doubles, "_axes _axes"]
    n_features_in_: Annotated[int, "_columns"]
    feature_names_in_: Annotated[NDArray[np.object_], "_columns"]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [tuple, list],
        **ColumnScaler._parameter_constraints,
    }

    def __init__(
        self,
        columns: Sequence[int] = (0, 1),
        *,
        scale: str = "robust",
        missing: str = "error",
        log: str = "none",
    ) -> None:
        super().__init__(scale=scale, missing=missing, log=log)
        self.columns = columns

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns, and "height".

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of X; by default those of `fit`.
        """
        return np.append(super().get_feature_names_out(input_features), "height")

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Convert scaled rows back to the original columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns + 1)
            Rows that `transform` returned.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        back = super().inverse_transform(X)
        places = [*self.columns, -1]
        x, y, z = (back[:, places] @ self.axes_).T
        back[:, self.columns[0]] = np.degrees(np.arctan2(z, np.hypot(x, y)))
        back[:, self.columns[1]] = np.degrees(np.arctan2(y, x))
        return back[:, :-1]

    def _rows(self, X: Any, *, training: bool) -> Rows:
        rows = super()._rows(X, training=training)
        pair = list(self.columns)
        if training:
            self.axes_ = _axes(
                rows.fold(lambda block: np.nansum(_directions(block.X[:, pair]), axis=0))
            )
        moved = rows.moved(self._from_above)
        moved.n_features = self.n_features_in_ + 1
        return moved

    def _from_above(self, rows: Floats) -> Floats:
        pair = list(self.columns)
        wrong = np.abs(rows[:, pair[0]]) > 90.0
        if wrong.any():
            row = int(wrong.argmax())
            raise ColumnError(
                f"The latitude in row {row} of X is {rows[row, pair[0]]:g}, outside -90 to 90 "
                "degrees. Correct it, or choose other columns for the places.",
                pair[0],
                row=row,
                what="is no latitude between -90 and 90 degrees. Correct it, or leave the cell "
                "empty.",
            )
        points = _EARTH * _directions(rows[:, pair]) @ self.axes_.T
        found = np.column_stack([rows, points[:, 2]])
        found[:, pair] = points[:, :2]
        return np.asarray(found, dtype=rows.dtype)

    def _moments(self, rows: Rows, log: str) -> Doubles:
        found, places = super()._moments(rows, log), [*self.columns, self.n_features_in_]
        if log != "none":
            found[:, places] = super()._moments(rows, "none")[:, places]
        if self.scale != "none":
            found[3, places] = np.sqrt(np.sum(found[3, places] ** 2) / 2.0)
        return found

    def _label(self, j: int) -> str:
        return super()._label(min(j, self.n_features_in_ - 1))


def _axes(total: Doubles) -> Doubles:
    """The directions to the north, to the east and up at the mean of some directions."""
    size = np.linalg.norm(total)
    up = total / size if size > 0 else np.array([1.0, 0.0, 0.0])
    east = np.array([-up[1], up[0], 0.0])
    flat = np.linalg.norm(east)
    east = east / flat if flat > 0 else np.array([0.0, 1.0, 0.0])
    return np.stack([np.cross(up, east), east, up])
