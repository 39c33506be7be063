"""How fits, sums and sweeps use the cores of a machine, with hdbscan and fast_hdbscan beside them.

`python benchmarks/cores.py [--threads 1 2 4 16] [--parts alpha sums ...] [--quick]` prints a table
for each part and writes all of them to `benchmarks/results/cores.md`. With `--picture FILE` the
part "growth" is drawn as well. Times are the best of two runs after a warm-up; runs of more than
two seconds are not repeated. Peers use all cores as they see fit.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from _alpha_cut_fit import CONTESTANTS, OURS, draw
from _blobs import blobs
from _memory import ResidentPeak
from _problem import Problem
from _processes import json_from
from _report import Report, machine
from typicality import OneClusterPCM
from typicality.geometry import InputSpace
from typicality.kernels import Gaussian
from typicality.membership import Fuzzy
from typicality.operators import KernelColumns, Tiles

_RESULTS = Path(__file__).resolve().parent / "results" / "cores.md"
_LONG = 2.0  # seconds of a run that is not repeated
_TOGETHER = 4.0  # seconds that processes run at the same time
_SIGMA = 0.5
_HDBSCAN, _FAST = "HDBSCAN (hdbscan)", "HDBSCAN (fast_hdbscan)"
_ALPHA_SHAPES = {
    (100_000, 5): _HDBSCAN,
    (300_000, 5): _HDBSCAN,
    (100_000, 8): _HDBSCAN,
    (1_000_000, 2): _FAST,
}
_SUMS_ROWS, _SUMS_FEATURES = 60_000, (8, 32)
_FIT_SHAPE = (100_000, 8)
_FOURIER_ROWS = (1_000_000, 10_000_000)
_SWEEP_ROWS, _SWEEPS = 3_000_000, 5
_MEMORY_SHAPES = [(1_000_000, 3), (10_000_000, 2)]
_GROWTH_FEATURES = (2, 5, 8)
_GROWTH_ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)

Act = Callable[[], object]
Shape = tuple[int, int]


def seconds(act: Act) -> float:
    """The quicker of two runs; a long one is not repeated."""
    times = []
    while len(times) < 2 and (not times or times[0] < _LONG):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return min(times)


def by_threads(act: Act, threads: list[int]) -> list[float]:
    """The seconds of a run on each number of threads."""
    found = []
    for n_threads in threads:
        with threadpool_limits(n_threads):
            found.append(seconds(act))
    return found


def _name(shape: Shape) -> str:
    return f"{shape[0]:,} x {shape[1]}"


def _written(times: list[float]) -> list[str]:
    return [f"{each:.3g}" for each in times]


# ---- parts: each yields the rows of its table ----------------------------------------------------


def alpha(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Seconds of `AlphaCutClustering()`, and of the peer."""
    for (n_rows, n_features), peer in _ALPHA_SHAPES.items():
        X = draw(n_rows // quick, n_features)
        yield [
            _name(X.shape),
            *_written(by_threads(partial(_fit, OURS, X), threads)),
            *_peer(peer, X),
        ]


def _fit(name: str, X: Any) -> Any:
    return CONTESTANTS[name]().fit(X)


def _peer(name: str, X: Any) -> list[str]:
    if name not in CONTESTANTS:
        return ["not installed"]
    _fit(name, X[:2000])
    return [f"{seconds(partial(_fit, name, X)):.3g} ({name.split('(')[1][:-1]})"]


def sums(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Evaluations of the kernel a second, and those of as many processes of one thread each."""
    for n_features in _SUMS_FEATURES:
        n_rows = _SUMS_ROWS // quick
        rates = [n_rows**2 / each for each in by_threads(_product(n_rows, n_features), threads)]
        command = [sys.executable, __file__, "--one-product", str(n_rows), str(n_features)]
        workers = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            for _ in range(max(threads))
        ]
        apart = sum(json.loads(worker.communicate()[0]) for worker in workers)
        yield [
            _name((n_rows, n_features)),
            *(f"{rate:.2e}" for rate in rates),
            f"{apart:.2e}",
            f"{rates[-1] / apart:.0%}",
        ]


def _product(n_rows: int, n_features: int) -> Act:
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    weights = np.random.default_rng(1).random((n_rows, 1))
    operator = Tiles(KernelColumns(Gaussian(n_features**0.5), X), single=True)
    _ = operator @ weights
    return lambda: operator @ weights


def _print_rate(n_rows: int, n_features: int) -> None:
    """Products in one thread for some seconds, in which the other processes do the same."""
    with threadpool_limits(1):
        act = _product(n_rows, n_features)
        times: list[float] = []
        begin = time.perf_counter()
        while not times or time.perf_counter() - begin < _TOGETHER:
            start = time.perf_counter()
            act()
            times.append(time.perf_counter() - start)
    print(json.dumps(n_rows**2 / float(np.median(times))))


def fit(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Seconds of a fit over all pairs, and of the products in it."""
    X = blobs(_FIT_SHAPE[0] // quick, _FIT_SHAPE[1])
    model = OneClusterPCM(algorithm="blocked").fit(X)
    operator = Tiles(KernelColumns(Gaussian(model.sigma_), X), single=False)  # as in the fit
    weights = model.weights_[:, None]
    n_products = model.n_iter_ + 1
    fits = by_threads(lambda: OneClusterPCM(algorithm="blocked").fit(X), threads)
    products = [
        n_products * each for each in by_threads(lambda: operator.complement(weights), threads)
    ]
    yield [f"{_name(X.shape)}, {model.n_iter_} iterations", *_written(fits)]
    yield [f"{n_products} products", *_written(products)]


def fourier(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Seconds of a fit through Fourier series."""
    for n_rows in _FOURIER_ROWS:
        X = blobs(n_rows // quick, 2)
        OneClusterPCM(sigma=_SIGMA).fit(X[:50_000])
        times = by_threads(lambda X=X: OneClusterPCM(sigma=_SIGMA).fit(X), threads)  # type: ignore[misc]
        yield [_name(X.shape), *_written(times)]


def sweep(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Milliseconds of a sweep of fuzzy c-means, and of an iteration of Lloyd's."""
    problem = Problem.draw(_SWEEP_ROWS // quick)
    space = InputSpace(problem.X)
    start = space.at(problem.start)

    def sweeps(rule: Fuzzy) -> None:
        for _ in range(_SWEEPS):
            space.sweep(rule, start)

    for m in (2.0, 1.5, 1.7):
        sweeps(Fuzzy(m))
        times = by_threads(partial(sweeps, Fuzzy(m)), threads)
        yield [f"m = {m}", *(f"{1000 * each / _SWEEPS:.3g}" for each in times)]

    def lloyd(n_iter: int) -> None:
        centres = problem.start
        KMeans(len(centres), init=centres, n_init=1, max_iter=n_iter, tol=0).fit(problem.X)

    longer, shorter = (by_threads(partial(lloyd, n), threads) for n in (2 + _SWEEPS, 2))
    differences = [(a - b) / _SWEEPS for a, b in zip(longer, shorter, strict=True)]
    yield ["Lloyd", *(f"{1000 * each:.3g}" for each in differences)]


def memory(threads: list[int], quick: int) -> Iterator[list[str]]:
    """The rise of memory during a fit of one-cluster PCM, in arrays of n doubles."""
    for n_rows, n_features in _MEMORY_SHAPES:
        shape = n_rows // quick, n_features
        command = [sys.executable, __file__, "--one-fit", *map(str, shape)]
        yield [_name(shape), f"{json_from(*command) / (8 * shape[0]):.0f}"]


def _print_memory(n_rows: int, n_features: int) -> None:
    OneClusterPCM(sigma=_SIGMA).fit(blobs(20_000, n_features))
    X = blobs(n_rows, n_features)
    with ResidentPeak(0.005) as resident:
        OneClusterPCM(sigma=_SIGMA).fit(X)
    print(json.dumps(resident.growth))


def growth(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Processor seconds of `AlphaCutClustering()` for more and more rows."""
    for n_rows in _GROWTH_ROWS:
        rows = [draw(n_rows // quick, d) for d in _GROWTH_FEATURES]
        yield [f"{n_rows // quick:,}", *_written([_processor_seconds(X) for X in rows])]


def _processor_seconds(X: Any) -> float:
    start = time.process_time()
    _fit(OURS, X)
    return time.process_time() - start


def draw_growth(rows: list[list[str]], file: Path) -> None:
    """The seconds of the part "growth" over the rows, both in logarithms."""
    import matplotlib.pyplot as plt

    n_rows = [float(row[0].replace(",", "")) for row in rows]
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for place, d in enumerate(_GROWTH_FEATURES, 1):
        axes.loglog(n_rows, [float(row[place]) for row in rows], "o-", label=f"{d} features")
    axes.loglog(n_rows, [float(rows[-1][1]) * n / n_rows[-1] for n in n_rows], "k:", label="linear")
    axes.set(xlabel="rows", ylabel="processor seconds", title="AlphaCutClustering()")
    axes.legend()
    figure.savefig(file, dpi=110)


PARTS: dict[str, tuple[Callable[[list[int], int], Iterator[list[str]]], list[str]]] = {
    "alpha": (alpha, ["threads", "peer"]),
    "sums": (sums, ["threads", "processes", "share"]),
    "fit": (fit, ["threads"]),
    "fourier": (fourier, ["threads"]),
    "sweep": (sweep, ["threads"]),
    "memory": (memory, ["arrays of n"]),
    "growth": (growth, [f"{d} features" for d in _GROWTH_FEATURES]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, os.cpu_count() or 1])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the rows")
    parser.add_argument("--picture", type=Path, help="where to draw the growth with the rows")
    parser.add_argument("--one-product", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--one-fit", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_product:
        return _print_rate(*options.one_product)
    if options.one_fit:
        return _print_memory(*options.one_fit)
    report = Report()
    for line in machine("finufft", "hdbscan", "fast_hdbscan"):
        report.line(line)
    for d in _GROWTH_FEATURES:
        _fit(OURS, draw(5000, d))  # compiles
    for name in options.parts:
        part, columns = PARTS[name]
        of_threads = [f"{n} threads" for n in options.threads]
        columns = [each for c in columns for each in (of_threads if c == "threads" else [c])]
        rows = []
        for row in part(options.threads, 50 if options.quick else 1):
            report.progress(" | ".join([name, *row]))
            rows.append(row)
        report.table((part.__doc__ or "").rstrip("."), [name, *columns], rows)
        if name == "growth" and options.picture:
            draw_growth(rows, options.picture)
        report.write(_RESULTS)
    return None


if __name__ == "__main__":
    main()
