"""Validity of p-values, false discoveries and their power, over many draws from known sources.

`python benchmarks/p_values.py` takes about two hours of one processor, `--quick` half a minute. It
writes each draw to `--log` and prints tables of the draws that are there, also as markdown beside
the log. A run that was stopped goes on where it was: remove the log after a change of the code.
`--draws 0` prints only. `p_values_nonconform.py` adds another package to the same log, on the same
rows.

Three parts, each a table or more:

validity
    Type I error: the share of new rows from the source that have a p-value of at most .01, .05 and
    .10.
discoveries
    200 new rows, 20 of them outliers, and a reference with 0 to 10 % outliers: the rate of false
    discoveries and the power of three procedures at three rates. Seconds of a fit and the test.
interval
    How often `false_alarm_interval_` holds the rate of false alarms, of 20,000 new rows.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
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

LEVELS = (0.01, 0.05, 0.10)
RATES = (0.05, 0.1, 0.2)
PROCEDURES = ("bh", "by", "storey")
_RESULTS = Path(__file__).resolve().parent / "results"
_FEATURES = (2, 8)
_SIZES = (60, 200, 1000)
_DRAWS = {  # of each setting, by the number of rows
    "validity": {60: 1000, 200: 1000, 1000: 1000},
    "discoveries": {200: 200, 1000: 40},
    "interval": {60: 100, 200: 100, 1000: 20},
}
CONTAMINATIONS = (0.0, 0.01, 0.05, 0.1)
_N_NEW = 100
_N_TESTS, _N_OUTLIERS = 200, 20
_N_ALARMS = 20_000
_SHIFT = 4.0  # of an outlier, in standard deviations of a feature
_BLOCK = 25  # draws of one setting before the next has its turn

# ---- sources ------------------------------------------------------------------------------------


def _clusters(n_rows: int, d: int, rng: np.random.Generator) -> Doubles:
    """Three clusters of different size and spread."""
    cluster = rng.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    centers = 5.0 * np.eye(3, d, k=-1)
    spreads = np.array([0.5, 1.0, 1.5])
    return centers[cluster] + spreads[cluster, None] * rng.standard_normal((n_rows, d))


_TIED = "rounded normal"
SOURCES: dict[str, Callable[[int, int, np.random.Generator], Doubles]] = {
    "normal": lambda n, d, rng: rng.standard_normal((n, d)),
    "t, 3 degrees": lambda n, d, rng: rng.standard_t(3.0, (n, d)),
    "three clusters": _clusters,
    "lognormal": lambda n, d, rng: rng.lognormal(size=(n, d)),
    _TIED: lambda n, d, rng: np.round(rng.standard_normal((n, d))),
}
_N_SOURCES = len(_FEATURES) * len(SOURCES)


@cache
def _scale(source: str, d: int) -> float:
    """The standard deviation of a feature."""
    rows = SOURCES[source](10_000, d, np.random.default_rng(0))
    return float(np.sqrt(rows.var(axis=0).mean()))


class Setting(NamedTuple):
    """What is drawn: the part, the source, and the sizes."""

    part: str
    source: str
    d: int
    n: int
    contamination: float

    def rows(self, n_rows: int, rng: np.random.Generator) -> Doubles:
        """Rows of the source."""
        return SOURCES[self.source](n_rows, self.d, rng)

    def outliers(self, n_rows: int, rng: np.random.Generator) -> Doubles:
        """Rows of the source, each moved in a direction of its own."""
        ways = rng.standard_normal((n_rows, self.d))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        return self.rows(n_rows, rng) + _SHIFT * _scale(self.source, self.d) * ways

    def draw(self, seed: int) -> tuple[Doubles, Doubles]:
        """The reference rows and the new ones; outliers come last in both."""
        sizes = [*self.source.encode(), self.d, self.n, round(1000 * self.contamination)]
        rng = np.random.default_rng([*self.part.encode(), *sizes, seed])
        n_out = round(self.contamination * self.n)
        X = np.concatenate([self.rows(self.n - n_out, rng), self.outliers(n_out, rng)])
        if self.part == "validity":
            return X, self.rows(_N_NEW, rng)
        if self.part == "interval":
            return X, self.rows(_N_ALARMS, rng)
        outliers = self.outliers(_N_OUTLIERS, rng)
        return X, np.concatenate([self.rows(_N_TESTS - _N_OUTLIERS, rng), outliers])


def settings(part: str, n: int) -> list[Setting]:
    """All sources, dimensions and contaminations for one number of rows."""
    shares = CONTAMINATIONS if part == "discoveries" else CONTAMINATIONS[:1]
    each = product(shares, _FEATURES, SOURCES)
    return [Setting(part, source, d, n, share) for share, d, source in each]


# ---- contestants --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contestant:
    """A fit, and the ways to p-values that share it."""

    fit: Callable[[Doubles, int, Setting], Any]
    ways: dict[str, Callable[[Any, Doubles], Doubles]]
    parts: tuple[str, ...] = ("validity", "discoveries")
    most_draws: Callable[[Setting], float] = lambda _: np.inf  # fewer where they take long


def _ours(X: Doubles, seed: int, _: Setting, **parameters: Any) -> OneClusterPCM:
    return OneClusterPCM(random_state=seed, **parameters).fit(X)


def _ours_at_fixed_width(X: Doubles, seed: int, setting: Setting) -> OneClusterPCM:
    width = 0.5 * float(np.sqrt(setting.d))
    return OneClusterPCM(random_state=seed, weights="uniform", sigma=width).fit(X)


def _tied(setting: Setting) -> float:
    """All draws of rounded rows in two dimensions, where many are equal; none of others."""
    return np.inf if (setting.source, setting.d) == (_TIED, 2) else 0


def _loo(model: OneClusterPCM, new: Doubles) -> Doubles:
    return model.p_values(new)


def _full(model: OneClusterPCM, new: Doubles) -> Doubles:
    return model.p_values(new, "full")


_BOTH = {"loo": _loo, "full": _full}
_SPLIT = {"split": _loo}
_EQUAL: Any = partial(_ours, weights="uniform")
_ALL = ("validity", "discoveries", "interval")

OURS = [
    Contestant(_ours, {f"fitted weights, {k}": way for k, way in _BOTH.items()}, _ALL),
    Contestant(
        partial(_ours, novelty=True),
        {f"fitted weights, narrow, {k}": way for k, way in _BOTH.items()},
        _ALL,
    ),
    Contestant(_EQUAL, {f"equal weights, {k}": way for k, way in _BOTH.items()}, ("validity",)),
    Contestant(
        _ours_at_fixed_width,
        {f"equal weights, fixed width, {k}": way for k, way in _BOTH.items()},
        _ALL,
    ),
    Contestant(
        partial(_ours, calibration="split"),
        {f"fitted weights, {k}": way for k, way in _SPLIT.items()},
        _ALL,
    ),
    Contestant(
        partial(_EQUAL, calibration="split"),
        {f"equal weights, {k}": way for k, way in _SPLIT.items()},
        ("validity",),
    ),
    Contestant(
        partial(_ours, calibration="split", novelty=True),
        {f"fitted weights, narrow, {k}": way for k, way in _SPLIT.items()},
        ("discoveries",),
    ),
    *[
        Contestant(
            partial(_ours, weights=weights, sigma=0.2),
            {f"{name} weights, tied rows at width 0.2, {k}": way for k, way in _BOTH.items()},
            ("validity",),
            _tied,
        )
        for name, weights in (("fitted", "typicality"), ("equal", "uniform"))
    ],
]


# ---- draws and their log ------------------------------------------------------------------------


def measure(setting: Setting, new: Doubles, model: Any, way: Callable[..., Any]) -> list[float]:
    """What is kept of a draw: shares of small p-values, discoveries, or whether alarms are so."""
    if setting.part == "interval":
        low, high = model.false_alarm_interval_
        alarms = float(np.mean(model.predict(new) < 0))
        return [float(low <= alarms <= high), alarms]
    p_values = way(model, new)
    if setting.part == "validity":
        return [float(np.mean(p_values <= level + 1e-12)) for level in LEVELS]
    kept = []
    for procedure in PROCEDURES:
        for rate in RATES:
            found = select_discoveries(p_values, fdr=rate, method=procedure)
            true = int(found[-_N_OUTLIERS:].sum())
            kept += [1.0 - true / max(1, int(found.sum())) if found.any() else 0.0]
            kept += [true / _N_OUTLIERS]
    return kept


def run_draw(setting: Setting, seed: int, contestants: list[Contestant]) -> dict[str, list[float]]:
    """For each way the processor seconds of a fit and the test, then what `measure` gives."""
    X, new = setting.draw(seed)
    found = {}
    for contestant in contestants:
        start = time.process_time()
        model = contestant.fit(X, seed, setting)
        seconds = time.process_time() - start
        for name, way in contestant.ways.items():
            start = time.process_time()
            kept = measure(setting, new, model, way)
            found[name] = [seconds + time.process_time() - start, *kept]
            if setting.part == "interval":
                break  # one threshold, whatever the p-values
    return found


class Log:
    """One line of JSON for each draw of a setting by some contestants."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.draws: dict[Setting, dict[str, dict[int, list[float]]]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                key, seed, found = json.loads(line)
                self._keep(Setting(*key), seed, found)

    def _keep(self, setting: Setting, seed: int, found: dict[str, list[float]]) -> None:
        of_setting = self.draws.setdefault(setting, defaultdict(dict))
        for name, kept in found.items():
            of_setting[name][seed] = kept

    def add(self, setting: Setting, seed: int, found: dict[str, list[float]]) -> None:
        """Keep a draw, and write it to the file."""
        self._keep(setting, seed, found)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([setting, seed, found]) + "\n")

    def lacks(self, setting: Setting, seed: int, contestant: Contestant) -> bool:
        """Whether a draw is still to be done."""
        first = next(iter(contestant.ways))
        return seed not in self.draws.get(setting, {}).get(first, {})

    def of(self, setting: Setting, way: str) -> Doubles:
        """The draws of a method, one row for each; no rows where there are none."""
        draws = self.draws.get(setting, {}).get(way, {})
        return np.array([draws[seed] for seed in sorted(draws)])

    def ways(self, part: str) -> list[str]:
        """All that took part, other packages last."""
        found = [name for key, of in self.draws.items() if key.part == part for name in of]
        return sorted(set(found), key=lambda name: ("nonconform" in name, name))


