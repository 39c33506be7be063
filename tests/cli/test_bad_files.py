"""Twelve bad files: what the command line says, on one line, and exit code 3 for each."""

import json
import os

import pytest

from bad_files import BAD_TEXTS
from typicality.cli import running
from typicality.tables import sniffing

WIDE = ",".join(f"c{j}" for j in range(10_000))
TOO_WIDE = {
    "too many columns": (
        f"{WIDE}\n{WIDE.replace('c', '1')}\n{WIDE.replace('c', '2')}\n".encode(),
        "bad.csv is too large to be held in memory: about 2 rows of 10,000 columns of numbers take "
        "0.2 MB, and 0.1 MB are allowed. Choose columns with --columns, or allow more with "
        "--memory.",
    ),
}
EVERY_TEXT = BAD_TEXTS | TOO_WIDE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files are named without a folder, so that messages are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["cluster", "outliers"])
@pytest.mark.parametrize(("contents", "message"), EVERY_TEXT.values(), ids=EVERY_TEXT)
def test_bad_text(run, folder, contents, message, command):
    (folder / "bad.csv").write_bytes(contents)
    done = run(command, "bad.csv", "--memory", 0.0001)
    assert (done.exit_code, done.stdout, done.stderr) == (3, "", f"Error: {message}\n")
    assert os.listdir(folder) == ["bad.csv"]


def test_unreadable(run, folder, monkeypatch):
    (folder / "bad.csv").write_text("a\n1\n2\n", encoding="utf-8")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sniffing, "open", refuse, raising=False)
    done = run("cluster", "bad.csv")
    message = "bad.csv cannot be read: permission denied. Check the path and your permissions."
    assert (done.exit_code, done.stderr) == (3, f"Error: {message}\n")
    assert os.listdir(folder) == ["bad.csv"]


GONE = (
    "bad.csv could not be read to its end: no such file or directory. Check the file, and read it"
)
CHANGED = (
    "bad.csv changed while it was read. Wait until nothing writes to it, or copy it, and read it"
)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.unlink(), GONE),
        (lambda path: path.write_text("a,b\n1,2\n", encoding="utf-8"), CHANGED),
    ],
    ids=["gone", "changed"],
)
def test_gone_half_way(run, folder, monkeypatch, spoil, message):
    path = folder / "bad.csv"
    path.write_text("a,b\n1,2\n3,5\n2,9\n", encoding="utf-8")
    fit = running.fit_rows

    def fit_and_spoil(*arguments, **options):
        spoil(path)
        return fit(*arguments, **options)

    monkeypatch.setattr(running, "fit_rows", fit_and_spoil)
    done = run("cluster", "bad.csv")
    assert (done.exit_code, done.stderr) == (3, f"Error: {message} again.\n")
    assert set(os.listdir(folder)) <= {"bad.csv"}


def test_no_such_file(run, folder):
    done = run("cluster", "none.csv")
    message = "none.csv cannot be read: no such file or directory. Check the path."
    assert (done.exit_code, done.stderr) == (3, f"Error: {message}\n")
    assert os.listdir(folder) == []


def test_near_names_of_columns_are_suggested(run, folder):
    (folder / "rows.csv").write_text("length,weight\n1,2\n3,5\n", encoding="utf-8")
    done = run("cluster", "rows.csv", "--columns", "lenght")
    message = (
        "rows.csv has no column 'lenght'. Did you mean 'length'? Its columns are 'length', "
        "'weight'."
    )
    assert (done.exit_code, done.stderr) == (3, f"Error: {message}\n")


def test_names_with_commas_may_be_quoted(run, folder):
    (folder / "rows.csv").write_text('"a, b",c,d\n1,2,7\n3,5,8\n', encoding="utf-8")
    done = run("cluster", "rows.csv", "--columns", '"a, b",c', "--no-report", "--json")
    record = json.loads(done.stdout)
    assert record["data"]["columns"] == ["a, b", "c"]
    assert record["arguments"][3:7] == ["--columns", '"a, b"', "--columns", "c"]
    again = run(*record["arguments"][1:], "--force")
    assert json.loads(again.stdout)["data"] == record["data"]
