"""Gaussian sums through Fourier series: linear in the rows, for at most three features."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcinv

from typicality._compat import effective_n_threads
from typicality._threads import over_blocks, over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.kernels import Gaussian
from typicality.operators.base import Operator, memory_limit
from typicality.operators.columns import KernelColumns

Complex = NDArray[np.complex128]
Index = slice | NDArray[np.integer]

_MOST_FEATURES = 3
_ROWS_AT_ONCE = 2**14  # that are gathered
_SMALLEST_RTOL = 1e-12
_LARGEST_RTOL = 1e-2  # a larger promise is kept as this one
_MOST_MODES_OF_AN_AXIS = 1e9
_ROUNDING = 4.0  # measured: a quarter of this, see docs/theory
_ROUNDING_OF_FEW_MODES = 10.0
_WIDE_GRID, _TIGHT_GRID = 2.0, 1.25
_POINTS_OF_A_WEIGHT = 10  # a weight takes as long as ten points of the grid (measured)
# With the tight grid the middle of the spectrum, where a Gaussian has its weight, is better than
# the tolerance of finufft: by no more than 2 tolerance^1.2 off within these limits (measured).
_TIGHT_SHARES = (1e-10, 1e-4)
_TIGHT_FACTOR, _TIGHT_POWER = 2.0, 1.2
_CELLS = 2**16 - 1  # that rows are ordered by; numbers of sixteen bits are sorted quickly
_FINE_SIZE_IN_CACHE = 2**14  # rows are not ordered for a grid that stays in the cache
_BYTES_OF_A_POINT = 24  # of finufft's grid, with the parts of it that threads fill before adding
_BYTES_OF_PLANS = 2**26
_BYTES_AT_A_POINT = 128  # that the grids of all threads together may take for each point
_BYTES_OF_MODES = 2**24  # of the sums of all pieces, which are held at once
_FEW_ROWS = 2**17  # plans are kept up to this number; beyond, their memory matters more than time
_FFT_SHARE = 0.2  # of the time of spreading, that pieces may cost by their Fourier transforms
_SPREADS_OF_AN_FFT = 4.0  # seconds of a unit of the transform over those of a unit of spreading
_SMALL_FINE_SIZE = 2**17  # a transform of a millisecond or two may be done for each of two pieces
_PIECES = 16  # enough for the threads of most machines
_ROWS_OF_A_PIECE = 2**13, 2**16  # at least, unless there are fewer; at most
_USUAL_POINTS = 2**17  # of a batch
_BLOCK_ROWS = 2**16  # of work between transforms
_FINER_RTOLS = 1e-11, 1e-10, 1e-9  # for small sums: more digits cost little, exact sums much


@dataclass(frozen=True, eq=False)
class FourierGrid:
    r"""The Fourier series of a Gaussian made periodic, cut where the promise allows it.

    With period :math:`P_a` on axis a and :math:`|k_a| \le M_a`,

    .. math:: K(x, y) \approx \sum_k g_k e^{i \omega_k \cdot (x - y)}, \qquad
        \omega_{k,a} = \frac{2 \pi k_a}{P_a}, \qquad
        g_k = \prod_a \frac{\sqrt{2 \pi} \sigma}{P_a} e^{-\sigma^2 \omega_{k,a}^2 / 2}.

    Modes are symmetric, so the series is real. Original to typicality is only the division of the
    promise among the sources of error, see docs/theory.

    Parameters
    ----------
    sigma, rtol : float
        The width of the kernel and the promise.
    low, high : array of shape (d,)
        The box that holds the rows.
    reach : float
        How far outside of the box points may be.
    period : array of shape (d,)
        The period on each axis.
    half : tuple of int
        The largest mode on each axis.
    """

    sigma: float
    rtol: float
    low: Annotated[Doubles, "d"]
    high: Annotated[Doubles, "d"]
    reach: float
    period: Annotated[Doubles, "d"]
    half: tuple[int, ...]

    @classmethod
    def of(
        cls, kernel: Gaussian, low: Floats, high: Floats, rtol: float, *, reach: float = 0.0
    ) -> Self:
        """The smallest grid that keeps the promise between rows in a box and points near it."""
        box = low.astype(np.float64), high.astype(np.float64)
        share = min(rtol, _LARGEST_RTOL) / (8 * len(low))
        # Images of a row begin where the kernel is a third of the share: all of them together
        # are below it. The tail of the spectrum is a complementary error function.
        clearance = kernel.support_radius(share / 3)
        period = box[1] - box[0] + reach + clearance
        half = np.ceil(period / kernel.sigma * (erfcinv(share) / (math.sqrt(2) * math.pi)))
        half = np.minimum(half, _MOST_MODES_OF_AN_AXIS)
        return cls(kernel.sigma, rtol, *box, reach, period, tuple(int(most) for most in half))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of modes on each axis; odd, so that finufft counts from -M to M."""
        return tuple(2 * most + 1 for most in self.half)

    @property
    def n_modes(self) -> int:
        return math.prod(self.shape)

    @property
    def n_bytes(self) -> int:
        """The memory of the coefficients of one or two columns."""
        return 16 * self.n_modes

    @property
    def rounding(self) -> float:
        """The part of an error that double precision allows for: it grows with period / sigma."""
        unit = float(np.finfo(np.float64).eps)
        return _ROUNDING * unit * float((_ROUNDING_OF_FEW_MODES + self.period / self.sigma).sum())

    @property
    def share(self) -> float:
        """What a transform may be off on one axis: two of them take half of the promise."""
        return min(self.rtol, _LARGEST_RTOL) / (4 * len(self.half))

    def coordinates(self, rows: Floats, index: Index | None = None) -> list[Doubles]:
        """Rows as angles, one array an axis; some of them, in the order of an index.

        Rows are gathered a block at a time, so that no copy of all of them is made.
        """
        centre = self.low + 0.5 * (self.high - self.low)
        if isinstance(index, slice):
            rows, index = rows[index], None
        n_rows = len(rows) if index is None else len(index)
        angles = np.empty((rows.shape[1], n_rows))
        for first in range(0, n_rows, _ROWS_AT_ONCE):
            block = slice(first, first + _ROWS_AT_ONCE)
            # Several times quicker than rows[index], for an array of indices.
            some = rows[block] if index is None else rows.take(index[block], axis=0)
            np.subtract(some.T, centre[:, None], out=angles[:, block])
        angles *= (2 * math.pi / self.period)[:, None]
        return list(angles)

    def weigh(self, modes: NDArray[np.complex128]) -> None:
        """Multiply modes, shape (..., *self.shape), by the coefficients of the kernel."""
        for axis, most in enumerate(self.half):
            step = self.sigma / self.period[axis]
            number = np.arange(-most, most + 1)
            coefficient = (
                math.sqrt(2 * math.pi) * step * np.exp(-0.5 * (2 * math.pi * step * number) ** 2)
            )
            modes *= coefficient.reshape(-1, *[1] * (len(self.half) - 1 - axis))


