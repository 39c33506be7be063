"""A last row with the totals of the columns is no row of the table."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from typicality.exceptions import ClusteringWarning
from typicality.tables import base, open_table, read_rows

ROWS = [(10.25 + i, 3 * i % 7, 100 * i) for i in range(1, 21)]
SUMS = [sum(column) for column in zip(*ROWS, strict=True)]


def written(path, last, *, mark="."):
    lines = ["town;price;n;size", *(f"t{a};{a};{b};{c}" for a, b, c in ROWS), last]
    path.write_text("\n".join(lines).replace(".", mark) + "\n", encoding="utf-8")
    return path


def read(path, **options):
    with open_table(path) as table:
        rows = read_rows(table, **options)
        return rows, table.totals, sum(block.n_rows for block in table.blocks())


@pytest.mark.parametrize("size", [40, 2**21])
@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize(
    "last",
    [
        f"Summe;{SUMS[0]};{SUMS[1]};{SUMS[2]}",
        f"TOTAL:;{SUMS[0]};;{SUMS[2]}",
        f"gesamt ;{SUMS[0] / 20:.2f};{SUMS[1]};{SUMS[2] / 20}",
        f"Total;{SUMS[0] * 1.0004:.1f};{SUMS[1]};",
    ],
    ids=["sums", "a gap", "means", "rounded"],
)
def test_totals_are_left_out(tmp_path, monkeypatch, last, mark, size):
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    rows, totals, n_rows = read(written(tmp_path / "a.csv", last, mark=mark))
    assert (totals, n_rows) == ((20, "line 22"), 20)
    np.testing.assert_array_equal(rows.X, ROWS)
    assert rows.ranges["size"] == (100.0, 2000.0)
    assert not rows.n_missing.any()


@pytest.mark.parametrize(
    "last",
    [
        f"Summe;{SUMS[0]};{SUMS[1] + 1};{SUMS[2]}",
        "Summe;20.25;3;900",
        "total;;;",
    ],
    ids=["one sum is wrong", "a row", "no number"],
)
def test_only_a_word_is_no_total(tmp_path, last):
    path = written(tmp_path / "a.csv", last)
    with pytest.warns(ClusteringWarning, match="The last row, line 22, has '(Summe|total)'"):
        rows, totals, n_rows = read(path)
    assert (totals, n_rows, len(rows.X)) == (None, 21, 21)


def test_sums_without_a_word_are_a_row(tmp_path):
    rows, totals, _ = read(written(tmp_path / "a.csv", f"Berlin;{SUMS[0]};{SUMS[1]};{SUMS[2]}"))
    assert (totals, len(rows.X)) == (None, 21)


def test_totals_of_numbers_that_are_not_held_are_told(tmp_path):
    path = written(tmp_path / "a.csv", f"Summe;{SUMS[0]};{SUMS[1]};{SUMS[2]}")
    with pytest.warns(ClusteringWarning, match="line 22"):
        assert read(path, hold=False)[1:] == (None, 21)


def test_totals_in_a_parquet_file_have_the_number_of_a_row(tmp_path):
    columns = [
        [*column, total] for column, total in zip(zip(*ROWS, strict=True), SUMS, strict=True)
    ]
    towns = [f"t{i}" for i in range(20)] + ["Totals"]
    table = pa.table([towns, *columns], names=["town", "price", "n", "size"])
    pq.write_table(table, tmp_path / "a.parquet")
    rows, totals, n_rows = read(tmp_path / "a.parquet")
    assert (totals, n_rows, len(rows.X)) == ((20, "row 20 counted from 0"), 20, 20)
