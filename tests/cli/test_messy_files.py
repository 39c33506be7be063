"""Files as people write them, from the command to its folder and back."""

import json

import numpy as np
import pytest

from cli.conftest import record_of, words

N_ROWS = 60


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def german_lines():
    rng = np.random.default_rng(0)
    yield "Hochschule;Anträge;Quote"
    for i in range(N_ROWS):
        count, ratio = rng.integers(100, 9_000), rng.normal(14, 3)
        numbers = f"{count:,};{ratio:.1f}".translate(str.maketrans(",.", ".,"))
        yield f"Universität {i};{numbers}"


@pytest.fixture
def german(folder):
    """Semicolons, decimal commas, points between thousands, Latin-1."""
    path = folder / "german.csv"
    path.write_text("\n".join(german_lines()) + "\n", encoding="cp1252")
    return path


def test_german_file_goes_from_outliers_to_score_and_report(run, german, folder, read_csv):
    done = run("outliers", german, "--output", "out")
    assert done.exit_code == 0
    printed = words(done)
    assert "Assumed: the encoding cp1252 (Latin-1); decimal commas, and points" in printed
    data = record_of(folder / "out")["data"]
    assert (data["columns"], data["encoding"], data["decimal"]) == (
        ["Anträge", "Quote"],
        "cp1252",
        ",",
    )
    names, *rows = [line.split(";") for line in german_lines()]
    points = str.maketrans(",", ".", ".")
    cells = [[name, *(number.translate(points) for number in numbers)] for name, *numbers in rows]
    written = read_csv(folder / "out" / "outliers.csv")
    assert [[row[name] for name in names] for row in written] == cells
    assert run("score", "out", german, "--output", "scored.csv").exit_code == 0
    scored = read_csv(folder / "scored.csv")
    assert [row["outlier"] for row in scored] == [row["outlier"] for row in written]
    before = (folder / "out" / "report.html").read_bytes()
    assert run("report", "out", "--force").exit_code == 0
    assert (folder / "out" / "report.html").read_bytes() == before


def test_new_rows_have_thousands_points_where_the_run_had_decimal_commas(
    run, german, folder, read_csv
):
    run("outliers", german, "--output", "out", "--no-report")
    (folder / "new.csv").write_text("Anträge;Quote\n1.660;14\n5.660;14\n", encoding="utf-8")
    assert run("score", "out", "new.csv", "--output", "new-scored.csv").exit_code == 0
    (folder / "plain.csv").write_text("Anträge;Quote\n1660;14\n5660;14\n", encoding="utf-8")
    assert run("score", "out", "plain.csv", "--output", "plain-scored.csv").exit_code == 0
    new, plain = read_csv(folder / "new-scored.csv"), read_csv(folder / "plain-scored.csv")
    assert [row["score"] for row in new] == [row["score"] for row in plain]
    (folder / "points.csv").write_text("Anträge;Quote\n1660;14.5\n5660;14.5\n", encoding="utf-8")
    refused = run("score", "out", "points.csv")
    assert refused.exit_code == 3
    assert "use --decimal '.'" in refused.stderr
    assert run("score", "out", "points.csv", "--decimal", ".").exit_code == 0


