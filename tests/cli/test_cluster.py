"""`typicality cluster`."""

import base64
import csv
import json
import shlex
import shutil

import numpy as np
import pytest

import typicality
from cli.conftest import record_of, words
from typicality.cli.run import folder_name
from typicality.tables import open_table, read_rows

TEXT = {"encoding": "utf-8"}
QUICK = ("-m", "fcm", "-k", 2, "--no-report")


def test_labels_keep_the_file_as_it_was(clustered, groups, read_csv):
    original = groups.read_text(**TEXT).splitlines()
    written = (clustered[1] / "labels.csv").read_text(**TEXT).splitlines()
    assert written[0] == f"{original[0]},label,typicality"
    assert [line.rsplit(",", 2)[0] for line in written[1:]] == original[1:]
    labels = [row["label"] for row in read_csv(clustered[1] / "labels.csv")]
    assert labels == ["0"] * 40 + ["1"] * 25 + ["-1"]


def test_record_tells_all_of_the_run(clustered, groups):
    record = record_of(clustered[1])
    assert record["command"] == f"typicality cluster {groups} --output {clustered[1]}"
    assert record["data"]["path"] == str(groups)
    assert record["data"]["columns"] == ["width", "height"]
    assert [c["name"] for c in record["data"]["columns_left_out"]] == ["name", "unit"]
    with open_table(groups) as table:
        assert record["data"]["fingerprint"] == read_rows(table).fingerprint
    parameters = typicality.AutoClustering(random_state=0).get_params()
    assert record["estimator"] == {"class": "AutoClustering", "parameters": parameters}
    assert record["results"]["chosen"] == "AlphaCutClustering"
    assert record["results"]["sizes"] == [40, 25]
    assert record["results"]["n_unassigned"] == 1
    assert record["results"]["status"] == "converged"
    worst = record["results"]["atypical_rows"][0]
    assert (worst["row"], worst["line"], worst["label"]) == (65, 67, -1)
    assert worst["cells"] == {"name": "item 65", "unit": "cm"}
    assert worst["reasons"][0]["column"] == "height"


def test_new_rows_are_scored_by_a_joined_mixture(run, tmp_path, read_csv):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(5, 1, (40, 4))])
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b,c,d", comments="")
    assert run("cluster", tmp_path / "rows.csv", "-o", tmp_path / "out").exit_code == 0
    fitted = read_csv(tmp_path / "out" / "labels.csv")
    words(run("score", tmp_path / "out", tmp_path / "rows.csv", "-o", tmp_path / "scored.csv"))
    assert read_csv(tmp_path / "scored.csv") == fitted
    assert [row["label"] for row in fitted] == ["0"] * 60 + ["1"] * 40
    assert list(fitted[0])[4:] == ["label", "membership", "membership_0", "membership_1"]


