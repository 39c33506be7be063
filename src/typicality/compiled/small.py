"""Small sweeps are done by the array form of a rule, without numba.

To load numba takes a quarter of a second, and to compile a sweep takes seconds, once on a machine.
So c-means of few rows use the array form of their rule. The sizes decide: the state of a cache
never counts, and the same call takes the same way on every machine.

This module does not import numba.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

announce: Callable[[], object] = lambda: None  # noqa: E731 -- called when a loop is compiled
_LONGEST = 0.25  # seconds; tests set it to 0 or infinity, to compile everything or nothing


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
