"""Several starts, the best result."""

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["best_of"]

Start = TypeVar("Start")
Result = TypeVar("Result")


def best_of(
    starts: Iterable[Start], run: Callable[[Start], Result], value: Callable[[Result], float]
) -> Result:
    """Run from every start; the result of smallest value, the earliest of equals.

    Parameters
    ----------
    starts : iterable
        Where to begin; at least one.
    run : callable
        `run(start) -> result`.
    value : callable
        `value(result) -> float`, smaller is better.
    """
    return min((run(start) for start in starts), key=value)
