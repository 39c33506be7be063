"""Clusters without being told how many: alpha-cuts beside HDBSCAN on generated data of many kinds.

`python benchmarks/alpha_cut_quality.py [--seeds FIRST COUNT] [--markdown PATH]` prints a table of
agreement and one of numbers of clusters, and writes both to a markdown file. Nothing is tuned on
the seeds that are run by default. It needs `benchmarks/requirements.txt`.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

from _filling import fill
from _kinds import KINDS, Kind
from _report import Report, machine
from typicality import AlphaCutClustering

_RESULTS = Path(__file__).resolve().parent / "results" / "alpha_cut_quality.md"
_SEEDS = (40_000, 10)
_SIZES = (5, 10, 20)
_OURS, _OURS_ALL = "ours", "ours all"

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


class Score(NamedTuple):
    """What one method made of one draw.

    Parameters
    ----------
    ari : float
        Adjusted Rand index; rows that belong nowhere are a class of their own on both sides.
    n_clusters : int
        How many clusters were found, these rows aside.
    right : bool
        Whether that is the right number.
    left_out : float
        The share of rows that were given to no cluster.
    """

    ari: float
    n_clusters: int
    right: bool
    left_out: float


Scores = dict[tuple[str, str], list[Score]]  # by kind and method, a score for each seed

# ---- the contestants ----------------------------------------------------------------------------


def hdbscan_name(size: int) -> str:
    return f"H{size}"


def filled_name(size: int) -> str:
    return f"H{size} filled"


CORES = [*map(hdbscan_name, _SIZES), _OURS]  # those that may leave rows out
METHODS = [
    *[name for size in _SIZES for name in (hdbscan_name(size), filled_name(size))],
    _OURS,
    _OURS_ALL,
]


def label(X: Doubles, warned: Counter[str]) -> dict[str, Labels]:
    """The labels of all methods."""
    labels: dict[str, Labels] = {}
    for size in _SIZES:
        found = HDBSCAN(min_cluster_size=size, copy=True).fit_predict(X)
        labels |= {hdbscan_name(size): found, filled_name(size): fill(X, found)}
    labels[_OURS] = _fit_ours(AlphaCutClustering(assign="core"), X, warned)
    labels[_OURS_ALL] = _fit_ours(AlphaCutClustering(assign="all"), X, warned)
    return labels


def _fit_ours(estimator: Any, X: Doubles, warned: Counter[str]) -> Labels:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels: Labels = estimator.fit_predict(X)
    warned.update(warning.category.__name__ for warning in caught)
    return labels


def score(labels: Labels, y: Labels, kind: Kind) -> Score:
    n_clusters = len(np.unique(labels[labels >= 0]))
    left_out = float(np.mean(labels < 0))
    ari = float(adjusted_rand_score(y, labels))
    return Score(ari, n_clusters, n_clusters == kind.n_clusters, left_out)


def run(seeds: Iterable[int], progress: Callable[[str], None]) -> tuple[Scores, Counter[str]]:
    """Every method on every draw, and the warnings of ours by name."""
    scores: Scores = {(kind.name, method): [] for kind in KINDS for method in METHODS}
    warned: Counter[str] = Counter()
    for kind in KINDS:
        progress(kind.name)
        for seed in seeds:
            X, y = kind.draw(seed)
            for method, labels in label(X, warned).items():
                scores[kind.name, method].append(score(labels, y, kind))
    return scores, warned


# ---- the tables ---------------------------------------------------------------------------------

NULLS = [kind for kind in KINDS if kind.is_null]
OTHERS = [kind for kind in KINDS if not kind.is_null]
_LEGEND = (
    "H5: HDBSCAN of scikit-learn with min_cluster_size=5; filled: its noise goes to the cluster of "
    'the nearest row that has one. ours: AlphaCutClustering with assign="core"; ours all: with '
    'assign="all"; else by default. Rows that belong nowhere count as one more class, in the truth '
    "and in what was found. right: % of draws with the right number of clusters; out: % of rows in "
    "no cluster. Filling changes no number."
)


def collect(scores: Scores, kinds: list[Kind], method: str, field: str) -> Doubles:
    """A measure of a method, kinds by seeds."""
    return np.array(
        [[getattr(found, field) for found in scores[kind.name, method]] for kind in kinds], float
    )


def show_agreement(scores: Scores, truth: dict[str, Labels], report: Report) -> None:
    n_seeds = len(scores[KINDS[0].name, _OURS])
    rows = [
        [kind.name, str(len(truth[kind.name])), *_means(scores, kind, METHODS, "ari", "{:.3f}")]
        for kind in OTHERS
    ]
    report.table(f"Adjusted Rand index, mean of {n_seeds} draws", ["data", "rows", *METHODS], rows)


def show_numbers(scores: Scores, truth: dict[str, Labels], report: Report) -> None:
    columns = ["data", "true", "noise"]
    columns += [f"{word} {method}" for word in ("right", "out") for method in CORES]
    rows = [_numbers_row(kind, scores, truth[kind.name]) for kind in KINDS]
    report.table("Right number of clusters, and rows left out, %", columns, rows)
    report.line(_LEGEND)
    report.line(_none_found(scores))


def _numbers_row(kind: Kind, scores: Scores, y: Labels) -> list[str]:
    start = [kind.name, str(kind.n_clusters), f"{np.mean(y < 0):.0%}"]
    right = _means(scores, kind, CORES, "right", "{:.0%}")
    return [*start, *right, *_means(scores, kind, CORES, "left_out", "{:.0%}")]


def _means(scores: Scores, kind: Kind, methods: list[str], field: str, form: str) -> list[str]:
    return [form.format(collect(scores, [kind], method, field).mean()) for method in methods]


def _none_found(scores: Scores) -> str:
    none = [collect(scores, NULLS, hdbscan_name(size), "n_clusters") == 0 for size in _SIZES]
    shares = ", ".join(f"{found.mean():.0%}" for found in none)
    return (
        "For nulls one cluster is right. HDBSCAN without allow_single_cluster=True gives two or "
        f"more, or none, which is not counted as right: none in {shares} of the draws of nulls for "
        f"min_cluster_size {', '.join(map(str, _SIZES))}."
    )


def show_summary(scores: Scores, report: Report) -> None:
    columns = ["method", "ARI", "right", "out", "right, nulls"]
    title = f"Means of {len(OTHERS)} kinds, and of {len(NULLS)} nulls; ± standard error over seeds"
    report.table(title, columns, [_summary_row(method, scores) for method in METHODS])


def _summary_row(method: str, scores: Scores) -> list[str]:
    ari = over_seeds(collect(scores, OTHERS, method, "ari"))
    shares = [
        over_seeds(collect(scores, kinds, method, field))
        for kinds, field in [(OTHERS, "right"), (OTHERS, "left_out"), (NULLS, "right")]
    ]
    return [method, "{:.3f}±{:.3f}".format(*ari), *["{:.1%}±{:.1%}".format(*of) for of in shares]]


def over_seeds(values: Doubles) -> tuple[float, float]:
    """The mean over kinds and seeds, and its standard error from the spread over the seeds."""
    means = values.mean(axis=0)
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def show_warnings(warned: Counter[str], n_fits: int, report: Report) -> None:
    counts = ", ".join(f"{name} {count}" for name, count in warned.most_common())
    report.line(f"Warnings in {n_fits} fits of AlphaCutClustering: {counts or 'none'}.")


def main() -> None:
    options = _parse()
    first, count = options.seeds
    report = Report()
    for line in machine():
        report.line(line)
    report.line(f"Seeds {first} to {first + count - 1}.")
    scores, warned = run(range(first, first + count), report.progress)
    truth = {kind.name: kind.draw(first)[1] for kind in KINDS}
    show_agreement(scores, truth, report)
    show_numbers(scores, truth, report)
    show_summary(scores, report)
    show_warnings(warned, 2 * count * len(KINDS), report)
    report.write(options.markdown)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seeds", nargs=2, type=int, default=_SEEDS, metavar=("FIRST", "COUNT"), help="the draws"
    )
    parser.add_argument("--markdown", type=Path, default=_RESULTS, help="where the tables go")
    options = parser.parse_args()
    if options.seeds[1] < 2:
        parser.error("standard errors need at least 2 seeds")
    return options


if __name__ == "__main__":
    main()
