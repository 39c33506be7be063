"""Automatic clustering: ours beside HDBSCAN, PLSCAN, k-means, mixtures by BIC and Genie.

`python benchmarks/automatic_quality.py [--seeds FIRST COUNT] [--nulls COUNT] [--only PART ...]
[--methods NAME ...] [--before SRC] [--jobs N] [--markdown PATH]` runs every method, or those that
are named beside "HDBSCAN 10", on generated sets (families that settings were chosen on, and
families that were kept for judging), tables, pairs of Gaussians that overlap ("power"), single
clusters and lattices, and on the development sets in the folder `clusters` of the one
TYPICALITY_DATA names. The part "stability" fits twenty tables in other orders and with other seeds.
Nothing was tuned on the seeds that are run by default. Packages of `benchmarks/requirements.txt`
that are not installed are left out. `--before SRC` also fits `AutoClustering` of another version,
whose sources are in that folder. `--quick` takes a minute.
"""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture

from _report import Report, machine
from _sets import (
    CLUSTERED,
    HELD_OUT,
    LATTICES,
    NULLS,
    POWER,
    TABLE_NULLS,
    TABLES,
    Family,
    fill,
)
from typicality import AlphaCutClustering, AutoClustering, SequentialPCM

_RESULTS = Path(__file__).resolve().parent / "results" / "automatic_quality.md"
_SEEDS = (960_000, 4)
_NULL_SIZES = (100, 300, 1000, 3000, 10_000)
_POWER_SIZES = (200, 500, 1000, 4000, 16_000)
_LARGE_NULL = 10_000  # for the methods below only
_BEFORE = " before"  # the end of the name of a method of another version
_COMPARED = ["AutoClustering", "AutoClustering at_least=2"]  # with their versions before
_ONE_ALLOWED = "HDBSCAN 10, one allowed"
_IN_GRIDS = [
    *("AlphaCut", "AutoClustering before", "AutoClustering", "HDBSCAN 10", _ONE_ALLOWED),
    *("PLSCAN 5", "k-means by silhouette", "mixture by BIC"),
]
_JUDGED_ON_NULLS = ["AlphaCut", "AutoClustering", "HDBSCAN 10", _ONE_ALLOWED, "PLSCAN 5"]
_FOUND = 0.5  # adjusted Rand index from which two groups are found
_STABILITY, _N_TABLES, _N_FITS = "stability", 20, 10
_MOST_ROWS = 2000  # for the silhouette, which costs the square of them
_OPPONENT = "HDBSCAN 10 filled"
_NULL_SHARE = 0.2  # one null for every four sets
_RESAMPLES = 2000

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


class Task(NamedTuple):
    """A data set: where it belongs, its name, and how to get it."""

    part: str
    name: str
    load: Callable[[], tuple[Doubles, Labels]]


class Score(NamedTuple):
    """What one method made of one set.

    Parameters
    ----------
    ari : float
        Adjusted Rand index over the rows that are no noise; the best over published labellings.
    right : bool
        Whether the number of clusters is right, for one of them.
    n_clusters : int
        How many there were.
    left_out : float
        The share of rows that were given to no cluster.
    seconds : float
        The CPU time of the fit.
    agreement : float
        What it says of its own answer, `agreement_`, if it says something.
    """

    ari: float
    right: bool
    n_clusters: int
    left_out: float
    seconds: float
    agreement: float = np.nan


# ---- the contestants ----------------------------------------------------------------------------


def _hdbscan(size: int, **options: Any) -> Callable[[Doubles, int], Labels]:
    return lambda X, k: HDBSCAN(min_cluster_size=size, copy=True, **options).fit_predict(X)


def _fast_hdbscan(X: Doubles, k: int) -> Labels:
    model = import_module("fast_hdbscan").HDBSCAN(min_cluster_size=10)
    return np.asarray(model.fit_predict(X))


def _plscan(X: Doubles, k: int) -> Labels:
    """PLSCAN chooses the smallest size of a cluster itself."""
    return np.asarray(import_module("fast_plscan").PLSCAN(min_samples=5).fit_predict(X))


def _k_means(X: Doubles, k: int) -> Labels:
    """The partition of largest silhouette among those of 2 to 12 clusters."""
    sample = np.random.RandomState(0).permutation(len(X))[:_MOST_ROWS]
    fits = [KMeans(c, n_init=3, random_state=0).fit(X) for c in range(2, min(13, len(X)))]
    fits = [fit for fit in fits if len(np.unique(fit.labels_[sample])) > 1]
    return max(fits, key=lambda fit: silhouette_score(X[sample], fit.labels_[sample])).labels_