def run(
    part: str, sizes: list[int], most_draws: int, contestants: list[Contestant], log: Log
) -> None:
    """Draw what the log lacks; settings of one size take turns."""
    taking_part = [one for one in contestants if part in one.parts]
    for n in sizes:
        n_draws = min(most_draws, _DRAWS[part].get(n, 0))
        for start in range(0, n_draws, _BLOCK):
            seeds = range(start, min(start + _BLOCK, n_draws))
            for setting, seed in product(settings(part, n), seeds):
                lacking = [
                    one
                    for one in taking_part
                    if seed < one.most_draws(setting) and log.lacks(setting, seed, one)
                ]
                if lacking:
                    log.add(setting, seed, run_draw(setting, seed, lacking))


# ---- tables -------------------------------------------------------------------------------------

_LARGEST_Z = 4.0  # of one in hundreds of numbers: chance alone gives it once in 30,000


class Cell(NamedTuple):
    """The mean of a number over the draws of one setting, with its standard error."""

    source: str
    mean: float
    error: float
    n_draws: int

    def above(self, nominal: float) -> float:
        """In standard errors; for no error below the limit, whatever it is."""
        return (self.mean - nominal) / self.error if self.error > 0 else -np.inf


def _cells(
    log: Log, part: str, way: str, n: int, column: int, contamination: float = 0.0
) -> list[Cell]:
    """A cell for each of the ten sources (five, in two and eight dimensions) that was drawn."""
    cells = []
    for setting in settings(part, n):
        draws = log.of(setting, way)
        if setting.contamination == contamination and len(draws):
            values = draws[:, 1 + column]  # seconds come first
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            cells.append(Cell(setting.source, float(values.mean()), float(error), len(values)))
    return cells


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _mean_and(extreme: Callable[..., float], cells: list[Cell]) -> str:
    means = [cell.mean for cell in cells]
    return f"{_short(float(np.mean(means)))} ({_short(extreme(means))})"


