"""How many Fourier modes a Gaussian needs for a promise: the grid of `nufft`."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcinv

from typicality._typing import Doubles, Floats
from typicality.kernels import Gaussian

Index = slice | NDArray[np.integer]

_MOST_FEATURES = 3
_ROWS_AT_ONCE = 2**14  # that are gathered
_SMALLEST_RTOL = 1e-12
LARGEST_RTOL = 1e-2  # a larger promise is kept as this one
_MOST_MODES_OF_AN_AXIS = 1e9
_ROUNDING = 4.0  # measured: a quarter of this, see docs/theory
_ROUNDING_OF_FEW_MODES = 10.0
_WIDE_GRID, _TIGHT_GRID = 2.0, 1.25
_POINTS_OF_A_WEIGHT = 10  # a weight takes as long as ten points of the grid (measured)
# With the tight grid the middle of the spectrum, where a Gaussian has its weight, is better than
# the tolerance of finufft: by no more than 2 tolerance^1.2 off within these limits (measured).
_TIGHT_SHARES = (1e-10, 1e-4)
_TIGHT_FACTOR, _TIGHT_POWER = 2.0, 1.2


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
        share = min(rtol, LARGEST_RTOL) / (8 * len(low))
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
        return min(self.rtol, LARGEST_RTOL) / (4 * len(self.half))

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


def no_grid_because(kernel: Any, n_features: int, rtol: float) -> str | None:
    """Why there is no grid, whatever the rows and the memory; None where there may be one."""
    if type(kernel) is not Gaussian:  # a subclass may have another profile
        return f"the kernel is {type(kernel).__name__}, not Gaussian"
    if n_features > _MOST_FEATURES:
        return f"there are {n_features} features, more than {_MOST_FEATURES}"
    if not rtol >= _SMALLEST_RTOL:
        return f"rtol={rtol:.1g} is below {_SMALLEST_RTOL:.0e}, where double precision ends"
    return None
