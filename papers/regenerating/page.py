"""RESULTS.md: tables, figures and a verdict for each claim of a paper."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

__all__ = ["Claim", "Page", "Verdict", "markdown_table"]


class Verdict(StrEnum):
    """Whether a claim of a paper comes out here."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"

    @classmethod
    def of(cls, *parts: bool) -> "Verdict":
        """The verdict on a claim of several parts, each of which is found true or false."""
        if all(parts):
            return cls.HOLDS
        return cls.IN_PART if any(parts) else cls.FAILS


class Claim(NamedTuple):
    """A claim of a paper, and what was found.

    `place` says where the paper makes it ("Fig. 3", "conclusion"), `words` what it says, `evidence`
    the numbers that the verdict rests on.
    """

    place: str
    words: str
    verdict: Verdict
    evidence: str


class Page:
    """A page of Markdown that grows part by part, and the claims that it ends with.

    Parameters
    ----------
    title : str
        The heading of the page.
    """

    def __init__(self, title: str) -> None:
        self.claims: list[Claim] = []
        self.lacking: list[str] = []
        self._parts = [f"# {title}"]

    def say(self, text: str) -> None:
        """Add paragraphs, a heading or a table, in Markdown."""
        self._parts.append(text.strip())

    def show(self, picture: Path, caption: str) -> None:
        """Add a figure, which lies in the folder `figures` beside the page."""
        self._parts.append(f"![{caption}](figures/{picture.name})")

    def lack(self, what: str) -> None:
        """Say what had to be left out, and why: such a page is not kept."""
        self.lacking.append(what)

    def judge(self, claim: Claim) -> None:
        """Add a claim to the table of verdicts."""
        self.claims.append(claim)

    @property
    def text(self) -> str:
        """The page, with the table of verdicts behind its first paragraph."""
        title, first, *others = self._parts
        rows = [(c.place, c.words, f"**{c.verdict}**", c.evidence) for c in self.claims]
        verdicts = markdown_table(("where", "the paper says", "verdict", "our result"), rows)
        parts = [title, first, "## Verdicts", verdicts, *others]
        return "\n\n".join(parts) + "\n"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; bars within cells are spelt so that they stay there."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|")
