"""Several starts, the best result."""

from collections.abc import Callable, Iterable
from math import inf, isfinite
from typing import TypeVar

SAME_VALUE = 1e-6  # of each other: values that differ by rounding only

Start = TypeVar("Start")
Result = TypeVar("Result")


def best_of(
    starts: Iterable[Start], run: Callable[[Start], Result], value: Callable[[Result], float]
) -> Result:
    """Run from every start; the earliest result whose value is the smallest, but for rounding.

    Runs that reach the same optimum differ in their last digits. Choosing by those would make the
    label numbers depend on rounding, so values within a millionth count as equal.

    Parameters
    ----------
    starts : iterable
        Where to begin; at least one.
    run : callable
        `run(start) -> result`.
    value : callable
        `value(result) -> float`, smaller is better, NaN is worst.
    """
    results = [run(start) for start in starts]
    values = [v if isfinite(v) else inf for v in map(value, results)]
    least = min(values)
    limit = least + SAME_VALUE * abs(least)
    return next(r for r, v in zip(results, values, strict=True) if v <= limit)
