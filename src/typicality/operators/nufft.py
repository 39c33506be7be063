"""Gaussian sums through Fourier series: linear in the rows, for at most three features."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality._compat import effective_n_threads
from typicality._threads import PLANNED_THREADS, over_ranges
from typicality._typing import Doubles, Floats
from typicality.kernels import Gaussian
from typicality.operators.base import (
    Candidate,
    LazyExpansion,
    Operator,
    Problem,
    memory_limit,
    seconds_for,
)
from typicality.operators.columns import KernelColumns
from typicality.operators.fourier_grid import (
    LARGEST_RTOL,
    FourierGrid,
    FourierMethod,
    no_grid_because,
)

Complex = NDArray[np.complex128]
Index = slice | NDArray[np.integer]

_CELLS = 2**16 - 1  # that rows are ordered by; numbers of sixteen bits are sorted quickly
_BYTES_OF_A_POINT = 24  # of finufft's grid, with the parts of it that threads fill before adding
_BYTES_OF_PLANS = 2**26
_BYTES_AT_A_POINT = 128  # that the grids of all threads together may take for each point
_FEW_ROWS = 2**17  # plans are kept up to this number; beyond, their memory matters more than time
_FINE_SIZE_IN_CACHE = 2**14  # rows are not ordered for a grid that stays in the cache

_FFT_SHARE = 0.2  # of the time of spreading, that pieces may cost by their Fourier transforms
_PIECES = 16  # enough for the threads of most machines
_FEWEST_AT_ONCE = 2
_IN_TURN = 2.5  # times as many may run one after the other, which spares memory
_SMALL_FINE_SIZE = 2**17  # a transform of a millisecond or two may be done for each piece
_ROWS_OF_A_PIECE = 2**13, 2**17  # at least, unless there are fewer; at most
_SPREADS_OF_AN_FFT = 4.0  # seconds of a unit of the transform over those of a unit of spreading
_BYTES_OF_MODES = 2**24  # the sums of all pieces are held at once; more columns go in batches
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
    memory : int, optional
        The bytes it may use; by default scikit-learn's `working_memory`.
    """

    method = "nufft"

    def __init__(self, columns: KernelColumns, *, rtol: float, memory: int | None = None) -> None:
        kernel, rows = columns.kernel_function, columns.training
        reason = refusal(kernel, rows, rtol, memory)
        if reason is not None:
            raise ValueError(f"nufft cannot compute these sums: {reason}. Use algorithm='auto'.")
        self.columns = columns
        self.rtol = rtol
        self.memory = memory
        self.grid = FourierGrid.of(kernel, *_box(rows), rtol)
        self.pieces = _Pieces.of(self.grid, len(rows))
        in_cache = self.pieces.method.fine_size <= _FINE_SIZE_IN_CACHE
        self._order = None if in_cache else _cell_order(self.grid, rows)
        keep = _keeps_plans(self.pieces)
        self._transforms = _Transforms(self.grid, self.pieces, rows, self._order, keep)

    @classmethod
    def offer(cls, problem: Problem) -> Candidate | str:
        columns, rtol, memory = problem.columns, problem.tolerance.absolute, problem.memory
        if not isinstance(columns, KernelColumns):
            return "the rows have no coordinates"
        n_rows, n_features = problem.rows.shape
        why = (
            no_grid_because(columns.kernel_function, n_features, max(rtol, 0.1))
            or problem.no_approximation
            or refusal(columns.kernel_function, problem.rows, rtol, memory)
        )
        if why is not None:
            return why
        operator = cls(columns, rtol=rtol, memory=memory)
        reason = (
            f"sums over {n_rows:,} rows use a Fourier series of {operator.grid.n_modes:,} "
            f"terms, with an error of at most {rtol:.0e} of the total weight; an iteration "
            "is two transforms."
        )
        n_pairs = -(-problem.n_columns // 2)
        product = n_pairs * seconds_for("nufft", **operator.cost_units())
        memory = operator.working_memory
        return Candidate(cls.method, reason, product, memory, lambda: operator, rtol)

    def cost_units(self) -> dict[str, float]:
        """Work of a product of one or two columns, for the table of measured seconds.

        Rows are gathered and scattered, points of finufft's grid are touched, and the grid is
        transformed for each piece; all of it for both transforms.
        """
        n_rows, n_features = self.columns.training.shape
        method = self.pieces.method
        spread = 2 * method.spread_units(n_rows, n_features)
        fft = 2 * self.pieces.n_pieces * method.fft_units
        alone = 1 if self.pieces.at_once else PLANNED_THREADS  # other threads wait meanwhile
        return {"rows": 2.0 * n_rows, "spread": alone * spread, "fft": alone * fft}

    def __matmul__(self, weights: Floats) -> Floats:
        scale = _column_sums(weights)
        sums = np.empty(weights.shape)
        for columns, modes in self._transforms.modes(weights, scale):
            self._transforms.evaluate(modes, scale[columns], sums[:, columns])
        return sums

    def complement(self, weights: Floats) -> Floats:
        sums = self @ weights
        np.subtract(weights.sum(axis=0), sums, out=sums)
        return sums

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> LazyExpansion:
        """The same sums at any points, from a grid with room around the rows; at the first use.

        If a finer promise is asked for, the series keeps an even finer one where it has no more
        terms than there are rows.
        """
        kernel, rows = self.columns.kernel_function, self.columns.training
        promise = self.rtol if rtol is None else self._finer(rtol)
        order = self._order  # not the operator itself, which keeps plans

        def expanded() -> FourierExpansion:
            grid = _roomy_grid(kernel, rows, promise)
            transforms = _Transforms(grid, _Pieces.of(grid, len(rows)), rows, order, keep=False)
            scale = _column_sums(weights)
            modes = np.concatenate([modes for _, modes in transforms.modes(weights, scale)])
            return FourierExpansion(grid, modes, scale, weights.sum(axis=0))

        return LazyExpansion(expanded)

    def _finer(self, rtol: float) -> float:
        """The promise for small sums: as fine as costs little, or `rtol`, or that of products."""
        kernel, rows = self.columns.kernel_function, self.columns.training
        few_modes = [
            finer
            for finer in _FINER_RTOLS
            if finer < rtol and _roomy_grid(kernel, rows, finer).n_modes <= len(rows)
        ]
        for promise in (*few_modes, rtol):
            if refusal(kernel, rows, promise, self.memory) is None:
                return promise
        return self.rtol

    @property
    def working_memory(self) -> int:
        return _memory(self.grid, self.columns.n_training)


@dataclass(frozen=True)
class _Pieces:
    """The rows in pieces, each for one thread: so their number does not change the results.

    Parameters
    ----------
    n_rows, n_pieces : int
        The number of rows and of pieces.
    at_once : bool
        Whether pieces run in threads of ours; if not, one after the other.
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
    at_once: bool
    method: FourierMethod
    sort: int
    in_turn: int = 1

    @classmethod
    def of(cls, grid: FourierGrid, n_rows: int) -> Self:
        """Pieces of the training rows: their number must not follow that of the threads.

        They run at once where that costs little more: each piece has a Fourier transform of its
        own, and modes of its own to be added.
        """
        method = FourierMethod.of(grid, n_rows)
        smallest, largest = _ROWS_OF_A_PIECE
        in_memory = -(-n_rows // largest)
        wanted = max(1, in_memory, min(n_rows // smallest, _PIECES))
        spreading = method.spread_units(n_rows, len(grid.half))
        affordable = int(_FFT_SHARE * spreading / (_SPREADS_OF_AN_FFT * method.fft_units))
        holdable = int(max(_BYTES_OF_MODES, 8 * n_rows) / grid.n_bytes)
        if method.fine_size <= _SMALL_FINE_SIZE or min(affordable, holdable) >= _FEWEST_AT_ONCE:
            at_once = min(wanted, max(_FEWEST_AT_ONCE, affordable), holdable)
            return cls(n_rows, max(1, at_once), True, method, 0)
        return cls(n_rows, max(1, min(in_memory, int(_IN_TURN * affordable))), False, method, 0)

    @classmethod
    def of_a_block(cls, grid: FourierGrid, n_rows: int) -> Self:
        """Pieces of a block, each for one thread: the threads of finufft change last bits."""
        pieces = cls.of(grid, n_rows)
        return pieces if pieces.at_once else replace(pieces, n_pieces=1, at_once=True)

    @classmethod
    def in_threads(cls, grid: FourierGrid, n_points: int) -> Self:
        """Pieces of points, which are independent: as many as there are threads, or more."""
        # The modes alone decide how finufft is called, else a point would follow its batch.
        method = FourierMethod.of(grid, n_rows=_ROWS_OF_A_PIECE[1])
        smallest, largest = _ROWS_OF_A_PIECE
        allowed = max(_BYTES_OF_PLANS, _BYTES_AT_A_POINT * n_points)
        holdable = max(1, int(allowed / (_BYTES_OF_A_POINT * method.fine_size)))
        for_threads = min(effective_n_threads(), -(-n_points // smallest), holdable)
        spreading = method.spread_units(n_points, len(grid.half))
        affordable = int(spreading / (_SPREADS_OF_AN_FFT * method.fft_units))
        in_memory = min(-(-n_points // largest), affordable)
        n_pieces = max(1, for_threads, in_memory)
        return cls(n_points, n_pieces, True, method, 2, in_turn=-(-n_pieces // holdable))

    @property
    def n_slots(self) -> int:
        """How many sums are held at once: one a piece, where pieces run at once."""
        return self.n_pieces if self.at_once else 1

    def rows(self, piece: int) -> slice:
        bounds = [self.n_rows * i // self.n_pieces for i in (piece, piece + 1)]
        return slice(*bounds)

    def run(self, task: Callable[[int, int], None]) -> None:
        if self.at_once:
            over_ranges(task, self.n_pieces, at_least=self.in_turn)
        else:
            task(0, self.n_pieces)

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
class _Transforms:
    """Transforms of both types over the rows, piece by piece; plans of few rows are kept.

    Parameters
    ----------
    grid : FourierGrid
        The modes.
    pieces : _Pieces
        How the rows are cut.
    rows : array of shape (n, d)
        The rows.
    order : array of shape (n,), optional
        The order in which they are cut.
    keep : bool
        Whether plans are kept for the next product, which takes memory for all rows.
    """

    grid: FourierGrid
    pieces: _Pieces
    rows: Floats
    order: NDArray[np.integer] | None
    keep: bool
    kept: dict[tuple[int, int], Any] = field(default_factory=dict)

    def modes(self, weights: Floats, scale: Floats) -> Iterator[tuple[slice, Complex]]:
        """Some columns at a time, with the Fourier coefficients of their sums, two columns each."""
        n_columns, slots = weights.shape[1], self.pieces.n_slots
        step = 2 * max(1, _BYTES_OF_MODES // (slots * self.grid.n_bytes))
        for first in range(0, n_columns, step):
            batch = slice(first, min(first + step, n_columns))
            modes = self.sums(weights[:, batch], scale[batch])
            self.grid.weigh(modes)
            yield batch, modes

    def sums(self, weights: Floats, scale: Floats) -> Complex:
        """Sums of waves over the rows, two columns of weights each as real and imaginary part."""
        n_pairs, slots = -(-weights.shape[1] // 2), self.pieces.n_slots
        partial = np.zeros((slots, n_pairs, *self.grid.shape), complex)

        def add(plan: Any, piece: int, index: Index) -> None:
            for pair in range(n_pairs):
                columns = slice(2 * pair, 2 * pair + 2)
                strengths = _packed(weights[:, columns], scale[columns], index)
                partial[piece % slots, pair] += plan.execute(strengths)

        self._run(1, add)
        sums: Complex = partial.sum(axis=0) if slots > 1 else partial[0]
        return sums

    def evaluate(self, modes: Complex, scale: Floats, sums: Floats) -> None:
        """The values of a Fourier series at the rows."""
        self._run(2, lambda plan, piece, index: _fill(plan, modes, scale, sums, index))

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
        plan.setpts(*self.grid.coordinates(_gathered(self.rows, index)))
        if self.keep:
            self.kept[kind, piece] = plan
        return plan


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

    @property
    def n_bytes(self) -> int:
        return self.modes.nbytes

    def at(self, points: Floats) -> Floats:
        sums = np.zeros((len(points), len(self.scale)))
        pieces = _Pieces.in_threads(self.grid, len(points))

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
            _fill(plan, self.modes, self.scale, sums, reached)


def wave_sums(grid: FourierGrid, rows: Floats, weights: Floats) -> Complex:
    r"""Sums of waves, :math:`\sum_r w_{rk} e^{-i \omega \cdot x_r}`, shape (c, \*grid.shape).

    Those of two blocks of rows add up. They have the same bits for any number of threads.
    """
    pieces = _Pieces.of_a_block(grid, len(rows))
    in_cache = pieces.method.fine_size <= _FINE_SIZE_IN_CACHE
    order = None if in_cache else _cell_order(grid, rows)
    transforms = _Transforms(grid, pieces, rows, order, keep=False)
    scale = _column_sums(weights)
    sums = np.empty((weights.shape[1], *grid.shape), complex)
    for first in range(0, weights.shape[1], 2):
        pair = slice(first, first + 2)
        (packed,) = transforms.sums(weights[:, pair], scale[pair])
        # Weights are real: the sums of a wave and of the opposite one are conjugate.
        opposite = np.conj(np.flip(packed))
        parts = 0.5 * (packed + opposite), -0.5j * (packed - opposite)
        for column, part in zip(range(first, len(sums))[:2], parts, strict=False):
            sums[column] = scale[column] * part
    return sums


def expansion_of_waves(grid: FourierGrid, sums: Complex) -> FourierExpansion:
    """Gaussian sums at any points, from sums of waves over rows whose weights sum to one."""
    modes = sums[0::2].astype(complex)
    modes[: len(sums) // 2] += 1j * sums[1::2]
    grid.weigh(modes)
    ones = np.ones(len(sums))
    return FourierExpansion(grid, modes, ones, ones)


def _cell_order(grid: FourierGrid, rows: Floats) -> NDArray[np.integer]:
    """Rows by cells in space: neighbours in memory are then neighbours in finufft's grid."""
    n_features = rows.shape[1]
    n_cells = int(_CELLS ** (1 / n_features))
    width = np.where(grid.high > grid.low, grid.high - grid.low, 1.0)
    cell = np.zeros(len(rows), np.uint16)
    for axis in range(n_features):
        place = (rows[:, axis] - grid.low[axis]) * ((n_cells - 1) / width[axis])
        cell *= np.uint16(n_cells)
        np.clip(place, 0.0, n_cells - 1.0, out=place)  # rows without weight may be outside
        cell += place.astype(np.uint16)
    order = np.argsort(cell, kind="stable")
    return order.astype(np.int32) if len(rows) < 2**31 else order


def _column_sums(weights: Floats) -> Doubles:
    """Sums of absolute weights: columns of one transform are brought to the same size."""
    sums: Doubles = np.abs(weights).sum(axis=0, dtype=np.float64)
    return sums


def _gathered(rows: Floats, index: Index) -> Floats:
    # Several times quicker than rows[index], for an array of indices.
    return rows[index] if isinstance(index, slice) else rows.take(index, axis=0)


def _packed(pair: Floats, scale: Floats, index: Index) -> Complex:
    divisor = np.where(scale > 0, scale, 1.0)
    columns = [_gathered(pair[:, column], index) / of_one for column, of_one in enumerate(divisor)]
    packed = np.zeros(len(columns[0]), complex)
    packed.real = columns[0]
    if len(columns) == 2:
        packed.imag = columns[1]
    return packed


def _fill(plan: Any, modes: Complex, scale: Floats, sums: Floats, index: Index) -> None:
    """The values of a Fourier series at the points of a plan, two columns a transform."""
    for pair, coefficients in enumerate(modes):
        values = plan.execute(coefficients)
        columns = range(2 * pair, min(2 * pair + 2, len(scale)))
        for column, part in zip(columns, (values.real, values.imag), strict=False):
            sums[index, column] = part * scale[column]


def _box(rows: Floats) -> tuple[Floats, Floats]:
    columns = rows.T  # one by one they are quicker than with axis=0
    return np.array([column.min() for column in columns]), np.array([c.max() for c in columns])


def _roomy_grid(kernel: Gaussian, rows: Floats, rtol: float) -> FourierGrid:
    return roomy_grid(kernel, *_box(rows), rtol)


def roomy_grid(kernel: Gaussian, low: Floats, high: Floats, rtol: float) -> FourierGrid:
    """The grid for rows in a box and for points as far outside of it as the kernel reaches."""
    reach = kernel.support_radius(min(rtol, LARGEST_RTOL))
    return FourierGrid.of(kernel, low, high, rtol, reach=reach)


def _keeps_plans(pieces: _Pieces) -> bool:
    """Whether plans are kept for the next product: those of few rows and a small grid."""
    small = 2 * pieces.n_pieces * _BYTES_OF_A_POINT * pieces.method.fine_size <= _BYTES_OF_PLANS
    return pieces.at_once and pieces.n_rows <= _FEW_ROWS and small


def _memory(grid: FourierGrid, n_rows: int) -> int:
    """Bytes of a product of one or two columns, or of the ordering of the rows before it."""
    pieces = _Pieces.of(grid, n_rows)
    at_once = min(_PIECES, pieces.n_pieces) if pieces.at_once else 1
    if _keeps_plans(pieces):
        at_once = 2 * pieces.n_pieces
    fine = _BYTES_OF_A_POINT * pieces.method.fine_size
    of_a_row = 16 * len(grid.half) + 40  # rows and angles; index, strengths, order of finufft
    of_a_piece = of_a_row * -(-n_rows // pieces.n_pieces)
    modes = (pieces.n_slots + 1) * grid.n_bytes
    return int(4 * n_rows + max(18 * n_rows, modes + at_once * (fine + of_a_piece)))


def too_fine(grid: FourierGrid) -> str | None:
    """Why double precision does not keep the promise of a grid, in one clause; None if it does."""
    if grid.rounding <= grid.rtol / 4:
        return None
    return (
        f"rtol={grid.rtol:.1g} is below the rounding of Fourier sums over "
        f"{float(grid.period.max() / grid.sigma):.1g} widths of the kernel"
    )


def refusal(kernel: Any, rows: Floats, rtol: float, memory: int | None = None) -> str | None:
    """Why these sums cannot be computed this way, in one clause; None where they can.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : array of shape (n, d)
        The training rows.
    rtol : float
        The promise.
    memory : int, optional
        The bytes that may be used; by default scikit-learn's `working_memory`.
    """
    reason = no_grid_because(kernel, rows.shape[1], rtol)
    if reason is not None:
        return reason
    grid = _roomy_grid(kernel, rows, rtol)
    reason = too_fine(grid)
    if reason is not None:
        return reason
    allowed = memory_limit(memory)
    needed = _memory(grid, len(rows))
    if needed > allowed:
        return (
            f"{grid.n_modes:,} Fourier modes and {len(rows):,} rows need "
            f"{math.ceil(needed / 2**20):,} MiB, and {allowed // 2**20:,} MiB are allowed"
        )
    return None
