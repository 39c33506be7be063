"""What clusters are, in the units of the file, and what rows are called."""

import json

import numpy as np
import pytest

from cli.conftest import invoke, record_of, words
from typicality.cli.result import column_of_values
from typicality.report.clusters import tabulate_texts

SPECIES = ["Adelie penguin", "Gentoo penguin"]


@pytest.fixture(scope="module")
def penguins(tmp_path_factory):
    """Two species, a code and an id for each row, and rows far out, the farthest in line 62."""
    rng = np.random.default_rng(0)
    mass = np.r_[rng.normal(3700, 150, 60), rng.normal(5000, 150, 40)]
    flipper = np.r_[rng.normal(190, 4, 60), rng.normal(217, 4, 40)]
    mass[60], mass[10], mass[30] = 20000.0, 12000.0, 9500.0
    lines = [
        f"{i + 1},N{i}A1,{SPECIES[i >= 60]},{m:.0f},{f:.1f}"
        for i, (m, f) in enumerate(zip(mass, flipper, strict=True))
    ]
    path = tmp_path_factory.mktemp("penguins") / "penguins.csv"
    path.write_text("\n".join(["number,code,species,mass,flipper", *lines]) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def clustered(penguins):
    folder = penguins.parent / "clusters"
    return invoke("cluster", penguins, "-m", "alpha-cut", "-o", folder), folder


@pytest.fixture(scope="module")
def flagged(penguins):
    folder = penguins.parent / "outliers"
    return invoke("outliers", penguins, "--rate", 0.05, "-o", folder), folder


@pytest.fixture(scope="module")
def overlapping(tmp_path_factory):
    """A file of three groups that touch each other, with two empty rows; clustered by c-means."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(90, 2)) + np.array([[0, 0], [4, 0], [2, 3.5]])[np.arange(90) % 3]
    lines = ["x,y", *(f"{x:.4f},{y:.4f}" for x, y in rows), ",", ","]
    path = tmp_path_factory.mktemp("overlapping") / "rows.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    folder = path.parent / "out"
    return invoke("cluster", path, "-m", "fcm", "-k", 3, "-o", folder, "--no-report"), folder


def test_rows_that_were_left_out_belong_to_no_cluster(overlapping):
    done, folder = overlapping
    assert "Not used: 2 rows without any value." in words(done)
    headline = "3 clusters; every one of the 90 rows that were used belongs to one."
    assert headline in words(done)
    assert headline in " ".join((folder / "summary.txt").read_text("utf-8").split())


def test_rows_between_clusters_are_counted(overlapping, read_csv):
    done, folder = overlapping
    rows = [row for row in read_csv(folder / "labels.csv") if row["label"]]
    seconds = [sorted(float(row[f"membership_{k}"]) for k in range(3))[1] for row in rows]
    n_between = sum(second >= 0.1 for second in seconds)
    assert record_of(folder)["results"]["n_between"] == n_between > 5
    assert f"Rows between clusters, 5 of {n_between} with a membership of 0.1 or more" in words(
        done
    )


def test_summary_names_every_cluster(run, tmp_path):
    rng = np.random.default_rng(2)
    centers = np.array([[0, 0], [30, 30], [-30, 30], [30, -30], [-30, -30]])
    rows = rng.normal(size=(150, 2)) + centers[np.arange(150) % 5]
    lines = "".join(f"{x:.4f},{y:.4f}\n" for x, y in rows)
    (tmp_path / "a.csv").write_text(f"x,y\n{lines}", "utf-8")
    summaries = []
    for k in (5, 8):
        folder = tmp_path / f"out{k}"
        done = run("cluster", tmp_path / "a.csv", "-m", "fcm", "-k", k, "-o", folder, "--no-report")
        assert done.exit_code == 0, done.stderr
        results = record_of(folder)["results"]
        summary = " ".join((folder / "summary.txt").read_text("utf-8").split())
        named = [f"Cluster {i} ({n} rows): " in summary for i, n in enumerate(results["sizes"])]
        assert named == [i < 6 for i in range(len(named))]
        rest = results["sizes"][6:]
        assert (f" more clusters have {sum(rest)} rows." in summary) == bool(rest)
        summaries.append(summary)
    assert "): no single column sets it apart. Cluster" in summaries[0]


def test_clusters_are_described_by_medians_in_units_of_the_file(clustered, read_csv):
    text = words(clustered[0])
    assert "How each cluster differs (its medians against those of the other clusters)" in text
    rows = read_csv(clustered[1] / "labels.csv")
    described = read_csv(clustered[1] / "clusters.csv")
    assert len(described) == 2
    for line in described:
        own = [row for row in rows if row["label"] == line["cluster"]]
        assert int(line["rows"]) == len(own)
        for column in ("mass", "flipper"):
            expected = np.median([float(row[column]) for row in own])
            assert float(line[f"median_{column}"]) == pytest.approx(expected)
        assert line["typical_species"] == rows[int(line["typical_row"])]["species"]
    medians = [f"{float(line['median_mass']):,.0f}" for line in described]
    assert f"mass {medians[0]} against {medians[1]}" in text
    assert f"mass {medians[1]} against {medians[0]}" in text


def test_only_columns_of_few_values_are_counted():
    labels = np.repeat(np.int32([0, 1]), 20)
    texts = {
        "each": [str(i) for i in range(40)],
        "one": ["a"] * 40,
        "mixed": ["a", "b"] * 20,
        "same": ["a"] * 20 + ["b"] * 20,
    }
    found = tabulate_texts(texts, labels)
    assert [each.column for each in found] == ["same", "mixed"]
    assert [each.association for each in found] == pytest.approx([1.0, 0.0])
    assert found[0].counts == {0: {"a": 20}, 1: {"b": 20}}


def test_the_rarest_rows_come_first(clustered):
    record = record_of(clustered[1])
    rows = record["results"]["atypical_rows"]
    assert [row["line"] for row in rows[:3]] == [62, 12, 32]
    assert [row["rarer_than"] for row in rows[:3]] == pytest.approx([0.99, 0.98, 0.97])
    assert "line 62 Gentoo penguin 99.0 % unassigned mass 20,000 (+" in words(clustered[0])


@pytest.mark.parametrize("name", ["code", "number"])
def test_any_column_names_rows_on_request(penguins, read_csv, tmp_path, name):
    options = ["--columns", "mass,flipper", "--name", name, "--no-report", "-o", tmp_path / "out"]
    text = words(invoke("outliers", penguins, *options))
    assert f"row, {name}" in text
    assert f"line 62 {read_csv(penguins)[60][name]} " in text


def test_reasons_do_not_depend_on_the_rate(penguins, flagged, read_csv, tmp_path):
    options = ["--rate", 0.3, "--no-report", "-o", tmp_path / "out"]
    assert invoke("outliers", penguins, *options).exit_code == 0
    few, many = (read_csv(path / "outliers.csv") for path in (flagged[1], tmp_path / "out"))
    reasons = [(a["why"], b["why"]) for a, b in zip(few, many, strict=True) if a["outlier"] == "1"]
    assert len(reasons) >= 3
    assert all(a == b for a, b in reasons)


def test_score_says_why_as_the_run_did(penguins, flagged, read_csv, tmp_path):
    words(invoke("score", flagged[1], penguins, "-o", tmp_path / "scored.csv"))
    scored, run = read_csv(tmp_path / "scored.csv"), read_csv(flagged[1] / "outliers.csv")
    assert [row["why"] for row in scored] == [row["why"] for row in run]
    assert scored[60]["why"].startswith("mass 20,000 (+")


def test_what_was_filled_in_is_no_reason(penguins, tmp_path):
    lines = penguins.read_text().splitlines()
    for line in (5, 61, 80):
        cells = lines[line].split(",")
        lines[line] = ",".join([*cells[:4], ""])
    file = tmp_path / "gaps.csv"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    for command, *options in (["outliers"], ["cluster", "-m", "alpha-cut"]):
        folder = tmp_path / command
        done = invoke(command, file, "--missing", "median", *options, "-o", folder)
        assert "nan" not in words(done)
    assert "nan" not in (tmp_path / "outliers" / "outliers.csv").read_text()


@pytest.mark.parametrize("which", [["--line", 62], ["--row", 60]])
def test_explain_compares_a_row_with_typical_ones(penguins, flagged, which):
    done = invoke("explain", flagged[1], penguins, *which)
    text = words(done)
    assert text.startswith("Line 62 is an outlier. It is rarer than 99.0 % of the rows. Its score")
    found = json.loads(invoke("explain", flagged[1], penguins, *which, "--json").stdout)
    first = found["columns"][0]
    assert (first["column"], first["value"]) == ("mass", 20000.0)
    assert 3000 < first["typical"] < 6000
    assert f"mass 20,000 {first['typical']:,.0f} {first['deviations']:+.1f}" in text


def test_explain_needs_one_row_that_is_there(penguins, flagged):
    assert invoke("explain", flagged[1], penguins).exit_code == 2
    assert invoke("explain", flagged[1], penguins, "--row", 1, "--line", 3).exit_code == 2
    done = invoke("explain", flagged[1], penguins, "--line", 500)
    assert done.exit_code == 3
    assert "has no line 500 with values; its lines are numbered from 2 to" in done.stderr


def test_explain_names_a_number_that_is_too_large(penguins, clustered, tmp_path):
    lines = penguins.read_text("utf-8").splitlines()
    lines[40] = ",".join([*lines[40].split(",")[:3], "1e200", "190.0"])
    path = tmp_path / "huge.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    done = invoke("explain", clustered[1], path, "--row", 3)
    assert done.exit_code == 3
    assert "Row 39 counted from 0, column 'mass': the value is too large" in done.stderr


def test_one_column_is_always_the_reason(run, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["co2", *(f"{1000 + i / 2}" for i in range(400))]) + "\n", "utf-8")
    done = run("outliers", path, "--no-report", "-o", tmp_path / "out")
    assert "no single column" not in done.stdout
    assert "co2 1,000 (" in done.stdout
    reasons = (tmp_path / "out" / "outliers.csv").read_text("utf-8")
    assert '"co2 1,000 (' in reasons


def test_clusters_that_are_the_values_of_a_column_are_called_so(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{i % 5 < 2:d},{a:.2f},{b:.2f}" for i, (a, b) in enumerate(rng.normal(size=(300, 2)))]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["survived,age,fare", *lines]) + "\n", "utf-8")
    done = run("cluster", path, "-m", "alpha-cut", "--no-report", "-o", tmp_path / "out")
    text = words(done)
    assert "The clusters are the values of survived." in text
    assert "--ignore survived" in text
    record = record_of(tmp_path / "out")
    assert record["results"]["values_of"] == "survived"


def test_column_of_values_is_the_one_that_says_as_much_as_the_labels():
    labels = np.repeat(np.int32([0, 1, -1]), [40, 30, 5])
    near = labels.copy()
    near[:2] = 1
    columns = {
        "number": np.random.default_rng(0).normal(size=75),
        "near": near,
        "same": np.array(["a", "b", "c"])[labels].tolist(),
        "constant": ["x"] * 75,
    }
    assert column_of_values(columns, labels) == "same"
    assert column_of_values({"near": near}, labels) is None
    assert column_of_values(columns, np.zeros(75, np.int32)) is None


def test_a_row_that_stands_apart_is_listed_although_none_is_flagged(run, tmp_path):
    rows = np.random.default_rng(0).normal(size=(16, 3))
    rows[15] = 30.0
    lines = [",".join(f"{value:.2f}" for value in row) for row in rows]
    path = tmp_path / "few.csv"
    path.write_text("\n".join(["a,b,c", *lines]) + "\n", "utf-8")
    done = run("outliers", path, "--no-report", "-o", tmp_path / "out")
    text = words(done)
    assert "None of 16 rows is below the threshold (5 % asked for); 1 stands apart." in text
    assert "line 17 93.7 %" in text
    results = record_of(tmp_path / "out")["results"]
    assert (results["n_outliers"], results["n_apart"]) == (0, 1)


def test_summary_is_the_last_paragraph_of_what_is_printed(clustered, flagged):
    for done, folder in (clustered, flagged):
        text = (folder / "summary.txt").read_text("utf-8")
        assert " ".join(text.split()) in words(done)
        record = record_of(folder)
        assert f"How sure? {record['results']['certainty']}" in " ".join(text.split())
        assert "number, an identifier" in " ".join(text.split())


def test_one_column_sets_every_cluster_apart(run, tmp_path):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(middle, 1.0, 60) for middle in (0, 10, 20)])
    path = tmp_path / "one.csv"
    path.write_text("\n".join(["x", *(f"{v:.3f}" for v in values)]) + "\n", "utf-8")
    done = run("cluster", path, "-m", "fcm", "-k", 3, "--no-report", "-o", tmp_path / "out")
    assert "no single column" not in done.stdout
