"""Sums at points that have next to no row near: exact, however small."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from typicality._cached import cached_property
from typicality._threads import over_blocks, over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.sums.columns import KernelColumns
from typicality.sums.row_tree import Blocks
from typicality.sums.tiles import blocks_of

_SHARE = 1e-10  # of a sum, may be left out
_ROUNDING = 1e-15
_POINTS_OF_A_TASK = 16
_MOST_NEAR = 256  # rows on a line, beyond which a second line is not asked
_BLOCK_ROWS = 2**17  # of work over threads


@dataclass(frozen=True, eq=False)
class ExactTails:
    r"""Kernel sums in the domain of logarithms, and the rows a point coincides with.

    .. math:: \log \sum_{r:\, 1 - K(x, x_r) > \epsilon} w_r K(x, x_r) =
        \log K(x, x_*) + \log \sum_r w_r \frac{K(x, x_r)}{K(x, x_*)}

    with :math:`x_*` the nearest of those rows that has a weight. Near blocks of rows come
    first. A block is left out where the kernel is below :math:`10^{-10}` of the sum so far over
    :math:`\sum_r w_r`: together they add less than that part of the sum, however small it is. Each
    point gets the same numbers in any batch.

    Costs O(d) a row within that distance, and O(d log n).

    Parameters
    ----------
    columns : KernelColumns
        A kernel that has compiled sums against the training rows.
    weights : array of shape (n,)
        The weights, none negative.
    sample_weight : array of shape (n,)
        How many copies each training row stands for.
    nearest : float
        Rows coincide with a point where one minus the kernel is no more than this.
    """

    columns: KernelColumns
    weights: Floats
    sample_weight: Floats
    nearest: float

    def log_sums(self, points: Floats) -> tuple[Doubles, Doubles, Doubles]:
        """The logarithm of the sum over the rows elsewhere; weight and copies of those here.

        Minus infinity where no row elsewhere has a weight.
        """
        from typicality.compiled.point_sums import log_sums_at  # numba takes a second to load

        at = np.ascontiguousarray(points, np.float64)
        log_sums = np.empty(len(at))
        # Before the threads begin, each of which would make them.
        placed, of_nodes = self._placed[0], self._of_nodes
        given = self._form, self._blocks, placed, of_nodes, self._nearest, _SHARE, at

        def add(first: int, last: int) -> None:
            log_sums_at(*given, first, last, log_sums)

        over_ranges(add, len(at), at_least=_POINTS_OF_A_TASK)
        return log_sums, *self.coincidences(points)

    def coincidences(self, points: Floats) -> tuple[Doubles, Doubles]:
        """Weight and copies of the rows that coincide with each point. Costs O(d log n) a point."""
        from typicality.compiled.point_sums import coincidences_at

        at = np.ascontiguousarray(points, np.float64)
        counts = np.zeros((len(at), 2))
        given = self._form, self._blocks, *self._placed, self._nearest, at

        def add(first: int, last: int) -> None:
            coincidences_at(*given, first, last, counts)

        over_ranges(add, len(at), at_least=_POINTS_OF_A_TASK)
        return counts[:, 0], counts[:, 1]

    def coincidences_of_rows(self) -> tuple[Doubles, Doubles]:
        """The same for the training rows themselves. Costs a sort of n numbers.

        Rows that coincide have nearly the same projection on any line: only those that have two
        projections in common with others are looked at.
        """
        some = self._rows_not_alone()  # before the arrays below take memory
        own, copies = self.weights.astype(np.float64), self.sample_weight.astype(np.float64)
        if len(some):
            rows = KernelColumns(self.columns.kernel_function, self.columns.training[some])
            among = replace(self, columns=rows, weights=own[some], sample_weight=copies[some])
            own[some], copies[some] = among.coincidences(rows.training)
        return own, copies

    def _rows_not_alone(self) -> Places:
        """Rows that have another row within reach, as far as two projections can tell.

        In many columns, most rows have a neighbour on a line, but few have one on two lines.
        """
        rows = self.columns.training
        line = np.sqrt(np.arange(2.0, 2.0 + rows.shape[1]))  # no lattice is regular along it
        lines = np.column_stack([line, line * (-1.0) ** np.arange(len(line))])
        along, middle = np.empty((len(rows), 2)), rows[0].astype(np.float64)

        def project(block: slice) -> None:
            along[block] = (rows[block] - middle) @ lines

        over_blocks(project, len(rows), _BLOCK_ROWS)
        order = np.argsort(along[:, 0])
        first, second = along[order].T
        reach = self.columns.kernel_function.support_radius(1.0 - max(self._nearest, _ROUNDING))
        largest = np.abs(along).max()
        apart = np.linalg.norm(line) * reach + 16 * _ROUNDING * largest
        shared = np.zeros(len(rows), np.bool_)
        for step in range(1, min(_MOST_NEAR, len(rows) - 1) + 1):
            near = first[step:] - first[:-step] <= apart
            if not near.any():
                break
            if step < _MOST_NEAR:  # of more rows, all may be near
                near &= np.abs(second[step:] - second[:-step]) <= apart
            shared[step:] |= near
            shared[:-step] |= near
        return np.sort(order[shared])

    @property
    def _form(self) -> Any:
        return self.columns.kernel_function.compiled_form

    @property
    def _nearest(self) -> float:
        return min(self.nearest, 1.0)

    @cached_property
    def _blocks(self) -> Blocks:
        return blocks_of(self.columns, single=False)

    @cached_property
    def _placed(self) -> Doubles:
        """Weights and copies, both contiguous: few rows need no compiled code of their own then."""
        placed = self.columns.tree.placed(np.column_stack([self.weights, self.sample_weight]))
        return np.ascontiguousarray(placed.swapaxes(0, 1))

    @cached_property
    def _of_nodes(self) -> Doubles:
        return self.columns.tree.sums_of_nodes(self._placed[0].sum(axis=1))
