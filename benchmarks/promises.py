"""Whether fast sums keep what they promise, over random data, kernels, widths and promises.

`python benchmarks/promises.py [--quick] [--first-seed N]` prints a table and a verdict, and writes
them to `benchmarks/results/promises.md`. An operator promises that no sum is off by more than
`rtol` times the sum of the absolute weights; its expansion promises the same at any point, and so
does a compressed model. Sums by NumPy in double precision are what they are held against.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _operators import METHODS, build
from _promise_cases import Case
from _report import Report, Verdict, machine
from typicality import OneClusterPCM

_RESULTS = Path(__file__).resolve().parent / "results" / "promises.md"
_N_CASES, _N_CASES_QUICK = 100, 10  # of each method
_MOST_DRAWS = 5  # a case, where most are refused
_COMPRESS = "compress"
_COMPRESS_RTOL = 1e-9  # nothing less is asked of a compressed model
_ROUNDING_OF_A_VALUE = 16  # units in the last place: of a kernel value, beside that of the sum
_PLACES = ("product", "complement", "at points", "complement at points")

Doubles = NDArray[np.float64]
Ratios = dict[str, float]  # errors over promises, by place


@dataclass
class Record:
    """What a method kept, broke and refused."""

    worst: Ratios = field(default_factory=lambda: dict.fromkeys(_PLACES, 0.0))
    n_cases: int = 0
    n_refused: int = 0
    broken: list[str] = field(default_factory=list)
    worst_case: str = ""

    def add(self, ratios: Ratios, name: str) -> None:
        """One more case."""
        self.n_cases += 1
        self.broken += [name] if max(ratios.values()) > 1 else []
        if max(ratios.values()) > max(self.worst.values()):
            self.worst_case = name
        for place, ratio in ratios.items():
            self.worst[place] = max(self.worst[place], ratio)

    @property
    def cells(self) -> list[str]:
        """What the columns of a table show."""
        counts = [str(self.n_cases), str(self.n_refused), str(len(self.broken))]
        return [*counts, *[f"{ratio:.2g}" if ratio else "" for ratio in self.worst.values()]]


def ratio_of(found: Doubles, exact: Doubles, weights: Doubles, promise: float) -> float:
    """The largest error over what is allowed; a value that is not finite breaks every promise.

    A plain sum of n doubles is off by up to n units in the last place: that is allowed besides.
    """
    rounding = (len(weights) + _ROUNDING_OF_A_VALUE) * np.finfo(np.float64).eps
    allowed = (promise + rounding) * np.abs(weights).sum(axis=0)
    ratio = float((np.abs(found - exact) / allowed).max())
    return ratio if np.isfinite(ratio) else np.inf


# ---- operators and models -----------------------------------------------------------------------


def check_operator(method: str, seed: int) -> tuple[Ratios, str]:
    """A product and its complement, and the same at other points."""
    case = Case.draw(seed, fourier=method == "nufft")
    operator = build(method, case.kernel, case.X, rtol=case.rtol)
    expansion = operator.expansion(case.weights)
    total = case.weights.sum(axis=0)
    found = {
        "product": (operator @ case.weights, case.at_rows, operator.rtol),
        "complement": (operator.complement(case.weights), total - case.at_rows, operator.rtol),
        "at points": (expansion.at(case.points), case.at_points, expansion.rtol),
        "complement at points": (
            expansion.complement_at(case.points),
            total - case.at_points,
            expansion.rtol,
        ),
    }
    ratios = {
        place: ratio_of(sums, exact, case.weights, promise)
        for place, (sums, exact, promise) in found.items()
    }
    return ratios, f"{method}, {case.name}"


def check_compressed(_: str, seed: int) -> tuple[Ratios, str]:
    """Scores of new rows by a compressed model."""
    case = Case.draw(seed, fourier=seed % 2 == 0)
    rtol = max(case.rtol, _COMPRESS_RTOL)
    model = OneClusterPCM(kernel=case.kernel).fit(case.X)
    small = model.compress(rtol)
    weights = model.weights_.astype(np.float64)[:, None]
    found = np.exp(small.score_samples(case.new_points))[:, None]
    exact = case.exact(case.new_points.astype(np.float64), weights)
    ratio = ratio_of(found, exact, weights, rtol)
    return {"at points": ratio}, f"compress({rtol:.1e}), {case.name}"


def run(
    check: Callable[[str, int], tuple[Ratios, str]], method: str, seeds: range, n_cases: int
) -> Record:
    """So many cases as are not refused."""
    record = Record()
    for seed in seeds:
        if record.n_cases == n_cases:
            break
        try:
            ratios, name = check(method, seed)
        except ValueError as refusal:
            _require_refusal(refusal)
            record.n_refused += 1
        else:
            record.add(ratios, name)
    return record


def _require_refusal(error: ValueError) -> None:
    """Any error that is not a refusal is raised again."""
    if "cannot" not in str(error):
        raise error


# ---- the report ---------------------------------------------------------------------------------


def show(records: dict[str, Record], seconds: float, report: Report) -> list[Verdict]:
    columns = ["method", "cases", "refused", "broken", *_PLACES]
    title = "Largest error over what was promised"
    report.table(title, columns, [[name, *record.cells] for name, record in records.items()])
    for record in records.values():
        report.line(f"Nearest to its promise: {record.worst_case}.")
        for name in record.broken:
            report.line(f"BROKEN: {name}.")
    n_cases = sum(record.n_cases for record in records.values())
    n_broken = sum(len(record.broken) for record in records.values())
    largest = max(max(record.worst.values()) for record in records.values())
    report.line(
        f"{n_cases} cases in {seconds:.0f} s, refusals not counted. Eight kinds of rows, 40 to "
        "1,500 of them, in 1 to 16 dimensions (1 to 3 for nufft), float64 and float32; Gaussian, "
        "Laplacian and Cauchy kernels (Gaussian for nufft), from narrow to wide; promises from "
        "1e-12 to 1e-2; weights of four kinds. The rounding of a sum of n doubles, n units in the "
        "last place, is allowed besides."
    )
    return [
        Verdict(
            f"every promise kept, {n_cases} cases",
            f"{n_broken} broken; the largest error is {largest:.2g} of its promise",
            (n_broken == 0,),
        ),
        Verdict("at least 500 cases", str(n_cases), (n_cases >= 500,)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few cases, for a first look")
    parser.add_argument("--first-seed", type=int, default=0, help="for other cases")
    arguments = parser.parse_args()
    n_cases = _N_CASES_QUICK if arguments.quick else _N_CASES
    warnings.simplefilter("ignore")  # odd widths and rows are the point
    report = Report()
    for line in machine("finufft"):
        report.line(line)
    checks: dict[str, Any] = dict.fromkeys(METHODS, check_operator) | {_COMPRESS: check_compressed}
    start = time.perf_counter()
    records: dict[str, Record] = {}
    seeds = range(arguments.first_seed, arguments.first_seed + _MOST_DRAWS * n_cases)
    for method, check in checks.items():
        report.progress(method)
        records[method] = run(check, method, seeds, n_cases)
    report.verdicts(show(records, time.perf_counter() - start, report))
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
