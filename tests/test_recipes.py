"""The recipes of docs/howto.md: each section runs by itself, after the imports of the page."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "howto.md"
IMPORTS, *SECTIONS = re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def anchor(section):
    """The name of a section in links to it: find-outliers."""
    title = section.partition("\n")[0].removeprefix("## ")
    return re.sub(r"[^\w ]", "", title).lower().replace(" ", "-")


RECIPES = {anchor(section): section for section in SECTIONS if ">>> " in section}


def alone(recipe):
    """The page with one recipe, whose lines keep their numbers."""
    before = "".join(SECTIONS[: SECTIONS.index(recipe)])
    return IMPORTS + "\n" * before.count("\n") + recipe


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@pytest.mark.parametrize("name", RECIPES)
def test_recipe_prints_what_it_says(name):
    import matplotlib.pyplot as plt

    for optional in re.findall(r">>> import (torch)\b", RECIPES[name]):
        pytest.importorskip(optional, reason=f"{optional} is not installed")
    recipe = doctest.DocTestParser().get_doctest(
        alone(RECIPES[name]), globs={}, name=name, filename=str(PAGE), lineno=0
    )
    results = doctest.DocTestRunner().run(recipe)
    plt.close("all")
    assert results.failed == 0
