"""dask-ml's KMeans on the file of `dask_workers.py`, in an environment of its own.

`python benchmarks/peers/dask_ml_k_means.py FILE ROWS WORKERS ITERATIONS` needs `dask-ml` and
`distributed` and prints, as JSON, the seconds of an iteration (fits of 1 and of 1 + ITERATIONS from
the same start), those of the whole fit, and the peak memory of the client and of the workers.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

from dask_ml.cluster import KMeans
from distributed import Client, LocalCluster

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _large_files import CLUSTERS, blocks_of, centers, resident_peak

_BLOCK = 2**18  # rows


def main() -> None:
    path = Path(sys.argv[1])
    n_rows, n_workers, n_iterations = map(int, sys.argv[2:])
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        seconds = []
        for n, size in ((1, _BLOCK), (1, n_rows), (1 + n_iterations, n_rows)):  # the first: warm
            X = blocks_of(path, size, _BLOCK)
            began = time.perf_counter()
            KMeans(CLUSTERS, init=centers() + 1.0, max_iter=n, tol=0.0).fit(X)
            seconds.append(time.perf_counter() - began)
        found = {
            "dask-ml": version("dask-ml"),
            "workers": n_workers,
            "rows": n_rows,
            "iteration": (seconds[2] - seconds[1]) / n_iterations,
            "fit": seconds[2],
            "client_peak": resident_peak(),
            "worker_peak": max(client.run(resident_peak).values()),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
