"""Sums over near rows only: linear work for narrow kernels, with a bound on what is left out."""

from typing import Any, ClassVar

import numpy as np

from typicality._threads import over_ranges
from typicality.kernels import Stationary
from typicality.operators.base import Floats
from typicality.operators.columns import Columns, Evaluated
from typicality.operators.row_tree import RowTree

__all__ = ["Truncated", "can_truncate"]

_POINTS_OF_A_TASK = 64
_SAMPLE = 64  # points that tell how much work the others will be


class Truncated:
    r"""Products in which rows beyond the support of the kernel are left out.

    Rows stand in the leaves of a k-d tree; a leaf is skipped when its bounding box is farther from
    the point than the radius R at which the kernel falls to `rtol`. What is skipped adds at most

    .. math:: \Big| \sum_{r \text{ skipped}} K(x, x_r) W_{rk} \Big| \le
        \text{rtol} \sum_r |W_{rk}|,

    the promise of an operator. With ``rtol=0`` nothing is skipped and sums are exact. A point gets
    the same numbers alone and in any batch.

    Costs O((log n + m) d) a point, m the rows within R and a little more; O(n d) memory.

    Parameters
    ----------
    columns : Evaluated
        A kernel that can be truncated (see `can_truncate`) against the training rows.
    rows : array of shape (m, d)
        The points.
    rtol : float
        The promise.
    tree : RowTree, optional
        The training rows in order, where they were ordered before.
    """

    method: ClassVar[str] = "truncated"

    def __init__(
        self, columns: Evaluated, rows: Floats, *, rtol: float, tree: RowTree | None = None
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.rtol = rtol
        self.tree = RowTree.of(columns.training) if tree is None else tree

    def __matmul__(self, weights: Floats) -> Floats:
        return self._sums(self.rows, weights)[0]

    def complement(self, weights: Floats) -> Floats:
        total: Floats = weights.sum(axis=0)
        return total - self @ weights

    @property
    def working_memory(self) -> int:
        return self.tree.n_bytes

    def share_of_work(self) -> float:
        """The part of all leaves that is not skipped, from a sample of the points."""
        every = np.linspace(0, len(self.rows) - 1, min(_SAMPLE, len(self.rows))).astype(np.intp)
        no_weights = np.empty((self.columns.n_training, 0))
        _, n_added = self._sums(self.rows[every], no_weights)
        return n_added / (len(every) * len(self.tree.columns))

    def _sums(self, points: Floats, weights: Floats) -> tuple[Floats, int]:
        from typicality.compiled import sum_near  # numba takes a second to load

        tree, kernel = self.tree, self.columns.kernel_object
        points = np.ascontiguousarray(points, np.float64)
        placed = tree.weights(weights)
        sums = np.empty((len(points), weights.shape[1]))
        counts: list[int] = []

        def add(first: int, last: int) -> None:
            counts.append(
                sum_near(
                    points,
                    kernel.twin,
                    _reach(kernel, self.rtol),
                    tree.columns,
                    placed,
                    tree.leaf_of,
                    tree.lower,
                    tree.upper,
                    first,
                    last,
                    sums,
                )
            )

        over_ranges(add, len(points), at_least=_POINTS_OF_A_TASK)
        return sums, sum(counts)


def can_truncate(columns: Columns) -> bool:
    """Whether there are compiled sums for the kernel."""
    if not isinstance(columns, Evaluated):
        return False
    kernel: Any = columns.kernel_object
    return isinstance(kernel, Stationary) and kernel.twin is not None


def _reach(kernel: Stationary, rtol: float) -> float:
    """The radius of the support in the measure of the kernel: squared where that is."""
    radius = kernel.support_radius(rtol)
    return radius**2 if kernel.metric == "sqeuclidean" else radius
