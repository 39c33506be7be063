"""Box plots of repeated scores, as in figures 3 to 5."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_COLOURS = ("#0072B2", "#E69F00", "#009E73")
_GROUP, _BOX = 0.8, 0.85  # of the distance between settings, and of the place of a method


def draw_boxes(ax: Any, scores: Mapping[str, Any], settings: Sequence[Any]) -> None:
    """Boxes of the methods side by side, with the settings from left to right.

    The scores of a method have a row for each repetition and a column for each setting.
    """
    places, width = np.arange(len(settings)), _GROUP / len(scores)
    handles = []
    for number, values in enumerate(scores.values()):
        colour = _COLOURS[number]
        boxes = ax.boxplot(
            values,
            positions=places + (number - (len(scores) - 1) / 2) * width,
            widths=_BOX * width,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": f"{colour}40", "edgecolor": colour},
            medianprops={"color": colour, "linewidth": 2.0},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": colour, "alpha": 0.5},
        )
        handles.append(boxes["boxes"][0])
    ax.set_xticks(places, [str(setting) for setting in settings])
    ax.set_xlim(-0.5, len(settings) - 0.5)
    if len(scores) > 1:
        ax.legend(handles, list(scores), frameon=False)
