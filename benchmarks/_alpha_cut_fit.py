"""One clustering of blobs, watched: `_alpha_cut_fit.py NAME N_ROWS N_FEATURES`.

It prints a line of JSON. It is meant for a fresh process: the peak of its memory is then that of
the fit.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN

from _memory import ResidentPeak
from typicality import AlphaCutClustering

__all__ = ["CONTESTANTS", "N_BLOBS", "ONE_WIDTH", "OURS", "SCIKIT_LEARN", "Peak", "draw", "warm_up"]

OURS = "AlphaCutClustering()"
ONE_WIDTH = 'AlphaCutClustering(kernel="gaussian")'
SCIKIT_LEARN = "HDBSCAN (scikit-learn)"
N_BLOBS = 9
_DISTANCE = 8.0  # between centres, in standard deviations of a blob
_WARM_ROWS = 500
_INTERVAL = 0.005  # seconds between two looks at memory


class Peak(NamedTuple):
    """The highest rise of memory during a fit, and all that the process held then, in bytes."""

    growth: int
    peak: int


def draw(n_rows: int, n_features: int, *, seed: int = 0) -> NDArray[np.float64]:
    """Rows of nine normal blobs of equal size, their centres on a grid in two of the features."""
    blob = np.arange(n_rows) % N_BLOBS
    X = np.random.default_rng(seed).standard_normal((n_rows, n_features))
    X[:, :2] += _DISTANCE * np.column_stack([blob % 3, blob // 3])
    return X


def _peer(package: str, **options: Any) -> Any:
    """HDBSCAN of a package that may not be there."""
    return lambda: import_module(package).HDBSCAN(min_cluster_size=10, **options)


CONTESTANTS: dict[str, Callable[[], Any]] = {
    OURS: AlphaCutClustering,
    ONE_WIDTH: lambda: AlphaCutClustering(kernel="gaussian"),
    SCIKIT_LEARN: lambda: HDBSCAN(min_cluster_size=10, copy=True),
}
if find_spec("hdbscan"):  # by default it starts processes, which takes longer than what they do
    CONTESTANTS["HDBSCAN (hdbscan)"] = _peer("hdbscan")
    CONTESTANTS["HDBSCAN (hdbscan, 1 process)"] = _peer("hdbscan", core_dist_n_jobs=1)
if find_spec("fast_hdbscan"):
    CONTESTANTS["HDBSCAN (fast_hdbscan)"] = _peer("fast_hdbscan")


def warm_up(name: str, n_features: int) -> None:
    """Load and compile all code."""
    CONTESTANTS[name]().fit(draw(_WARM_ROWS, n_features))


def main(name: str, n_rows: str, n_features: str) -> None:
    warm_up(name, int(n_features))
    X = draw(int(n_rows), int(n_features))
    with ResidentPeak(_INTERVAL) as resident:
        CONTESTANTS[name]().fit(X)
    print(json.dumps(Peak(resident.growth, resident.peak)))


if __name__ == "__main__":
    main(*sys.argv[1:])
