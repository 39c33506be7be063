"""`typicality report`."""

import shutil

import pytest

from cli.conftest import record_of
from typicality._record import write_record

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


def moved(saved, groups, text):
    elsewhere = saved.parent / "elsewhere.csv"
    elsewhere.write_text(text, **TEXT)
    changed(saved, "data", "path", value=str(elsewhere))
    return elsewhere


def test_report_refuses_a_file_that_has_changed(run, saved, groups):
    elsewhere = moved(saved, groups, groups.read_text(**TEXT).replace("item 3,", "ITEM 3,"))
    done = run("report", saved, "--force")
    assert done.exit_code == 3
    assert f"{elsewhere} does not hold the rows of the run" in done.stderr


def test_report_ends_when_the_file_of_the_run_is_gone(run, saved, groups):
    elsewhere = moved(saved, groups, "")
    elsewhere.unlink()
    done = run("report", saved, "--force")
    assert done.exit_code == 3
    assert f"came from {elsewhere}, which does not exist; name a file" in done.stderr
    assert run("report", saved, groups, "--force").exit_code == 0


def test_missing_values_are_drawn_as_in_the_run(run, gaps, tmp_path):
    for missing in ("drop", "median"):
        run("cluster", gaps, "--missing", missing, "-o", tmp_path / missing)
        first = (tmp_path / missing / "report.html").read_text(**TEXT)
        assert run("report", tmp_path / missing, "--force").exit_code == 0
        assert (tmp_path / missing / "report.html").read_text(**TEXT) == first


def test_run_whose_page_was_drawn_again_can_be_replaced(run, saved, groups):
    assert run("report", saved, "--force").exit_code == 0
    assert (
        run(
            "cluster", groups, "-o", saved, "--no-report", "--force", "-m", "fcm", "-k", 2
        ).exit_code
        == 0
    )
    assert not (saved / "report.html").exists()


def changed(folder, *keys, value):
    record = record_of(folder)
    part = record
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    record.pop("checksum")
    write_record(folder / "run.json", record)


def test_record_that_was_changed_is_refused(run, saved, groups):
    text = (saved / "run.json").read_text(**TEXT)
    (saved / "run.json").write_text(text.replace('"seed": 0', '"seed": 1'), **TEXT)
    for command in (["report", saved, "--force"], ["score", saved, groups]):
        done = run(*command)
        assert (done.exit_code, done.stderr.count("\n")) == (3, 1)
        assert "run.json is not a record that this version" in done.stderr


@pytest.mark.parametrize("text", ["[" * 100_000, "[1]", "{"], ids=["deep", "list", "cut off"])
def test_record_that_is_no_object_is_refused(run, saved, groups, text):
    (saved / "run.json").write_text(text, **TEXT)
    done = run("score", saved, groups)
    assert (done.exit_code, "run.json cannot be read (" in done.stderr) == (3, True)


def test_record_cannot_write_to_the_terminal_or_ask_for_a_command(run, saved, groups):
    changed(saved, "command", value="rm -r \x1b[2J")
    changed(saved, "data", "fingerprint", value="sha256:0")
    done = run("report", saved, "--force")
    assert (done.exit_code, "rm -r" in done.stderr) == (3, False)
    changed(saved, "data", "path", value="/nowhere/\x1b]0;x\x07\u202e\nError: y")
    done = run("report", saved, "--force")
    assert done.exit_code == 3
    assert not set("\x1b\x07\u202e") & set(done.stderr)
    assert done.stderr.count("\n") == 1
