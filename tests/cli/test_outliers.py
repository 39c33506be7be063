"""`typicality outliers`."""

import json

import numpy as np

from typicality import OneClusterPCM


def test_outliers_command_flags_the_strange_row_and_says_why(flagged, read_csv):
    done, folder = flagged
    assert done.exit_code == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "3 outliers among 66 rows, at a nominal rate of 0.05." in text
    assert (
        "The worst first: row, name score unusual in (by so many spreads) line 67 item 65" in text
    )
    assert "height -20 (-" in text
    rows = read_csv(folder / "outliers.csv")
    assert list(rows[0])[4:] == ["typicality", "score", "outlier"]
    assert [row["outlier"] for row in rows].count("1") == 3
    assert rows[65]["outlier"] == "1"
    scores = [float(row["score"]) for row in rows]
    assert int(np.argmin(scores)) == 65


def test_record_has_the_threshold(flagged, read_csv):
    record = json.loads((flagged[1] / "run.json").read_text(encoding="utf-8"))
    assert record["estimator"]["parameters"]["contamination"] == 0.05
    rows = read_csv(flagged[1] / "outliers.csv")
    below = [float(row["score"]) < record["results"]["threshold"] for row in rows]
    assert below == [row["outlier"] == "1" for row in rows]
    assert record["results"]["n_outliers"] == sum(below)


def test_novelty_and_parameters_reach_the_estimator(run, groups, tmp_path):
    options = ["--novelty", "--rate", 0.1, "--param", "weights=uniform", "--no-report"]
    assert run("outliers", groups, *options, "-o", tmp_path / "out").exit_code == 0
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    parameters = record["estimator"]["parameters"]
    assert parameters["novelty"] is True
    assert (parameters["contamination"], parameters["weights"]) == (0.1, "uniform")
    assert record["command"].endswith(
        "--novelty --param weights=uniform --no-report --output " + str(tmp_path / "out")
    )


def test_only_the_worst_are_listed_where_there_are_many(run, groups, tmp_path):
    done = run("outliers", groups, "--rate", 0.4, "--no-report", "-o", tmp_path / "out")
    assert "The 10 worst:" in done.stdout
    assert sum(line.startswith("line ") for line in done.stdout.splitlines()) == 10


def test_rate_must_be_a_rate(run, groups):
    done = run("outliers", groups, "--rate", 5)
    assert done.exit_code == 2
    assert "Invalid value for '--rate': 5.0 is not in the range 0<x<=0.5." in done.stderr


def test_rows_are_scored_once_for_the_file_and_the_report(run, groups, tmp_path, monkeypatch):
    score, asked = OneClusterPCM.score_samples, []
    monkeypatch.setattr(
        OneClusterPCM, "score_samples", lambda self, X: asked.append(len(X)) or score(self, X)
    )
    assert run("outliers", groups, "-o", tmp_path / "out").exit_code == 0
    assert asked == [66]
