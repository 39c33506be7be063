"""How often c-means collapse with their default settings, told the number of clusters.

`python benchmarks/cmeans_defaults.py [--first SEED] [--draws N] [--markdown PATH]` prints the share
of data sets on which memberships collapse, the clusters found and the adjusted Rand index, with the
defaults, with the earlier defaults (m = 2, gamma = 1), and of k-means with ten starts: on generated
sets, in the input space and with a Gaussian kernel, and on real tables. Those are the files
`clusters/real_*.npz` of the folder that the environment variable TYPICALITY_DATA names. Settings
were chosen on seeds 0 to 149; the seeds that are run by default were not looked at before.
"""

import argparse
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from _report import Report
from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans

_RESULTS = Path(__file__).resolve().parent / "results" / "cmeans_defaults.md"
_FIRST, _N_DRAWS, _N_KERNEL_DRAWS = 10_000, 120, 40
_COLLAPSED = 1.05  # the clearest membership, times the number of clusters

_SHAPES = ("round", "unequal spreads", "ellipsoids", "heavy tails", "boxes", "overlapping")
_N_FEATURES = (2, 3, 4, 5, 6, 8, 10, 14, 20)
_OUTLIERS = (0.0, 0.0, 0.05, 0.15)  # shares of the rows

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]


class DataSet(NamedTuple):
    """Rows with one or more columns of true labels; rows labelled -1 do not count."""

    name: str
    X: Doubles
    truths: list[Labels]


class Outcome(NamedTuple):
    """What one method made of one data set."""

    collapsed: bool
    share_found: float
    ari: float


# ---- the data sets ------------------------------------------------------------------------------


def draw(seed: int) -> DataSet:
    """Two to eight blobs in 2 to 20 dimensions, of one of six shapes.

    Sizes are equal or not; there are up to 15 % of outliers; in three of ten sets there are also
    features without clusters; three of ten sets are not scaled.
    """
    rng = np.random.default_rng(seed)
    shape = _SHAPES[seed % len(_SHAPES)]
    n_features, n_blobs = int(rng.choice(_N_FEATURES)), int(rng.integers(2, 9))
    n_rows = int(rng.integers(25 * n_blobs, 120 * n_blobs + 1))
    equal = rng.random() < 0.5
    shares = np.full(n_blobs, 1 / n_blobs) if equal else rng.dirichlet(np.full(n_blobs, 3.0))
    gap = rng.uniform(2.5, 3.5) if shape == "overlapping" else rng.uniform(4.0, 8.0)
    centers = rng.standard_normal((n_blobs, n_features))
    centers *= gap / pdist(centers).min()
    y = np.repeat(np.arange(n_blobs), np.maximum(8, np.round(n_rows * shares)).astype(int))
    X = _with_outliers(centers[y] + _noise(shape, y, n_features, rng), rng)
    y = np.append(y, np.full(len(X) - len(y), -1))
    if rng.random() < 0.3:
        more = (len(X), int(rng.integers(1, n_features + 1)))
        X = np.hstack([X, X.std() * rng.standard_normal(more)])
    if rng.random() < 0.3:
        return DataSet(shape, X * rng.uniform(0.3, 3.0, X.shape[1]), [y])
    return DataSet(shape, StandardScaler().fit_transform(X), [y])


def _noise(shape: str, y: Labels, n_features: int, rng: np.random.Generator) -> Doubles:
    """What is added to the centres, about one standard deviation in each direction."""
    normal: Doubles = rng.standard_normal((len(y), n_features))
    if shape == "unequal spreads":
        return normal * rng.uniform(0.4, 1.2, y.max() + 1)[y, None]
    if shape == "ellipsoids":
        for blob in range(y.max() + 1):
            axes, _ = np.linalg.qr(rng.standard_normal((n_features, n_features)))
            normal[y == blob] = (normal[y == blob] * rng.uniform(0.3, 1.5, n_features)) @ axes
        return normal
    if shape == "heavy tails":
        heavy: Doubles = normal / np.sqrt(rng.chisquare(3, len(y)) / 3)[:, None]
        return heavy
    return rng.uniform(-1.7, 1.7, normal.shape) if shape == "boxes" else normal


def _with_outliers(X: Doubles, rng: np.random.Generator) -> Doubles:
    """The rows, followed by uniform ones in a box half as wide again."""
    n_outliers = int(rng.choice(_OUTLIERS) * len(X))
    low, high = X.min(axis=0), X.max(axis=0)
    margin = (high - low) / 4
    return np.vstack([X, rng.uniform(low - margin, high + margin, (n_outliers, X.shape[1]))])


def read_tables(folder: Path) -> Iterator[DataSet]:
    """The real tables, brought to mean zero and variance one; their label 0 is noise."""
    for path in sorted((folder / "clusters").glob("real_*.npz")):
        with np.load(path) as file:
            X = StandardScaler().fit_transform(file["X"].astype(np.float64))
            columns = np.atleast_2d(file["Y"].T).astype(int)
        yield DataSet(path.stem.removeprefix("real_"), X, [column - 1 for column in columns])


