"""Validity of p-values, false discoveries and their power, over many draws from known sources.

`python benchmarks/p_values.py [--draws N] [--parts PART ...] [--quick]` prints tables and writes
them to `benchmarks/results/p_values.md`. It takes about two hours of one processor, `--quick` half
a minute.

validity
    Type I error: the share of new rows from the source that have a p-value of at most .01, .05 and
    .10.
discoveries
    200 new rows, 20 of them outliers, and a reference with 0 to 10 % outliers: the rate of false
    discoveries and the power of three procedures at three rates.
interval
    How often `false_alarm_interval_` holds the rate of false alarms, of 20,000 new rows.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from _report import Report, Verdict, machine
from typicality import OneClusterPCM
from typicality.metrics import select_discoveries

Doubles = NDArray[np.float64]

_RESULTS = Path(__file__).resolve().parent / "results" / "p_values.md"
_LEVELS, _RATES = (0.01, 0.05, 0.10), (0.05, 0.1, 0.2)
_PROCEDURES = ("bh", "by", "storey")
_FEATURES = (2, 8)
_CONTAMINATIONS = (0.0, 0.01, 0.05, 0.1)
_DRAWS = {  # of each source, by part and by the number of reference rows
    "validity": {60: 1000, 200: 1000, 1000: 250},
    "discoveries": {200: 50, 1000: 10},
    "interval": {60: 100, 200: 100, 1000: 20},
}
_N_TESTS, _N_OUTLIERS = 200, 20
_N_NEW = {"validity": 100, "interval": 20_000}
_SHIFT = 4.0  # of an outlier, in standard deviations of a feature
_LARGEST_Z = 4.0  # of one in hundreds of numbers: chance alone gives it once in 30,000

# ---- sources ------------------------------------------------------------------------------------


def _clusters(n_rows: int, d: int, rng: np.random.Generator) -> Doubles:
    """Three clusters of different size and spread."""
    cluster = rng.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    spreads = np.array([0.5, 1.0, 1.5])[cluster, None]
    return 5.0 * np.eye(3, d, k=-1)[cluster] + spreads * rng.standard_normal((n_rows, d))


_TIED = "rounded normal"
_SOURCES: dict[str, Callable[[int, int, np.random.Generator], Doubles]] = {
    "normal": lambda n, d, rng: rng.standard_normal((n, d)),
    "t, 3 degrees": lambda n, d, rng: rng.standard_t(3.0, (n, d)),
    "three clusters": _clusters,
    "lognormal": lambda n, d, rng: rng.lognormal(size=(n, d)),
    _TIED: lambda n, d, rng: np.round(rng.standard_normal((n, d))),
}


@cache
def _scale(source: str, d: int) -> float:
    """The standard deviation of a feature."""
    rows = _SOURCES[source](10_000, d, np.random.default_rng(0))
    return float(np.sqrt(rows.var(axis=0).mean()))


class Setting(NamedTuple):
    """What is drawn: the part, the source, and the sizes."""

    part: str
    source: str
    d: int
    n: int
    contamination: float

    def draw(self, seed: int) -> tuple[Doubles, Doubles]:
        """The reference rows and the new ones; outliers come last in both."""
        sizes = [*self.source.encode(), self.d, self.n, round(1000 * self.contamination)]
        rng = np.random.default_rng([*self.part.encode(), *sizes, seed])
        n_out = round(self.contamination * self.n)
        X = np.concatenate([self._rows(self.n - n_out, rng), self._outliers(n_out, rng)])
        if self.part != "discoveries":
            return X, self._rows(_N_NEW[self.part], rng)
        outliers = self._outliers(_N_OUTLIERS, rng)
        return X, np.concatenate([self._rows(_N_TESTS - _N_OUTLIERS, rng), outliers])

    def _rows(self, n_rows: int, rng: np.random.Generator) -> Doubles:
        return _SOURCES[self.source](n_rows, self.d, rng)

    def _outliers(self, n_rows: int, rng: np.random.Generator) -> Doubles:
        """Rows of the source, each moved in a direction of its own."""
        ways = rng.standard_normal((n_rows, self.d))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        return self._rows(n_rows, rng) + _SHIFT * _scale(self.source, self.d) * ways


# ---- contestants --------------------------------------------------------------------------------


def _fit(X: Doubles, seed: int, **parameters: Any) -> OneClusterPCM:
    return OneClusterPCM(random_state=seed, **parameters).fit(X)


def _fixed_width(X: Doubles, seed: int) -> OneClusterPCM:
    return _fit(X, seed, weights="uniform", sigma=0.5 * float(np.sqrt(X.shape[1])))


_SPLIT: dict[str, Any] = {"calibration": "split"}
MODELS: dict[str, Callable[[Doubles, int], OneClusterPCM]] = {
    "fitted weights": _fit,
    "fitted weights, narrow": partial(_fit, novelty=True),
    "equal weights": partial(_fit, weights="uniform"),
    "equal weights, fixed width": _fixed_width,
    "fitted weights, split": partial(_fit, **_SPLIT),
    "equal weights, split": partial(_fit, weights="uniform", **_SPLIT),
}


def _ways(model: str) -> dict[str, tuple[Any, ...]]:
    """Names of p-values, and the arguments of `p_values` that give them."""
    return {model: ()} if "split" in model else {f"{model}, loo": (), f"{model}, full": ("full",)}


# ---- draws ---------------------------------------------------------------------------------------


def measure(setting: Setting, n_draws: int) -> dict[str, Doubles]:
    """What each way gives in each draw of a setting."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(n_draws):
        X, new = setting.draw(seed)
        for name, fit in MODELS.items():
            model = fit(X, seed)
            if setting.part == "interval":
                found.setdefault(name, []).append(_alarms(model, new))
                continue
            for way, arguments in _ways(name).items():
                p_values = model.p_values(new, *arguments)
                numbers = _errors if setting.part == "validity" else _discoveries
                found.setdefault(way, []).append(numbers(p_values))
    return {name: np.array(rows) for name, rows in found.items()}


