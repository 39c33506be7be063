"""Files larger than memory: fuzzy c-means and the density of all rows, beside scikit-learn.

`python benchmarks/larger_than_memory.py [--rows N] [--iterations N] [--limit GB]` writes an npy
file of `rows` x 8 normal clusters and measures `FuzzyCMeans` from the file and in memory, and
scikit-learn's `MiniBatchKMeans.partial_fit` over the same blocks. With `--density N`, a file of N x
2 rows is fitted by `OneClusterPCM` with Fourier sums, and so is each smaller power of ten down to
a million rows. Each measurement has a process of its own. Where a memory cgroup can be made (as
root), those that read the file run under the limit (`--density-limit` for the density); otherwise
the peak is only compared with it. Growth is measured from a fifth of the rows. The table goes to
`benchmarks/results/larger_than_memory.md`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from _report import Report, Verdict, machine
from _sets import file_centers, write_file
from _timing import resident_peak

_RESULTS = Path(__file__).resolve().parent / "results" / "larger_than_memory.md"
_FEATURES, _CLUSTERS = 8, 10
_BLOCK = 2**18  # rows
_SMALLER = 5  # times fewer rows, to see growth
_GROWTH = 1.15  # over linear, a doubling
_FEWEST = 1_000_000  # rows of the smallest density
_SIGMA = 0.5

_CGROUPS = Path("/sys/fs/cgroup")

Found = dict[str, float]


# ---- tasks, each in a process of its own ---------------------------------------------------------


def _iterations(X: Any, n_iterations: int) -> Found:
    """Fits of 1 and of 1 + n iterations from the same start: seconds of an iteration.

    The first fit of rows in a file also looks for their sample, which is kept.
    """
    from typicality import FuzzyCMeans

    model = FuzzyCMeans(
        _CLUSTERS, m=2.0, init=file_centers(_FEATURES) + 1.0, tol=0.0, store_memberships=False
    )
    few = np.random.default_rng(0).normal(size=(_BLOCK, _FEATURES))
    model.set_params(max_iter=1).fit(few)  # compiles
    seconds = []
    for n in (1, 1, 1 + n_iterations):
        began = time.perf_counter()
        model.set_params(max_iter=n).fit(X)
        seconds.append(time.perf_counter() - began)
    iteration = (seconds[2] - seconds[1]) / n_iterations
    return {"first": seconds[0], "fit": seconds[2], "iteration": iteration}


def from_file(path: Path, n_iterations: int) -> Found:
    from typicality import open_rows

    began = time.perf_counter()
    rows = open_rows(path)
    return {"open": time.perf_counter() - began} | _iterations(rows, n_iterations)


def in_memory(path: Path, n_iterations: int) -> Found:
    began = time.perf_counter()
    X = np.load(path)
    return {"open": time.perf_counter() - began} | _iterations(X, n_iterations)


def mini_batch(path: Path, n_iterations: int) -> Found:
    """scikit-learn's k-means on the same blocks; an iteration is a pass."""
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(_CLUSTERS, init=file_centers(_FEATURES) + 1.0, n_init=1)
    X = np.load(path, mmap_mode="r")
    n_passes = min(2, n_iterations)
    began = time.perf_counter()
    for _ in range(n_passes):
        for start in range(0, len(X), _BLOCK):
            model.partial_fit(np.asarray(X[start : start + _BLOCK]))
    seconds = time.perf_counter() - began
    return {"open": 0.0, "fit": seconds, "iteration": seconds / n_passes}


def density(path: Path, n_iterations: int) -> Found:
    """The whole fit of OneClusterPCM: all iterations, threshold and p-values."""
    from typicality import OneClusterPCM, open_rows

    OneClusterPCM(sigma=_SIGMA).fit(np.random.default_rng(0).normal(size=(5000, 2)))  # compiles
    began = time.perf_counter()
    rows = open_rows(path)
    opened = time.perf_counter()
    model = OneClusterPCM(sigma=_SIGMA).fit(rows)
    done = time.perf_counter()
    return {"open": opened - began, "fit": done - opened, "n_iter": model.n_iter_}


TASKS = {
    "FuzzyCMeans, file": from_file,
    "FuzzyCMeans, array": in_memory,
    "MiniBatchKMeans, file": mini_batch,
    "OneClusterPCM, file": density,
}


class MemoryLimit:
    """A memory cgroup of version 1 or 2, where the user may make one; else nothing is enforced.

    Parameters
    ----------
    n_bytes : float, optional
        The limit, for all processes in the group together; none if left out.
    """

    def __init__(self, n_bytes: float | None) -> None:
        self._group: Path | None = None
        if n_bytes is None:
            return
        first = (_CGROUPS / "memory").is_dir()
        name, limit = f"typicality-{os.getpid()}", "memory.max"
        group = _CGROUPS / name
        if first:
            group, limit = _CGROUPS / "memory" / name, "memory.limit_in_bytes"
        try:
            if not first:
                (_CGROUPS / "cgroup.subtree_control").write_text("+memory")
            group.mkdir()
            self._group = group
            (group / limit).write_text(str(int(n_bytes)))
        except OSError:
            self.remove()

    @property
    def enforced(self) -> bool:
        """Whether there is such a group."""
        return self._group is not None

    def enter(self) -> None:
        """Put this process into the group."""
        if self._group is not None:
            (self._group / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self) -> None:
        """Remove the group."""
        if self._group is not None:
            self._group.rmdir()
        self._group = None


