"""Box plots of scores, one for each of several settings."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality.plot._axes import axes_for, check_values, require_matplotlib
from typicality.plot._colours import FIRST, PLAIN, SECOND

_JITTER = 0.12  # of the distance between boxes


class StabilityDisplay:
    """Scores of several settings as boxes side by side, with every single score.

    Boxes go from one quartile to the other, with a line at the median; whiskers to the farthest
    score within one and a half times the length of the box.

    Make it by `from_scores`; the parts of the picture are attributes afterwards.

    Parameters
    ----------
    scores : mapping of str to array-like of float
        The scores of each setting, in the order to be drawn; not all need to have as many.
    score_name : str, default="stability"
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        Their figure.
    boxes_ : dict of lists of matplotlib artists
        The boxes, as :meth:`matplotlib.axes.Axes.boxplot` gives them.
    dots_ : list of matplotlib Line2D
        The single scores, one for each setting.

    Examples
    --------
    >>> from typicality.plot import StabilityDisplay
    >>> scores = {"sigma = 0.5": [0.91, 0.88, 0.95], "sigma = 2": [0.42, 0.61, 0.55]}
    >>> display = StabilityDisplay.from_scores(scores)  # doctest: +SKIP
    """

    def __init__(self, scores: Mapping[str, ArrayLike], *, score_name: str = "stability") -> None:
        if not isinstance(scores, Mapping) or not scores:
            raise ValueError(
                "scores must be a mapping from the name of each setting to its scores, e.g. "
                f"{{'sigma = 1': [0.8, 0.9]}}; got {scores!r}."
            )
        self.scores = {str(n): check_values(s, name=f"scores[{n!r}]") for n, s in scores.items()}
        self.score_name = score_name

    @classmethod
    def from_scores(
        cls, scores: Mapping[str, ArrayLike], *, score_name: str = "stability", ax: Any = None
    ) -> Self:
        """The picture of scores.

        Parameters
        ----------
        scores : mapping of str to array-like of float
            The scores of each setting, in the order to be drawn.
        score_name : str, default="stability"
            What the scores are.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        StabilityDisplay
        """
        require_matplotlib(cls)
        return cls(scores, score_name=score_name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the boxes, the first setting on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        self
        """
        n_boxes = len(self.scores)
        ax = axes_for(self, ax, size=(7.0, 1.2 + 0.5 * n_boxes))
        places = np.arange(n_boxes)
        self.boxes_ = ax.boxplot(
            list(self.scores.values()),
            positions=places,
            orientation="horizontal",
            tick_labels=list(self.scores),
            widths=0.5,
            showfliers=False,  # every score is drawn anyway
            patch_artist=True,
            boxprops={"facecolor": "white", "edgecolor": PLAIN},
            medianprops={"color": SECOND, "linewidth": 2.0},
            whiskerprops={"color": PLAIN},
            capprops={"color": PLAIN},
        )
        self.dots_ = [
            ax.plot(values, place + _spread(len(values)), ".", color=FIRST, alpha=0.7)[0]
            for place, values in zip(places, self.scores.values(), strict=True)
        ]
        ax.invert_yaxis()
        ax.set_xlabel(self.score_name)
        return self


def _spread(n_values: int) -> Any:
    """Offsets that keep equal scores apart, the same ones in every drawing."""
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    return _JITTER * (2.0 * (np.arange(n_values) * golden % 1.0) - 1.0)