@dataclass(frozen=True)
class FourierMethod:
    """How finufft is called for a grid: the fineness of its own grid, and its tolerance.

    The wide grid (twice the modes on an axis) needs few points of it a row; the tight one spares
    memory, and time where the modes outnumber the rows.

    Parameters
    ----------
    upsampling : float
        The size of finufft's grid over the number of modes, on an axis.
    tolerance : float
        What finufft is asked for.
    fine_size : float
        The number of points of finufft's grid.
    width : int
        The number of points of it that a row touches, on an axis.
    """

    upsampling: float
    tolerance: float
    fine_size: float
    width: int

    @classmethod
    def of(cls, grid: FourierGrid, n_rows: int) -> Self:
        n_features, share = len(grid.half), grid.share
        wide_size = _WIDE_GRID**n_features * grid.n_modes
        tight = wide_size > n_rows and _TIGHT_SHARES[0] <= share <= _TIGHT_SHARES[1]
        upsampling = _TIGHT_GRID if tight else _WIDE_GRID
        tolerance = (share / _TIGHT_FACTOR) ** (1 / _TIGHT_POWER) if tight else share
        digits_of_a_point = math.pi * math.sqrt(1 - 1 / upsampling)
        width = math.ceil(-math.log(tolerance) / digits_of_a_point) + 1
        return cls(upsampling, tolerance, upsampling**n_features * grid.n_modes, width)

    def spread_units(self, n_rows: int, n_features: int) -> float:
        """What the rows cost in one transform: points of the grid touched, and weights of them."""
        of_weights = _POINTS_OF_A_WEIGHT * n_features * self.width
        return float(n_rows * (self.width**n_features + of_weights))

    @property
    def fft_units(self) -> float:
        """Operations of a Fourier transform of finufft's grid, but for a constant."""
        return self.fine_size * math.log2(self.fine_size)


