"""Fuzzy c-means on more rows than memory: from a file, and on two Dask workers, beside peers.

`python benchmarks/larger_than_memory.py [--rows N] [--iterations N] [--limit GB] [--skip-dask]`
writes an npy file of `rows` x 8 normal clusters and measures, each in a process of its own:
`FuzzyCMeans` from the file, the same in memory where it fits, and scikit-learn's
`MiniBatchKMeans.partial_fit` over the same blocks. With a memory cgroup that can be written to
(version 1, as root), the processes run under the limit; otherwise the peak is only compared with
it. On Dask the blocks are read by the workers, and the bytes over the loopback interface are
counted for each iteration. Growth is measured from a fifth of the rows. The table goes to
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

_RESULTS = Path(__file__).resolve().parent / "results" / "larger_than_memory.md"
_FEATURES, _CLUSTERS = 8, 10
_BLOCK = 2**18  # rows
_SMALLER = 5  # times fewer rows, to see growth
_CGROUP = Path("/sys/fs/cgroup/memory")


def _centers() -> Any:
    return np.random.default_rng(0).uniform(0, 20, size=(_CLUSTERS, _FEATURES))


def write_file(path: Path, n_rows: int) -> None:
    """Normal clusters about random centers, block by block."""
    rng, centers = np.random.default_rng(1), _centers()
    header = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, _FEATURES)}
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for start in range(0, n_rows, _BLOCK):
            size = min(_BLOCK, n_rows - start)
            rows = centers[rng.integers(_CLUSTERS, size=size)]
            (rows + rng.normal(size=rows.shape)).tofile(stream)


def timed(X: Any, n_iterations: int) -> dict[str, float]:
    """Fits of 1 and of 1 + n iterations from the same start: seconds and bytes of an iteration."""
    from typicality import FuzzyCMeans

    seconds, sent = [], []
    for n in (1, 1, 1 + n_iterations):  # the first compiles
        before, began = _loopback(), time.perf_counter()
        model = FuzzyCMeans(
            _CLUSTERS, m=2.0, init=_centers() + 1.0, tol=0.0, max_iter=n, store_memberships=False
        ).fit(X)
        seconds.append(time.perf_counter() - began)
        sent.append(_loopback() - before)
    return {
        "fit": seconds[-1],
        "iteration": (seconds[-1] - seconds[-2]) / n_iterations,
        "sent": (sent[-1] - sent[-2]) / n_iterations,
        "J": model.objective_,
    }


# ---- tasks, each in a process of its own ---------------------------------------------------------


def from_file(path: Path, n_iterations: int) -> dict[str, float]:
    """Our estimator on the file."""
    from typicality import open_rows

    began = time.perf_counter()
    rows = open_rows(path)
    return {"open": time.perf_counter() - began} | timed(rows, n_iterations)


def in_memory(path: Path, n_iterations: int) -> dict[str, float]:
    """Our estimator on the array."""
    began = time.perf_counter()
    X = np.load(path)
    return {"open": time.perf_counter() - began} | timed(X, n_iterations)


def mini_batch(path: Path, n_iterations: int) -> dict[str, float]:
    """scikit-learn's k-means on the same blocks, as many passes."""
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(_CLUSTERS, init=_centers() + 1.0, n_init=1)
    X = np.load(path, mmap_mode="r")
    began = time.perf_counter()
    for _ in range(n_iterations):
        for start in range(0, len(X), _BLOCK):
            model.partial_fit(np.asarray(X[start : start + _BLOCK]))
    seconds = time.perf_counter() - began
    return {"open": 0.0, "fit": seconds, "iteration": seconds / n_iterations}