def _mixture(X: Doubles, k: int) -> Labels:
    """The Gaussian mixture of least BIC among those of 1 to 12 parts."""
    fits = [GaussianMixture(c, random_state=0).fit(X) for c in range(1, 13) if c < len(X) / 2]
    return min(fits, key=lambda fit: fit.bic(X)).predict(X)


def _genie(X: Doubles, k: int) -> Labels:
    X = np.column_stack([X, np.zeros(len(X))]) if X.shape[1] == 1 else X  # it refuses one column
    return np.asarray(import_module("genieclust").Genie(n_clusters=max(k, 2)).fit_predict(X))


def _ours(build: Callable[[], Any]) -> Callable[[Doubles, int], Any]:
    """A method that returns a fitted model, which has its labels and more."""
    return lambda X, k: build().fit(X)


METHODS: dict[str, Callable[[Doubles, int], Any]] = {
    "AutoClustering": _ours(lambda: AutoClustering(random_state=0)),
    "AutoClustering at_least=2": _ours(lambda: AutoClustering(at_least=2, random_state=0)),
    "AlphaCut": _ours(AlphaCutClustering),
    "AlphaCut all": _ours(lambda: AlphaCutClustering(assign="all")),
    "AlphaCut all, at_least=2": _ours(lambda: AlphaCutClustering(assign="all", at_least=2)),
    "AlphaCut all, told k": lambda X, k: AlphaCutClustering(assign="all", n_clusters=k).fit_predict(
        X
    ),
    "SequentialPCM all": _ours(lambda: SequentialPCM(assign="all")),
    "HDBSCAN 5": _hdbscan(5),
    "HDBSCAN 10": _hdbscan(10),
    "HDBSCAN 20": _hdbscan(20),
    _ONE_ALLOWED: _hdbscan(10, allow_single_cluster=True),
    "fast_hdbscan 10": _fast_hdbscan,
    "PLSCAN 5": _plscan,
    "k-means by silhouette": _k_means,
    "mixture by BIC": _mixture,
    "Genie, told k": _genie,
}
_PACKAGES = {
    "fast_hdbscan 10": "fast_hdbscan",
    "PLSCAN 5": "fast_plscan",
    "Genie, told k": "genieclust",
}
METHODS = {name: method for name, method in METHODS.items() if find_spec(_PACKAGES.get(name, "os"))}
_NEVER_ONE = {  # these split every single cluster, so they need not be run on nulls
    "AutoClustering at_least=2",
    "AlphaCut all, at_least=2",
    "AlphaCut all, told k",
    "k-means by silhouette",
    "Genie, told k",
}
_FILLED = ("HDBSCAN 5", "HDBSCAN 10", "HDBSCAN 20", _ONE_ALLOWED, "fast_hdbscan 10", "PLSCAN 5")
NAMES = [n for name in METHODS for n in ([name, f"{name} filled"] if name in _FILLED else [name])]
NAMES = [f"{name}{_BEFORE}" for name in _COMPARED] + NAMES


# ---- the sets -----------------------------------------------------------------------------------


def generated(seeds: range, n_nulls: int) -> list[Task]:
    tasks = []
    for family in CLUSTERED:
        part = "generated, held out" if family.name in HELD_OUT else "generated"
        tasks += [Task(part, family.name, _draw(family, seed)) for seed in seeds]
    tasks += [Task("tables", f.name, _draw(f, seed)) for f in TABLES for seed in seeds]
    tasks += _of_sizes("power", POWER, _POWER_SIZES, seeds)
    some = range(seeds.start, seeds.start + n_nulls)
    for family in NULLS:
        part = "nulls, held out" if family.name in HELD_OUT else "nulls"
        tasks += _of_sizes(part, [family], _NULL_SIZES, some)
    tasks += _of_sizes("nulls, tables", TABLE_NULLS, _NULL_SIZES[:-1], some)
    return tasks + _of_sizes("nulls, lattices", LATTICES, _NULL_SIZES[:-1], some)


def _of_sizes(
    part: str, families: list[Family], sizes: tuple[int, ...], seeds: range
) -> list[Task]:
    return [
        Task(part, f"{family.name}, {n_rows}", _draw(family, seed, n_rows))
        for family in families
        for n_rows in sizes
        for seed in seeds
    ]


def _draw(family: Family, seed: int, n_rows: int | None = None) -> Any:
    def load() -> tuple[Doubles, Labels]:
        X, y = family.draw(seed, n_rows)
        return X, y[:, None]

    return load


