"""`typicality outliers`."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import typicality
from cli.conftest import invoke, record_of, words
from typicality import OneClusterPCM
from typicality.metrics import select_discoveries
from typicality.preprocessing import ColumnScaler
from typicality.tables import base


def test_outliers_command_flags_the_strange_row_and_says_why(flagged, read_csv):
    done, folder = flagged
    assert done.exit_code == 0, done.stderr
    rows = read_csv(folder / "outliers.csv")
    assert list(rows[0])[4:] == ["typicality", "score", "p_value", "outlier", "why"]
    assert [row["outlier"] for row in rows].count("1") == 3
    assert rows[65]["outlier"] == "1"
    assert rows[65]["why"].startswith("height -20 (-")
    assert [row["why"] != "" for row in rows] <= [row["outlier"] == "1" for row in rows]
    scores = [float(row["score"]) for row in rows]
    assert int(np.argmin(scores)) == 65


def test_record_has_the_threshold(flagged, read_csv):
    record = record_of(flagged[1])
    assert record["estimator"]["parameters"]["contamination"] == 0.05
    rows = read_csv(flagged[1] / "outliers.csv")
    below = [float(row["score"]) < record["results"]["threshold"] for row in rows]
    assert below == [row["outlier"] == "1" for row in rows]
    assert record["results"]["n_outliers"] == sum(below)


def test_novelty_and_parameters_reach_the_estimator(run, groups, tmp_path):
    chosen = ["--param", "novelty=True", "--param", "weights=uniform"]
    options = ["--rate", 0.1, *chosen, "--no-report"]
    assert run("outliers", groups, *options, "-o", tmp_path / "out").exit_code == 0
    record = record_of(tmp_path / "out")
    parameters = record["estimator"]["parameters"]
    assert parameters["novelty"] is True
    assert (parameters["contamination"], parameters["weights"]) == (0.1, "uniform")
    assert record["command"].endswith(
        "--param novelty=True --param weights=uniform --no-report -o " + str(tmp_path / "out")
    )


def test_outliers_trims_and_takes_logarithms_unless_told_not_to(run, tmp_path, rng):
    rows = np.column_stack([rng.lognormal(3.0, 1.5, 300), rng.normal(size=300)])
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header="money,height", comments="")
    plain = ["--transform", "none", "--param", "trim=0"]
    for options, trim in (([], 0.2), (plain, 0.0), (["--reference", tmp_path / "a.csv"], 0.0)):
        folder = tmp_path / "out"
        done = run("outliers", tmp_path / "a.csv", *options, "-o", folder, "--force", "--no-report")
        assert ("Logarithms were taken of: money" in done.stdout) == (options != plain)
        assert ("--param trim=0 uses all rows" in done.stdout) == (trim > 0)
        record = record_of(folder)
        assert record["estimator"]["parameters"]["trim"] == trim


@pytest.fixture(scope="module")
def clean_and_new(tmp_path_factory):
    """Clean rows, and new ones with ten outliers at the end; columns in another order."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("reference")
    new = rng.normal(size=(100, 2))
    new[90:, 0] += 9.0
    for name, rows, order in [("clean", rng.normal(size=(500, 2)), 1), ("new", new, -1)]:
        names = ["width,height", "height,width"][order < 0]
        lines = [f"{a},{b},item {i}" for i, (a, b) in enumerate(rows[:, ::order])]
        path = folder / f"{name}.csv"
        path.write_text("\n".join([f"{names},name", *lines]) + "\n", encoding="utf-8")
    return folder / "clean.csv", folder / "new.csv"


@pytest.fixture(scope="module")
def compared(clean_and_new):
    clean, new = clean_and_new
    folder = new.parent / "out"
    return invoke("outliers", new, "--reference", clean, "--output", folder), folder


def test_rows_are_compared_with_a_reference(compared, clean_and_new, read_csv):
    done, folder = compared
    assert done.exit_code == 0, done.stderr
    assert "outliers among 100 rows, at a false discovery rate of 0.1; " in done.stdout
    assert "clean.csv: 500 rows, 2 columns (width, height)." in words(done)
    assert "item 9" in done.stdout
    rows = read_csv(folder / "outliers.csv")
    clean, new = (pd.read_csv(path)[["width", "height"]].to_numpy() for path in clean_and_new)
    scaler = ColumnScaler().fit(clean)
    model = OneClusterPCM(novelty=True).fit(scaler.transform(clean))
    p_values = [float(row["p_value"]) for row in rows]
    assert_allclose(p_values, model.p_values(scaler.transform(new)), rtol=1e-8)
    flags = [row["outlier"] == "1" for row in rows]
    assert flags == model.outliers_at(scaler.transform(new)).tolist()
    assert sum(flags[90:]) == 10


