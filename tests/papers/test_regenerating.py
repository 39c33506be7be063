"""The command and the page that all papers share."""

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from regenerating import Claim, Page, Verdict, command, regenerate


def whole(setting):
    page = Page("A paper")
    page.say("What it says.")
    figure = Figure()
    figure.subplots().plot([0, 1], [0, 1])
    page.show(setting.save(figure, "line"), "A line")
    count = setting.pick(100, 3)
    page.judge(Claim("Fig. 1", "|x| counts", Verdict.HOLDS, f"{count} draws"))
    return page


def without_data(setting):
    page = whole(setting)
    page.lack("Table 2: there is no S2.")
    return page


@pytest.fixture
def papers(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_PAPERS", tmp_path)
    return tmp_path


def test_a_full_run_is_kept_beside_the_code(papers, capsys):
    stale = papers / "a_paper" / "figures" / "stale.png"
    stale.parent.mkdir(parents=True)
    stale.touch()
    regenerate("a_paper", whole, [])
    text = (papers / "a_paper" / "RESULTS.md").read_text()
    assert text.startswith("# A paper\n\nWhat it says.\n\n## Verdicts\n\n")
    assert "| Fig. 1 | \\|x\\| counts | **holds** | 100 draws |" in text
    assert "![A line](figures/line.png)" in text
    assert [path.name for path in stale.parent.iterdir()] == ["line.png"]
    assert "holds: Fig. 1: |x| counts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "arguments", "count"), [(whole, ["--fast"], 3), (without_data, [], 100)]
)
def test_a_run_that_is_not_to_be_kept_goes_elsewhere(papers, make, arguments, count):
    regenerate("a_paper", make, arguments)
    assert not (papers / "a_paper").exists()
    text = (papers / "results" / "a_paper" / "RESULTS.md").read_text()
    assert f"{count} draws" in text


KEPT = sorted(Path(command.__file__).parents[1].glob("*/RESULTS.md"))


@pytest.mark.parametrize("page", KEPT, ids=lambda page: page.parent.name)
def test_kept_figures_are_shown_and_small(page):
    """Each is shown on the page that is kept, and small enough to be kept."""
    figures = {path.name: path.stat().st_size for path in page.parent.glob("figures/*.png")}
    shown = re.findall(r"\]\(figures/([^)]+)\)", page.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(figures)
    assert all(size < 150_000 for size in figures.values())