def development(folder: Path) -> list[Task]:
    tasks = []
    for path in sorted(folder.glob("*.npz")):
        part = "development, tables" if path.name.startswith("real_") else "development, artificial"
        tasks.append(Task(part, path.stem, _file(path, scaled="tables" in part)))
    return tasks


def _standardised(X: Doubles) -> Doubles:
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _file(path: Path, *, scaled: bool) -> Any:
    def load() -> tuple[Doubles, Labels]:
        data = np.load(path)
        X, Y = data["X"].astype(np.float64), data["Y"].astype(int)
        X = _standardised(X) if scaled else X
        X = np.ascontiguousarray(X)  # fast_hdbscan wants it
        return X, Y.reshape(len(X), -1) - 1  # 0 is noise there

    return load


# ---- scores -------------------------------------------------------------------------------------


def score_set(task: Task, methods: list[str]) -> dict[str, Score]:
    """Some methods on one set; on large nulls those that are judged there."""
    X, Y = task.load()
    if task.part.startswith("nulls"):
        judged = _JUDGED_ON_NULLS if len(X) >= _LARGE_NULL else [*set(METHODS) - _NEVER_ONE]
        methods = [name for name in methods if name in judged]
    k = int(np.max([len(np.unique(y[y >= 0])) for y in Y.T]))
    scores = {}
    for name in methods:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = METHODS[name](X, k)
        seconds = time.process_time() - start
        labels = np.asarray(getattr(found, "labels_", found))
        agreement = getattr(found, "agreement_", None)
        scores[name] = _score(labels, Y, seconds, np.nan if agreement is None else agreement)
        if name in _FILLED:
            scores[f"{name} filled"] = _score(fill(X, labels), Y, seconds)
    return scores


def _score(labels: Labels, Y: Labels, seconds: float, agreement: float = np.nan) -> Score:
    n_clusters = len(np.unique(labels[labels >= 0]))
    aris = [adjusted_rand_score(y[y >= 0], labels[y >= 0]) for y in Y.T]
    right = any(len(np.unique(y[y >= 0])) == n_clusters for y in Y.T)
    return Score(max(aris), right, n_clusters, float(np.mean(labels < 0)), seconds, agreement)


Scores = list[tuple[Task, dict[str, Score]]]


def values(scores: Scores, method: str) -> Doubles:
    """The adjusted Rand index of a method on each set; on a null 1 if it was kept whole, else 0.

    Methods that never give one cluster are not run on nulls.
    """
    return np.array(
        [
            float(method in found and found[method].n_clusters <= 1)
            if task.part.startswith("nulls")
            else found[method].ari
            for task, found in scores
        ]
    )


def interval(difference: Doubles, weight: Doubles | None = None) -> str:
    """The mean of a difference with its 95 % bootstrap interval over sets."""
    rng = np.random.default_rng(0)
    weight = np.ones(len(difference)) if weight is None else weight
    picks = rng.integers(0, len(difference), (_RESAMPLES, len(difference)))
    means = (difference[picks] * weight[picks]).sum(axis=1) / weight[picks].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{np.average(difference, weights=weight):+.3f} [{low:+.3f}, {high:+.3f}]"


# ---- the tables ---------------------------------------------------------------------------------


def show_part(part: str, scores: Scores, report: Report) -> None:
    opponent = values(scores, _OPPONENT)
    rows = []
    for name in [name for name in NAMES if name in scores[0][1]]:
        ari = values(scores, name)
        found = [scored[name] for _, scored in scores]
        better = ari - opponent
        outcome = [np.sum(better > 0.005), np.sum(abs(better) <= 0.005), np.sum(better < -0.005)]
        rows.append(
            [
                name,
                f"{ari.mean():.3f}",
                f"{np.median(ari):.3f}",
                f"{np.mean([score.right for score in found]):.0%}",
                f"{np.mean([score.n_clusters <= 1 for score in found]):.0%}",
                "/".join(map(str, outcome)),
                interval(better),
                f"{np.mean([score.left_out for score in found]):.0%}",
                f"{np.mean([score.seconds for score in found]):.2f}",
            ]
        )
    columns = ["method", "mean", "median", "right number", "one cluster", "win/tie/loss"]
    columns += [f"to {_OPPONENT}", "left out", "seconds"]
    report.table(f"{part}: {len(scores)} sets", columns, rows)


