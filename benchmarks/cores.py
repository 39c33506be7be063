"""How fits use the cores of a machine, and density-based clustering beside other libraries.

`python benchmarks/cores.py [--threads 1 2 4 16] [--parts alpha density sweep peers fits growth]
[--quick]` prints a table for each part and writes all of them to `benchmarks/results/cores.md`, and
the picture of `growth` to `docs/_static/growth.png`. Times are the best of some runs after a
warm-up. Peers use all cores as they see fit, and are left out where they are not installed; in
`growth` a method that took more than two seconds is not run on more rows, except ours. For two
cores: `taskset -c 0,1 python benchmarks/cores.py --parts peers fits`.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.ensemble import IsolationForest
from threadpoolctl import threadpool_limits

from _report import Report, machine
from _sets import blobs, grid_of_blobs
from _timing import best_of, in_turn, seconds
from typicality import (
    AlphaCutClustering,
    AutoClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    SequentialPCM,
)

mpl.use("Agg")
import matplotlib.pyplot as plt

_RESULTS = Path(__file__).resolve().parent / "results" / "cores.md"
_PICTURE = Path(__file__).resolve().parents[1] / "docs" / "_static" / "growth.png"
_ALPHA = {
    (100_000, 5): "hdbscan",
    (300_000, 5): "hdbscan",
    (100_000, 8): "hdbscan",
    (1_000_000, 2): "fast_hdbscan",
}
_DENSITY = [(1_000_000, 2), (10_000_000, 2), (100_000, 8)]
_SWEEP_ROWS, _SWEEPS = 3_000_000, 5
_PEER_SIZES = [
    (500, 2), (1_000, 2), (2_000, 2), (5_000, 2), (10_000, 2), (10_000, 5), (30_000, 8),
    (100_000, 2),
]  # fmt: skip
_PARTNERED = [(150, 4), (1_000, 2), (1_000, 5), (10_000, 2)]
_OUTLIERS = [(20_000, 10), (20_000, 64), (100_000, 20)]
_GROWTH_ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
_GROWTH_FEATURES, _PATIENCE = (2, 8), 2.0  # seconds
_MANY_ROWS = 20_000  # fits of more are timed once
_LONG = 1.0  # seconds; longer fits are timed once after the warm-up, not five times
_OURS = "AlphaCutClustering"

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


def methods() -> dict[str, Callable[[Any], object]]:
    """Density-based clustering, ours first."""
    peers: dict[str, Callable[[Any], object]] = {
        "hdbscan": lambda X: import_module("hdbscan").HDBSCAN(min_cluster_size=10).fit(X),
        "fast_hdbscan": lambda X: import_module("fast_hdbscan").HDBSCAN(min_cluster_size=10).fit(X),
        "fast_plscan": lambda X: import_module("fast_plscan").PLSCAN(min_samples=5).fit(X),
    }
    return {
        _OURS: lambda X: AlphaCutClustering().fit(X),
        "scikit-learn": lambda X: HDBSCAN(min_cluster_size=10, copy=True).fit(X),
    } | {name: fit for name, fit in peers.items() if find_spec(name)}


def peers(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Seconds of `AlphaCutClustering()` and of other density-based clustering, in turn."""
    for n_rows, n_features in _PEER_SIZES:
        X = blobs(n_rows // min(quick, 10), n_features, n_blobs=10)
        acts = {name: partial(fit, X) for name, fit in methods().items()}
        if n_rows <= _MANY_ROWS:
            in_turn(acts, 1)
        found = in_turn(acts, 5 if n_rows <= _MANY_ROWS else 1)
        yield [_name(X), *_written([min(times) for times in found.values()])]


def fits(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Seconds of other fits, and of the fit that each is compared with."""
    for name, X, ours, other in _pairs(quick):
        acts = {"ours": partial(ours, X)} | ({"other": partial(other, X)} if other else {})
        first = in_turn(acts, 1)
        found = in_turn(acts, 1 if max(first["ours"]) > _LONG else 5)
        least = [min(times) for times in found.values()]
        ratio = [f"{least[0] / least[1]:.2g}"] if other else ["", ""]
        yield [f"{name}, {_name(X)}", *_written(least), *ratio]


def _pairs(quick: int) -> Iterator[tuple[str, Any, Callable[[Any], object], Any]]:
    """Fits to time: their names, rows, and the fit each is compared with, if there is one."""

    def alpha_cut(X: Any) -> object:
        return AlphaCutClustering().fit(X)

    for shape in _PARTNERED:
        X = blobs(*shape, n_blobs=4)
        yield "AutoClustering / AlphaCut", X, lambda X: AutoClustering().fit(X), alpha_cut
    for n_blobs in (4, 10):
        X = blobs(1_000, 2, n_blobs=n_blobs)
        yield "SequentialPCM / AlphaCut", X, lambda X: SequentialPCM().fit(X), alpha_cut
    for n_rows, n_features in _OUTLIERS:
        yield (
            "OneClusterPCM(novelty=True) / IsolationForest",
            blobs(n_rows // quick, n_features),
            lambda X: OneClusterPCM(novelty=True).fit(X).predict(X),
            lambda X: IsolationForest(random_state=0).fit(X).predict(X),
        )
    for model in (FuzzyCMeans, EntropyCMeans):
        for n_clusters in (5, 10):
            inside = model(n_clusters, kernel="gaussian", random_state=0)
            outside = model(n_clusters, random_state=0)
            name = f"{model.__name__} kernel / input space, c = {n_clusters}"
            yield name, blobs(3_000, 4), inside.fit, outside.fit
    yield "Fourier sums", blobs(3_000_000 // quick, 2), OneClusterPCM(sigma=0.5).fit, None
    exact = OneClusterPCM(sigma=2.0, rtol=0, max_samples=None, max_iter=3)
    yield "exact sums", blobs(50_000 // quick, 8), exact.fit, None
    for n_rows, n_features in ((300_000, 5), (1_000_000, 8)):
        yield "AlphaCut", blobs(n_rows // quick, n_features), alpha_cut, None


def growth(threads: list[int], quick: int) -> Iterator[list[str]]:
    """Seconds of density-based clustering for more and more rows."""
    shown, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    for n_features, ax in zip(_GROWTH_FEATURES, axes, strict=True):
        left = methods()
        found = {name: dict.fromkeys(_GROWTH_ROWS, np.nan) for name in left}
        for n_rows in _GROWTH_ROWS:
            X = blobs(max(n_rows // quick, 100), n_features, n_blobs=10)
            for name, fit in list(left.items()):
                if n_rows == _GROWTH_ROWS[0]:
                    fit(X)
                found[name][n_rows] = seconds(partial(fit, X))
                if found[name][n_rows] > _PATIENCE and name != _OURS:
                    del left[name]
            yield [_name(X), *_written([times[n_rows] for times in found.values()])]
        for name, times in found.items():
            ax.loglog(list(times), list(times.values()), "o-", label=name, ms=3)
        ax.set(xlabel="rows", title=f"{n_features} features")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("seconds")
    axes[0].legend(frameon=False, fontsize=8)
    if quick == 1:
        shown.savefig(_PICTURE, dpi=100)
    plt.close(shown)


def _name(X: Any) -> str:
    return f"{X.shape[0]:,} x {X.shape[1]}"


def _written(times: list[float]) -> list[str]:
    return ["" if np.isnan(each) else f"{each:.3g}" for each in times]


PARTS: dict[str, Part] = {
    "alpha": alpha, "density": density, "sweep": sweep, "peers": peers, "fits": fits,
    "growth": growth,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, os.cpu_count() or 1])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    report = Report()
    for line in machine("finufft", "hdbscan", "fast_hdbscan", "fast_plscan"):
        report.line(line)
    AlphaCutClustering().fit(grid_of_blobs(5000, 5))  # compiles
    for name in options.parts:
        report.progress(name)
        rows = []
        for row in PARTS[name](options.threads, 100 if options.quick else 1):
            rows.append(row)
            report.progress(" | ".join(row))
        columns = [f"{n} threads" for n in options.threads]
        if name in ("peers", "growth"):
            columns = list(methods())
        if name == "fits":
            columns = ["ours", "other", "ratio"]
        columns += ["peer"] * (name == "alpha")
        report.table((PARTS[name].__doc__ or "").rstrip("."), [name, *columns], rows)
        report.write(_RESULTS)


if __name__ == "__main__":
    main()