RUNS = {
    "plain": [],
    "shares": ["--method", "fcm", "--clusters", 3, "--seed", 5, "--param", "m=1.5"],
    "columns": [
        *("--columns", "height,width", "--scale", "standard"),
        *("--method", "alpha-cut", "--sigma", 0.5),
    ],
    "told": ["--method", "alpha-cut", "--clusters", 3],
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_recorded_command_gives_the_same_bytes(run, groups, tmp_path, options):
    first, second = tmp_path / "first", tmp_path / "second"
    assert run("cluster", groups, "-o", first, *options).exit_code == 0
    record = record_of(first)
    program, *arguments = shlex.split(record["command"])
    assert program == "typicality"
    assert run(*[str(second) if a == str(first) else a for a in arguments]).exit_code == 0
    for name in ("labels.csv", "model/model.json", "model/model.skops"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


METHODS = {
    "sparse-adaptive": (["-k", 4], ["label", "typicality", "typicality_0"]),
    "fcm": (["-k", 2], ["label", "membership", "membership_0", "membership_1"]),
    "mixture": (["-k", 2], ["label", "membership", "membership_0", "membership_1"]),
    "pcm": (
        ["-k", 2, "--param", "objective=2005"],
        ["label", "typicality", "typicality_0", "typicality_1"],
    ),
}


@pytest.mark.parametrize("method", METHODS)
def test_methods_write_their_columns(run, groups, read_csv, tmp_path, method):
    options, columns = METHODS[method]
    words(run("cluster", groups, "-m", method, *options, "-o", tmp_path / "out", "--no-report"))
    rows = read_csv(tmp_path / "out" / "labels.csv")
    assert list(rows[0])[4 : 4 + len(columns)] == columns
    members = [name for name in rows[0] if name.startswith(f"{columns[1]}_")]
    largest = [max(float(row[name]) for name in members) for row in rows]
    assert [float(row[columns[1]]) for row in rows] == largest
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "clusters.csv",
        "labels.csv",
        "model",
        "run.json",
        "summary.txt",
    ]


def test_rows_that_are_dropped_have_empty_cells(run, gaps, read_csv, tmp_path):
    done = run("cluster", gaps, "--missing", "drop", "-o", tmp_path / "out")
    assert "Not used: 2 rows with missing values (--missing drop)." in words(done)
    rows = read_csv(tmp_path / "out" / "labels.csv")
    empty = [i for i, row in enumerate(rows) if (row["label"], row["typicality"]) == ("", "")]
    assert empty == [2, 7]
    expected = ["0"] * 40 + ["1"] * 25 + ["-1"]
    assert [row["label"] or expected[i] for i, row in enumerate(rows)] == expected
    record = record_of(tmp_path / "out")
    assert record["results"]["atypical_rows"][0]["line"] == 67
    assert (record["data"]["n_rows"], record["data"]["n_rows_left_out"]) == (66, 2)
    page = (tmp_path / "out" / "report.html").read_text(**TEXT)
    payload = json.loads(page.split('id="payload">')[1].split("</script>")[0])
    lines = np.frombuffer(base64.b64decode(payload["row"]["data"]), dtype="<i4")
    assert payload["row_word"] == "line"
    assert lines.tolist() == [line for line in range(2, 68) if line not in (4, 9)]


def test_a_folder_that_exists_is_told_before_standard_input_is_read(run, tmp_path):
    done = run("cluster", "-", "-o", tmp_path, stdin="")
    assert (done.exit_code, "exists already" in done.stderr) == (4, True)


def test_json_is_the_record_and_nothing_else(run, groups, tmp_path):
    done = run("cluster", groups, "--json", *QUICK, "-o", tmp_path / "out")
    record = record_of(tmp_path / "out")
    record.pop("checksum")
    assert json.loads(done.stdout) == record
    assert done.stderr == ""


def test_quiet_prints_nothing(run, groups, tmp_path):
    options = ["--method", "alpha-cut", "--param", "alpha=0.99"]
    done = run("cluster", groups, "--quiet", *options, "-o", tmp_path / "out")
    assert (done.exit_code, done.output) == (0, "")
    record = record_of(tmp_path / "out")
    assert "There is no cluster" in record["warnings"][0]["seen"]


def test_results_are_replaced_only_by_force(run, groups, tmp_path):
    out = tmp_path / "out"
    assert run("cluster", groups, "-o", out, *QUICK).exit_code == 0
    before = (out / "run.json").read_bytes()
    done = run("cluster", groups, "-o", out)
    assert done.exit_code == 4
    assert done.stderr.startswith(f"Error: {out} exists already")
    assert "--force" in done.stderr
    assert (out / "run.json").read_bytes() == before
    assert run("cluster", groups, "-o", out, *QUICK, "--force").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(("command", "file"), [("cluster", "labels.csv"), ("outliers", "run.json")])
def test_force_keeps_files_of_the_user_that_have_our_names(run, groups, tmp_path, command, file):
    (tmp_path / file).write_text('{"format": 1, "precious": 1}', **TEXT)
    done = run(command, groups, "-o", tmp_path, "--force")
    assert (done.exit_code, "typicality has not written" in done.stderr) == (4, True)
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert "precious" in (tmp_path / file).read_text(**TEXT)


def test_force_keeps_files_of_the_user_among_ours(run, groups, tmp_path):
    words = ("cluster", groups, "-m", "fcm", "-k", 2, "--no-report", "-o", tmp_path / "out")
    assert run(*words).exit_code == 0
    assert run(*words, "--force").exit_code == 0
    for name in ("notes.txt", "model/notes.txt"):
        mine = tmp_path / "out" / name
        mine.write_text("mine", **TEXT)
        done = run(*words, "--force")
        assert (done.exit_code, f"'{name}'" in done.stderr) == (4, True)
        assert mine.read_text(**TEXT) == "mine"
        mine.unlink()


def test_interrupt_after_the_folder_is_written_says_so(run, groups, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("typicality.cli.summary.say_result", interrupt)
    done = run("cluster", groups, "-o", tmp_path / "out", *QUICK)
    assert done.exit_code == 130
    assert done.stderr == f"Error: Interrupted; {tmp_path}/out was written and is complete.\n"
    assert (tmp_path / "out" / "run.json").is_file()


def test_name_of_a_file_cannot_write_to_the_terminal(run, groups, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "a\x1b[2J\nError\u202eb\x9b.csv"
    shutil.copy(groups, name)
    done = [run("cluster", name, *QUICK, *more) for more in ((), (), ("--json", "--force"))]
    done.append(run("cluster", groups, name))
    assert [each.exit_code for each in done] == [0, 4, 0, 2]
    for text in (part for each in done for part in (each.stdout, each.stderr)):
        assert not set("\x1b\x9b\u202e") & set(text)
        assert "\nError\\u202e" not in text
    assert json.loads(done[2].stdout)["data"]["path"].endswith(name)


def test_cells_that_look_like_formulas_are_made_text(run, tmp_path, read_csv):
    cells = ["=1+2", "+cmd", "-x", "@sum", "plain", "-5", "\t=1", " =2", '=a,"b"'] * 2
    with open(tmp_path / "rows.csv", "w", newline="", **TEXT) as stream:
        writer = csv.writer(stream)
        writer.writerows([["x", "=y"], *([i * i, cell] for i, cell in enumerate(cells))])
    for options, apostrophe in ((["--safe-csv"], "'"), ([], "")):
        out = tmp_path / f"out{len(options)}"
        words(run("cluster", tmp_path / "rows.csv", "-o", out, *QUICK, *options))
        found = [row[f"{apostrophe}=y"] for row in read_csv(out / "labels.csv")]
        assert found == [c if c in ("plain", "-5") else f"{apostrophe}{c}" for c in cells]
        scored = run("score", out, tmp_path / "rows.csv", *options).stdout
        assert scored.encode() == (out / "labels.csv").read_bytes()


def test_cluster_command_reads_standard_input(run, groups, tmp_path):
    words(run("cluster", "-", "-o", tmp_path / "out", *QUICK, stdin=groups.read_text(**TEXT)))
    record = record_of(tmp_path / "out")
    assert (record["data"]["path"], record["data"]["n_rows"]) == (None, 66)


@pytest.mark.parametrize(
    ("file", "folder"),
    [
        ("some/rows.csv", "rows-clusters"),
        ("rows.csv.gz", "rows-clusters"),
        ("parts/", "parts-clusters"),
        ("parts/part-*.parquet", "part-clusters"),
        ("parts/*.parquet", "clusters"),
        ("-", "clusters"),
    ],
)
def test_folder_of_any_source_has_a_plain_name(file, folder):
    assert folder_name(file, "clusters") == folder