def _fewest(cells: list[Cell]) -> str:
    return f"{min(cell.n_draws for cell in cells):,}"


def _is_peer(way: str) -> bool:
    return way.startswith("nonconform")


def _verdict(target: str, z: list[float]) -> list[Verdict]:
    words = f"at most {max(z, default=0.0):+.1f} standard errors above, of {len(z)} numbers"
    return [Verdict(target, words, (max(z) < _LARGEST_Z,))] if z else []


def show_validity(log: Log, report: Report) -> list[Verdict]:
    columns = ["p-values", "n", "draws", *[_short(level)[:3] for level in LEVELS], "highest z"]
    rows = []
    all_z: dict[str, list[float]] = defaultdict(list)
    for way in log.ways("validity"):
        for n in _SIZES:
            by_level = [_cells(log, "validity", way, n, i) for i in range(len(LEVELS))]
            if not by_level[0]:
                continue
            z = []
            for level, cells in zip(LEVELS, by_level, strict=True):
                for cell in cells:
                    z.append(cell.above(level))
                    all_z[_kind(way, cell)].append(z[-1])
            levels = [_mean_and(max, cells) for cells in by_level]
            rows.append([way, str(n), _fewest(by_level[0]), *levels, f"{max(z):+.1f}"])
    report.table("Type I error: mean of ten sources (largest)", columns, rows)
    _show_sources(log, report)
    verdicts = [_verdict(f"type I error at most nominal, {kind}", all_z[kind]) for kind in _KINDS]
    return [verdict for some in verdicts for verdict in some]


