"""What a cell of a text file is, one cell at a time."""

import math

MISSING = ["", "?", "-", "."]
MISSING += ["NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "none"]


def number(cell):
    """The number in a cell; NaN where it is missing, None where it is text."""
    if cell.strip() in MISSING:
        return math.nan
    if "_" in cell or "nan" in cell.lower() or not cell.strip().isascii():
        return None
    try:
        return float(cell.strip())
    except ValueError:
        return None
