"""Fuzzy c-means on Dask: time, memory and bytes of an iteration on 1, 2, 4 and 8 worker processes.

`python benchmarks/dask_workers.py [--rows N] [--workers 1 2 4 8]` writes an npy file of `rows` x 8
normal clusters and starts a `LocalCluster` of each size, one thread a worker. Workers read their
blocks from the file in every pass. Printed are

- the parts of the model: seconds to read a row and to compute with it, in one process without Dask,
  and seconds of a pass over blocks of 100 rows, which is what Dask and its scheduler cost;
- an iteration for each number of workers, beside what the model predicts;
- seconds of the processor in a pass over blocks of 100 rows, of the client with the scheduler and
  of all workers together: other programs on the machine hardly change them;
- the peak of the resident memory of the client (with the scheduler) and of the largest worker;
- the bytes of all messages that all processes send in an iteration, as `distributed` counts them
  when it writes to a connection, and the same for blocks of 100 rows: they must not depend on the
  rows in a block. What is sent while nothing is computed is measured and taken off.

The tables go to `benchmarks/results/dask_workers.md`. `docs/many_rows.md` explains the model.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_limits

from _large_files import (
    CLUSTERS,
    FEATURES,
    blocks_of,
    centers,
    read_block,
    resident_peak,
    write_file,
)
from _report import Report, Verdict, machine
from typicality import FuzzyCMeans
from typicality.geometry import InputSpace
from typicality.membership import Fuzzy
from typicality.rows import ArrayRows, as_rows

_RESULTS = Path(__file__).resolve().parent / "results" / "dask_workers.md"
_BLOCK = 2**18  # rows
_TINY = 100  # rows of a block whose work is nothing
_MANY = 4  # times as many tiny blocks, to see the cost of one
_REPEATS = 3
_QUIET = 2.0  # seconds in which nothing is computed
_TOLERANCE = 1.3  # how far an iteration may be from the prediction
_RULE = Fuzzy(2.0)


class Pass(NamedTuple):
    """Seconds of the quickest of some passes; bytes and seconds of the processor of a median one.

    `client` is the process of the client and the scheduler, `workers` are all others together.
    """

    seconds: float
    sent: float
    client: float
    workers: float


class Parts(NamedTuple):
    """Seconds a row to read and to compute with, of one process; rows are in the page cache."""

    read: float
    compute: float


class Found(NamedTuple):
    """What was measured on a cluster."""

    tiny: Pass
    many_tiny: Pass
    iteration: Pass
    client: int
    workers: int
    idle: float


def best(work: Callable[[], object], repeats: int = _REPEATS) -> float:
    """Seconds of the quickest of some calls, after one that does not count."""
    work()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def parts_of(path: Path, n_rows: int) -> Parts:
    """Reading and computing in this process and one thread, over eight blocks."""
    starts = range(0, min(n_rows, 8 * _BLOCK), _BLOCK)
    n = min(n_rows, 8 * _BLOCK)
    read = best(lambda: [read_block(path, start, _BLOCK) for start in starts])
    block = read_block(path, 0, _BLOCK)
    space = InputSpace(ArrayRows(block))
    prototypes = space.at(centers() + 1.0)
    with threadpool_limits(1):
        compute = best(lambda: space.sweep(_RULE, prototypes))
    return Parts(read / n, compute / len(block))


# ---- bytes ---------------------------------------------------------------------------------------


def count_messages() -> None:
    """Count the bytes that this process sends; every connection of Dask writes by this method."""
    from distributed.comm.tcp import TCP

    if hasattr(TCP, "n_sent"):
        return
    write, TCP.n_sent = TCP.write, 0

    async def counted(self: Any, *arguments: Any, **options: Any) -> int:
        n_bytes: int = await write(self, *arguments, **options)
        TCP.n_sent += n_bytes
        return n_bytes

    TCP.write = counted


def sent_here() -> int:
    """What was counted in this process."""
    from distributed.comm.tcp import TCP

    return int(TCP.n_sent)


class Counter:
    """The bytes that all processes of a cluster have sent."""

    def __init__(self, client: Client) -> None:
        self._client = client
        count_messages()
        client.run(count_messages)
        began, before = time.perf_counter(), self()
        time.sleep(_QUIET)
        self.idle = (self() - before) / (time.perf_counter() - began)

    def __call__(self) -> int:
        """The bytes so far."""
        return sent_here() + sum(self._client.run(sent_here).values())

    def processor(self) -> float:
        """The seconds of the processor that all workers have taken."""
        return float(sum(self._client.run(time.process_time).values()))


# ---- clusters ------------------------------------------------------------------------------------


def timed(X: Any, counter: Counter) -> Pass:
    """Iterations of fuzzy c-means, from the same prototypes."""
    space = InputSpace(as_rows(X))
    prototypes = space.at(centers() + 1.0)
    space.sweep(_RULE, prototypes)  # workers have loaded all code
    seconds, sent, client, workers = [], [], [], []
    for _ in range(_REPEATS):
        before, spent = counter(), counter.processor()
        here, began = time.process_time(), time.perf_counter()
        space.sweep(_RULE, prototypes)
        seconds.append(time.perf_counter() - began)
        client.append(time.process_time() - here)
        workers.append(counter.processor() - spent)
        sent.append(counter() - before - counter.idle * seconds[-1])
    return Pass(min(seconds), *(float(np.median(each)) for each in (sent, client, workers)))


def on_cluster(path: Path, n_rows: int, n_workers: int) -> Found:
    """An iteration, and the cost of blocks of 100 rows, as many and more."""
    n_blocks = -(-n_rows // _BLOCK)
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        if len(client.scheduler_info()["workers"]) != n_workers:
            raise RuntimeError(f"the cluster does not have {n_workers} worker(s)")
        counter = Counter(client)
        tiny, many = (
            timed(blocks_of(path, n * _TINY, _TINY), counter) for n in (n_blocks, _MANY * n_blocks)
        )
        iteration = timed(blocks_of(path, n_rows, _BLOCK), counter)
        peaks = client.run(resident_peak)
        return Found(tiny, many, iteration, resident_peak(), max(peaks.values()), counter.idle)


def whole_fit(path: Path, n_rows: int, n_workers: int, n_iterations: int) -> float:
    """Seconds of a fit: checks, features and far rows of the data, iterations, labels counted."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster):
        model = FuzzyCMeans(CLUSTERS, init=centers() + 1.0, tol=0.0, max_iter=n_iterations)
        model.fit(blocks_of(path, 10 * _TINY, _TINY))  # workers have loaded all code
        began = time.perf_counter()
        model.fit(blocks_of(path, n_rows, _BLOCK))
        return time.perf_counter() - began


