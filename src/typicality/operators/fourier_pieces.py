"""How the rows of Fourier sums are cut, so that threads do not change the results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from typicality._compat import effective_n_threads
from typicality._threads import over_ranges
from typicality.operators.fourier_grid import FourierGrid, FourierMethod

_FFT_SHARE = 0.1  # of the time of spreading, that pieces may cost by their Fourier transforms
_PIECES = 16  # enough for the threads of most machines
_FEWEST_AT_ONCE = 2
_IN_TURN = 2.5  # times as many may run one after the other, which spares memory
_SMALL_FINE_SIZE = 2**17  # a transform of a millisecond or two may be done for each piece
_ROWS_OF_A_PIECE = 2**13, 2**17  # at least, unless there are fewer; at most
_SPREADS_OF_AN_FFT = 4.0  # seconds of a unit of the transform over those of a unit of spreading
BYTES_OF_MODES = 2**24  # the sums of all pieces are held at once; more columns go in batches


@dataclass(frozen=True)
class Pieces:
    """The rows in pieces: each for one thread, or one after the other for all threads.

    Parameters
    ----------
    n_rows, n_pieces : int
        The number of rows and of pieces.
    at_once : bool
        Whether pieces run in threads of ours; if not, each runs in all threads of finufft.
    method : FourierMethod
        How finufft is called.
    sort : int
        0 where rows are in the order of space already, 2 where finufft is to see to that.
    """

    n_rows: int
    n_pieces: int
    at_once: bool
    method: FourierMethod
    sort: int

    @classmethod
    def of(cls, grid: FourierGrid, n_rows: int) -> Self:
        """Pieces of the training rows: their number must not follow that of the threads."""
        method = FourierMethod.of(grid, n_rows)
        return cls(n_rows, *cut(method, n_rows, len(grid.half), grid.n_modes), method, 0)

    @classmethod
    def in_threads(cls, grid: FourierGrid, n_points: int) -> Self:
        """Pieces of points, which are independent: as many as there are threads, or more."""
        # The modes alone decide how finufft is called, else a point would follow its batch.
        method = FourierMethod.of(grid, n_rows=_ROWS_OF_A_PIECE[1])
        smallest, largest = _ROWS_OF_A_PIECE
        for_threads = min(effective_n_threads(), -(-n_points // smallest))
        spreading = method.spread_units(n_points, len(grid.half))
        affordable = int(spreading / (_SPREADS_OF_AN_FFT * method.fft_units))
        in_memory = min(-(-n_points // largest), affordable)
        return cls(n_points, max(1, for_threads, in_memory), True, method, 2)

    @property
    def n_slots(self) -> int:
        """How many sums are held at once: one a piece, where pieces run at once."""
        return self.n_pieces if self.at_once else 1

    def rows(self, piece: int) -> slice:
        bounds = [self.n_rows * i // self.n_pieces for i in (piece, piece + 1)]
        return slice(*bounds)

    def run(self, task: Callable[[int, int], None]) -> None:
        if self.at_once:
            over_ranges(task, self.n_pieces)
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
            nthreads=1 if self.at_once else int(effective_n_threads()),
            spread_sort=self.sort,
            showwarn=0,
        )


def cut(method: FourierMethod, n_rows: int, n_features: int, n_modes: int) -> tuple[int, bool]:
    """The number of pieces, and whether to run them at once: where that costs little more.

    Each piece has a Fourier transform of its own, and modes of its own to be added.
    """
    smallest, largest = _ROWS_OF_A_PIECE
    in_memory = -(-n_rows // largest)
    wanted = max(1, in_memory, min(n_rows // smallest, _PIECES))
    spreading = method.spread_units(n_rows, n_features)
    affordable = int(_FFT_SHARE * spreading / (_SPREADS_OF_AN_FFT * method.fft_units))
    holdable = int(max(BYTES_OF_MODES, 8 * n_rows) / (16 * n_modes))
    at_once = min(wanted, max(_FEWEST_AT_ONCE, affordable), holdable)
    if method.fine_size <= _SMALL_FINE_SIZE or min(affordable, holdable) >= _FEWEST_AT_ONCE:
        return max(1, at_once), True
    return max(1, min(in_memory, int(_IN_TURN * affordable))), False


class Units(NamedTuple):
    """Terms of the cost of a product with one or two columns, for a table of measured seconds.

    Parameters
    ----------
    rows : float
        Rows gathered and scattered, twice.
    spread : float
        Points of finufft's grid touched, and their weights, for both transforms.
    fft : float
        Points of finufft's grid times their logarithm, for both transforms and all pieces.
    """

    rows: float
    spread: float
    fft: float


def cost_units(n_rows: int, n_features: int, rtol: float, n_modes: int) -> Units:
    """What a product costs, in units of a table."""
    method = FourierMethod.for_modes(n_rows, n_features, rtol / (4 * n_features), n_modes)
    n_pieces, _ = cut(method, n_rows, n_features, n_modes)
    spread = 2 * method.spread_units(n_rows, n_features)
    return Units(2.0 * n_rows, spread, 2 * n_pieces * method.fft_units)
