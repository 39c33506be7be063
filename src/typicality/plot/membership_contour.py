"""Contours of memberships over the plane, and the clusters they make."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality.plot._axes import axes_for, draw_rows, require_matplotlib
from typicality.plot._colours import CUT, cluster_colour, shades
from typicality.plot._models import Boundary, check_cluster, largest, soft_model
from typicality.plot._plane import Plane

_TINT = 0.25  # opacity of the region of a cluster
_N_LEVELS = 12  # about


class MembershipContourDisplay:
    """Contours of memberships over the plane, the clusters, and the rows.

    The darker, the more typical. The region of each cluster has a line around it: where the
    typicality is alpha (:class:`~typicality.AlphaCutClustering` at a given level or width; where
    rows are dense enough otherwise), where the score is `offset_`
    (:class:`~typicality.OneClusterPCM`), or where another cluster is preferred. Rows have the
    colour of their cluster; those that belong nowhere are crosses.

    With more than two features the picture is a slice: the others are held at their median, for the
    contours; rows are shown wherever they are along them. In many dimensions few rows lie near
    such a slice.

    Make it by `from_estimator`; the parts of the picture are attributes afterwards. As the figures
    of :cite:`filippone2007` and :cite:`filippone2010`.

    Parameters
    ----------
    xx0, xx1 : arrays of shape (r, r)
        The two features at the points of a grid.
    membership : array of shape (r, r)
        The membership there.
    points : array of shape (n, 2)
        The rows.
    labels : array of shape (n,), int
        Their clusters; -1 for rows that belong nowhere.
    boundaries : sequence of (label, surface, level), default=()
        For each region a surface, of shape (r, r), that is above the level in it.
    xlabel, ylabel : str
        The names of the features.
    name : str, default="membership"
        What is drawn.
    title : str, default=""
        The title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        Their figure.
    surface_ : matplotlib QuadContourSet
        The filled contours.
    regions_, lines_ : lists of matplotlib QuadContourSet
        The regions of the clusters, and the lines around them; only those that cross the plane.
    rows_ : list of matplotlib PathCollection
        The rows, one for each label, from the smallest.
    colorbar_ : matplotlib Colorbar or None
        The scale.

    Examples
    --------
    >>> from typicality import AlphaCutClustering
    >>> from typicality.datasets import make_discs_banana_ring
    >>> from typicality.plot import MembershipContourDisplay
    >>> X, _ = make_discs_banana_ring(random_state=0)
    >>> model = AlphaCutClustering().fit(X)
    >>> display = MembershipContourDisplay.from_estimator(model, X)  # doctest: +SKIP
    """

    def __init__(
        self,
        xx0: ArrayLike,
        xx1: ArrayLike,
        *,
        membership: ArrayLike,
        points: ArrayLike,
        labels: ArrayLike,
        boundaries: Sequence[Any] = (),
        xlabel: str,
        ylabel: str,
        name: str = "membership",
        title: str = "",
    ) -> None:
        self.xx0, self.xx1 = np.asarray(xx0), np.asarray(xx1)
        self.membership = np.asarray(membership)
        self.points, self.labels = np.asarray(points), np.asarray(labels)
        self.boundaries = [Boundary(*boundary) for boundary in boundaries]
        self.xlabel, self.ylabel, self.name, self.title = xlabel, ylabel, name, title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        cluster: int | None = None,
        grid_resolution: int = 150,
        colorbar: bool | None = None,
        ax: Any = None,
    ) -> Self:
        """The picture of a fitted estimator.

        Costs a prediction of `grid_resolution` squared rows, and one of X.

        Parameters
        ----------
        estimator : estimator of typicality
            Fitted on rows of features; or a pipeline that ends in one.
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to show, as for `predict`: those of the fit, or some of them, or others.
        features : pair of int or str, default=(0, 1)
            The features of the plane, by number or, where X has them, by name.
        cluster : int, optional
            The cluster whose membership is drawn; the largest membership otherwise.
        grid_resolution : int, default=150
            The number of points in each direction.
        colorbar : bool, optional
            Whether to draw the scale, in room taken from the axes; by default on a new figure only.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        MembershipContourDisplay
        """
        require_matplotlib(cls)
        model = soft_model(estimator)
        plane = Plane.through(X, features, grid_resolution, estimator=model.estimator)
        memberships = model.memberships(plane.grid)
        boundaries = model.boundaries(plane.grid, memberships, plane.shape)
        drawn, name = largest(memberships), model.largest_name
        if cluster is not None:
            which = check_cluster(cluster, memberships.shape[1])
            drawn, name = memberships[:, which], f"{model.word} of cluster {which}"
            boundaries = [line for line in boundaries if line.label == which]
        labels = model.labels(X)
        display = cls(
            plane.xx0,
            plane.xx1,
            membership=drawn.reshape(plane.shape),
            points=plane.points,
            labels=labels,
            boundaries=boundaries,
            xlabel=plane.names[0],
            ylabel=plane.names[1],
            name=name,
            title=model.summary(labels) + plane.slice_note,
        )
        return display.plot(colorbar=colorbar, ax=ax)

    def plot(self, *, colorbar: bool | None = None, ax: Any = None) -> Self:
        """Draw the contours, the clusters and the rows.

        Parameters
        ----------
        colorbar : bool, optional
            Whether to draw the scale, in room taken from the axes; by default on a new figure only.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        self
        """
        scale = ax is None if colorbar is None else colorbar
        ax = axes_for(self, ax, size=(6.4, 5.0))
        self.surface_ = ax.contourf(
            self.xx0, self.xx1, self.membership, levels=_N_LEVELS, cmap=shades()
        )
        self.regions_: list[Any] = []
        self.lines_: list[Any] = []
        for boundary in self.boundaries:
            self._draw_boundary(ax, boundary)
        self.rows_ = draw_rows(ax, self.points, self.labels)
        self.colorbar_ = (
            ax.figure.colorbar(self.surface_, ax=ax, label=self.name) if scale else None
        )
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, title=self.title)
        return self

    def _draw_boundary(self, ax: Any, boundary: Boundary) -> None:
        surface, level = boundary.surface, boundary.level
        if not surface.min() < level < surface.max():  # matplotlib warns of lines that are nowhere
            return
        colour = cluster_colour(boundary.label)
        above = [level, 2.0 * surface.max() - level]
        inside = ax.contourf(
            self.xx0, self.xx1, surface, levels=above, colors=[colour], alpha=_TINT
        )
        line = ax.contour(self.xx0, self.xx1, surface, levels=[level], colors=CUT, linewidths=1.0)
        self.regions_.append(inside)
        self.lines_.append(line)
