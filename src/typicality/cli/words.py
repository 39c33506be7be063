"""Numbers and places in sentences."""

__all__ = ["number", "place"]


def number(value: float) -> str:
    """A number in few digits."""
    return f"{value:.4g}"


def place(row: int, line: int | None) -> str:
    """Where a row is: its line, or its number where the file has no lines."""
    return f"line {line}" if line is not None else f"row {row}"
