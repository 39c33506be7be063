"""Missing values without a word from the user: gaps are filled, empty rows are left out."""

import numpy as np
import pandas as pd
import pytest

import typicality
from cli.conftest import record_of, words

TEXT = {"encoding": "utf-8"}
N = 80


@pytest.fixture(scope="module")
def frame():
    """Two groups of four columns; row 5 has a gap, row 9 no value, and three rows mostly gaps.

    Row 20 has one value, which is the middle of its group; row 30 lies between the groups.
    """
    rng = np.random.default_rng(2)
    X = np.repeat([[0.0] * 4, [8.0] * 4], N // 2, axis=0) + rng.normal(size=(N, 4))
    X[5, 1] = np.nan
    X[9] = np.nan
    X[[20, 30, 60], 1:] = np.nan
    X[[20, 30, 60], 0] = 0.0, 4.0, 8.0
    return pd.DataFrame(X, columns=list("abcd")).round(3)


@pytest.fixture(params=["in memory", "by passes"])
def call(request):
    return request.getfixturevalue("run" if request.param == "in memory" else "in_blocks")


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("gaps") / "gaps.csv"
    frame.to_csv(path, index=False)
    return path


def test_gaps_are_filled_and_empty_rows_left_out(call, file, frame, tmp_path):
    done = call("cluster", file, "-m", "fcm", "-k", 2, "-o", tmp_path / "out")
    said = words(done)
    assert "10 missing values became the median of the column, 3 % of all" in said
    assert "(--missing drop leaves such rows out)" in said
    assert "Not used: 1 row without any value." in said
    record = record_of(tmp_path / "out")
    assert record["data"]["share_filled"] == pytest.approx(10 / (4 * (N - 1)))
    assert record["data"]["n_rows_left_out"] == 1
    assert "became the median" in record["data"]["assumed"][0]
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")["label"]
    assert list(np.flatnonzero(labels.isna())) == [9]
    shares = pd.read_csv(tmp_path / "out" / "clusters.csv")["share"]
    assert shares.sum() == pytest.approx(1.0, abs=1e-3)
    assert "became the median" in (tmp_path / "out" / "report.html").read_text(**TEXT)
    np.testing.assert_array_equal(
        typicality.load(tmp_path / "out").predict(frame), labels.fillna(-1)
    )


@pytest.mark.parametrize("method", [("fcm", "-k", 2), ("alpha-cut",), ("auto",)])
def test_rows_that_are_mostly_filled_are_no_examples(call, file, tmp_path, method):
    words(call("cluster", file, "-m", *method, "-o", tmp_path / "out"))
    results = record_of(tmp_path / "out")["results"]
    named = [row["row"] for row in [*results["typical_rows"], *results["atypical_rows"]]]
    assert named
    assert not {*named} & {20, 30, 60}


def test_complete_run_fills_gaps_of_new_rows(run, file, frame, tmp_path):
    frame.dropna().to_csv(tmp_path / "complete.csv", index=False)
    run("outliers", tmp_path / "complete.csv", "--no-report", "-o", tmp_path / "out")
    done = run("score", tmp_path / "out", file, "-o", tmp_path / "scored.csv")
    said = words(done)
    assert "Skipped: 1 row without any value." in said
    assert "4 rows have missing values; they became medians of the training rows." in said
    assert list(np.flatnonzero(pd.read_csv(tmp_path / "scored.csv")["score"].isna())) == [9]


def test_rows_after_one_that_is_left_out_keep_their_numbers(call, frame, tmp_path):
    frame = frame.copy()
    frame.loc[70] = 40.0  # after rows that are left out, in a file without lines
    frame.to_parquet(tmp_path / "rows.parquet")
    out = tmp_path / "out"
    words(call("outliers", tmp_path / "rows.parquet", "--missing", "drop", "-o", out))
    worst = record_of(out)["results"]["atypical_rows"][0]
    assert worst["row"] == 70
