"""`typicality score`."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import typicality
from cli.conftest import words
from typicality.run_folder import Run
from typicality.tables import base

TEXT = {"encoding": "utf-8"}


@pytest.fixture
def small_blocks(monkeypatch):
    """Files come in blocks of a few rows."""
    monkeypatch.setattr(base, "BLOCK_BYTES", 150)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("fixture", "results"), [("clustered", "labels"), ("flagged", "outliers")])
def test_rows_of_the_fit_are_judged_as_in_the_fit(
    run, groups, request, fixture, results, tmp_path, read_csv
):
    folder = request.getfixturevalue(fixture)[1]
    done = run("score", folder, groups, "-o", tmp_path / "scored.csv")
    assert done.exit_code == 0, done.stderr
    # p-values of rows of the fit are ranks in the fit, and those of new rows here
    scored, fitted = (
        pd.read_csv(path, dtype=str).drop(columns="p_value", errors="ignore")
        for path in (tmp_path / "scored.csv", folder / f"{results}.csv")
    )
    pd.testing.assert_frame_equal(scored, fitted)
    assert done.stdout.endswith(f"Written: {tmp_path}/scored.csv\n")


def test_columns_are_taken_by_name(run, clustered, tmp_path, read_csv):
    (tmp_path / "new.csv").write_text("height,x,width\n0,a,0\n10,b,10\n-20,c,5\n", **TEXT)
    run("score", clustered[1], tmp_path / "new.csv", "-o", tmp_path / "scored.csv")
    rows = read_csv(tmp_path / "scored.csv")
    assert [row["label"] for row in rows] == ["0", "1", "-1"]
    assert [row["x"] for row in rows] == ["a", "b", "c"]


@pytest.mark.usefixtures("small_blocks")
def test_a_column_in_another_unit_is_named(run, clustered, groups, tmp_path):
    rows = pd.read_csv(groups)
    same = run("score", clustered[1], groups, "-o", tmp_path / "same.csv")
    assert "far from" not in same.stderr
    rows.assign(width=rows["width"] * 1000).to_csv(tmp_path / "new.csv", index=False)
    other = run("score", clustered[1], tmp_path / "new.csv", "-o", tmp_path / "scored.csv")
    assert "66 of 66 values of width are far from those" in other.stderr
    assert "height" not in other.stderr


def test_missing_values_follow_the_run(run, gaps, clustered, tmp_path):
    done = run("score", clustered[1], gaps, "--missing", "error")
    assert done.exit_code == 3
    assert done.stderr.startswith(f"Error: {gaps}, line 4, column 'width': the value is missing")
    for missing in ("drop", "median"):
        folder = tmp_path / missing
        run(
            "cluster", gaps, "-m", "fcm", "-k", 2, "--missing", missing, "-o", folder, "--no-report"
        )
        done = run("score", folder, gaps)
        assert done.exit_code == 0, done.stderr
        assert done.stdout == (folder / "labels.csv").read_text(**TEXT)


def test_choice_about_missing_values_can_be_changed(run, gaps, clustered, tmp_path, read_csv):
    done = run("score", clustered[1], gaps, "--missing", "drop", "-o", tmp_path / "scored.csv")
    assert "Skipped: 2 rows with missing values." in words(done)
    rows = read_csv(tmp_path / "scored.csv")
    assert [i for i, row in enumerate(rows) if row["label"] == ""] == [2, 7]
    run(
        "score", clustered[1], gaps, "--missing", "median", "--force", "-o", tmp_path / "scored.csv"
    )
    assert read_csv(tmp_path / "scored.csv")[2]["label"] != ""


@pytest.mark.usefixtures("small_blocks")
def test_score_passes_blocks_without_a_row_to_judge(run, clustered, tmp_path):
    rows = "".join(",1\n" for _ in range(10))
    (tmp_path / "new.csv").write_text(f"width,height\n{rows}0,0\n", **TEXT)
    done = run("score", clustered[1], tmp_path / "new.csv", "--missing", "drop")
    lines = done.stdout.splitlines()
    assert lines[0] == "width,height,label,typicality"
    assert lines[1:11] == [",1,,"] * 10
    assert lines[11].startswith("0,0,0,0.")
    output = tmp_path / "scored.parquet"
    run("score", clustered[1], tmp_path / "new.csv", "--missing", "drop", "-o", output)
    assert pq.read_table(output).column("label").to_pylist() == [None] * 10 + [0]


def test_file_is_replaced_only_by_force(run, groups, clustered, tmp_path):
    (tmp_path / "scored.csv").write_text("mine", **TEXT)
    done = run("score", clustered[1], groups, "-o", tmp_path / "scored.csv")
    assert done.exit_code == 4
    assert (tmp_path / "scored.csv").read_text(**TEXT) == "mine"
    done = run("score", clustered[1], groups, "-o", tmp_path / "scored.csv", "--force")
    assert (done.exit_code, [p.name for p in tmp_path.iterdir()]) == (0, ["scored.csv"])


def test_score_json_counts_rows(run, groups, flagged, tmp_path):
    done = run("score", flagged[1], groups, "--json", "-o", tmp_path / "scored.csv")
    assert json.loads(done.stdout) == {
        "output": str(tmp_path / "scored.csv"),
        "n_rows": 66,
        "n_unassigned": 3,
        "n_left_out": 0,
        "n_filled": 0,
    }
    done = run("score", flagged[1], groups, "--json")
    assert done.exit_code == 2
    assert (
        "--json and the rows cannot both go to standard output; write the rows to a file"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "does not exist; give the folder that `typicality cluster` or"),
        (lambda path: path.mkdir(), "holds no run; give the folder that `typicality cluster` or"),
        (
            lambda path: typicality.save(typicality.FuzzyCMeans(2), path),
            "holds only a saved model, not a run; give the folder that `typicality cluster` or",
        ),
    ],
)
def test_score_refuses_folders_without_a_model(run, groups, tmp_path, make, reason):
    make(tmp_path / "folder")
    done = run("score", tmp_path / "folder", groups)
    assert done.exit_code == 3
    assert done.stderr.startswith(f"Error: {tmp_path}/folder {reason}")
    assert done.stderr.count("\n") == 1


def test_score_says_so_when_it_is_interrupted_while_it_writes(run, groups, clustered, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "judge", interrupt)
    done = run("score", clustered[1], groups)
    assert done.exit_code == 130
    assert done.stderr == "Error: Interrupted; only a part of the rows was written.\n"


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("missing", ["drop", "median"])
def test_score_does_not_depend_on_the_number_of_threads(run, gaps, clustered, tmp_path, missing):
    for jobs in (1, 3):
        options = ["--missing", missing, "--jobs", jobs, "-o", tmp_path / f"{jobs}.csv"]
        assert run("score", clustered[1], gaps, *options).exit_code == 0
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "3.csv").read_bytes()


@pytest.mark.usefixtures("small_blocks")
def test_score_in_threads_ends_at_the_first_bad_line(run, groups, clustered, tmp_path):
    lines = groups.read_text(**TEXT).splitlines()
    lines[30] = "tall,1,item,cm"
    lines[50] = "1,2"
    (tmp_path / "new.csv").write_text("\n".join(lines), **TEXT)
    for jobs in (1, 3):
        done = run("score", clustered[1], tmp_path / "new.csv", "--jobs", jobs)
        assert done.exit_code == 3
        assert "new.csv, line 31, column 'width': 'tall' is not a number" in done.stderr


@pytest.mark.usefixtures("small_blocks")
def test_score_writes_parquet(run, gaps, clustered, tmp_path, read_csv):
    for suffix in ("csv", "parquet"):
        output = tmp_path / f"scored.{suffix}"
        words(run("score", clustered[1], gaps, "--missing", "drop", "-o", output))
    rows = pq.read_table(tmp_path / "scored.parquet")
    expected = read_csv(tmp_path / "scored.csv")
    assert rows.schema.names == list(expected[0])
    assert [str(kind) for kind in rows.schema.types[:4]] == ["double", "double", "string", "string"]
    for name in ("width", "label", "typicality"):
        found = [f"{value:.6g}" for value in rows.column(name).drop_null().to_pylist()]
        assert found == [
            f"{float(row[name]):.6g}" for row in expected if row[name] not in ("", "NA")
        ]
    again = run("score", clustered[1], tmp_path / "scored.parquet", "--missing", "drop")
    assert again.stdout.splitlines()[0].endswith(",label,typicality,label_new,typicality_new")


def test_score_names_the_cell_that_is_too_large(run, clustered, flagged, tmp_path):
    (tmp_path / "new.csv").write_text("width,height\n0,1\n3,1e308\n", **TEXT)
    done = run("score", clustered[1], tmp_path / "new.csv")
    assert done.exit_code == 3
    assert "new.csv, line 3, column 'height': '1e308' is too large" in done.stderr
    scored = run("score", flagged[1], tmp_path / "new.csv").stdout.splitlines()
    assert ",1,height 1e+308 (+" in scored[2]  # the logarithm of it is not too large


@pytest.mark.parametrize(
    "column",
    [
        pa.array([pa.MonthDayNano((1, 2, 3))]),
        pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1.0])]),
    ],
    ids=["interval", "union"],
)
def test_score_says_what_parquet_cannot_hold(run, clustered, tmp_path, column):
    table = pa.table({"width": [0.0], "height": [0.0], "other": column})
    with pa.ipc.new_file(tmp_path / "new.arrow", table.schema) as file:
        file.write_table(table)
    done = run("score", clustered[1], tmp_path / "new.arrow", "-o", tmp_path / "scored.parquet")
    assert done.exit_code == 3
    assert "The rows cannot be written as parquet (" in done.stderr
    assert not (tmp_path / "scored.parquet").exists()
    words(run("score", clustered[1], tmp_path / "new.arrow", "-o", tmp_path / "scored.csv"))


@pytest.mark.parametrize("suffix", ["xlsx", "csv.gz"])
def test_score_refuses_a_kind_of_file_it_does_not_write(run, groups, clustered, tmp_path, suffix):
    done = run("score", clustered[1], groups, "-o", tmp_path / f"scored.{suffix}")
    assert done.exit_code == 2
    assert "rows are written as csv or parquet" in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []
