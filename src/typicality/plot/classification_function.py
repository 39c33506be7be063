"""The membership of one cluster as a surface over the plane."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality.plot._axes import axes_for, draw_rows, require_matplotlib
from typicality.plot._plane import plane_through

_FLOOR = -1.0  # where the rows lie below the surface
_VIEW = {"elev": 25, "azim": -60}


class ClassificationFunctionDisplay:
    """The membership of one cluster as a surface over two features, with the rows below it.

    With more than two features, the surface is a slice: the other features have their median. Rows
    are drawn at their two features, whatever their other features are.

    Create it with `from_estimator`. The drawn artists are attributes. Such figures are in
    :cite:`miyamoto2003`, with the classification functions of eq. (10) and (16).

    Parameters
    ----------
    xx0, xx1 : arrays of shape (r, r)
        The two features at the points of a grid.
    membership : array of shape (r, r)
        The membership at these points.
    points : array of shape (n, 2)
        The rows.
    labels : array of shape (n,), int
        The clusters of the rows; -1 for unassigned rows.
    xlabel, ylabel : str
        The names of the features.
    name : str, default="membership"
        The name of the values.

    Attributes
    ----------
    ax_ : matplotlib Axes3D
        The axes.
    figure_ : matplotlib Figure
        The figure.
    surface_ : matplotlib Poly3DCollection
        The surface.
    rows_ : list of matplotlib Path3DCollection
        The rows, one artist per label, in increasing order of labels.

    Examples
    --------
    >>> from typicality import FuzzyCMeans
    >>> from typicality.datasets import make_ball_and_ring
    >>> from typicality.kernels import Gaussian
    >>> from typicality.plot import ClassificationFunctionDisplay
    >>> X, _ = make_ball_and_ring(random_state=0)
    >>> model = FuzzyCMeans(2, kernel=Gaussian.from_gamma(10.0), random_state=0).fit(X)
    >>> display = ClassificationFunctionDisplay.from_estimator(model, X)  # doctest: +SKIP
    """

    def __init__(
        self,
        xx0: ArrayLike,
        xx1: ArrayLike,
        *,
        membership: ArrayLike,
        points: ArrayLike,
        labels: ArrayLike,
        xlabel: str,
        ylabel: str,
        name: str = "membership",
    ) -> None:
        self.xx0, self.xx1 = np.asarray(xx0), np.asarray(xx1)
        self.membership = np.asarray(membership)
        self.points, self.labels = np.asarray(points), np.asarray(labels)
        self.xlabel, self.ylabel, self.name = xlabel, ylabel, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        cluster: int = 0,
        features: tuple[int | str, int | str] = (0, 1),
        grid_resolution: int = 60,
        ax: Any = None,
    ) -> Self:
        """Create the display from a fitted estimator.

        Costs a prediction for the grid (`grid_resolution` squared rows) and one for X.

        Parameters
        ----------
        estimator : estimator of typicality
            A fitted estimator, or a fitted pipeline that ends in one. It must be fitted on rows of
            features. For :class:`~typicality.OneClusterPCM` and
            :class:`~typicality.AlphaCutClustering`, the surface is the typicality.
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to show, as for `predict`.
        cluster : int, default=0
            The cluster whose membership is drawn.
        features : pair of int or str, default=(0, 1)
            The two features, by number or, if X has names, by name.
        grid_resolution : int, default=60
            The number of grid points in each direction.
        ax : matplotlib Axes3D, optional
            The axes to draw on, created with ``projection="3d"``. By default, a new figure.

        Returns
        -------
        ClassificationFunctionDisplay
        """
        require_matplotlib(cls)
        _check_three_dimensions(ax)
        options = {"features": features, "grid_resolution": grid_resolution, "cluster": cluster}
        parts, *_ = plane_through(estimator, X, **options)
        return cls(**parts).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the surface and the rows.

        Parameters
        ----------
        ax : matplotlib Axes3D, optional
            The axes to draw on, created with ``projection="3d"``. By default, a new figure.

        Returns
        -------
        self
        """
        _check_three_dimensions(ax)
        ax = axes_for(self, ax, size=(6.4, 5.4), projection="3d")
        self.rows_ = draw_rows(ax, self.points, self.labels, zs=_FLOOR, depthshade=False)
        count = self.xx0.shape[0]
        self.surface_ = ax.plot_surface(
            self.xx0,
            self.xx1,
            self.membership,
            cmap="cividis",
            rcount=count,
            ccount=count,
            antialiased=False,  # no seams between cells
        )
        ax.set(zlim=(_FLOOR, 1.0), zticks=[0.0, 0.5, 1.0])
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, zlabel=self.name)
        ax.view_init(**_VIEW)
        return self


def _check_three_dimensions(ax: Any) -> None:
    if ax is not None and not hasattr(ax, "plot_surface"):
        raise ValueError(
            "ax has two dimensions, and a surface needs three: make it with "
            'figure.add_subplot(projection="3d"), or leave ax out.'
        )
