"""Which row of a landscape a new row would join."""

import numpy as np

from typicality.levelsets.landscape import Doubles, Floats, Joined, Landscape
from typicality.levelsets.local import LocalLandscape
from typicality.levelsets.segments import lowest_between

_ROWS_AT_A_TIME = 2**14


def join(
    landscape: Landscape | LocalLandscape,
    heights: Doubles,
    rows: Floats,
    *,
    labelling: str,
    n_neighbors: int,
) -> Joined:
    """Of the nearest training rows, the one with the highest way to it, ends included.

    Ties go to the nearest, so a training row joins itself. Which row that is does not depend on
    where the landscape is cut: a new row belongs to the cluster of that row wherever the cut is
    below the way, and to none elsewhere. In a local landscape it is the nearest row: the kernel is
    as wide as the way there.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    landscape : Landscape or LocalLandscape
        The heights.
    heights : array of shape (n,)
        The heights of the training rows.
    rows : array of shape (m, d)
        New rows, or old ones.
    labelling : {"neighbours", "complete"}
        How segments are looked at.
    n_neighbors : int
        How many training rows are tried.
    """
    if isinstance(landscape, LocalLandscape):
        return landscape.join(heights, rows)
    parts = [
        _join(landscape, heights, rows[start : start + _ROWS_AT_A_TIME], labelling, n_neighbors)
        for start in range(0, len(rows), _ROWS_AT_A_TIME)
    ]
    return Joined(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _join(
    landscape: Landscape, heights: Doubles, rows: Floats, labelling: str, n_neighbors: int
) -> Joined:
    own = landscape.heights(rows)
    nearest = landscape.nearest.of(rows, n_neighbors)
    node, entry = nearest[:, 0].copy(), np.full(len(rows), -1.0)
    trying = np.arange(len(rows))
    for target in nearest.T:
        there = target[trying]
        stops = landscape.rows[there]
        between = lowest_between(landscape, rows[trying], stops, labelling=labelling)
        way = np.minimum(between, np.minimum(own[trying], heights[there]))
        better = way > entry[trying]
        node[trying[better]], entry[trying[better]] = there[better], way[better]
        trying = trying[entry[trying] < own[trying]]  # no way is higher than where it begins
    return Joined(node, entry, own)
