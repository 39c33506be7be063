"""Small work is done by NumPy, SciPy and the interpreter: nothing is compiled for it.

To load numba takes a quarter of a second, and to compile a loop takes seconds, once on a machine.
So every loop has a form without numba, which is used where the sizes say that it is quick. The
state of a cache never counts: the same call takes the same way on every machine.

This module does not import numba.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from typicality._cached import cached_property

announce: Callable[[], object] = lambda: None  # noqa: E731 -- called when a loop is compiled
_LONGEST = 0.25  # seconds; tests set it to 0 or infinity, to compile everything or nothing
_ITEM_SECONDS = 2e-5  # of the walks of a fit, for each edge


@contextmanager
def announcing(say: Callable[[], object]) -> Iterator[None]:
    """A context in which a function is called at the first loop that has to be compiled."""
    global announce
    before = announce

    def once() -> None:
        nonlocal said
        if not said:
            said = True
            say()

    said = False
    announce = once
    try:
        yield
    finally:
        announce = before


def is_small(seconds: float) -> bool:
    """Whether a fit should do without compiled code.

    Parameters
    ----------
    seconds : float
        About how long the work takes without it, estimated from sizes alone.
    """
    return seconds <= _LONGEST


class Walk:
    """A loop over a graph that is interpreted for few items and compiled for many.

    The interpreter is given lists, which it reads three times as quickly as arrays. So arrays are
    one-dimensional, and a walk makes none itself.

    Parameters
    ----------
    function : callable
        The loop, in Python that numba compiles. Its helpers are plain functions of the same module.
    fills : int
        How many of its last arguments it writes to.
    item_seconds : float
        About how long the interpreter takes in a fit, for each item of the longest array.
    """

    def __init__(self, function: Callable[..., Any], fills: int, item_seconds: float) -> None:
        self.function = function
        self.fills = fills
        self.item_seconds = item_seconds

    def __call__(self, *arguments: Any) -> Any:
        longest = max(a.size for a in arguments if isinstance(a, np.ndarray))
        if not is_small(self.item_seconds * longest):
            return self.compiled(*arguments)
        lists = [a.tolist() if isinstance(a, np.ndarray) else a for a in arguments]
        result = self.function(*lists)
        for array, values in zip(arguments[-self.fills :], lists[-self.fills :], strict=True):
            array[:] = values
        return result

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The function, compiled when it is first called."""
        from typicality.compiled.jit import compile_with_helpers  # numba takes a second to load

        return compile_with_helpers(self.function)


def walk(
    *, fills: int, item_seconds: float = _ITEM_SECONDS
) -> Callable[[Callable[..., Any]], Walk]:
    """Make a :class:`Walk` of a function."""
    return lambda function: Walk(function, fills, item_seconds)
