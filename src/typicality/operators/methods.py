"""What each method costs for a problem, or why it cannot solve it.

Costs are in units (pairs of rows, grid points, numbers in a product) times the seconds of a unit,
from the calibration table.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from typicality._words import enumerated
from typicality.kernels import DISTANCE_KERNELS
from typicality.operators import nufft, nystroem
from typicality.operators.base import Floats, Operator
from typicality.operators.blocked import Blocked
from typicality.operators.calibration import seconds_for
from typicality.operators.columns import Evaluated
from typicality.operators.dense import Dense
from typicality.operators.fourier_grid import no_grid_because
from typicality.operators.nufft import Nufft
from typicality.operators.nystroem import Nystroem
from typicality.operators.tiles import SINGLE_RTOL, Tiles, has_compiled_sums
from typicality.operators.tolerance import Tolerance
from typicality.plan import Plan

_N_PRODUCTS = 10  # of a fit, over which what is done once is spread
DENSE_SHARE = 4  # the matrix may take this part of the memory
_NO_COMPILED_SUMS = f"it is for the kernels {enumerated(DISTANCE_KERNELS)}"
_NO_COORDINATES = "the rows have no coordinates"
_EXACT = "rtol=0 asks for exact sums"


class Problem(NamedTuple):
    """What is to be computed.

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    rows : array
        The training rows.
    tolerance : Tolerance
        How far sums may be off.
    memory : int
        The most bytes beyond rows and results.
    n_columns : int
        How many sums each product is of.
    """

    columns: Any
    rows: Floats
    tolerance: Tolerance
    memory: int
    n_columns: int

    def pairs(self, share: float = 1.0) -> dict[str, float]:
        """All pairs of rows or a share of them, their coordinates, and their terms in sums."""
        pairs = share * float(len(self.rows)) ** 2
        coordinates, terms = pairs * self.rows.shape[1], pairs * self.n_columns
        return {"pairs": pairs, "coordinates": coordinates, "terms": terms}

    @property
    def matrix(self) -> str:
        """What to call the matrix in a sentence."""
        n_rows = len(self.rows)
        return f"the {n_rows:,} x {n_rows:,} matrix of distances in the kernel-induced space"

    @property
    def compiled(self) -> bool:
        """Whether there are compiled sums for the kernel."""
        return has_compiled_sums(self.columns)

    @property
    def single(self) -> bool:
        """Whether single precision keeps the promise, with room for rows that are left out."""
        return self.tolerance.absolute >= 1.05 * SINGLE_RTOL

    @property
    def skipped(self) -> float:
        """What may be left out by skipping pairs, next to the error of single precision."""
        return self.tolerance.absolute - SINGLE_RTOL * self.single


class Candidate(NamedTuple):
    """A method, what it costs, and how it is built.

    Parameters
    ----------
    method : str
        Its name.
    setup, product : float
        Seconds before the first product, and for each product.
    n_bytes : int
        Working memory.
    reason : str
        What it does, in a sentence.
    rtol : float
        Its promise.
    build : callable
        Makes the operator.
    """

    method: str
    setup: float
    product: float
    n_bytes: int
    reason: str
    rtol: float
    build: Callable[[], Operator]

    @property
    def seconds(self) -> float:
        """Of a fit."""
        return self.setup + _N_PRODUCTS * self.product

    @property
    def plan(self) -> Plan:
        """The same for the user."""
        return Plan(self.method, self.n_bytes, self.reason, self.product, self.rtol)


Offer = Candidate | str


def dense(problem: Problem) -> Offer:
    """The matrix once, then products with it."""
    if problem.columns.is_given:
        return "the matrix is in memory already"
    operator = Dense(problem.columns, problem.rows)
    reason = f"{problem.matrix} is computed once and kept; an iteration is one product with it."
    build = seconds_for("numpy", **problem.pairs())
    product = seconds_for("dense", **problem.pairs())
    memory = operator.working_memory
    return Candidate("dense", build, product, memory, reason, 0.0, lambda: operator)


def blocks(problem: Problem) -> Candidate:
    """Blocks of the matrix by NumPy: for any kernel, and whatever the memory."""
    operator = Blocked(problem.columns, problem.rows, memory=problem.memory)
    reason = f"{problem.matrix} is in memory already; an iteration is one product with it."
    if not problem.columns.is_given:
        n_rows = len(problem.rows)
        enough = -(-DENSE_SHARE * 8 * n_rows**2 // 2**20)
        reason = (
            f"{problem.matrix} is computed anew in each iteration, a few rows at a time; to keep "
            f"it instead takes {8 * n_rows**2 / 2**30:.1f} GiB and "
            f"sklearn.set_config(working_memory={enough})."
        )
    product = seconds_for("numpy", **problem.pairs())
    memory = operator.working_memory
    return Candidate("blocked", 0.0, product, memory, reason, 0.0, lambda: operator)


def blocked(problem: Problem) -> Offer:
    """All pairs, by compiled code where there is some."""
    if not problem.compiled:
        return blocks(problem)
    reason = f"{problem.matrix} is computed anew in each iteration, tile by tile, by compiled code."
    return _tiles(problem, "blocked", 1.0, reason)


def truncated(problem: Problem) -> Offer:
    """Near pairs only."""
    if not problem.compiled:
        return _NO_COMPILED_SUMS
    if problem.tolerance.is_exact:
        return _EXACT
    rtol = problem.skipped
    share = Tiles(problem.columns, rtol=rtol, skip=True, single=False).share_of_work()
    reason = (
        f"{1 - share:.0%} of {problem.matrix} is left out, pairs of rows so far apart that the "
        f"kernel adds less than {rtol:.0e} to a mean; the rest is computed anew each time."
    )
    return _tiles(problem, "truncated", share, reason)


def _tiles(problem: Problem, method: str, share: float, reason: str) -> Candidate:
    skip = method == "truncated"
    rtol = problem.skipped if skip else 0.0
    operator = Tiles(problem.columns, rtol=rtol, skip=skip, single=problem.single)
    precision = "tiles, single" if problem.single else "tiles, double"
    product = seconds_for(precision, **problem.pairs(share))
    memory = operator.memory_for(problem.n_columns)
    return Candidate(method, 0.0, product, memory, reason, operator.rtol, lambda: operator)


def fourier(problem: Problem) -> Offer:
    """Gaussian sums through their spectrum."""
    columns, rtol, memory = problem.columns, problem.tolerance.absolute, problem.memory
    if not isinstance(columns, Evaluated):
        return _NO_COORDINATES
    why = no_grid_because(columns.kernel_object, problem.rows.shape[1], max(rtol, 0.1))
    if why is None and problem.tolerance.is_exact:
        return _EXACT
    why = why or nufft.refusal(columns.kernel_object, problem.rows, rtol, memory)
    if why is not None:
        return why
    operator = Nufft(columns, rtol=rtol, memory=memory)
    n_modes = operator.grid.n_modes
    n_rows, n_features = problem.rows.shape
    units = nufft.cost_units(n_rows, n_features, rtol, n_modes)
    product = -(-problem.n_columns // 2) * seconds_for("nufft", **units._asdict())
    reason = (
        f"sums over {len(problem.rows):,} rows go through a Fourier series of {n_modes:,} terms, "
        f"off by at most {rtol:.0e} of the total weight; an iteration is two transforms."
    )
    memory = operator.working_memory
    return Candidate("nufft", 0.0, product, memory, reason, rtol, lambda: operator)


def landmarks(problem: Problem) -> Offer:
    """A matrix of low rank."""
    columns, rtol, memory = problem.columns, problem.tolerance.absolute, problem.memory
    on_sphere = isinstance(columns, Evaluated) and columns.on_sphere
    if on_sphere and problem.tolerance.is_exact:
        return _EXACT
    why = nystroem.refusal(columns, rtol=rtol, memory=memory)
    if why is not None:
        return why
    rank = nystroem.estimated_rank(columns, rtol)
    n_rows, n_features = problem.rows.shape
    units = nystroem.cost_units(n_rows, n_features, rank)
    reason = (
        f"{problem.matrix} is that of about {rank:,} landmarks, but for {rtol:.0e}; an iteration "
        "is one product with their columns."
    )
    # Scores and labels at the end of a fit are exact sums over all rows.
    last = seconds_for("tiles, double", **problem.pairs()) if problem.compiled else 0.0
    return Candidate(
        "nystroem",
        seconds_for("nystroem", kernel_values=units.kernel_values, flops=units.flops) + last,
        seconds_for("nystroem", product=units.product * problem.n_columns),
        nystroem.memory_for(n_rows, rank),
        reason,
        rtol,
        lambda: Nystroem(columns, rtol=rtol, memory=memory),
    )


METHODS: dict[str, Callable[[Problem], Offer]] = {
    "dense": dense,
    "blocked": blocked,
    "nufft": fourier,
    "truncated": truncated,
    "nystroem": landmarks,
}
