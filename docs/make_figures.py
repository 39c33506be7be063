"""The pictures of docs/plots.md, by the code of that page: python docs/make_figures.py."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from typicality.exceptions import ClusteringWarning

_FOLDER = Path(__file__).resolve().parent
_DPI = 85
_PARTS = re.compile(r"```python\n(?P<code>.*?)```|!\[[^\]]*\]\((?P<picture>[^)]*)\)", re.DOTALL)


def pictures(page: str) -> Iterator[tuple[str, Any]]:
    """Run the code of a page; for each picture in it its path, and the display at that place."""
    names: dict[str, Any] = {}
    for part in _PARTS.finditer(page):
        if part["code"]:
            exec(part["code"], names)
        else:
            yield part["picture"], names["display"]


def main() -> None:
    """Draw all of them."""
    warnings.simplefilter("ignore", ClusteringWarning)
    for path, display in pictures((_FOLDER / "plots.md").read_text()):
        (_FOLDER / path).parent.mkdir(exist_ok=True)
        # Files change only when pictures do, not with the version of matplotlib.
        kept_small = {"metadata": {"Software": None}, "pil_kwargs": {"optimize": True}}
        display.figure_.savefig(_FOLDER / path, dpi=_DPI, **kept_small)
        plt.close(display.figure_)


if __name__ == "__main__":
    main()