# ---- the methods --------------------------------------------------------------------------------


def methods(n_clusters: int, kernel: str) -> dict[str, Any]:
    common: dict[str, Any] = {"n_clusters": n_clusters, "kernel": kernel, "random_state": 0}
    ours = {
        "FuzzyCMeans()": FuzzyCMeans(**common),
        "FuzzyCMeans(m=2)": FuzzyCMeans(m=2.0, **common),
        "EntropyCMeans()": EntropyCMeans(**common),
        "PossibilisticCMeans()": PossibilisticCMeans(**common),
        "PossibilisticCMeans(m=2, gamma=1)": PossibilisticCMeans(m=2.0, gamma=1.0, **common),
    }
    kmeans = KMeans(n_clusters, n_init=10, random_state=0)
    return ours | ({"KMeans(n_init=10)": kmeans} if kernel == "linear" else {})


def judge(data: DataSet, kernel: str) -> dict[str, Outcome]:
    """Every method, told the number of clusters; the best over the columns of true labels."""
    by_truth = [_judge_against(truth, data.X, kernel) for truth in data.truths]
    return {
        name: max((outcomes[name] for outcomes in by_truth), key=lambda outcome: outcome.ari)
        for name in by_truth[0]
    }


def _judge_against(truth: Labels, X: Doubles, kernel: str) -> dict[str, Outcome]:
    counted = truth >= 0
    n_clusters = len(np.unique(truth[counted]))
    outcomes = {}
    for name, model in methods(n_clusters, kernel).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = model.fit(X).labels_
        memberships = getattr(model, "memberships_", np.ones((1, 1)))
        one_label = len(np.unique(labels)) == 1
        alike = memberships.max() * memberships.shape[1] < _COLLAPSED
        outcomes[name] = Outcome(
            collapsed=bool(n_clusters > 1 and (one_label or (memberships.size > 1 and alike))),
            share_found=len(np.unique(labels)) / n_clusters,
            ari=float(adjusted_rand_score(truth[counted], labels[counted])),
        )
    return outcomes


# ---- the tables ---------------------------------------------------------------------------------

_LEGEND = (
    "Told the true number of clusters, one start but for k-means. collapsed: all memberships are "
    "about 1 / c, or there is one label. all clusters: sets in which as many labels are in use as "
    "were asked for. clusters found: mean share of those asked for. ARI: mean adjusted Rand index; "
    "outliers and noise do not count."
)


def show(title: str, sets: Iterable[DataSet], kernel: str, report: Report) -> None:
    report.progress(title)
    judged = {data.name + f" {i}": judge(data, kernel) for i, data in enumerate(sets)}
    rows = []
    for name in next(iter(judged.values())):
        found = [outcomes[name] for outcomes in judged.values()]
        rows.append(
            [
                name,
                f"{sum(o.collapsed for o in found)} of {len(found)}",
                f"{sum(o.share_found == 1 for o in found)} of {len(found)}",
                f"{np.mean([o.share_found for o in found]):.3f}",
                f"{np.mean([o.ari for o in found]):.3f}",
            ]
        )
    columns = ["method", "collapsed", "all clusters", "clusters found", "ARI"]
    report.table(title, columns, rows)


def main() -> None:
    options = _parse()
    report = Report()
    fuzzy, possibilistic = FuzzyCMeans().get_params(), PossibilisticCMeans().get_params()
    report.line(
        f"Defaults of the installed package: FuzzyCMeans m={fuzzy['m']!r}; PossibilisticCMeans "
        f"m={possibilistic['m']!r}, gamma={possibilistic['gamma']:g}."
    )
    seeds = range(options.first, options.first + options.draws)
    show(f"{len(seeds)} generated sets", map(draw, seeds), "linear", report)
    few = seeds[:_N_KERNEL_DRAWS]
    show(f"{len(few)} generated sets, Gaussian kernel", map(draw, few), "gaussian", report)
    tables = list(read_tables(Path(os.environ.get("TYPICALITY_DATA", "."))))
    if tables:
        show(f"{len(tables)} real tables, z-scored", tables, "linear", report)
        show(f"{len(tables)} real tables, Gaussian kernel", tables, "gaussian", report)
    else:
        report.line(
            "SKIPPED: the real tables. There is no clusters/real_*.npz in the folder that the "
            "environment variable TYPICALITY_DATA names."
        )
    report.line(_LEGEND)
    report.write(options.markdown)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=_FIRST, metavar="SEED", help="the first draw")
    parser.add_argument("--draws", type=int, default=_N_DRAWS, metavar="N", help="generated sets")
    parser.add_argument("--markdown", type=Path, default=_RESULTS, help="where the tables go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
