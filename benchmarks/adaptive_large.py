"""Time and memory of the adaptive estimators on a million rows.

`python benchmarks/adaptive_large.py [--quick]` prints a table and a verdict, and writes them to
`benchmarks/results/adaptive_large.md`. Each fit has a process of its own.
"""

import argparse
import sys
from pathlib import Path

import _adaptive_fit
from _adaptive_fit import CONTESTANTS, N_CLUSTERS, N_FEATURES, PEER, LargeFit
from _processes import json_from
from _report import Report, Verdict, machine

_RESULTS = Path(__file__).resolve().parent / "results" / "adaptive_large.md"
_N_ROWS, _N_ROWS_QUICK = 1_000_000, 100_000
_A_FEW = 8.0  # times X


def measure(name: str, n_rows: int) -> LargeFit:
    """Fit in a fresh process."""
    return LargeFit(*json_from(sys.executable, _adaptive_fit.__file__, name, str(n_rows)))


def show(n_rows: int, report: Report) -> list[Verdict]:
    fits = {}
    for name in CONTESTANTS:
        report.progress(name)
        fits[name] = measure(name, n_rows)
    n_bytes = 8 * n_rows * N_FEATURES
    columns = [f"{n_rows:,} x {N_FEATURES}, {N_CLUSTERS} clusters", "clusters found", "ARI"]
    columns += ["iterations", "seconds", "times k-means", "memory, times X", "in all, MB"]
    rows = [
        [
            name,
            str(fit.n_clusters),
            f"{fit.ari:.4f}",
            str(fit.n_iter),
            f"{fit.seconds:.1f}",
            f"{fit.seconds / fits[PEER].seconds:.1f}",
            f"{fit.growth / n_bytes:.1f}",
            f"{fit.peak / 1e6:,.0f}",
        ]
        for name, fit in fits.items()
    ]
    report.table("Large data", columns, rows)
    ours = [fit for name, fit in fits.items() if name != PEER]
    most = max(fit.growth for fit in ours) / n_bytes
    found = tuple(fit.n_clusters == N_CLUSTERS for fit in ours)
    return [
        Verdict("memory of a few times X", f"{most:.1f} times at the most", (most <= _A_FEW,)),
        Verdict("the right number of clusters", f"{sum(found)} of {len(found)} estimators", found),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100,000 rows, for a first look")
    n_rows = _N_ROWS_QUICK if parser.parse_args().quick else _N_ROWS
    report = Report()
    for line in machine():
        report.line(line)
    report.verdicts(show(n_rows, report))
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
