"""The folder of a run, loaded in Python: it takes the table of the run as it is."""

import shutil

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import typicality
from typicality.cli import main
from typicality.exceptions import CalibrationWarning, ModelFileError, TableError


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Two groups with a text column between the numbers, and two missing cells."""
    rng = np.random.default_rng(1)
    rows = np.repeat([[0.0, 0.0], [9.0, 900.0]], 30, axis=0) + rng.normal(size=(60, 2)) * [1, 100]
    lines = [f"{x:.5f},item {i},{y:.5f}" for i, (x, y) in enumerate(rows)]
    lines[4], lines[40] = ",item 4,12.5", "9.5,item 40,"
    path = tmp_path_factory.mktemp("run") / "rows.csv"
    path.write_text("\n".join(["size,name,income", *lines, ""]), encoding="utf-8")
    return path


def run_on(file, command, *options):
    folder = file.parent / "-".join([command, *options])
    if not folder.exists():
        words = [command, str(file), "--output", str(folder), *options]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
    return folder


@pytest.mark.parametrize(("read", "missing"), [(pd.read_csv, "drop"), (pl.read_csv, "median")])
def test_clusters_of_the_whole_frame_are_those_of_the_run(file, read, missing):
    folder = run_on(file, "cluster", "--missing", missing)
    labels = pd.read_csv(folder / "labels.csv")["label"]
    run = typicality.load(folder)
    assert run.columns == ["size", "income"]
    assert_array_equal(run.predict(read(file)), labels.fillna(-1))
    assert labels.isna().sum() == (2 if missing == "drop" else 0)


@pytest.mark.parametrize("read", [pd.read_csv, pl.read_csv])
def test_scores_of_the_whole_frame_are_those_of_the_run(file, read):
    folder = run_on(file, "outliers", "--missing", "drop")
    found = pd.read_csv(folder / "outliers.csv")
    run, frame = typicality.load(folder), read(file)
    assert_allclose(run.score_samples(frame), found["score"], rtol=1e-7)
    assert_allclose(run.predict_typicality(frame), found["typicality"], rtol=1e-7)
    assert_array_equal(run.predict(frame), (1 - 2 * found["outlier"]).fillna(0))
    assert_array_equal(np.isnan(run.p_values(frame)), found["score"].isna())


def test_outliers_at_a_false_discovery_rate(file):
    run = typicality.load(run_on(file, "outliers", "--param", "novelty=True", "--missing", "drop"))
    new = pd.DataFrame({"size": [0.0, 50.0, np.nan], "name": "new", "income": [0.0, -9e3, 1.0]})
    assert run.outliers_at(new).tolist() == [False, True, False]
    assert run.outliers_at(new, method="by").tolist() == [False, True, False]
    with pytest.warns(CalibrationWarning, match="No row can be called an outlier"):
        assert not run.outliers_at(new, fdr=1e-3).any()


def test_the_first_cell_of_a_frame_that_is_no_number_is_named(file):
    run = typicality.load(run_on(file, "cluster", "--missing", "median"))
    cells = ["3750.0", "3.5", "12", "7", "1", "heavy", "light"]
    with pytest.raises(TableError, match="row 5 counted from 0, column 'size': 'heavy' is not a"):
        run.predict(pd.DataFrame({"size": cells, "income": 1.0}))
    with pytest.raises(TableError, match=r"row 0.*'3750.0' is text.*Convert the column to numbers"):
        run.predict(pd.DataFrame({"size": cells[:5], "income": 1.0}))


def test_memberships_and_arrays(file):
    folder = run_on(file, "cluster", "--missing", "median", "--method", "fcm", "--clusters", "2")
    run, frame = typicality.load(folder), pd.read_csv(file)
    memberships = run.predict_memberships(frame[["income", "name", "size"]])
    assert_allclose(memberships.sum(axis=1), 1.0)
    assert_array_equal(run.predict(frame[["size", "income"]].to_numpy()), run.predict(frame))
    with pytest.raises(ValueError, match="needs 2 columns, size, income"):
        run.predict(np.zeros((3, 5)))
    with pytest.raises(AttributeError):
        run.score_samples(frame)


@pytest.fixture(scope="module")
def mixed_file(tmp_path_factory):
    """Two groups that differ in a number, a category and a rank; cells are missing.

    pandas reads the years as 2019.0, because one is missing, and `paid` as booleans.
    """
    rng = np.random.default_rng(2)
    lines = []
    for i in range(80):
        low = i < 40
        kind = "" if i == 7 else ["red", "blue"][not low if rng.random() < 0.9 else low]
        size = "" if i == 50 else f"{rng.normal() + 6 * (not low):.4f}"
        year = "" if i == 9 else ["2019", "2020", "2021"][rng.integers(3)]
        grade = ["poor", "fair", "good"][min(2, rng.integers(2) + (not low))]
        paid = ["True", "False"][rng.integers(2)]
        lines.append(f"{kind},{size},{year},n{i},{grade},{paid}")
    path = tmp_path_factory.mktemp("mixed") / "mixed.csv"
    path.write_text("\n".join(["kind,size,year,name,grade,paid", *lines, ""]), encoding="utf-8")
    return path


MIXED = ["--categorical", "kind,year,paid", "--ordered", "grade=poor,fair,good", "--missing"]


@pytest.mark.parametrize(("read", "missing"), [(pd.read_csv, "drop"), (pl.read_csv, "median")])
def test_categories_of_a_frame_are_read_as_in_the_run(mixed_file, read, missing):
    folder = run_on(mixed_file, "cluster", *MIXED, missing)
    labels = pd.read_csv(folder / "labels.csv")["label"]
    run = typicality.load(folder)
    assert_array_equal(run.predict(read(mixed_file)), labels.fillna(-1))
    assert labels.isna().sum() == (3 if missing == "drop" else 0)
    folder = run_on(mixed_file, "outliers", *MIXED, missing)
    found, run = pd.read_csv(folder / "outliers.csv"), typicality.load(folder)
    assert_allclose(run.score_samples(read(mixed_file)), found["score"], rtol=1e-7)
    assert found["score"].isna().sum() == (3 if missing == "drop" else 0)


def test_categories_need_a_frame_with_known_ranks(mixed_file):
    run = typicality.load(run_on(mixed_file, "cluster", *MIXED, "drop"))
    frame = pd.read_csv(mixed_file)
    with pytest.raises(ValueError, match="Pass a frame with the columns"):
        run.predict(frame.to_numpy())
    with pytest.raises(TableError, match="superb"):
        run.predict(frame.assign(grade="superb"))
    unseen = run.predict(frame.assign(kind="green"))
    assert unseen.shape == (80,)


def test_missing_columns_and_values_are_named(file, tmp_path):
    frame = pd.read_csv(file)
    complete = tmp_path / "complete.csv"
    frame.dropna().to_csv(complete, index=False)
    run = typicality.load(run_on(complete, "cluster", "--missing", "error"))
    with pytest.raises(TableError, match="income"):
        run.predict(frame[["size", "name"]])
    with pytest.raises(
        ValueError, match="row 4 counted from 0, column 'size': the value is missing"
    ):
        run.predict(frame)


@pytest.mark.parametrize("text", ["{}", "no json", '{"data": {"missing": "guess"}}'])
def test_broken_record_is_refused(file, tmp_path, text):
    folder = tmp_path / "broken"
    shutil.copytree(run_on(file, "cluster", "--missing", "median"), folder)
    (folder / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"run\.json"):
        typicality.load(folder)
