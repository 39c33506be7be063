"""How many clusters are there: SequentialPCM, AdaptivePCM and SparseAdaptivePCM beside others.

`python benchmarks/sequential_quality.py [--first SEED] [--quick] [--markdown PATH]` prints the
shares of draws with the right number of clusters, what happens to 30 clusters where there are 15,
and the number each method found in each draw; and writes them to a markdown file. Nothing was
tuned on the seeds that are run by default. It needs `benchmarks/requirements.txt`.
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from _normal_clusters import S2_LIKE, SOURCES, Source
from _numbers import FROM_MANY, METHODS
from _report import Report, machine

_RESULTS = Path(__file__).resolve().parent / "results" / "sequential_quality.md"
_FIRST = 70_000
_N_QUICK = 2

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


class Found(NamedTuple):
    """What one method made of one draw: its clusters, the adjusted Rand index, the seconds."""

    n_clusters: int
    ari: float
    seconds: float


class Draw(NamedTuple):
    """One draw, and what was found in it by method."""

    source: str
    seed: int
    n_rows: int
    n_features: int
    n_clusters: int
    found: dict[str, Found]

    def is_right(self, method: str) -> bool:
        """Whether a method found as many clusters as there are."""
        return self.found[method].n_clusters == self.n_clusters


# ---- the draws ----------------------------------------------------------------------------------


def run(
    first: int, at_most: int, progress: Callable[[str], None]
) -> tuple[list[Draw], Counter[str]]:
    """All methods on all draws, and the warnings by method and name."""
    draws: list[Draw] = []
    warned: Counter[str] = Counter()
    for source in SOURCES:
        progress(source.name)
        methods = METHODS | (FROM_MANY if source is S2_LIKE else {})
        seeds = range(first, first + min(source.n_draws, at_most))
        draws += [_run_draw(source, seed, methods, warned) for seed in seeds]
    return draws, warned


def _run_draw(
    source: Source, seed: int, methods: dict[str, Callable[[Doubles], Labels]], warned: Counter[str]
) -> Draw:
    X, y = source.draw(seed)
    found = {name: _try(name, label, X, y, warned) for name, label in methods.items()}
    return Draw(source.name, seed, *X.shape, len(np.unique(y)), found)


def _try(
    name: str, label: Callable[[Doubles], Labels], X: Doubles, y: Labels, warned: Counter[str]
) -> Found:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = label(X)
    seconds = time.perf_counter() - start
    warned.update(f"{name}: {warning.category.__name__}" for warning in caught)
    n_clusters = len(np.unique(labels[labels >= 0]))
    return Found(n_clusters, float(adjusted_rand_score(y, labels)), seconds)


# ---- the tables ---------------------------------------------------------------------------------

_LEGEND = (
    "All by default, but for: ours with assign='all'; 30 clusters to begin with, where the name "
    "says so. k-means: the partition with the largest silhouette among those of 2 to 30 clusters. "
    "H5, H10: HDBSCAN of scikit-learn with min_cluster_size=5 and 10; rows it calls noise go to "
    "the cluster of the nearest row that has one. mixture: BayesianGaussianMixture of 30 "
    "components, at most 1000 iterations; those count that are the likeliest for some row. ARI: "
    "adjusted Rand index, mean of the draws."
)


def show_right(draws: list[Draw], report: Report) -> None:
    names = [source.name for source in SOURCES]
    columns = ["method", *names, "all draws", *[f"ARI {name}" for name in names], "s a draw"]
    rows = [_right_row(method, draws, names) for method in METHODS]
    report.table("Draws with the right number of clusters", columns, rows)
    report.line(_LEGEND)


def _right_row(method: str, draws: list[Draw], names: list[str]) -> list[str]:
    by_source = [[draw for draw in draws if draw.source == name] for name in names]
    right = [_share_right(method, chosen) for chosen in (*by_source, draws)]
    ari = [f"{_mean(method, chosen, 'ari'):.3f}" for chosen in by_source]
    return [method, *right, *ari, f"{_mean(method, draws, 'seconds'):.2f}"]


def _share_right(method: str, draws: list[Draw]) -> str:
    return f"{sum(draw.is_right(method) for draw in draws)} of {len(draws)}"


def _mean(method: str, draws: list[Draw], field: str) -> float:
    return float(np.mean([getattr(draw.found[method], field) for draw in draws]))


def show_from_many(draws: list[Draw], report: Report) -> None:
    chosen = [draw for draw in draws if draw.source == S2_LIKE.name]
    rows = [
        [
            method,
            *[str(draw.found[method].n_clusters) for draw in chosen],
            _share_right(method, chosen),
            f"{_mean(method, chosen, 'ari'):.3f}",
            f"{_mean(method, chosen, 'seconds'):.2f}",
        ]
        for method in FROM_MANY | METHODS
    ]
    columns = ["method", *[str(draw.seed) for draw in chosen], "right", "ARI", "s a draw"]
    report.table("S2-like data, 15 clusters: the number found in each draw", columns, rows)


def show_every_draw(draws: list[Draw], report: Report) -> None:
    rows = [
        [
            f"{draw.source} {draw.seed}",
            *[str(value) for value in (draw.n_rows, draw.n_features, draw.n_clusters)],
            *[str(draw.found[method].n_clusters) for method in METHODS],
        ]
        for draw in draws
    ]
    columns = ["draw", "rows", "features", "clusters", *METHODS]
    report.table("The number of clusters found in every draw", columns, rows)


def show_warnings(warned: Counter[str], report: Report) -> None:
    counts = ", ".join(f"{name} {count}" for name, count in warned.most_common())
    report.line(f"Warnings: {counts or 'none'}.")


def main() -> None:
    options = _parse()
    report = Report()
    for line in machine():
        report.line(line)
    at_most = _N_QUICK if options.quick else max(source.n_draws for source in SOURCES)
    report.line(f"The first seed of each kind of data is {options.first}.")
    draws, warned = run(options.first, at_most, report.progress)
    show_right(draws, report)
    show_from_many(draws, report)
    show_every_draw(draws, report)
    show_warnings(warned, report)
    report.write(options.markdown)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=_FIRST, metavar="SEED", help="the first draw")
    parser.add_argument("--quick", action="store_true", help="two draws of each kind")
    parser.add_argument("--markdown", type=Path, default=_RESULTS, help="where the tables go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
