"""One clustering of a large set, watched: `_adaptive_fit.py NAME N_ROWS`.

It prints a line of JSON. It is meant for a fresh process: the peak of its memory is then that of
the fit.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from _memory import ResidentPeak
from typicality import AdaptivePCM, SequentialPCM, SparseAdaptivePCM

__all__ = ["CONTESTANTS", "N_CLUSTERS", "N_FEATURES", "PEER", "LargeFit"]

N_CLUSTERS, N_FEATURES = 20, 4
PEER = f"KMeans({N_CLUSTERS}), which is told the number"
_EXTENT, _SPREAD = 100.0, 3.0
_WARM_ROWS = 2000
_INTERVAL = 0.002  # seconds between two looks at memory

_ALL = {"assign": "all", "store_memberships": False}
CONTESTANTS: dict[str, Callable[[], Any]] = {
    PEER: partial(KMeans, N_CLUSTERS, random_state=0),
    "AdaptivePCM(40)": partial(AdaptivePCM, 40, store_memberships=False),
    "SparseAdaptivePCM(40, lam=0.05)": partial(SparseAdaptivePCM, 40, lam=0.05, **_ALL),
    "SequentialPCM(lam=0.05)": partial(SequentialPCM, lam=0.05, **_ALL),
    'SequentialPCM(lam="auto")': partial(SequentialPCM, **_ALL),
}


class LargeFit(NamedTuple):
    """What a fit took and found: seconds, bytes beyond X and in all, clusters, agreement."""

    seconds: float
    growth: int
    peak: int
    n_clusters: int
    ari: float
    n_iter: int


def draw(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Normal clusters of equal spread at random places."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(0, _EXTENT, size=(N_CLUSTERS, N_FEATURES))
    truth = rng.integers(N_CLUSTERS, size=n_rows)
    return centers[truth] + _SPREAD * rng.standard_normal((n_rows, N_FEATURES)), truth


def watch(name: str, n_rows: int) -> LargeFit:
    build = CONTESTANTS[name]
    build().fit(draw(_WARM_ROWS)[0])  # loads and compiles all code
    X, truth = draw(n_rows)
    with ResidentPeak(_INTERVAL) as resident:
        start = time.perf_counter()
        model = build().fit(X)
        seconds = time.perf_counter() - start
    n_clusters = len(np.unique(model.labels_))
    ari = float(adjusted_rand_score(truth, model.labels_))
    return LargeFit(seconds, resident.growth, resident.peak, n_clusters, ari, int(model.n_iter_))


if __name__ == "__main__":
    print(json.dumps(watch(sys.argv[1], int(sys.argv[2]))))
