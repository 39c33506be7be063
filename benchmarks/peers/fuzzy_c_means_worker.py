"""Run the package fuzzy-c-means on request, in an environment of its own.

`fuzzy_c_means_worker.py X.npy N_CLUSTERS` reads requests `["seconds", n_iter]`, one line of JSON
each, and answers each with a line of JSON.
"""

import json
import sys
import time

import numpy as np
from fcmeans import FCM

from _memory import measure_memory

_SMALLEST_ERROR = 1e-9  # the package takes no smaller tolerance
_WARM_ROWS = 1000


class Worker:
    """The data, and the requests that can be made."""

    def __init__(self, X: np.ndarray, n_clusters: int) -> None:
        self.X = X
        self.n_clusters = n_clusters

    def fit(self, n_iter: int) -> FCM:
        """A model after so many iterations from the same start."""
        model = FCM(
            n_clusters=self.n_clusters, max_iter=n_iter, error=_SMALLEST_ERROR, random_state=0
        )
        model.fit(self.X)
        return model

    def seconds(self, n_iter: int) -> float:
        """How long a fit takes."""
        start = time.perf_counter()
        self.fit(n_iter)
        return time.perf_counter() - start

    def memory(self, n_iter: int) -> "tuple[int, int]":
        """The growth of memory during a fit, in bytes."""
        return measure_memory(lambda: self.fit(n_iter))

    def still_moving(self, n_iter: int) -> bool:
        """Whether one iteration more changes the centres, so that none was left out before."""
        return bool((self.fit(n_iter).centers != self.fit(n_iter + 1).centers).any())

    def labels(self, n_iter: int) -> "list[int]":
        """The cluster of each row after so many iterations at the most."""
        return self.fit(n_iter).predict(self.X).tolist()


def main(path: str, n_clusters: str) -> None:
    X = np.load(path)
    Worker(X[:_WARM_ROWS], int(n_clusters)).fit(1)
    worker = Worker(X, int(n_clusters))
    for line in sys.stdin:
        what, n_iter = json.loads(line)
        print(json.dumps(getattr(worker, what)(n_iter)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
