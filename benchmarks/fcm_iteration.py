"""The time and memory of a fuzzy c-means iteration, ours and that of others, from one run.

`python benchmarks/fcm_iteration.py [--quick]` prints tables and a verdict on each target, and
writes them to `benchmarks/results/fcm_iteration.md`. It needs `benchmarks/requirements.txt`, and
makes `.venv-peers` for a package that pins an older numpy.

An iteration is the difference of a long and a short run of the whole estimator, divided by the
difference of their numbers of iterations: set-up cancels out. Contestants take turns, so a busy
moment of the machine hits all of them; `min` comes from the quickest runs, which is as near as one
gets to an idle machine, `median` from the differences of each round. Memory is the peak above what
was there before a run with the data at hand: of the process, and as `tracemalloc` counts it.
"""

import argparse
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from _contestants import (
    LLOYD,
    OURS,
    PEER,
    SKFUZZY,
    SWEEP,
    build,
    centre_error,
    names,
)  # fmt: skip
from _load import watch_load
from _memory import Memory
from _problem import N_CLUSTERS, N_FEATURES, Problem
from _processes import Peer, first_fit, memory_of, peer_python
from _report import Report, Verdict, machine
from _timing import Contestant, Timing, race
from typicality.exceptions import ClusteringWarning

_RESULTS = Path(__file__).resolve().parent / "results" / "fcm_iteration.md"
_MEASURED_MEMORY = (OURS, SWEEP, SKFUZZY, LLOYD)
_PEER_ITERATIONS = (2, 8)
_ERROR_ITERATIONS = 10


@dataclass(frozen=True)
class Size:
    """How much work a run is."""

    n_samples: int
    rounds: int


FULL = Size(300_000, 9)
QUICK = Size(30_000, 5)


@dataclass(frozen=True)
class Results:
    """All that was measured, by name of the contestant."""

    problem: Problem
    timings: dict[str, Timing]
    memory: dict[str, Memory]
    missing: str | None
    foreign_load: float

    def ratios(self, name: str, to: str) -> tuple[float, float]:
        """The time of one contestant over that of another, by min and by median."""
        a, b = self.timings[name], self.timings[to]
        return a.best / b.best, a.median / b.median

    def share(self, name: str) -> tuple[float, float]:
        """The memory of a contestant over that of X: resident, traced."""
        resident, traced = self.memory[name]
        return resident / self.problem.X.nbytes, traced / self.problem.X.nbytes


def measure(size: Size, report: Report) -> Results:
    """Draw the problem and run every contestant on it."""
    problem = Problem.draw(size.n_samples)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        problem.save(folder)
        report.progress("memory, one process each")
        memory = {name: memory_of(name, folder) for name in _MEASURED_MEMORY}
        report.progress("an environment for fuzzy-c-means, made once")
        contestants = [build(name, problem) for name in names()]
        missing = _invite_peer(stack, folder, contestants, memory)
        report.progress(f"{len(contestants)} contestants, {size.rounds} rounds")
        with watch_load() as load:
            timings = race(contestants, rounds=size.rounds)
    return Results(problem, timings, memory, missing, load.share)


def _invite_peer(
    stack: ExitStack, folder: Path, contestants: list[Contestant], memory: dict[str, Memory]
) -> str | None:
    """Add fuzzy-c-means to the contestants; why not, where that cannot be."""
    short, long = _PEER_ITERATIONS
    try:
        python = peer_python()
    except RuntimeError as reason:
        return str(reason)
    with Peer(python, folder, N_CLUSTERS) as fresh:
        memory[PEER] = Memory(*fresh.ask("memory", long))
    peer = stack.enter_context(Peer(python, folder, N_CLUSTERS))
    if not peer.ask("still_moving", long):
        raise RuntimeError(f"{PEER} stopped before {long} iterations.")
    contestants.append(Contestant(PEER, lambda n: float(peer.ask("seconds", n)), short, long))
    return None


