"""Box plots of repeated scores, methods side by side for each setting."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality.plot._axes import axes_for, require_matplotlib
from typicality.plot._colours import cluster_colour
from typicality.plot._repeated import check_repeated_scores, known_columns, parts_of

_GROUP = 0.8  # of the distance between settings: the rest keeps them apart
_BOX = 0.85  # of the place of a method


class StabilityBoxesDisplay:
    """Boxes of the scores of several methods, side by side for each setting.

    Boxes go from one quartile to the other, with a line at the median; whiskers to the farthest
    score within one and a half times the length of the box, dots beyond. As in
    :cite:`filippone2010`, figures 3 to 5.

    Make it by `from_results`, or from scores of any kind and `plot`; the parts of the picture are
    attributes afterwards.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_repeats, n_settings)
        The scores of each method, in the order to be drawn; NaN is not drawn.
    settings : sequence
        What the columns of scores are called.
    setting_name : str, default="setting"
        What they are.
    score_name : str, default="stability"
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        Their figure.
    boxes_ : dict of str to dict of lists of matplotlib artists
        The boxes of each method, as :meth:`matplotlib.axes.Axes.boxplot` gives them.

    Examples
    --------
    >>> from typicality.plot import StabilityBoxesDisplay
    >>> scores = {"narrow": [[0.9, 0.8], [0.7, 0.9]], "wide": [[0.3, 0.6], [0.4, 0.5]]}
    >>> boxes = StabilityBoxesDisplay(scores, settings=[0.01, 0.05], setting_name="rate")
    >>> boxes = boxes.plot()  # doctest: +SKIP
    """

    def __init__(
        self,
        scores: Mapping[str, ArrayLike],
        *,
        settings: Sequence[Any],
        setting_name: str = "setting",
        score_name: str = "stability",
    ) -> None:
        self.settings = tuple(settings)
        self.scores = check_repeated_scores(scores, len(self.settings))
        self.setting_name = setting_name
        self.score_name = score_name

    @classmethod
    def from_results(cls, results: Mapping[str, Any], *, ax: Any = None) -> Self:
        """The picture of results of :mod:`typicality.validation`.

        Parameters
        ----------
        results : mapping of str to result
            The result of each method, in the order to be drawn; all for the same settings, e.g.
            the rates of :func:`typicality.validation.outlier_stability`. Of clusterings, the
            numbers of clusters may differ.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        StabilityBoxesDisplay
        """
        require_matplotlib(cls)
        return cls(**parts_of(results)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the boxes, settings from left to right.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        self
        """
        n_methods, n_settings = len(self.scores), len(self.settings)
        ax = axes_for(self, ax, size=(2.0 + 0.35 * n_settings * (n_methods + 0.5), 4.0))
        places = np.arange(n_settings)
        width = _GROUP / n_methods
        self.boxes_ = {
            name: _draw_boxes(
                ax,
                scores,
                places + (number - (n_methods - 1) / 2) * width,
                width=_BOX * width,
                colour=cluster_colour(number),
            )
            for number, (name, scores) in enumerate(self.scores.items())
        }
        ax.set_xticks(places, [str(setting) for setting in self.settings])
        ax.set_xlim(-0.5, n_settings - 0.5)
        ax.set_xlabel(self.setting_name)
        ax.set_ylabel(self.score_name)
        if n_methods > 1:
            handles = [boxes["boxes"][0] for boxes in self.boxes_.values()]
            ax.legend(handles, list(self.boxes_), frameon=False)
        return self


def _draw_boxes(ax: Any, scores: Any, places: Any, *, width: float, colour: str) -> Any:
    line = {"color": colour}
    return ax.boxplot(
        known_columns(scores),
        positions=places,
        widths=width,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": f"{colour}40", "edgecolor": colour},
        medianprops={"color": colour, "linewidth": 2.0},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": colour, "alpha": 0.5},
    )
