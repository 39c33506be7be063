"""Which operator computes the products, and why: the quickest that keeps the promise."""

import math
from collections.abc import Iterator

import numpy as np

from typicality._typing import Floats
from typicality.kernels import Kernel
from typicality.operators.base import Candidate, Operator, Problem, memory_limit
from typicality.operators.blocked import Blocked
from typicality.operators.columns import Columns, KernelColumns
from typicality.operators.dense import Dense
from typicality.operators.fused import Fused
from typicality.operators.nufft import Nufft
from typicality.operators.nystroem import NotLowRankError, Nystroem
from typicality.operators.tiles import Tiles, Truncated
from typicality.operators.tolerance import EXACT, Tolerance, are_few
from typicality.operators.torch_blocked import TorchBlocked
from typicality.plan import Plan

# Asked for offers in this order; `Tiles` offers `Blocked` where a kernel has no compiled sums.
OPERATORS: list[type[Operator]] = [Dense, Tiles, Nufft, Truncated, Nystroem]
DEVICE_OPERATORS: list[type[Operator]] = [Fused, TorchBlocked]  # for tensors that are not on a CPU
ALGORITHMS = ("auto", *(operator.method for operator in OPERATORS))

_WORTH_ASKING = 20.0  # times the seconds of an offer: what the best fit so far must take


def plan(kernel: Kernel, X: Floats, rtol: float = 1e-6, memory: int | None = None) -> Plan:
    """How the kernel sums of a fit would be computed, without a fit.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array of shape (n, d)
        The rows.
    rtol : float, default=1e-6
        The largest error of sums, relative to the variance in the space of the kernel, as in the
        estimators.
    memory : int, optional
        The largest number of bytes, in addition to the rows and the results. By default,
        `working_memory` of scikit-learn.

    Returns
    -------
    Plan
        The method, its memory, the reason, and the expected seconds of a product and of a fit.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.kernels import Gaussian
    >>> from typicality.operators import plan
    >>> X = np.random.default_rng(0).normal(size=(100_000, 2))
    >>> plan(Gaussian(0.5), X).method
    'nufft'
    """
    columns = KernelColumns(kernel, np.asarray(X))
    tolerance = Tolerance.of_distances(columns, None, rtol, "auto")
    return _ranked(Problem(columns, columns.training, tolerance, memory_limit(memory), 1))[0].plan


def choose_operator(
    columns: Columns,
    rows: Floats,
    tolerance: Tolerance = EXACT,
    *,
    algorithm: str = "auto",
    memory: int | None = None,
    n_columns: int = 1,
    device: str | None = None,
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
    device : str, optional
        Where sums are computed, as torch names it. A kernel without a form in torch is computed by
        NumPy all the same.
    """
    problem = Problem(columns, rows, tolerance, memory_limit(memory), n_columns, device)
    if device is not None:
        return _on_device(problem, algorithm)
    if algorithm != "auto":
        return _named(problem, algorithm)
    *quicker, surest = _ranked(problem)
    for candidate in quicker:
        try:
            return candidate.build(), candidate.plan
        except NotLowRankError:  # a sample of the rows had promised otherwise
            continue
    return surest.build(), surest.plan


def _on_device(problem: Problem, algorithm: str) -> tuple[Operator, Plan]:
    """The quickest operator on a device; memory there is not that of `working_memory`."""
    if algorithm != "auto":
        raise ValueError(
            f"algorithm={algorithm!r} runs on a CPU, and X is a tensor on {problem.device}. Use "
            "algorithm='auto', or pass X.cpu()."
        )
    offers = [operator.offer(problem) for operator in DEVICE_OPERATORS]
    ranked = sorted(
        (offer for offer in offers if isinstance(offer, Candidate)), key=lambda one: one.seconds
    )
    best = ranked[0] if ranked else Blocked.offer(problem)
    return best.build(), best.plan


def _named(problem: Problem, algorithm: str) -> tuple[Operator, Plan]:
    offer = {operator.method: operator for operator in OPERATORS}[algorithm].offer(problem)
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
    """The operators that keep the promise within the memory, the quickest first.

    The last one always works, whatever the kernel and the memory.
    """
    return [*sorted(_offers(problem), key=lambda one: one.seconds), Blocked.offer(problem)]


def _offers(problem: Problem) -> Iterator[Candidate]:
    n_rows, quickest = len(problem.rows), math.inf
    plain_sums_will_do = are_few(*problem.rows.shape) or not problem.compiled
    for operator in OPERATORS:
        if plain_sums_will_do and not operator.exact_at_rows:
            continue
        if quickest < _WORTH_ASKING * operator.seconds_to_ask(n_rows):
            continue
        if quickest < operator.least_seconds(problem):
            continue
        offer = operator.offer(problem)
        if isinstance(offer, Candidate) and offer.spare * offer.n_bytes <= problem.memory:
            quickest = min(quickest, offer.seconds)
            yield offer
