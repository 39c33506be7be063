"""The interface of an operator, documented once."""

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


class Operator(Protocol):
    r"""Products of the kernel matrix of some rows against the training rows.

    The promise is :math:`|\text{approx} - \text{exact}| \le \text{rtol} \sum_j |W_{jk}|` for every
    entry, where the kernel is at most 1; exact operators promise 0, up to rounding.
    """

    method: ClassVar[str]

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


def row_sums(block: Floats, weights: Floats) -> Floats:
    """`block @ weights`, each row by itself: BLAS would make a row depend on its batch."""
    if weights.shape[1] == 1:  # einsum would cut the sum at its buffer, not where a row ends
        alone: Floats = (block * weights[:, 0]).sum(axis=1, keepdims=True)
        return alone
    sums: Floats = np.einsum("ij,kj->ik", block, np.ascontiguousarray(weights.T))
    return sums
