"""Two normal blobs that touch: density-based methods beside fuzzy c-means.

`python benchmarks/touching_blobs.py [--draws N]` prints the mean adjusted Rand index of five
methods for 200 rows, half of them in each blob, at three combinations of features and distances.
The table of docs/guide/index.md comes from it. It also goes to
`benchmarks/results/touching_blobs.md`.
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

from _report import Report
from typicality import AlphaCutClustering, AutoClustering, FuzzyCMeans

_RESULTS = Path(__file__).resolve().parent / "results" / "touching_blobs.md"
_ROWS = 200
_CASES = ((2, 4.0), (5, 4.0), (10, 5.0))  # features, distance in standard deviations
_METHODS: dict[str, Callable[[], Any]] = {
    "AutoClustering": lambda: AutoClustering(random_state=0),
    "AlphaCutClustering": AlphaCutClustering,
    "HDBSCAN, 5 rows": lambda: HDBSCAN(min_cluster_size=5, copy=True),
    "HDBSCAN, 10 rows": lambda: HDBSCAN(min_cluster_size=10, copy=True),
    "FuzzyCMeans(2)": lambda: FuzzyCMeans(2, random_state=0),
}


def index(make: Callable[[], Any], n_features: int, distance: float, seed: int) -> float:
    """The adjusted Rand index of a method on one draw; unassigned rows are a cluster."""
    truth = np.arange(_ROWS) % 2
    X = np.random.default_rng(seed).normal(size=(_ROWS, n_features))
    X[:, 0] += distance * truth
    return float(adjusted_rand_score(truth, make().fit_predict(X)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    report, lines = Report(), []
    for n_features, distance in _CASES:
        report.progress(f"{n_features} features")
        means = [
            np.mean([index(make, n_features, distance, seed) for seed in range(draws)])
            for make in _METHODS.values()
        ]
        lines.append([str(n_features), f"{distance:g}", *(f"{mean:.2f}" for mean in means)])
    report.table(
        f"Two normal blobs, {_ROWS} rows: mean adjusted Rand index of {draws} draws",
        ["features", "distance", *_METHODS],
        lines,
    )
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
