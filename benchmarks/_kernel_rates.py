"""Kernel evaluations a second in one product: ours, NumPy's blocks, pykeops."""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from _load import watch_load
from _operators import build
from _report import Report, Verdict
from _stopwatch import Timed, in_turn
from typicality.kernels import Gaussian

__all__ = ["show_rates"]

_N_ROWS, _N_ROWS_QUICK = 20_000, 4_000
_DIMENSIONS = (2, 3, 8, 16, 32)
_ROUNDS = 3
_RTOL = 1e-6
_ENTRIES_OF_A_BLOCK = 2**17  # a megabyte: what stays in the cache is quickest
_TIMES_NUMPY, _RATE, _RATE_DIMENSION = 10, 2e9, 8
_LARGEST_ERROR = 1e-5  # of every sum, tails included
_OURS, _OURS_APART = "blocked, its own rows", "blocked, other points"
_DIFFERENCES, _PRODUCTS = "NumPy, differences", "NumPy, products"

Doubles = NDArray[np.float64]
Act = Callable[[], Doubles]


def show_rates(quick: bool, report: Report) -> list[Verdict]:
    """A standard normal sample, the width growing with the square root of the dimension."""
    n_rows = _N_ROWS_QUICK if quick else _N_ROWS
    rates, errors = {}, {}
    with watch_load() as load:
        for d in _DIMENSIONS:
            report.progress(f"products, d = {d}")
            times = _race(n_rows, d)
            rates[d] = {name: n_rows**2 / run.seconds for name, run in times.items()}
            errors[d] = _errors(times)
    names = list(rates[_DIMENSIONS[0]])
    columns = [f"{n_rows:,} rows", *[f"d = {d}" for d in _DIMENSIONS]]
    rows = [[name, *[f"{rates[d][name] / 1e9:.3g}" for d in _DIMENSIONS]] for name in names]
    rows += [[f"error: {name}", *[f"{errors[d][name]:.0e}" for d in _DIMENSIONS]] for name in names]
    report.table("Kernel evaluations a second, in 1e9", columns, rows)
    report.line(
        f"The best of {_ROUNDS} rounds, all in turn, one column of weights, rows in float64, sigma "
        "= sqrt(d) / 2; every pair counts, also where symmetry does it once. NumPy: a loop over "
        "blocks of the size of the cache, or threads of ours that share it; squared distances as "
        "sums of squared differences (scipy's cdist), which are exact for any width, or from "
        "products (BLAS), which are not. error: the largest relative error of a sum, "
        "against NumPy by differences. "
        f"{_no_keops()} Other programs used {load.share:.0%} of the machine meanwhile."
    )
    return [*_rate_verdicts(rates), _error_verdict(errors)]


def _race(n_rows: int, d: int) -> dict[str, Timed]:
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((n_rows, d)), rng.uniform(0.5, 1.5, (n_rows, 1)) / n_rows
    kernel = Gaussian(np.sqrt(d) / 2)
    operator = build("blocked, single precision", kernel, X, rtol=_RTOL)
    points, all_cores = X.copy(), os.cpu_count() or 1
    acts: dict[str, Act] = {
        _OURS: lambda: operator @ weights,
        _OURS_APART: lambda: operator.expansion(weights).at(points),
        _DIFFERENCES: lambda: _blocks(X, weights, kernel.gamma, _by_differences, 1),
        _PRODUCTS: lambda: _blocks(X, weights, kernel.gamma, _by_products, 1),
        f"{_DIFFERENCES}, threads": lambda: _blocks(
            X, weights, kernel.gamma, _by_differences, all_cores
        ),
        f"{_PRODUCTS}, threads": lambda: _blocks(X, weights, kernel.gamma, _by_products, all_cores),
        **_keops(X, weights, kernel.gamma),
    }
    for act in acts.values():
        act()  # compiles
    return in_turn(acts, _ROUNDS)


def _errors(times: dict[str, Timed]) -> dict[str, float]:
    exact = times[_DIFFERENCES].result
    return {name: float(np.abs(run.result / exact - 1).max()) for name, run in times.items()}


def _rate_verdicts(rates: dict[int, dict[str, float]]) -> list[Verdict]:
    ratios = {d: found[_OURS] / found[_DIFFERENCES] for d, found in rates.items()}
    shown = ", ".join(f"{ratio:.0f} at d = {d}" for d, ratio in ratios.items())
    rate = rates[_RATE_DIMENSION][_OURS]
    return [
        Verdict(
            f"a product {_TIMES_NUMPY} times faster than NumPy's blocks",
            shown,
            tuple(ratio >= _TIMES_NUMPY for ratio in ratios.values()),
        ),
        Verdict(
            f"{_RATE:.0e} evaluations a second at d = {_RATE_DIMENSION}",
            f"{rate:.2g}",
            (rate >= _RATE,),
        ),
    ]


def _error_verdict(errors: dict[int, dict[str, float]]) -> Verdict:
    largest = max(max(found[_OURS], found[_OURS_APART]) for found in errors.values())
    target = f"every exact sum to {_LARGEST_ERROR:.0e}"
    return Verdict(target, f"largest relative error {largest:.1e}", (largest <= _LARGEST_ERROR,))


# ---- the others ---------------------------------------------------------------------------------


def _blocks(
    X: Doubles, weights: Doubles, gamma: float, sqdist: Callable[..., Doubles], n_threads: int
) -> Doubles:
    """`K @ weights`, a block of rows at a time."""
    n_points = max(1, _ENTRIES_OF_A_BLOCK // len(X))

    def of_block(start: int) -> Doubles:
        block = sqdist(X[start : start + n_points], X)
        block *= -gamma
        product: Doubles = np.exp(block, out=block) @ weights
        return product

    # Threads of BLAS within threads would stand in each other's way.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(n_threads) as threads:
        return np.concatenate(list(threads.map(of_block, range(0, len(X), n_points))))


def _by_differences(points: Doubles, X: Doubles) -> Doubles:
    distances: Doubles = cdist(points, X, "sqeuclidean")
    return distances


def _by_products(points: Doubles, X: Doubles) -> Doubles:
    distances = points @ X.T
    distances *= -2.0
    distances += np.einsum("ij,ij->i", points, points)[:, None]
    distances += np.einsum("ij,ij->i", X, X)
    return distances


def _no_keops() -> str:
    """Why pykeops is not among them; nothing where it is."""
    if find_spec("pykeops") is None:
        return "pykeops is not installed here."
    if shutil.which(os.environ.get("CXX", "g++")) is None:
        return "pykeops cannot compile here: there is no C++ compiler."
    return ""


def _keops(X: Doubles, weights: Doubles, gamma: float) -> dict[str, Act]:
    """Products by pykeops on the CPU in both precisions, where it can run."""
    if _no_keops():
        return {}
    import pykeops
    from pykeops.numpy import Genred

    pykeops.set_verbose(False)  # a line for each of the formulas it compiles
    d = X.shape[1]
    formula = "Exp(-G * SqDist(X, Y)) * W"
    variables = ["G = Pm(1)", f"X = Vi({d})", f"Y = Vj({d})", "W = Vj(1)"]
    sums: Any = Genred(formula, variables, reduction_op="Sum", axis=1)

    def product(dtype: Any) -> Act:
        arrays = [np.ascontiguousarray(a, dtype) for a in ([gamma], X, X, weights)]
        return lambda: np.asarray(sums(*arrays, backend="CPU"), dtype=np.float64)

    return {f"pykeops, {np.dtype(t).name}": product(t) for t in (np.float64, np.float32)}
