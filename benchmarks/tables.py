"""Tables beside pandas, polars and duckdb: megabytes a second and peak memory.

`python benchmarks/tables.py [--megabytes N] [--repeats N]` makes a csv file of ten columns of
numbers with six decimals and one of text, where one row in ten misses a number, and the same rows
as parquet. It measures two tasks on each: to read all rows; and to read them and write them again,
which `typicality score` does with the columns of a fuzzy c-means model added. Every measurement has
a fresh process (`tables.py --task NAME FILE OUT`); imports do not count. The tables go to
`benchmarks/results/tables.md`. Without pandas or duckdb, their lines are left out.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from _report import Report, Verdict, machine
from _timing import ResidentPeak, json_from

_RESULTS = Path(__file__).resolve().parent / "results" / "tables.md"
_CHUNK = 50_000  # rows
_FITTED = 5_000  # rows
_MOST_TIMES, _MOST_MEMORY = 3.0, 500e6  # the seconds of polars, and bytes


class Cost(NamedTuple):
    """Seconds by the clock, seconds of all processors, and the largest resident set in bytes."""

    wall: float
    cpu: float
    peak: int


# ---- tasks, each in a process of its own ---------------------------------------------------------


def read_typicality(path: str, out: str) -> None:
    """All numbers in one array, and what the other columns are."""
    from typicality.tables import open_table, read_rows

    with open_table(path) as table:
        read_rows(table)


def read_typicality_blocks(path: str, out: str) -> None:
    """All numbers, block by block."""
    from typicality.tables import open_table, rows_of

    with open_table(path) as table:
        for block in table.blocks():
            rows_of(block, table.names[:10])


def read_pandas(path: str, out: str) -> object:
    import pandas

    return pandas.read_csv(path) if path.endswith("csv") else pandas.read_parquet(path)


def read_polars(path: str, out: str) -> object:
    import polars

    return polars.read_csv(path) if path.endswith("csv") else polars.read_parquet(path)


def read_duckdb(path: str, out: str) -> object:
    import duckdb

    return duckdb.sql(f"FROM '{path}'").to_arrow_table()


def score_typicality(path: str, out: str) -> None:
    """The command line, with the model beside the file."""
    from typicality.cli import main

    model = str(Path(path).with_name("model"))
    words = ["score", model, path, "--missing", "drop", "--output", out, "--force", "--quiet"]
    main(words, prog_name="typicality", standalone_mode=False)


def copy_pandas(path: str, out: str) -> None:
    frame = read_pandas(path, out)
    frame.to_csv(out, index=False) if out.endswith("csv") else frame.to_parquet(out)


def copy_polars(path: str, out: str) -> None:
    frame = read_polars(path, out)
    frame.write_csv(out) if out.endswith("csv") else frame.write_parquet(out)


def copy_duckdb(path: str, out: str) -> None:
    import duckdb

    kind = "HEADER" if out.endswith("csv") else "FORMAT parquet"
    duckdb.sql(f"COPY (FROM '{path}') TO '{out}' ({kind})")


READ: dict[str, Callable[[str, str], object]] = {
    "polars": read_polars,
    "typicality, read_rows": read_typicality,
    "typicality, by blocks": read_typicality_blocks,
    "pandas": read_pandas,
    "duckdb": read_duckdb,
}
COPY: dict[str, Callable[[str, str], object]] = {
    "polars, read and write": copy_polars,
    "typicality score": score_typicality,
    "pandas, read and write": copy_pandas,
    "duckdb, read and write": copy_duckdb,
}


def _library(task: str) -> str:
    return task.split()[0].rstrip(",")


def perform(task: str, path: str, out: str) -> None:
    """Do one task in this process, and print what it took."""
    library = _library(task)
    modules = ["typicality.cli", "typicality.cluster", "typicality.fitted", "typicality.tables"]
    for name in modules if library == "typicality" else [library]:
        import_module(name)  # imports are not part of a task
    with ResidentPeak() as resident:
        wall, cpu = time.perf_counter(), time.process_time()
        (READ | COPY)[task](path, out)
        cost = [time.perf_counter() - wall, time.process_time() - cpu]
    print(json.dumps([*cost, resident.peak]))


# ---- files ---------------------------------------------------------------------------------------


def make_files(folder: Path, n_bytes: float) -> None:
    """rows.csv, rows.parquet, and a model of the first rows."""
    import polars

    rng = np.random.default_rng(0)
    row = 0
    with open(folder / "rows.csv", "w", encoding="ascii") as file:
        file.write(",".join([*(f"x{j}" for j in range(10)), "name"]) + "\n")
        while file.tell() < n_bytes:
            groups = 6 * rng.integers(3, size=(_CHUNK, 1))
            numbers = rng.standard_normal((_CHUNK, 10)) + groups
            cells = np.char.mod("%.6f", numbers).astype(object)
            gaps = np.arange(3, _CHUNK, 10)
            cells[gaps, rng.integers(10, size=len(gaps))] = ""
            file.writelines(
                f"{','.join(some)},item {(row + i) % 977}\n"
                for i, some in enumerate(cells.tolist())
            )
            row += _CHUNK
    with open(folder / "rows.csv", encoding="ascii") as file:
        first = "".join(next(file) for _ in range(_FITTED + 1))
    (folder / "first.csv").write_text(first, encoding="ascii")
    polars.scan_csv(folder / "rows.csv").sink_parquet(folder / "rows.parquet")
    from typicality.cli import main

    options = ["--method", "fcm", "--clusters", "3", "--missing", "drop", "--no-report", "--quiet"]
    output = ["--output", str(folder / "model")]
    main(["cluster", str(folder / "first.csv"), *options, *output], standalone_mode=False)


def show(
    title: str, tasks: list[str], path: Path, out: Path, repeats: int, report: Report
) -> dict[str, Cost]:
    """Measure some tasks on a file; the best of several runs, in turns.

    Tasks of libraries that are not installed are left out; the first line of the report names them.
    """
    tasks = [task for task in tasks if find_spec(_library(task))]
    costs: dict[str, list[Cost]] = {task: [] for task in tasks}
    for _ in range(repeats):
        for task in tasks:
            report.progress(f"{title}: {task}")
            costs[task].append(Cost(*json_from(__file__, "--task", task, str(path), str(out))))
    best = {task: Cost(*map(min, zip(*found, strict=True))) for task, found in costs.items()}
    size = path.stat().st_size / 1e6
    polars = best[tasks[0]]
    columns = [f"{size:,.0f} MB", "MB/s", "MB/s of processor", "peak, MB"]
    columns += ["times the clock of polars", "times its processor"]
    rows = [
        [
            task,
            f"{size / cost.wall:,.0f}",
            f"{size / cost.cpu:,.0f}",
            f"{cost.peak / 1e6:,.0f}",
            f"{cost.wall / polars.wall:.2f}",
            f"{cost.cpu / polars.cpu:.2f}",
        ]
        for task, cost in best.items()
    ]
    report.table(title, columns, rows)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=1000, help="size of the csv file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--task", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        perform(*options.task)
        return
    report = Report()
    for line in machine("pandas", "polars", "duckdb", "pyarrow"):
        report.line(line)
    with tempfile.TemporaryDirectory(prefix="typicality-bench-") as name:
        folder = Path(name)
        report.progress("making files")
        make_files(folder, 1e6 * options.megabytes)
        copied = {}
        for kind in ("csv", "parquet"):
            path, out = folder / f"rows.{kind}", folder / f"out.{kind}"
            show(f"{kind}: read", list(READ), path, out, options.repeats, report)
            title = f"{kind}: read, score and write"
            copied[kind] = show(title, list(COPY), path, out, options.repeats, report)
    polars, ours = list(copied["csv"].values())[:2]
    report.verdicts(
        [
            Verdict(
                f"a csv file is scored in at most {_MOST_TIMES:.0f} times what polars needs to "
                "read and write it",
                f"{ours.wall / polars.wall:.2f} times",
                (ours.wall <= _MOST_TIMES * polars.wall,),
            ),
            Verdict(
                f"scoring it takes less than {_MOST_MEMORY / 1e6:.0f} MB",
                f"{ours.peak / 1e6:.0f} MB",
                (ours.peak < _MOST_MEMORY,),
            ),
        ]
    )
    report.write(_RESULTS)


if __name__ == "__main__":
    main()
