"""What results of this package share: standard errors, and tables of text."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def standard_error(scores: Any) -> Any:
    """The standard error of the mean over the first axis; NaN for a single score."""
    if len(scores) < 2:
        return np.full(np.shape(scores)[1:], np.nan)
    return np.std(scores, axis=0, ddof=1) / np.sqrt(len(scores))


def text_table(lines: Sequence[Sequence[str]], *, left: int | None = None) -> str:
    """A header and rows in columns of equal width, to the right but for the column `left`."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )
