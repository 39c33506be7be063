"""Warnings on the command line: columns by name, parameters as options, fields to the page."""

import json
import re
from pathlib import Path

import numpy as np

import typicality
from cli.conftest import record_of, words
from typicality import AlphaCutClustering, FuzzyCMeans
from typicality.cli.parameters import _PARAMETERS, notice_text, notices
from typicality.cluster._diagnostics import FINDINGS

SOURCE = Path(typicality.__file__).parent
# Files that use regular expressions: on file names, on what users and other libraries wrote.
MAY_USE_RE = {
    "_words.py", "cli/console.py", "cli/options.py", "cli/run.py", "model.py",
    "report/_report.py", "report/shown.py",
}  # fmt: skip


def test_no_regular_expression_reads_our_own_sentences():
    used = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bre\.\w+\(", path.read_text(encoding="utf-8"))
    }
    assert {name for name in used if not name.startswith("tables/")} <= MAY_USE_RE


def test_every_finding_with_parameters_exists():
    known = {name for findings in FINDINGS.values() for name in findings}
    assert set(_PARAMETERS) <= known


def test_columns_are_named_and_parameters_become_options(recwarn):
    rows = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 0.0, 1e5]
    model = FuzzyCMeans(2, random_state=0, max_iter=1).fit(rows)
    found = notices(list(recwarn), ["width", "same", "income"], model)
    constant, scales, *_, stopped = found
    assert constant["seen"].startswith("Constant: column 'same'.")
    assert "of column 'income'" in scales["seen"]
    assert stopped["remedy"].endswith(
        "(On the command line: --param max_iter=VALUE, --param tol=VALUE.)"
    )
    assert notice_text(stopped) == f"{stopped['seen']} {stopped['remedy']}"


def test_warnings_of_other_libraries_stay_as_they_are(recwarn):
    np.float64(1.0) / np.float64(0.0)
    seen = [{"seen": str(each.message), "remedy": ""} for each in recwarn]
    assert notices(list(recwarn) * 2, [], AlphaCutClustering()) == seen


def test_page_shows_what_was_seen_and_notes_hold_the_remedy(run, groups, tmp_path):
    options = ["-m", "fcm", "-k", 2, "--param", "max_iter=2", "-o", tmp_path / "out"]
    done = run("cluster", groups, *options)
    assert done.stderr.startswith("Warning: Not converged after max_iter=2 iterations")
    assert "Warning" not in words(done)
    warning = record_of(tmp_path / "out")["warnings"][0]
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    payload = json.loads(page.split('id="payload">')[1].split("</script>")[0])
    assert payload["warnings"] == [warning["seen"]]
    assert ["Warning of the run", notice_text(warning)] in payload["notes"]


def test_far_rows_are_called_by_their_lines_in_the_file(tmp_path, run):
    rows = np.random.default_rng(0).normal(size=(3000, 3)).round(3)
    lines = [f"{a},{b},{c}" for a, b, c in rows]
    lines[2] = ",,"  # left out, so places and rows differ
    lines[2105] = "100,-100,50"
    path = tmp_path / "far.csv"
    path.write_text("\n".join(["a,b,c", *lines]) + "\n", encoding="utf-8")
    arguments = ("-m", "fcm", "-k", 3, "--missing", "drop", "--no-report", "--json")
    warnings = []
    for more in ((), ("--max-rows", 2900, "--seed", 1)):
        done = run("cluster", path, *arguments, *more, "-o", tmp_path / f"out{len(more)}")
        warnings.append(json.loads(done.stdout)["warnings"])
    for found in warnings:
        assert [each["seen"] for each in found if "(line 2107)" in each["seen"]]
