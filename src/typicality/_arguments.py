"""Checks of single arguments that several packages share."""

from numbers import Integral
from typing import Any


def check_whole(value: Any, name: str, *, least: int) -> int:
    """A whole number that is not too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {value!r}.")
    return int(value)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """A parameter that is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def check_same_length(n_first: int, first_name: str, n_second: int, second_name: str) -> None:
    """Two arguments must have the same number of rows."""
    if n_first != n_second:
        raise ValueError(
            f"{first_name} has {n_first} rows, but {second_name} has {n_second}: pass both "
            "for the same rows, in the same order."
        )
