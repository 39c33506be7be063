"""`typicality validate`."""

import json
import sys

import numpy as np
import pytest
from joblib import parallel_config
from matplotlib.figure import Figure

QUICK = ["--repeats", "4", "--rates", "0.05,0.1", "--sigma", "0.3,1"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A hundred and twenty normal rows, with a column of text and a missing cell."""
    rows = np.random.default_rng(2).normal(size=(120, 2))
    lines = [f"{x:.6f},{y:.6f},word {i}" for i, (x, y) in enumerate(rows)]
    lines[7] = ",0.5,word 7"
    path = tmp_path_factory.mktemp("validate") / "rows.csv"
    path.write_text("width,height,name\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def written(run, file):
    folder = file.parent / "out"
    arguments = [file, *QUICK, "--missing", "drop", "--output", folder]
    return run("validate", *arguments), folder


@pytest.fixture(scope="module")
def record(written):
    return json.loads((written[1] / "validation.json").read_text())


def text_of(stream):
    return " ".join(stream.split())


def test_validate_prints_figures_and_a_recommendation(written, record):
    done, folder = written
    assert done.exit_code == 0, done.output
    text = text_of(done.stdout)
    assert "rows.csv: 120 rows, 2 columns (width, height). Left out: name" in text
    assert "sigma rule rate 0.05 rate 0.1" in text
    assert "auto (M / 2), default" in text
    first = record["settings"][0]
    assert f"0.3 {first['mean']:.2f} ± {first['standard_error']:.2f}" in text
    assert all(sentence in text for sentence in record["recommendation"]["sentences"])
    files = "validation.json, validation.csv, scores.csv, stability.png"
    assert f"Written: {files} in {folder}/" in done.stdout


def test_the_next_command_can_be_run(written, record, run, file, tmp_path):
    done, _ = written
    command = record["recommendation"]["next_command"]
    assert f"Next: {command}\n" in done.stdout
    assert command.startswith(f"typicality outliers {file} --missing drop")
    again = run(*command.split()[1:], "--no-report", "--json", "--output", tmp_path / "out")
    estimator = json.loads(again.stdout)["estimator"]["parameters"]
    assert estimator["contamination"] == record["recommendation"]["chosen"]["rate"]


def test_lines_fit_a_terminal_of_eighty_columns(written):
    figures = written[0].stdout.partition("\nNext: ")[0]
    assert max(map(len, figures.splitlines())) <= 80


def test_validate_writes_the_figures_and_every_score(written, record, read_csv):
    _, folder = written
    figures, scores = read_csv(folder / "validation.csv"), read_csv(folder / "scores.csv")
    assert len(figures) == len(record["settings"]) == 3 * 2
    assert len(scores) == 3 * 2 * 4
    for row in figures:
        own = [
            float(score["jaccard"])
            for score in scores
            if (score["sigma"], score["rate"]) == (row["sigma"], row["rate"])
        ]
        assert np.mean(own) == pytest.approx(float(row["mean"]))
        assert row["n_flagged"] == {"0.05": "3", "0.1": "6"}[row["rate"]]
    assert (folder / "stability.png").read_bytes().startswith(b"\x89PNG")


def test_the_record_can_be_repeated_with_any_number_of_jobs(record, run):
    with parallel_config(backend="threading"):  # processes take seconds to start
        again = run(*record["arguments"][1:-2], "--jobs", 2, "--json")
    told = json.loads(again.stdout)
    for one in (record, told):
        del one["command"], one["arguments"], one["seconds"]
    assert told == record
    assert told["data"]["fingerprint"].startswith("sha256:")


def test_a_folder_that_exists_is_refused_before_the_file_is_read(written, run):
    done = run("validate", "no such file.csv", "--output", written[1])
    assert done.exit_code == 4
    assert "--force" in done.stderr


def test_a_sample_of_many_rows_from_standard_input_without_a_picture(
    run, file, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    lines = [line for line in file.read_text().splitlines() if not line.startswith(",")]
    options = ["--sigma", "knn", "--repeats", "2", "--max-rows", "60", "--compare"]
    done = run(
        "validate", "-", *options, "--output", tmp_path / "out", stdin="\n".join(lines) + "\n"
    )
    assert done.exit_code == 0, done.output
    text = text_of(done.stdout)
    assert "A random sample of 60 of the 119 rows was split (seed 0)" in text
    assert "One-class SVM with the same kernels" in text
    assert "Next, with the same rows on standard input: typicality outliers - --rate" in text
    assert "stability.png was not drawn" in text_of(done.stderr)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "scores.csv",
        "validation.csv",
        "validation.json",
    ]
    assert "At a rate of 0.01, 0.05 and 0.1 only 1, 2 and 3 rows" in text_of(done.stderr)


def test_the_word_in_the_picture_is_above_all_boxes(run, file, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: drawn.append(figure))
    run("validate", file, *QUICK, "--missing", "drop", "--output", tmp_path / "out")
    (word,) = (text for panel in drawn[0].axes for text in panel.texts)
    assert word.get_text() == "recommended"
    assert word.get_verticalalignment() == "bottom"
    assert 1 < word.get_position()[1] < word.axes.get_ylim()[1] - 0.1


def test_many_rates_fit_a_line_without_errors(run, file):
    done = run(
        "validate",
        file,
        "--repeats",
        2,
        "--missing",
        "median",
        "--rates",
        ".01,.05,.1,.2,.3,.4",
        "--sigma",
        "1",
        "--transfer",
        "rank",
    )
    table = done.stdout.partition("Recommendation")[0]
    assert "sigma rule 0.01 0.05 0.1 0.2 0.3 0.4 " in text_of(table)
    assert "±" not in table
    assert "standard errors are" in text_of(table)


def test_quiet_prints_nothing(run, file):
    done = run("validate", file, *QUICK, "--missing", "median", "--quiet")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--sigma", "0.5,wide"], 2, "--sigma 'wide' is neither a number nor a rule; there are"),
        (["--sigma", "knm"], 2, "did you mean 'knn'?"),
        (["--sigma", "-1"], 2, "--sigma and its square must be above 0 and finite"),
        (
            ["--sigma", "1e200", "--compare"],
            2,
            "and its square must be above 0 and finite; got 1e200.",
        ),
        (
            ["--sigma", "1e-200", "--compare"],
            2,
            "and its square must be above 0 and finite; got 1e-200.",
        ),
        (["--sigma", ","], 2, "--sigma is empty"),
        (["--rates", "0.05,0.7"], 2, "above 0 and at most 0.5; got '0.7'."),
        (["--rates", "few"], 2, "above 0 and at most 0.5; got 'few'."),
        (["--rates", ""], 2, "--rates is empty"),
        (["--repeats", "1"], 2, "--repeats"),
        (["--transfer", "score"], 2, "--transfer"),
        ([], 3, "missing values"),
        (["--columns", "widht"], 3, "Did you mean 'width'?"),
    ],
)
def test_wrong_use_is_explained(run, file, options, code, words):
    done = run("validate", file, *options)
    assert done.exit_code == code
    assert words in text_of(done.stderr)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["1,2", "3,5", "2,9"], "few.csv has 3 row(s), and a study needs at least 20"),
        (["1,2"] * 30, "few.csv are the same (n_samples=30)"),
        (["1,2", "2,3"] * 15 + ["3,1e300"], "few.csv are too large: squared distances"),
    ],
    ids=["few", "equal", "far"],
)
def test_rows_that_cannot_be_split_are_explained(run, tmp_path, lines, words):
    (tmp_path / "few.csv").write_text("a,b\n" + "\n".join(lines) + "\n")
    done = run("validate", tmp_path / "few.csv", "--columns", "a,b")
    assert done.exit_code == 3
    assert words in text_of(done.stderr)
