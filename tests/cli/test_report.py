"""`typicality report`."""

import shutil

import pytest

TEXT = {"encoding": "utf-8"}


@pytest.fixture
def saved(clustered, tmp_path):
    """A copy of the run, to be changed."""
    shutil.copytree(clustered[1], tmp_path / "run")
    return tmp_path / "run"


def test_page_is_the_one_of_the_run(run, saved, clustered):
    (saved / "report.html").unlink()
    done = run("report", saved)
    assert (done.exit_code, done.stdout) == (0, f"Open the report: {saved}/report.html\n")
    assert (saved / "report.html").read_text(**TEXT) == (clustered[1] / "report.html").read_text(
        **TEXT
    )


def test_page_is_replaced_only_by_force(run, saved):
    done = run("report", saved)
    assert done.exit_code == 4
    assert f"{saved}/report.html exists already" in done.stderr
    assert run("report", saved, "--force", "--quiet").output == ""


def test_report_writes_the_page_elsewhere(run, flagged, tmp_path):
    assert run("report", flagged[1] / "model", "-o", tmp_path / "page.html").exit_code == 0
    assert (tmp_path / "page.html").read_text(**TEXT).startswith("<!DOCTYPE html>")


def moved(saved, groups, text):
    record = saved / "run.json"
    elsewhere = saved.parent / "elsewhere.csv"
    elsewhere.write_text(text, **TEXT)
    record.write_text(record.read_text(**TEXT).replace(str(groups), str(elsewhere)), **TEXT)
    return elsewhere


def test_report_refuses_a_file_that_has_changed(run, saved, groups):
    elsewhere = moved(saved, groups, groups.read_text(**TEXT).replace("item 3,", "ITEM 3,"))
    done = run("report", saved, "--force")
    assert done.exit_code == 3
    assert f"{elsewhere} has changed since the run; run `typicality cluster" in done.stderr


def test_report_ends_when_the_file_of_the_run_is_gone(run, saved, groups):
    elsewhere = moved(saved, groups, "")
    elsewhere.unlink()
    done = run("report", saved, "--force")
    assert done.exit_code == 3
    assert done.stderr.startswith(f"Error: {elsewhere}, the file of this run, is gone")
    assert run("report", saved, groups, "--force").exit_code == 0


def test_rows_from_standard_input_must_be_named(run, groups, tmp_path):
    options = ["-o", tmp_path / "run", "--no-report"]
    run("cluster", "-", *options, stdin=groups.read_text(**TEXT))
    done = run("report", tmp_path / "run")
    assert done.exit_code == 3
    assert "The rows of this run came from standard input; give a file" in done.stderr
    assert run("report", tmp_path / "run", groups).exit_code == 0
    assert (tmp_path / "run" / "report.html").is_file()


def test_report_refuses_other_rows_than_those_of_the_tree(run, saved, groups, tmp_path):
    lines = groups.read_text(**TEXT).splitlines()
    (tmp_path / "other.csv").write_text("\n".join(lines[:40]), **TEXT)
    done = run("report", saved, tmp_path / "other.csv", "--force")
    assert done.exit_code == 3
    assert "is not what the model was fitted on (66 rows)" in done.stderr


def test_report_takes_other_rows_for_prototypes(run, groups, tmp_path):
    run("cluster", groups, "-m", "fcm", "-k", 2, "-o", tmp_path / "run", "--no-report")
    lines = groups.read_text(**TEXT).splitlines()
    (tmp_path / "other.csv").write_text("\n".join(lines[:40]), **TEXT)
    done = run("report", tmp_path / "run", tmp_path / "other.csv")
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "run" / "report.html").read_text(**TEXT)
    assert f"Drawn for the 39 rows of {tmp_path}/other.csv, not for those of the fit." in page


def test_missing_values_are_drawn_as_in_the_run(run, gaps, tmp_path):
    for missing in ("drop", "median"):
        run("cluster", gaps, "--missing", missing, "-o", tmp_path / missing)
        first = (tmp_path / missing / "report.html").read_text(**TEXT)
        assert run("report", tmp_path / missing, "--force").exit_code == 0
        assert (tmp_path / missing / "report.html").read_text(**TEXT) == first


def test_model_alone_has_no_report(run, clustered, tmp_path):
    shutil.copytree(clustered[1] / "model", tmp_path / "alone")
    done = run("report", tmp_path / "alone")
    assert done.exit_code == 3
    assert "alone has no run.json, which says what was run on what" in done.stderr
