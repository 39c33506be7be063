"""Curves of repeated scores over a setting that is a number."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality.plot._axes import axes_for, check_values, require_matplotlib
from typicality.plot._colours import cluster_colour
from typicality.plot._repeated import (
    check_repeated_scores,
    check_results,
    of_columns,
    parts_of,
    shared_settings,
)

_FAR = 20.0  # times the smallest setting: more is drawn on a logarithmic scale
_MOST_TICKS = 10


class StabilityCurveDisplay:
    """The mean score over a setting that is a number, with a band between the quartiles.

    Make it by `from_results`, where the settings of the results are the axis (rates, sizes), by
    `from_grid`, where a parameter of the estimator is (sigma, gamma, nu); or from scores of any
    kind and `plot`. The parts of the picture are attributes afterwards.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_repeats, n_settings)
        The scores of each curve, in the order to be drawn; NaN is passed over.
    settings : sequence of float
        Where the columns of scores stand on the axis.
    setting_name : str, default="setting"
        What the settings are.
    score_name : str, default="stability"
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to matplotlib Line2D
        The means.
    bands_ : dict of str to matplotlib artist
        From the lower to the upper quartile.

    Examples
    --------
    >>> from typicality.plot import StabilityCurveDisplay
    >>> scores = {"1-PCM": [[0.9, 0.8, 0.7], [0.7, 0.9, 0.8]]}
    >>> curve = StabilityCurveDisplay(scores, settings=[0.5, 1, 5], setting_name="sigma")
    >>> curve = curve.plot()  # doctest: +SKIP
    """

    def __init__(
        self,
        scores: Mapping[str, ArrayLike],
        *,
        settings: Sequence[float],
        setting_name: str = "setting",
        score_name: str = "stability",
    ) -> None:
        self.settings = check_values(settings, name="settings")
        self.scores = check_repeated_scores(scores, len(self.settings))
        self.setting_name = setting_name
        self.score_name = score_name

    @classmethod
    def from_results(cls, results: Mapping[str, Any], *, ax: Any = None) -> Self:
        """A curve for each result of :mod:`typicality.validation`, over its own settings.

        Parameters
        ----------
        results : mapping of str to result
            The result of each method, all for the same settings, e.g. the sizes of
            :func:`typicality.validation.novelty_accuracy`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        StabilityCurveDisplay
        """
        require_matplotlib(cls)
        return cls(**parts_of(results)).plot(ax=ax)

    @classmethod
    def from_grid(
        cls, results: Mapping[float, Any], *, setting_name: str = "sigma", ax: Any = None
    ) -> Self:
        """A curve for each setting of the results (each rate, say), over a parameter.

        Parameters
        ----------
        results : mapping of float to result
            The result for each value of the parameter, all with as many repetitions; of
            clusterings, the numbers of clusters may differ.
        setting_name : str, default="sigma"
            The name of the parameter.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        StabilityCurveDisplay
        """
        require_matplotlib(cls)
        checked = check_results(results)
        one = next(iter(checked.values()))
        settings = shared_settings(checked)
        names = [one.score_name]
        if settings is not None:
            names = [f"{one.setting_name} {setting}" for setting in settings]
        scores = {
            name: np.column_stack([result.scores[:, column] for result in checked.values()])
            for column, name in enumerate(names)
        }
        return cls(
            scores,
            settings=list(checked),
            setting_name=setting_name,
            score_name=one.score_name,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the curves; on a logarithmic axis where settings are far apart.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        self
        """
        ax = axes_for(self, ax, size=(6.0, 4.0))
        order = np.argsort(self.settings)
        places = self.settings[order]
        self.lines_, self.bands_ = {}, {}
        for number, (name, scores) in enumerate(self.scores.items()):
            colour = cluster_colour(number)
            lower, mean, upper = (
                of_columns(measure, scores[:, order])
                for measure in (partial(np.percentile, q=25), np.mean, partial(np.percentile, q=75))
            )
            self.bands_[name] = ax.fill_between(
                places, lower, upper, color=colour, alpha=0.15, linewidth=0
            )
            (self.lines_[name],) = ax.plot(places, mean, ".-", color=colour, label=name)
        if 0 < _FAR * places[0] <= places[-1]:
            ax.set_xscale("log")
            _tick_settings(ax, places)
        ax.set_xlabel(self.setting_name)
        ax.set_ylabel(self.score_name)
        if len(self.scores) > 1:
            ax.legend(frameon=False)
        return self


def _tick_settings(ax: Any, places: Any) -> None:
    """Name the settings themselves where they are few, and no numbers between powers of ten."""
    if len(places) <= _MOST_TICKS:
        ax.set_xticks(places, [f"{place:g}" for place in places])
    ax.minorticks_off()