def _errors(p_values: Doubles) -> list[float]:
    return [float(np.mean(p_values <= level + 1e-12)) for level in _LEVELS]


def _discoveries(p_values: Doubles) -> list[float]:
    """False discoveries and power, for each procedure and rate."""
    numbers = []
    for procedure, rate in product(_PROCEDURES, _RATES):
        found = select_discoveries(p_values, fdr=rate, method=procedure)
        true = int(found[-_N_OUTLIERS:].sum())
        numbers += [1.0 - true / int(found.sum()) if found.any() else 0.0, true / _N_OUTLIERS]
    return numbers


def _alarms(model: OneClusterPCM, new: Doubles) -> list[float]:
    low, high = model.false_alarm_interval_
    alarms = float(np.mean(model.predict(new) < 0))
    return [float(low <= alarms <= high), alarms]


Measured = dict[str, list[tuple[Setting, Doubles]]]  # by way, a pair for each source


def run(part: str, n: int, n_draws: int, contamination: float = 0.0) -> Measured:
    found: Measured = {}
    for source, d in product(_SOURCES, _FEATURES):
        setting = Setting(part, source, d, n, contamination)
        for way, draws in measure(setting, n_draws).items():
            found.setdefault(way, []).append((setting, draws))
    return found


# ---- tables -------------------------------------------------------------------------------------


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _mean_and(extreme: Callable[..., float], means: list[float]) -> str:
    return f"{_short(float(np.mean(means)))} ({_short(extreme(means))})" if means else ""


def _means(sources: list[tuple[Setting, Doubles]], column: int) -> list[float]:
    return [float(draws[:, column].mean()) for _, draws in sources]


def _excess(draws: Doubles, column: int, nominal: float) -> float:
    """How far a mean is above the nominal value, in standard errors."""
    values = draws[:, column]
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return float((values.mean() - nominal) / error) if error > 0 else -np.inf


