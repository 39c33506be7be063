"""Gaussian sums through Fourier series: linear in the rows, for at most three features."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcinv

from typicality._threads import over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.kernels import Gaussian
from typicality.sums.base import Operator, memory_limit
from typicality.sums.columns import KernelColumns

Complex = NDArray[np.complex128]

_MOST_FEATURES = 3
_SMALLEST_RTOL = 1e-12
_LARGEST_RTOL = 1e-2  # a larger promise is kept as this one
_MOST_MODES_OF_AN_AXIS = 1e9
_ROUNDING = 4.0  # measured: a quarter of this, see docs/theory
_ROUNDING_OF_FEW_MODES = 10.0
_WIDE_GRID, _TIGHT_GRID = 2.0, 1.25
# With the tight grid the middle of the spectrum, where a Gaussian has its weight, is better than
# the tolerance of finufft: by no more than 2 tolerance^1.2 off within these limits (measured).
_TIGHT_SHARES = (1e-10, 1e-4)
_TIGHT_FACTOR, _TIGHT_POWER = 2.0, 1.2
_CELLS = 2**16 - 1  # that rows are ordered by; numbers of sixteen bits are sorted quickly
_MODES_IN_CACHE = 2**12  # rows are not ordered for so few
_BYTES_OF_A_POINT = 24  # of finufft's grid
_PIECES = 16  # enough for the threads of most machines
_ROWS_OF_A_PIECE = 2**13, 2**16  # at least; at most, where modes are few
_ROWS_OF_A_MODE = 5  # in a piece: then its Fourier transform takes a fifth of the time
_USUAL_POINTS = 2**17  # of a batch
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
    def rounding(self) -> float:
        """The part of an error that double precision allows for: it grows with period / sigma."""
        unit = float(np.finfo(np.float64).eps)
        return _ROUNDING * unit * float((_ROUNDING_OF_FEW_MODES + self.period / self.sigma).sum())

    @property
    def share(self) -> float:
        """What a transform may be off on one axis: two of them take half of the promise."""
        return min(self.rtol, _LARGEST_RTOL) / (4 * len(self.half))

    def method(self, n_rows: int) -> tuple[float, float]:
        """The fineness of finufft's own grid, on an axis, and the tolerance it is asked for.

        The wide grid (twice the modes) needs few points of it a row; the tight one spares memory,
        and time where the modes outnumber the rows.
        """
        many = _WIDE_GRID ** len(self.half) * self.n_modes > n_rows
        if many and _TIGHT_SHARES[0] <= self.share <= _TIGHT_SHARES[1]:
            return _TIGHT_GRID, (self.share / _TIGHT_FACTOR) ** (1 / _TIGHT_POWER)
        return _WIDE_GRID, self.share

    def plan(self, kind: int, n_rows: int) -> Any:
        """A plan of finufft of type 1 (rows to modes) or 2 (modes to rows)."""
        from finufft import Plan  # loads a library of OpenMP

        upsampling, tolerance = self.method(n_rows)
        return Plan(
            kind,
            self.shape,
            eps=tolerance,
            isign=-1 if kind == 1 else 1,
            upsampfac=upsampling,
            nthreads=1,
            spread_sort=0,  # rows are in the order of cells already
            showwarn=0,
        )

    def angles(self, rows: Floats, index: Places) -> list[Doubles]:
        """Some rows as angles, one array an axis."""
        centre = self.low + 0.5 * (self.high - self.low)
        angles = np.subtract(rows.take(index, axis=0).T, centre[:, None], order="C")
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


def _n_pieces(grid: FourierGrid, n_rows: int) -> int:
    """The number of pieces of rows: it must not follow that of the threads."""
    smallest, largest = _ROWS_OF_A_PIECE
    wanted = max(smallest, min(largest, -(-n_rows // _PIECES)))
    return max(1, n_rows // max(wanted, _ROWS_OF_A_MODE * grid.n_modes))


def pieces_of(grid: FourierGrid, rows: Floats, index: Places) -> list[Places]:
    """Some rows in pieces, each for one thread, and ordered by cells in space.

    Neighbours in a cell are neighbours in finufft's grid.
    """
    pieces = np.array_split(index, _n_pieces(grid, len(index)))
    if grid.n_modes <= _MODES_IN_CACHE:
        return pieces
    n_features = rows.shape[1]
    n_cells = int(_CELLS ** (1 / n_features))
    per_cell = (n_cells - 1) / np.where(grid.high > grid.low, grid.high - grid.low, 1.0)

    def sort(first: int, last: int) -> None:
        for number in range(first, last):
            place = (rows.take(pieces[number], axis=0) - grid.low) * per_cell
            np.clip(place, 0.0, n_cells - 1.0, out=place)  # points may be outside of the box
            cell = np.zeros(len(place), np.uint16)
            for column in place.T:
                cell = cell * np.uint16(n_cells) + column.astype(np.uint16)
            order = np.argsort(cell, kind="stable")  # by counting: sixteen bits
            pieces[number] = pieces[number][order]

    over_ranges(sort, len(pieces))
    return pieces


def _transform(
    plan: Callable[[], Any],
    grid: FourierGrid,
    rows: Floats,
    pieces: list[Places],
    execute: Callable[[Any, int], None],
) -> None:
    """Call `execute(plan, number)` for all pieces, whose rows are set in the plan."""

    def over(first: int, last: int) -> None:
        own = plan()
        for number in range(first, last):
            own.setpts(*grid.angles(rows, pieces[number]))
            execute(own, number)

    over_ranges(over, len(pieces))


def _modes(
    grid: FourierGrid, rows: Floats, pieces: list[Places], weights: Floats, scale: Doubles
) -> Complex:
    """The Fourier coefficients of the sums, two columns each as real and imaginary part."""
    pairs = [slice(k, k + 2) for k in range(0, weights.shape[1], 2)]
    partial = np.empty((len(pieces), len(pairs), *grid.shape), complex)
    divisor = np.where(scale > 0, scale, 1.0)

    def add(plan: Any, number: int) -> None:
        index = pieces[number]
        for place, pair in enumerate(pairs):
            strengths = np.zeros((len(index), 2))
            some = weights[index, pair]
            np.divide(some, divisor[pair], out=strengths[:, : some.shape[1]])
            plan.execute(strengths.view(complex)[:, 0], out=partial[number, place])

    _transform(lambda: grid.plan(1, len(rows)), grid, rows, pieces, add)
    modes: Complex = partial.sum(axis=0)
    grid.weigh(modes)
    return modes


def _fill(
    plan: Callable[[], Any],
    grid: FourierGrid,
    points: Floats,
    pieces: list[Places],
    modes: Complex,
    scale: Doubles,
    sums: Doubles,
) -> None:
    """The values of a Fourier series at points, two columns a transform."""

    def evaluate(plan: Any, number: int) -> None:
        for place, coefficients in enumerate(modes):
            pair = slice(2 * place, 2 * place + 2)
            values = plan.execute(coefficients).view(np.float64).reshape(-1, 2)
            sums[pieces[number], pair] = values[:, : len(scale[pair])] * scale[pair]

    _transform(plan, grid, points, pieces, evaluate)


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
    the number of digits of the promise; memory O(n + M), beyond the rows.

    Parameters
    ----------
    columns : KernelColumns
        A Gaussian kernel against the training rows.
    rtol : float
        The promise.
    """

    def __init__(self, columns: KernelColumns, *, rtol: float) -> None:
        rows = columns.training
        self.columns = columns
        self.rtol = rtol
        self.grid = FourierGrid.of(columns.kernel_function, *_box(rows), rtol)
        self.pieces = pieces_of(self.grid, rows, np.arange(len(rows)))

    @property
    def how(self) -> str:
        return (
            f"sums over {self.columns.n_training:,} rows use a Fourier series of "
            f"{self.grid.n_modes:,} terms, with an error of at most {self.rtol:.0e} of the total "
            "weight; an iteration is two transforms."
        )

    def complement(self, weights: Floats) -> Floats:
        grid, rows, pieces = self.grid, self.columns.training, self.pieces
        scale = _scale(weights)
        modes = _modes(grid, rows, pieces, weights, scale)
        sums = np.empty(weights.shape)
        _fill(lambda: grid.plan(2, len(rows)), grid, rows, pieces, modes, scale, sums)
        np.subtract(weights.sum(axis=0, dtype=np.float64), sums, out=sums)
        return sums

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> "FourierExpansion":
        """The same sums at any points, from a grid with room around the rows.

        If a finer promise is asked for, the series keeps an even finer one where it has no more
        terms than there are rows.
        """
        rows = self.columns.training
        promise = self.rtol if rtol is None else self._finer(rtol)
        grid = _roomy_grid(self.columns.kernel_function, rows, promise)
        pieces = pieces_of(grid, rows, np.concatenate(self.pieces))
        scale, total = _scale(weights), weights.sum(axis=0, dtype=np.float64)
        return FourierExpansion(grid, _modes(grid, rows, pieces, weights, scale), scale, total)

    def _finer(self, rtol: float) -> float:
        """The promise for small sums: as fine as costs little, or `rtol`, or that of products."""
        kernel, rows = self.columns.kernel_function, self.columns.training
        for finer in _FINER_RTOLS:
            few_modes = finer < rtol and _roomy_grid(kernel, rows, finer).n_modes <= len(rows)
            if few_modes and can_be_summed(kernel, rows, finer):
                return finer
        return rtol if can_be_summed(kernel, rows, rtol) else self.rtol


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

    def at(self, points: Floats, *, complement: bool = False) -> Floats:
        grid, sums = self.grid, np.zeros((len(points), len(self.scale)))
        near = (points >= grid.low - grid.reach) & (points <= grid.high + grid.reach)
        pieces = pieces_of(grid, points, np.flatnonzero(near.all(axis=1)))
        if len(pieces[0]):
            # The modes alone decide how finufft is called, else a point would follow its batch.
            plan = lambda: grid.plan(2, _USUAL_POINTS)  # noqa: E731
            _fill(plan, grid, points, pieces, self.modes, self.scale, sums)
        return np.asarray(self.total - sums) if complement else sums


