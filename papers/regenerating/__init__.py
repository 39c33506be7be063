"""What the folders of all papers share: the command line, the page, the verdicts on claims."""

from regenerating.command import Setting, regenerate
from regenerating.page import Claim, Page, Verdict, markdown_table

__all__ = ["Claim", "Page", "Setting", "Verdict", "markdown_table", "regenerate"]
