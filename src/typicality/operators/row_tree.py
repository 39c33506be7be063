"""Training rows in the leaves of a k-d tree, for sums that leave far rows out."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KDTree

from typicality.operators.base import Floats

__all__ = ["RowTree"]

_LEAF_ROWS = 32  # at the least, where there are so many; at most twice as many
_LANES = 8  # leaves are filled up to a multiple, so that vector instructions leave no rest


@dataclass(frozen=True, eq=False)
class RowTree:
    """Rows in the leaves of a k-d tree, and the bounding boxes of its nodes.

    Parameters
    ----------
    slots : array of shape (n_leaves, leaf_rows)
        The rows of each leaf; -1 where it has no more.
    columns : array of shape (n_leaves, d, leaf_rows), float64
        Their features.
    leaf_of : array of shape (n_nodes,), int64
        Which leaf a node is; -1 for one with children, which are nodes 2 i + 1 and 2 i + 2.
    lower, upper : arrays of shape (n_nodes, d)
        The bounding boxes.
    """

    slots: NDArray[np.intp]
    columns: NDArray[np.float64]
    leaf_of: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """Sort the rows into leaves. Costs O(n log n)."""
        tree = KDTree(rows, leaf_size=_LEAF_ROWS)
        data, order, nodes, bounds = (np.asarray(array) for array in tree.get_arrays())
        is_leaf = nodes["is_leaf"] == 1
        leaf_of = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
        slots = _slots(order, nodes["idx_start"][is_leaf], nodes["idx_end"][is_leaf])
        columns = np.ascontiguousarray(data[slots].transpose(0, 2, 1))
        return cls(slots, columns, leaf_of, bounds[0].copy(), bounds[1].copy())

    def weights(self, weights: Floats) -> NDArray[np.float64]:
        """Weights of shape (n, c) in the slots of the rows, shape (n_leaves, c, leaf_rows)."""
        placed = np.where(self.slots[:, :, None] >= 0, weights[self.slots], 0.0)
        return np.ascontiguousarray(placed.transpose(0, 2, 1))

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""
        arrays = (self.slots, self.columns, self.leaf_of, self.lower, self.upper)
        return sum(array.nbytes for array in arrays)


def _slots(
    order: NDArray[np.intp], first: NDArray[np.intp], last: NDArray[np.intp]
) -> NDArray[np.intp]:
    longest = int((last - first).max())
    place = first[:, None] + np.arange(-(-longest // _LANES) * _LANES)
    inside = place < last[:, None]
    return np.where(inside, order[np.where(inside, place, 0)], -1)