def _scale(weights: Floats) -> Doubles:
    """Sums of absolute weights: columns of one transform are brought to the same size."""
    return np.asarray(np.abs(weights).sum(axis=0, dtype=np.float64))


def _box(rows: Floats) -> tuple[Floats, Floats]:
    columns = rows.T  # one by one they are quicker than with axis=0
    low, high = [column.min() for column in columns], [column.max() for column in columns]
    return np.array(low), np.array(high)


def _roomy_grid(kernel: Gaussian, rows: Floats, rtol: float) -> FourierGrid:
    """The grid for rows and for points as far outside of their box as the kernel reaches."""
    reach = kernel.support_radius(min(rtol, _LARGEST_RTOL))
    return FourierGrid.of(kernel, *_box(rows), rtol, reach=reach)


def has_series(kernel: Any, n_features: int) -> bool:
    """Whether there are Fourier sums for a kernel; a subclass may have another profile."""
    return type(kernel) is Gaussian and n_features <= _MOST_FEATURES


def can_be_summed(kernel: Any, rows: Floats, rtol: float) -> bool:
    """Whether sums over rows can be computed this way: under the promise, and in the memory.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : array of shape (n, d)
        The training rows.
    rtol : float
        The promise.
    """
    if not (has_series(kernel, rows.shape[1]) and rtol >= _SMALLEST_RTOL):
        return False
    grid = _roomy_grid(kernel, rows, rtol)
    fine_size = grid.method(len(rows))[0] ** len(grid.half) * grid.n_modes
    of_a_piece = 16 * grid.n_modes + _BYTES_OF_A_POINT * fine_size
    needed = 24 * len(rows) + _n_pieces(grid, len(rows)) * of_a_piece
    return grid.rounding <= rtol / 4 and needed <= memory_limit()
