"""How far a fit is: reported where the work is done, shown by whoever follows it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Protocol


class Follower(Protocol):
    """Shows people how far a fit is; the command line has one."""

    def expect(self, seconds: float) -> None:
        """The fit that is under way is expected to take so long."""

    def show(self, share: float) -> None:
        """A share of the work is done, from 0 to 1. Any thread may call it."""


_FOLLOWER: ContextVar[Follower | None] = ContextVar("_FOLLOWER", default=None)
_BOUNDS: ContextVar[tuple[float, float]] = ContextVar("_BOUNDS", default=(0.0, 1.0))


@contextmanager
def followed_by(follower: Follower) -> Iterator[None]:
    """A context in which somebody follows the fits of this thread."""
    token = _FOLLOWER.set(follower)
    try:
        yield
    finally:
        _FOLLOWER.reset(token)


def expect(seconds: float) -> None:
    """Tell the follower, if there is one, how long a fit is expected to take."""
    follower = _FOLLOWER.get()
    if follower is not None:
        follower.expect(seconds)


def advance(share: float) -> None:
    """Tell the follower, if there is one, how much of the part under way is done."""
    follower = _FOLLOWER.get()
    if follower is not None:
        first, last = _BOUNDS.get()
        follower.show(first + (last - first) * min(max(share, 0.0), 1.0))


@contextmanager
def part(first: float, last: float) -> Iterator[None]:
    """A context whose work is the part from `first` to `last` of the work around it."""
    outer, whole = _BOUNDS.get()
    token = _BOUNDS.set((outer + (whole - outer) * first, outer + (whole - outer) * last))
    try:
        yield
    finally:
        _BOUNDS.reset(token)
    advance(last)


def counter(total: int) -> Callable[[], None]:
    """A function to call, in any thread, when one of `total` equal pieces of work is done."""
    follower, (first, last) = _FOLLOWER.get(), _BOUNDS.get()
    lock, done = Lock(), 0

    def count() -> None:
        nonlocal done
        if follower is not None:
            with lock:
                done += 1
                follower.show(first + (last - first) * done / total)

    return count