def measure(task: str, path: Path, n_iterations: int, limit: float | None) -> Found:
    """One task in a fresh process, under a limit in GB where there is one."""
    group = MemoryLimit(None if limit is None else 1e9 * limit)
    command = [sys.executable, "-W", "ignore", __file__, "--task", task, str(path)]
    done = subprocess.run(
        [*command, "--iterations", str(n_iterations)],
        stdout=subprocess.PIPE, text=True, check=False, preexec_fn=group.enter,
    )  # fmt: skip
    enforced = float(group.enforced)
    group.remove()
    if done.returncode:
        return {"failed": float(done.returncode), "enforced": enforced}
    found = json.loads(done.stdout.splitlines()[-1]) | {"enforced": enforced}
    print(task, found, file=sys.stderr)  # at once, for a run that is cut off
    return found


def _over_linear(few: tuple[int, float], many: tuple[int, float]) -> float:
    """The factor by which time grows faster than the rows, for each doubling of them."""
    ratio = (many[1] / many[0]) / (few[1] / few[0])
    return float(ratio ** (1 / np.log2(many[0] / few[0])))


def show_clusters(report: Report, n_rows: int, n_iterations: int, limit: float) -> list[Verdict]:
    """Fuzzy c-means from the file, in memory, and MiniBatchKMeans."""
    lines, out = [], {}
    for size in (n_rows // _SMALLER, n_rows):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npy"
            report.progress(f"Writing {size:,} rows")
            write_file(path, size, _FEATURES)
            for task in list(TASKS)[:3]:
                report.progress(f"{task}, {size:,} rows")
                found = measure(
                    task, path, n_iterations, None if task == "FuzzyCMeans, array" else limit
                )
                out[task, size] = found
                lines.append(
                    [task, f"{size:,}", "failed", "", ""]
                    if "failed" in found
                    else [
                        *[task, f"{size:,}", f"{found['open']:.1f}", f"{found['iteration']:.2f}"],
                        f"{found['peak'] / 1e6:,.0f}",
                    ]
                )
    columns = ["task", "rows", "open, s", "an iteration, s", "peak, MB"]
    report.table(f"{_FEATURES} features, {_CLUSTERS} clusters", columns, lines)
    large, small = (out["FuzzyCMeans, file", size] for size in (n_rows, n_rows // _SMALLER))
    growth = _over_linear(
        (n_rows // _SMALLER, small.get("iteration", np.nan)),
        (n_rows, large.get("iteration", np.nan)),
    )
    return [_below(f"FuzzyCMeans, {n_rows:,} x {_FEATURES}", large, limit), _linear(growth)]


def show_density(report: Report, n_rows: int, limit: float) -> list[Verdict]:
    """The density of all rows by Fourier sums, from a million rows on."""
    lines, sizes, times, found = [], [], [], {}
    size = _FEWEST
    while size <= n_rows:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npy"
            report.progress(f"OneClusterPCM, {size:,} rows")
            write_file(path, size, 2)
            found = measure("OneClusterPCM, file", path, 0, limit)
        sizes.append(size)
        times.append(found.get("fit", np.nan))
        cells = [f"{found.get(name, np.nan):.3g}" for name in ("open", "fit", "n_iter")]
        lines.append([f"{size:,}", *cells, f"{found.get('peak', np.nan) / 1e6:,.0f}"])
        size *= 10
    columns = ["rows", "open, s", "the whole fit, s", "iterations", "peak, MB"]
    report.table(f"OneClusterPCM, 2 features, sigma {_SIGMA}", columns, lines)
    growth = _over_linear((sizes[0], times[0]), (sizes[-1], times[-1])) if len(sizes) > 1 else 1.0
    return [_below(f"OneClusterPCM, {sizes[-1]:,} x 2", found, limit), _linear(growth)]


def _below(name: str, found: Found, limit: float) -> Verdict:
    peak = found.get("peak", np.inf)
    enforced = "enforced by the system" if found["enforced"] else "not enforced"
    return Verdict(
        f"{name}: peak below {limit:g} GB ({enforced})",
        f"{peak / 1e9:.2f} GB",
        (peak < 1e9 * limit,),
    )


def _linear(growth: float) -> Verdict:
    target = f"time grows at most linearly, x {_GROWTH} a doubling"
    return Verdict(target, f"x {growth:.2f}", (growth <= _GROWTH,))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--limit", type=float, default=1.5)
    parser.add_argument("--density", type=int, default=0)
    parser.add_argument("--density-limit", type=float, default=4.0)
    parser.add_argument("--task", nargs=2)
    arguments = parser.parse_args()
    if arguments.task:
        name, path = arguments.task
        found = TASKS[name](Path(path), arguments.iterations)
        print(json.dumps(found | {"peak": resident_peak()}))
        return
    report = Report()
    for line in machine():
        report.line(line)
    verdicts = []
    if arguments.rows:
        verdicts += show_clusters(report, arguments.rows, arguments.iterations, arguments.limit)
    if arguments.density:
        verdicts += show_density(report, arguments.density, arguments.density_limit)
    report.verdicts(verdicts)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
