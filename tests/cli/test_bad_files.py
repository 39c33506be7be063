"""Bad files: what the command line says, on one line, and exit code 3 for each."""

import gzip
import json
import os

import pytest

import typicality.cli.run as running
from typicality.tables import columns


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files are named without a folder, so that messages are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.unlink(), "could not be read to its end"),
        (lambda path: path.write_text("a,b\n" + "1,2\n" * 9, encoding="utf-8"), "changed while it"),
    ],
    ids=["gone", "longer"],
)
def test_command_ends_when_the_file_changes_half_way(run, folder, monkeypatch, spoil, message):
    path = folder / "bad.csv"
    path.write_text("a,b\n1,2\n3,5\n2,9\n", encoding="utf-8")
    fit = running._fit

    def fit_and_spoil(*arguments, **options):
        spoil(path)
        return fit(*arguments, **options)

    monkeypatch.setattr(running, "_fit", fit_and_spoil)
    done = run("cluster", "bad.csv")
    assert done.exit_code == 3
    assert done.stderr.startswith(f"Error: bad.csv {message}")
    assert set(os.listdir(folder)) <= {"bad.csv"}


@pytest.mark.parametrize(
    ("name", "contents", "remedy"),
    [
        ("rows.xyz", b"a\n1\n", "name the format: --format csv."),
        (
            "rows.csv",
            b"%PDF-1.4\n%\xe2\xe3\n\0",
            "Choose a csv file, or name the format with --format.",
        ),
        ("rows.csv", b"PAR1", "Name it .parquet, or use --format parquet."),
        ("rows.csv.gz", gzip.compress(b"PAR1"), "Name it .parquet, or use --format parquet."),
    ],
    ids=["suffix", "pdf", "parquet", "packed parquet"],
)
def test_remedies_name_options(run, folder, name, contents, remedy):
    (folder / name).write_bytes(contents)
    done = run("cluster", name)
    assert done.exit_code == 3
    assert done.stderr.endswith(f"{remedy}\n")


def test_file_with_too_many_numbers_is_refused_where_all_are_needed(run, folder, monkeypatch):
    (folder / "rows.csv").write_text("a,b\n1,2\n3,5\n7,1\n", encoding="utf-8")
    monkeypatch.setattr(columns, "MOST_NUMBERS", 5)
    done = run("compare", "rows.csv")
    assert done.exit_code == 3
    assert "too large for memory: about 3 rows" in done.stderr


def test_columns_option_takes_quoted_names_with_commas(run, folder):
    (folder / "rows.csv").write_text('"a, b",c,d\n1,2,7\n3,5,8\n', encoding="utf-8")
    done = run("cluster", "rows.csv", "--columns", '"a, b",c', "--no-report", "--json")
    record = json.loads(done.stdout)
    assert record["data"]["columns"] == ["a, b", "c"]
    assert record["arguments"][3:5] == ["--columns", '"a, b",c']
    again = run(*record["arguments"][1:], "--force")
    assert json.loads(again.stdout)["data"] == record["data"]
