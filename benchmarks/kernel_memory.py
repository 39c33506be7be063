"""Memory and time of fits in kernel-induced spaces, where the kernel matrix does not fit.

`python benchmarks/kernel_memory.py [--quick]` prints tables and a verdict on each target, and
writes them to `benchmarks/results/kernel_memory.md`. Each fit has a process of its own. A last
table compares what blocks give with a plain dense computation.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import _kernel_fit
from _kernel_fit import ESTIMATORS, KernelFit, draw
from _processes import json_from
from _report import Report, Verdict, machine

_RESULTS = Path(__file__).resolve().parent / "results" / "kernel_memory.md"
_N_ROWS, _N_ROWS_QUICK = 30_000, 8_000
_WORKING_MEMORY = (1024, 64)  # MiB: scikit-learn's default, and little
_N_COMPARED = 4_000
_LIMIT = 1e9
_LARGEST_DIFFERENCE = 1e-10

Doubles = NDArray[np.float64]


def measure(name: str, n_rows: int, working_memory: int) -> KernelFit:
    """Fit in a fresh process."""
    arguments = [name, str(n_rows), str(working_memory)]
    return KernelFit(*json_from(sys.executable, _kernel_fit.__file__, *arguments))


def show_memory(n_rows: int, report: Report) -> Verdict:
    columns = [f"{n_rows:,} x 2", "working_memory", "fit, MB", "in all, MB", "seconds"]
    columns += ["iterations", "plan_", "its memory, MB"]
    fits = {}
    for name in ESTIMATORS:
        for working_memory in _WORKING_MEMORY:
            report.progress(f"{name}, working_memory={working_memory}")
            fits[name, working_memory] = measure(name, n_rows, working_memory)
    report.table("Peak memory of a fresh process", columns, [_row(*key, fits[key]) for key in fits])
    report.line(f"The kernel matrix would take {_mega(8 * n_rows**2)} MB.")
    largest = max(fit.peak for fit in fits.values())
    measured = f"{_mega(largest)} MB in all, imports included"
    return Verdict(f"{n_rows:,} rows in less than 1 GB", measured, (largest < _LIMIT,))


def _row(name: str, working_memory: int, fit: KernelFit) -> list[str]:
    sizes = [_mega(fit.growth), _mega(fit.peak), f"{fit.seconds:.0f}", str(fit.n_iter)]
    return [name, str(working_memory), *sizes, fit.method, _mega(fit.working_memory)]


def _mega(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.0f}"


# ---- blocks against a dense computation ---------------------------------------------------------


def dense_typicality(X: Doubles, sigma: float, n_iter: int) -> Doubles:
    """Filippone2010, table I, as it stands there, with eta kept as it is at the start."""
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * sigma**2))
    sqdist = _to_mean(K, np.full(len(X), 1 / len(X)))
    eta = sqdist.mean()
    for _ in range(n_iter):
        u = np.exp(-sqdist / eta)
        sqdist = _to_mean(K, u / u.sum())
    return np.exp(-sqdist / eta)


def _to_mean(K: Doubles, weights: Doubles) -> Doubles:
    product = K @ weights
    return 1 - 2 * product + weights @ product


def show_differences(report: Report) -> Verdict:
    X = draw(_N_COMPARED)
    with sklearn.config_context(working_memory=_WORKING_MEMORY[1]):
        typical, fuzzy = [build().fit(X) for build in ESTIMATORS.values()]
    dense = list(ESTIMATORS.values())[1](algorithm="dense").fit(X)
    methods = [model.plan_.method for model in (typical, fuzzy, dense)]
    assert methods == ["blocked", "blocked", "dense"], methods
    reference = dense_typicality(X, typical.sigma_, typical.n_iter_)
    found = {
        "typicalities against the dense formulas": np.abs(typical.typicality_ - reference).max(),
        "memberships against plan_ dense": np.abs(fuzzy.memberships_ - dense.memberships_).max(),
    }
    columns = [f"blocks, {_N_COMPARED:,} rows", "largest difference"]
    report.table("Exactness", columns, [[name, f"{d:.1e}"] for name, d in found.items()])
    met = tuple(bool(d <= _LARGEST_DIFFERENCE) for d in found.values())
    return Verdict("blocks are exact (1e-10)", f"largest {max(found.values()):.1e}", met)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="8,000 rows, for a first look")
    n_rows = _N_ROWS_QUICK if parser.parse_args().quick else _N_ROWS
    warnings.simplefilter("ignore", ConvergenceWarning)  # few iterations were asked for
    report = Report()
    for line in machine():
        report.line(line)
    verdicts = [show_memory(n_rows, report), show_differences(report)]
    report.verdicts(verdicts)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
