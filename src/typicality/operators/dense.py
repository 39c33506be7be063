"""The whole matrix in memory: the oracle of all other operators, and the quickest for few rows."""

from typicality._cached import cached_property
from typicality._typing import Floats
from typicality.operators.base import Operator, matrix_of, row_sums
from typicality.operators.blocked import Blocked, BlockedSums
from typicality.operators.columns import Columns


class Dense(Operator):
    """Exact products with a matrix that is computed once; memory grows with n squared.

    Costs O(n^2 d) once and O(n^2 c) a product.

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    rows : array
        The rows.
    """

    exact_at_rows = True
    rtol = 0.0

    def __init__(self, columns: Columns, rows: Floats) -> None:
        self.columns = columns
        self.rows = rows

    @property
    def how(self) -> str:
        matrix = matrix_of(len(self.rows))
        return f"{matrix} is computed once and kept; an iteration is one product with it."

    @cached_property
    def _half_sqdist(self) -> Floats:
        return Blocked(self.columns, self.rows).gather(self.columns.half_sqdist)

    @cached_property
    def _kernel(self) -> Floats:
        return Blocked(self.columns, self.rows).gather(self.columns.kernel)

    def __matmul__(self, weights: Floats) -> Floats:
        return row_sums(self._kernel, weights)

    def complement(self, weights: Floats) -> Floats:
        return row_sums(self._half_sqdist, weights)

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> BlockedSums:
        return BlockedSums(self.columns, weights)