@dataclass(frozen=True)
class Pieces:
    """The rows in pieces, each for one thread: so their number does not change the results.

    Parameters
    ----------
    n_rows, n_pieces : int
        The number of rows and of pieces.
    method : FourierMethod
        How finufft is called.
    sort : int
        0 where rows are in the order of space already, 2 where finufft is to see to that.
    in_turn : int
        The least number of pieces that a thread takes, one after the other: each thread has a grid
        of its own, and those of many modes would take more memory than the rows.
    """

    n_rows: int
    n_pieces: int
    method: FourierMethod
    sort: int = 0
    in_turn: int = 1

    @classmethod
    def of(cls, grid: FourierGrid, n_rows: int) -> Self:
        """Pieces of the training rows: their number must not follow that of the threads.

        There are several where that costs little more: each piece has a Fourier transform of its
        own, and modes of its own to be added.
        """
        method = FourierMethod.of(grid, n_rows)
        smallest, largest = _ROWS_OF_A_PIECE
        wanted = max(-(-n_rows // largest), min(n_rows // smallest, _PIECES))
        spreading = method.spread_units(n_rows, len(grid.half))
        affordable = int(_FFT_SHARE * spreading / (_SPREADS_OF_AN_FFT * method.fft_units))
        if method.fine_size <= _SMALL_FINE_SIZE:
            affordable = max(affordable, 2)
        holdable = int(max(_BYTES_OF_MODES, 8 * n_rows) / grid.n_bytes)
        return cls(n_rows, max(1, min(wanted, affordable, holdable)), method)

    @classmethod
    def in_threads(cls, grid: FourierGrid, n_points: int) -> Self:
        """Pieces of points, which are independent: as many as there are threads, or more."""
        # The modes alone decide how finufft is called, else a point would follow its batch.
        method = FourierMethod.of(grid, n_rows=_USUAL_POINTS)
        smallest, largest = _ROWS_OF_A_PIECE
        allowed = max(_BYTES_OF_PLANS, _BYTES_AT_A_POINT * n_points)
        holdable = max(1, int(allowed / (_BYTES_OF_A_POINT * method.fine_size)))
        for_threads = min(effective_n_threads(), -(-n_points // smallest), holdable)
        spreading = method.spread_units(n_points, len(grid.half))
        affordable = int(spreading / (_SPREADS_OF_AN_FFT * method.fft_units))
        in_memory = min(-(-n_points // largest), affordable)
        n_pieces = max(1, for_threads, in_memory)
        return cls(n_points, n_pieces, method, sort=2, in_turn=-(-n_pieces // holdable))

    @property
    def keeps_plans(self) -> bool:
        """Whether plans are kept for the next product: those of few rows and a small grid."""
        small = 2 * self.n_pieces * _BYTES_OF_A_POINT * self.method.fine_size <= _BYTES_OF_PLANS
        return self.n_rows <= _FEW_ROWS and small

    def rows(self, piece: int) -> slice:
        bounds = [self.n_rows * i // self.n_pieces for i in (piece, piece + 1)]
        return slice(*bounds)

    def run(self, task: Callable[[int, int], None]) -> None:
        over_ranges(task, self.n_pieces, at_least=self.in_turn)

    def plan(self, kind: int, grid: FourierGrid) -> Any:
        """A plan of finufft of type 1 (rows to modes) or 2 (modes to rows)."""
        from finufft import Plan  # loads a library of OpenMP

        return Plan(
            kind,
            grid.shape,
            eps=self.method.tolerance,
            isign=-1 if kind == 1 else 1,
            upsampfac=self.method.upsampling,
            nthreads=1,
            spread_sort=self.sort,
            showwarn=0,
        )


@dataclass(frozen=True, eq=False)
class Transforms:
    """Transforms of both types over the rows, piece by piece; plans of few rows are kept.

    Parameters
    ----------
    grid : FourierGrid
        The modes.
    pieces : Pieces
        How the rows are cut.
    rows : array of shape (n, d)
        The rows.
    order : array of shape (n,), optional
        The order in which they are cut.
    keep : bool
        Whether plans are kept for the next product, which takes memory for all rows.
    """

    grid: FourierGrid
    pieces: Pieces
    rows: Floats
    order: NDArray[np.integer] | None
    keep: bool = False
    kept: dict[tuple[int, int], Any] = field(default_factory=dict)

    def modes(self, weights: Floats, scale: Floats) -> Complex:
        """The Fourier coefficients of the sums, two columns each as real and imaginary part."""
        n_pairs = -(-weights.shape[1] // 2)
        partial = np.empty((self.pieces.n_pieces, n_pairs, *self.grid.shape), complex)

        def add(plan: Any, piece: int, index: Index) -> None:
            for pair in range(n_pairs):
                columns = slice(2 * pair, 2 * pair + 2)
                strengths = _packed(weights[:, columns], scale[columns], index)
                plan.execute(strengths, out=partial[piece, pair])

        self._run(1, add)
        modes: Complex = partial.sum(axis=0) if len(partial) > 1 else partial[0]
        self.grid.weigh(modes)
        return modes

    def evaluate(self, modes: Complex, scale: Floats, sums: Floats) -> None:
        """The values of a Fourier series at the rows."""
        self._run(2, lambda plan, piece, index: fill(plan, modes, scale, sums, index))

    def _run(self, kind: int, act: Callable[[Any, int, Index], None]) -> None:
        """Call `act(plan, piece, index of its rows)` for all pieces."""

        def over(first: int, last: int) -> None:
            plan = None
            for piece in range(first, last):
                place = self.pieces.rows(piece)
                index = place if self.order is None else self.order[place]
                plan = self._planned(kind, piece, index, plan)
                act(plan, piece, index)

        self.pieces.run(over)

    def _planned(self, kind: int, piece: int, index: Index, before: Any) -> Any:
        """A plan with the rows of a piece set: one that is kept, or the one before."""
        if (kind, piece) in self.kept:
            return self.kept[kind, piece]
        plan = self.pieces.plan(kind, self.grid) if self.keep or before is None else before
        plan.setpts(*self.grid.coordinates(self.rows, index))
        if self.keep:
            self.kept[kind, piece] = plan
        return plan


def cell_order(grid: FourierGrid, rows: Floats, pieces: Pieces) -> NDArray[np.integer] | None:
    """The rows of each piece by cells in space: neighbours in it are neighbours in finufft's grid.

    None for a grid that stays in the cache.
    """
    if pieces.method.fine_size <= _FINE_SIZE_IN_CACHE:
        return None
    n_features = rows.shape[1]
    n_cells = int(_CELLS ** (1 / n_features))
    per_cell = (n_cells - 1) / np.where(grid.high > grid.low, grid.high - grid.low, 1.0)
    order: Places = np.empty(len(rows), np.int32 if len(rows) < 2**31 else np.intp)

    def sort(first: int, last: int) -> None:
        for piece in map(pieces.rows, range(first, last)):
            cell = np.zeros(piece.stop - piece.start, np.uint16)
            for axis in range(n_features):
                place = (rows[piece, axis] - grid.low[axis]) * per_cell[axis]
                cell *= np.uint16(n_cells)
                np.clip(place, 0.0, n_cells - 1.0, out=place)  # rows without weight may be outside
                cell += place.astype(np.uint16)
            order[piece] = np.argsort(cell, kind="stable")  # by counting: sixteen bits
            order[piece] += piece.start

    over_ranges(sort, pieces.n_pieces)
    return order


def _packed(pair: Floats, scale: Floats, index: Index) -> Complex:
    divisor = np.where(scale > 0, scale, 1.0)
    n_rows = index.stop - index.start if isinstance(index, slice) else len(index)
    packed = np.zeros(n_rows, complex)
    for column, part in zip(range(len(scale)), (packed.real, packed.imag), strict=False):
        values = pair[:, column]
        values = values[index] if isinstance(index, slice) else values.take(index)
        np.divide(values, divisor[column], out=part)
    return packed


def fill(plan: Any, modes: Complex, scale: Floats, sums: Floats, index: Index) -> None:
    """The values of a Fourier series at the points of a plan, two columns a transform."""
    for pair, coefficients in enumerate(modes):
        values = plan.execute(coefficients)
        columns = range(2 * pair, min(2 * pair + 2, len(scale)))
        for column, part in zip(columns, (values.real, values.imag), strict=False):
            part *= scale[column]
            sums[index, column] = part


def memory_of(grid: FourierGrid, n_rows: int) -> int:
    """Bytes of a product of one or two columns, or of the ordering of the rows before it."""
    pieces = Pieces.of(grid, n_rows)
    at_once = 2 * pieces.n_pieces if pieces.keeps_plans else min(_PIECES, pieces.n_pieces)
    fine = _BYTES_OF_A_POINT * pieces.method.fine_size
    of_a_row = 16 * len(grid.half) + 40  # angles, strengths, order; finufft copies the first two
    of_a_piece = of_a_row * -(-n_rows // pieces.n_pieces)
    modes = (pieces.n_pieces + (pieces.n_pieces > 1)) * grid.n_bytes
    return int(4 * n_rows + max(18 * n_rows, modes + at_once * (fine + of_a_piece)))


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
    finufft do. Where the modes are many against the rows there is a single piece.

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
        self._transforms.evaluate(self._transforms.modes(weights, scale), scale, sums)
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
        transforms = Transforms(grid, Pieces.of(grid, len(rows)), rows, self._order)
        scale = _column_sums(weights)
        return FourierExpansion(grid, transforms.modes(weights, scale), scale, weights.sum(axis=0))

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
    reach = kernel.support_radius(min(rtol, _LARGEST_RTOL))
    return FourierGrid.of(kernel, *_box(rows), rtol, reach=reach)


def no_grid_because(kernel: Any, n_features: int, rtol: float) -> str | None:
    """Why there is no grid, whatever the rows and the memory; None where there may be one."""
    if type(kernel) is not Gaussian:  # a subclass may have another profile
        return f"the kernel is {type(kernel).__name__}, not Gaussian"
    if n_features > _MOST_FEATURES:
        return f"there are {n_features} features, more than {_MOST_FEATURES}"
    if not rtol >= _SMALLEST_RTOL:
        return f"rtol={rtol:.1g} is below {_SMALLEST_RTOL:.0e}, where double precision ends"
    return None


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
    if grid.rounding > rtol / 4:
        return (
            f"rtol={rtol:.1g} is below the rounding of Fourier sums over "
            f"{float(grid.period.max() / grid.sigma):.1g} widths of the kernel"
        )
    allowed = memory_limit()
    needed = memory_of(grid, len(rows))
    if needed > allowed:
        return (
            f"{grid.n_modes:,} Fourier modes and {len(rows):,} rows need "
            f"{math.ceil(needed / 2**20):,} MiB, and {allowed // 2**20:,} MiB are allowed"
        )
    return None
