"""How low the landscape falls between two points."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from typicality.levelsets.landscape import Doubles, Floats, Landscape

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
    n_points = points_on(landscape, lengths_of(landscape, starts, stops), labelling=labelling)
    lowest = np.empty(len(starts))
    for block in _blocks(n_points):
        segment, place = _numbered(n_points[block])
        share = (place + 1) / (n_points[block] + 1)[segment]
        lowest[block] = _lowest(landscape, starts[block], stops[block], segment, share)
    return lowest


def lowest_in_round(
    landscape: Landscape,
    starts: Floats,
    stops: Floats,
    n_points: NDArray[np.intp],
    rounds: NDArray[np.intp],
) -> Doubles:
    r"""The smallest height at some of the points `lowest_between` looks at, ever nearer ones.

    In round :math:`t = 1, 2, \dots` these are the points next to odd multiples of
    :math:`2^{-t}` of the way that were not looked at before: the one in the middle, those at the
    quarters, and so on. After :func:`rounds_of` rounds all were looked at, each once.

    Parameters
    ----------
    landscape : Landscape
        The heights.
    starts, stops : arrays of shape (m, d)
        The ends.
    n_points : array of shape (m,)
        How many points there are on each segment, by `points_on`.
    rounds : array of shape (m,)
        The round of each segment.
    """
    n_tried = 2 ** (rounds - 1)
    lowest = np.empty(len(starts))
    for block in _blocks(n_tried):
        segment, number = _numbered(n_tried[block])
        steps, before = (n_points[block] + 1)[segment], n_tried[block][segment]
        place = -(-(2 * number + 1) * steps // (2 * before))
        new = place * before // steps == (place - 1) * before // steps
        segment, share = segment[new], (place / steps)[new]
        lowest[block] = _lowest(landscape, starts[block], stops[block], segment, share)
    return lowest


def rounds_of(n_points: NDArray[np.intp]) -> NDArray[np.intp]:
    """After how many rounds all points of a segment were looked at."""
    return np.asarray(np.frexp(n_points)[1], dtype=np.intp)


def _numbered(counts: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For so many items of each segment: which segment, and the number of the item from 0."""
    segment = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    return segment, np.arange(len(segment)) - first[segment]


def _lowest(
    landscape: Landscape,
    starts: Floats,
    stops: Floats,
    segment: NDArray[np.intp],
    share: Doubles,
) -> Doubles:
    """The smallest height of each segment at points that are sorted by their segments."""
    heights = landscape.heights(_points(starts, stops, segment, share))
    first = np.flatnonzero(np.diff(segment, prepend=-1))
    return np.asarray(np.minimum.reduceat(heights, first))


def _points(starts: Floats, stops: Floats, segment: NDArray[np.intp], share: Doubles) -> Doubles:
    """Points on segments, at a share of the way."""
    begin = starts.astype(np.float64)
    way = stops.astype(np.float64) - begin
    return np.asarray(begin[segment] + share[:, None] * way[segment])


def points_on(landscape: Landscape, lengths: Doubles, *, labelling: str) -> NDArray[np.intp]:
    """How many interior points of each segment are looked at.

    With ``labelling="complete"`` 20, as in the papers; with "neighbours" as many as make steps of
    at most half a bandwidth, at least one.
    """
    if labelling == "complete":
        return np.full(len(lengths), _PAPER_POINTS, np.intp)
    steps = np.ceil(lengths / (0.5 * landscape.kernel.sigma))
    return np.asarray((steps - 1.0).clip(1.0, _MOST_POINTS), dtype=np.intp)


def lengths_of(landscape: Landscape, starts: Floats, stops: Floats) -> Doubles:
    """The lengths of segments, by the norm of the kernel."""
    ways = stops.astype(np.float64) - starts
    return np.asarray(np.linalg.norm(ways, ord=landscape.nearest.norm, axis=1))


def _blocks(counts: NDArray[np.intp]) -> Iterator[slice]:
    """Segments of about so many points together."""
    upto = np.cumsum(counts)
    total = int(upto[-1]) if len(upto) else 0
    bounds = np.searchsorted(upto, np.arange(0, total, _POINTS_AT_A_TIME), side="right")
    bounds = np.unique([*bounds, len(counts)])
    for start, stop in pairwise(bounds):
        yield slice(int(start), int(stop))
