"""Which operator computes the products, and why: the quickest that keeps the promise."""

import math
from collections.abc import Iterator

import numpy as np
from sklearn import get_config

from typicality.kernels import Kernel
from typicality.operators.base import Floats, Operator
from typicality.operators.columns import Columns, Evaluated
from typicality.operators.methods import DENSE_SHARE, METHODS, Candidate, Problem, blocks
from typicality.operators.nystroem import NotLowRankError
from typicality.operators.tolerance import EXACT, SMALL, Tolerance
from typicality.plan import Plan

ALGORITHMS = ("auto", *METHODS)

_WORTH_ASKING = 20.0  # times the seconds that it takes to ask what a way costs


def plan(kernel: Kernel, X: Floats, rtol: float = 1e-6, memory: int | None = None) -> Plan:
    """How the sums of a fit would be computed, without computing them.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array of shape (n, d)
        The rows.
    rtol : float, default=1e-6
        As in the estimators: how far sums may be off, relative to the variance of the mapped rows.
    memory : int, optional
        The most bytes beyond the rows and the results; scikit-learn's `working_memory` when left
        out.

    Returns
    -------
    Plan
        The method, its working memory, the seconds a product is expected to take, and one sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.kernels import Gaussian
    >>> from typicality.operators import plan
    >>> X = np.random.default_rng(0).normal(size=(100_000, 2))
    >>> plan(Gaussian(0.5), X).method
    'nufft'
    """
    columns = Evaluated(kernel, np.asarray(X))
    tolerance = Tolerance.of_distances(columns, None, rtol, "auto")
    return _ranked(Problem(columns, columns.training, tolerance, _limit(memory), 1))[0].plan


def choose_operator(
    columns: Columns,
    rows: Floats,
    tolerance: Tolerance = EXACT,
    *,
    algorithm: str = "auto",
    memory: int | None = None,
    n_columns: int = 1,
) -> tuple[Operator, Plan]:
    """The operator of a method, or the quickest that keeps the promise, and why.

    Parameters
    ----------
    columns : Columns
        The kernel against the training rows.
    rows : array
        The training rows.
    tolerance : Tolerance
        How far sums may be off; not at all when left out.
    algorithm : str, default="auto"
        A method by name.
    memory : int, optional
        The most bytes it may take; scikit-learn's `working_memory` when left out.
    n_columns : int, default=1
        How many sums each product is of.
    """
    problem = Problem(columns, rows, tolerance, _limit(memory), n_columns)
    if algorithm != "auto":
        return _named(problem, algorithm)
    *quicker, surest = _ranked(problem)
    for candidate in quicker:
        try:
            return candidate.build(), candidate.plan
        except NotLowRankError:  # a sample of the rows had promised otherwise
            continue
    return surest.build(), surest.plan


def _named(problem: Problem, algorithm: str) -> tuple[Operator, Plan]:
    offer = METHODS[algorithm](problem)
    if isinstance(offer, str):
        raise ValueError(f"algorithm={algorithm!r} cannot be used: {offer}. Use algorithm='auto'.")
    if offer.n_bytes > problem.memory:
        needed, allowed = (-(-n_bytes // 2**20) for n_bytes in (offer.n_bytes, problem.memory))
        raise ValueError(
            f"algorithm={algorithm!r} cannot be used: it needs {needed:,} MiB, and {allowed:,} MiB "
            f"are allowed. Use algorithm='auto', or sklearn.set_config(working_memory={needed})."
        )
    return offer.build(), offer.plan


def _ranked(problem: Problem) -> list[Candidate]:
    """The methods that keep the promise within the memory, the quickest first.

    The last one always works, whatever the kernel and the memory.
    """
    return [*sorted(_offers(problem), key=lambda one: one.seconds), blocks(problem)]


def _offers(problem: Problem) -> Iterator[Candidate]:
    few = len(problem.rows) <= SMALL or not problem.compiled
    quickest = math.inf
    for name in ["dense"] if few else METHODS:
        if quickest < _WORTH_ASKING * _seconds_to_ask(name, len(problem.rows)):
            continue
        offer = METHODS[name](problem)
        if isinstance(offer, Candidate) and _fits(offer, problem.memory):
            quickest = min(quickest, offer.seconds)
            yield offer


def _seconds_to_ask(method: str, n_rows: int) -> float:
    """Some look at the rows to know what they cost: for near pairs, or landmarks in a sample."""
    return {"truncated": 1e-6 * n_rows, "nystroem": 0.1}.get(method, 0.0)


def _fits(candidate: Candidate, memory: int) -> bool:
    share = DENSE_SHARE if candidate.method == "dense" else 1
    return share * candidate.n_bytes <= memory


def _limit(memory: int | None) -> int:
    return int(get_config()["working_memory"] * 2**20) if memory is None else memory
