"""What the tests of all papers share."""

import re
from pathlib import Path

import pytest

from regenerating import Setting

PAPERS = Path(__file__).parents[2] / "papers"
VERDICT = re.compile(
    r"^\| (?P<place>[^|]+) \| .* \| \*\*(?P<verdict>[a-z ]+)\*\* \| ", re.MULTILINE
)


@pytest.fixture(scope="session")
def fast(tmp_path_factory):
    """A fast run of a paper, given the function that makes its page."""

    def run(make):
        return make(Setting(tmp_path_factory.mktemp("paper"), fast=True, n_jobs=1))

    return run


@pytest.fixture(scope="session")
def kept_verdicts():
    """The verdicts on the page of a paper that is kept, by the place of the claim."""

    def read(paper):
        text = (PAPERS / paper / "RESULTS.md").read_text(encoding="utf-8")
        return VERDICT.findall(text)

    return read
