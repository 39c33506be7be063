"""Time and memory of clusterings by alpha-cuts beside HDBSCAN, and how exact the heights are.

`python benchmarks/alpha_cut_time.py [--quick]` prints tables and a verdict on each target, and
writes them to `benchmarks/results/alpha_cut_time.md`. Times are the best of three fits after a
warm-up, contestants taking turns; peers that take a minute run once. Memory is the peak of a fresh
process for each fit.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

import _alpha_cut_fit
from _alpha_cut_fit import (
    CONTESTANTS,
    N_BLOBS,
    ONE_WIDTH,
    OURS,
    SCIKIT_LEARN,
    Peak,
    draw,
    warm_up,
)
from _load import watch_load
from _processes import json_from
from _report import Report, Verdict, machine
from typicality import AlphaCutClustering

_RESULTS = Path(__file__).resolve().parent / "results" / "alpha_cut_time.md"
_SHAPES = [(2_000, 2), (10_000, 2), (20_000, 2), (100_000, 2), (20_000, 8), (100_000, 8)]
_SHAPES_QUICK = [(2_000, 2), (5_000, 8)]
_LARGE_SHAPES = [(100_000, 2), (100_000, 8)]
_ROUNDS = 3
_SLOW = 20.0  # seconds: a peer that takes longer runs once
_AUTOMATIC_SHAPE, _AUTOMATIC_SHAPE_QUICK = (10_000, 2), (2_000, 2)
_AUTOMATIC_SECONDS = 5.0
_TIMES_SCIKIT_LEARN = 10  # with one width
_MODEL_SHAPE, _MODEL_SHAPE_QUICK = (20_000, 2), (2_000, 2)
_N_NEW = 100_000
_N_SAMPLED = 1_000
_LOWEST = 0.01  # the share of the rows that count as the lowest
_LARGEST_ERROR = 1e-6  # promised, of the height of a row that stands alone
_SECONDS = 10.0

Doubles = NDArray[np.float64]
Shape = tuple[int, int]


class Fit(NamedTuple):
    """Seconds of the quickest fit, and the model."""

    seconds: float
    model: Any

    @property
    def n_clusters(self) -> int:
        """How many clusters were found."""
        return int(self.model.labels_.max()) + 1

    @property
    def method(self) -> str:
        """How ours was computed; others have no plan."""
        return self.model.plan_.method if hasattr(self.model, "plan_") else ""


Fits = dict[tuple[Shape, str], Fit]  # by shape and contestant

# ---- time and memory ----------------------------------------------------------------------------


def seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def race(shape: Shape) -> Fits:
    """All contestants on the same rows, in turn; slow ones drop out after a round."""
    X = draw(*shape)
    for name in CONTESTANTS:
        warm_up(name, shape[1])
    best = {name: _fit(name, X) for name in CONTESTANTS}
    for _ in range(_ROUNDS - 1):
        for name in CONTESTANTS:
            if best[name].seconds < _SLOW:
                best[name] = min(best[name], _fit(name, X), key=_seconds_of)
    return {(shape, name): fit for name, fit in best.items()}


def _fit(name: str, X: Doubles) -> Fit:
    model = CONTESTANTS[name]()
    return Fit(seconds(lambda: model.fit(X)), model)


def _seconds_of(fit: Fit) -> float:
    return fit.seconds


def peak_of(name: str, shape: Shape) -> Peak:
    """Memory of a fresh process."""
    arguments = [name, *map(str, shape)]
    return Peak(*json_from(sys.executable, _alpha_cut_fit.__file__, *arguments))


def show_fits(shapes: list[Shape], report: Report) -> Fits:
    fits: Fits = {}
    with watch_load() as load:
        for shape in shapes:
            report.progress(f"time, {_name(shape)}")
            fits |= race(shape)
    report.progress("memory")
    columns = ["rows", "fit", "seconds", "to ours", "fit, MB", "in all, MB", "clusters", "plan_"]
    rows = [_row(shape, name, fits) for shape, name in fits]
    report.table(f"Blobs, {N_BLOBS} of equal size", columns, rows)
    report.line(
        "HDBSCAN with min_cluster_size=10; 1 process: core_dist_n_jobs=1. to ours: its seconds "
        "over ours. fit, MB: the rise during the fit (of this process: hdbscan starts others); in "
        "all: imports and rows included. Other programs, and processes of hdbscan, used "
        f"{load.share:.0%} of the machine while times were taken."
    )
    return fits


def _row(shape: Shape, name: str, fits: Fits) -> list[str]:
    fit = fits[shape, name]
    ratio = fit.seconds / fits[shape, OURS].seconds
    times = [f"{fit.seconds:.3g}", f"{ratio:.2f}"]
    sizes = [f"{n_bytes / 1e6:,.0f}" for n_bytes in peak_of(name, shape)]
    return [_name(shape), name, *times, *sizes, str(fit.n_clusters), fit.method]


def _name(shape: Shape) -> str:
    return f"{shape[0]:,} x {shape[1]}"


def peer_verdicts(fits: Fits, shapes: list[Shape]) -> list[Verdict]:
    """Against hdbscan in the plane, whichever way it is quicker, and against scikit-learn."""
    verdicts = [
        _at_least(_TIMES_SCIKIT_LEARN, fits, shape, [SCIKIT_LEARN])
        for shape in _LARGE_SHAPES
        if shape in shapes
    ]
    peers = [name for name in CONTESTANTS if name.startswith("HDBSCAN (hdbscan")]
    plane = [shape for shape in _LARGE_SHAPES if shape in shapes and shape[1] == 2]
    return verdicts + [_at_least(1, fits, shape, peers) for shape in plane if peers]


def _at_least(times: int, fits: Fits, shape: Shape, peers: list[str]) -> Verdict:
    quickest = min(peers, key=lambda name: fits[shape, name].seconds)
    ratio = fits[shape, quickest].seconds / fits[shape, ONE_WIDTH].seconds
    faster = f"{times} times faster than" if times > 1 else "no slower than"
    target = f"{_name(shape)}: one width is {faster} {quickest}"
    return Verdict(target, f"its time is {ratio:.2f} of ours", (ratio >= times,))


def show_prediction(name: str, model: AlphaCutClustering, shape: Shape, report: Report) -> None:
    new = draw(_N_NEW, shape[1], seed=1)
    took = min(seconds(lambda: model.predict(new)) for _ in range(_ROUNDS))
    new_inside, old_inside = np.mean(model.predict(new) >= 0), np.mean(model.labels_ >= 0)
    report.line(
        f"{name}, {_name(shape)}: predict of {_N_NEW:,} new rows takes {took:.2f} s. Of them "
        f"{new_inside:.1%} are in a cluster, of the training rows {old_inside:.1%}."
    )


# ---- exactness ----------------------------------------------------------------------------------


class Errors(NamedTuple):
    """The largest errors of some heights: relative, and as a share of a row that stands alone."""

    n_points: int
    lowest: float
    relative: float
    of_a_row: float


def dense_heights(landscape: Any, points: Doubles) -> Doubles:
    """Sums over all rows, as the formula stands."""
    sigma = landscape.kernel.sigma
    heights = [
        np.exp(-cdist(block, landscape.rows, "sqeuclidean") / (2 * sigma**2)) @ landscape.weights
        for block in np.array_split(points, -(-len(points) // 100))
    ]
    return np.concatenate(heights)


def errors_at(landscape: Any, points: Doubles) -> Errors:
    exact = dense_heights(landscape, points)
    error = np.abs(landscape.heights(points) - exact)
    alone = 1.0 / len(landscape.rows)
    relative = float(np.max(error / exact))
    return Errors(len(points), float(exact.min() / alone), relative, float(error.max() / alone))


def places(model: AlphaCutClustering) -> dict[str, Doubles]:
    """Rows and points between rows."""
    rng = np.random.default_rng(2)
    tree = model.tree_
    rows = model._regions.landscape.rows
    order = np.argsort(tree.heights)
    ends = tree.pairs[np.sort(rng.choice(len(tree.pairs), _N_SAMPLED, replace=False))]
    n_lowest = int(np.ceil(_LOWEST * len(rows)))
    return {
        "rows, a sample": rows[rng.choice(len(rows), _N_SAMPLED, replace=False)],
        f"the lowest {_LOWEST:.0%} of rows": rows[order[:n_lowest]],
        "amid edges, a sample": rows[ends].mean(axis=1),
        f"amid the lowest {_LOWEST:.0%} of edges": rows[tree.pairs[-n_lowest:]].mean(axis=1),
    }


def show_errors(model: AlphaCutClustering, shape: Shape, report: Report) -> Verdict:
    landscape = model._regions.landscape
    errors = {name: errors_at(landscape, points) for name, points in places(model).items()}
    columns = [_name(shape), "points", "lowest height x n", "relative error", "error x n"]
    rows = [
        [name, str(e.n_points), f"{e.lowest:.2g}", f"{e.relative:.1e}", f"{e.of_a_row:.1e}"]
        for name, e in errors.items()
    ]
    report.table("Heights against dense sums, largest errors", columns, rows)
    largest = max(e.of_a_row for e in errors.values())
    return Verdict(
        "heights are off by at most 1e-6 of a row that stands alone",
        f"largest {largest:.1e}",
        (largest <= _LARGEST_ERROR,),
    )


def _took_less_than(limit: float, fit: Fit, name: str, shape: Shape) -> Verdict:
    target = f"{name}, {_name(shape)}, in less than {limit:.0f} s"
    return Verdict(target, f"{fit.seconds:.2f} s", (fit.seconds < limit,))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows, for a first look")
    quick = parser.parse_args().quick
    report = Report()
    for line in machine("hdbscan", "fast_hdbscan"):
        report.line(line)
    shapes = _SHAPES_QUICK if quick else _SHAPES
    fits = show_fits(shapes, report)
    shape = _AUTOMATIC_SHAPE_QUICK if quick else _AUTOMATIC_SHAPE
    automatic = _took_less_than(_AUTOMATIC_SECONDS, fits[shape, OURS], OURS, shape)
    shape = _MODEL_SHAPE_QUICK if quick else _MODEL_SHAPE
    for name in (OURS, ONE_WIDTH):
        show_prediction(name, fits[shape, name].model, shape, report)
    one_width = _took_less_than(_SECONDS, fits[shape, ONE_WIDTH], ONE_WIDTH, shape)
    exact = show_errors(fits[shape, ONE_WIDTH].model, shape, report)
    report.verdicts([automatic, one_width, exact, *peer_verdicts(fits, shapes)])
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
