"""The page of warnings and errors: every class is on it, and its examples cause what they show."""

import re
from pathlib import Path

import pytest
import sklearn.exceptions

from typicality import exceptions

PAGE = (Path(__file__).parents[1] / "docs" / "messages.md").read_text(encoding="utf-8")
WARNINGS, ERRORS = (
    dict(re.findall(r"^### (\w+)\n(.*?)(?=^#+ |\Z)", part, flags=re.MULTILINE | re.DOTALL))
    for part in PAGE.split("## Errors\n")
)
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
SHARED = CODE.search(PAGE)[1]
OF_SCIKIT_LEARN = {"ConvergenceWarning", "InconsistentVersionWarning"}


def class_of(name):
    return getattr(sklearn.exceptions if name in OF_SCIKIT_LEARN else exceptions, name)


def run_example(section):
    """Run the example of a section after the lines that all share."""
    (example,) = CODE.findall(section)
    names = {}
    exec(SHARED, names)
    exec(example, names)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Examples write files where they are."""
    monkeypatch.chdir(tmp_path)


def test_every_class_has_a_section():
    defined = {
        name
        for name, one in vars(exceptions).items()
        if isinstance(one, type) and issubclass(one, Exception)
    }
    assert WARNINGS.keys() | ERRORS.keys() == defined | OF_SCIKIT_LEARN
    assert defined == set(exceptions.__all__)


@pytest.mark.parametrize("section", (WARNINGS | ERRORS).values(), ids=WARNINGS | ERRORS)
def test_section_says_when_and_what_and_what_to_do(section):
    parts = re.findall(r"^- \*\*(.*?)\*\*: [\w`]", section, flags=re.MULTILINE)
    assert parts == ["When", "Meaning", "What to do"]


@pytest.mark.parametrize("name", WARNINGS)
@pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning")
def test_example_gives_the_warning(name):
    with pytest.warns(class_of(name)) as given:
        run_example(WARNINGS[name])
    assert class_of(name) in [one.category for one in given]  # and no class derived from it


@pytest.mark.parametrize("name", ERRORS)
def test_example_raises_the_error(name):
    with pytest.raises(class_of(name)):
        run_example(ERRORS[name])
