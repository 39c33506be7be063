"""How fits use the cores of a machine, with hdbscan and fast_hdbscan beside them.

`python benchmarks/cores.py [--threads 1 2 4 16] [--parts alpha density sweep growth] [--quick]`
prints a table for each part and writes all of them to `benchmarks/results/cores.md`. Times are the
best of two runs after a warm-up. Peers use all cores as they see fit, and are left out where they
are not installed.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from _report import Report, machine
from _sets import blobs, grid_of_blobs
from _timing import best_of
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM

_RESULTS = Path(__file__).resolve().parent / "results" / "cores.md"
_ALPHA = {
    (100_000, 5): "hdbscan",
    (300_000, 5): "hdbscan",
    (100_000, 8): "hdbscan",
    (1_000_000, 2): "fast_hdbscan",
}
_DENSITY = [(1_000_000, 2), (10_000_000, 2), (100_000, 8)]
_SWEEP_ROWS, _SWEEPS = 3_000_000, 5
_GROWTH_ROWS, _GROWTH_FEATURES = (10_000, 30_000, 100_000, 300_000, 1_000_000), (2, 5, 8)

Part = Callable[[list[int], int], Iterator[list[str]]]


def by_threads(act: Callable[[], object], threads: list[int]) -> list[float]:
    """The seconds of a run on each number of threads."""
    found = []
    for n_threads in threads:
        with threadpool_limits(n_threads):
            found.append(best_of(2, act))
    return found


def alpha(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Seconds of `AlphaCutClustering()`, and of the peer."""
    for (n_rows, n_features), peer in _ALPHA.items():
        X = grid_of_blobs(n_rows // quick, n_features)
        times = by_threads(lambda X=X: AlphaCutClustering().fit(X), threads)  # type: ignore[misc]
        yield [_name(X), *_written(times), _peer(peer, X)]


def _peer(package: str, X: Any) -> str:
    if not find_spec(package):
        return f"{package} not installed"
    model = import_module(package).HDBSCAN(min_cluster_size=10)
    model.fit(X[:2000])
    return f"{best_of(2, lambda: model.fit(X)):.3g} ({package})"


def density(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Seconds of `OneClusterPCM(sigma=0.5)`."""
    for n_rows, n_features in _DENSITY:
        X = blobs(n_rows // quick, n_features)
        model = OneClusterPCM(sigma=0.5)
        yield [_name(X), *_written(by_threads(partial(model.fit, X), threads))]


def sweep(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Milliseconds of an iteration of fuzzy c-means, and of one of Lloyd's."""
    X = blobs(_SWEEP_ROWS // quick, 8)
    start = X[:10] + 0.01
    fixed = {"init": start, "tol": 0, "store_memberships": False}

    def ours(m: float, n_iter: int) -> None:
        FuzzyCMeans(10, m=m, max_iter=n_iter, **fixed).fit(X)

    def lloyd(n_iter: int) -> None:
        KMeans(10, init=start, n_init=1, max_iter=n_iter, tol=0).fit(X)

    fits: dict[str, Callable[[int], None]] = {f"m = {m}": partial(ours, m) for m in (2.0, 1.5, 1.7)}
    for name, fit in (fits | {"Lloyd": lloyd}).items():
        fit(2)
        longer, shorter = (by_threads(partial(fit, n), threads) for n in (2 + _SWEEPS, 2))
        times = [(a - b) / _SWEEPS for a, b in zip(longer, shorter, strict=True)]
        yield [name, *(f"{1000 * each:.3g}" for each in times)]


def growth(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Processor seconds of `AlphaCutClustering()` for more and more rows."""
    for n_rows in _GROWTH_ROWS:
        times = []
        for n_features in _GROWTH_FEATURES:
            X = grid_of_blobs(n_rows // quick, n_features)
            start = time.process_time()
            AlphaCutClustering().fit(X)
            times.append(time.process_time() - start)
        yield [f"{n_rows // quick:,}", *_written(times)]


def _name(X: Any) -> str:
    return f"{X.shape[0]:,} x {X.shape[1]}"


def _written(times: list[float]) -> list[str]:
    return [f"{each:.3g}" for each in times]


PARTS: dict[str, Part] = {"alpha": alpha, "density": density, "sweep": sweep, "growth": growth}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, os.cpu_count() or 1])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    report = Report()
    for line in machine("finufft", "hdbscan", "fast_hdbscan"):
        report.line(line)
    AlphaCutClustering().fit(grid_of_blobs(5000, 5))  # compiles
    for name in options.parts:
        report.progress(name)
        rows = list(PARTS[name](options.threads, 100 if options.quick else 1))
        columns = [f"{n} threads" for n in options.threads]
        if name == "growth":
            columns = [f"{d} features" for d in _GROWTH_FEATURES]
        columns += ["peer"] * (name == "alpha")
        report.table((PARTS[name].__doc__ or "").rstrip("."), [name, *columns], rows)
        report.write(_RESULTS)


if __name__ == "__main__":
    main()
