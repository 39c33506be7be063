"""Distances between all rows of two sets, for many features, and the nearest rows of points.

A tile of 64 rows and 64 others is computed at a time, in cache and with vector instructions along
the rows. Every distance is a sum over the features in their order, in one accumulator. So it has
the same bits wherever the pair stands and whatever the other rows are.
"""

from numpy import empty, zeros

from typicality.compiled.blocks import add_features
from typicality.compiled.jit import Loop, cached

_ROWS, _OTHERS = 64, 64  # of a tile
_LANES = 16  # rows are filled up to a multiple, so that vector instructions leave no rest
_FEATURES = 32  # at a time: those of a tile stay in the cache


@Loop
def fill_distances(form, rows, others, out):
    """Put the distances of a form between all rows and all others into `out`, of float64.

    Costs two operations for every feature of every pair, as a matrix product does.
    """
    n_rows, n_features = rows.shape
    columns = empty((n_features, _ROWS))
    for start in range(0, n_rows, _ROWS):
        width = min(_ROWS, n_rows - start)
        padded = -(-width // _LANES) * _LANES
        for r in range(padded):
            for j in range(n_features):
                columns[j, r] = rows[start + min(r, width - 1), j]
        for first in range(0, len(others), _OTHERS):
            end = min(first + _OTHERS, len(others))
            sums = zeros((_OTHERS, _ROWS))
            for feature in range(0, n_features, _FEATURES):
                stop = min(feature + _FEATURES, n_features)
                for a in range(first, end, 4):  # a last row stands in for those that are missing
                    b, c, d = min(a + 1, end - 1), min(a + 2, end - 1), min(a + 3, end - 1)
                    into = sums[a - first : a - first + 4, :padded]
                    add_features(form, columns, feature, stop, others.T, a, b, c, d, into)
            for r in range(width):
                for other in range(first, end):
                    out[start + r, other] = sums[other - first, r]


# ---- the nearest rows ---------------------------------------------------------------------------


@cached()
def smallest(values, n_values, k):
    """The k-th smallest of some values, counted from 1; it moves those up to it to the front."""
    low, high = 0, n_values - 1
    k -= 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@cached()
def measure_in_order(rows, asking, places, found, index, sqdist):
    """Squared distances of asking rows to their near rows, and both sorted by them.

    Those of `places` are filled in, with the near rows `found` of each. These come nearly sorted,
    so that each is inserted after few steps. Rows at the same distance keep their order.
    """
    n_features = rows.shape[1]
    for i in range(len(places)):
        own = places[i]
        for place in range(index.shape[1]):
            row, square = found[i, place], 0.0
            for j in range(n_features):
                square += (rows[row, j] - asking[own, j]) ** 2
            while place > 0 and sqdist[own, place - 1] > square:
                sqdist[own, place] = sqdist[own, place - 1]
                index[own, place] = index[own, place - 1]
                place -= 1
            sqdist[own, place], index[own, place] = square, row