# ---- tables -------------------------------------------------------------------------------------


def show_times(results: Results, report: Report) -> None:
    columns = ["contestant", "min ms", "median ms", "x ours, min", "x ours, median"]
    columns += ["memory / X", "traced / X"]
    rows = [_row(name, results) for name in results.timings]
    if results.missing is not None:
        rows.append([f"{PEER}: NOT MEASURED, {results.missing}", *["MISSING"] * 6])
    shape = f"{len(results.problem.X):,} x {N_FEATURES}, {N_CLUSTERS} clusters"
    report.table(f"One iteration, {shape}", columns, rows)
    report.line(f"Other programs used {results.foreign_load:.0%} of all cores meanwhile.")


def _row(name: str, results: Results) -> list[str]:
    timing = results.timings[name]
    times = [f"{1e3 * seconds:.2f}" for seconds in (timing.best, timing.median)]
    ratios = [f"{ratio:.2f}" for ratio in results.ratios(name, OURS)]
    measured = name in results.memory
    shares = [f"{share:.1%}" for share in results.share(name)] if measured else ["", ""]
    return [name, *times, *ratios, *shares]


def show_errors(problem: Problem, report: Report) -> None:
    columns = [f"centres after {_ERROR_ITERATIONS} iterations", "largest difference / data spread"]
    rows = [
        [f"{np.dtype(kind).name} against scikit-fuzzy", f"{_error(problem, kind):.1e}"]
        for kind in (np.float64, np.float32)
    ]
    report.table("Numerical error, FCM m=2", columns, rows)


def _error(problem: Problem, dtype: type) -> float:
    return centre_error(problem, _ERROR_ITERATIONS, dtype)


def show_first_fit(report: Report) -> tuple[float, float, float]:
    columns = ["fresh process", "import typicality, ms", "import estimator, s", "first fit, s"]
    runs = {"1st (may compile)": first_fit(), "2nd (cache warm)": first_fit()}
    rows = [
        [name, f"{1e3 * package:.1f}", f"{estimator:.2f}", f"{fit:.2f}"]
        for name, (package, estimator, fit) in runs.items()
    ]
    report.table("First fit in a fresh process, 1000 x 4", columns, rows)
    return runs["2nd (cache warm)"]


# ---- verdicts -----------------------------------------------------------------------------------


def verdicts(results: Results, first: tuple[float, float, float]) -> list[Verdict]:
    faster = results.ratios(SKFUZZY, OURS)
    slower = results.ratios(OURS, LLOYD)
    shares = results.share(SWEEP)
    package, _, fit = first
    return [
        Verdict("at least 20 x scikit-fuzzy", _both(faster), tuple(r >= 20 for r in faster)),
        Verdict("at most 1.5 x Lloyd", _both(slower), tuple(0 < r <= 1.5 for r in slower)),
        Verdict("loop memory < 5 % of X", _views(shares), tuple(s < 0.05 for s in shares)),
        Verdict("first fit < 1.5 s", f"{fit:.2f} s", (fit < 1.5,)),
        Verdict("import in milliseconds (< 50)", f"{1e3 * package:.1f} ms", (package < 0.05,)),
    ]


def _both(ratios: tuple[float, float]) -> str:
    return f"{ratios[0]:.2f} x by min, {ratios[1]:.2f} x by median"


def _views(shares: tuple[float, float]) -> str:
    return f"{shares[0]:.2%} by resident set, {shares[1]:.2%} by tracemalloc"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="30,000 rows, for a first look")
    size = QUICK if parser.parse_args().quick else FULL
    warnings.simplefilter("ignore", ClusteringWarning)  # a few iterations seldom end well
    report = Report()
    for line in machine():
        report.line(line)
    results = measure(size, report)
    show_times(results, report)
    show_errors(results.problem, report)
    report.verdicts(verdicts(results, show_first_fit(report)))
    if size is QUICK:
        report.line("The targets are for the full size, not for --quick.")
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