def show_pooled(sets: Scores, nulls: Scores, report: Report) -> None:
    """Sets and nulls together, a null for every four sets."""
    weight = np.append(
        np.full(len(sets), (1 - _NULL_SHARE) / len(sets)),
        np.full(len(nulls), _NULL_SHARE / len(nulls)),
    )
    both = sets + nulls
    opponent = values(both, _OPPONENT)
    rows = []
    for name in [name for name in NAMES if name in sets[0][1]]:
        found = values(both, name)
        mean = np.average(found, weights=weight)
        rows.append([name, f"{mean:.3f}", interval(found - opponent, weight)])
    title = f"Generated sets ({len(sets)}) and nulls ({len(nulls)}, a fifth of the weight)"
    report.table(title, ["method", "score", f"to {_OPPONENT}"], rows)


def show_grid(
    title: str, scores: Scores, named: list[str], report: Report, *, hit: Callable[[Score], bool]
) -> None:
    """The share of hits of some methods, by family and number of rows."""
    methods = [name for name in named if name in scores[0][1]]
    cells: dict[tuple[str, str, str], list[bool]] = {}
    for task, found in scores:
        family, n_rows = task.name.rsplit(", ", 1)
        for name in methods:
            for shape in (family, "all"):
                cells.setdefault((shape, n_rows, name), []).append(hit(found[name]))
    families = list(dict.fromkeys(family for family, _, _ in cells))
    families = [family for family in families if family != "all"] + ["all"]
    sizes = sorted({int(n_rows) for _, n_rows, _ in cells})

    def share(family: str, n_rows: int, name: str) -> str:
        return f"{100 * np.mean(cells.get((family, str(n_rows), name), np.nan)):.0f}"

    rows = [
        [f] + ["/".join(share(f, n, name) for name in methods) for n in sizes] for f in families
    ]
    title = f"{title}, %: {' / '.join(methods)}"
    report.table(title, ["family", *[f"{n:,} rows" for n in sizes]], rows)


def show_agreement(scores: Scores, report: Report) -> None:
    """How well a method's own `agreement_` orders sets by the agreement with the truth."""
    rows = []
    for name in scores[0][1]:
        found = [scored[name] for _, scored in scores if name in scored]
        known = [score for score in found if np.isfinite(score.agreement)]
        split = [score for score in known if score.n_clusters > 1]
        if split:
            pairs = [np.array([(s.agreement, s.ari) for s in some]) for some in (known, split)]
            each = [spearmanr(*pair.T) for pair in pairs]
            rows.append([name, str(len(known)), *[f"{result.statistic:+.2f}" for result in each]])
    columns = ["method", "sets", "rank correlation", "where several clusters were found"]
    report.table("agreement_ and the adjusted Rand index to the truth", columns, rows)


# ---- other orders of the rows, other seeds -------------------------------------------------------


def stable_tables(seed: int) -> list[tuple[str, Doubles]]:
    """Twenty tables: real ones, and generated ones to make up the number."""
    named = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
    tables = [(name, _standardised(load().data)) for name, load in named.items()]
    folder = Path(os.environ.get("TYPICALITY_DATA", "")) / "clusters"
    tables += [(path.stem, _file(path, scaled=True)()[0]) for path in sorted(folder.glob("real_*"))]
    more = [(family.name, family.draw(seed + turn)[0]) for turn in range(2) for family in TABLES]
    return (tables + more)[:_N_TABLES]


