"""Files of rows: megabytes a second, and the memory of a pass, beside pandas and pyarrow.

`python benchmarks/table_reading.py [--quick] [--megabytes N]` makes files in a temporary folder,
prints tables and a verdict on each target, and writes them to
`benchmarks/results/table_reading.md`. Each pass has a process of its own; seconds are those that
the process was running, so that a busy machine does not show.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import _table_pass
from _processes import json_from
from _report import Report, Verdict, machine
from _table_pass import READERS, TablePass

_RESULTS = Path(__file__).resolve().parent / "results" / "table_reading.md"
_MEGABYTES, _MEGABYTES_QUICK = 400, 40
_N_COLUMNS = 10
_CHUNK = 20_000  # rows made at a time
_SLOWEST = 25.0  # megabytes a second, numbers by blocks of a plain file
_LARGEST = 200e6  # bytes a pass by blocks may add to the imports

Cells = Callable[[int, list[str]], list[str]]


def plain(row: int, cells: list[str]) -> list[str]:
    return cells


def with_gaps(row: int, cells: list[str]) -> list[str]:
    """Every tenth row misses a number."""
    gap = row // 10 % _N_COLUMNS
    return [*cells[:gap], "", *cells[gap + 1 :]] if row % 10 == 0 else cells


def with_text(row: int, cells: list[str]) -> list[str]:
    """A column of text in quotation marks, as it has a comma."""
    return [f'"row, {row}"', *cells]


def quoted(row: int, cells: list[str]) -> list[str]:
    return [f'"{cell}"' for cell in cells]


KINDS: dict[str, Cells] = {
    "plain": plain,
    "a number missing in every tenth row": with_gaps,
    "one column of quoted text": with_text,
    "every cell quoted": quoted,
}


def make_csv(path: Path, n_bytes: float, kind: Cells) -> None:
    """A csv file of about so many bytes; numbers with six decimals."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(_N_COLUMNS)]
    row = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(["name", *names] if kind is with_text else names) + "\n")
        while file.tell() < n_bytes:
            texts = np.char.mod("%.6f", rng.standard_normal((_CHUNK, _N_COLUMNS))).tolist()
            file.writelines(",".join(kind(row + i, t)) + "\n" for i, t in enumerate(texts))
            row += _CHUNK


def make_parquet(path: Path, n_bytes: float) -> None:
    """The worst case: all rows in one group."""
    rng = np.random.default_rng(0)
    n_rows = int(n_bytes / 8 / _N_COLUMNS)
    columns = {f"x{j}": rng.standard_normal(n_rows) for j in range(_N_COLUMNS)}
    pa.parquet.write_table(pa.table(columns), path, row_group_size=n_rows)


def measure(reader: str, path: Path) -> TablePass:
    """A pass in a fresh process, the quicker of two."""
    arguments = [sys.executable, _table_pass.__file__, reader, str(path)]
    return min(TablePass(*json_from(*arguments)) for _ in range(2))


def show(title: str, path: Path, readers: list[str], report: Report) -> dict[str, TablePass]:
    size = path.stat().st_size
    passes = {}
    for reader in readers:
        report.progress(f"{title}: {reader}")
        passes[reader] = measure(reader, path)
    columns = [f"{title}, {size / 1e6:,.0f} MB", "MB/s", "rows/s", "memory added, MB", "in all, MB"]
    rows = [
        [
            reader,
            f"{size / 1e6 / found.seconds:,.0f}",
            f"{found.n_rows / found.seconds:,.0f}",
            f"{found.growth / 1e6:,.0f}",
            f"{found.peak / 1e6:,.0f}",
        ]
        for reader, found in passes.items()
    ]
    report.table(title, columns, rows)
    return passes


def judge(by_blocks: list[TablePass], first_size: int) -> list[Verdict]:
    speed = first_size / 1e6 / by_blocks[0].seconds
    most = max(found.growth for found in by_blocks)
    return [
        Verdict(
            f"a plain csv is read at {_SLOWEST:.0f} MB/s or more",
            f"{speed:.0f} MB/s",
            (speed >= _SLOWEST,),
        ),
        Verdict(
            f"a pass by blocks adds less than {_LARGEST / 1e6:.0f} MB, whatever the file",
            f"{most / 1e6:.0f} MB",
            (most < _LARGEST,),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"{_MEGABYTES_QUICK} MB a file")
    parser.add_argument("--megabytes", type=float, default=_MEGABYTES, help="size of each file")
    options = parser.parse_args()
    n_bytes = 1e6 * (_MEGABYTES_QUICK if options.quick else options.megabytes)
    report = Report()
    for line in machine("pandas", "pyarrow"):
        report.line(line)
    by_blocks, sizes = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        for title, kind in KINDS.items():
            make_csv(path, n_bytes, kind)
            passes = show(f"csv, {title}", path, list(READERS), report)
            by_blocks += list(passes.values())[:2]
            sizes.append(path.stat().st_size)
        path = Path(folder) / "rows.parquet"
        make_parquet(path, n_bytes)
        by_blocks += list(show("parquet", path, list(READERS)[:2], report).values())
    report.verdicts(judge(by_blocks, sizes[0]))
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
