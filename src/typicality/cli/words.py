"""Numbers and places in sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FEW, _MANY = 4, 9  # digits
_DIGITS = 9  # enough to tell numbers of single precision apart


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


def as_cells(columns: Mapping[str, NDArray[Any]], kept: NDArray[np.bool_]) -> dict[str, list[str]]:
    """Columns as text for all rows of a file; empty for rows that were left out.

    Parameters
    ----------
    columns : mapping of str to array of shape (n_kept,)
        The values for the rows that were kept.
    kept : array of shape (n,), bool
        Which rows those are.
    """
    return {name: _spread(_texts(values), kept) for name, values in columns.items()}


def _texts(values: NDArray[Any]) -> list[str]:
    if np.issubdtype(values.dtype, np.integer):
        return [str(value) for value in values.tolist()]
    return [f"{value:.{_DIGITS}g}" for value in values.tolist()]


def _spread(texts: list[str], kept: NDArray[np.bool_]) -> list[str]:
    if kept.all():
        return texts
    following = iter(texts)
    return [next(following) if here else "" for here in kept.tolist()]