def fit_again(X: Doubles) -> tuple[list[int], list[int]]:
    """The numbers of clusters for other orders of the rows, and for other seeds."""
    orders = [np.random.default_rng(k).permutation(len(X)) for k in range(_N_FITS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shuffled = [AutoClustering(random_state=0).fit(X[order]).n_clusters_ for order in orders]
        seeded = [AutoClustering(random_state=k).fit(X).n_clusters_ for k in range(_N_FITS)]
    return shuffled, seeded


Again = dict[str, list[tuple[list[int], list[int]]]]


def show_stability(tables: list[tuple[str, Doubles]], again: Again, report: Report) -> None:
    columns, sums = ["table", "rows x columns"], []
    for version in again:
        columns += [f"shuffles, {version}", f"seeds, {version}"]
        for kind in (0, 1):
            numbers = [found[kind] for found in again[version]]
            off = np.mean([1 - max(map(each.count, each)) / len(each) for each in numbers])
            n_changed = sum(len(set(each)) > 1 for each in numbers)
            sums.append(f"{n_changed} of {len(numbers)} change; {off:.1%} of fits off the mode")
    rows = [
        [name, "x".join(map(str, X.shape))]
        + [
            " ".join(map(str, sorted(set(each))))
            for found in again.values()
            for each in found[place]
        ]
        for place, (name, X) in enumerate(tables)
    ]
    rows.append(["all", "", *sums])
    report.table("Numbers of clusters over shuffles of the rows, and over seeds", columns, rows)


def main() -> None:
    options = _parse()
    report = Report()
    for line in machine("fast_hdbscan", "fast_plscan", "genieclust"):
        report.line(line)
    first, count = options.seeds
    report.line(f"Seeds {first} to {first + count - 1}; times on one core, other fits beside them.")
    tasks = generated(range(first, first + count), options.nulls)
    folder = Path(os.environ.get("TYPICALITY_DATA", "")) / "clusters"
    if folder.is_dir():
        tasks += development(folder)
    else:
        report.line("No development sets: TYPICALITY_DATA names no folder with `clusters`.")
    if options.quick:
        tasks = [task for task in tasks if not task.part.startswith("nulls")][::25]
    if options.only:
        tasks = [task for task in tasks if task.part in options.only]
    tables = stable_tables(first) if _STABILITY in (options.only or [_STABILITY]) else []
    named = options.methods or METHODS
    methods = [name for name in METHODS if name in named]
    if not options.dump and "HDBSCAN 10" not in methods:
        methods.append("HDBSCAN 10")  # the others are compared with it
    found, again = judge(tasks, tables, methods, options.jobs, report)
    if options.dump:
        options.dump.write_bytes(pickle.dumps((found, again)))
        return
    versions = {"now": again}
    if options.before:
        found_before, versions["before"] = _judged_before(options)
        for scores, scores_before in zip(found, found_before, strict=True):
            scores |= {f"{name}{_BEFORE}": score for name, score in scores_before.items()}
    show(list(zip(tasks, found, strict=True)), report)
    if tables:
        show_stability(tables, versions, report)
    report.write(options.markdown)


def judge(
    tasks: list[Task],
    tables: list[tuple[str, Doubles]],
    methods: list[str],
    n_jobs: int,
    report: Report,
) -> tuple[list[dict[str, Score]], list[tuple[list[int], list[int]]]]:
    """The scores of all tasks, and the numbers of clusters of tables that are fitted again."""
    report.progress(f"{len(tasks)} sets, {len(tables)} tables")
    pool = Parallel(n_jobs=n_jobs, batch_size=1)
    again = pool(delayed(fit_again)(X) for _, X in tables)
    order = np.random.default_rng(0).permutation(len(tasks))  # long tasks not all at the end
    found = pool(delayed(score_set)(tasks[k], methods) for k in order)
    return [found[k] for k in np.argsort(order)], again


def _judged_before(options: argparse.Namespace) -> Any:
    """The same by `AutoClustering` of other sources, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores"
        arguments = [a for a in sys.argv[1:] if a not in ("--before", str(options.before))]
        python_path = os.pathsep.join([str(options.before), os.environ.get("PYTHONPATH", "")])
        subprocess.run(
            [sys.executable, __file__, *arguments, "--methods", *_COMPARED, "--dump", str(path)],
            env={**os.environ, "PYTHONPATH": python_path},
            check=True,
        )
        return pickle.loads(path.read_bytes())


def show(scores: Scores, report: Report) -> None:
    parts = dict.fromkeys(task.part for task, _ in scores)
    of = {part: [score for score in scores if score[0].part == part] for part in parts}
    for part, some in of.items():
        if not part.startswith("nulls"):
            show_part(part, some, report)
    if "power" in of:
        title = "Two overlapping Gaussians that are found as two"
        show_grid(
            title,
            of["power"],
            _IN_GRIDS,
            report,
            hit=lambda s: s.n_clusters == 2 and s.ari > _FOUND,
        )
    nulls = [score for score in scores if score[0].part.startswith("nulls")]
    if nulls:
        title = "Single clusters that are split"
        show_grid(title, nulls, _IN_GRIDS[:-2], report, hit=lambda s: s.n_clusters > 1)
    nulls = [s for s in nulls if not s[0].name.endswith(f", {_LARGE_NULL}")]  # all methods ran
    sets = [s for s in scores if s[0].part.startswith(("generated", "tables", "power"))]
    if nulls and sets:
        show_pooled(sets, nulls, report)
    if scores:
        show_agreement(scores, report)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seeds", nargs=2, type=int, default=_SEEDS, metavar=("FIRST", "COUNT"), help="the draws"
    )
    parser.add_argument("--nulls", type=int, default=1, help="draws of each null and size")
    parser.add_argument("--only", nargs="*", metavar="PART", help="parts to run")
    parser.add_argument("--methods", nargs="*", metavar="NAME", help="HDBSCAN 10, and others")
    parser.add_argument("--before", type=Path, metavar="SRC", help="sources of another version")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    parser.add_argument("--dump", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="a few sets")
    parser.add_argument("--markdown", type=Path, default=_RESULTS, help="where the tables go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
