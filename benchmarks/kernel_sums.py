"""Fast sums of kernels: the time of one-cluster PCM beside peers, and the errors of its scores.

`python benchmarks/kernel_sums.py [--quick] [--only PART ...]` prints tables and a verdict on each
target, and writes them to `benchmarks/results/kernel_sums.md`. Errors are against sums that NumPy
computes in double precision.

plane, sixteen
    A fit beside OneClassSVM and KernelDensity, which score the same rows.
large
    Seconds, memory and errors of fits of a million rows and more, one process each.
scoring
    Scores of new rows by a large model, as it is and compressed.
promises
    Random data, kernels and widths: no score is off by more than what the model promises.
"""

import argparse
import json
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

from _report import Report, Verdict, machine
from _sets import blobs
from _timing import ResidentPeak, best_of, json_from, seconds
from typicality import OneClusterPCM
from typicality.kernels import Cauchy, Gaussian, Laplacian

_RESULTS = Path(__file__).resolve().parent / "results" / "kernel_sums.md"
_PLANE, _PLANE_QUICK = (40_000, 2), (3_000, 2)
_SIXTEEN, _SIXTEEN_QUICK = (50_000, 16), (3_000, 16)
_LARGE = [(1_000_000, 2), (1_000_000, 3), (10_000_000, 2), (100_000, 8)]
_LARGE_QUICK = [(20_000, 2), (3_000, 8)]
_SCORING = [(1_000_000, 2, 0.5, 1e-6), (50_000, 5, 2.0, 1e-4)]  # rows, features, sigma, rtol
_SCORING_QUICK = [(5_000, 2, 0.5, 1e-6)]
_N_CASES, _N_CASES_QUICK = 200, 20
_SIGMA = 0.5
_SAMPLE = 500  # rows whose scores are compared with exact ones; as many of the lowest
_LARGEST_ERROR = 1e-5  # of a score, relative to the sum

Doubles = NDArray[np.float64]


