"""Landmarks: a few rows whose span has all mapped rows, but for a bound that is computed."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from typicality._threads import over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.kernels import DISTANCE_KERNELS, Stationary
from typicality.operators.columns import KernelColumns, evenly_spaced

SMALLEST_PROMISE = 1e-12  # rounding of a thousand columns comes to a tenth of it
LARGEST_RANK = 4096  # the factor of 4096 landmarks takes seconds
_FIRST = 2048  # rows looked at before all are: most landmarks are found in a sample
NEW_CANDIDATES = 1024  # rows a round adds to the landmarks to choose from
MOST_ROUNDS = 16  # of looking for rows that break the promise
MARGIN = 0.5  # of the promise at the landmarks; rows between them are a little worse
_HOPELESS = 0.8  # of a sample; if so large a share are landmarks, most other rows are too
_ROWS_OF_A_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Landmarks:
    r"""Some rows z with the Cholesky factor C of their kernel matrix, in the order of the pivots.

    .. math:: r_h = K(x_h, x_h) - \lVert C^{-1} K_{zh} \rVert^2, \qquad
        |K_{ij} - K_{iz} K_{zz}^{-1} K_{zj}| \le \sqrt{r_i r_j} \le \max_h r_h,

    where :math:`r_h` is the squared distance of a mapped row from the span of the mapped landmarks.
    It is computed for every row, so the promise is known and not estimated. Landmarks are rows of
    largest :math:`r_h`, taken one by one (Cholesky with complete pivoting), first of a sample and
    then among all rows that break the promise.

    Implements :cite:`williams2001`, with the landmarks of :cite:`harbrecht2012`. Original to
    typicality in its checks; see docs/theory.

    Parameters
    ----------
    index : array of shape (m,)
        Where the landmarks stand among the rows.
    rows : array of shape (m, d)
        The landmarks.
    triangle : array of shape (m, m)
        C, a lower triangle.
    """

    index: Places
    rows: Floats
    triangle: Doubles

    @property
    def rank(self) -> int:
        """The number of landmarks."""
        return len(self.index)

    def residuals(self, kernel: Stationary, rows: Floats) -> Doubles:
        """Squared distances of mapped rows from the span of the landmarks."""
        residual = np.empty(len(rows))

        def fill(first: int, last: int) -> None:
            for start in range(first, last):
                block = slice(start * _ROWS_OF_A_BLOCK, (start + 1) * _ROWS_OF_A_BLOCK)
                against = np.asarray(kernel(rows[block], self.rows), dtype=np.float64)
                coordinates = solve_triangular(
                    self.triangle, against.T, lower=True, overwrite_b=True, check_finite=False
                ).T
                residual[block] = 1.0 - np.einsum("ij,ij->i", coordinates, coordinates)

        over_ranges(fill, -(-len(rows) // _ROWS_OF_A_BLOCK))
        return residual


def landmarks_of(columns: KernelColumns, rtol: float) -> Landmarks | None:
    """Landmarks that keep the promise for the training rows; None where that takes too many."""
    n_rows = columns.n_training
    sample = evenly_spaced(n_rows, _FIRST)
    found = pivoted(columns, sample, rtol)
    if found.rank > _HOPELESS * len(sample) and _HOPELESS * n_rows > LARGEST_RANK:
        return None
    covering = _covering(columns, found, sample, rtol)
    return None if covering is None else _covering(columns, covering, np.arange(n_rows), rtol)


def _covering(
    columns: KernelColumns, found: Landmarks, looked_at: Places, rtol: float
) -> Landmarks | None:
    """Landmarks that keep the promise for the rows looked at: more of them where that takes more.

    Rows that break the promise become candidates, and pivoting restarts with the landmarks and
    these: in the order of falling pivots rounding errors do not grow.
    """
    for _ in range(MOST_ROUNDS):
        if found.rank > LARGEST_RANK:
            return None
        residual = found.residuals(columns.kernel_function, columns.training[looked_at])
        if residual.max() + rounding_of(found.rank) <= rtol:
            return found
        worst = np.argsort(-residual, kind="stable")[: np.sum(residual > MARGIN * rtol)]
        added = looked_at[worst[evenly_spaced(len(worst), NEW_CANDIDATES)]]
        found = pivoted(columns, np.concatenate([found.index, added]), rtol)
    return None


def pivoted(columns: KernelColumns, candidates: Places, rtol: float) -> Landmarks:
    """Landmarks among candidates, which keep half of the promise for these.

    Each is the row farthest from the span of those before.
    """
    rows = columns.training[candidates]
    matrix = np.asarray(columns.kernel_function(rows, rows), dtype=np.float64)
    # The transpose of a symmetric matrix in the order of NumPy is the matrix in that of LAPACK.
    triangle, pivots, rank, _ = dpstrf(matrix.T, tol=MARGIN * rtol, lower=1, overwrite_a=1)
    chosen = pivots[:rank] - 1
    return Landmarks(candidates[chosen], rows[chosen], np.tril(triangle[:rank, :rank]))


def rounding_of(rank: int) -> float:
    """How far an entry of the product of the factors may be off by rounding alone.

    Complete pivoting keeps it at a few units of the last place; the root is that of a sum of as
    many independent errors.
    """
    return 4.0 * float(np.finfo(np.float64).eps) * (16.0 + float(np.sqrt(rank)))


def refusal(columns: KernelColumns, rtol: float) -> str | None:
    """Why there are no landmarks, whatever the rows, in one clause; None where there may be."""
    if not isinstance(columns.kernel_function, Stationary):
        names = ", ".join(DISTANCE_KERNELS)
        return f"landmarks need a kernel that depends only on the distance of two rows ({names})"
    if not columns.positive_semidefinite:
        return "landmarks need a kernel that is a scalar product"
    if rtol < SMALLEST_PROMISE:
        return f"with rounding, landmarks cannot guarantee less than {SMALLEST_PROMISE:g}"
    return None
