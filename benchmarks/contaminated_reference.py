"""p-values of new rows when the reference rows contain outliers: errors and power.

`python benchmarks/contaminated_reference.py [--draws N] [--markdown PATH]` prints the type I error
at .01, .05 and .10, and, for Benjamini and Hochberg's procedure at .1 with 200 new rows of which 20
are outliers, the rate of false discoveries and the power. The p-value of a row with the kernel sum
S is (1 + #{S_i <= S}) / (n + 1), S_i being the leave-one-out sums of the n reference rows. Ways to
win power back leave reference rows out of the sums, or of the sums and the ranks:

- plain: all rows in both;
- sums 5 %: the 5 % of lowest S_i are left out of the sums and stay in the ranks;
- gamma: sums weighted by typicality with gamma = .2; all rows in the ranks;
- ranks 5 %: the same 5 % are left out of sums and ranks;
- ranks, fence: as many as lie beyond the upper quartile of sqrt(-log S_i) by three IQR;
- ranks, told: the true share, which nobody knows.

No constant was chosen from results. Null rows are drawn from the source without outliers.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from scipy.special import logsumexp
from scipy.stats import false_discovery_control

from _report import Report

_RESULTS = Path(__file__).resolve().parent / "results" / "contaminated_reference.md"
_RATES = (0.0, 0.01, 0.02, 0.05, 0.1)
_SIZES = (200, 1000)
_WIDTHS = (2, 8)  # the median distance divided by
_N_NULL, _N_STRANGE = 180, 20
_LEVELS = (0.01, 0.05, 0.1)
_FDR = 0.1
_TRIMMED, _GAMMA, _FENCE = 0.05, 0.2, 3.0
_WAYS = ("plain", "sums 5 %", "gamma", "ranks 5 %", "ranks, fence", "ranks, told")

Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int], Doubles]


# ---- sources -------------------------------------------------------------------------------------


def _normal(d: int) -> Draw:
    return lambda rng, n: rng.standard_normal((n, d))


def _blobs(rng: np.random.Generator, n: int) -> Doubles:
    centers = np.array([[-4.0, 0.0], [4.0, 0.0], [0.0, 6.0]])
    which = rng.integers(3, size=n)
    return centers[which] + np.array([0.5, 1.0, 0.7])[which, None] * rng.standard_normal((n, 2))


def _heavy(rng: np.random.Generator, n: int) -> Doubles:
    return rng.standard_t(5, (n, 4))


def _skewed(rng: np.random.Generator, n: int) -> Doubles:
    return np.exp(0.5 * rng.standard_normal((n, 3)))


_SOURCES: dict[str, Draw] = {
    "normal, d = 2": _normal(2),
    "normal, d = 8": _normal(8),
    "blobs, d = 2": _blobs,
    "heavy tails, d = 4": _heavy,
    "skewed, d = 3": _skewed,
}


def _radius(source: Draw) -> tuple[Doubles, float]:
    """The centre of a source and the distance from it that one row in a thousand exceeds."""
    rows = source(np.random.default_rng(1), 50_000)
    center = rows.mean(axis=0)
    return center, float(np.quantile(np.linalg.norm(rows - center, axis=1), 0.999))


def _scattered(center: Doubles, radius: float, rng: np.random.Generator, n: int) -> Doubles:
    """In all directions, farther out than all but one normal row in a thousand."""
    aside = rng.standard_normal((n, len(center)))
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    return center + radius * rng.uniform(1.0, 1.6, (n, 1)) * aside


def _grouped(center: Doubles, radius: float, rng: np.random.Generator, n: int) -> Doubles:
    """One group, always at the same place."""
    aside = np.ones(len(center)) / np.sqrt(len(center))
    noise = rng.standard_normal((n, len(center))) / np.sqrt(len(center))
    return center + 1.3 * radius * aside + 0.1 * radius * noise


_KINDS = {"scattered": _scattered, "one group": _grouped}


# ---- p-values ------------------------------------------------------------------------------------


def log_sums(sqdist: Doubles, sigma: float, log_weights: Doubles, *, own: bool) -> Doubles:
    """Logarithms of weighted kernel sums; of reference rows without their own term."""
    exponents = -sqdist / (2 * sigma**2) + log_weights
    if own:
        np.fill_diagonal(exponents, -np.inf)
    sums: Doubles = logsumexp(exponents, axis=1)
    return sums


def typicality_weights(sqdist: Doubles, sigma: float) -> Doubles:
    """The weights of one-cluster PCM, by its fixed-point iteration."""
    halved = -np.expm1(-sqdist / (2 * sigma**2))
    weights = np.full(len(sqdist), 1 / len(sqdist))
    eta = _GAMMA * (weights @ halved @ weights)
    for _ in range(100):
        distance = 2 * halved @ weights
        new = np.exp(-(distance - distance.min()) / eta)
        new /= new.sum()
        if np.abs(new - weights).sum() < 1e-4:
            break
        weights = new
    return new


def p_values(reference: Doubles, rows: Doubles, divisor: float, rate: float) -> dict[str, Doubles]:
    """The p-values of the rows, one array for each way."""
    sigma = float(np.median(pdist(reference))) / divisor
    among, to = cdist(reference, reference, "sqeuclidean"), cdist(rows, reference, "sqeuclidean")
    nothing = np.zeros(len(reference))
    first = log_sums(among, sigma, nothing, own=True)

    def ranked(log_weights: Doubles, in_ranks: Bools) -> Doubles:
        known = np.sort(log_sums(among, sigma, log_weights, own=True)[in_ranks])
        new = log_sums(to, sigma, log_weights, own=False)
        p: Doubles = (1 + np.searchsorted(known, new, side="right")) / (len(known) + 1)
        return p

    def without(out: Bools) -> Doubles:
        return np.where(out, -np.inf, 0.0)

    everything = np.ones(len(reference), bool)
    order = np.argsort(np.argsort(first))
    lowest = order < round(_TRIMMED * len(reference))
    told = order < round(rate * len(reference))
    radius = np.sqrt(np.maximum(np.log(len(reference) - 1) - first, 0.0))
    low, high = np.quantile(radius, [0.25, 0.75])
    beyond = radius > high + _FENCE * (high - low)
    return {
        "plain": ranked(nothing, everything),
        "sums 5 %": ranked(without(lowest), everything),
        "gamma": ranked(np.log(typicality_weights(among, sigma)), everything),
        "ranks 5 %": ranked(without(lowest), ~lowest),
        "ranks, fence": ranked(without(beyond), ~beyond),
        "ranks, told": ranked(without(told), ~told),
    }


def measure(p: Doubles) -> list[float]:
    """Type I errors at the levels, then the share of false discoveries and the power."""
    found = false_discovery_control(p, method="bh") <= _FDR
    false, true = found[:_N_NULL].sum(), found[_N_NULL:].sum()
    errors = [float(np.mean(p[:_N_NULL] <= level)) for level in _LEVELS]
    return [*errors, false / max(false + true, 1), true / _N_STRANGE]


def measure_cell(n: int, rate: float, divisor: float, n_draws: int) -> dict[str, Doubles]:
    """For each way one row of measures per source and kind of outliers: means over draws."""
    cells: dict[str, list[Doubles]] = {way: [] for way in _WAYS}
    for s, source in enumerate(_SOURCES.values()):
        center, radius = _radius(source)
        for k, outliers in enumerate(_KINDS.values()):
            sums = {way: np.zeros(len(_LEVELS) + 2) for way in _WAYS}
            for seed in range(n_draws):
                rng = np.random.default_rng([seed, s, k, n, round(1000 * rate)])
                n_strange = round(rate * n)
                reference = np.concatenate(
                    [source(rng, n - n_strange), outliers(center, radius, rng, n_strange)]
                )
                rows = np.concatenate(
                    [source(rng, _N_NULL), outliers(center, radius, rng, _N_STRANGE)]
                )
                for way, p in p_values(reference, rows, divisor, rate).items():
                    sums[way] += measure(p)
            for way in _WAYS:
                cells[way].append(sums[way] / n_draws)
    return {way: np.array(rows) for way, rows in cells.items()}


def main() -> None:
    """Measure every cell and print one table for each width and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=15)
    parser.add_argument("--markdown", type=Path, default=_RESULTS)
    options: Any = parser.parse_args()
    report = Report()
    for divisor in _WIDTHS:
        for n in _SIZES:
            report.progress(f"sigma = M/{divisor}, {n} reference rows")
            rows = []
            for rate in _RATES:
                cells = measure_cell(n, rate, divisor, options.draws)
                for way, values in cells.items():
                    *errors, false, power = values.mean(axis=0)
                    cell = " / ".join(f"{error:.3f}" for error in errors)
                    worst = f"{values[:, len(_LEVELS)].max():.3f}"
                    rows.append([f"{rate:.0%}, {way}", cell, f"{false:.3f}", worst, f"{power:.3f}"])
            report.table(
                f"sigma = M/{divisor}, {n} reference rows, {options.draws} draws of each of "
                f"{len(_SOURCES) * len(_KINDS)} sources",
                ["outliers", "type I", "FDR", "worst source", "power"],
                rows,
            )
    report.write(options.markdown)


if __name__ == "__main__":
    main()
