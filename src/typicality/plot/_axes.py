"""Where pictures are drawn, and what several of them draw."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality.plot._colours import cluster_colour, cluster_marker

__all__ = ["axes_for", "draw_rows", "require_matplotlib", "summary"]

Doubles = NDArray[np.float64]
Labels = NDArray[np.int32]

_INK = 4000.0  # the area of all markers, in square points
_SMALLEST, _LARGEST = 4.0, 25.0


def require_matplotlib(display: Any) -> None:
    """Say how to get matplotlib where it is missing, before any work begins."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        name = getattr(display, "__name__", type(display).__name__)
        raise ImportError(
            f"{name} draws with matplotlib, which is not installed. Install it by "
            'pip install "typicality[plot]".'
        ) from error


def axes_for(display: Any, ax: Any, *, size: tuple[float, float], **kind: Any) -> Any:
    """The axes given, or those of a new figure; the display keeps them and their figure."""
    require_matplotlib(display)
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained", subplot_kw=kind)
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def draw_rows(ax: Any, points: Doubles, labels: Labels, **options: Any) -> list[Any]:
    """Rows coloured by their cluster, one artist a label; crosses for those that belong nowhere."""
    area = float(np.clip(_INK / max(len(points), 1), _SMALLEST, _LARGEST))
    return [
        ax.scatter(
            *points[labels == label].T,
            s=area if label >= 0 else 1.5 * area,
            color=cluster_colour(label),
            marker=cluster_marker(label),
            linewidths=0.4 if label >= 0 else 0.8,
            **({"edgecolors": "white"} if label >= 0 else {}),
            **options,
        )
        for label in np.unique(labels).tolist()
    ]


def summary(labels: Labels) -> str:
    """How many clusters the rows are in, and how many rows are in none."""
    n_clusters = len(np.unique(labels[labels >= 0]))
    clusters = "1 cluster" if n_clusters == 1 else f"{n_clusters} clusters"
    nowhere = int(np.sum(labels < 0))
    if nowhere == 0:
        return clusters
    belong = "belongs" if nowhere == 1 else "belong"
    return f"{clusters}; {nowhere} of {len(labels)} rows {belong} nowhere (×)"
