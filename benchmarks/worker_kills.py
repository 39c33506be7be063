"""Kill Dask workers (SIGKILL) in the middle of fits, and compare the bits of the results.

`python benchmarks/worker_kills.py [--kills N] [--rows N]` starts a `LocalCluster` of two worker
processes for each fit. A fit that nobody disturbs gives the bits that are expected, and the number
of its passes. Then the same fit runs again, and a worker is killed during one of the passes, N
times for each of

- `FuzzyCMeans` in the input space,
- `OneClusterPCM` with a Gaussian kernel, by Fourier sums,
- `FuzzyCMeans` with a Gaussian kernel, by the features of Nystroem.

Blocks are made by the workers from seeds, so they can be made again. Printed are the kills that hit
a fit in progress, and how many of these fits ended with the same bits, by a hash of all numbers of
the model. The exit code is 1 if one did not.
"""

import argparse
import hashlib
import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from _report import Report, Verdict, machine
from typicality import FuzzyCMeans, OneClusterPCM
from typicality.rows.dask import DaskRows

_BLOCKS, _FEATURES = 8, 2
_DELAY = 0.02  # seconds from the start of a pass
_FITS: dict[str, Callable[[], Any]] = {
    "FuzzyCMeans, input space": lambda: FuzzyCMeans(5, random_state=0, tol=1e-7),
    "OneClusterPCM, Fourier": lambda: OneClusterPCM(sigma=1.0, algorithm="nufft"),
    "FuzzyCMeans, Nystroem": lambda: FuzzyCMeans(
        5, kernel="gaussian", sigma=2.0, algorithm="nystroem", random_state=0, tol=1e-4
    ),
}


def make_block(seed: int, n_rows: int) -> Any:
    """Normal clusters about five centers, the same for the same seed."""
    centers = np.random.default_rng(0).uniform(0, 20, size=(5, _FEATURES))
    rng = np.random.default_rng([1, seed])
    rows = centers[rng.integers(5, size=n_rows)]
    return rows + rng.normal(size=rows.shape)


def rows_of(n_rows: int) -> Any:
    """The blocks as a Dask array."""
    size = n_rows // _BLOCKS
    make = dask.delayed(make_block, pure=True)
    parts = [
        da.from_delayed(make(seed, size), (size, _FEATURES), np.float64) for seed in range(_BLOCKS)
    ]
    return da.concatenate(parts)


def bits_of(model: Any) -> str:
    """A hash of the numbers of a model and of what it gives for the rows."""
    names = ("objective_path_", "cluster_centers_", "objective_", "eta_", "offset_", "n_iter_")
    digest = hashlib.sha256()
    for name in names:
        digest.update(np.asarray(getattr(model, name, 0)).tobytes())
    lazy = model.typicality_ if isinstance(model, OneClusterPCM) else model.labels_
    digest.update(np.asarray(lazy.compute()).tobytes())
    return digest.hexdigest()


class Killer:
    """A context in which one worker process is killed during a pass over the rows.

    Parameters
    ----------
    cluster : LocalCluster
        Its workers.
    at : int, optional
        The number of the pass; none is killed if it is left out.
    """

    def __init__(self, cluster: LocalCluster, at: int | None = None) -> None:
        self._cluster, self._at = cluster, at
        self.n_passes = 0
        self.killed = False

    def __enter__(self) -> "Killer":
        self._fold = DaskRows.fold

        def fold(rows: DaskRows, function: Any) -> Any:
            self.n_passes += 1
            if self.n_passes != self._at:
                return self._fold(rows, function)
            timer = threading.Timer(_DELAY, self._kill)
            timer.start()
            found = self._fold(rows, function)
            timer.join()
            return found

        DaskRows.fold = fold  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        DaskRows.fold = self._fold  # type: ignore[method-assign]

    def _kill(self) -> None:
        victim = random.choice(list(self._cluster.workers.values()))
        os.kill(victim.pid, signal.SIGKILL)
        self.killed = True


@contextmanager
def two_workers() -> Iterator[LocalCluster]:
    """A cluster of two worker processes."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    quiet = {"silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=2, **options, **quiet) as cluster, Client(cluster):
        yield cluster


def count(report: Report, build: Callable[[], Any], X: Any, n_kills: int) -> tuple[int, int, int]:
    """Workers killed during a fit, fits with the same bits after that, and passes of a fit."""
    with two_workers() as cluster, Killer(cluster) as quiet:
        expected = bits_of(build().fit(X))
    hits = same = 0
    for number in range(n_kills):
        at, began = random.randint(1, quiet.n_passes - 1), time.perf_counter()
        with two_workers() as cluster, Killer(cluster, at) as killer:
            found = bits_of(build().fit(X))
        hits += killer.killed
        same += killer.killed and found == expected
        took = time.perf_counter() - began
        report.progress(
            f"kill {number + 1} in pass {at} of {quiet.n_passes}, {took:.1f} s; {same} of {hits} "
            "with the same bits"
        )
    return hits, same, quiet.n_passes


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--rows", type=int, default=80_000)
    arguments = parser.parse_args()
    random.seed(0)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    report = Report()
    for line in machine("dask", "distributed"):
        report.line(line)
    X, rows, verdicts = rows_of(arguments.rows), [], []
    # Workers that ask a killed one for sums try for 30 s, unless they are told otherwise.
    os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "10s"
    for name, build in _FITS.items():
        report.progress(name)
        hits, same, n_passes = count(report, build, X, arguments.kills)
        rows.append([name, str(n_passes), str(hits), str(same)])
        verdicts.append(
            Verdict(
                f"{name}: {arguments.kills} kills, the same bits after each",
                f"{same} of {hits}",
                (same == hits == arguments.kills,),
            )
        )
    columns = ["fit", "passes of a fit", "workers killed in a fit", "same bits"]
    report.table(f"{arguments.rows:,} x {_FEATURES} rows, two workers", columns, rows)
    report.verdicts(verdicts)
    sys.exit(any(verdict.word != "PASS" for verdict in verdicts))


if __name__ == "__main__":
    main()
