"""Scores that were measured many times, as boxes or as curves."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from typicality._typing import Doubles
from typicality.plot._axes import axes_for, check_values
from typicality.plot._colours import FIRST, PLAIN, SECOND, cluster_colour

_GROUP = 0.8  # of the distance between settings: the rest keeps them apart
_BOX = 0.85  # of the place of a method
_JITTER = 0.12  # of the distance between boxes
_FAR = 20.0  # times the smallest setting: more is drawn on a logarithmic scale
_MOST_TICKS = 10


class StabilityDisplay:
    """Repeated scores of methods for several settings, as boxes or curves.

    - ``kind="boxes"``: box plots, with the methods next to each other for each setting. Whiskers
      reach to the farthest score within 1.5 times the length of the box; scores beyond are dots. As
      in :cite:`filippone2010`, figures 3 to 5.
    - ``kind="scores"``: horizontal box plots, with a dot for every score. There is room for long
      names of settings.
    - ``kind="curve"``: the mean as a function of a numeric setting, with a band between the
      quartiles.

    Create it with `from_results`, `from_grid` or `from_scores`, or from scores and `plot`. The
    drawn artists are attributes.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_repeats, n_settings)
        The scores of each method, in the order of drawing. NaN is not drawn.
    settings : sequence
        The names of the columns of the scores; numbers for ``kind="curve"``.
    setting_name : str, default="setting"
        The name of the settings.
    score_name : str, default="stability"
        The name of the scores.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    boxes_ : dict of str to dict of lists of matplotlib artists
        The boxes of each method, as :meth:`matplotlib.axes.Axes.boxplot` returns them.
    dots_ : dict of str to list of matplotlib Line2D
        The scores of each method, one line per setting, for ``kind="scores"``.
    lines_ : dict of str to matplotlib Line2D
        The means, for ``kind="curve"``.
    bands_ : dict of str to matplotlib artist
        The bands between the quartiles, for ``kind="curve"``.

    Examples
    --------
    >>> from typicality.plot import StabilityDisplay
    >>> scores = {"narrow": [[0.9, 0.8], [0.7, 0.9]], "wide": [[0.3, 0.6], [0.4, 0.5]]}
    >>> display = StabilityDisplay(scores, settings=[0.01, 0.05], setting_name="rate")
    >>> display = display.plot(kind="boxes")  # doctest: +SKIP
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
        self.scores = _check_scores(scores, len(self.settings))
        self.setting_name, self.score_name = setting_name, score_name

    @classmethod
    def from_results(
        cls, results: Mapping[str, Any], *, kind: str = "boxes", ax: Any = None
    ) -> Self:
        """Create the display from stability results, over their settings (rates, sizes).

        Parameters
        ----------
        results : mapping of str to result
            The result of each method, in the order of drawing. All results must have the same
            settings, for example the rates of `outlier_stability`. For clusterings, the numbers of
            clusters can differ.
        kind : {"boxes", "scores", "curve"}, default="boxes"
            The kind of plot.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        StabilityDisplay
        """
        one, settings = _check_results(results)
        if settings is None:
            settings = (", ".join(str(result.settings[0]) for result in results.values()),)
        scores = {name: result.scores for name, result in results.items()}
        names = {"setting_name": one.setting_name, "score_name": one.score_name}
        return cls(scores, settings=settings, **names).plot(kind=kind, ax=ax)

    @classmethod
    def from_grid(
        cls,
        results: Mapping[Any, Any],
        *,
        setting_name: str = "sigma",
        kind: str = "curve",
        ax: Any = None,
    ) -> Self:
        """Create the display from stability results, over a parameter of the estimator.

        There is one curve per setting of the results, for example per rate.

        Parameters
        ----------
        results : mapping of float to result
            The result for each value of the parameter, all with the same number of repetitions. For
            clusterings, the numbers of clusters can differ.
        setting_name : str, default="sigma"
            The name of the parameter.
        kind : {"curve", "boxes", "scores"}, default="curve"
            The kind of plot.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        StabilityDisplay
        """
        one, settings = _check_results(results)
        names = [one.score_name]
        if settings is not None:
            names = [f"{one.setting_name} {setting}" for setting in settings]
        scores = {
            name: np.column_stack([result.scores[:, column] for result in results.values()])
            for column, name in enumerate(names)
        }
        display = cls(
            scores, settings=list(results), setting_name=setting_name, score_name=one.score_name
        )
        return display.plot(kind=kind, ax=ax)

    @classmethod
    def from_scores(
        cls,
        scores: Mapping[str, ArrayLike],
        *,
        score_name: str = "stability",
        kind: str = "scores",
        ax: Any = None,
    ) -> Self:
        """Create the display from lists of scores.

        Parameters
        ----------
        scores : mapping of str to array-like of float
            The scores of each setting, in the order of drawing. The lists can have different
            lengths.
        score_name : str, default="stability"
            The name of the scores.
        kind : {"scores", "boxes", "curve"}, default="scores"
            The kind of plot.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        StabilityDisplay
        """
        if not isinstance(scores, Mapping) or not scores:
            raise ValueError(
                "scores must be a mapping from the name of each setting to its scores, e.g. "
                f"{{'sigma = 1': [0.8, 0.9]}}; got {scores!r}."
            )
        lists = [check_values(s, name=f"scores[{n!r}]") for n, s in scores.items()]
        table = np.full((max(map(len, lists)), len(lists)), np.nan)
        for column, values in zip(table.T, lists, strict=True):
            column[: len(values)] = values
        display = cls({"": table}, settings=list(scores), score_name=score_name)
        return display.plot(kind=kind, ax=ax)

    def plot(self, *, kind: str = "boxes", ax: Any = None) -> Self:
        """Draw the boxes or the curves.

        Parameters
        ----------
        kind : {"boxes", "scores", "curve"}, default="boxes"
            The kind of plot.
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure.

        Returns
        -------
        self
        """
        kinds = {"boxes": self._draw_boxes, "scores": self._draw_scores, "curve": self._draw_curves}
        if kind not in kinds:
            raise ValueError(f"kind must be one of {', '.join(map(repr, kinds))}; got {kind!r}.")
        kinds[kind](ax)
        return self

    def _draw_boxes(self, ax: Any) -> None:
        """Boxes of methods side by side, settings from left to right."""
        n_methods, n_settings = len(self.scores), len(self.settings)
        ax = axes_for(self, ax, size=(2.0 + 0.35 * n_settings * (n_methods + 0.5), 4.0))
        places, width = np.arange(n_settings), _GROUP / n_methods
        self.boxes_ = {}
        for number, (name, scores) in enumerate(self.scores.items()):
            colour = cluster_colour(number)
            where = places + (number - (n_methods - 1) / 2) * width
            dots = {"marker": ".", "markersize": 3, "markeredgecolor": colour, "alpha": 0.5}
            style = {"face": f"{colour}40", "edge": colour, "median": colour}
            self.boxes_[name] = _boxes(
                ax, scores, where, widths=_BOX * width, flierprops=dots, **style
            )
        ax.set_xticks(places, [str(setting) for setting in self.settings])
        ax.set_xlim(-0.5, n_settings - 0.5)
        ax.set(xlabel=self.setting_name, ylabel=self.score_name)
        if n_methods > 1:
            handles = [boxes["boxes"][0] for boxes in self.boxes_.values()]
            ax.legend(handles, list(self.boxes_), frameon=False)

    def _draw_scores(self, ax: Any) -> None:
        """Lying boxes with every score, from top to bottom."""
        n_settings = len(self.settings)
        n_boxes = n_settings * len(self.scores)
        ax = axes_for(self, ax, size=(7.0, 1.2 + 0.5 * n_boxes))
        style = {"face": "white", "edge": PLAIN, "median": SECOND, "orientation": "horizontal"}
        self.boxes_, self.dots_ = {}, {}
        for number, (name, scores) in enumerate(self.scores.items()):
            places = n_settings * number + np.arange(n_settings)
            # Every score is a dot, so there is no need for fliers.
            self.boxes_[name] = _boxes(ax, scores, places, widths=0.5, showfliers=False, **style)
            self.dots_[name] = [
                ax.plot(values, place + _jitter(len(values)), ".", color=FIRST, alpha=0.7)[0]
                for place, values in zip(places, _known_columns(scores), strict=True)
            ]
        names = [f"{name} {setting}".strip() for name in self.scores for setting in self.settings]
        ax.set_yticks(np.arange(n_boxes), names)
        ax.set_ylim(n_boxes - 0.5, -0.5)
        ax.set_xlabel(self.score_name)

    def _draw_curves(self, ax: Any) -> None:
        """Curves over the settings; on a logarithmic axis where settings are far apart."""
        settings = check_values(list(self.settings), name="settings")
        ax = axes_for(self, ax, size=(6.0, 4.0))
        order = np.argsort(settings)
        places = settings[order]
        self.lines_, self.bands_ = {}, {}
        for number, (name, scores) in enumerate(self.scores.items()):
            colour = cluster_colour(number)
            columns = [
                column if len(column) else np.array([np.nan])
                for column in _known_columns(scores[:, order])
            ]
            mean = [column.mean() for column in columns]
            lower, upper = np.array([np.percentile(column, [25, 75]) for column in columns]).T
            self.bands_[name] = ax.fill_between(
                places, lower, upper, color=colour, alpha=0.15, linewidth=0
            )
            (self.lines_[name],) = ax.plot(places, mean, ".-", color=colour, label=name)
        if 0 < _FAR * places[0] <= places[-1]:
            ax.set_xscale("log")
            if len(places) <= _MOST_TICKS:  # name the settings, not the powers of ten
                ax.set_xticks(places, [f"{place:g}" for place in places])
            ax.minorticks_off()
        ax.set(xlabel=self.setting_name, ylabel=self.score_name)
        if len(self.scores) > 1:
            ax.legend(frameon=False)


