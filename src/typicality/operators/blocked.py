"""A block of the matrix at a time: exact, for any number of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from typicality._compat import effective_n_threads
from typicality._sparse import is_sparse
from typicality._threads import over_ranges
from typicality._typing import Floats
from typicality.operators.base import Operator, matrix_of, memory_limit, row_sums
from typicality.operators.columns import Columns, KernelColumns, uses_compiled_distances

_ARRAYS_OF_A_BLOCK = 2  # distances, and their function
_ROUNDING = 1e-14  # of a sum
_TILE_ROWS = 64  # compiled and sparse distances go over all training rows for each so many
_CACHE_BYTES = 2**21  # larger blocks are slower: they leave the cache, and the allocator's pools


class Blocked(Operator):
    """Exact products, a few rows of the matrix at a time; never n x n in memory.

    Blocks are as large as the cache, or as scikit-learn's `working_memory` where that is less, and
    run in threads. A row gets the same numbers whatever block it is in. Costs O(n^2 (d + c)) time a
    product and O(n) memory.

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
        if not isinstance(self.columns, KernelColumns):
            return f"{matrix} is in memory already; an iteration is one product with it."
        return f"{matrix} is computed again in each iteration, a few rows at a time."

    def __matmul__(self, weights: Floats) -> Floats:
        return self.gather(lambda rows: row_sums(self.columns.kernel(rows), weights))

    def complement(self, weights: Floats) -> Floats:
        return self.gather(lambda rows: row_sums(self.columns.half_sqdist(rows), weights))

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> "BlockedSums":
        return BlockedSums(self.columns, weights)

    def gather(self, of_rows: Callable[[Floats], Floats]) -> Floats:
        """`of_rows(rows)` for all rows, block by block, one below the other."""
        n_rows = len(self.rows)
        step = self._rows_of_a_block(effective_n_threads())
        first = of_rows(self.rows[:step])
        out = np.empty((n_rows, *first.shape[1:]))
        out[:step] = first

        def fill(start: int, stop: int) -> None:
            for block in range(start + 1, stop + 1):
                rows = slice(block * step, (block + 1) * step)
                out[rows] = of_rows(self.rows[rows])

        over_ranges(fill, -(-n_rows // step) - 1)
        if not np.isfinite(out).all():
            row = int(np.flatnonzero(~np.isfinite(out).reshape(n_rows, -1).all(axis=1))[0])
            raise ValueError(
                f"The kernel is not finite for row {row}: some of its values overflow or are not "
                "defined. Rescale the features, e.g. with sklearn.preprocessing.StandardScaler, "
                "or check the kernel."
            )
        return out

    def _row_bytes(self) -> int:
        return 8 * _ARRAYS_OF_A_BLOCK * self.columns.n_training

    def _rows_of_a_block(self, n_threads: int) -> int:
        allowed = memory_limit() / n_threads
        wanted = _CACHE_BYTES
        if uses_compiled_distances(self.columns) or is_sparse(self.rows):
            wanted = max(wanted, _TILE_ROWS * self._row_bytes())
        return max(1, min(int(min(allowed, wanted) / self._row_bytes()), len(self.rows)))


@dataclass(frozen=True, eq=False)
class BlockedSums:
    """Exact sums over all training rows, a few points at a time.

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    weights : array of shape (n, c)
        The weights.
    """

    columns: Columns
    weights: Annotated[Floats, "n c"]
    rtol: ClassVar[float] = 0.0

    def error(self, sums: Floats) -> Floats:
        return _ROUNDING * sums

    def at(self, points: Floats) -> Floats:
        return Blocked(self.columns, points) @ self.weights

    def complement_at(self, points: Floats) -> Floats:
        return Blocked(self.columns, points).complement(self.weights)
