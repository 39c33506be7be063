"""The interface of an operator, documented once: its offer, its products, its sums at points."""

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import numpy as np
from sklearn import get_config

from typicality._sparse import is_sparse
from typicality._threads import PLANNED_THREADS
from typicality._typing import Floats
from typicality.operators.columns import has_compiled_sums, uses_compiled_distances
from typicality.operators.tolerance import Tolerance
from typicality.plan import Plan

CALIBRATION = "calibration.json"  # `make calibrate` writes it
_ROWS_OF_A_PRODUCT = 8192  # BLAS cuts longer ones by the number of its threads
_N_PRODUCTS = 10  # of a fit, over which the cost of the set-up is spread


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

    def at(self, points: Floats) -> Floats:
        """`K(points, training) @ W`, shape (len(points), c)."""

    def complement_at(self, points: Floats) -> Floats:
        """`E(points, training) @ W`, shape (len(points), c)."""

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""


class LazyExpansion:
    """An expansion that is made at the first use, or when the model is pickled.

    A fit that never leaves its training rows never pays for it. Several threads may use it at once.

    Parameters
    ----------
    make : callable
        Returns the expansion; forgotten once it has.
    """

    def __init__(self, make: Callable[[], Expansion]) -> None:
        self._make: Callable[[], Expansion] | None = make
        self._made: Expansion | None = None
        self._lock = Lock()

    def prepared(self) -> Expansion:
        """The expansion itself; what a file keeps of it."""
        with self._lock:
            if self._make is not None:
                self._made = self._make()
                self._make = None
        return cast(Expansion, self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self.prepared(),)

    def __getstate__(self) -> dict[str, Any]:  # skops restores objects by their state only
        return {"_make": None, "_made": self.prepared()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state | {"_lock": Lock()}

    @property
    def rtol(self) -> float:
        return self.prepared().rtol

    @property
    def n_bytes(self) -> int:
        return self.prepared().n_bytes

    def error(self, sums: Floats) -> Floats | float:
        return self.prepared().error(sums)

    def at(self, points: Floats) -> Floats:
        return self.prepared().at(points)

    def complement_at(self, points: Floats) -> Floats:
        return self.prepared().complement_at(points)


def _same(sums: Expansion) -> Expansion:
    return sums


class Problem(NamedTuple):
    """The products that a fit needs.

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
        The number of columns of W.
    device : str, optional
        Where sums are computed, as torch names it; None for NumPy and compiled code.
    """

    columns: Any
    rows: Floats
    tolerance: Tolerance
    memory: int
    n_columns: int
    device: str | None = None

    def pairs(self, share: float = 1.0) -> dict[str, float]:
        """All pairs of rows or a share of them, their coordinates, and their terms in sums."""
        pairs = share * float(len(self.rows)) ** 2
        features = self.rows.shape[1]
        if is_sparse(self.rows):
            features = self.rows.nnz / max(len(self.rows), 1)
        coordinates, terms = pairs * features, pairs * self.n_columns
        return {"pairs": pairs, "coordinates": coordinates, "terms": terms}

    @property
    def plain_seconds(self) -> float:
        """Seconds for all kernel values and a product, by NumPy and a block at a time."""
        many = uses_compiled_distances(self.columns)
        return seconds_for("numpy, many features" if many else "numpy", **self.pairs())

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
    def no_approximation(self) -> str | None:
        """Why approximations make no offer; None where sums may be off."""
        return "rtol=0 asks for exact sums" if self.tolerance.is_exact else None


class Candidate(NamedTuple):
    """An operator that can solve a problem, and what it costs.

    Parameters
    ----------
    method : str
        Its name.
    reason : str
        What it does, in a sentence.
    product : float
        Seconds for a product.
    n_bytes : int
        Working memory.
    build : callable
        Makes the operator.
    rtol : float, default=0.0
        Its promise.
    setup : float, default=0.0
        Seconds before the first product.
    spare : int, default=1
        "auto" takes it only where the memory is this many times `n_bytes`.
    """

    method: str
    reason: str
    product: float
    n_bytes: int
    build: "Callable[[], Operator]"
    rtol: float = 0.0
    setup: float = 0.0
    spare: int = 1

    @property
    def seconds(self) -> float:
        """The estimated time of a fit."""
        return self.setup + _N_PRODUCTS * self.product

    @property
    def plan(self) -> Plan:
        """The same for the user."""
        return Plan(
            self.method,
            self.n_bytes,
            self.reason,
            self.product,
            self.rtol,
            n_products=_N_PRODUCTS,
            other_seconds=self.setup,
        )


class Operator(Protocol):
    r"""Products of the kernel matrix of the training rows.

    The promise is :math:`|\text{approx} - \text{exact}| \le \text{rtol} \sum_j |W_{jk}|` for every
    entry, where the kernel is at most 1; exact operators promise 0, up to rounding.

    A new operator is one file, and one entry in `planning.OPERATORS`.

    Attributes
    ----------
    method : str
        Its name, a value of `algorithm`.
    over_all_pairs : bool, default=False
        Whether a product goes over all pairs of rows.
    exact_at_rows : bool, default=False
        Whether products are plain sums of NumPy, so that scores of rows need no finer ones.
    columns : Columns
        The kernel against the training rows.
    rtol : float
        The promise.
    """

    method: ClassVar[str]
    over_all_pairs: ClassVar[bool] = False
    exact_at_rows: ClassVar[bool] = False
    columns: Any
    rtol: float

    @classmethod
    def offer(cls, problem: Problem) -> Candidate | str:
        """What it costs to solve a problem, or in one clause why it cannot."""

    @staticmethod
    def seconds_to_ask(n_rows: int) -> float:
        """What an offer costs, where it takes a look at the rows."""
        return 0.0

    @classmethod
    def least_seconds(cls, problem: Problem) -> float:
        """A bound for `Candidate.seconds` that is found in less time than an offer."""
        return 0.0

    def __matmul__(self, weights: Floats) -> Floats:
        """`K @ W`, shape (n, c), for weights of shape (n_training, c)."""

    def complement(self, weights: Floats) -> Floats:
        """`E @ W` with E half the squared distances in the induced space; 1 - K on the sphere."""

    @property
    def working_memory(self) -> int:
        """Bytes it needs beyond the rows and the result."""

    def expansion(self, weights: Floats, *, rtol: float | None = None) -> Expansion:
        """The same sums at any points; with a finer promise where that can be had."""


@cache
def _seconds_of_units() -> dict[str, dict[str, float]]:
    text = files("typicality.operators").joinpath(CALIBRATION).read_text(encoding="utf-8")
    table: dict[str, dict[str, float]] = json.loads(text)["seconds"]
    return table


def seconds_for(work: str, **units: float) -> float:
    """Seconds for a number of units of a kind of work, shared by `PLANNED_THREADS` threads.

    The threads at hand do not count, or the choice of an operator would depend on them.

    The seconds of a unit were measured on one core of one machine. Only ratios matter for a choice
    between operators, so a table from another machine is of use.

    Parameters
    ----------
    work : str
        A key of the table.
    **units : float
        Numbers of units, named as in the table.
    """
    each = _seconds_of_units()[work]
    total = sum(each[name] * number for name, number in units.items())
    return float(total / PLANNED_THREADS)


def memory_limit(memory: int | None) -> int:
    """The most bytes an operator may take; by default scikit-learn's `working_memory`."""
    return int(get_config()["working_memory"] * 2**20) if memory is None else memory


def row_sums(block: Floats, weights: Floats) -> Floats:
    """`block @ weights`, each row by itself: a matrix product would make it depend on its batch."""
    if weights.shape[1] == 1:  # einsum would cut the sum at its buffer, not where a row ends
        if len(weights) <= _ROWS_OF_A_PRODUCT:
            dots: Floats = np.vecdot(block, weights[:, 0])
            return dots[:, None]
        alone: Floats = (block * weights[:, 0]).sum(axis=1, keepdims=True)
        return alone
    sums: Floats = np.einsum("ij,kj->ik", block, np.ascontiguousarray(weights.T))
    return sums