def _boxes(
    ax: Any, scores: Doubles, places: Any, *, face: str, edge: str, median: str, **options: Any
) -> dict[str, Any]:
    """A box for each setting, at its place."""
    boxes: dict[str, Any] = ax.boxplot(
        _known_columns(scores),
        positions=places,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": face, "edgecolor": edge},
        medianprops={"color": median, "linewidth": 2.0},
        whiskerprops={"color": edge},
        capprops={"color": edge},
        **options,
    )
    return boxes


def _known_columns(scores: Doubles) -> list[Doubles]:
    """The scores of each setting, without NaN."""
    return [column[~np.isnan(column)] for column in scores.T]


def _jitter(n_values: int) -> Any:
    """Offsets that keep equal scores apart, the same ones in every drawing."""
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    return _JITTER * (2.0 * (np.arange(n_values) * golden % 1.0) - 1.0)


def _check_results(results: Any) -> tuple[Any, tuple[Any, ...] | None]:
    """One of the results, and the settings that all have; None where each has one of its own."""
    if not isinstance(results, Mapping) or not results:
        raise ValueError(
            "results must be a mapping from names to results of typicality.stability, e.g. "
            f"{{'1-PCM': outlier_stability(...)}}; got {results!r}."
        )
    for name, result in results.items():
        if not (hasattr(result, "scores") and hasattr(result, "settings")):
            raise ValueError(
                f"results[{name!r}] is not a result of typicality.stability: {result!r}"
            )
    kinds = {(result.setting_name, tuple(result.settings)) for result in results.values()}
    found = all(getattr(result, "setting_is_found", False) for result in results.values())
    if len(kinds) > 1 and not found:
        told = " and ".join(sorted(f"{name} {settings}" for name, settings in kinds))
        raise ValueError(
            f"results have different settings: {told}. Compute all of them with the same settings."
        )
    one = next(iter(results.values()))
    return one, tuple(one.settings) if len({settings for _, settings in kinds}) == 1 else None


def _check_scores(scores: Any, n_settings: int) -> dict[str, Doubles]:
    """Scores by name, as arrays with a column for each setting; NaN stands for no score."""
    if not isinstance(scores, Mapping) or not scores:
        raise ValueError(
            "scores must be a mapping from names to arrays of shape (n_repeats, n_settings); got "
            f"{scores!r}."
        )
    arrays = {str(name): np.asarray(s, dtype=np.float64) for name, s in scores.items()}
    for name, array in arrays.items():
        if array.ndim != 2 or array.shape[1] != n_settings or len(array) == 0:
            raise ValueError(
                f"scores[{name!r}] has shape {array.shape}, expected (n_repeats, {n_settings}): a "
                "column for each setting."
            )
        if np.isnan(array).all():
            raise ValueError(f"scores[{name!r}] are all NaN: there is nothing to draw.")
        check_values(array[~np.isnan(array)], name=f"scores[{name!r}]")
    return arrays
