"""How many clusters are there: SequentialPCM, AdaptivePCM and SparseAdaptivePCM beside others.

`python benchmarks/sequential_quality.py [--first SEED] [--quick] [--tables FOLDER] [--only METHOD]
[--markdown PATH]` prints, for each kind of data: the draws with the right number of clusters, the
adjusted Rand index as is and with every row in a cluster, the share of rows and of noise in no
cluster, and the time; and what happens to 30 clusters where there are 15. `--tables` adds real
tables: files `real_*.npz` with `X` and `Y`. Nothing was tuned on the seeds that are run by default.
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score, pairwise_distances, silhouette_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from _normal_clusters import S2_LIKE, SOURCES
from _report import Report, machine
from _sets import fill
from typicality import AdaptivePCM, AlphaCutClustering, SequentialPCM, SparseAdaptivePCM

_RESULTS = Path(__file__).resolve().parent / "results" / "sequential_quality.md"
_FIRST = 90_000
_N_QUICK = 1
_TOO_MANY = 30
_MIXTURE_ITER = 1000
_SILHOUETTE_ROWS = 2000

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


class Found(NamedTuple):
    """What one method made of one draw; rows of noise count in `noise` alone."""

    n_clusters: int
    ari: float  # every row in a cluster
    ari_as_is: float  # rows in no cluster are a cluster of their own
    unassigned: float
    noise: float  # the share of noise in no cluster; NaN where there is no noise
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


# ---- the methods --------------------------------------------------------------------------------


def _fitted(build: Callable[[], Any]) -> Callable[[Doubles], Labels]:
    return lambda X: np.asarray(build().fit_predict(X))


def _mixture() -> Any:
    return BayesianGaussianMixture(n_components=_TOO_MANY, max_iter=_MIXTURE_ITER, random_state=0)


def _k_means(X: Doubles) -> Labels:
    """The partition with the largest silhouette among those of 2 to 30 clusters."""
    chosen = np.random.default_rng(0).permutation(len(X))[:_SILHOUETTE_ROWS]
    distances = pairwise_distances(X[chosen])
    fits = [KMeans(k, n_init=3, random_state=0).fit(X) for k in range(2, _TOO_MANY + 1)]
    silhouettes = [
        silhouette_score(distances, fit.labels_[chosen], metric="precomputed") for fit in fits
    ]
    labels: Labels = fits[int(np.argmax(silhouettes))].labels_
    return labels


def _mixture_by_bic(X: Doubles) -> Labels:
    """The mixture with the smallest BIC among those of 1 to 20 components."""
    fits = (GaussianMixture(k, random_state=0, reg_covar=1e-4).fit(X) for k in range(1, 21))
    return np.asarray(min(fits, key=lambda fit: fit.bic(X)).predict(X))


METHODS: dict[str, Callable[[Doubles], Labels]] = {
    "SequentialPCM": _fitted(SequentialPCM),
    "..., assign='all'": _fitted(lambda: SequentialPCM(assign="all")),
    "AlphaCut": _fitted(AlphaCutClustering),
    "k-means": _k_means,
    "H10": _fitted(lambda: HDBSCAN(min_cluster_size=10, copy=True)),
    "mixture, BIC": _mixture_by_bic,
    "Bayesian mixture": _fitted(_mixture),
}

FROM_MANY: dict[str, Callable[[Doubles], Labels]] = {
    "AdaptivePCM(30)": _fitted(lambda: AdaptivePCM(_TOO_MANY)),
    "SparseAdaptivePCM(30)": _fitted(lambda: SparseAdaptivePCM(_TOO_MANY, assign="all")),
}


# ---- the draws ----------------------------------------------------------------------------------


def run(
    first: int, at_most: int, only: str | None, progress: Callable[[str], None]
) -> tuple[list[Draw], Counter[str]]:
    """All methods on all draws, and the warnings by method and name."""
    draws: list[Draw] = []
    warned: Counter[str] = Counter()
    for source in SOURCES:
        progress(source.name)
        methods = METHODS | (FROM_MANY if source is S2_LIKE else {})
        methods = {name: label for name, label in methods.items() if only in (None, name)}
        for seed in range(first, first + min(source.n_draws, at_most)):
            X, y = source.draw(seed)
            found = {
                name: _try(name, label, X, y[:, None], warned) for name, label in methods.items()
            }
            draws.append(Draw(source.name, seed, *X.shape, len(np.unique(y[y >= 0])), found))
    return draws, warned


def run_tables(folder: Path, only: str | None, warned: Counter[str]) -> list[Draw]:
    """All methods on real tables, z-scored; label 0 is noise, and the best column of Y counts."""
    draws = []
    for path in sorted(folder.glob("real_*.npz")):
        with np.load(path) as stored:
            X, Y = stored["X"].astype(np.float64), stored["Y"].reshape(len(stored["X"]), -1) - 1
        X = X[:, X.std(axis=0) > 0]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        methods = {name: label for name, label in METHODS.items() if only in (None, name)}
        found = {name: _try(name, label, X, Y, warned) for name, label in methods.items()}
        n_clusters = len(np.unique(Y[Y[:, 0] >= 0, 0]))
        draws.append(Draw(path.stem, 0, *X.shape, n_clusters, found))
    return draws


def _try(
    name: str, label: Callable[[Doubles], Labels], X: Doubles, Y: Labels, warned: Counter[str]
) -> Found:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = label(X)
    seconds = time.perf_counter() - start
    warned.update(f"{name}: {warning.category.__name__}" for warning in caught)
    filled, known = fill(X, labels), Y[:, 0] >= 0
    return Found(
        n_clusters=len(np.unique(labels[labels >= 0])),
        ari=_best_ari(Y, filled),
        ari_as_is=_best_ari(Y, labels),
        unassigned=float(np.mean(labels[known] < 0)),
        noise=float(np.mean(labels[~known] < 0)) if not known.all() else float("nan"),
        seconds=seconds,
    )


def _best_ari(Y: Labels, labels: Labels) -> float:
    return max(float(adjusted_rand_score(y[y >= 0], labels[y >= 0])) for y in Y.T)


# ---- the tables ---------------------------------------------------------------------------------

_LEGEND = (
    "All by default, but for: 30 clusters to begin with, where the name says so. k-means: the "
    "partition with the largest silhouette among those of 2 to 30 clusters. H10: HDBSCAN of "
    "scikit-learn with min_cluster_size=10. mixture, BIC: the best GaussianMixture of 1 to 20 "
    "components. Bayesian mixture: BayesianGaussianMixture of 30 components, at most 1000 "
    "iterations; those count that are the likeliest for some row. Rows of noise do not count in "
    "ARI, the adjusted Rand index. Rows that a method leaves out go to the cluster of the nearest "
    "row that has one, or, as is, are a cluster of their own."
)
_MEASURES = {
    "ari": "ARI, every row in a cluster",
    "ari_as_is": "ARI as is",
    "unassigned": "Share of rows in no cluster, noise left out",
    "noise": "Share of noise in no cluster",
    "seconds": "Seconds a draw",
}


def show_sources(draws: list[Draw], report: Report) -> None:
    names = list(dict.fromkeys(draw.source for draw in draws))
    groups = [[draw for draw in draws if draw.source == name] for name in names] + [draws]
    methods = [method for method in METHODS if method in draws[0].found]
    columns = ["method", *names, "all draws"]
    rows = [[method, *[_share_right(method, group) for group in groups]] for method in methods]
    report.table("Draws with the right number of clusters", columns, rows)
    for field, title in _MEASURES.items():
        rows = [
            [method, *[f"{_mean(method, group, field):.3f}" for group in groups]]
            for method in methods
        ]
        report.table(title, columns, rows)
    report.line(_LEGEND)


def show_tables(draws: list[Draw], report: Report) -> None:
    methods = [method for method in METHODS if method in draws[0].found]
    rows = [
        [
            f"{draw.source} ({draw.n_rows} x {draw.n_features}, {draw.n_clusters})",
            *[
                f"{one.n_clusters}: {one.ari_as_is:.2f} / {one.ari:.2f}, {one.unassigned:.0%}"
                for one in (draw.found[method] for method in methods)
            ],
        ]
        for draw in draws
    ]
    means = [f"{_mean(m, draws, 'ari_as_is'):.3f} / {_mean(m, draws, 'ari'):.3f}" for m in methods]
    title = "Real tables: clusters: ARI as is / every row in a cluster, rows in no cluster"
    report.table(title, ["table", *methods], [*rows, ["mean", *means]])


def _share_right(method: str, draws: list[Draw]) -> str:
    return f"{sum(draw.is_right(method) for draw in draws)} of {len(draws)}"


def _mean(method: str, draws: list[Draw], field: str) -> float:
    values = np.array([getattr(draw.found[method], field) for draw in draws])
    return float(values[~np.isnan(values)].mean()) if not np.isnan(values).all() else float("nan")


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
        if method in chosen[0].found
    ]
    columns = ["method", *[str(draw.seed) for draw in chosen], "right", "ARI", "s a draw"]
    report.table("S2-like data, 15 clusters: the number found in each draw", columns, rows)


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
    draws, warned = run(options.first, at_most, options.only, report.progress)
    show_sources(draws, report)
    if options.tables is not None:
        show_tables(run_tables(options.tables, options.only, warned), report)
    show_from_many(draws, report)
    show_warnings(warned, report)
    report.write(options.markdown)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=_FIRST, metavar="SEED", help="the first draw")
    parser.add_argument("--quick", action="store_true", help="one draw of each kind")
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="real tables to add")
    parser.add_argument("--only", metavar="METHOD", help="one method alone")
    parser.add_argument("--markdown", type=Path, default=_RESULTS, help="where the tables go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
