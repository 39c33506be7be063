"""Fuzzy c-means on Dask: the time and memory of an iteration on 1, 2, 4 and 8 worker processes.

`python benchmarks/dask_workers.py [--rows N] [--workers 1 2 4 8]` writes an npy file of `rows` x 8
normal clusters and starts a `LocalCluster` of each size, one thread a worker. Workers read their
blocks from the file in every pass. An iteration is the difference of fits of 1 and of 1 + n
iterations, divided by n. The same for blocks of 100 rows is what Dask and its scheduler cost. Peaks
of the resident memory are of the client (with the scheduler) and of the largest worker. The table
goes to `benchmarks/results/dask_workers.md`.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from _report import Report, machine
from _sets import file_centers, write_file
from _timing import resident_peak, seconds
from typicality import FuzzyCMeans

_RESULTS = Path(__file__).resolve().parent / "results" / "dask_workers.md"
_BLOCK, _TINY = 2**18, 100  # rows
_FEATURES = 8


def read_block(path: Path, start: int, n_rows: int) -> Any:
    """Some rows of the file."""
    return np.array(np.load(path, mmap_mode="r")[start : start + n_rows])


def blocks_of(path: Path, n_rows: int, block: int) -> Any:
    """The first rows of the file as a Dask array; workers read their blocks."""
    read = dask.delayed(read_block, pure=True)
    parts = []
    for start in range(0, n_rows, block):
        size = min(block, n_rows - start)
        parts.append(da.from_delayed(read(path, start, size), (size, _FEATURES), np.float64))
    return da.concatenate(parts)


def iteration(X: Any, n_iterations: int) -> float:
    """Seconds of an iteration."""
    start = file_centers(_FEATURES) + 1.0

    def fit(n_iter: int) -> float:
        model = FuzzyCMeans(len(start), m=2.0, init=start, tol=0.0, max_iter=n_iter)
        return seconds(lambda: model.fit(X))

    fit(1)  # workers have loaded all code
    return (fit(1 + n_iterations) - fit(1)) / n_iterations


def on_cluster(path: Path, n_rows: int, n_workers: int, n_iterations: int) -> list[str]:
    """An iteration over all rows, one over as many tiny blocks, and the peaks of memory."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        n_blocks = -(-n_rows // _BLOCK)
        tiny = iteration(blocks_of(path, min(n_rows, n_blocks * _TINY), _TINY), n_iterations)
        whole = iteration(blocks_of(path, n_rows, _BLOCK), n_iterations)
        peaks = client.run(resident_peak)
    memory = [f"{peak / 1e6:.0f}" for peak in (resident_peak(), max(peaks.values()))]
    return [str(n_workers), f"{whole:.3f}", f"{1e3 * tiny:.0f}", *memory]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--iterations", type=int, default=5)
    options = parser.parse_args()
    report = Report()
    for line in machine("dask", "distributed"):
        report.line(line)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        report.progress(f"Writing {options.rows:,} rows")
        write_file(path, options.rows, _FEATURES)
        rows = []
        for n_workers in options.workers:
            report.progress(f"{n_workers} worker(s)")
            rows.append(on_cluster(path, options.rows, n_workers, options.iterations))
    columns = ["workers", "an iteration, s", f"blocks of {_TINY} rows, ms"]
    columns += ["client, MB", "largest worker, MB"]
    report.table(f"{options.rows:,} x {_FEATURES}, 10 clusters", columns, rows)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
