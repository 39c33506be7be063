"""Compiled sums over all pairs of rows, tile by tile: no n x n matrix is ever formed.

A partition comes as its shares, transposed, so that vector instructions run along the rows: shape
(c, n). The distance of two rows is divided by sqrt 2, its largest value, and lies in [0, 1].

A *strip* is the pairs of the rows of one tile with all rows after them; strips from both ends are
taken together, so that all items are the same work. Each item has sums of its own and histograms
hold whole numbers, so results depend neither on threads nor on how items are handed to them.
"""

from numpy import empty, int64, sqrt

from typicality.compiled.jit import REORDERED, cached, inlined

TILE = 256
# A bin is a range of the leading bits of a distance, so it is narrow where distances are small:
# an octave is cut into equal bins, a bin into equal steps.
N_OCTAVES = 40
_BIN_BITS, _STEP_BITS = 10, 17
BINS_PER_OCTAVE, STEPS_PER_BIN = 2**_BIN_BITS, 2**_STEP_BITS
N_BINS = N_OCTAVES * BINS_PER_OCTAVE + 2  # all below the lowest octave, and exactly 1
_FIRST_BIT = 52 - _BIN_BITS - _STEP_BITS
_LOWEST = ((1023 - N_OCTAVES) << (52 - _FIRST_BIT)) - STEPS_PER_BIN  # leading bits of bin 0


@inlined
def _load(columns, start, tile):
    """The rows from `start` on; where there are none, zero."""
    n_columns, n_rows = columns.shape
    for k in range(n_columns):
        for j in range(tile.shape[1]):
            tile[k, j] = columns[k, start + j] if start + j < n_rows else 0.0


@inlined
def _distances(row, tile, out):
    """Distances of a row to the rows of a tile, over sqrt 2."""
    n_columns = tile.shape[0]
    in_fours = n_columns - n_columns % 4
    for j in range(out.size):
        out[j] = 0.0
    for k in range(0, in_fours, 4):
        a, b, c, d = row[k], row[k + 1], row[k + 2], row[k + 3]
        for j in range(out.size):
            p, q = tile[k, j] - a, tile[k + 1, j] - b
            r, s = tile[k + 2, j] - c, tile[k + 3, j] - d
            out[j] += (p * p + q * q) + (r * r + s * s)
    for k in range(in_fours, n_columns):
        a = row[k]
        for j in range(out.size):
            p = tile[k, j] - a
            out[j] += p * p
    for j in range(out.size):
        out[j] = min(sqrt(0.5 * out[j]), 1.0)  # rounding could take it above


@inlined
def _strip(item, n_strips, half):
    """The strip of an item: one from the front, one from the back (-1 where they are the same)."""
    if half == 0:
        return item
    return n_strips - 1 - item if n_strips - 1 - item > item else -1


@cached(**REORDERED)
def soft_and_crisp(columns, labels, first_item, last_item, sums):
    """For each item: the sum of all distances, and of those between rows with the same label."""
    n_rows = labels.size
    n_strips = (n_rows + TILE - 1) // TILE
    tile, distance = empty((columns.shape[0], TILE)), empty(TILE)
    for item in range(first_item, last_item):
        total = within = 0.0
        for half in range(2):
            strip = _strip(item, n_strips, half)
            if strip < 0:
                continue
            for start in range(strip * TILE, n_rows, TILE):
                _load(columns, start, tile)
                tile_labels = labels[start : start + TILE]
                for i in range(strip * TILE, min((strip + 1) * TILE, n_rows)):
                    _distances(columns[:, i], tile, distance)
                    label = labels[i]
                    first = max(i + 1 - start, 0)
                    later, later_labels = distance[first : tile_labels.size], tile_labels[first:]
                    for j in range(later.size):
                        total += later[j]
                        within += later[j] if later_labels[j] == label else 0.0
        sums[item, 0], sums[item, 1] = total, within


@inlined
def _count(distance, counts, steps):
    """Count distances, and the steps of each above the lower end of its bin."""
    bits = distance.view(int64)
    for j in range(bits.size):
        leading = (bits[j] >> _FIRST_BIT) - _LOWEST
        if leading < STEPS_PER_BIN:
            counts[0] += 1
        else:
            counts[leading >> _STEP_BITS] += 1
            steps[leading >> _STEP_BITS] += leading & (STEPS_PER_BIN - 1)


@cached(**REORDERED)
def soft_and_soft(columns, other_columns, first_item, last_item, sums, counts, steps):
    """For each item: the sum of absolute differences between distances in two partitions.

    `counts` and `steps`, shape (2, N_BINS), gather the distances of each; those of shape (2, 0) are
    left as they are.
    """
    n_rows = columns.shape[1]
    n_strips = (n_rows + TILE - 1) // TILE
    tile, distance = empty((columns.shape[0], TILE)), empty(TILE)
    other_tile, other = empty((other_columns.shape[0], TILE)), empty(TILE)
    for item in range(first_item, last_item):
        apart = 0.0
        for half in range(2):
            strip = _strip(item, n_strips, half)
            if strip < 0:
                continue
            for start in range(strip * TILE, n_rows, TILE):
                _load(columns, start, tile)
                _load(other_columns, start, other_tile)
                for i in range(strip * TILE, min((strip + 1) * TILE, n_rows)):
                    first, last = max(i + 1 - start, 0), min(TILE, n_rows - start)
                    _distances(columns[:, i], tile, distance)
                    _distances(other_columns[:, i], other_tile, other)
                    later, other_later = distance[first:last], other[first:last]
                    for j in range(later.size):
                        apart += abs(later[j] - other_later[j])
                    if counts.shape[1] > 0:
                        _count(later, counts[0], steps[0])
                        _count(other_later, counts[1], steps[1])
        sums[item] = apart
