"""One pass over a file of rows, watched: `_table_pass.py READER FILE`.

It prints a line of JSON. It is meant for a fresh process: the peak of its memory is then that of
the pass.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from _memory import ResidentPeak
from typicality.tables import append_columns, open_table, read_rows, rows_of

__all__ = ["READERS", "TablePass"]

_INTERVAL = 0.02  # seconds between two looks at memory


class TablePass(NamedTuple):
    """What one pass took: seconds of one core, bytes above the imports and in all; and its rows."""

    seconds: float
    growth: int
    peak: int
    n_rows: int


def numbers_by_blocks(path: str) -> int:
    """All numbers, block by block: what scoring reads."""
    with open_table(path) as table:
        names = [name for name in table.names if name.startswith("x")]
        return sum(len(rows_of(block, names)) for block in table.blocks())


def numbers_and_csv(path: str) -> int:
    """The same, and all rows written with two columns more: scoring but for the model."""
    with open_table(path) as table, open(os.devnull, "w", encoding="utf-8", newline="") as stream:
        names = [name for name in table.names if name.startswith("x")]
        for block in table.blocks():
            first = rows_of(block, names)[:, 0]
            extra = {"label": np.arange(block.n_rows), "typicality": first}
            append_columns(stream, block, extra, header=block.first_row == 0)
    return table.n_rows or 0


def numbers_whole(path: str) -> int:
    """All numbers in one array, columns judged."""
    with open_table(path) as table:
        return len(read_rows(table).X)


def pandas_whole(path: str) -> int:
    """The reader of pandas."""
    import pandas

    return len(pandas.read_csv(path))


def pyarrow_whole(path: str) -> int:
    """The reader of pyarrow, on one thread."""
    from pyarrow import csv

    return int(csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False)).num_rows)


READERS: dict[str, Callable[[str], int]] = {
    "typicality: numbers by blocks": numbers_by_blocks,
    "typicality: numbers by blocks, csv written": numbers_and_csv,
    "typicality: read_rows": numbers_whole,
    "pandas.read_csv": pandas_whole,
    "pyarrow.csv.read_csv, one thread": pyarrow_whole,
}


def main(reader: str, path: str) -> None:
    import pandas  # noqa: F401 - imports are not part of the pass
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401

    with ResidentPeak(_INTERVAL) as resident:
        start = time.process_time()
        n_rows = READERS[reader](path)
        seconds = time.process_time() - start
    print(json.dumps(TablePass(seconds, resident.growth, resident.peak, n_rows)))


if __name__ == "__main__":
    main(*sys.argv[1:])
