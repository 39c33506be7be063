"""The colours of all displays; colour-blind people can distinguish them."""

from typing import Any

# The palette of Okabe and Ito, without its black; the strongest contrasts come first.
_CLUSTERS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
_MARKERS = ("o", "s", "^", "D", "v", "P")

NOWHERE = "#000000"
CUT = "#000000"
GUIDE = "#7F7F7F"
CONNECTOR = "#7F7F7F"
PLAIN = "#B0B0B0"
FIRST, SECOND = "#0072B2", "#D55E00"  # of two curves in one picture

_LIGHT, _DARK = "#FFFFFF", "#8C8C8C"  # rows of any colour stand out from both


def cluster_colour(label: int) -> str:
    """The colour of a cluster; that of rows that belong nowhere for -1."""
    return NOWHERE if label < 0 else _CLUSTERS[label % len(_CLUSTERS)]


def cluster_marker(label: int) -> str:
    """The marker of a cluster: clusters that share a colour have different ones."""
    return "x" if label < 0 else _MARKERS[label // len(_CLUSTERS) % len(_MARKERS)]


def shades() -> Any:
    """A colormap of greys, darker for larger values."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("typicality", [_LIGHT, _DARK])
