"""The time and memory of an iteration of c-means, ours and that of others, from one run.

`python benchmarks/fcm_iteration.py [--quick]` prints tables and a verdict on each target, and
writes them to `benchmarks/results/fcm_iteration.md`. It needs `benchmarks/requirements.txt`.

An iteration is the difference of a long and a short fit, divided by the difference of their numbers
of iterations: set-up cancels out. `min` comes from the quickest fits, `median` from the differences
of each round. Memory is the peak of a long fit above what was there with the data at hand.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import skfuzzy
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from _report import Report, Verdict, machine
from _timing import ResidentPeak, in_turn, json_from
from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans
from typicality.exceptions import ClusteringWarning

_RESULTS = Path(__file__).resolve().parent / "results" / "fcm_iteration.md"
_N_ROWS, _N_ROWS_QUICK = 300_000, 10_000
_ROUNDS, _ROUNDS_QUICK = 9, 2
_C, _D = 10, 8
# Two wide features keep fuzzy prototypes from falling together; blobs that overlap keep k-means
# from converging for long.
_STRETCH = np.array([4.0, 3.0] + [1.0] * (_D - 2))
_WITHIN = float(_STRETCH @ _STRETCH)  # the mean squared distance of a row to its blob's centre
_ERROR_ITERATIONS = 10

Doubles = NDArray[np.float64]


class Problem(NamedTuple):
    """Rows scattered about blob centres, and prototypes to start from."""

    X: Doubles
    start: Doubles

    @classmethod
    def draw(cls, n_rows: int) -> "Problem":
        """So many rows, the same in each run."""
        rng = np.random.default_rng(0)
        blobs, noise = rng.standard_normal((_C, _D)), rng.standard_normal((n_rows, _D))
        X = _STRETCH * (noise + blobs[rng.integers(_C, size=n_rows)])
        rows = rng.choice(n_rows, _C, replace=False)
        return cls(X, X[rows] + 0.01 * rng.standard_normal((_C, _D)))  # not on a row


class Contestant(NamedTuple):
    """`fit(problem, n_iter)`, and two numbers of iterations."""

    fit: Callable[[Problem, int], Any]
    short: int
    long: int


def _ours(
    kind: Any, problem: Problem, n_iter: int, dtype: Any = np.float64, **settings: Any
) -> Any:
    fixed = {"init": problem.start, "max_iter": n_iter, "tol": 0, "store_memberships": False}
    return kind(_C, **fixed, **settings).fit(problem.X.astype(dtype, copy=False))


def _lloyd(problem: Problem, n_iter: int) -> Any:
    return KMeans(_C, init=problem.start, n_init=1, max_iter=n_iter, tol=0).fit(problem.X)


def _skfuzzy(problem: Problem, n_iter: int) -> Any:
    pull = 1.0 / cdist(problem.X, problem.start, "sqeuclidean")
    start = (pull / pull.sum(axis=1, keepdims=True)).T
    return skfuzzy.cmeans(problem.X.T, _C, 2.0, error=0.0, maxiter=n_iter, init=start)


OURS, SKFUZZY, LLOYD = "FuzzyCMeans, m = 2", "scikit-fuzzy", "scikit-learn KMeans (Lloyd)"
CONTESTANTS = {
    OURS: Contestant(partial(_ours, FuzzyCMeans, m=2.0), 5, 65),
    "FuzzyCMeans, m = 1.5": Contestant(partial(_ours, FuzzyCMeans, m=1.5), 5, 65),
    "FuzzyCMeans, m = 2, float32": Contestant(
        partial(_ours, FuzzyCMeans, m=2.0, dtype=np.float32), 5, 65
    ),
    "EntropyCMeans": Contestant(partial(_ours, EntropyCMeans, lam=_D / (2 * _WITHIN)), 5, 65),
    "PossibilisticCMeans": Contestant(partial(_ours, PossibilisticCMeans, eta=_WITHIN), 5, 65),
    LLOYD: Contestant(_lloyd, 5, 65),
    SKFUZZY: Contestant(_skfuzzy, 2, 8),
}
_MEASURED_MEMORY = (OURS, LLOYD, SKFUZZY)


class Timing(NamedTuple):
    """Seconds of an iteration."""

    best: float
    median: float


def times(problem: Problem, rounds: int) -> dict[str, Timing]:
    """All contestants in turn, after a first fit that is not measured."""
    acts = {}
    for name, one in CONTESTANTS.items():
        one.fit(problem, one.short)
        for n_iter in (one.short, one.long):
            acts[f"{name} {n_iter}"] = partial(one.fit, problem, n_iter)
    found = in_turn(acts, rounds)
    timings = {}
    for name, one in CONTESTANTS.items():
        short, long = found[f"{name} {one.short}"], found[f"{name} {one.long}"]
        differences = [b - a for a, b in zip(short, long, strict=True)]
        n_more = one.long - one.short
        timings[name] = Timing((min(long) - min(short)) / n_more, median(differences) / n_more)
    return timings


def print_memory(name: str, n_rows: int) -> None:
    """The memory of a long fit over that of the rows, in a fresh process."""
    problem, one = Problem.draw(n_rows), CONTESTANTS[name]
    one.fit(Problem.draw(30_000), 1)  # loads compiled code
    with ResidentPeak() as resident:
        one.fit(problem, one.long)
    print(json.dumps(resident.growth / problem.X.nbytes))


def centre_error(problem: Problem, dtype: Any) -> float:
    """The largest difference of a centre to scikit-fuzzy's, in units of the spread of the data."""
    ours = _ours(FuzzyCMeans, problem, _ERROR_ITERATIONS, dtype, m=2.0).cluster_centers_
    theirs = _skfuzzy(problem, _ERROR_ITERATIONS)[0]
    return float(np.abs(ours - theirs).max() / np.sqrt(problem.X.var(axis=0).sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"{_N_ROWS_QUICK:,} rows")
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ClusteringWarning)  # a few iterations seldom end well
    if options.memory:
        return print_memory(options.memory[0], int(options.memory[1]))
    n_rows = _N_ROWS_QUICK if options.quick else _N_ROWS
    report = Report()
    for line in machine():
        report.line(line)
    report.progress("memory, one process each")
    memory = {name: json_from(__file__, "--memory", name, str(n_rows)) for name in _MEASURED_MEMORY}
    problem = Problem.draw(n_rows)
    report.progress("times")
    timings = times(problem, _ROUNDS_QUICK if options.quick else _ROUNDS)
    ours = timings[OURS]
    rows = [
        [
            name,
            *[f"{1e3 * value:.2f}" for value in one],
            *[f"{a / b:.2f}" for a, b in zip(one, ours, strict=True)],
            f"{memory[name]:.0%}" if name in memory else "",
        ]
        for name, one in timings.items()
    ]
    columns = ["estimator", "min ms", "median ms", "x ours, min", "x ours, median", "memory / X"]
    report.table(f"One iteration, {n_rows:,} x {_D}, {_C} clusters", columns, rows)
    errors = [f"{kind.__name__} {centre_error(problem, kind):.1e}" for kind in (float, np.float32)]
    report.line(
        f"Largest difference of a centre from scikit-fuzzy after {_ERROR_ITERATIONS} iterations, "
        f"over the spread of the data: {', '.join(errors)}."
    )
    faster = [a / b for a, b in zip(timings[SKFUZZY], ours, strict=True)]
    slower = [a / b for a, b in zip(ours, timings[LLOYD], strict=True)]
    report.verdicts(
        [
            Verdict("at least 20 x scikit-fuzzy", _both(faster), tuple(r >= 20 for r in faster)),
            Verdict("at most 1.5 x Lloyd", _both(slower), tuple(0 < r <= 1.5 for r in slower)),
        ]
    )
    report.write(_RESULTS)
    return None


def _both(ratios: list[float]) -> str:
    return f"{ratios[0]:.2f} x by min, {ratios[1]:.2f} x by median"


if __name__ == "__main__":
    main()
