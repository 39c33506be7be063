"""Time of outlier detection in many dimensions beside the detectors of scikit-learn.

`python benchmarks/outlier_speed.py [--quick]` prints a table and writes it to
`benchmarks/results/outlier_speed.md`: CPU seconds of a fit and of the scores of 500 new rows, the
least of three runs in which all detectors take turns, after a warm-up. Rows have 30 hidden
dimensions and noise in every feature.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.svm import OneClassSVM

from _report import Report, machine
from typicality import OneClusterPCM
from typicality.bandwidth import median_distance

_RESULTS = Path(__file__).resolve().parent / "results" / "outlier_speed.md"
_SHAPES = [(1_966, 1_555), (2_000, 100), (5_000, 300), (20_000, 64)]
_SHAPES_QUICK = [(1_000, 200), (2_500, 64)]
_HIDDEN = 30
_N_NEW = 500
_ROUNDS = 3


def draw(n_rows: int, n_features: int) -> Any:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n_rows, _HIDDEN)) @ rng.normal(size=(_HIDDEN, n_features)) / 5.0
    return hidden + rng.normal(size=(n_rows, n_features))


def detectors(X: Any) -> dict[str, Any]:
    """All with one width, which no peer chooses by itself; ours also chooses it."""
    width = median_distance(X) / 2.0
    return {
        "OneClusterPCM": OneClusterPCM(),
        "OneClusterPCM, Laplacian": OneClusterPCM(kernel="laplacian"),
        "IsolationForest": IsolationForest(random_state=0),
        "LocalOutlierFactor": LocalOutlierFactor(novelty=True),
        "KernelDensity": KernelDensity(bandwidth=width),
        "OneClassSVM": OneClassSVM(gamma=0.5 / width**2, nu=0.1),
    }


def cpu_seconds(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def measured(X: Any, new: Any) -> dict[str, tuple[float, float]]:
    """CPU seconds of a fit and of scores, the least of some rounds."""
    models = detectors(X)
    for model in models.values():
        model.fit(X[:200]).score_samples(new[:10])
    rounds = []
    for _ in range(_ROUNDS):
        fits = {name: cpu_seconds(lambda m=model: m.fit(X)) for name, model in models.items()}
        scores = {
            name: cpu_seconds(lambda m=model: m.score_samples(new))
            for name, model in models.items()
        }
        rounds.append({name: (fits[name], scores[name]) for name in models})
    return {
        name: (min(run[name][0] for run in rounds), min(run[name][1] for run in rounds))
        for name in models
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sets")
    shapes = _SHAPES_QUICK if parser.parse_args().quick else _SHAPES
    report = Report()
    for line in machine():
        report.line(line)
    found = {}
    for n_rows, n_features in shapes:
        report.progress(f"{n_rows:,} x {n_features:,}")
        X = draw(n_rows + _N_NEW, n_features)
        found[f"{n_rows:,} x {n_features:,}"] = measured(X[:n_rows], X[n_rows:])
    names = next(iter(found.values()))
    report.table(
        f"CPU seconds of a fit, and of the scores of {_N_NEW} new rows",
        ["detector", *found],
        [
            [name, *(f"{of[name][0]:.2f} {of[name][1]:.2f}" for of in found.values())]
            for name in names
        ],
    )
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
