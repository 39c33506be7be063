"""Outliers: copies that hide each other, false alarms of a trimmed fit, and logarithms of columns.

`python benchmarks/outlier_quality.py [--draws N] [--seed FIRST] [--markdown PATH]` prints three
tables for `OneClusterPCM` and the isolation forest.

masking
    500 rows of a t distribution with 3 degrees of freedom in 3 columns, and m copies of
    (15, 15, 15): the mean rank of the copies by score, where 1 is the lowest. (m + 1) / 2 is the
    best.
false alarms
    The share of clean rows that a model with trim=0.2 flags at nominal rates of .05 and .10: of the
    rows of the fit, and of new ones.
logarithms
    The area under the ROC curve when rows with outliers are fitted and scored, for generated tables
    and for the tables of the folder that TYPICALITY_DATA names. There, a tenth of the rows is from
    another class.
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from _report import Report, machine
from typicality import OneClusterPCM
from typicality.preprocessing import ColumnScaler

Doubles = NDArray[np.float64]
Rng = np.random.Generator

_RESULTS = Path(__file__).resolve().parent / "results" / "outlier_quality.md"
_COPIES, _FAR, _RATES = (2, 5, 10, 20, 50), 15.0, (0.05, 0.10)
_ROWS, _OUTLIERS, _SHARE = 500, 25, 0.1


def _clusters(n: int, rng: Rng) -> Doubles:
    cluster = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return 5.0 * np.eye(3, 4)[cluster] + rng.standard_normal((n, 4))


def _mixed(n: int, rng: Rng) -> Doubles:
    """Incomes and areas beside columns without skew."""
    return np.column_stack([rng.lognormal(0, 1, (n, 2)), rng.standard_normal((n, 3))])


ORDINARY: dict[str, Callable[[int, Rng], Doubles]] = {
    "normal": lambda n, rng: rng.standard_normal((n, 5)),
    "t, 3 degrees": lambda n, rng: rng.standard_t(3, (n, 4)),
    "three clusters": _clusters,
    "lognormal": lambda n, rng: rng.lognormal(0, 1, (n, 4)),
    "gamma": lambda n, rng: rng.gamma(1.0, 1.0, (n, 5)),
    "skewed and not": _mixed,
    "correlated lognormal": lambda n, rng: np.exp(
        rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, 4))
    ),
    "counts": lambda n, rng: rng.poisson(rng.gamma(1.0, 4.0, (n, 4))).astype(float),
}


def _with_outliers(name: str, rng: Rng) -> tuple[Doubles, NDArray[np.int_]]:
    """Rows with outliers, whose columns are drawn each for itself over a wider range."""
    X = ORDINARY[name](_ROWS, rng)
    low, high = X.min(axis=0), np.quantile(X, 0.99, axis=0)
    far = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (_OUTLIERS, X.shape[1]))
    if X.min() >= 0:
        far = np.maximum(far, 0)
    return np.vstack([X, far]), np.repeat([0, 1], [_ROWS, _OUTLIERS])


def _of_file(path: Path, rng: Rng) -> tuple[Doubles, NDArray[np.int_]]:
    """The largest class of a table, and some rows of the others."""
    data = np.load(path)
    X, y = data["X"].astype(float), data["Y"].reshape(len(data["X"]), -1)[:, 0]
    largest = np.bincount(y[y > 0]).argmax()
    inside, outside = np.flatnonzero(y == largest), np.flatnonzero((y != largest) & (y > 0))
    some = rng.permutation(outside)[: max(5, int(_SHARE * len(inside)))]
    return X[np.append(inside, some)], np.repeat([0, 1], [len(inside), len(some)])


def _scores(name: str, X: Doubles) -> Doubles:
    """Scores of the rows of the fit: low ones are outliers."""
    logarithms, _, kind = name.partition(", ")
    model = IsolationForest(random_state=0) if kind == "forest" else OneClusterPCM(trim=float(kind))
    scores: Doubles = make_pipeline(ColumnScaler(log=logarithms), model).fit(X).score_samples(X)
    return scores


def show_masking(first: int, draws: int, report: Report) -> None:
    rows = []
    for m in _COPIES:
        ranks: dict[str, list[float]] = {"trim=0": [], "trim=0.2": [], "isolation forest": []}
        for seed in range(first, first + draws):
            X = np.random.default_rng(seed).standard_t(3, (_ROWS, 3))
            X = np.vstack([X, np.full((m, 3), _FAR)])
            models = OneClusterPCM(), OneClusterPCM(trim=0.2), IsolationForest(random_state=0)
            for found, model in zip(ranks.values(), models, strict=True):
                scores = model.fit(X).score_samples(X)
                found.append(float(scores.argsort().argsort()[_ROWS:].mean()) + 1)
        rows.append([str(m), f"{(m + 1) / 2:g}", *(f"{np.mean(r):.1f}" for r in ranks.values())])
    report.table("Mean rank of m copies of a far row", ["m", "best", *ranks], rows)


def show_false_alarms(first: int, draws: int, report: Report) -> None:
    rows = []
    for name, draw in ORDINARY.items():
        cells = [name]
        for rate in _RATES:
            fitted, new = [], []
            for seed in range(first, first + draws):
                rng = np.random.default_rng(seed)
                X, other = draw(_ROWS, rng), draw(4 * _ROWS, rng)
                model = OneClusterPCM(trim=0.2, contamination=rate)
                fitted.append(np.mean(model.fit_predict(X) == -1))
                new.append(np.mean(model.predict(other) == -1))
            cells += [f"{np.mean(fitted):.3f}", f"{np.mean(new):.3f}"]
        rows.append(cells)
    numbers = np.array([row[1:] for row in rows], float)
    rows.append(["mean", *(f"{mean:.3f}" for mean in numbers.mean(axis=0))])
    columns = [f"{where} at {rate}" for rate in _RATES for where in ("rows of the fit", "new rows")]
    report.table("False alarms with trim=0.2", ["rows", *columns], rows)


def show_logarithms(first: int, draws: int, report: Report) -> None:
    names = [f"{log}, {kind}" for kind in ("0", "0.2", "forest") for log in ("none", "auto", "all")]
    seeds = range(first, first + draws)
    sets = {
        name: [_with_outliers(name, np.random.default_rng([seed, 1])) for seed in seeds]
        for name in ORDINARY
    }
    folder = Path(os.environ.get("TYPICALITY_DATA", "")) / "clusters"
    for path in sorted(folder.glob("real_*.npz")):
        sets[path.stem] = [_of_file(path, np.random.default_rng(seed)) for seed in seeds]
    means = {
        name: [np.mean([roc_auc_score(y, -_scores(way, X)) for X, y in draws]) for way in names]
        for name, draws in sets.items()
    }
    rows = [[name, *(f"{mean:.3f}" for mean in found)] for name, found in means.items()]
    for title, some in (("generated", [*ORDINARY]), ("tables", [*means][len(ORDINARY) :])):
        if some:
            found = np.array([means[name] for name in some])
            rows.append([f"mean, {title}", *(f"{mean:.3f}" for mean in found.mean(axis=0))])
    title = "Area under the ROC curve: logarithms of columns, and trim or isolation forest"
    report.table(title, ["rows", *names], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=10, help="draws of each source")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--markdown", type=Path, default=_RESULTS, help="where the tables go")
    options = parser.parse_args()
    report = Report()
    for line in machine():
        report.line(line)
    for show in (show_masking, show_false_alarms, show_logarithms):
        show(options.seed, options.draws, report)
    report.write(options.markdown)


if __name__ == "__main__":
    main()
