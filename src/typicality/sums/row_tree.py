"""Training rows in the leaves of a k-d tree, for sums over blocks of near rows."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KDTree

from typicality._typing import Doubles, Floats, Places

# A leaf has at least this number of rows, and at most twice as many. Few rows make small boxes, of
# which more can be skipped; in many dimensions hardly any can, and long loops are quicker.
_LEAF_ROWS = 32
_LEAF_ROWS_OF_MANY_DIMENSIONS = 64
_MANY_DIMENSIONS = 5
_LANES = 16  # leaves are filled up to a multiple, so that vector instructions leave no rest


class Blocks(NamedTuple):
    """What compiled sums know of the rows: the tree, and the rows in single precision.

    Node i has the children 2 i + 1 and 2 i + 2; the leaves are the last nodes, in order.

    Parameters
    ----------
    columns : array of shape (n_leaves, d, leaf_rows), float64
        The features of the rows of each leaf; a leaf with fewer rows is filled up with any.
    counts : array of shape (n_leaves,)
        The number of its rows.
    lower, upper : arrays of shape (n_nodes, d)
        The bounding boxes.
    centres : array of shape (n_leaves, d), float64
        The middle of each leaf.
    columns_32 : array of shape (n_leaves, d, leaf_rows), float32
        The features relative to the centre, times `root`.
    narrow : array of shape (n_leaves,), bool
        Whether single precision will do for the leaf.
    single_reach : float
        The distance, in the measure of the kernel, from which single precision will not do.
    root : float
        What makes the distance of scaled features an exponent.
    """

    columns: Doubles
    counts: NDArray[np.int64]
    lower: Doubles
    upper: Doubles
    centres: Doubles
    columns_32: NDArray[np.float32]
    narrow: NDArray[np.bool_]
    single_reach: float
    root: float


class RowTree(NamedTuple):
    """Rows in the leaves of a k-d tree that is complete, and the bounding boxes of its nodes.

    Parameters
    ----------
    slots : array of shape (n_leaves, leaf_rows)
        The rows of each leaf; -1 where it has no more.
    counts : array of shape (n_leaves,)
        Their number.
    columns : array of shape (n_leaves, d, leaf_rows), float64
        Their features.
    lower, upper : arrays of shape (n_nodes, d)
        The bounding boxes. The children of node i are 2 i + 1 and 2 i + 2; the leaves come last.
    """

    slots: Places
    counts: NDArray[np.int64]
    columns: Doubles
    lower: Doubles
    upper: Doubles

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """Sort the rows into leaves. Costs O(n log n)."""
        many = rows.shape[1] >= _MANY_DIMENSIONS
        leaf_rows = _LEAF_ROWS_OF_MANY_DIMENSIONS if many else _LEAF_ROWS
        tree = KDTree(rows, leaf_size=leaf_rows)
        data, order, nodes, bounds = (np.asarray(array) for array in tree.get_arrays())
        is_leaf = nodes["is_leaf"] == 1
        first, last = nodes["idx_start"][is_leaf][:, None], nodes["idx_end"][is_leaf][:, None]
        counts = (last - first)[:, 0].astype(np.int64)
        place = first + np.arange(-(-int(counts.max()) // _LANES) * _LANES)
        slots = np.where(place < last, order[np.where(place < last, place, 0)], -1)
        columns = np.ascontiguousarray(data[slots].transpose(0, 2, 1))
        return cls(slots, counts, columns, bounds[0].copy(), bounds[1].copy())

    @property
    def n_leaves(self) -> int:
        return len(self.slots)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    def placed(self, values: Floats) -> Doubles:
        """Values of shape (n, c) in the slots of their rows, shape (n_leaves, c, leaf_rows)."""
        placed = np.where(self.slots[:, :, None] >= 0, values[self.slots], 0.0)
        return np.ascontiguousarray(placed.transpose(0, 2, 1))

    def gathered(self, placed: Floats) -> Doubles:
        """The inverse of `placed`."""
        taken = self.slots >= 0
        values = np.empty((self.n_rows, placed.shape[1]))
        values[self.slots[taken]] = placed.transpose(0, 2, 1)[taken]
        return values

    def sums_of_nodes(self, of_leaves: Floats) -> Doubles:
        """What nodes have in sum, given what leaves have; shape (n_nodes, ...)."""
        levels = [of_leaves]
        while len(levels[-1]) > 1:
            levels.append(levels[-1][::2] + levels[-1][1::2])
        return np.concatenate(levels[::-1])
