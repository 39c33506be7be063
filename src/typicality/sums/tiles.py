"""Compiled sums, a tile of two blocks of rows at a time: all of them, or the near ones alone."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from typicality._cached import cached_property
from typicality._threads import over_pairs, over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.kernels import Stationary
from typicality.sums.base import Expansion, Operator, matrix_of
from typicality.sums.columns import KernelColumns, evenly_spaced, has_compiled_sums
from typicality.sums.dense import DenseSums
from typicality.sums.row_tree import Blocks, RowTree

SINGLE_RTOL = 8e-7  # what single precision may cost, of the sum of the absolute weights

_SINGLE_RELATIVE = 5e-6  # of a sum that is above 1e-13 of all weight
_DOUBLE_RELATIVE = 1e-14
_SINGLE_LOST, _DOUBLE_LOST = 1e-32, 1e-306  # of all weight: smaller values are taken for 0
_SINGLE_UNIT = 2.0**-100  # values in single precision are so much larger
_MOST_SINGLE_FEATURES = 32  # errors of more, if they are alike, add up to more than the promise
_SINGLE_LEAST_WEIGHT = 2.0**-110  # of the largest; products with smaller ones would underflow
_SINGLE_LEAST_WIDTH = 1e-12  # of the data, in units of the kernel: squares of less underflow
_GROUP_ROWS = 1024  # rows that are worth a task
_MOST_GROUPS = 64
_POINTS_OF_A_TASK = 64
_SAMPLE = 32  # blocks, from which the work of all is estimated
_NEARLY_ALL = 0.995


class _Weights(NamedTuple):
    """Weights in the slots of their rows, in both precisions, and their totals in each leaf."""

    placed: Doubles
    placed_32: NDArray[np.float32]
    units: Doubles
    units_32: Doubles
    total: Doubles


class Tiles(Operator):
    r"""Products with the kernel matrix of the training rows, a tile at a time.

    Rows stand in the leaves of a k-d tree. The tile of two leaves is computed once and added to
    both.

    With `single`, tiles are computed in single precision about the centre of a leaf and summed in
    double precision, but for leaves wider than single precision allows, and for pairs of leaves
    with values below 1e-5 throughout. That is off by 8e-7 of :math:`\sum_r |W_{rk}|` at the most;
    a sum of weights that are not negative is off by 1e-6 of itself as long as it is above 1e-3 of
    all weight, and by :math:`10^{-6} \log(1 / s) / 6` of itself where it is s < 1e-3 of it. Values
    below 1e-33, and weights below 1e-33 of the largest, are taken for 0.

    With `rtol`, tiles of leaves whose boxes are farther apart than the radius at which the kernel
    falls to `rtol` are left out: they add at most

    .. math:: \Big| \sum_{r \text{ skipped}} K(x, x_r) W_{rk} \Big| \le
        \text{rtol} \sum_r |W_{rk}|.

    The complement is the sum over :math:`1 - K` itself: it keeps its relative precision for wide
    kernels.

    Costs O(n^2 (d + c)) a product, O(n (d + c)) for kernels that are narrow against the data, and
    O(n (d + c)) memory. Results do not depend on the number of threads.

    Parameters
    ----------
    columns : KernelColumns
        A kernel that has compiled sums (see `has_compiled_sums`) against the training rows.
    rtol : float, default=0.0
        The promise for what is skipped; that of single precision comes on top.
    single : bool, default=False
        Whether single precision is used inside a tile.
    """

    columns: KernelColumns

    def __init__(self, columns: KernelColumns, *, rtol: float = 0.0, single: bool = False) -> None:
        self.columns = columns
        self.single = single and columns.training.shape[1] <= _MOST_SINGLE_FEATURES
        self.skip_rtol = rtol
        self.rtol = rtol + SINGLE_RTOL * self.single

    @classmethod
    def of(cls, columns: KernelColumns, rtol: float) -> Self:
        """With a promise for the whole: in single precision where that leaves room to skip.

        Nothing is skipped where that would be hardly anything: small sums are then known better.
        """
        single = rtol >= 1.05 * SINGLE_RTOL
        skipping = cls(columns, rtol=rtol - SINGLE_RTOL * single, single=single)
        few_skipped = skipping.share_of_work() > _NEARLY_ALL
        return cls(columns, single=single) if few_skipped else skipping

    @property
    def how(self) -> str:
        share, matrix = self.share_of_work(), matrix_of(self.columns.n_training)
        if share == 1.0:
            return f"{matrix} is computed again in each iteration, tile by tile, by compiled code."
        return (
            f"{1 - share:.0%} of {matrix} is left out: pairs of rows so far apart that the kernel "
            f"adds less than {self.skip_rtol:.0e} to a mean. The rest is computed again each time."
        )

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> "TileExpansion":
        """The same sums at any points; `rtol` is a finer promise for what is skipped."""
        skipped = self.skip_rtol if rtol is None else min(rtol, self.skip_rtol)
        return TileExpansion(self.columns, weights, skipped, self.single)

    @cached_property
    def blocks(self) -> Blocks:
        """What compiled sums know of the rows."""
        return blocks_of(self.columns, single=self.single)

    def complement(self, weights: Floats) -> Floats:
        from typicality.compiled.pair_sums import sum_pairs  # numba takes a second to load

        kernel, tree = self.columns.kernel_function, self.columns.tree
        reach = _reach(kernel, self.skip_rtol)
        placed = _placed(tree, weights, single=self.single)
        sums = np.zeros_like(placed.placed)
        near = np.zeros((tree.n_leaves, weights.shape[1] + 1))
        pairs = self._pairs(reach)
        given = kernel.compiled_form, self.blocks, placed, reach

        def add(pair: int) -> None:
            sum_pairs(*given, pairs, pair, pair + 1, sums, near)

        over_pairs(add, pairs)
        sums += _weight_of_skipped(placed, near)[:, :, None]
        return tree.gathered(sums)

    def _pairs(self, reach: float) -> NDArray[np.int64]:
        """Pairs of nodes that are near enough, in an order in which a node seldom comes twice."""
        kernel, tree = self.columns.kernel_function, self.columns.tree
        wanted = max(1, min(tree.n_rows // _GROUP_ROWS, _MOST_GROUPS, tree.n_leaves))
        n_groups = 2 ** int(math.log2(wanted))
        pairs = np.concatenate(_tournament(n_groups)) + (n_groups - 1)
        return np.asarray(pairs[_between(kernel, tree, *pairs.T) <= reach])

    def share_of_work(self) -> float:
        """The part of all pairs of rows that is not skipped, from a sample of the blocks."""
        kernel, tree = self.columns.kernel_function, self.columns.tree
        sample = evenly_spaced(tree.n_leaves, _SAMPLE)
        leaves = np.arange(len(tree.lower) - tree.n_leaves, len(tree.lower))
        distance = _between(kernel, tree, leaves[sample][:, None], leaves)
        near = (distance <= _reach(kernel, self.skip_rtol)) @ tree.counts
        return float(near @ tree.counts[sample] / (tree.counts[sample].sum() * tree.n_rows))


@dataclass(frozen=True, eq=False)
class TileExpansion:
    """Kernel sums at any points, each point by itself against the blocks of the training rows.

    The blocks are made at the first use, and again by a copy that was pickled or read from a file:
    they follow from the rows.

    Parameters
    ----------
    columns : KernelColumns
        A kernel that has compiled sums against the training rows.
    weights : array of shape (n, c)
        The weights of the training rows.
    skip_rtol : float
        The promise for what is skipped; 0 where nothing is.
    single : bool
        Whether single precision is used inside a tile.
    """

    columns: KernelColumns
    weights: Annotated[Floats, "n c"]
    skip_rtol: float
    single: bool

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _blocks(self) -> Blocks:
        return blocks_of(self.columns, single=self.single)

    @cached_property
    def _placed(self) -> _Weights:
        return _placed(self.columns.tree, self.weights, single=self.single)

    @property
    def rtol(self) -> float:
        return self.skip_rtol + SINGLE_RTOL * self.single

    def error(self, sums: Floats) -> Floats:
        relative = _SINGLE_RELATIVE if self.single else _DOUBLE_RELATIVE
        return self.skip_rtol + (_SINGLE_LOST if self.single else _DOUBLE_LOST) + relative * sums

    def at(self, points: Floats, *, complement: bool = False) -> Doubles:
        from typicality.compiled.point_sums import sum_at

        kernel, placed = self.columns.kernel_function, self._placed
        reach = _reach(kernel, self.skip_rtol)
        given = kernel.compiled_form, self._blocks, placed, reach, complement
        order = _near_one_another(points) if reach < math.inf else np.arange(len(points))
        in_order = np.ascontiguousarray(points[order], np.float64)
        n_columns = self.weights.shape[1]
        sums = np.zeros((len(points), n_columns))
        near = np.zeros((len(points), n_columns + 1))

        def add(first: int, last: int) -> None:
            sum_at(*given, in_order, first, last, sums, near)

        over_ranges(add, len(points), at_least=_POINTS_OF_A_TASK)
        if complement:
            sums += _weight_of_skipped(placed, near)
        out = np.empty_like(sums)
        out[order] = sums
        return out


def exact_expansion(columns: KernelColumns, weights: Floats) -> Expansion:
    """Exact sums over all training rows at any points, compiled where there is such code."""
    if has_compiled_sums(columns):
        return Tiles(columns).expansion(weights)
    return DenseSums(columns, weights)


def _near_one_another(points: Floats) -> Places:
    """An order in which points that follow one another are mostly near in space."""
    if len(points) <= _POINTS_OF_A_TASK:
        return np.arange(len(points))
    # Cells, not medians: any order will do that keeps neighbours together, and this is quick.
    tree = cKDTree(points, leafsize=_POINTS_OF_A_TASK, balanced_tree=False, compact_nodes=False)
    return np.asarray(tree.indices)


def _weight_of_skipped(weights: _Weights, near: Doubles) -> Doubles:
    """The weight of the blocks that were skipped, given that of the others and their number.

    There the kernel is zero, so that this is what they add to the sum over its complement.
    """
    all_near = near[:, -1:] == len(weights.total)
    return np.where(all_near, 0.0, weights.total.sum(axis=0) - near[:, :-1])


def _reach(kernel: Stationary, rtol: float) -> float:
    """The radius of the support in the measure of the kernel: squared where that is."""
    radius = kernel.support_radius(rtol)
    return radius**2 if kernel.metric == "sqeuclidean" else radius


def _between(
    kernel: Stationary, tree: RowTree, some: NDArray[np.int64], others: NDArray[np.int64]
) -> Doubles:
    """Distances between the boxes of nodes, in the measure of the kernel."""
    distance = np.zeros(np.broadcast_shapes(some.shape, others.shape))
    with np.errstate(over="ignore"):  # infinite is far
        for lower, upper in zip(tree.lower.T, tree.upper.T, strict=True):
            gap = np.maximum(lower[some] - upper[others], lower[others] - upper[some])
            gap = gap.clip(min=0.0)
            distance += gap**2 if kernel.metric == "sqeuclidean" else gap
    return distance


def _tournament(n_groups: int) -> list[NDArray[np.int64]]:
    """All pairs of groups, in rounds in which every group occurs once; first each with itself.

    The circle method of tournaments: one player stays, the others move on by one chair a round.
    """
    every = np.arange(n_groups, dtype=np.int64)
    rounds = [np.column_stack([every, every])]
    for turn in range(n_groups - 1):
        moved = (every[1:] - 1 + turn) % (n_groups - 1) + 1
        seats = np.concatenate([[0], moved])
        pairs = np.column_stack([seats[: n_groups // 2], seats[: n_groups // 2 - 1 : -1]])
        rounds.append(np.sort(pairs, axis=1))
    return rounds


def _placed(tree: RowTree, weights: Floats, *, single: bool) -> _Weights:
    placed = tree.placed(weights)
    n_columns = weights.shape[1]
    largest = np.abs(weights).max(axis=0, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    placed_32 = np.zeros((tree.n_leaves, n_columns, 0), dtype=np.float32)
    if single:
        relative = placed / scale[:, None]
        relative[np.abs(relative) < _SINGLE_LEAST_WEIGHT] = 0.0
        placed_32 = relative.astype(np.float32)
    units = np.ones(n_columns)
    return _Weights(placed, placed_32, units, scale * _SINGLE_UNIT, placed.sum(axis=2))


def blocks_of(columns: KernelColumns, *, single: bool) -> Blocks:
    """What compiled sums know of the rows; with `single`, also in single precision."""
    tree, kernel = columns.tree, columns.kernel_function
    lower, upper = (box[-tree.n_leaves :] for box in (tree.lower, tree.upper))
    centres = 0.5 * lower + 0.5 * upper
    columns_32 = np.zeros((tree.n_leaves, 0, 0), dtype=np.float32)
    narrow, single_reach, root = np.zeros(tree.n_leaves, dtype=np.bool_), 0.0, 1.0
    if single:
        limits = kernel.single_precision(lower.shape[1])
        single_reach, root = _reach(kernel, limits.lowest), limits.scale
        extent = (tree.upper[0] - tree.lower[0]).max() * root
        with np.errstate(over="ignore"):  # infinite is too wide
            scaled = (tree.columns - centres[:, :, None]) * root
            norm = 2 if kernel.metric == "sqeuclidean" else 1
            half = np.linalg.norm(0.5 * root * (upper - lower), ord=norm, axis=1)
        narrow = (half <= limits.widest) & (extent >= _SINGLE_LEAST_WIDTH)
        scaled[~narrow] = 0.0
        columns_32 = scaled.astype(np.float32)
    return Blocks(
        tree.columns,
        tree.counts,
        tree.lower,
        tree.upper,
        centres,
        columns_32,
        narrow,
        single_reach,
        root,
    )
