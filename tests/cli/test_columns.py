"""What is done with columns: logarithms of skewed ones, and names in errors."""

import numpy as np
import pytest

import typicality
from cli.conftest import record_of, words

TEXT = {"encoding": "utf-8"}


@pytest.fixture(scope="module", name="countries")
def skewed_file(tmp_path_factory):
    """Two groups of incomes, which differ by a factor, and a column without skew."""
    rng = np.random.default_rng(0)
    incomes = np.concatenate([rng.lognormal(2.0, 0.8, 70), rng.lognormal(7.0, 0.8, 50)])
    lines = [
        f"{income:.4f},{rate:.4f}"
        for income, rate in zip(incomes, rng.normal(size=120), strict=True)
    ]
    path = tmp_path_factory.mktemp("skewed") / "countries.csv"
    path.write_text("\n".join(["income,rate", *lines]) + "\n", **TEXT)
    return path


def test_transform_is_remembered_by_the_model_and_told(countries, run, read_csv, tmp_path):
    folder = tmp_path / "logs"
    wanted = ("--columns", "income", "--method", "fcm", "-k", 2, "--transform", "auto")
    said = words(run("cluster", countries, *wanted, "-o", folder))
    assert "Skewed:" not in said
    labels = [row["label"] for row in read_csv(folder / "labels.csv")]
    assert max(np.bincount(np.array(labels[:70], dtype=int))) >= 68
    scaler = typicality.load(folder / "model")["columns"]
    assert (scaler.log_unit_ > 0).tolist() == [True]
    scored = tmp_path / "scored.csv"
    words(run("score", folder, countries, "-o", scored))
    assert [row["label"] for row in read_csv(scored)] == labels
    page = words(run("report", folder, "-o", tmp_path / "page.html"))
    assert "page.html" in page
    assert "skewed columns were replaced by their logarithms" in (tmp_path / "page.html").read_text(
        **TEXT
    )
    command = record_of(folder)["command"]
    assert "--transform auto" in command


def test_a_column_that_cannot_be_scaled_is_named(run, tmp_path):
    lines = [f"{i % 7},{(-1) ** i * (1e308 + i * 1e305)}" for i in range(30)]
    (tmp_path / "wide.csv").write_text("\n".join(["a,huge", *lines, ""]), **TEXT)
    options = ["-c", "a,huge", "-m", "fcm", "-k", 2, "-o", tmp_path / "out"]
    done = run("cluster", tmp_path / "wide.csv", *options)
    assert done.exit_code == 3
    assert "too large" in done.stderr
    assert "'huge'" in done.stderr


def test_groups_are_those_of_the_measurements_not_of_serial_numbers(run, read_csv, tmp_path):
    """Penguins as they were recorded: numbered within each species, with the year and an id."""
    rng = np.random.default_rng(3)
    sizes, lines = (60, 40, 50), ["Sample Number,Bird ID,Year,length,depth,species"]
    for k, size in enumerate(sizes):
        for i in range(size):
            length, depth = rng.normal([(39, 18), (49, 18), (47, 12)][k], 0.6)
            year = 2007 + i * 3 // size
            lines.append(f"{i + 1},{1000 + i // 2},{year},{length:.2f},{depth:.2f},s{k}")
    (tmp_path / "raw.csv").write_text("\n".join([*lines, ""]), **TEXT)
    said = words(run("cluster", tmp_path / "raw.csv", "-o", tmp_path / "out"))
    assert "2 columns (length, depth)." in said
    assert "Sample Number, a counter: whole numbers from 1 up; Year, years from 2007 to" in said
    assert said.count("--columns uses such columns") == 1
    found = [(row["species"], row["label"]) for row in read_csv(tmp_path / "out" / "labels.csv")]
    assert len({*found}) == 3
    used = ("--columns", "Sample Number,length,depth", "-o", tmp_path / "again")
    assert "3 columns" in words(run("cluster", tmp_path / "raw.csv", *used))
