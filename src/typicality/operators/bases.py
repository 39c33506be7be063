"""Finite bases of the space a kernel induces, for rows that are read block by block.

A prototype is a few coefficients, which add up over blocks of rows. Nothing is kept for each row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from typicality._typing import Doubles, Floats
from typicality.kernels import Kernel
from typicality.operators import landmarks as pivoting
from typicality.operators import nufft
from typicality.operators.base import Expansion, memory_limit
from typicality.operators.columns import KernelColumns
from typicality.operators.fourier_grid import FourierGrid, FourierMethod, no_grid_because
from typicality.operators.reduced_set import ReducedSet
from typicality.operators.tiles import exact_expansion
from typicality.rows import Block, Rows, content_hash

Coefficients = NDArray[Any]

_ROWS_OF_A_BLOCK = 2**17  # for which the memory of a transform is estimated
_SAMPLE = 16384  # rows among which the first landmarks are chosen
_FINER_RTOLS = 1e-11, 1e-10, 1e-9  # promises that small sums are worth
_FINER_RESIDUALS = 1e-10, 1e-9, 1e-8  # whose roots are promises everywhere
_MANY_LANDMARKS = 2048
_MANY_MODES = 2**19  # 8 MiB for each prototype
_TRANSFORMS_AT_ONCE = 4  # for which memory is estimated
_DIGITS = 3  # of residuals, in units of the promise: BLAS does not give all of them twice


class Basis(Protocol):
    r"""Coefficients that stand for weighted sums of mapped rows.

    For rows x and y that take part, the scalar product of their coefficients is :math:`K(x, y)`
    but for the promise.

    Attributes
    ----------
    rtol : float
        The promise: how far means of kernel values at the rows may be off.
    """

    @property
    def rtol(self) -> float: ...

    @property
    def summing(self) -> Callable[[Floats, Floats], Coefficients]:
        """`summing(rows, weights)`: what adds up over blocks; it has c entries along axis 0."""

    def coefficients(self, sums: Coefficients) -> Coefficients:
        """The coefficients of weighted sums, shape (c, ...)."""

    def sqnorms(self, some: Coefficients) -> Doubles:
        """Squared lengths, shape (len(some),)."""

    def expansion(self, coefficients: Coefficients) -> Expansion:
        """Scalar products of means with any mapped point."""

    def finer(self, rows: Rows) -> "Basis":
        """A basis with a finer promise, where that costs little; else the same."""

    def how(self, n_rows: int) -> str:
        """How an iteration over so many rows is computed, in a sentence."""


@dataclass(frozen=True, eq=False)
class FourierBasis:
    r"""Waves of a grid: a prototype is its Fourier modes.

    With the coefficients :math:`g_\omega` of the kernel (see `FourierGrid`),

    .. math:: m_k(\omega) = \sum_r w_{rk} e^{-i \omega \cdot x_r}, \qquad
        \langle v_k, v_l \rangle = \sum_\omega g_\omega m_k(\omega) \overline{m_l(\omega)}, \qquad
        \langle \Phi(x), v_k \rangle = \sum_\omega g_\omega m_k(\omega) e^{i \omega \cdot x}.

    A block of n rows costs O(n w^d + M log M) for M modes, as for `Nufft`.

    Parameters
    ----------
    kernel : Gaussian
        The kernel.
    grid : FourierGrid
        The waves.
    """

    kernel: Any
    grid: FourierGrid

    @classmethod
    def of(cls, kernel: Kernel, rows: Rows, rtol: float, n_columns: int) -> "FourierBasis | str":
        """The basis, or in one clause why there is none."""
        why = no_grid_because(kernel, rows.n_features, rtol)
        if why is not None:
            return why
        gaussian: Any = kernel
        grid = nufft.roomy_grid(gaussian, rows.features.low, rows.features.high, rtol)
        why = nufft.too_fine(grid)
        needed, allowed = _memory_of_waves(grid, n_columns), memory_limit()
        if why is None and needed > allowed:
            why = (
                f"{grid.n_modes:,} Fourier modes for each of {n_columns} prototypes need "
                f"{needed // 2**20:,} MiB, and {allowed // 2**20:,} MiB are allowed"
            )
        return cls(kernel, grid) if why is None else why

    @property
    def rtol(self) -> float:
        return self.grid.rtol

    @property
    def summing(self) -> Callable[[Floats, Floats], Coefficients]:
        return partial(nufft.wave_sums, self.grid)

    def coefficients(self, sums: Coefficients) -> Coefficients:
        return sums

    def sqnorms(self, some: Coefficients) -> Doubles:
        squares = (some.real**2 + some.imag**2).astype(complex)
        self.grid.weigh(squares)
        return np.asarray(squares.real.reshape(len(some), -1).sum(axis=1))

    def expansion(self, coefficients: Coefficients) -> Expansion:
        return nufft.expansion_of_waves(self.grid, coefficients)

    def finer(self, rows: Rows) -> "FourierBasis":
        for rtol in _FINER_RTOLS:
            found = FourierBasis.of(self.kernel, rows, rtol, 1)
            if isinstance(found, FourierBasis) and found.grid.n_modes <= max(
                rows.n_rows, _MANY_MODES
            ):
                return found
        return self

    def how(self, n_rows: int) -> str:
        return (
            f"each iteration is one pass over {n_rows:,} rows, block by block; a prototype "
            f"is a Fourier series of {self.grid.n_modes:,} terms, with an error of at most "
            f"{self.rtol:.0e}."
        )


def _memory_of_waves(grid: FourierGrid, n_columns: int) -> int:
    """Bytes for prototypes, their sums and a transform for each thread, beyond a block of rows."""
    method = FourierMethod.of(grid, _ROWS_OF_A_BLOCK)
    fine = 24 * method.fine_size * _TRANSFORMS_AT_ONCE
    return int(4 * n_columns * grid.n_bytes + fine)


@dataclass(frozen=True, eq=False)
class LandmarkBasis:
    r"""Some of the rows, the landmarks z: a prototype is its projection on their span.

    With the Cholesky factor C of the kernel matrix of the landmarks, the coefficients of
    :math:`v_k = \sum_r w_{rk} \Phi(x_r)` are :math:`C^{-1} K_{zn} w_k`. The promise is the largest
    squared distance of a mapped row from the span, computed for every row. At
    other points a mean of kernel values may be off by its root.

    A block of n rows costs O(n m d) for m landmarks.

    Parameters
    ----------
    kernel : Stationary
        The kernel.
    landmarks : array of shape (m, d)
        The landmarks.
    triangle : array of shape (m, m)
        C, a lower triangle.
    rtol : float
        The promise.
    """

    kernel: Any
    landmarks: Floats
    triangle: Doubles
    rtol: float

    @classmethod
    def of(
        cls, kernel: Kernel, rows: Rows, rtol: float, most: int | None = None
    ) -> "LandmarkBasis | str":
        """The basis with at most so many landmarks, or in one clause why there is none.

        Landmarks are chosen among a sample; a fold looks for rows that break the promise, and these
        are added, until none does.
        """
        few = rows.sample(_SAMPLE)
        columns = KernelColumns(kernel, few.rows)
        why = pivoting.refusal(columns, rtol)
        if why is not None:
            return why
        most = pivoting.LARGEST_RANK if most is None else most
        found = pivoting.landmarks_of(columns, rtol)
        for _ in range(pivoting.MOST_ROUNDS):
            if found is None or found.rank > most:
                break
            worst = rows.fold(partial(_Uncovered.of, kernel, found, rtol))
            if worst.largest + pivoting.rounding_of(found.rank) <= rtol:
                promise = max(worst.largest, 0.0) + pivoting.rounding_of(found.rank)
                return cls(kernel, found.rows, found.triangle, promise)
            candidates = KernelColumns(kernel, np.concatenate([found.rows, worst.rows]))
            found = pivoting.pivoted(candidates, np.arange(candidates.n_training), rtol)
        return (
            f"the kernel is not smooth enough: an error bound of {rtol:.0e} takes more than "
            f"{most:,} landmarks, or nearly every row"
        )

    @property
    def summing(self) -> Callable[[Floats, Floats], Coefficients]:
        return partial(_landmark_sums, self.kernel, self.landmarks)

    def coefficients(self, sums: Coefficients) -> Coefficients:
        return np.asarray(solve_triangular(self.triangle, sums.T, lower=True).T)

    def sqnorms(self, some: Coefficients) -> Doubles:
        return np.asarray(np.einsum("km,km->k", some, some))

    def expansion(self, coefficients: Coefficients) -> Expansion:
        weights = solve_triangular(self.triangle, coefficients.T, lower=True, trans="T")
        columns = KernelColumns(self.kernel, self.landmarks)
        everywhere = float(np.sqrt(self.rtol))
        return ReducedSet(columns, weights, np.ones(len(coefficients)), everywhere)

    def finer(self, rows: Rows) -> "LandmarkBasis":
        for rtol in _FINER_RESIDUALS:
            found = LandmarkBasis.of(self.kernel, rows, rtol, _MANY_LANDMARKS)
            if rtol < self.rtol and isinstance(found, LandmarkBasis):
                return found
        return self

    def how(self, n_rows: int) -> str:
        return (
            f"each iteration is one pass over {n_rows:,} rows, block by block; rows are "
            f"compared with {len(self.landmarks):,} landmarks, which represent all rows with an "
            f"error of at most {self.rtol:.0e}."
        )


def _landmark_sums(kernel: Any, landmarks: Floats, rows: Floats, weights: Floats) -> Doubles:
    sums = exact_expansion(KernelColumns(kernel, rows), weights).at(landmarks)
    return np.ascontiguousarray(sums.T, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Uncovered:
    """The rows that landmarks leave most of; those of two blocks add up.

    Parameters
    ----------
    largest : float
        The largest squared distance of a mapped row from the span of the landmarks.
    order : array of shape (m,)
        Squared distances of the rows that break half of the promise, in units of it, rounded.
    rows : array of shape (m, d)
        These rows, the worst 1024 of them.
    """

    largest: float
    order: Doubles
    rows: Floats

    @classmethod
    def of(cls, kernel: Any, landmarks: Any, rtol: float, block: Block) -> "_Uncovered":
        X = block.X if block.weight is None else block.X[block.weight > 0]
        if len(X) == 0:
            return cls(0.0, np.empty(0), X)
        residual = landmarks.residuals(kernel, X)
        uncovered = np.flatnonzero(residual > pivoting.MARGIN * rtol)
        order = np.round(residual[uncovered] / rtol, _DIGITS)
        return cls._worst(float(residual.max()), order, X[uncovered])

    @classmethod
    def _worst(cls, largest: float, order: Doubles, rows: Floats) -> "_Uncovered":
        # The hash decides among equals: then the blocks do not matter.
        kept = np.lexsort([content_hash(rows), -order])[: pivoting.NEW_CANDIDATES]
        return cls(largest, order[kept], rows[kept])

    def __add__(self, other: "_Uncovered") -> "_Uncovered":
        return self._worst(
            max(self.largest, other.largest),
            np.concatenate([self.order, other.order]),
            np.concatenate([self.rows, other.rows]),
        )


def choose_basis(kernel: Kernel, rows: Rows, *, rtol: float, n_columns: int = 1) -> Basis:
    """The basis that keeps a promise for all rows: waves where there are some, else landmarks.

    Raises
    ------
    ValueError
        There is none; the message has the reasons and the remedy.
    """
    waves = FourierBasis.of(kernel, rows, rtol, n_columns)
    if not isinstance(waves, str):
        return waves
    landmarks = LandmarkBasis.of(kernel, rows, rtol)
    if not isinstance(landmarks, str):
        return landmarks
    raise ValueError(
        f"These rows are read block by block, and sums of the kernel {kernel!r} cannot "
        f"be computed that way with an error bound of {rtol:.0e} (Fourier sums: {waves}; "
        f"landmarks: {landmarks}). Use a larger rtol (and tol) or sigma, or a sample of the rows "
        "that fits into memory."
    )
