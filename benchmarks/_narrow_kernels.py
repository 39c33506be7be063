"""Narrow kernels in eight dimensions: sums that leave far rows out, beside those that do not."""

import warnings

from _blobs import blobs, named
from _load import watch_load
from _report import Report, Verdict
from _score_errors import COLUMNS, ScoreErrors, errors_of_fit, verdict
from _stopwatch import Timed, in_turn
from typicality import OneClusterPCM
from typicality.exceptions import BandwidthWarning

__all__ = ["show_narrow"]

_N_FEATURES, _N_CLUSTERS = 8, 20
_SIZES, _SIZES_QUICK = (12_500, 25_000, 50_000, 100_000), (1_500, 3_000)
_SIGMAS = (0.25, 0.5, 1.0)
_METHODS = ("truncated", "blocked")
_ROUNDS = 2

Case = tuple[int, float]


def show_narrow(quick: bool, report: Report) -> list[Verdict]:
    """Fits by both on the same rows, in turn; the errors of the truncated ones at the most rows."""
    sizes = _SIZES_QUICK if quick else _SIZES
    warnings.simplefilter("ignore", BandwidthWarning)  # rows without neighbours are wanted here
    times: dict[Case, dict[str, Timed]] = {}
    _fits(blobs(sizes[0], _N_FEATURES, n_blobs=_N_CLUSTERS), _SIGMAS[0], 1)  # loads all code
    with watch_load() as load:
        for n_rows in sizes:
            X = blobs(n_rows, _N_FEATURES, n_blobs=_N_CLUSTERS)
            for sigma in _SIGMAS:
                report.progress(f"{n_rows:,} rows, sigma {sigma}")
                times[n_rows, sigma] = _fits(X, sigma, _ROUNDS)
    columns = ["rows", "sigma", *[f"{method}, s" for method in _METHODS], "ratio", "iterations"]
    title = f"{_N_CLUSTERS} clusters, {_N_FEATURES} features"
    report.table(title, columns, [_row(case, found) for case, found in times.items()])
    report.line(f"Other programs used {load.share:.0%} of the machine while times were taken.")
    errors = _errors(times, sizes[-1])
    title = f"Scores by truncated sums against exact ones, {named((sizes[-1], _N_FEATURES))}"
    report.table(title, ["sigma", *COLUMNS], [[str(s), *e.cells] for s, e in errors.items()])
    ratios = [_ratio(found) for found in times.values()]
    return [
        Verdict(
            "truncated sums no slower than blocked ones",
            f"{min(ratios):.2g} to {max(ratios):.2g} times faster",
            tuple(ratio >= 1 for ratio in ratios),
        ),
        verdict(list(errors.values()), "truncated"),
    ]


def _fits(X: object, sigma: float, rounds: int) -> dict[str, Timed]:
    def fit(method: str) -> OneClusterPCM:
        return OneClusterPCM(sigma=sigma, algorithm=method).fit(X)

    return in_turn({method: lambda m=method: fit(m) for method in _METHODS}, rounds)


def _row(case: Case, found: dict[str, Timed]) -> list[str]:
    seconds = [f"{found[method].seconds:.3g}" for method in _METHODS]
    n_iter = str(found["truncated"].result.n_iter_)
    return [f"{case[0]:,}", str(case[1]), *seconds, f"{_ratio(found):.1f}", n_iter]


def _ratio(found: dict[str, Timed]) -> float:
    return found["blocked"].seconds / found["truncated"].seconds


def _errors(times: dict[Case, dict[str, Timed]], n_rows: int) -> dict[float, ScoreErrors]:
    X = blobs(n_rows, _N_FEATURES, n_blobs=_N_CLUSTERS)
    return {s: errors_of_fit(times[n_rows, s]["truncated"].result, X) for s in _SIGMAS}
