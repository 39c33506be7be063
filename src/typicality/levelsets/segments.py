"""How low the landscape falls between two points."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from typicality.levelsets.landscape import Doubles, Floats, Landscape

__all__ = ["height_amid", "lowest_between"]

_PAPER_POINTS = 20
_POINTS_AT_A_TIME = 2**17
_MOST_POINTS = 512  # a longer segment leads through places where there is nothing to be missed


def lowest_between(
    landscape: Landscape, starts: Floats, stops: Floats, *, labelling: str
) -> Doubles:
    r"""The smallest height on each segment, at equidistant interior points.

    .. math:: \min_{1 \le t \le m} s\Big(x + \frac{t}{m + 1} (y - x)\Big)

    With ``labelling="complete"`` m is 20, as in the papers; with "neighbours" steps are at most
    half a bandwidth, because 20 points miss gaps on long segments. Every height is a sum of its
    own, so none can overflow however long the segment is.

    Implements :cite:`filippone2007`, section 4; :cite:`filippone2010`, section IV-D.

    Parameters
    ----------
    landscape : Landscape
        The heights.
    starts, stops : arrays of shape (m, d)
        The ends, which are not looked at.
    labelling : {"neighbours", "complete"}
        How many points are looked at.
    """
    n_points = _points_on(landscape, starts, stops, labelling)
    lowest = np.empty(len(starts))
    for block in _blocks(n_points):
        counts = n_points[block]
        first = np.cumsum(counts) - counts
        place = np.arange(counts.sum()) - np.repeat(first, counts) + 1
        share = place / np.repeat(counts + 1, counts)
        segment = np.repeat(np.arange(len(counts)), counts)
        points = _points(starts[block], stops[block], segment, share)
        lowest[block] = np.minimum.reduceat(landscape.heights(points), first)
    return lowest


def height_amid(landscape: Landscape, starts: Floats, stops: Floats, *, labelling: str) -> Doubles:
    """The height at the middle one of the points `lowest_between` looks at: a bound on it."""
    n_points = _points_on(landscape, starts, stops, labelling)
    share = (n_points // 2 + 1) / (n_points + 1)
    return landscape.heights(_points(starts, stops, np.arange(len(starts)), share))


def _points(starts: Floats, stops: Floats, segment: NDArray[np.intp], share: Doubles) -> Doubles:
    """Points on segments, at a share of the way."""
    begin = starts.astype(np.float64)
    way = stops.astype(np.float64) - begin
    return np.asarray(begin[segment] + share[:, None] * way[segment])


def _points_on(
    landscape: Landscape, starts: Floats, stops: Floats, labelling: str
) -> NDArray[np.intp]:
    """How many interior points of each segment are looked at.

    With ``labelling="complete"`` 20, as in the papers; with "neighbours" as many as make steps of
    at most half a bandwidth, at least one.
    """
    if labelling == "complete":
        return np.full(len(starts), _PAPER_POINTS, np.intp)
    lengths = np.linalg.norm(stops.astype(np.float64) - starts, ord=landscape.nearest.norm, axis=1)
    steps = np.ceil(lengths / (0.5 * landscape.kernel.sigma))
    return np.asarray((steps - 1.0).clip(1.0, _MOST_POINTS), dtype=np.intp)


def _blocks(counts: NDArray[np.intp]) -> Iterator[slice]:
    """Segments of about so many points together."""
    upto = np.cumsum(counts)
    total = int(upto[-1]) if len(upto) else 0
    bounds = np.searchsorted(upto, np.arange(0, total, _POINTS_AT_A_TIME), side="right")
    bounds = np.unique([*bounds, len(counts)])
    for start, stop in pairwise(bounds):
        yield slice(int(start), int(stop))
