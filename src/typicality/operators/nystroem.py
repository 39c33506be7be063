"""Products through a few landmarks: linear work for smooth kernels, with a bound it computes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from typicality._threads import one_blas_thread, over_ranges
from typicality._typing import Doubles, Floats, Places
from typicality.kernels import DISTANCE_KERNELS, Stationary
from typicality.operators.base import (
    Candidate,
    Expansion,
    Operator,
    Problem,
    memory_limit,
    seconds_for,
)
from typicality.operators.columns import Columns, KernelColumns, evenly_spaced
from typicality.operators.tiles import exact_expansion

SMALLEST_PROMISE = 1e-12  # rounding of a thousand columns comes to a tenth of it
LARGEST_RANK = 4096  # the factor of 4096 landmarks takes seconds
_STAGES = (2048, 16384)  # rows looked at before all are: most landmarks are found in a sample
_ESTIMATE = 1024  # rows; the rank of these, of a half and of a quarter predicts that of all
NEW_CANDIDATES = 1024  # rows a round adds to the landmarks to choose from
MOST_ROUNDS = 16  # of looking for rows that break the promise
MARGIN = 0.5  # of the promise at the landmarks; rows between them are a little worse
_HOPELESS = 0.8  # of a sample; if so large a share are landmarks, most other rows are too
_ROWS_OF_A_BLOCK = 256
_MOST_PARTS = 64  # of a product: sums over the rows of each are added in their order
_BYTES_OF_A_PAIR = 32  # of candidates: their kernel value, and what is passed on the way


class NotLowRankError(ValueError):
    """The kernel matrix is not that of a few landmarks under the promise."""


@dataclass(frozen=True, eq=False)
class _Landmarks:
    """Some rows with the Cholesky factor of their kernel matrix, in the order of the pivots."""

    index: Places
    rows: Floats
    triangle: Doubles

    @property
    def rank(self) -> int:
        return len(self.index)

    def coordinates(self, columns: KernelColumns, looked_at: Places) -> Doubles:
        """Mapped rows along an orthonormal basis of the span of the landmarks."""
        out = np.empty((len(looked_at), self.rank))

        def fill(first: int, last: int) -> None:
            for block in _blocks(first, last, _ROWS_OF_A_BLOCK):
                rows = columns.training[looked_at[block]]
                against = np.asarray(columns.kernel_function(rows, self.rows), dtype=np.float64)
                out[block] = solve_triangular(
                    self.triangle, against.T, lower=True, overwrite_b=True, check_finite=False
                ).T

        over_ranges(fill, -(-len(looked_at) // _ROWS_OF_A_BLOCK))
        return out


def _blocks(first: int, last: int, n_rows: int) -> Iterator[slice]:
    """The places of some blocks of rows, which are the same for any number of threads."""
    return (slice(n_rows * block, n_rows * (block + 1)) for block in range(first, last))


class _Factor(NamedTuple):
    """Coordinates of rows along the landmarks, and squared distances from their span."""

    landmarks: _Landmarks
    coordinates: Doubles
    residual: Doubles


class Nystroem(Operator):
    r"""Products with a matrix of low rank, from landmarks among the rows.

    With landmarks z and the Cholesky factor C of their kernel matrix,

    .. math:: K \approx L L^\top, \qquad L = K_{nz} C^{-\top}, \qquad
        |K_{ij} - (L L^\top)_{ij}| \le \sqrt{r_i r_j} \le \max_h r_h, \qquad
        r_h = 1 - \lVert L_h \rVert^2.

    :math:`r_h` is the squared distance of a mapped row from the span of the mapped landmarks. It is
    computed for every training row, so the promise is known and not estimated. Landmarks are rows
    of largest :math:`r_h`, taken one by one (Cholesky with complete pivoting), first of a sample
    and then among all rows that break the promise.

    An error of the size of the promise can be all there is of a small sum: rows in the tails need
    sums of another kind.

    BLAS computes the products of blocks of rows, each in one thread: the number of threads does not
    change the results.

    Costs O(n m d + n m^2) once and O(n m c) a product for m landmarks; O(n m) memory, and a
    refusal where that is too much.

    Implements :cite:`williams2001`, with the landmarks of :cite:`harbrecht2012`. Original to
    typicality in its checks; see docs/theory.

    Parameters
    ----------
    columns : KernelColumns
        A kernel of a distance against the training rows.
    rtol : float
        The promise asked for.
    memory : int, optional
        Bytes it may use beyond the rows and the result; scikit-learn's `working_memory` by default.

    Attributes
    ----------
    rtol : float
        The promise kept, at most the one asked for.
    landmarks : array of shape (m,)
        Where the landmarks stand among the rows.
    residual : array of shape (n,)
        :math:`r_h`.

    Raises
    ------
    NotLowRankError
        Where the promise takes more landmarks than allowed; `offer` knows most cases beforehand.
    """

    method = "nystroem"

    @one_blas_thread()
    def __init__(self, columns: KernelColumns, *, rtol: float, memory: int | None = None) -> None:
        why = plain_refusal(columns, rtol)
        if why is not None:
            raise ValueError(_cannot(rtol, why))
        room = _Room.of(columns.n_training, memory)
        found = _find_landmarks(columns, rtol, room)
        if found is None:
            why = _too_many(columns.n_training, rtol, room)
            raise NotLowRankError(_cannot(rtol, why))
        self.columns = columns
        self.landmarks = found.landmarks.index
        self.residual = found.residual
        self.rtol = max(0.0, float(found.residual.max())) + rounding_of(self.rank)
        self._factor = found.coordinates

    @classmethod
    @one_blas_thread()
    def offer(cls, problem: Problem) -> Candidate | str:
        """It looks at a sample of the rows; the operator itself looks at all of them."""
        columns, rtol, memory = problem.columns, problem.tolerance.absolute, problem.memory
        on_sphere = isinstance(columns, KernelColumns) and columns.on_sphere
        why = problem.no_approximation if on_sphere else None
        why = why or plain_refusal(columns, rtol)
        if why is not None:
            return why
        n_rows, n_features = problem.rows.shape
        rank, room = estimated_rank(columns, rtol), _Room.of(n_rows, memory)
        if rank > room.rank:
            return _too_many(n_rows, rtol, room)
        units = cost_units(n_rows, n_features, rank)
        setup = {name: units[name] for name in ("kernel_values", "flops")}
        # Scores and labels at the end of a fit are exact sums over all rows.
        last = seconds_for("tiles, double", **problem.pairs()) if problem.compiled else 0.0
        return Candidate(
            cls.method,
            f"{problem.matrix} is approximated by about {rank:,} landmarks, with an error "
            f"of at most {rtol:.0e}; an iteration is one product with their columns.",
            seconds_for("nystroem", product=units["product"] * problem.n_columns),
            memory_for(n_rows, rank),
            lambda: cls(columns, rtol=rtol, memory=memory),
            rtol,
            setup=seconds_for("nystroem", **setup) + last,
        )

    @staticmethod
    def seconds_to_ask(n_rows: int) -> float:
        return 0.1

    @property
    def rank(self) -> int:
        """The number of landmarks."""
        return len(self.landmarks)

    @one_blas_thread()
    def __matmul__(self, weights: Floats) -> Floats:
        factor, weights = self._factor, weights.astype(np.float64, copy=False)
        n_rows, n_columns = weights.shape
        of_a_part = max(_ROWS_OF_A_BLOCK, -(-n_rows // _MOST_PARTS))
        n_parts = -(-n_rows // of_a_part)
        sums = np.empty((n_parts, self.rank, n_columns))
        products = np.empty((n_rows, n_columns))

        def add_up(first: int, last: int) -> None:
            for i, part in enumerate(_blocks(first, last, of_a_part), first):
                np.matmul(factor[part].T, weights[part], out=sums[i])

        def multiply(first: int, last: int) -> None:
            for part in _blocks(first, last, of_a_part):
                np.matmul(factor[part], along, out=products[part])

        over_ranges(add_up, n_parts)
        along = sums.sum(axis=0)
        over_ranges(multiply, n_parts)
        return products

    def complement(self, weights: Floats) -> Floats:
        total: Floats = weights.sum(axis=0, dtype=np.float64)
        return total - self @ weights

    @property
    def working_memory(self) -> int:
        return memory_for(self.columns.n_training, self.rank)

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> Expansion:
        """Exact sums over all rows, for points anywhere.

        Between the landmarks of a matrix of low rank, the promise holds for training rows only: a
        point may lie anywhere, and there the error is bounded by sqrt(max r), not max r. For small
        and quick models whose promise holds everywhere, see `reduced_set`.
        """
        return exact_expansion(self.columns, weights)


def estimated_rank(columns: KernelColumns, rtol: float) -> int:
    """How many landmarks the promise takes, from samples of doubling size.

    One more than `LARGEST_RANK` stands for all larger numbers.

    The rank of a smooth kernel grows ever more slowly with the rows. Let a be the power with which
    it grew from each sample to the next; it is taken to shrink on as it did. Costs the
    factorisation of a matrix of 1024 rows.
    """
    n_rows = columns.n_training
    sample = evenly_spaced(n_rows, _ESTIMATE)
    rank = float(_pivoted(columns, sample, MARGIN * rtol).rank)
    if len(sample) < n_rows:
        before = [_pivoted(columns, sample[::step], MARGIN * rtol).rank for step in (4, 2)]
        earlier, power = np.diff(np.log2([*before, rank]))
        shrinking = min(1.0, power / earlier) if earlier > 0 else 1.0
        n_doublings = int(np.log2(n_rows / len(sample))) + 1
        rank *= 2.0 ** (power * np.sum(shrinking ** np.arange(1, n_doublings)))
    return int(min(np.ceil(rank), n_rows, LARGEST_RANK + 1))


def cost_units(n_rows: int, n_features: int, rank: int) -> dict[str, float]:
    """Work of the set-up and of a product of one or a few columns, for the measured seconds.

    `kernel_values` are those of NumPy blocks, times the number of features; `flops` are those of
    dense linear algebra; `product` counts numbers read from memory. The set-up looks at all rows
    about twice: once to find those that break the promise of the landmarks of a sample, and once
    more with landmarks among these.
    """
    looks = 2.0
    return {
        "kernel_values": looks * n_rows * rank * (n_features + 4.0),
        "flops": looks * n_rows * rank**2 + 2.0 * rank**3,
        "product": 2.0 * n_rows * rank,
    }


class _Room(NamedTuple):
    """What fits into memory: of the whole, landmarks, and candidates for more of them."""

    memory: int
    rank: int
    candidates: int

    @classmethod
    def of(cls, n_rows: int, memory: int | None) -> Self:
        limit = memory_limit(memory)
        pivoted = math.isqrt(limit // _BYTES_OF_A_PAIR)
        candidates = min(NEW_CANDIDATES, pivoted // 2)
        of_rows, of_a_landmark = _n_bytes(n_rows)
        fits = (limit - of_rows) // of_a_landmark
        rank = max(0, min(n_rows, LARGEST_RANK, fits, pivoted - candidates))
        return cls(limit, rank, candidates)


def memory_for(n_rows: int, rank: int) -> int:
    """Bytes of landmarks and of their products with all rows."""
    of_rows, of_a_landmark = _n_bytes(n_rows)
    return of_rows + rank * of_a_landmark


def _n_bytes(n_rows: int) -> tuple[int, int]:
    """Of what the landmarks leave of the rows and of their order; and of each landmark."""
    return 32 * n_rows, 8 * (n_rows + 16 * _ROWS_OF_A_BLOCK + _MOST_PARTS)


def _find_landmarks(columns: KernelColumns, rtol: float, room: _Room) -> _Factor | None:
    """Landmarks that keep the promise for all rows; None where that takes too many."""
    n_rows = columns.n_training
    sizes = [*(size for size in _STAGES if size < n_rows), n_rows]
    sample = evenly_spaced(n_rows, min(sizes[0], 2 * room.candidates))
    landmarks = _pivoted(columns, sample, MARGIN * rtol)
    if landmarks.rank > _HOPELESS * len(sample) and _HOPELESS * n_rows > room.rank:
        return None
    for size in sizes:
        factor = _covering(columns, landmarks, evenly_spaced(n_rows, size), rtol, room)
        if factor is None:
            return None
        landmarks = factor.landmarks
    return factor


def landmarks_of(columns: KernelColumns, rtol: float) -> _Landmarks | None:
    """Landmarks that keep the promise for the training rows; None where that takes too many."""
    found = _find_landmarks(columns, rtol, _Room.of(columns.n_training, None))
    return None if found is None else found.landmarks


def pivoted(candidates: KernelColumns, rtol: float) -> _Landmarks:
    """Landmarks among the training rows, which keep half of the promise for these."""
    return _pivoted(candidates, np.arange(candidates.n_training), MARGIN * rtol)


def residuals(columns: KernelColumns, landmarks: _Landmarks) -> Doubles:
    """Squared distances of the mapped training rows from the span of landmarks."""
    residual = np.empty(columns.n_training)
    for start in range(0, len(residual), _ROWS_OF_A_BLOCK):
        some = np.arange(start, min(start + _ROWS_OF_A_BLOCK, len(residual)))
        coordinates = landmarks.coordinates(columns, some)
        residual[some] = 1.0 - np.einsum("ij,ij->i", coordinates, coordinates)
    return residual


def _covering(
    columns: KernelColumns, landmarks: _Landmarks, looked_at: Places, rtol: float, room: _Room
) -> _Factor | None:
    """Landmarks and what they leave of the rows looked at; more of them where that is too much.

    Rows that break the promise become candidates, and pivoting restarts with the landmarks and
    these: in the order of falling pivots rounding errors do not grow.
    """
    for _ in range(MOST_ROUNDS):
        if landmarks.rank > room.rank:
            return None
        coordinates = landmarks.coordinates(columns, looked_at)
        residual = np.asarray(1.0 - np.einsum("ij,ij->i", coordinates, coordinates))
        if residual.max() + rounding_of(landmarks.rank) <= rtol:
            return _Factor(landmarks, coordinates, residual)
        del coordinates  # the next ones need the room
        worst = np.argsort(-residual, kind="stable")[: np.sum(residual > MARGIN * rtol)]
        added = looked_at[worst[evenly_spaced(len(worst), room.candidates)]]
        candidates = np.concatenate([landmarks.index, added])
        landmarks = _pivoted(columns, candidates, MARGIN * rtol)
    return None


def _pivoted(columns: KernelColumns, candidates: Places, tolerance: float) -> _Landmarks:
    """Landmarks among candidates: each is the row farthest from the span of those before."""
    rows = columns.training[candidates]
    matrix = np.asarray(columns.kernel_function(rows, rows), dtype=np.float64)
    # The transpose of a symmetric matrix in the order of NumPy is the matrix in that of LAPACK.
    triangle, pivots, rank, _ = dpstrf(matrix.T, tol=tolerance, lower=1, overwrite_a=1)
    chosen = pivots[:rank] - 1
    return _Landmarks(candidates[chosen], rows[chosen], np.tril(triangle[:rank, :rank]))


def rounding_of(rank: int) -> float:
    """How far an entry of the product of the factors may be off by rounding alone.

    Complete pivoting keeps it at a few units of the last place; the root is that of a sum of as
    many independent errors.
    """
    return 4.0 * float(np.finfo(np.float64).eps) * (16.0 + float(np.sqrt(rank)))


def plain_refusal(columns: Columns, rtol: float) -> str | None:
    """What is known without looking at the rows."""
    if not (isinstance(columns, KernelColumns) and isinstance(columns.kernel_function, Stationary)):
        names = ", ".join(DISTANCE_KERNELS)
        return f"landmarks need a kernel that depends only on the distance of two rows ({names})"
    if not columns.positive_semidefinite:
        return "landmarks need a kernel that is a scalar product"
    if rtol < SMALLEST_PROMISE:
        return f"with rounding, landmarks cannot guarantee less than {SMALLEST_PROMISE:g}"
    return None


def _too_many(n_rows: int, rtol: float, room: _Room) -> str:
    if room.rank < min(n_rows, LARGEST_RANK):
        return (
            f"an error bound of {rtol:.0e} takes more than the {room.rank:,} landmarks that "
            f"fit into {room.memory / 2**20:,.0f} MiB with {n_rows:,} rows"
        )
    return (
        f"the kernel is not smooth enough: an error bound of {rtol:.0e} takes more than "
        f"{room.rank:,} landmarks"
    )


def _cannot(rtol: float, why: str) -> str:
    return (
        f"algorithm='nystroem' cannot guarantee an error of {rtol:g}: {why}. Use "
        "algorithm='auto', or a larger rtol or sigma."
    )
