"""Fast sums of kernels: time, memory and error of one-cluster PCM beside peers.

`python benchmarks/kernel_sums.py [--quick] [--only PART ...]` prints tables and a verdict on each
target, and writes them to `benchmarks/results/kernel_sums.md`. Errors are those against sums that
NumPy computes in double precision, on rows that include the lowest 1 % (1,000 of them at the most)
and the loneliest. Training rows are scored without themselves.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from _against_peers import show_plane, show_sixteen_features
from _kernel_rates import show_rates
from _large_fits import show_growth, show_large
from _narrow_kernels import show_narrow
from _report import Report, Verdict, machine
from _scoring import show_scoring

_RESULTS = Path(__file__).resolve().parent / "results" / "kernel_sums.md"

_PARTS: dict[str, Callable[[bool, Report], list[Verdict]]] = {
    "plane": show_plane,
    "large": show_large,
    "growth": show_growth,
    "sixteen": show_sixteen_features,
    "rates": show_rates,
    "narrow": show_narrow,
    "scoring": show_scoring,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows, for a first look")
    parser.add_argument("--only", nargs="+", choices=_PARTS, help="some parts instead of all")
    arguments = parser.parse_args()
    report = Report()
    for line in machine("finufft", "pykeops"):
        report.line(line)
    verdicts: list[Verdict] = []
    for name in arguments.only or _PARTS:
        verdicts += _PARTS[name](arguments.quick, report)
    report.verdicts(verdicts)
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
