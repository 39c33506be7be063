"""Pages of code: each section runs by itself, after the imports at the top of its page."""

import copy
import doctest
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [
    *sorted((DOCS / "guide").glob("*.md")),
    DOCS / "coming_from.md",
    DOCS / "faq.md",
    DOCS / "extending.md",
    DOCS / "SKILL.md",
]


def anchor(section):
    """The name of a section in links to it: find-outliers."""
    title = section.partition("\n")[0].removeprefix("## ")
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def sections_of(page):
    """What stands above the first section, and the sections with code, by their names."""
    top, *sections = re.split(r"^(?=## )", page.read_text("utf-8"), flags=re.MULTILINE)
    found, before = {}, top
    for section in sections:
        if ">>> " in section:
            lines_above = "\n" * before.count("\n")  # so that lines keep their numbers
            found[f"{page.stem}-{anchor(section)}"] = lines_above + section
        before += section
    return top, found


RECIPES = {name: (page, text) for page in PAGES for name, text in sections_of(page)[1].items()}


def run(page, text, names):
    """Run code with some names, and give those that it leaves."""
    recipe = doctest.DocTestParser().get_doctest(
        text.replace("\n```\n", "\n\n"), names, name=page.stem, filename=str(page), lineno=0
    )  # a blank line ends the expected output
    assert doctest.DocTestRunner().run(recipe, clear_globs=False).failed == 0
    return recipe.globs


@cache
def names_at_the_top(page):
    """The top of a page runs once: some pages fit a model there."""
    return run(page, sections_of(page)[0], {})


def copied(value):
    return value if isinstance(value, ModuleType) else copy.deepcopy(value)


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
# LogisticRegression of older versions of scikit-learn sets options that SciPy 1.16 deprecates.
@pytest.mark.filterwarnings("ignore:scipy.optimize. The `disp` and `iprint`:DeprecationWarning")
@pytest.mark.parametrize("name", RECIPES)
def test_recipe_prints_what_it_says(name):
    import matplotlib.pyplot as plt

    page, text = RECIPES[name]
    for optional in re.findall(r">>> (?:import|from) (torch|sklearn\.callback)\b", text):
        pytest.importorskip(optional, reason=f"{optional} is not installed")
    top = names_at_the_top(page)
    run(page, text, {key: copied(value) for key, value in top.items() if key != "__builtins__"})
    plt.close("all")
