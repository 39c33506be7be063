"""One piece of work with its time, its warnings, and its failure in words."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Generic, TypeVar

Value = TypeVar("Value")

# What estimators raise on data they cannot use; anything else is a mistake, and is not hidden.
_FIT_ERRORS = (ValueError, ArithmeticError, RuntimeError, MemoryError)
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)


@dataclass(frozen=True)
class Attempt(Generic[Value]):
    """What came of a piece of work.

    Parameters
    ----------
    value : object or None
        The result; None where it failed.
    seconds : float
        How long it took.
    warnings : tuple of str
        What it warned about, each once.
    failure : str or None
        Why it failed.
    """

    value: Value | None
    seconds: float
    warnings: tuple[str, ...]
    failure: str | None


def attempt(work: Callable[[], Value]) -> Attempt[Value]:
    """Do a piece of work; a failure on the data ends it, and nothing else.

    Parameters
    ----------
    work : callable
        Without arguments.

    Returns
    -------
    Attempt
    """
    value, failure = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        try:
            value = work()
        except _FIT_ERRORS as error:
            failure = _first_line(error) or type(error).__name__
        seconds = perf_counter() - start
    heard = [_first_line(w.message) for w in caught if not issubclass(w.category, _FOR_DEVELOPERS)]
    return Attempt(value, seconds, tuple(dict.fromkeys(heard)), failure)


def _first_line(message: Warning | BaseException | str) -> str:
    return next((line.strip() for line in str(message).splitlines() if line.strip()), "")
