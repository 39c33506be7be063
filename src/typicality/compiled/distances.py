"""Distances between all rows of two sets, for many features.

A tile of 64 rows and 64 others is computed at a time, in cache and with vector instructions along
the rows. Every distance is a sum over the features in their order, in one accumulator. So it has
the same bits wherever the pair stands and whatever the other rows are.
"""

from numpy import empty, zeros

from typicality.compiled.blocks import part
from typicality.compiled.jit import Loop, exact

_ROWS, _OTHERS = 64, 64  # of a tile
_LANES = 16  # rows are filled up to a multiple, so that vector instructions leave no rest
_FEATURES = 32  # at a time: those of a tile stay in the cache


@exact
def _add_four_features(form, columns, j, others, a, b, c, d, sums):
    """Add the features from j on to the distances of the rows of a tile to the rows a, b, c, d."""
    a0, a1, a2, a3 = others[a, j], others[a, j + 1], others[a, j + 2], others[a, j + 3]
    b0, b1, b2, b3 = others[b, j], others[b, j + 1], others[b, j + 2], others[b, j + 3]
    c0, c1, c2, c3 = others[c, j], others[c, j + 1], others[c, j + 2], others[c, j + 3]
    d0, d1, d2, d3 = others[d, j], others[d, j + 1], others[d, j + 2], others[d, j + 3]
    for r in range(sums.shape[1]):
        x0, x1, x2, x3 = columns[j, r], columns[j + 1, r], columns[j + 2, r], columns[j + 3, r]
        to_a = sums[0, r] + part(form, x0 - a0)
        to_b = sums[1, r] + part(form, x0 - b0)
        to_c = sums[2, r] + part(form, x0 - c0)
        to_d = sums[3, r] + part(form, x0 - d0)
        to_a += part(form, x1 - a1)
        to_b += part(form, x1 - b1)
        to_c += part(form, x1 - c1)
        to_d += part(form, x1 - d1)
        to_a += part(form, x2 - a2)
        to_b += part(form, x2 - b2)
        to_c += part(form, x2 - c2)
        to_d += part(form, x2 - d2)
        sums[0, r] = to_a + part(form, x3 - a3)
        sums[1, r] = to_b + part(form, x3 - b3)
        sums[2, r] = to_c + part(form, x3 - c3)
        sums[3, r] = to_d + part(form, x3 - d3)


@exact
def _add_feature(form, columns, j, others, a, b, c, d, sums):
    """The same for a single feature."""
    a0, b0, c0, d0 = others[a, j], others[b, j], others[c, j], others[d, j]
    for r in range(sums.shape[1]):
        x0 = columns[j, r]
        sums[0, r] += part(form, x0 - a0)
        sums[1, r] += part(form, x0 - b0)
        sums[2, r] += part(form, x0 - c0)
        sums[3, r] += part(form, x0 - d0)


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
                    j = feature
                    while j + 4 <= stop:
                        _add_four_features(form, columns, j, others, a, b, c, d, into)
                        j += 4
                    while j < stop:
                        _add_feature(form, columns, j, others, a, b, c, d, into)
                        j += 1
            for r in range(width):
                for other in range(first, end):
                    out[start + r, other] = sums[other - first, r]