_KINDS = ("proven", "fitted weights or width, continuous rows", "fitted weights or width, ties")


def _kind(way: str, cell: Cell) -> str:
    """What is known about the p-values."""
    if _is_peer(way):
        return "peers"
    if "split" in way or way.startswith(("equal weights, fixed", "equal weights, tied")):
        return _KINDS[0]
    return _KINDS[2] if cell.source == _TIED else _KINDS[1]


def _show_sources(log: Log, report: Report) -> None:
    ways = [way for way in log.ways("validity") if way.endswith("loo") and "tied" not in way]
    rows = []
    for setting in (one for n in _SIZES for one in settings("validity", n)):
        draws = [log.of(setting, way) for way in ways]
        if ways and all(map(len, draws)):
            means = [" / ".join(map(_short, some[:, 1:].mean(axis=0))) for some in draws]
            rows.append([f"{setting.source}, d = {setting.d}, n = {setting.n}", *means])
    report.table("Type I error at .01 / .05 / .10 by source", ["source", *ways], rows)


def _false_and_power(
    log: Log, way: str, n: int, procedure: str, rate: float, contamination: float
) -> tuple[list[Cell], str]:
    """Cells of false discoveries, and both means as a text where all sources were drawn."""
    column = 2 * (len(RATES) * PROCEDURES.index(procedure) + RATES.index(rate))
    false = _cells(log, "discoveries", way, n, column, contamination)
    true = _cells(log, "discoveries", way, n, column + 1, contamination)
    if len(false) < _N_SOURCES:
        return false, ""
    means = [float(np.mean([cell.mean for cell in cells])) for cells in (false, true)]
    return false, " / ".join(map(_short, means))


