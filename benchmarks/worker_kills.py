"""Kill Dask workers (SIGKILL) in the middle of fits, and compare the bits of the results.

`python benchmarks/worker_kills.py [--kills N] [--rows N]` starts a `LocalCluster` of two worker
processes. A fit that nobody disturbs gives the bits that are expected, and the time that it takes.
Then the same fit runs again, and a worker is killed at a random moment of it, N times for each of

- `FuzzyCMeans` in the input space,
- `FuzzyCMeans` and `OneClusterPCM` in the space of a Gaussian kernel.

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
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from _report import Report, Verdict, machine
from typicality import FuzzyCMeans, OneClusterPCM

_BLOCKS, _FEATURES = 8, 2
_FITS: dict[str, Callable[[], Any]] = {
    "FuzzyCMeans, input space": lambda: FuzzyCMeans(5, random_state=0, tol=1e-7),
    "FuzzyCMeans, Gaussian kernel": lambda: FuzzyCMeans(
        5, kernel="gaussian", sigma=2.0, random_state=0, tol=1e-4
    ),
    "OneClusterPCM, Gaussian kernel": lambda: OneClusterPCM(sigma=1.0),
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
    """Kills one of the worker processes after some seconds.

    Parameters
    ----------
    cluster : LocalCluster
        Its workers.
    delay : float
        The seconds.
    """

    def __init__(self, cluster: LocalCluster, delay: float) -> None:
        self._cluster = cluster
        self.when: float | None = None
        self._timer = threading.Timer(delay, self._kill)
        self._timer.start()

    def _kill(self) -> None:
        nannies = [nanny for nanny in self._cluster.workers.values() if nanny.pid]
        os.kill(random.choice(nannies).pid, signal.SIGKILL)
        self.when = time.perf_counter()

    def wait(self) -> None:
        """Until it is done."""
        self._timer.join()


def count(
    report: Report, client: Client, build: Callable[[], Any], X: Any, n_kills: int
) -> tuple[int, int, float]:
    """Kills that hit a fit, fits with the same bits after one, and seconds of a quiet fit."""
    build().fit(X)  # workers have loaded all code
    began = time.perf_counter()
    expected = bits_of(build().fit(X))
    seconds = time.perf_counter() - began
    hits = same = 0
    for _ in range(5 * n_kills):
        if hits == n_kills:
            break
        client.wait_for_workers(2)
        started = time.perf_counter()
        killer = Killer(client.cluster, random.uniform(0.1, 0.8) * seconds)
        found = bits_of(build().fit(X))
        ended = time.perf_counter()
        killer.wait()
        if killer.when is not None and killer.when < ended:
            hits += 1
            same += found == expected
            report.progress(
                f"kill {hits} after {killer.when - started:.1f} s of {ended - started:.1f}"
            )
    return hits, same, seconds


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
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    # Workers that ask a killed one for sums try for 30 s, unless they are told otherwise.
    os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "3s"
    settings = {
        "distributed.scheduler.allowed-failures": 20,
        "distributed.comm.timeouts.connect": "3s",
    }
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, silence_logs=logging.CRITICAL, **options) as cluster,
        Client(cluster) as client,
    ):
        for name, build in _FITS.items():
            report.progress(name)
            hits, same, seconds = count(report, client, build, X, arguments.kills)
            rows.append([name, f"{seconds:.1f}", str(hits), str(same)])
            verdicts.append(
                Verdict(
                    f"{name}: {arguments.kills} kills, the same bits after each",
                    f"{same} of {hits}",
                    (same == hits == arguments.kills,),
                )
            )
    columns = ["fit", "seconds undisturbed", "workers killed in a fit", "same bits"]
    report.table(f"{arguments.rows:,} x {_FEATURES} rows, two workers", columns, rows)
    report.verdicts(verdicts)
    sys.exit(any(verdict.word != "PASS" for verdict in verdicts))


if __name__ == "__main__":
    main()
