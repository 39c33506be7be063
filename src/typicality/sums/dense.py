"""Exact products: with the whole matrix in memory, or with a block of it at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from typicality._cached import cached_property
from typicality._compat import effective_n_threads
from typicality._sparse import is_sparse
from typicality._threads import one_blas_thread, over_blocks, over_ranges
from typicality._typing import Floats
from typicality.compiled.small import is_small
from typicality.sums.base import Operator, matrix_of, memory_limit, row_sums
from typicality.sums.columns import Columns, KernelColumns, uses_compiled_distances

_ARRAYS_OF_A_BLOCK = 2  # distances, and their function
_ROUNDING = 1e-14  # of a sum
_TILE_ROWS = 64  # compiled and sparse distances go over all training rows for each so many
_ROWS_AT_ONCE = 512  # of a product, for a thread
_PRODUCTS, _ENTRY_SECONDS = 50, 8e-10  # of a fit, and for an entry of the matrix by BLAS
_CACHE_BYTES = 2**21  # larger blocks are slower: they leave the cache, and the allocator's pools


def gather(columns: Columns, rows: Floats, of_rows: Callable[[Floats], Floats]) -> Floats:
    """`of_rows(rows)`, a few rows at a time and in threads, one below the other.

    Blocks are as large as the cache, or as scikit-learn's `working_memory` where that is less.
    """
    n_rows, n_bytes = len(rows), 8 * _ARRAYS_OF_A_BLOCK * columns.n_training
    wanted = _CACHE_BYTES
    if uses_compiled_distances(columns) or is_sparse(rows):
        wanted = max(wanted, _TILE_ROWS * n_bytes)
    allowed = memory_limit() // effective_n_threads()
    step = max(1, min(min(allowed, wanted) // n_bytes, n_rows))
    first = of_rows(rows[:step])
    out = np.empty((n_rows, *first.shape[1:]))
    out[:step] = first

    def fill(start: int, stop: int) -> None:
        for block in range(start + 1, stop + 1):
            place = slice(block * step, (block + 1) * step)
            out[place] = of_rows(rows[place])

    over_ranges(fill, -(-n_rows // step) - 1)
    if not np.isfinite(out).all():
        row = int(np.flatnonzero(~np.isfinite(out).reshape(n_rows, -1).all(axis=1))[0])
        raise ValueError(
            f"The kernel is not finite for row {row}: some of its values overflow or are not "
            "defined. Rescale the features, e.g. with sklearn.preprocessing.StandardScaler, "
            "or check the kernel."
        )
    return out


class Dense(Operator):
    """Exact products with the matrix of the kernel: the oracle of all other operators.

    Blocks of a fixed size run in threads, with one thread of BLAS each, so the number of threads
    does not change the results. Several columns are multiplied by BLAS, or by compiled code if
    there are more than 2,500 rows, so their last digits are not those of sums at points.

    Costs O(n^2 (d + c)) time a product and O(n) memory; or O(n^2 c) time where the matrix is kept,
    and O(n^2) memory.

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    rows : array
        The rows.
    keep : bool, default=True
        Whether the matrix is computed once. Otherwise each product computes it, a few rows at a
        time.
    """

    exact_at_rows = True
    rtol = 0.0

    def __init__(self, columns: Columns, rows: Floats, *, keep: bool = True) -> None:
        self.columns, self.rows, self.keep = columns, rows, keep

    @property
    def how(self) -> str:
        matrix = matrix_of(len(self.rows))
        if self.keep:
            return f"{matrix} is computed once and kept; an iteration is one product with it."
        if not isinstance(self.columns, KernelColumns):
            return f"{matrix} is in memory already; an iteration is one product with it."
        return f"{matrix} is computed again in each iteration, a few rows at a time."

    @cached_property
    def _matrix(self) -> Floats:
        return gather(self.columns, self.rows, self.columns.half_sqdist)

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> "DenseSums":
        return DenseSums(self.columns, weights)

    @one_blas_thread()
    def complement(self, weights: Floats) -> Floats:
        entries = self.columns.half_sqdist
        if not self.keep:
            return gather(self.columns, self.rows, lambda rows: _times(entries(rows), weights))
        matrix, n_columns = self._matrix, weights.shape[1]
        if n_columns > 1 and not is_small(_PRODUCTS * _ENTRY_SECONDS * matrix.size):
            return _multiplied(matrix, weights)
        parts = over_blocks(lambda rows: _times(matrix[rows], weights), len(matrix), _ROWS_AT_ONCE)
        return np.concatenate(parts)


def _multiplied(matrix: Floats, weights: Floats) -> Floats:
    """`matrix @ weights` by compiled code, which takes half the time of BLAS for few columns."""
    from typicality.compiled.products import multiply

    columns = np.ascontiguousarray(weights.T)
    out = np.empty((len(matrix), len(columns)))

    def fill(first: int, last: int) -> None:
        multiply(matrix, columns, first, last, out)

    over_ranges(fill, len(matrix), at_least=_ROWS_AT_ONCE)
    return out


def _times(block: Floats, weights: Floats) -> Floats:
    """`block @ weights` by BLAS; a single column is as quick without it."""
    return row_sums(block, weights) if weights.shape[1] == 1 else block @ weights


@dataclass(frozen=True, eq=False)
class DenseSums:
    """Exact sums over all training rows, a few points at a time.

    A point gets the same numbers alone and in any batch: each row is summed by itself, not by BLAS.

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

    def at(self, points: Floats, *, complement: bool = False) -> Floats:
        values = self.columns.half_sqdist if complement else self.columns.kernel
        return gather(self.columns, points, lambda rows: row_sums(values(rows), self.weights))
