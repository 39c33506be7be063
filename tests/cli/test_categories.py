"""Categories on the command line: which take part, what is said of them, models that know them."""

import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import typicality
from cli.conftest import words
from typicality.cli import rows as cli_rows
from typicality.kernels import Mixed

TEXT = {"encoding": "utf-8"}
SIZES = ["small", "medium", "large"]
WORDS = {
    "colour": ["red", "green", "blue"],
    "tree": ["oak", "elm", "ash"],
    "place": ["north", "south", "west"],
    "animal": ["cat", "dog", "cow"],
    "touch": ["soft", "hard", "wet"],
}


def save_rows(path, names, rows):
    path.write_text("\n".join([",".join(names), *map(",".join, rows)]) + "\n", **TEXT)
    return path


@pytest.fixture(scope="module", name="only")
def file_of_categories(tmp_path_factory):
    """Three groups in categories alone; 8 of 10 cells are those of the group."""
    rng = np.random.default_rng(1)
    groups = rng.integers(3, size=300)
    rows = [
        [
            *(known[g if rng.random() < 0.8 else rng.integers(3)] for known in WORDS.values()),
            f"g{g}",
        ]
        for g in groups
    ]
    path = tmp_path_factory.mktemp("only") / "only.csv"
    return save_rows(path, [*WORDS, "truth"], rows)


@pytest.fixture(scope="module", name="messy")
def messy_file(tmp_path_factory):
    """A German file: two groups, decimal commas, missing cells, an id, a name, a code, sizes.

    Line 12 has numbers of the first group and the city of the second.
    """
    rng = np.random.default_rng(0)
    lines = ["Nr;Name;Stadt;Größe;Stufe;Gewicht;Bemerkung"]
    for i in range(200):
        second = i >= 120
        city = "Köln" if second or i == 10 else rng.choice(["Bonn", "Ulm"])
        mass, height = rng.normal([80 + 40 * second, 1.7 + 0.4 * second], [3, 0.03])
        level = SIZES[min(2, int(rng.integers(2)) + second)]
        numbers = (f"{height:.3f}", level, f"{mass:.2f}")
        numbers = [cell.replace(".", ",") for cell in numbers]
        cells = [str(i + 1), f"Person {i}", city, *numbers, f"x{i % 97}"]
        lines.append(";".join(cells))
    cells = [line.split(";") for line in lines]
    cells[31][2], cells[41][2], cells[51][5] = "", "NA", "-"
    path = tmp_path_factory.mktemp("messy") / "messy.csv"
    path.write_text("\n".join(map(";".join, cells)) + "\n", encoding="cp1252")
    return path


MESSY = ("--categorical", "auto", "--ordered", "Stufe=small,medium,large", "--ignore", "Name")


@pytest.fixture(scope="module", name="found")
def messy_outliers(messy, run):
    folder = messy.parent / "found"
    wanted = ("--missing", "median", "--rate", 0.03, "-o", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli_rows, "_MISMATCH", 0.1)  # so that a wrong category alone is an outlier
        return run("outliers", messy, *MESSY, *wanted), folder


def test_a_messy_mixed_file_from_end_to_end(messy, found, run, read_csv, tmp_path):
    said, folder = words(found[0]), found[1]
    assert "Categories: Stadt (3)." in said
    rows = read_csv(folder / "outliers.csv")
    assert rows[10]["outlier"] == "1"
    assert rows[10]["why"].startswith("Stadt = Köln, which no similar row has")
    assert "Stadt is missing" in rows[30]["why"]
    scored = tmp_path / "scored.csv"
    words(run("score", folder, messy, "-o", scored))
    assert [row["score"] for row in read_csv(scored)] == [row["score"] for row in rows]
    assert read_csv(scored)[10]["why"] == rows[10]["why"]
    explained = json.loads(run("explain", folder, messy, "--line", 12, "--json").stdout)
    first = explained["columns"][0]
    assert (first["column"], first["value"], first["share"]) == ("Stadt", "Köln", 0.0)
    level = next(each for each in explained["columns"] if each["column"] == "Stufe")
    assert {level["value"], level["typical"]} <= set(SIZES)


def test_new_and_missing_categories_are_scored(messy, found, run, read_csv, tmp_path):
    header = "Stadt;Größe;Stufe;Gewicht"
    lines = ["Bonn;1,7;small;80", "Rom;1,7;small;80", ";1,7;small;80", "Bonn;;small;80"]
    new, scored = tmp_path / "new.csv", tmp_path / "scored.csv"
    new.write_text("\n".join([header, *lines]) + "\n", **TEXT)
    words(run("score", found[1], new, "-o", scored))
    usual, unseen, missing, filled = read_csv(scored)
    assert [usual["outlier"], unseen["outlier"], filled["outlier"]] == ["0", "1", "0"]
    assert unseen["why"] == "Stadt = Rom, which no similar row has"
    assert float(unseen["score"]) < float(usual["score"])
    assert float(missing["score"]) < float(usual["score"])
    refused = run("score", found[1], new, "--missing", "error")
    assert refused.exit_code == 3
    assert "line 4, column 'Stadt': the value is missing" in refused.stderr


