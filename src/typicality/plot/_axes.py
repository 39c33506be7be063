"""What displays share: axes, colours, checks, and the view of a fitted estimator."""

from math import ceil, log10
from typing import Any

import numpy as np

from typicality._typing import Doubles, Labels
from typicality.fitted import FittedView, last_step, prepared, view

_SMALLEST, _LARGEST = 0.5, 25.0  # areas of markers, in square points
_SPARSE = 100.0  # rows that leave room for the largest markers
_RIMLESS = 6.0  # markers so small would be all rim

# The palette of Okabe and Ito, which colour-blind people can distinguish, without its black; the
# strongest contrasts come first.
_CLUSTERS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
_MARKERS = ("o", "s", "^", "D", "v", "P")

NOWHERE = "#000000"
CUT = "#000000"
GUIDE = "#7F7F7F"
CONNECTOR = "#7F7F7F"
PLAIN = "#B0B0B0"
POINT = "#0072B2"

_LIGHT, _DARK = "#FFFFFF", "#8C8C8C"  # rows of any colour stand out from both


def require_matplotlib(display: Any) -> None:
    """Say how to get matplotlib where it is missing, before any work begins."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        name = getattr(display, "__name__", type(display).__name__)
        raise ImportError(
            f"{name} needs matplotlib, which is not installed. Install it: pip install matplotlib."
        ) from error


def axes_for(display: Any, ax: Any, *, size: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure; the display keeps them and their figure."""
    require_matplotlib(display)
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def draw_rows(ax: Any, points: Doubles, labels: Labels) -> list[Any]:
    """Rows coloured by their cluster, one artist a label; crosses for those that belong nowhere."""
    crowd = max(len(points), 1) / _SPARSE
    area = float(np.clip(_LARGEST / np.sqrt(crowd), _SMALLEST, _LARGEST))
    rim = {"linewidths": 0.5, "edgecolors": "black"} if area > _RIMLESS else {"linewidths": 0.0}
    return [
        ax.scatter(
            *points[labels == label].T,
            s=area if label >= 0 else 1.5 * area,
            color=cluster_colour(label),
            marker=cluster_marker(label),
            **(rim if label >= 0 else {"linewidths": min(0.8, np.sqrt(area) / 4)}),
        )
        for label in np.unique(labels).tolist()
    ]


def written(value: float, span: float) -> str:
    """A number with enough digits to distinguish it from others within a span."""
    decimals = 2 if span <= 0 else max(0, 2 + ceil(-log10(span)))
    return f"{value:.{decimals}f}"


def check_values(values: Any, *, name: str) -> Doubles:
    """One finite number or more."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers; got {values!r}.") from error
    if numbers.ndim != 1 or len(numbers) == 0 or not np.isfinite(numbers).all():
        raise ValueError(
            f"{name} must be a list of one or more finite numbers; got shape "
            f"{numbers.shape}{'' if np.isfinite(numbers).all() else ' with NaN or infinity in it'}."
        )
    return numbers


# ---- colours -------------------------------------------------------------------------------------


def cluster_colour(label: int) -> str:
    """The colour of a cluster; -1 gives the colour of unassigned rows."""
    return NOWHERE if label < 0 else _CLUSTERS[label % len(_CLUSTERS)]


def cluster_marker(label: int) -> str:
    """The marker of a cluster: clusters that share a colour have different ones."""
    return "x" if label < 0 else _MARKERS[label // len(_CLUSTERS) % len(_MARKERS)]


def shades() -> Any:
    """A colormap of greys, darker for larger values."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("typicality", [_LIGHT, _DARK])


# ---- estimators ----------------------------------------------------------------------------------


def view_of(estimator: Any, X: Any) -> FittedView:
    """The view of rows by an estimator, or by a pipeline, which prepares them."""
    model = last_step(estimator)
    if not (hasattr(model, "predict_memberships") or hasattr(model, "predict_typicality")):
        raise ValueError(
            f"{model!r} has neither memberships nor typicalities of new rows. Fit an estimator of "
            "typicality."
        )
    return view(model, prepared(estimator, X))
