"""Time, memory and error of the generalised Rand index, where all pairs do not fit into memory.

`python benchmarks/generalized_rand.py [--quick]` prints tables and a verdict on each target, and
writes them to `benchmarks/results/generalized_rand.md`. Each measure has a process of its own. A
last table compares with the distances of all pairs, kept and sorted.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist

import _generalized_rand
from _generalized_rand import MEASURES, Measured, draw
from _processes import json_from
from _report import Report, Verdict, machine
from typicality.metrics import generalized_rand_estimate

_RESULTS = Path(__file__).resolve().parent / "results" / "generalized_rand.md"
_N_ROWS, _N_ROWS_QUICK = 100_000, 20_000
_N_COMPARED = 4_000
_LIMIT_SECONDS, _LIMIT_BYTES = 60.0, 1e9
_LARGEST_ERROR, _LARGEST_ERROR_ADJUSTED = 1e-12, 1e-6
_N_DRAWS = 100


def measure(name: str, n_rows: int) -> Measured:
    """In a fresh process."""
    return Measured(*json_from(sys.executable, _generalized_rand.__file__, name, str(n_rows)))


def show_costs(n_rows: int, report: Report) -> list[Verdict]:
    found = {}
    for name in MEASURES:
        report.progress(f"{n_rows:,} x 10 against {name}")
        found[name] = measure(name, n_rows)
    columns = [f"{n_rows:,} x 10 against", "seconds", "of processors", "ns a pair", "MB"]
    columns += ["in all, MB", "value"]
    report.table("Cost", columns, [_row(name, n_rows, found[name]) for name in found])
    pairs = n_rows * (n_rows - 1) / 2
    report.line(f"The distances of all pairs would take {8 * pairs / 1e9:,.0f} GB for each side.")
    shares = sorted(one.foreign for one in found.values())
    report.line(f"Other programs used {shares[0]:.0%} to {shares[-1]:.0%} of the machine.")
    labels = found["labels"]
    peak = max(one.peak for one in found.values())
    seconds = f"{labels.seconds:.1f} s"
    return [
        Verdict("a minute or less against labels", seconds, (labels.seconds <= _LIMIT_SECONDS,)),
        Verdict("under 1 GB", f"{peak / 1e6:.0f} MB, imports included", (peak < _LIMIT_BYTES,)),
    ]


def _row(name: str, n_rows: int, one: Measured) -> list[str]:
    n_pairs = 1e6 if "pairs" in name else n_rows * (n_rows - 1) / 2
    per_pair = one.processor / n_pairs * 1e9
    cost = [f"{one.seconds:.1f}", f"{one.processor:.1f}", f"{per_pair:.1f}"]
    return [name, *cost, f"{one.growth / 1e6:.0f}", f"{one.peak / 1e6:.0f}", f"{one.value:.6f}"]


# ---- against all pairs at once ------------------------------------------------------------------


def exact_values() -> dict[str, float]:
    """The four measures from the distances of all pairs, as the formulas stand."""
    partitions = draw(_N_COMPARED)
    a = pdist(partitions.memberships) / math.sqrt(2)
    classes = pdist(partitions.labels[:, None], "hamming")
    values = {}
    for name, b in (("labels", classes), ("memberships", pdist(partitions.other) / math.sqrt(2))):
        apart, by_chance = np.abs(a - b).mean(), _mean_difference(np.sort(a), np.sort(b))
        values[name] = float(1 - apart)
        values[f"{name}, adjusted"] = float(1 - apart / by_chance)
    return values


def _mean_difference(a: np.ndarray, b: np.ndarray) -> float:
    """The integral of F (1 - G) + G (1 - F) over both distribution functions."""
    at = np.sort(np.concatenate([a, b]))
    F, G = (np.searchsorted(x, at[:-1], side="right") / len(x) for x in (a, b))
    return float(np.sum((F * (1 - G) + G * (1 - F)) * np.diff(at)))


def show_errors(report: Report) -> list[Verdict]:
    report.progress(f"{_N_COMPARED:,} rows against all pairs at once")
    partitions, exact = draw(_N_COMPARED), exact_values()
    errors = {name: abs(MEASURES[name](partitions) - value) for name, value in exact.items()}
    columns = [f"{_N_COMPARED:,} x 10 against", "error"]
    report.table("Exactness", columns, [[name, f"{e:.1e}"] for name, e in errors.items()])
    histogram = errors.pop("memberships, adjusted")
    largest = max(errors.values())
    return [
        Verdict("exact (1e-12)", f"largest {largest:.1e}", (largest <= _LARGEST_ERROR,)),
        Verdict(
            "histograms (1e-6)", f"{histogram:.1e}", (bool(histogram <= _LARGEST_ERROR_ADJUSTED),)
        ),
        _estimates(exact, report),
    ]


def _estimates(exact: dict[str, float], report: Report) -> Verdict:
    report.progress("estimates")
    partitions = draw(_N_COMPARED)
    found = [
        generalized_rand_estimate(
            partitions.other, partitions.memberships, n_pairs=100_000, random_state=seed
        )
        for seed in range(_N_DRAWS)
    ]
    plain = [abs(e.score - exact["memberships"]) / e.standard_error for e in found]
    adjusted = [
        abs(e.adjusted - exact["memberships, adjusted"]) / e.adjusted_standard_error for e in found
    ]
    within = [sum(error < 2 for error in errors) for errors in (plain, adjusted)]
    last = found[-1]
    report.line(
        f"Estimates from 100,000 pairs: standard errors {last.standard_error:.1e} and "
        f"{last.adjusted_standard_error:.1e} (adjusted)."
    )
    text = f"{within[0]} and {within[1]} (adjusted) of {_N_DRAWS} draws"
    met = tuple(88 <= count <= 100 for count in within)  # 95.4 expected, less three deviations
    return Verdict("estimates within two standard errors", text, met)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20,000 rows, for a first look")
    n_rows = _N_ROWS_QUICK if parser.parse_args().quick else _N_ROWS
    report = Report()
    for line in machine():
        report.line(line)
    verdicts = [*show_errors(report), *show_costs(n_rows, report)]
    report.verdicts(verdicts)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
