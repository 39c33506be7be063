"""The histogram of typicalities, its valley, and where it is cut."""

from math import ceil, isclose
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality._arguments import check_same_length
from typicality.plot._axes import (
    CUT,
    GUIDE,
    PLAIN,
    axes_for,
    check_values,
    cluster_colour,
    require_matplotlib,
    view_of,
    written,
)

_MOST_NAMES = 10  # clusters in the legend
_NAMES_OF_A_LINE = 3
_LINE_OF_NAMES = 0.08  # of the height of the axes
_NARROWEST = 1e-6  # of the values: bins need some room
_MOST_TICKS = 7  # typicalities may have many digits


class MembershipHistogramDisplay:
    """A histogram of the typicalities of rows, with the valley and the cut.

    For :class:`~typicality.AlphaCutClustering`, it shows typicalities, with `alpha_` and the valley
    of their density. For :class:`~typicality.OneClusterPCM`, it shows scores, with `offset_`. For
    estimators with prototypes, it shows the largest membership of each row.

    Create it with `from_estimator` or `from_predictions`. The drawn artists are attributes.

    Parameters
    ----------
    values : array of shape (n,)
        One number per row.
    labels : array of shape (n,), int, optional
        The clusters of the rows. If given, bars are stacked by cluster.
    levels : array-like of float, default=()
        The levels of the cut. If there are as many levels as clusters, each cluster has its own.
    valley : float, optional
        The position of the valley.
    name : str, default="typicality"
        The name of the values.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    counts_ : array of shape (n_labels, n_bins)
        The number of rows in each bin, by cluster in increasing order of labels. If bars are not
        stacked, the shape is (1, n_bins).
    bin_edges_ : array of shape (n_bins + 1,)
        The edges of the bins.
    bars_ : list of matplotlib BarContainer
        The bars, one container for each row of `counts_`.
    level_lines_ : list of matplotlib Line2D
        The levels of the cut.
    valley_line_ : matplotlib Line2D or None
        The valley.

    Examples
    --------
    >>> from typicality import AlphaCutClustering
    >>> from typicality.datasets import make_dense_regions
    >>> from typicality.plot import MembershipHistogramDisplay
    >>> X, _ = make_dense_regions(random_state=0)
    >>> model = AlphaCutClustering(sigma=0.5, alpha="valley").fit(X)
    >>> display = MembershipHistogramDisplay.from_estimator(model, X)  # doctest: +SKIP
    """

    def __init__(
        self,
        values: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        levels: ArrayLike = (),
        valley: float | None = None,
        name: str = "typicality",
    ) -> None:
        self.values = check_values(values, name="values")
        self.labels = None if labels is None else np.asarray(labels)
        self.levels = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        self.valley = valley
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        by_cluster: bool = False,
        bins: Any = 30,
        ax: Any = None,
    ) -> Self:
        """Create the display from a fitted estimator.

        Costs a prediction for X.

        Parameters
        ----------
        estimator : estimator of typicality
            A fitted estimator, or a fitted pipeline that ends in one.
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to count, as for `predict`. Sample weights are not used.
        by_cluster : bool, default=False
            Whether bars are stacked by cluster.
        bins : int, str or sequence of float, default=30
            The bins, as in :func:`numpy.histogram_bin_edges`.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        MembershipHistogramDisplay
        """
        require_matplotlib(cls)
        view = view_of(estimator, X)
        levels: Any = view.cut if view.levels is None else view.levels
        place, depth = (0.0, 0.0) if view.tree is None else view.tree.valley
        display = cls(
            view.strength,
            labels=view.labels if by_cluster else None,
            levels=() if view.kind == "prototypes" else levels,
            valley=place if depth > 0 else None,
            name=view.strength_name,
        )
        return display.plot(bins=bins, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        values: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        levels: ArrayLike = (),
        valley: float | None = None,
        name: str = "typicality",
        bins: Any = 30,
        ax: Any = None,
    ) -> Self:
        """Create the display from known values, for example `typicality_`.

        Parameters
        ----------
        values : array-like of shape (n,)
            One number per row.
        labels : array-like of shape (n,), int, optional
            The clusters of the rows. If given, bars are stacked by cluster.
        levels : float or array-like of float, default=()
            The levels of the cut. If there are as many levels as clusters, each cluster has its
            own.
        valley : float, optional
            The position of the valley, for example `tree_.valley.place`.
        name : str, default="typicality"
            The name of the values.
        bins : int, str or sequence of float, default=30
            The bins, as in :func:`numpy.histogram_bin_edges`.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        MembershipHistogramDisplay
        """
        display = cls(values, labels=labels, levels=levels, valley=valley, name=name)
        if display.labels is not None:
            check_same_length(len(display.values), "values", len(display.labels), "labels")
        return display.plot(bins=bins, ax=ax)

    def plot(self, *, bins: Any = 30, ax: Any = None) -> Self:
        """Draw the histogram.

        Parameters
        ----------
        bins : int, str or sequence of float, default=30
            The bins, as in :func:`numpy.histogram_bin_edges`.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax, size=(7.0, 3.8))
        low, high = float(self.values.min()), float(self.values.max())
        wide = _NARROWEST * max(abs(low), abs(high), 1.0)
        # Values that differ by rounding only need bins around them.
        room = (low - wide, high + wide) if 0 < high - low < wide else None
        self.bin_edges_ = np.histogram_bin_edges(self.values, bins=bins, range=room)
        self._draw_bars(ax)
        self._draw_lines(ax)
        ax.set(xlabel=self.name, ylabel="rows")
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.xaxis.get_major_locator().set_params(nbins=_MOST_TICKS)
        self._draw_legend(ax)
        return self

    def _draw_bars(self, ax: Any) -> None:
        """Bars, stacked by cluster where labels are given."""
        labels = np.zeros(len(self.values), np.int32) if self.labels is None else self.labels
        known = np.unique(labels).tolist()
        named = self.labels is not None and len(known) <= _MOST_NAMES
        plain = [self.labels is None or label < 0 for label in known]
        names = [f"cluster {label}" if label >= 0 else "unassigned" for label in known]
        tops, _, bars = ax.hist(
            [self.values[labels == label] for label in known],
            self.bin_edges_,
            stacked=True,
            label=names if named else None,
            color=[PLAIN if p else cluster_colour(k) for k, p in zip(known, plain, strict=True)],
        )
        self.counts_ = np.diff(np.atleast_2d(tops), axis=0, prepend=0).astype(np.intp)
        self.bars_ = [bars] if len(known) == 1 else list(bars)

    def _draw_lines(self, ax: Any) -> None:
        """The levels of the cut, and the valley."""
        one, span = len(self.levels) == 1, float(np.ptp(self.values))
        self.level_lines_ = [
            ax.axvline(level, color=CUT if one else cluster_colour(k), ls="--", lw=1.2)
            for k, level in enumerate(self.levels)
        ]
        at_valley = one and self.valley is not None and isclose(self.levels[0], self.valley)
        if self.level_lines_:
            where = ", at the valley" if at_valley else ""
            cut = f"cut at {written(self.levels[0], span)}{where}"
            self.level_lines_[0].set_label(cut if one else "cut, one for each cluster")
        self.valley_line_ = None
        if self.valley is not None and not at_valley:
            name = f"valley at {written(self.valley, span)}"
            self.valley_line_ = ax.axvline(self.valley, color=GUIDE, ls=":", lw=1.5, label=name)

    def _draw_legend(self, ax: Any) -> None:
        """A legend above the bars and the lines, bars first."""
        handles, _ = ax.get_legend_handles_labels()
        if not handles:
            return
        share = 1.0 - _LINE_OF_NAMES * ceil(len(handles) / _NAMES_OF_A_LINE)
        ax.set_ylim(top=ax.get_ylim()[1] / share)
        lines = [*self.level_lines_, *([self.valley_line_] if self.valley_line_ else [])]
        for line in lines:
            line.set_ydata([0.0, share])
        order = sorted(handles, key=lambda handle: handle in lines)
        names = {"ncols": _NAMES_OF_A_LINE, "fontsize": "small", "frameon": False}
        ax.legend(handles=order, loc="upper center", **names)