def test_an_unknown_rank_is_an_error_with_its_line(messy, found, run, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("Stadt;Größe;Stufe;Gewicht\nBonn;1,7;huge;80\n", **TEXT)
    for command in (("score", found[1], new), ("explain", found[1], new, "--line", 2)):
        refused = run(*command)
        assert refused.exit_code == 3
        assert "line 2, column 'Stufe': 'huge' is not one of its ordered" in refused.stderr


@pytest.mark.parametrize(("method", "least"), [((), 0.8), (("-m", "fcm", "-k", 3), 0.8)])
def test_a_file_of_categories_only_is_clustered(only, run, read_csv, tmp_path, method, least):
    folder = tmp_path / "out"
    said = words(
        run("cluster", only, "--categorical", "auto", "--ignore", "truth", *method, "-o", folder)
    )
    rows = read_csv(folder / "labels.csv")
    assert adjusted_rand_score([r["truth"] for r in rows], [r["label"] for r in rows]) > least
    described = read_csv(folder / "clusters.csv")
    assert len(described) == 3
    for line in described:
        own = [row for row in rows if row["label"] == line["cluster"]]
        for column in WORDS:
            n_most = sum(row[column] == line[f"commonest_{column}"] for row in own)
            assert float(line[f"share_{column}"]) == pytest.approx(n_most / len(own), rel=1e-3)
    first = [row for row in rows if row["label"] == "0"]
    n_same = sum(row["touch"] == described[0]["commonest_touch"] for row in first)
    phrase = f"touch: {described[0]['commonest_touch']} in {n_same} of {len(first)}"
    assert phrase in said
    assert phrase in (folder / "report.html").read_text(**TEXT)
    scored = tmp_path / "scored.csv"
    words(run("score", folder, only, "-o", scored))
    assert [r["label"] for r in read_csv(scored)] == [r["label"] for r in rows]


def test_outliers_of_categories_only_are_rare_combinations(run, read_csv, tmp_path):
    lines = [["red", "oak"], ["blue", "elm"]] * 60 + [["red", "elm"]]
    path = save_rows(tmp_path / "pairs.csv", ["colour", "tree"], lines)
    words(run("outliers", path, "--categorical", "auto", "--rate", 0.01, "-o", tmp_path / "out"))
    rows = read_csv(tmp_path / "out" / "outliers.csv")
    assert [i for i, row in enumerate(rows) if row["outlier"] == "1"] == [120]
    assert "colour = red, which no similar row has" in rows[120]["why"]


def test_the_estimator_applies_the_width_of_the_kernel(messy, run, tmp_path):
    shared = (*MESSY, "--missing", "drop", "--no-report")
    by_kernel, plain = tmp_path / "kernel", tmp_path / "plain"
    fcm = ("cluster", messy, *shared, "-m", "fcm", "-k", 2)
    words(run(*fcm, "--param", "kernel=gaussian", "-o", by_kernel))
    words(run(*fcm, "-o", plain))
    kernel, step = (typicality.load(by_kernel / "model")[name] for name in ("model", "columns"))
    assert kernel.kernel == Mixed(3)
    assert step.mismatch == 0.5
    assert step.heights_ == pytest.approx([np.sqrt(np.log(2))])
    assert typicality.load(plain / "model")["columns"].mismatch == "balanced"
    labels = kernel.labels_
    assert adjusted_rand_score(np.arange(len(labels)) < 117, labels) > 0.9


def test_a_reference_knows_the_categories(run, read_csv, tmp_path, monkeypatch):
    monkeypatch.setattr(cli_rows, "_MISMATCH", 0.05)
    rng = np.random.default_rng(0)
    rows = [[f"{x:.4f}", "ab"[i % 2]] for i, x in enumerate(rng.normal(size=150))]
    clean = save_rows(tmp_path / "clean.csv", ["x", "kind"], rows)
    new = save_rows(tmp_path / "new.csv", ["kind", "x"], [["a", "0.1"], ["c", "0.1"], ["b", "9"]])
    wanted = ("--reference", clean, "--categorical", "auto", "--rate", 0.05)
    words(run("outliers", new, *wanted, "-o", tmp_path / "out"))
    rows = read_csv(tmp_path / "out" / "outliers.csv")
    assert [row["outlier"] for row in rows] == ["0", "1", "1"]
    assert rows[1]["why"] == "kind = c, which no similar row has"


@pytest.mark.parametrize("options", [[], ["--categorical", "auto"]])
def test_text_with_too_many_values_gets_no_advice_that_fails(run, tmp_path, options):
    lines = [f"town {i}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["name", *lines]), encoding="utf-8")
    done = run("cluster", tmp_path / "a.csv", *options)
    assert done.exit_code == 3
    assert "name: it has 40 categories in 40 rows, more than 4" in done.stderr
    assert "--categorical" not in done.stderr


def test_text_with_few_values_gets_advice_that_works(run, tmp_path):
    lines = [f"town {i % 3}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["name", *lines]), encoding="utf-8")
    refused = run("cluster", tmp_path / "a.csv")
    assert "To cluster rows by their text, use --categorical auto." in refused.stderr
    options = ["--categorical", "auto", "--no-report", "-o", tmp_path / "out"]
    assert run("cluster", tmp_path / "a.csv", *options).exit_code == 0
    refused = run("compare", tmp_path / "a.csv")  # which has no such option
    assert "has no column of numbers" in refused.stderr
    assert "--categorical" not in refused.stderr
