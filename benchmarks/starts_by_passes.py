"""k-means|| over all rows beside k-means++ and max-min on a sample, for fuzzy c-means.

`python benchmarks/starts_by_passes.py [--rows N] [--seeds N]` draws data sets with more rows than
the sample of 131,072 holds, some with clusters that have a share of 1e-5 of the rows. Printed are
the mean squared distance of the rows to the nearest start, the objective of `FuzzyCMeans` relative
to the lowest one that any start found, and the clusters that have a center within two standard
deviations; means over the seeds. The table goes to `benchmarks/results/starts_by_passes.md`.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from _report import Report, machine
from typicality.geometry import InputSpace
from typicality.membership import Fuzzy, Hard
from typicality.rows import ArrayRows
from typicality.solve.picard import picard
from typicality.solve.starts import start_rows
from typicality.solve.step import Alternation, ClusterState

_RESULTS = Path(__file__).resolve().parent / "results" / "starts_by_passes.md"
_STARTS = ("k-means++", "k-means||", "max-min")
_NEAR = 4.0  # squared, in standard deviations


def data_sets(n_rows: int) -> Iterator[tuple[str, Any, Any]]:
    """Names, rows and centers; clusters have standard deviation 1."""
    rng = np.random.default_rng(0)

    def mixed(centers: Any, shares: Any, tails: float = np.inf) -> Any:
        rows = centers[rng.choice(len(centers), size=n_rows, p=shares / shares.sum())]
        normal = rng.normal(size=rows.shape)
        return rows + (normal if np.isinf(tails) else rng.standard_t(tails, size=rows.shape))

    centers = rng.uniform(0, 30, (10, 4))
    yield "10 equal clusters", mixed(centers, np.ones(10)), centers
    centers = rng.uniform(0, 60, (40, 4))
    yield "40 equal clusters", mixed(centers, np.ones(40)), centers
    centers = rng.uniform(0, 40, (10, 4))
    yield "shares 1 to 1/512", mixed(centers, 2.0 ** -np.arange(10)), centers
    centers = rng.uniform(0, 30, (10, 4))
    centers[7:] = [[-15] * 4, [45, -15, 45, -15], [45] * 4]
    yield "three of a share of 1e-5", mixed(centers, np.r_[np.full(7, 1 / 7), [1e-5] * 3]), centers
    centers = rng.uniform(0, 60, (10, 4))
    yield "heavy tails (t, 2 degrees)", mixed(centers, np.ones(10), 2.0), centers


def run(space: InputSpace, name: str, n_clusters: int, seed: int) -> tuple[float, float, Any]:
    """The cost of the start, the objective, and the centers."""
    chosen = start_rows(name, space, n_clusters, np.random.RandomState(seed))
    start = space.near_rows(chosen)
    cost, _ = space.objective_and_mass(Hard(), start)
    step = Alternation(space)
    result = picard(step, ClusterState(start, Fuzzy(2.0)), tol=1e-4, max_iter=60)
    return cost / space.total_weight, result.objectives[-1], result.state.prototypes.centers


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    report = Report()
    for line in machine():
        report.line(line)
    lines = []
    for name, X, centers in data_sets(arguments.rows):
        space = InputSpace(ArrayRows(np.ascontiguousarray(X)))
        found = {}
        for start in _STARTS:
            report.progress(f"{name}, {start}")
            seeds = range(1 if start == "max-min" else arguments.seeds)
            found[start] = [run(space, start, len(centers), seed) for seed in seeds]
        least = min(objective for runs in found.values() for _, objective, _ in runs)
        for start, runs in found.items():
            near = [
                sum(np.sum((ends - center) ** 2, axis=1).min() < _NEAR for center in centers)
                for _, _, ends in runs
            ]
            costs, objectives, _ = zip(*runs, strict=True)
            ratio = np.mean(objectives) / least
            lines.append([name, start, f"{np.mean(costs):.2f}", f"{ratio:.4f}"])
            lines[-1].append(f"{np.mean(near):.1f} of {len(centers)}")
            report.progress(" ".join(lines[-1]))
    columns = ["rows", "start", "cost of the start", "objective", "centers found"]
    report.table(f"{arguments.rows:,} x 4 rows, {arguments.seeds} seeds", columns, lines)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
