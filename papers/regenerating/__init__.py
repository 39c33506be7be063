"""What the folders of all papers share: the command line, the page, verdicts, drawing."""

from regenerating.command import Setting, regenerate
from regenerating.drawing import draw_classification_function
from regenerating.page import Claim, Page, Verdict, markdown_table

__all__ = [
    "Claim",
    "Page",
    "Setting",
    "Verdict",
    "draw_classification_function",
    "markdown_table",
    "regenerate",
]