def test_record_and_report_know_the_reference(compared, run):
    folder = compared[1]
    record = record_of(folder)
    assert record["reference"]["n_rows"] == 500
    assert record["results"]["fdr"] == 0.1
    low, high = record["results"]["false_alarm_interval"]
    assert 0 < low < 0.05 < high < 1
    page = (folder / "report.html").read_text(encoding="utf-8")
    words(run("report", folder, "--output", folder / "again.html"))
    assert (folder / "again.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("size", [150, 2**21])
@pytest.mark.parametrize("fdr", [0.02, 0.1, 0.4])
def test_false_discoveries_are_the_same_in_every_command(
    clean_and_new, run, read_csv, tmp_path, monkeypatch, fdr, size
):
    clean, new = clean_and_new
    folder = tmp_path / "out"
    words(run("outliers", new, "--reference", clean, "--fdr", fdr, "-o", folder, "--no-report"))
    rows = read_csv(folder / "outliers.csv")
    monkeypatch.setattr(base, "BLOCK_BYTES", size)
    done = run("score", folder, new, "-o", tmp_path / "scored.csv")
    assert read_csv(tmp_path / "scored.csv") == rows
    n_flagged = [row["outlier"] for row in rows].count("1")
    assert (
        f"{n_flagged} ({n_flagged} %) are outliers at the false discovery rate of {fdr}"
        in words(done)
    )
    predicted = typicality.load(folder).predict(pd.read_csv(new))
    assert [str(int(label < 0)) for label in predicted] == [row["outlier"] for row in rows]
    for i in range(80, 100):
        found = json.loads(run("explain", folder, new, "--row", i, "--json").stdout)
        assert (found["label"] < 0, found["fdr"]) == (rows[i]["outlier"] == "1", fdr)


def test_score_says_that_there_are_too_few_reference_rows(clean_and_new, run, tmp_path):
    clean, new = clean_and_new
    options = ["--fdr", 1e-3, "-o", tmp_path / "out", "--no-report", "-q"]
    assert run("outliers", new, "--reference", clean, *options).exit_code == 0
    done = run("score", tmp_path / "out", new, "-o", tmp_path / "scored.csv")
    assert "0 (0 %) are outliers" in words(done)
    assert "with 500 reference rows no p-value" in " ".join(done.stderr.split())
    (tmp_path / "empty.csv").write_text("width,height\n,\n,\n", encoding="utf-8")
    done = run("score", tmp_path / "out", tmp_path / "empty.csv")
    assert (done.exit_code, done.stdout.splitlines()[1]) == (0, ",,,,,,")


def test_rate_flags_rows_against_a_reference_by_the_threshold(clean_and_new, run, read_csv):
    clean, new = clean_and_new
    folder = new.parent / "by-rate"
    done = run("outliers", new, "--reference", clean, "--rate", 0.2, "--output", folder)
    assert "are more unusual than 80 % of the reference rows; " in done.stdout
    rows, record = read_csv(folder / "outliers.csv"), record_of(folder)
    below = [float(row["score"]) < record["results"]["threshold"] for row in rows]
    assert below == [row["outlier"] == "1" for row in rows]


def test_summary_has_the_reason_why_no_row_can_be_an_outlier(clean_and_new, run, tmp_path):
    clean, new = clean_and_new
    done = run("outliers", new, "--reference", clean, "--fdr", 1e-3, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert record_of(tmp_path / "out")["results"]["n_outliers"] == 0
    summary = " ".join((tmp_path / "out" / "summary.txt").read_text(encoding="utf-8").split())
    assert "How sure? No row can be called an outlier: with 500 reference rows" in summary
    assert "Use at least" in summary
    assert "chance explains" not in summary


def test_fdr_needs_a_reference_and_excludes_a_rate(clean_and_new, run):
    clean, new = clean_and_new
    done = run("outliers", new, "--fdr", 0.1)
    assert (done.exit_code, "--reference" in done.stderr) == (2, True)
    done = run("outliers", new, "--reference", clean, "--fdr", 0.1, "--rate", 0.1)
    assert (done.exit_code, "--rate" in done.stderr) == (2, True)


def test_a_column_of_the_reference_must_be_in_the_file(clean_and_new, run, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("wide,height\n1,2\n2,1\n", encoding="utf-8")
    done = run("outliers", other, "--reference", clean_and_new[0])
    assert done.exit_code == 3
    assert "'width'" in done.stderr


def test_a_single_row_can_be_compared_and_either_file_may_have_more_columns(
    clean_and_new, run, read_csv, tmp_path
):
    one = tmp_path / "one.csv"
    one.write_text("width,extra,height\n30,7,30\n", encoding="utf-8")
    options = ["--reference", clean_and_new[0], "--ignore", "extra", "--fdr", 0.2]
    words(run("outliers", one, *options, "--no-report", "-o", tmp_path / "out"))
    assert [row["outlier"] for row in read_csv(tmp_path / "out" / "outliers.csv")] == ["1"]


def test_rows_that_are_in_the_reference_too_are_flagged_by_their_p_values(run, read_csv, tmp_path):
    """Their scores leave one copy out, and p-values do not."""
    rng = np.random.default_rng(1)
    clean = np.vstack([rng.normal(size=(300, 2)), [[30.0, 30.0]]])
    new = np.vstack([rng.normal(size=(95, 2)), [[30.0, 30.0]], rng.normal(9, 1, size=(4, 2))])
    for name, rows in (("clean", clean), ("new", new)):
        pd.DataFrame(rows, columns=["a", "b"]).to_csv(tmp_path / f"{name}.csv", index=False)
    done = run(
        "outliers", tmp_path / "new.csv", "--reference", tmp_path / "clean.csv", "-o",
        tmp_path / "out", "--no-report",
    )  # fmt: skip
    rows = read_csv(tmp_path / "out" / "outliers.csv")
    flags = np.array([row["outlier"] == "1" for row in rows])
    p_values = np.array([float(row["p_value"]) for row in rows])
    assert flags.tolist() == select_discoveries(p_values, fdr=0.1).tolist(), done.stdout


def test_report_of_a_file_that_is_its_own_reference_is_the_page_of_the_run(
    clean_and_new, run, tmp_path
):
    clean, folder = clean_and_new[0], tmp_path / "out"
    assert run("outliers", clean, "--reference", clean, "-o", folder).exit_code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    done = run("report", folder, "--output", tmp_path / "again.html")
    assert (done.exit_code, done.stderr) == (0, "")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
