"""Pages of code: each section runs by itself, after the imports at the top of its page."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [
    *sorted((DOCS / "guide").glob("*.md")),
    *sorted((DOCS / "coming_from").glob("*.md")),
    DOCS / "faq.md",
    DOCS / "extending.md",
]


def anchor(section):
    """The name of a section in links to it: find-outliers."""
    title = section.partition("\n")[0].removeprefix("## ")
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def recipes(page):
    """Each section with code, after the imports, whose lines keep their numbers."""
    imports, *sections = re.split(r"^(?=## )", page.read_text("utf-8"), flags=re.MULTILINE)
    before = ""
    for section in sections:
        if ">>> " in section:
            yield f"{page.stem}-{anchor(section)}", imports + "\n" * before.count("\n") + section
        before += section


RECIPES = {name: (page, text) for page in PAGES for name, text in recipes(page)}


@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
@pytest.mark.parametrize("name", RECIPES)
def test_recipe_prints_what_it_says(name):
    import matplotlib.pyplot as plt

    page, text = RECIPES[name]
    for optional in re.findall(r">>> import (torch)\b", text):
        pytest.importorskip(optional, reason=f"{optional} is not installed")
    recipe = doctest.DocTestParser().get_doctest(
        text.replace("\n```\n", "\n\n"), globs={}, name=name, filename=str(page), lineno=0
    )  # a blank line ends the expected output
    results = doctest.DocTestRunner().run(recipe)
    plt.close("all")
    assert results.failed == 0
