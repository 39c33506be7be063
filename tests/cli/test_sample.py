"""Large files: a model of a sample of the rows, which judges all of them."""

import json

import numpy as np
import pytest

import typicality
from cli.conftest import words
from typicality.run_folder import draw_sample
from typicality.tables import open_table, read_rows

N_ROWS, N_FITTED = 4_000, 800


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Normal rows, with words in a column that takes no part."""
    path = tmp_path_factory.mktemp("many") / "many.csv"
    rows = np.random.default_rng(5).normal(size=(N_ROWS, 2))
    lines = [f"{x:.6f},{y:.6f},row {i}" for i, (x, y) in enumerate(rows)]
    path.write_text("\n".join(["x,y,name", *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def sampled(many, run):
    folder = many.parent / "outliers"
    done = run("outliers", many, "--rate", 0.1, "--max-rows", N_FITTED, "--output", folder)
    assert done.exit_code == 0
    return done, folder


def test_outliers_of_a_sample_score_all_rows_as_the_model_does(sampled, many, run, read_csv):
    done, folder = sampled
    assert f"{N_FITTED} distinct rows of 4,000" in words(done)
    rows = read_csv(folder / "outliers.csv")
    assert len(rows) == N_ROWS
    scored = many.parent / "scored.csv"
    assert run("score", folder, many, "--output", scored).exit_code == 0
    for before, after in zip(rows, read_csv(scored), strict=True):
        assert before["outlier"] == after["outlier"]
        assert float(before["score"]) == pytest.approx(float(after["score"]), rel=1e-8)


def test_threshold_and_p_values_are_those_of_all_rows(sampled, read_csv):
    rows = read_csv(sampled[1] / "outliers.csv")
    scores, p_values = (np.array([float(r[n]) for r in rows]) for n in ("score", "p_value"))
    assert sum(int(row["outlier"]) for row in rows) == N_ROWS / 10
    np.testing.assert_allclose(np.sort(p_values), np.arange(1, N_ROWS + 1) / N_ROWS)
    assert (np.argsort(scores) == np.argsort(p_values)).all()


@pytest.mark.parametrize("call", ["run", "in_blocks"])
def test_a_low_rate_flags_its_share_of_all_rows(many, call, request, read_csv, tmp_path):
    """Of the 200 rows that are fitted, none or one would be below the threshold."""
    options = ["--rate", 0.0025, "--max-rows", 200, "--no-report", "-o", tmp_path / "out"]
    done = request.getfixturevalue(call)("outliers", many, *options)
    assert "The 10 most unusual of 4,000 rows (0.25 % asked for)" in words(done)
    flagged = [row for row in read_csv(tmp_path / "out" / "outliers.csv") if row["outlier"] == "1"]
    assert len(flagged) == 10


def test_sample_is_the_same_for_the_same_seed_and_in_order():
    first, again = (draw_sample(1000, 50, seed=3) for _ in range(2))
    assert first.tolist() == again.tolist() == sorted(set(first.tolist()))
    assert first.tolist() != draw_sample(1000, 50, seed=4).tolist()
    assert draw_sample(50, 50, seed=3) is None
    assert draw_sample(50, None, seed=3) is None


@pytest.mark.parametrize("method", ["alpha-cut", "sequential"])
def test_clusters_of_a_sample_label_all_rows_and_the_page_can_be_made_again(
    groups, run, read_csv, tmp_path, method
):
    folder = tmp_path / "out"
    options = ["--method", method, "--max-rows", 45, "--seed", 3, "--output", folder]
    assert run("cluster", groups, *options).exit_code == 0
    labels = np.array([int(row["label"]) for row in read_csv(folder / "labels.csv")])
    assert len(set(labels[:40])) == len(set(labels[40:65])) == 1
    assert labels[0] != labels[40]
    page = tmp_path / "again.html"
    assert run("report", folder, "--output", page).exit_code == 0
    assert page.read_bytes() == (folder / "report.html").read_bytes()
    says = "This page shows 45 of the" in page.read_text("utf-8")
    assert says == (method != "sequential")  # a page without a tree shows all rows
    assert run("explain", folder, groups, "--line", 67).exit_code == 0


def test_rows_of_the_sample_are_found_again_by_its_seed(many, run, tmp_path):
    folder = tmp_path / "out"
    options = ["-m", "fcm", "-k", 2, "--max-rows", N_FITTED, "--seed", 3, "--output", folder]
    assert run("cluster", many, "--no-report", *options).exit_code == 0
    with open_table(many) as table:
        loaded = typicality.load(folder)
        places = loaded.places_of_fit(N_ROWS, read_rows(table).fingerprint)
    assert places.tolist() == draw_sample(N_ROWS, N_FITTED, seed=3).tolist()
    assert loaded.places_of_fit(N_ROWS, "sha256:another file") is None


def test_explain_knows_that_rows_were_those_of_the_fit(sampled, many, run, read_csv):
    """Rows of the fit are ranked among themselves; others get a p-value of new rows."""
    rows = read_csv(sampled[1] / "outliers.csv")
    for row in (0, 2_000):
        explained = json.loads(run("explain", sampled[1], many, "--row", row, "--json").stdout)
        assert 1 - explained["rarer_than"] == pytest.approx(float(rows[row]["p_value"]), rel=1e-6)


def test_reference_may_be_a_sample_too(many, run, tmp_path, read_csv):
    (tmp_path / "new.csv").write_text("x,y\n0,0\n9,9\n", encoding="utf-8")
    options = ["--reference", many, "--max-rows", N_FITTED, "--output", tmp_path / "out"]
    done = run("outliers", tmp_path / "new.csv", *options)
    assert f"{N_FITTED} distinct rows of 4,000" in words(done)
    rows = read_csv(tmp_path / "out" / "outliers.csv")
    assert [row["outlier"] for row in rows] == ["0", "1"]
    assert float(rows[1]["p_value"]) == pytest.approx(1 / (N_ROWS + 1), rel=1e-4)
