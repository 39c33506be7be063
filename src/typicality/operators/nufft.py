"""Gaussian sums through Fourier series: linear in the rows, for at most three features."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from typicality._threads import over_blocks
from typicality._typing import Doubles, Floats
from typicality.kernels import Gaussian
from typicality.operators.base import Operator, memory_limit
from typicality.operators.columns import KernelColumns
from typicality.operators.fourier_grid import LARGEST_RTOL, FourierGrid, no_grid_because
from typicality.operators.fourier_pieces import (
    Complex,
    Pieces,
    Transforms,
    cell_order,
    fill,
    memory_of,
)

_BLOCK_ROWS = 2**16  # of work between transforms

_FINER_RTOLS = 1e-11, 1e-10, 1e-9  # for small sums: more digits cost little, exact sums much


class Nufft(Operator):
    r"""Products with a Gaussian kernel matrix by nonuniform fast Fourier transforms.

    With the Fourier coefficients :math:`g_k` of the kernel made periodic (see `FourierGrid`),

    .. math:: (K W)_h \approx \sum_k e^{i \omega_k \cdot x_h} \, g_k
        \sum_r e^{-i \omega_k \cdot x_r} W_r :

    a transform of type 1, a product with the spectrum, and a transform of type 2, by finufft
    (:cite:`barnett2019`). Two columns are the real and imaginary part of one transform. The modes
    follow from the promise by the error analysis in docs/theory.

    Rows are taken in pieces, in the order of cells in space. A piece is summed by one thread and
    the sums are added in a fixed order, so results do not depend on the number of threads; those of
    finufft do. Where the modes are few, or few against the rows (`pieces.at_once`), pieces run in
    threads of ours, elsewhere one after the other.

    Costs O(n w^d + M log M) time a product for M modes and kernels of w points of a grid, w about
    the number of digits of the promise; memory O(n / 2 + M), beyond the rows.

    Parameters
    ----------
    columns : KernelColumns
        A Gaussian kernel against the training rows.
    rtol : float
        The promise.
    """

    def __init__(self, columns: KernelColumns, *, rtol: float) -> None:
        kernel, rows = columns.kernel_function, columns.training
        reason = refusal(kernel, rows, rtol)
        if reason is not None:
            raise ValueError(f"Fourier series cannot compute these sums: {reason}.")
        self.columns = columns
        self.rtol = rtol
        self.grid = FourierGrid.of(kernel, *_box(rows), rtol)
        self.pieces = Pieces.of(self.grid, len(rows))
        self._order = cell_order(self.grid, rows, self.pieces)
        keep = self.pieces.keeps_plans
        self._transforms = Transforms(self.grid, self.pieces, rows, self._order, keep)

    @property
    def how(self) -> str:
        return (
            f"sums over {self.columns.n_training:,} rows use a Fourier series of "
            f"{self.grid.n_modes:,} terms, with an error of at most {self.rtol:.0e} of the total "
            "weight; an iteration is two transforms."
        )

    def __matmul__(self, weights: Floats) -> Floats:
        scale = _column_sums(weights)
        sums = np.empty(weights.shape)
        for columns, modes in self._transforms.modes(weights, scale):
            self._transforms.evaluate(modes, scale[columns], sums[:, columns])
        return sums

    def complement(self, weights: Floats) -> Floats:
        sums = self @ weights
        total = _sum_over_blocks(lambda rows: weights[rows].sum(axis=0), len(weights))

        def subtract(rows: slice) -> None:
            np.subtract(total, sums[rows], out=sums[rows])

        over_blocks(subtract, len(sums), _BLOCK_ROWS)
        return sums

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> "FourierExpansion":
        """The same sums at any points, from a grid with room around the rows.

        If a finer promise is asked for, the series keeps an even finer one where it has no more
        terms than there are rows.
        """
        kernel, rows = self.columns.kernel_function, self.columns.training
        promise = self.rtol if rtol is None else self._finer(rtol)
        grid = _roomy_grid(kernel, rows, promise)
        transforms = Transforms(grid, Pieces.of(grid, len(rows)), rows, self._order, keep=False)
        scale = _column_sums(weights)
        batches = [modes for _, modes in transforms.modes(weights, scale)]
        modes = batches[0] if len(batches) == 1 else np.concatenate(batches)
        return FourierExpansion(grid, modes, scale, weights.sum(axis=0))

    def _finer(self, rtol: float) -> float:
        """The promise for small sums: as fine as costs little, or `rtol`, or that of products."""
        kernel, rows = self.columns.kernel_function, self.columns.training
        few_modes = [
            finer
            for finer in _FINER_RTOLS
            if finer < rtol and _roomy_grid(kernel, rows, finer).n_modes <= len(rows)
        ]
        for promise in (*few_modes, rtol):
            if refusal(kernel, rows, promise) is None:
                return promise
        return self.rtol


@dataclass(frozen=True, eq=False)
class FourierExpansion:
    r"""Gaussian sums at any points from their Fourier coefficients; the rows are not kept.

    Points farther from the box of the rows than the kernel reaches get 0, so that the period does
    not show. A point gets the same bits in any batch and for any number of threads.

    Costs O(m w^d + M log M) for m points and M modes; memory O(M).

    Parameters
    ----------
    grid : FourierGrid
        The modes, with room around the rows.
    modes : array of shape (ceil(c / 2), \*grid.shape)
        Coefficients of the sums, two columns as real and imaginary part.
    scale : array of shape (c,)
        What the sums were divided by.
    total : array of shape (c,)
        The sums of the weights.
    """

    grid: FourierGrid
    modes: Annotated[Complex, "..."]
    scale: Annotated[Doubles, "c"]
    total: Annotated[Doubles, "c"]

    @property
    def rtol(self) -> float:
        return self.grid.rtol

    def error(self, sums: Floats) -> float:
        return self.rtol

    def at(self, points: Floats) -> Floats:
        sums = np.zeros((len(points), len(self.scale)))
        pieces = Pieces.in_threads(self.grid, len(points))

        def evaluate(first: int, last: int) -> None:
            plan = pieces.plan(2, self.grid)
            for piece in range(first, last):
                rows = pieces.rows(piece)
                self._evaluate(plan, points[rows], sums[rows])

        pieces.run(evaluate)
        return sums

    def complement_at(self, points: Floats) -> Floats:
        complement: Floats = self.total - self.at(points)
        return complement

    def _evaluate(self, plan: Any, points: Floats, sums: Floats) -> None:
        grid = self.grid
        near = (points >= grid.low - grid.reach) & (points <= grid.high + grid.reach)
        reached = np.flatnonzero(near.all(axis=1))
        if len(reached):
            plan.setpts(*grid.coordinates(points[reached]))
            fill(plan, self.modes, self.scale, sums, reached)


def _column_sums(weights: Floats) -> Doubles:
    """Sums of absolute weights: columns of one transform are brought to the same size."""
    return _sum_over_blocks(lambda rows: np.abs(weights[rows]).sum(axis=0), len(weights))


def _sum_over_blocks(of_block: Callable[[slice], Floats], n_rows: int) -> Doubles:
    return np.asarray(np.sum(over_blocks(of_block, n_rows, _BLOCK_ROWS), axis=0, dtype=np.float64))


def _box(rows: Floats) -> tuple[Floats, Floats]:
    def of_block(block: slice) -> tuple[list[Floats], list[Floats]]:
        columns = rows[block].T  # one by one they are quicker than with axis=0
        return [column.min() for column in columns], [column.max() for column in columns]

    low, high = zip(*over_blocks(of_block, len(rows), _BLOCK_ROWS), strict=True)
    return np.min(low, axis=0), np.max(high, axis=0)


def _roomy_grid(kernel: Gaussian, rows: Floats, rtol: float) -> FourierGrid:
    """The grid for rows and for points as far outside of their box as the kernel reaches."""
    reach = kernel.support_radius(min(rtol, LARGEST_RTOL))
    return FourierGrid.of(kernel, *_box(rows), rtol, reach=reach)


def too_fine(grid: FourierGrid) -> str | None:
    """Why double precision does not keep the promise of a grid, in one clause; None if it does."""
    if grid.rounding <= grid.rtol / 4:
        return None
    return (
        f"rtol={grid.rtol:.1g} is below the rounding of Fourier sums over "
        f"{float(grid.period.max() / grid.sigma):.1g} widths of the kernel"
    )


def refusal(kernel: Any, rows: Floats, rtol: float) -> str | None:
    """Why these sums cannot be computed this way, in one clause; None where they can.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : array of shape (n, d)
        The training rows.
    rtol : float
        The promise.
    """
    reason = no_grid_because(kernel, rows.shape[1], rtol)
    if reason is not None:
        return reason
    grid = _roomy_grid(kernel, rows, rtol)
    reason = too_fine(grid)
    if reason is not None:
        return reason
    allowed = memory_limit()
    needed = memory_of(grid, len(rows))
    if needed > allowed:
        return (
            f"{grid.n_modes:,} Fourier modes and {len(rows):,} rows need "
            f"{math.ceil(needed / 2**20):,} MiB, and {allowed // 2**20:,} MiB are allowed"
        )
    return None