def exact_sums(points: Doubles, X: Doubles, weights: Doubles, kernel: Any) -> Doubles:
    """`K(points, X) @ weights` by NumPy, some points at a time."""
    step = max(1, 2**24 // len(X))
    values = [
        _kernel(points[i : i + step], X, kernel) @ weights for i in range(0, len(points), step)
    ]
    return np.concatenate(values)


def _kernel(points: Doubles, X: Doubles, kernel: Any) -> Doubles:
    if isinstance(kernel, Laplacian):
        values: Doubles = np.exp(-cdist(points, X, "cityblock") / kernel.sigma)
        return values
    sqdist = cdist(points, X, "sqeuclidean") / kernel.sigma**2
    return np.exp(-sqdist / 2) if isinstance(kernel, Gaussian) else 1 / (1 + sqdist)


def error_of(model: Any, X: Doubles, new: Doubles, scores: Doubles) -> float:
    """The largest relative error of the sums at new rows, of a sample and of the lowest."""
    order = np.argsort(scores)
    every = np.linspace(0, len(order) - 1, _SAMPLE).astype(np.intp)
    places = np.unique(np.concatenate([order[:_SAMPLE], order[every]]))
    exact = exact_sums(new[places], X, model.weights_, Gaussian(model.sigma_))
    tiny = exact > 1e-250  # below, NumPy has no digits
    return float(np.abs(np.exp(scores[places][tiny]) / exact[tiny] - 1).max())


def _named(shape: tuple[int, ...]) -> str:
    return f"{shape[0]:,} x {shape[1]}"


def _error_verdict(name: str, error: float) -> Verdict:
    target = f"{name}: scores of new rows are exact to {_LARGEST_ERROR:.0e}"
    return Verdict(target, f"{error:.1e}", (error <= _LARGEST_ERROR,))


# ---- parts --------------------------------------------------------------------------------------


def show_plane(quick: bool, report: Report) -> list[Verdict]:
    shape = _PLANE_QUICK if quick else _PLANE
    X = blobs(*shape)
    peers = {
        "OneClassSVM": lambda: _svm(X, 2.0),
        "KernelDensity": lambda: KernelDensity(bandwidth=_SIGMA, rtol=1e-6).fit(X).score_samples(X),
    }
    return _beside(X, _SIGMA, peers, {"OneClassSVM": 300, "KernelDensity": 100}, report)


def show_sixteen(quick: bool, report: Report) -> list[Verdict]:
    X = np.random.default_rng(0).standard_normal(_SIXTEEN_QUICK if quick else _SIXTEEN)
    return _beside(X, 2.0, {"OneClassSVM": lambda: _svm(X, 1 / 8)}, {"OneClassSVM": 5}, report)


def _svm(X: Doubles, gamma: float) -> Any:
    return OneClassSVM(gamma=gamma, nu=0.1, cache_size=2000).fit(X).decision_function(X)


def _beside(
    X: Doubles,
    sigma: float,
    peers: dict[str, Callable[[], Any]],
    targets: dict[str, int],
    report: Report,
) -> list[Verdict]:
    """Ours several times, before and after peers that take a minute and run once."""
    model = OneClusterPCM(sigma=sigma)
    model.fit(X)  # loads all code
    before = best_of(3, lambda: model.fit(X))
    times = {name: seconds(peer) for name, peer in peers.items()}
    ours = min(before, best_of(3, lambda: model.fit(X)))
    rows = [
        [name, f"{taken:.3g}", f"{taken / ours:.3g}"]
        for name, taken in {"OneClusterPCM": ours, **times}.items()
    ]
    title = f"A fit and the scores of all rows, {_named(X.shape)}, sigma {sigma}"
    report.table(title, ["detector", "seconds", "to ours"], rows)
    new = X[:2000] + 0.01 * sigma
    error = error_of(model, X, new, model.score_samples(new))
    verdicts = [
        Verdict(
            f"{_named(X.shape)}: at least {targets[name]} times faster than {name}",
            f"{taken / ours:.3g} times",
            (taken / ours >= targets[name],),
        )
        for name, taken in times.items()
    ]
    return [*verdicts, _error_verdict(_named(X.shape), error)]


def show_large(quick: bool, report: Report) -> list[Verdict]:
    rows, verdicts = [], []
    for shape in _LARGE_QUICK if quick else _LARGE:
        report.progress(f"a fit of {_named(shape)}")
        taken, n_iter, growth, error = json_from(__file__, "--one-fit", *map(str, shape))
        arrays = growth / (8 * shape[0])
        rows.append(
            [_named(shape), f"{taken:.3g}", f"{1e9 * taken / shape[0]:.0f}", str(n_iter),
             f"{arrays:.1f}", f"{error:.0e}"]
        )  # fmt: skip
        verdicts.append(_error_verdict(_named(shape), error))
    columns = ["rows", "seconds", "ns a row", "iterations", "memory, arrays of n", "largest error"]
    report.table(f"Fits of eight blobs, sigma {_SIGMA}", columns, rows)
    return verdicts


def print_fit(n_rows: int, n_features: int) -> None:
    """The best of two fits, the iterations, the rise of memory in the first, and the error."""
    X, new = blobs(n_rows, n_features), blobs(2000, n_features, seed=1)
    model = OneClusterPCM(sigma=_SIGMA)
    model.fit(X[:2000])
    with ResidentPeak() as resident:
        first = seconds(lambda: model.fit(X))
    taken = min(first, seconds(lambda: model.fit(X)))
    error = error_of(model, X, new, model.score_samples(new))
    print(json.dumps([taken, model.n_iter_, resident.growth, error]))


def show_scoring(quick: bool, report: Report) -> list[Verdict]:
    rows, verdicts = [], []
    for n_rows, n_features, sigma, rtol in _SCORING_QUICK if quick else _SCORING:
        report.progress(f"scores by a model of {n_rows:,} rows")
        X, new = blobs(n_rows, n_features), blobs(min(n_rows, 100_000), n_features, seed=1)
        model = OneClusterPCM(sigma=sigma).fit(X)
        small = model.compress(rtol)
        for name, one in {"as it is": model, f"compress({rtol:.0e})": small}.items():
            taken = best_of(2, partial(one.score_samples, new))
            size = len(pickle.dumps(one)) / 1e6
            rows.append([f"{n_rows:,} x {n_features}, {name}", f"{taken:.3g}", f"{size:.3g}"])
        some = new[:1000]
        exact = exact_sums(some, X, model.weights_, Gaussian(sigma))
        off = float(np.abs(np.exp(small.score_samples(some)) - exact).max())
        target = f"{n_rows:,} x {n_features}: compress({rtol:.0e}) keeps its promise"
        verdicts.append(Verdict(target, f"off by {off:.1e}", (off <= rtol,)))
    report.table("Scores of new rows", ["model", "seconds", "model, MB"], rows)
    return verdicts


def show_promises(quick: bool, report: Report) -> list[Verdict]:
    n_cases = _N_CASES_QUICK if quick else _N_CASES
    worst = {"fit": 0.0, "compress": 0.0}
    n_refused = 0
    for seed in range(n_cases):
        X, new, kernel, rtol = _case(seed)
        model = OneClusterPCM(kernel=kernel).fit(X)
        exact = exact_sums(new, X, model.weights_, kernel)
        rounding = (len(X) + 16) * np.finfo(float).eps
        off = np.abs(np.exp(model.score_samples(new)) - exact) / (_LARGEST_ERROR * exact + rounding)
        worst["fit"] = max(worst["fit"], float(off.max()))
        try:
            small = model.compress(rtol)
        except ValueError:  # most rows would be needed
            n_refused += 1
            continue
        off = np.abs(np.exp(small.score_samples(new)) - exact) / (rtol + rounding)
        worst["compress"] = max(worst["compress"], float(off.max()))
    rows = [[name, f"{ratio:.2g}"] for name, ratio in worst.items()]
    title = (
        f"Largest error over what is promised, {n_cases} random cases, {n_refused} not compressed"
    )
    report.table(title, ["scores by", "error / promise"], rows)
    return [
        Verdict("every promise kept", f"{max(worst.values()):.2g}", (max(worst.values()) <= 1,))
    ]


def _case(seed: int) -> tuple[Doubles, Doubles, Any, float]:
    """Rows of six kinds, new rows, a kernel from narrow to wide, a promise of 1e-9 to 1e-2."""
    rng = np.random.default_rng(seed)
    shape = int(np.exp(rng.uniform(np.log(40), np.log(6000)))), int(rng.integers(1, 13))
    draws: list[Callable[[tuple[int, int]], Doubles]] = [
        lambda shape: rng.standard_normal(shape),
        lambda shape: rng.uniform(-2.0, 2.0, shape),
        lambda shape: rng.standard_normal(shape) + 8.0 * rng.integers(0, 3, (shape[0], 1)),
        lambda shape: rng.standard_t(1.5, shape),
        lambda shape: np.round(2.0 * rng.standard_normal(shape)) / 2.0,
        lambda shape: rng.standard_normal(shape) + 1e4,
    ]
    draw = draws[rng.integers(len(draws))]
    X, new = draw(shape), draw((200, shape[1]))
    new += 1e-3 * rng.standard_normal(new.shape)  # a row that equals a training row leaves it out
    scale = float(np.median(cdist(X[:100], X[-100:]))) or 1.0
    kind = [Gaussian, Laplacian, Cauchy][rng.choice(3, p=[0.6, 0.2, 0.2])]
    return (
        X,
        new,
        kind(scale * np.exp(rng.uniform(np.log(0.1), np.log(2.0)))),
        10 ** rng.uniform(-9, -2),
    )


PARTS: dict[str, Callable[[bool, Report], list[Verdict]]] = {
    "plane": show_plane,
    "sixteen": show_sixteen,
    "large": show_large,
    "scoring": show_scoring,
    "promises": show_promises,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows, for a first look")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--one-fit", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of odd widths and rows
    if options.one_fit:
        return print_fit(*options.one_fit)
    report = Report()
    for line in machine("finufft"):
        report.line(line)
    verdicts = [verdict for part in options.only for verdict in PARTS[part](options.quick, report)]
    report.verdicts(verdicts)
    report.write(_RESULTS)
    return None


if __name__ == "__main__":
    main()
