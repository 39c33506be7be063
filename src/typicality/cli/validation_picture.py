"""The picture of `typicality validate`: a panel for each rate, boxes for each bandwidth."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from typicality.cli.validation import Validation
from typicality.plot import StabilityDisplay
from typicality.validation import OutlierStability

_DOTS_PER_INCH = 120
_PANEL_HEIGHT, _BOX_WIDTH, _MARGIN = 2.3, 0.85, 1.5  # inches
_TOP = 1.15  # a word has room above boxes that reach 1
_BEHIND_CHOSEN = "#e3efda"


def draw(path: Path, found: Validation) -> None:
    """Write the picture, with one-class SVM beside ours where it was measured."""
    from matplotlib.figure import Figure

    n_rates = len(found.rates)
    size = (_MARGIN + _BOX_WIDTH * len(found.sigmas), _MARGIN / 2 + _PANEL_HEIGHT * n_rates)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(n_rates, 1, squeeze=False, sharex=True)[:, 0]
    for number, ax in enumerate(panels):
        _draw_panel(ax, found, number)
        ax.label_outer()
    for ax in panels[1:] if found.svm else ():
        ax.get_legend().remove()
    figure.savefig(path, dpi=_DOTS_PER_INCH)


def _draw_panel(ax: Any, found: Validation, number: int) -> None:
    """The boxes of one rate."""
    results = {"typicality": found.ours, "one-class SVM": found.svm}
    scores = {name: _at_rate(of, number) for name, of in results.items() if of}
    StabilityDisplay(
        scores, settings=list(_labels(found)), setting_name="sigma", score_name="stability"
    ).plot(ax=ax)
    ax.set_ylim(-0.03, _TOP)
    rate = found.rates[number]
    ax.set_title(f"Rate {rate:g}")
    chosen = found.recommendation.chosen
    if chosen.rate == rate:
        place = [named.sigma for named in found.sigmas].index(chosen.sigma)
        ax.axvspan(place - 0.5, place + 0.5, color=_BEHIND_CHOSEN, zorder=0)
        ax.text(place, 1.03, "recommended", ha="center", va="bottom", fontsize="small")


def _at_rate(results: Sequence[OutlierStability], number: int) -> Any:
    """Scores of shape (n_repeats, n_sigmas)."""
    return np.column_stack([result.scores[:, number] for result in results])


def _labels(found: Validation) -> Iterator[str]:
    for named in found.sigmas:
        default = "\ndefault" if named.sigma == found.default_sigma else ""
        yield f"{named.sigma:.4g}\n{named.rule}{default}".rstrip()
