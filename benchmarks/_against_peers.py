"""Fits of one-cluster PCM beside OneClassSVM and KernelDensity, which score the same rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

from _blobs import blobs, named
from _exact_sums import exact_fit
from _load import watch_load
from _report import Report, Verdict
from _score_errors import COLUMNS, LARGEST_ERROR, ScoreErrors, errors_of_fit, verdict
from _stopwatch import Timed, best_of, timed
from typicality import OneClusterPCM

__all__ = ["show_plane", "show_sixteen_features"]

_PLANE, _PLANE_QUICK = (40_000, 2), (4_000, 2)
_SIXTEEN, _SIXTEEN_QUICK = (50_000, 16), (5_000, 16)
_ROUNDS, _ROUNDS_SIXTEEN = 5, 2  # before the peers, and as many after
_OURS = "OneClusterPCM"
_TIMES_SVM, _TIMES_DENSITY, _TIMES_SVM_EXACT = 300, 100, 5

Doubles = NDArray[np.float64]
Act = Callable[[], Any]


def show_plane(quick: bool, report: Report) -> list[Verdict]:
    """The fast sums, in two dimensions."""
    shape = _PLANE_QUICK if quick else _PLANE
    X = blobs(*shape)
    peers: dict[str, Act] = {
        "OneClassSVM": lambda: _boundary(X, gamma=2.0),
        "KernelDensity": lambda: KernelDensity(bandwidth=0.5, rtol=1e-6).fit(X).score_samples(X),
    }
    ours = lambda: OneClusterPCM(sigma=0.5).fit(X)  # noqa: E731
    times = _race(f"Eight blobs, {named(shape)}, sigma 0.5", ours, peers, _ROUNDS, report)
    model = times[_OURS].result
    errors = errors_of_fit(model, X)
    report.progress("an exact fit")
    return [
        _ratio(times, "OneClassSVM", _TIMES_SVM, shape),
        _ratio(times, "KernelDensity", _TIMES_DENSITY, shape),
        *_show_errors(shape, errors, report),
        _show_exact_fit(model, X, report),
    ]


def show_sixteen_features(quick: bool, report: Report) -> list[Verdict]:
    """Exact sums, where no fast ones exist."""
    shape = _SIXTEEN_QUICK if quick else _SIXTEEN
    X = np.random.default_rng(0).standard_normal(shape)
    peers: dict[str, Act] = {"OneClassSVM": lambda: _boundary(X, gamma=1 / 8)}
    ours = lambda: OneClusterPCM(sigma=2.0, gamma=1.0, algorithm="blocked").fit(X)  # noqa: E731
    title = f"Normal rows, {named(shape)}, sigma 2, algorithm='blocked'"
    times = _race(title, ours, peers, _ROUNDS_SIXTEEN, report)
    return [
        _ratio(times, "OneClassSVM", _TIMES_SVM_EXACT, shape),
        *_show_errors(shape, errors_of_fit(times[_OURS].result, X), report),
    ]


def _boundary(X: Doubles, *, gamma: float) -> Doubles:
    model = OneClassSVM(gamma=gamma, nu=0.1, cache_size=2000).fit(X)
    decisions: Doubles = model.decision_function(X)
    return decisions


def _race(
    title: str, ours: Act, peers: dict[str, Act], rounds: int, report: Report
) -> dict[str, Timed]:
    """Ours several times, before and after peers that take a minute and run once."""
    ours()  # loads all code
    with watch_load() as load:
        report.progress(title)
        before = best_of(rounds, ours)
        others = {name: timed(peer) for name, peer in peers.items()}
        after = best_of(rounds, ours)
    times = {_OURS: min(before, after, key=lambda run: run.seconds), **others}
    rows = [
        [name, f"{run.seconds:.3g}", f"{run.seconds / times[_OURS].seconds:.3g}"]
        for name, run in times.items()
    ]
    report.table(title, ["contestant", "seconds", "to ours"], rows)
    plan = times[_OURS].result.plan_
    report.line(
        f"Ours: the best of {2 * rounds} fits, {times[_OURS].result.n_iter_} iterations, "
        f"plan_ {plan} Peers fit and score the same rows, once. Other programs used "
        f"{load.share:.0%} of the machine meanwhile."
    )
    return times


def _ratio(times: dict[str, Timed], peer: str, target: int, shape: tuple[int, int]) -> Verdict:
    ratio = times[peer].seconds / times[_OURS].seconds
    target_text = f"{named(shape)}: at least {target} times faster than {peer}"
    return Verdict(target_text, f"{ratio:.3g} times", (ratio >= target,))


def _show_errors(shape: tuple[int, int], errors: ScoreErrors, report: Report) -> list[Verdict]:
    title = f"Scores against exact sums, {named(shape)}, largest relative errors"
    report.table(title, ["", *COLUMNS], [["training rows, left out", *errors.cells]])
    return [verdict([errors], named(shape))]


def _show_exact_fit(model: OneClusterPCM, X: Doubles, report: Report) -> Verdict:
    """All typicalities and weights against those of a fit by NumPy."""
    exact = exact_fit(X, sigma=model.sigma_, gamma=model.gamma, n_iter=model.n_iter_)
    found = {
        "typicality_": np.abs(model.typicality_ / exact.typicality - 1).max(),
        "weights_": np.abs(model.weights_ / exact.weights - 1).max(),
        "eta_": abs(model.eta_ / exact.eta - 1),
    }
    rows = [[name, f"{error:.1e}"] for name, error in found.items()]
    report.table("A fit by NumPy, all rows", ["", "largest relative difference"], rows)
    report.line(f"The last of its {model.n_iter_} steps changed weights by {exact.change:.1e}.")
    largest = max(found.values())
    return Verdict(
        f"the fit is that of exact sums, to {LARGEST_ERROR:.0e}",
        f"largest difference {largest:.1e}",
        (bool(largest <= LARGEST_ERROR),),
    )