def predicted(parts: Parts, tiny: Pass, n_rows: int, n_workers: int) -> float:
    """Work of the worker with the most blocks, after what Dask needs for blocks of no work."""
    n_blocks = -(-n_rows // _BLOCK)
    rows = min(n_rows, -(-n_blocks // n_workers) * _BLOCK)
    return tiny.seconds + rows * (parts.read + parts.compute)


def show(report: Report, parts: Parts, n_rows: int, found: dict[int, Found]) -> list[Verdict]:
    """Tables and verdicts."""
    n_blocks = -(-n_rows // _BLOCK)
    report.line(
        f"{n_rows:,} x {FEATURES} rows in {n_blocks} blocks, {CLUSTERS} clusters. One process: "
        f"{1e9 * parts.read:.1f} ns to read a row, {1e9 * parts.compute:.1f} ns to compute with it."
    )
    rows, verdicts = [], []
    for n_workers, one in found.items():
        expected = predicted(parts, one.tiny, n_rows, n_workers)
        ratio = one.iteration.seconds / expected
        each = (one.many_tiny.seconds - one.tiny.seconds) / ((_MANY - 1) * n_blocks)
        rows.append(
            [
                *[str(n_workers), f"{one.iteration.seconds:.3f}", f"{expected:.3f}"],
                *[f"{ratio:.2f}", f"{1e3 * one.tiny.seconds:.0f}", f"{1e3 * each:.2f}"],
                *[f"{1e3 * each / n_blocks:.2f}" for each in (one.tiny.client, one.tiny.workers)],
                *[f"{one.client / 1e6:.0f}", f"{one.workers / 1e6:.0f}"],
            ]
        )
        verdicts.append(
            Verdict(
                f"{n_workers} worker(s): within x {_TOLERANCE} of the model",
                f"x {ratio:.2f}",
                (1 / _TOLERANCE <= ratio <= _TOLERANCE,),
            )
        )
    columns = ["workers", "an iteration, s", "model, s", "ratio", "blocks of 100 rows, ms"]
    columns += ["a block more, ms", "client, CPU ms a block", "workers, CPU ms a block"]
    columns += ["client, MB", "largest worker, MB"]
    report.table("Time and peak memory", columns, rows)
    columns = ["workers", "an iteration, kB", f"blocks of {_TINY} rows, kB", "ratio"]
    columns += [f"{_MANY} x the blocks, kB", "a block, kB", "idle, kB/s"]
    rows = [
        [
            *[str(n), f"{one.iteration.sent / 1e3:.0f}", f"{one.tiny.sent / 1e3:.0f}"],
            *[f"{one.iteration.sent / one.tiny.sent:.2f}", f"{one.many_tiny.sent / 1e3:.0f}"],
            *[f"{one.iteration.sent / n_blocks / 1e3:.1f}", f"{one.idle / 1e3:.1f}"],
        ]
        for n, one in found.items()
    ]
    report.table("Bytes that all processes send", columns, rows)
    return verdicts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--iterations", type=int, default=10, help="of a whole fit; 0: none")
    parser.add_argument("--file", type=Path, help="made by an earlier run, with as many rows")
    arguments = parser.parse_args()
    report = Report()
    for line in machine("dask", "distributed"):
        report.line(line)
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.file or Path(folder) / "rows.npy"
        if not path.exists():
            report.progress(f"Writing {arguments.rows:,} rows")
            write_file(path, arguments.rows)
        parts, found = parts_of(path, arguments.rows), {}
        for n_workers in arguments.workers:
            report.progress(f"{n_workers} worker(s)")
            found[n_workers] = one = on_cluster(path, arguments.rows, n_workers)
            report.progress(f"{one}")
        verdicts = show(report, parts, arguments.rows, found)
        if arguments.iterations:
            most = max(arguments.workers)
            seconds = whole_fit(path, arguments.rows, most, arguments.iterations)
            report.line(
                f"A fit of {arguments.iterations} iterations on {most} workers: {seconds:.1f} s."
            )
    report.verdicts(verdicts)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