def _verdict(target: str, excesses: list[float]) -> Verdict:
    words = f"at most {max(excesses):+.1f} standard errors above, of {len(excesses)} numbers"
    return Verdict(target, words, (max(excesses) < _LARGEST_Z,))


def show_validity(sizes: dict[int, int], report: Report) -> list[Verdict]:
    rows, excesses = [], []
    for n, n_draws in sizes.items():
        report.progress(f"validity, n = {n}")
        for way, sources in run("validity", n, n_draws).items():
            levels = [_mean_and(max, _means(sources, i)) for i in range(len(_LEVELS))]
            z = [_excess(d, i, level) for _, d in sources for i, level in enumerate(_LEVELS)]
            rows.append([way, str(n), str(n_draws), *levels, f"{max(z):+.1f}"])
            excesses += z
    columns = [
        "p-values",
        "n",
        "draws",
        *[_short(level)[:3] for level in _LEVELS],
        "largest excess",
    ]
    report.table("Type I error: mean of ten sources (largest)", columns, sorted(rows))
    return [_verdict("type I error at most nominal", excesses)]


def show_discoveries(sizes: dict[int, int], report: Report) -> list[Verdict]:
    excesses = []
    for n, n_draws in sizes.items():
        report.progress(f"discoveries, n = {n}")
        found = {share: run("discoveries", n, n_draws, share) for share in _CONTAMINATIONS}
        ways = list(found[0.0])
        for i, (procedure, rate) in enumerate(product(_PROCEDURES, _RATES)):
            cells = [[_both(found[share][way], i) for share in found] for way in ways]
            columns = [f"{share:.0%} outliers" for share in found]
            title = f"False discoveries / power at {rate:g}, {procedure}, n = {n}"
            rows = [[way, *row] for way, row in zip(ways, cells, strict=True)]
            report.table(title, ["p-values", *columns], rows)
            pairs = [draws for of in found.values() for some in of.values() for _, draws in some]
            excesses += [_excess(draws, 2 * i, rate) for draws in pairs]
    return [_verdict("rate of false discoveries at most nominal", excesses)]


def _both(sources: list[tuple[Setting, Doubles]], place: int) -> str:
    means = [float(np.mean(_means(sources, 2 * place + i))) for i in range(2)]
    return " / ".join(map(_short, means))


def show_interval(sizes: dict[int, int], report: Report) -> list[Verdict]:
    rows = []
    for n, n_draws in sizes.items():
        report.progress(f"interval, n = {n}")
        for model, sources in run("interval", n, n_draws).items():
            row = [model, str(n), str(n_draws)]
            for tied in (False, True):
                some = [one for one in sources if (one[0].source == _TIED) == tied]
                row += [_mean_and(max, _means(some, 1)), _mean_and(min, _means(some, 0))]
            rows.append(row)
    columns = ["model", "n", "draws", "false alarms (largest)", "in the interval (least)"]
    columns += ["rounded: false alarms (largest)", "in the interval (least)"]
    report.table("false_alarm_interval_ for a rate of .05", columns, rows)
    return []


SHOW = {"validity": show_validity, "discoveries": show_discoveries, "interval": show_interval}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=list(SHOW), default=list(SHOW))
    parser.add_argument("--draws", type=int, default=1000, help="at most, of each source")
    parser.add_argument("--quick", action="store_true", help="2 draws of up to 200 rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of kernels too narrow for some sources
    report = Report()
    for line in machine():
        report.line(line)
    verdicts = []
    for part in options.parts:
        most = 2 if options.quick else options.draws
        sizes = {n: min(most, n_draws) for n, n_draws in _DRAWS[part].items()}
        sizes = {n: n_draws for n, n_draws in sizes.items() if n <= 200 or not options.quick}
        verdicts += SHOW[part](sizes, report)
    report.verdicts(verdicts)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
