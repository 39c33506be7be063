"""The whole matrix in memory: the oracle of all other operators, and the quickest for few rows."""

from typicality._cached import cached_property
from typicality._typing import Floats
from typicality.operators.base import Candidate, Operator, Problem, row_sums, seconds_for
from typicality.operators.blocked import MATRIX_SPARE, Blocked, BlockedSums
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

    method = "dense"
    over_all_pairs = True
    exact_at_rows = True
    rtol = 0.0

    def __init__(self, columns: Columns, rows: Floats) -> None:
        self.columns = columns
        self.rows = rows

    @classmethod
    def offer(cls, problem: Problem) -> Candidate | str:
        if problem.columns.is_precomputed:
            return "the matrix is in memory already"
        operator = cls(problem.columns, problem.rows)
        return Candidate(
            cls.method,
            f"{problem.matrix} is computed once and kept; an iteration is one product with it.",
            seconds_for("dense", **problem.pairs()),
            operator.working_memory,
            lambda: operator,
            setup=problem.plain_seconds,
            spare=MATRIX_SPARE,
        )

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

    @property
    def working_memory(self) -> int:
        return 8 * len(self.rows) ** 2