def show_discoveries(log: Log, report: Report) -> list[Verdict]:
    z = []
    for n in _DRAWS["discoveries"]:
        ways = [way for way in log.ways("discoveries") if _cells(log, "discoveries", way, n, 0)]
        if not ways:
            continue
        for rate in RATES:
            rows = [
                [_false_and_power(log, way, n, "bh", rate, share)[1] for share in CONTAMINATIONS]
                for way in ways
            ]
            title = f"False discoveries / power at {rate:g}, Benjamini-Hochberg, n = {n}"
            columns = [f"{share:.0%} outliers" for share in CONTAMINATIONS]
            report.table(title, ["p-values", *columns], _labelled(ways, rows))
        rows = [
            [_false_and_power(log, way, n, procedure, 0.1, 0.0)[1] for procedure in PROCEDURES]
            for way in ways
        ]
        title = f"False discoveries / power at 0.1 by procedure, n = {n}, no outliers among rows"
        report.table(title, ["p-values", *PROCEDURES], _labelled(ways, rows))
        _show_seconds(log, report, n, ways)
        z += [
            cell.above(rate)
            for way in ways
            if not _is_peer(way)
            for procedure in PROCEDURES
            for rate in RATES
            for share in CONTAMINATIONS
            for cell in _false_and_power(log, way, n, procedure, rate, share)[0]
        ]
    return _verdict("rate of false discoveries at most nominal", z)


def _labelled(names: list[str], rows: list[list[str]]) -> list[list[str]]:
    """Without those of which nothing is known."""
    return [[name, *row] for name, row in zip(names, rows, strict=True) if any(row)]


def _show_seconds(log: Log, report: Report, n: int, ways: list[str]) -> None:
    rows = []
    for way in ways:
        draws = [log.of(s, way) for s in settings("discoveries", n) if not s.contamination]
        seconds = np.concatenate([some[:, 0] for some in draws if len(some)])
        rows.append([way, f"{len(seconds):,}", f"{1000 * np.median(seconds):,.1f}"])
    title = f"Processor milliseconds of a fit and {_N_TESTS} p-values, n = {n}"
    report.table(title, ["p-values", "runs", "median"], rows)


def show_intervals(log: Log, report: Report) -> list[Verdict]:
    rows = []
    for way, n in product(log.ways("interval"), _SIZES):
        held, alarms = (_cells(log, "interval", way, n, column) for column in range(2))
        if len(held) < _N_SOURCES:
            continue
        row = [way.removesuffix(", loo"), str(n), _fewest(held)]
        for tied in (False, True):
            row.append(_mean_and(max, [cell for cell in alarms if (cell.source == _TIED) == tied]))
            row.append(_mean_and(min, [cell for cell in held if (cell.source == _TIED) == tied]))
        rows.append(row)
    columns = ["model", "n", "draws", "false alarms (largest)", "in the interval (least)"]
    columns += ["rounded: false alarms (largest)", "in the interval (least)"]
    report.table("false_alarm_interval_ for a rate of .05", columns, rows)
    return []


SHOW = {"validity": show_validity, "discoveries": show_discoveries, "interval": show_intervals}


def parse(description: str) -> argparse.Namespace:
    """Options that the scripts share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--parts", nargs="+", choices=list(SHOW), default=list(SHOW))
    parser.add_argument("--sizes", nargs="+", type=int, choices=_SIZES, default=list(_SIZES))
    parser.add_argument("--draws", type=int, default=1000, help="at most, of each setting")
    parser.add_argument("--log", type=Path, default=_RESULTS / "p_values.jsonl")
    parser.add_argument(
        "--quick", action="store_true", help="5 draws of up to 200 rows, with a log of their own"
    )
    options = parser.parse_args()
    if options.quick:
        options.draws, options.sizes = 5, [60, 200]
        options.log = options.log.with_stem("p_values_quick")
    return options


def run_and_show(
    options: argparse.Namespace, contestants: list[Contestant], report: Report
) -> None:
    log = Log(options.log)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of kernels too narrow for some sources
        for part in options.parts:
            report.progress(part)
            run(part, options.sizes, options.draws, contestants, log)
    for part in options.parts:
        report.verdicts(SHOW[part](log, report))
    report.write(options.log.with_suffix(".md"))


def main() -> None:
    options = parse((__doc__ or "").splitlines()[0])
    if options.quick:
        options.log.unlink(missing_ok=True)
    report = Report()
    for line in machine():
        report.line(line)
    run_and_show(options, OURS, report)


if __name__ == "__main__":
    main()