def test_results_have_one_decimal_mark(run, folder):
    rows = [f"{i}.{100 + i};{i % 7},50;{i % 3},5;1.2{i:02d}" for i in range(10, 40)]
    lines = ["Gewicht;Preis;Note;Paragraf", *rows, "1.041;-;2,5;1.241"]
    (folder / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    done = run("cluster", "a.csv", "--ignore", "Paragraf", "-m", "fcm", "-k", 2, "-o", "out")
    assert "Results are written with decimal points." in words(done)
    cells = (folder / "out" / "labels.csv").read_text(encoding="utf-8").splitlines()
    assert cells[1].startswith("10110,3.50,1.5,1.210,")
    assert cells[-1].startswith("1041,-,2.5,1.241,")
    scored = run("score", "out", "a.csv", "--missing", "median")
    assert scored.stdout.splitlines() == cells
    again = run("score", "out", "out/labels.csv")
    assert again.exit_code == 0, again.stderr
    assert again.stdout.splitlines()[1].startswith("10110,3.50,1.5,1.210,")


def test_totals_are_skipped_by_every_command(run, folder):
    rng = np.random.default_rng(1)
    X = rng.integers(1, 900, (40, 3)) / 2
    rows = [f"t{i};{a};{b};{c}" for i, (a, b, c) in enumerate(X)]
    sums = ";".join(map(str, X.sum(axis=0)))
    text = "\n".join(["town;a;b;c", *rows, f"Summe;{sums}"])
    (folder / "a.csv").write_text(text.replace(".", ","), encoding="utf-8")
    done = run("outliers", "a.csv", "-o", "out")
    assert "line 42 skipped, as it has the totals of the rows above" in words(done)
    written = (folder / "out" / "outliers.csv").read_text(encoding="utf-8").splitlines()
    assert (len(written), written[-1][:3]) == (41, "t39")
    assert "line 42 skipped" in (folder / "out" / "summary.txt").read_text(encoding="utf-8")
    before = (folder / "out" / "report.html").read_bytes()
    assert run("report", "out", "--force").exit_code == 0
    assert (folder / "out" / "report.html").read_bytes() == before
    assert run("explain", "out", "a.csv", "--line", 42).exit_code == 3
    assert len(run("score", "out", "a.csv").stdout.splitlines()) == 41
    (folder / "b.csv").write_text("\n".join(["town,a,b,c", "x,1,2,3", "total,1,2,3"]))
    scored = run("score", "out", "b.csv")
    assert len(scored.stdout.splitlines()) == 3
    assert "The last row, line 3, has 'total' in a cell" in " ".join(scored.stderr.split())


def test_totals_that_do_not_match_are_a_warning(run, folder):
    rows = [f"t{i},{i * i % 17},{i * 7 % 13}" for i in range(40)]
    (folder / "a.csv").write_text("\n".join(["town,a,b", *rows, "Total:,5,6"]))
    for command in ("cluster", "outliers", "compare"):
        done = run(command, "a.csv")
        assert done.exit_code == 0
        assert "The last row, line 42, has 'Total:' in a cell" in " ".join(done.stderr.split())


def test_commas_between_thousands_are_not_written(run, folder):
    rows = [f'{i},"{i},{100 + i}.50","${i},900",{i + i * i}' for i in range(10, 40)]
    (folder / "a.csv").write_text("\n".join(["nr,weight,price,size", *rows]), encoding="utf-8")
    done = run("cluster", "a.csv", "-m", "fcm", "-k", 2, "-o", "out", "--safe-csv")
    assert done.exit_code == 0, done.stderr
    cells = (folder / "out" / "labels.csv").read_text(encoding="utf-8").splitlines()
    assert cells[1].startswith('10,10110.50,"$10,900",110,')


def test_first_row_of_a_file_without_header_is_kept_and_the_option_named(run, folder):
    lines = ["5.1,3.5,setosa", "4.9,3.0,setosa", "7.0,3.2,versicolor", "6.4,2.8,versicolor"]
    (folder / "iris.data.csv").write_text("\n".join(lines))
    done = run("cluster", "iris.data.csv", "--output", "out", "-m", "fcm", "-k", 2, "--no-report")
    printed = words(done)
    assert "4 rows, 2 columns (column 1, column 2). Assumed: the first line is a row" in printed
    assert "(--header if it holds names)" in printed


OPTIONS = {
    "decimal": ("a;b\n1.500;7\n2.250;9\n3.125;4\n", ["--decimal", ","]),
    "encoding": ("a;b\n1500;7\n2250;9\n3125;4\n".encode("utf-16-le"), ["--encoding", "utf-16-le"]),
    "blanks": ("a b\n1500 7\n2250 9\n3125 4\n", ["--delimiter", "whitespace"]),
}


@pytest.mark.parametrize(("contents", "words"), OPTIONS.values(), ids=OPTIONS)
def test_what_an_option_says_of_the_file_is_kept_for_score_and_report(run, folder, contents, words):
    data = contents if isinstance(contents, bytes) else contents.encode()
    (folder / "rows.csv").write_bytes(data)
    done = run("cluster", "rows.csv", *words, "--output", "out", "-m", "fcm", "-k", 2, "--json")
    record = json.loads(done.stdout)
    assert words[0] in record["arguments"]
    assert record["data"]["columns"] == ["a", "b"]
    scored = run("score", "out", "rows.csv")
    assert (scored.exit_code, len(scored.stdout.splitlines())) == (0, 4)
    assert run("report", "out", "--force").exit_code == 0
    again = json.loads(run(*record["arguments"][1:], "--force").stdout)
    assert again["data"] == record["data"]


def test_numbers_with_signs_and_truth_values_are_used_told_and_scored(run, folder, read_csv):
    lines = [f'"${1 + i * i % 37},{100 + i}",{i % 50}%,{i % 3 > 0},x' for i in range(N_ROWS)]
    (folder / "shop.csv").write_text("\n".join(["price,share,open,t", *lines]), encoding="utf-8")
    done = run("cluster", "shop.csv", "-m", "fcm", "-k", 2, "--output", "out")
    printed = words(done)
    assert "separators of thousands were removed in price, share." in printed
    assert "True became 1 and false 0 in open." in printed
    signs = {"price": "$", "share": "%", "open": "true or false"}
    assert record_of(folder / "out")["data"]["signs"] == signs
    assert run("score", "out", "shop.csv", "--output", "scored.csv").exit_code == 0
    assert read_csv(folder / "scored.csv") == read_csv(folder / "out" / "labels.csv")
    assert run("report", "out", "--force").exit_code == 0
