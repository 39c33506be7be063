"""The peak of the command line under --memory, as the system saw it.

`python benchmarks/memory_limits.py [--quick]` prints two tables.

The first measures what rows take by each kind of method, with the least --memory that is not
refused, so that a step takes a few megabytes: the peaks for two numbers of rows, what they are over
the base (400 MB for Python, libraries, compiled code), and what `typicality.cli.machine` reckons
with, which must not be less.

The second has hostile files, and small ones for methods that build trees: limit, peak and outcome.
The limit is kept where the peak is at most the base plus --memory. `--quick` takes a tenth of the
rows.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from typicality.cli.machine import bytes_of_rows

_BASE = 400
_CHILD = """
import atexit, re
status = lambda: open("/proc/self/status").read()
atexit.register(lambda: print("peak", int(re.search(r"VmHWM:\\s+(\\d+)", status())[1]) * 1024))
from typicality.cli import main
main()
"""
_PROTOTYPES = "cluster --method fcm --clusters 3"
# A command for each kind of method, and the numbers of rows between which the peak is compared.
_KINDS = {
    "prototypes": (_PROTOTYPES, 100_000, 300_000),
    "kernel": (f"{_PROTOTYPES} --kernel gaussian", 5000, 20_000),
    "outliers": ("outliers", 5000, 20_000),
    "alpha-cut": ("cluster --method alpha-cut", 5000, 20_000),
    "auto": ("cluster --method auto", 5000, 20_000),
}


class Outcome(NamedTuple):
    """What a command did: its peak in megabytes, whether it was done, what it printed."""

    peak: float
    done: bool
    said: str


def run(words: str, file: Path, gigabytes: float, *more: str) -> Outcome:
    """Run a command under --memory."""
    command = [*words.split(), str(file), "--memory", f"{gigabytes:.6f}", "--quiet", *more]
    command += ["--force", "-o", str(file.with_name("results"))]
    done = subprocess.run([sys.executable, "-c", _CHILD, *command], capture_output=True, text=True)
    found = re.search(r"^peak (\d+)$", done.stdout, re.MULTILINE)
    return Outcome(int(found[1]) / 1e6 if found else 0.0, done.returncode == 0, done.stderr)


# ---- what a row takes ----------------------------------------------------------------------------


def write_rows(path: Path, n_rows: int, n_columns: int) -> None:
    rng = np.random.default_rng(0)
    centers = 8.0 * rng.normal(size=(3, n_columns))
    np.save(path, rng.normal(size=(n_rows, n_columns)) + centers[rng.integers(3, size=n_rows)])


def measure_rows(folder: Path, share: float) -> None:
    print(
        f"| kind | columns | rows | peaks, MB | over {_BASE} | reckoned, MB | a row, bytes | kept |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for kind, (words, *sizes) in _KINDS.items():
        for n_columns in (2, 10):
            rows = [int(size * share) for size in sizes]
            peaks, reckoned = [], [bytes_of_rows(kind, n, n_columns) / 1e6 for n in rows]
            for n_rows, megabytes in zip(rows, reckoned, strict=True):
                write_rows(folder / "rows.npy", n_rows, n_columns)
                outcome = run(words, folder / "rows.npy", max(1.02 * megabytes / 1e3, 0.02))
                if not outcome.done:
                    raise RuntimeError(outcome.said)
                peaks.append(outcome.peak)
            of_a_row = (peaks[1] - peaks[0]) * 1e6 / (rows[1] - rows[0])
            over = [peak - _BASE for peak in peaks]
            kept = all(more <= 1.02 * least for more, least in zip(over, reckoned, strict=True))
            print(
                f"| {kind} | {n_columns} | {_both(rows)} | {_both(peaks)} | {_both(over)} | "
                f"{_both(reckoned)} | {of_a_row:.0f} | {'yes' if kept else 'NO'} |",
                flush=True,
            )


def _both(values: Sequence[float]) -> str:
    return " to ".join(f"{value:,.0f}" for value in values)


# ---- what is kept --------------------------------------------------------------------------------


def write_files(folder: Path, share: float) -> None:
    """The hostile files, or a share of their rows."""
    rng = np.random.default_rng(0)
    np.savez_compressed(folder / "bomb.npz", X=np.zeros((int(1.5e8 * share), 2)))
    with open(folder / "long.csv", "w", encoding="utf-8") as stream:
        stream.write("a,b,text\n")
        for i, (a, b) in enumerate(rng.normal(size=(int(150_000 * share), 2))):
            stream.write(f"{a:.4f},{b:.4f},{i} {'x' * 4000}\n")
    n = int(200_000 * share)  # the results hold the text of every row: 4 GB
    text = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), ["x" * 20_000])
    numbers = {name: rng.normal(size=n) for name in "ab"}
    pq.write_table(pa.table({**numbers, "text": text}), folder / "text.parquet")
    n = int(1e6 * share)
    columns = {f"c{j}": rng.normal(size=n) for j in range(10)}
    pa_csv.write_csv(pa.table({**columns, "name": ["item"] * n}), folder / "million.csv")
    for n in (1000, 5000):
        write_rows(folder / f"rows{n}.npy", n, 4)


def check_limits(folder: Path, share: float) -> None:
    write_files(folder, share)
    small = [
        (f"rows{n}.npy", gigabytes, words)
        for n, gigabytes in ((1000, 0.02), (5000, 0.1))
        for words in ("cluster --method alpha-cut", "cluster --method auto", "outliers")
    ]
    cases = [
        ("bomb.npz", 0.1, "cluster"),
        ("long.csv", 0.1, _PROTOTYPES),
        ("long.csv", 0.2, _PROTOTYPES),
        ("text.parquet", 0.2, _PROTOTYPES),
        ("million.csv", 0.2, _PROTOTYPES),
        ("million.csv", 1.1, _PROTOTYPES),
        *small,
    ]
    print("\n| file | command | --memory, MB | peak, MB | over the base, MB | kept | outcome |")
    print("|---|---|---|---|---|---|---|")
    for file, gigabytes, words in cases:
        outcome = run(
            words, folder / file, gigabytes, *([] if file[:4] == "rows" else ["--no-report"])
        )
        kept = "yes" if 0 < outcome.peak <= _BASE + 1000 * gigabytes else "NO"
        takes = re.search(r"take [\d.,]+ GB", outcome.said)
        ended = "done" if outcome.done else f"refused: {takes and takes[0]}"
        print(
            f"| {file} | {words} | {1000 * gigabytes:.0f} | {outcome.peak:.0f} | "
            f"{outcome.peak - _BASE:.0f} | {kept} | {ended} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--only", choices=("rows", "limits"))
    arguments = parser.parse_args()
    share = 0.1 if arguments.quick else 1.0
    with tempfile.TemporaryDirectory() as folder:
        if arguments.only != "limits":
            measure_rows(Path(folder), share)
        if arguments.only != "rows":
            check_limits(Path(folder), share)


if __name__ == "__main__":
    main()
