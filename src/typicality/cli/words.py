"""Numbers and places in sentences."""

from collections.abc import Sequence

_FEW, _MANY = 4, 9  # digits


def number(value: float) -> str:
    """A number in six digits, as most files have them."""
    return f"{value:.6g}"


def numbers(values: Sequence[float]) -> list[str]:
    """Numbers in the same digits, the fewest from four on that tell them apart."""
    for digits in range(_FEW, _MANY):
        texts = [f"{value:#.{digits}g}" for value in values]
        if len(set(texts)) == len(set(values)):
            return texts
    return [f"{value:#.{_MANY}g}" for value in values]


def place(row: int, line: int | None) -> str:
    """Where a row is: its line, or its number where the file has no lines."""
    return f"line {line}" if line is not None else f"row {row}"
