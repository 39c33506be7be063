"""How often labels of alpha-cuts differ when the tree is that of a sample of the rows.

`python benchmarks/cut_samples.py [--rows N]` fits `AlphaCutClustering(kernel="gaussian")` to all
rows in memory, and to the same rows block by block, where the tree is grown on a sample of distinct
rows and every row is labelled: with the sample of 131,072 rows that the library uses, and with
a smaller one of the same width. Heights are sums over all rows, as the library takes them, or over
the sample (`algorithm="truncated"`). Printed are the nodes of the trees, the numbers of clusters,
the share of rows whose label differs once clusters are matched, the adjusted Rand index, and
seconds of the processor. The table goes to `benchmarks/results/cut_samples.md`.
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from _report import Report, machine
from typicality import AlphaCutClustering
from typicality.rows import LARGEST_SAMPLE, ArrayRows, base

_RESULTS = Path(__file__).resolve().parent / "results" / "cut_samples.md"
_SIZES = (LARGEST_SAMPLE, LARGEST_SAMPLE // 8)


# The automatic choice of the scale takes 50,000 rows in memory, too: no tree of all rows.
_HEIGHTS = {"all rows": "auto", "the sample": "truncated"}  # by algorithm


def data_sets(n_rows: int) -> dict[str, Any]:
    """Normal clusters, moons with noise, and clusters of very different sizes."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(0, 30, size=(8, 2))
    blobs = centers[rng.integers(8, size=n_rows)] + rng.normal(size=(n_rows, 2))
    moons = make_moons(n_rows, noise=0.06, random_state=0)[0]
    moons[: n_rows // 50] = rng.uniform(-2, 3, size=(n_rows // 50, 2))
    shares = 2.0 ** -np.arange(8)
    corners = np.array([[i % 4, i // 4] for i in range(8)]) * 12.0
    unequal = corners[rng.choice(8, size=n_rows, p=shares / shares.sum())]
    unequal = unequal + rng.normal(size=(n_rows, 2))
    return {"8 normal clusters": blobs, "moons, 2 % noise": moons, "sizes 1 to 1/128": unequal}


def differing(some: Any, others: Any) -> float:
    """The share of rows whose label differs, clusters matched and noise apart."""
    table = contingency_matrix(np.append(some, -1), np.append(others, -1)).astype(float)
    table[0, 0] -= 1  # the row that makes sure that both have noise
    clusters = table[1:, 1:]
    matched = linear_sum_assignment(-clusters)
    return 1.0 - (table[0, 0] + clusters[matched].sum()) / len(some)


def of_sample(X: Any, size: int, sigma: float, algorithm: str) -> Any:
    """The model of a tree of so many rows."""
    estimator = AlphaCutClustering(kernel="gaussian", sigma=sigma, algorithm=algorithm)
    with (
        mock.patch.object(base, "LARGEST_SAMPLE", size),
        mock.patch.object(base.Rows.sample, "__defaults__", (size,)),
    ):
        return estimator.fit(ArrayRows(X, cuts=range(2**17, len(X), 2**17)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=300_000)
    n_rows = parser.parse_args().rows
    warnings.simplefilter("ignore")
    report = Report()
    for line in machine():
        report.line(line)
    lines = []
    for name, X in data_sets(n_rows).items():
        report.progress(f"{name}, the full tree")
        began = time.process_time()
        full = AlphaCutClustering(kernel="gaussian").fit(X)
        report.progress(f"{time.process_time() - began:.0f} s; {full.plan_}")
        for size, (heights, algorithm) in product(_SIZES, _HEIGHTS.items()):
            began = time.process_time()
            model = of_sample(X, size, full.sigma_, algorithm)
            lines.append(
                [
                    *[name, heights, f"{full.tree_.n_nodes:,}", f"{model.tree_.n_nodes:,}"],
                    *[str(full.n_clusters_), str(model.n_clusters_)],
                    f"{differing(full.labels_, model.labels_):.2%}",
                    f"{adjusted_rand_score(full.labels_, model.labels_):.4f}",
                    f"{time.process_time() - began:.0f}",
                ]
            )
            report.progress(" | ".join(lines[-1]))
    columns = ["rows", "heights from", "full tree", "tree of the sample", "clusters"]
    columns += ["of the sample", "labels that differ", "Rand index", "s"]
    report.table(f"{n_rows:,} x 2 rows", columns, lines)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
