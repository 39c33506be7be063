"""Relative links of README and docs: the file exists, and it has the section that is linked."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILT = ("_build", "gallery", "generated")  # folders that the build of the documentation writes
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(page for page in sorted(DOCS.rglob("*.md")) if page.relative_to(DOCS).parts[0] not in BUILT),
    DOCS / "llms.txt",
]
_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(rf"{_BLOCK.pattern}|``[^`]+``|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_INCLUDED = re.compile(r"^```\{include\} (\S+)", re.MULTILINE)
_LINK = re.compile(r"\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
_EXAMPLE = re.compile(r"(\w+)/(?:images/sphx_glr_)?(plot_\w+?)(?:_\d{3}(?:_\d_\d\dx)?\.png|\.rst)")


def links(page):
    """The targets of all links of a page that stay in the repository."""
    text = _CODE.sub("", page.read_text("utf-8"))
    return [to for to in _LINK.findall(text) if not re.match(r"\w+:", to)]


@cache
def anchors(page):
    """The names of the sections of a page, as GitHub and the documentation make them."""
    text = page.read_text("utf-8")
    included = [anchors((page.parent / path).resolve()) for path in _INCLUDED.findall(text)]
    titles = _HEADING.findall(_BLOCK.sub("", text))
    return {slug(title) for title in titles}.union(*included)


def slug(title):
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).strip().lower()
    return re.sub(r"[^\w -]", "", words).replace(" ", "-")


def broken(page, to):
    """What is wrong with a link of a page, or nothing."""
    path, _, section = to.partition("#")
    target = (page.parent / path).resolve() if path else page
    gallery = DOCS / "gallery"
    if target.is_relative_to(gallery):  # written from examples/
        example = _EXAMPLE.fullmatch(target.relative_to(gallery).as_posix())
        source = ROOT / "examples" / (f"{example[1]}/{example[2]}.py" if example else "README.rst")
        known = example or target.name == "index.rst"
        return "" if known and source.exists() else f"{to}: no such example"
    if not target.exists():
        return f"{to}: no such file"
    if section and section not in anchors(target):
        return f"{to}: no such section"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_sections_that_exist(page):
    assert [wrong for to in links(page) if (wrong := broken(page, to))] == []
