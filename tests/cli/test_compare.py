"""`typicality compare`."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from cli.conftest import words
from typicality.cli import main

QUICK = ["--methods", "k-means,hdbscan", "--methods", "one-cluster,LOF"]


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Three discs far apart, with a column of text and a missing cell."""
    rng = np.random.default_rng(2)
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    rows = centers[np.arange(60) % 3] + rng.uniform(-1, 1, (60, 2))
    lines = [f"{x:.6f},{y:.6f},word {i}" for i, (x, y) in enumerate(rows)]
    lines[7] = ",0.5,word 7"
    path = tmp_path_factory.mktemp("compare") / "discs.csv"
    path.write_text("width,height,name\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_compare_prints_tables_and_findings(file):
    done = run(file, *QUICK, "--missing", "drop", "--clusters", 3)
    assert done.exit_code == 0, done.output
    text = words(done)
    assert "k-means 3 0.0% 1.00" in text
    assert "Number of clusters given to k-means: 3." in text


def test_compare_prints_the_result_as_json(file):
    record = json.loads(run(file, *QUICK, "--missing", "drop", "--clusters", 3, "--json").stdout)
    assert record["data"]["columns"] == ["width", "height"]
    assert record["data"]["fingerprint"].startswith("sha256:")
    assert (record["seed"], record["scale"], record["n_compared"]) == (0, "robust", 59)
    assert [(row["method"], row.get("clusters")) for row in record["methods"]] == [
        ("k-means", 3),
        ("hdbscan", 3),
        ("one-cluster", None),
        ("local outlier factor", None),
    ]


def test_compare_samples_many_rows(file):
    options = ["--methods", "k-means", "--clusters", 3, "--missing", "drop"]
    done = run(file, *options, "--max-rows", 30)
    assert "Only 30 rows, drawn at random, were compared." in words(done)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--methods", "dbscan"], 2, "--methods: the method 'dbscan' is unknown."),
        (["--missing", "error"], 3, "missing in 60 rows"),
        (
            ["--missing", "drop", "--clusters", "61"],
            3,
            "n_clusters=61 is more than the 59 distinct",
        ),
    ],
)
def test_wrong_use_is_explained(file, options, code, words):
    done = run(file, *options)
    assert done.exit_code == code
    assert words in " ".join(done.stderr.split())
