"""A large csv file through `typicality score`: seconds, megabytes a second, peak memory.

Rows come from three groups in five columns of numbers, with a column of text and missing cells
among them. A model is fitted to the first rows by `typicality cluster`; then a file of the given
size is scored, in a process of its own. Its peak is `VmHWM` of /proc/PID/status, read by the
process itself as its last act (`ru_maxrss` would be that of the process that started it).

Usage: python benchmarks/score_large.py [GIGABYTES] [METHOD ...]
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS_OF_A_BLOCK = 100_000
FITTED = 2_000  # rows
METHODS = {
    "alpha-cut": ["cluster", "--method", "alpha-cut"],
    "fcm": ["cluster", "--method", "fcm", "--clusters", "3"],
    "outliers": ["outliers"],
}
# The command line, and then its own peak and the seconds of all its threads on stderr.
SCORE = """
import sys, time
from typicality.cli import main
try:
    main(prog_name="typicality")
finally:
    status = open("/proc/self/status").read()
    peak = [line.split()[1] for line in status.splitlines() if "VmHWM" in line]
    print(*peak, time.process_time(), file=sys.stderr)
"""


def blocks_of_text():
    """Rows as lines of csv, without end, a block at a time."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0] * 5, [8.0, 0, 0, 8, 0], [0.0, 8, 8, 0, 8]])
    while True:
        rows = centers[rng.integers(3, size=ROWS_OF_A_BLOCK)]
        rows = rows + rng.normal(size=rows.shape)
        lines = [
            "{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},station {}".format(*r, i % 977)
            for i, r in enumerate(rows.tolist())
        ]
        lines[7] = ",1.5,,0.25,1.0,station 7"
        yield "\n".join(lines) + "\n"


def write_rows(path: Path, n_bytes: float) -> None:
    with open(path, "w", encoding="ascii") as stream:
        stream.write("a,b,c,d,e,place\n")
        for block in blocks_of_text():
            stream.write(block)
            if stream.tell() >= n_bytes:
                return


def write_beginning(path: Path, source: Path) -> None:
    with open(source, encoding="ascii") as stream:
        path.write_text("".join(next(stream) for _ in range(FITTED + 1)), encoding="ascii")


def typicality(*arguments: object) -> str:
    """Run the command line, and give back what it says on stderr."""
    command = [sys.executable, "-c", SCORE, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stderr


def main(gigabytes: str = "2", *methods: str) -> None:
    with tempfile.TemporaryDirectory(prefix="typicality-bench-") as name:
        folder = Path(name)
        write_rows(folder / "rows.csv", float(gigabytes) * 1e9)
        write_beginning(folder / "first.csv", folder / "rows.csv")
        size = (folder / "rows.csv").stat().st_size
        print(f"{size / 1e9:.2f} GB of csv, models fitted to {FITTED:,} rows")
        print("| model | seconds | of processors | MB/s | peak memory, MB |")
        print("|---|---|---|---|---|")
        for method in methods or METHODS:
            command, *options = METHODS[method]
            quiet = ["--missing", "drop", "--no-report", "--quiet", "--output", folder / method]
            typicality(command, folder / "first.csv", *options, *quiet)
            began = time.perf_counter()
            scored = ["--output", folder / "scored.csv", "--force", "--quiet"]
            said = typicality("score", folder / method, folder / "rows.csv", *scored)
            seconds = time.perf_counter() - began
            peak, busy = (float(number) for number in said.split()[-2:])
            rate, memory = size / 1e6 / seconds, peak * 1024 / 1e6
            print(f"| {method} | {seconds:.0f} | {busy:.0f} | {rate:.1f} | {memory:.0f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
