"""Transforms of finufft over rows that are cut in pieces, a thread each: the same bits always."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from typicality._compat import effective_n_threads
from typicality._threads import over_ranges
from typicality._typing import Floats, Places
from typicality.operators.fourier_grid import FourierGrid, FourierMethod, Index

Complex = NDArray[np.complex128]
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
_ROWS_OF_A_PIECE = 2**13, 2**16  # at least, unless there are fewer; at most
_USUAL_POINTS = 2**17  # of a batch
_SPREADS_OF_AN_FFT = 4.0  # seconds of a unit of the transform over those of a unit of spreading
_BYTES_OF_MODES = 2**24  # the sums of all pieces are held at once; more columns go in batches


@dataclass(frozen=True)
class Pieces:
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
        return cls(n_points, n_pieces, True, method, 2, in_turn=-(-n_pieces // holdable))

    @property
    def n_slots(self) -> int:
        """How many sums are held at once: one a piece, where pieces run at once."""
        return self.n_pieces if self.at_once else 1

    @property
    def keeps_plans(self) -> bool:
        """Whether plans are kept for the next product: those of few rows and a small grid."""
        small = 2 * self.n_pieces * _BYTES_OF_A_POINT * self.method.fine_size <= _BYTES_OF_PLANS
        return self.at_once and self.n_rows <= _FEW_ROWS and small

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
    keep: bool
    kept: dict[tuple[int, int], Any] = field(default_factory=dict)
    idle: dict[int, list[Any]] = field(default_factory=lambda: {1: [], 2: []})

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
        partial = np.empty((slots, n_pairs, *self.grid.shape), complex)

        def add(plan: Any, piece: int, index: Index) -> None:
            for pair in range(n_pairs):
                columns = slice(2 * pair, 2 * pair + 2)
                strengths = _packed(weights[:, columns], scale[columns], index)
                sums_of_slot = partial[piece % slots, pair]
                if piece < slots:
                    plan.execute(strengths, out=sums_of_slot)
                else:
                    sums_of_slot += plan.execute(strengths)

        self._run(1, add)
        sums: Complex = partial.sum(axis=0) if slots > 1 else partial[0]
        return sums

    def evaluate(self, modes: Complex, scale: Floats, sums: Floats) -> None:
        """The values of a Fourier series at the rows."""
        self._run(2, lambda plan, piece, index: fill(plan, modes, scale, sums, index))

    def _run(self, kind: int, act: Callable[[Any, int, Index], None]) -> None:
        """Call `act(plan, piece, index of its rows)` for all pieces."""

        def over(first: int, last: int) -> None:
            plan = self._pick_up(kind)
            for piece in range(first, last):
                place = self.pieces.rows(piece)
                index = place if self.order is None else self.order[place]
                plan = self._planned(kind, piece, index, plan)
                act(plan, piece, index)
            self._lay_down(kind, plan)

        self.pieces.run(over)

    def _pick_up(self, kind: int) -> Any:
        try:
            return self.idle[kind].pop()
        except IndexError:  # another thread may have taken the last one
            return None

    def _lay_down(self, kind: int, plan: Any) -> None:
        """Keep a plan for the next range of pieces, if its grid is small: threads make many."""
        n_plans = 1 + sum(map(len, self.idle.values()))
        n_bytes = n_plans * _BYTES_OF_A_POINT * self.pieces.method.fine_size
        if self.pieces.at_once and not self.keep and n_bytes <= _BYTES_OF_PLANS:
            self.idle[kind].append(plan)

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
    at_once = min(_PIECES, pieces.n_pieces) if pieces.at_once else 1
    if pieces.keeps_plans:
        at_once = 2 * pieces.n_pieces
    fine = _BYTES_OF_A_POINT * pieces.method.fine_size
    of_a_row = 16 * len(grid.half) + 40  # angles, strengths, order; finufft copies the first two
    of_a_piece = of_a_row * -(-n_rows // pieces.n_pieces)
    modes = (pieces.n_slots + (pieces.n_pieces > 1)) * grid.n_bytes
    return int(4 * n_rows + max(18 * n_rows, modes + at_once * (fine + of_a_piece)))