def on_dask(path: Path, n_iterations: int) -> dict[str, float]:
    """Our estimator on two worker processes that read the file."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    n_rows, n_features = np.load(path, mmap_mode="r").shape

    def block(start: int) -> Any:
        return np.array(np.load(path, mmap_mode="r")[start : start + _BLOCK])

    read = dask.delayed(block, pure=True)
    parts = [
        da.from_delayed(read(start), (min(_BLOCK, n_rows - start), n_features), np.float64)
        for start in range(0, n_rows, _BLOCK)
    ]
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        found = timed(da.concatenate(parts), n_iterations)
        found["workers"] = max(client.run(_status, "VmHWM").values())
    return {"open": 0.0} | found


TASKS = {
    "FuzzyCMeans, file": from_file,
    "FuzzyCMeans, array": in_memory,
    "MiniBatchKMeans, file": mini_batch,
    "FuzzyCMeans, two Dask workers": on_dask,
}


def _status(name: str) -> int:
    """A size in bytes that the system knows of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))


def _loopback() -> int:
    """The bytes received over the loopback interface."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))


def _limited(limit: float) -> Path | None:
    """A memory cgroup with a limit, if one can be made."""
    group = _CGROUP / f"typicality-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(int(limit * 1e9)))
    except OSError:
        return None
    return group


def measure(task: str, path: Path, n_iterations: int, limit: float | None) -> dict[str, float]:
    """One task in a fresh process, under the limit where there is one."""
    group = None if limit is None else _limited(limit)

    def enter() -> None:
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    command = [sys.executable, "-W", "ignore", __file__, "--task", task, str(path)]
    done = subprocess.run(
        [*command, "--iterations", str(n_iterations)],
        stdout=subprocess.PIPE, text=True, check=False, preexec_fn=enter,
    )  # fmt: skip
    if group is not None:
        group.rmdir()
    if done.returncode:
        return {"failed": float(done.returncode)}
    return json.loads(done.stdout.splitlines()[-1]) | {"limited": float(group is not None)}


def _words(n_rows: int, task: str, found: dict[str, float]) -> list[str]:
    if "failed" in found:
        return [task, f"{n_rows:,}", "failed", "", "", ""]
    each = found["iteration"]
    sent = f"{found['sent'] / 1e6:.2f} MB" if "workers" in found else ""
    peak = max(found["peak"], found.get("workers", 0))
    return [task, f"{n_rows:,}", f"{found['open']:.1f}", f"{each:.2f}", f"{peak / 1e6:,.0f}", sent]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--limit", type=float, default=1.5)
    parser.add_argument("--skip-dask", action="store_true")
    parser.add_argument("--task", nargs=2)
    arguments = parser.parse_args()
    n_iterations = arguments.iterations
    if arguments.task:
        name, path = arguments.task
        found = TASKS[name](Path(path), n_iterations)
        print(json.dumps(found | {"peak": _status("VmHWM")}))
        return
    report = Report()
    for line in machine():
        report.line(line)
    lines, out = [], {}
    for n_rows in (arguments.rows // _SMALLER, arguments.rows):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npy"
            report.progress(f"Writing {n_rows:,} rows")
            write_file(path, n_rows)
            for task in TASKS:
                if arguments.skip_dask and "Dask" in task:
                    continue
                free = task == "FuzzyCMeans, array" or "Dask" in task
                report.progress(f"{task}, {n_rows:,} rows")
                limit = None if free else arguments.limit
                out[task, n_rows] = found = measure(task, path, n_iterations, limit)
                lines.append(_words(n_rows, task, found))
    columns = ["task", "rows", "open, s", "an iteration, s", "peak, MB", "sent an iteration"]
    report.table(f"{_FEATURES} features, {_CLUSTERS} clusters", columns, lines)
    large = out["FuzzyCMeans, file", arguments.rows]
    small = out["FuzzyCMeans, file", arguments.rows // _SMALLER]
    under = "enforced" if large.get("limited") else "not enforced"
    growth = large.get("iteration", np.inf) / small.get("iteration", np.inf) / _SMALLER
    report.verdicts(
        [
            Verdict(
                f"peak below {arguments.limit:g} GB (limit {under})",
                f"{large.get('peak', np.inf) / 1e9:.2f} GB",
                (large.get("peak", np.inf) < 1e9 * arguments.limit,),
            ),
            Verdict(
                f"{_SMALLER} times the rows take at most {_SMALLER} x 1.15 the time",
                f"{growth:.2f} x",
                (growth <= 1.15,),
            ),
        ]
    )
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
