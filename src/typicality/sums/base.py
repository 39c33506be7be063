"""The interface of an operator, documented once: its products, its sums at points."""

from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn import get_config

from typicality._typing import Floats

_ROWS_OF_A_PRODUCT = 8192  # BLAS cuts longer ones by the number of its threads


class Expansion(Protocol):
    r"""Weighted sums over the training rows, at any points: what prediction keeps.

    The promise is that of the operator it comes from. A point gets the same numbers alone and in
    any batch, whatever the number of threads.
    """

    @property
    def rtol(self) -> float:
        """The promise, relative to the sum of the absolute weights."""

    def error(self, sums: Floats) -> Floats | float:
        """The largest error of sums whose weights are not negative and add up to one.

        It can be far less than the promise where a sum is small.
        """

    def at(self, points: Floats, *, complement: bool = False) -> Floats:
        """`K(points, training) @ W`, shape (len(points), c); with E in the place of K, if asked."""


class Operator(Protocol):
    r"""Products of the training rows with E, half the squared distances in the induced space.

    The promise is :math:`|\text{approx} - \text{exact}| \le \text{rtol} \sum_j |W_{jk}|` for every
    entry, where the kernel is at most 1; exact operators promise 0, up to rounding.

    A new operator is one file, and a line of `choose_operator`.

    Attributes
    ----------
    exact_at_rows : bool, default=False
        Whether products are plain sums of NumPy, so that scores of rows need no finer ones.
    columns : Columns
        The kernel against the training rows.
    rtol : float
        The promise.
    """

    exact_at_rows: ClassVar[bool] = False
    columns: Any
    rtol: float

    @property
    def how(self) -> str:
        """How products are computed, in a sentence."""

    def complement(self, weights: Floats) -> Floats:
        """`E @ W`, shape (n, c), for weights of shape (n_training, c).

        E is half the squared distances in the induced space: 1 - K on the sphere.
        """

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> Expansion:
        """The same sums at any points; with a finer promise where that can be had."""


def memory_limit() -> int:
    """The most bytes an operator may take: scikit-learn's `working_memory`."""
    return int(get_config()["working_memory"] * 2**20)


def matrix_of(n_rows: int) -> str:
    """The name of the matrix of a number of rows, for a sentence."""
    return f"the {n_rows:,} x {n_rows:,} matrix of distances in the kernel-induced space"


def row_sums(block: Floats, weights: Floats) -> Floats:
    """`block @ weights`, each row by itself: a matrix product would make it depend on its batch."""
    if weights.shape[1] == 1:  # einsum would cut the sum at its buffer, not where a row ends
        if len(weights) <= _ROWS_OF_A_PRODUCT:
            dots: Floats = np.vecdot(block, weights[:, 0])
            return dots[:, None]
        return (block * weights[:, 0]).sum(axis=1, keepdims=True)
    sums: Floats = np.einsum("ij,kj->ik", block, np.ascontiguousarray(weights.T))
    return sums
