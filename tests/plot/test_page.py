"""The page of pictures: its code runs, and draws what there is to draw."""

import runpy
from pathlib import Path

import pytest

from typicality import plot

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_every_display_is_on_the_page():
    script = runpy.run_path(str(DOCS / "make_figures.py"))
    drawn = dict(script["pictures"]((DOCS / "plots.md").read_text()))
    assert {type(display).__name__ for display in drawn.values()} == set(plot.__all__)
    for path in drawn:
        assert 1_000 < (DOCS / path).stat().st_size < 100_000
