"""The interface of an operator, documented once."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


class Expansion(Protocol):
    r"""Weighted sums over the training rows, at any points: what prediction keeps.

    The promise is that of the operator it comes from. A point gets the same numbers alone and in
    any batch, whatever the number of threads.
    """

    @property
    def rtol(self) -> float:
        """The promise, relative to the sum of the absolute weights."""

    def error(self, sums: Floats) -> Floats | float:
        """How far sums of weights that are not negative and sum to one may be off.

        That can be far less than the promise where a sum is small.
        """

    def at(self, points: Floats) -> Floats:
        """`K(points, training) @ W`, shape (len(points), c)."""

    def complement_at(self, points: Floats) -> Floats:
        """`E(points, training) @ W`, shape (len(points), c)."""

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""


class Operator(Protocol):
    r"""Products of the kernel matrix of the training rows.

    The promise is :math:`|\text{approx} - \text{exact}| \le \text{rtol} \sum_j |W_{jk}|` for every
    entry, where the kernel is at most 1; exact operators promise 0, up to rounding.
    """

    columns: Any

    @property
    def method(self) -> str:
        """Its name."""

    @property
    def rtol(self) -> float:
        """The promise."""

    def __matmul__(self, weights: Floats) -> Floats:
        """`K @ W`, shape (n, c), for weights of shape (n_training, c)."""

    def complement(self, weights: Floats) -> Floats:
        """`E @ W` with E half the squared distances in the induced space; 1 - K on the sphere."""

    @property
    def working_memory(self) -> int:
        """Bytes it needs beyond the rows and the result."""

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> Expansion:
        """The same sums at any points; with a finer promise where that can be had."""


def row_sums(block: Floats, weights: Floats) -> Floats:
    """`block @ weights`, each row by itself: BLAS would make a row depend on its batch."""
    if weights.shape[1] == 1:  # einsum would cut the sum at its buffer, not where a row ends
        alone: Floats = (block * weights[:, 0]).sum(axis=1, keepdims=True)
        return alone
    sums: Floats = np.einsum("ij,kj->ik", block, np.ascontiguousarray(weights.T))
    return sums


def spread_over(n: int, at_most: int) -> NDArray[np.intp]:
    """Numbers below n at equal steps: a sample of rows."""
    return np.linspace(0, n - 1, min(n, at_most)).astype(np.intp)
