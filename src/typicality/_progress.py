"""How far a fit is: reported where the work is done, shown by whoever follows it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

# Shows people how far a fit is, from 0 to 1, in any thread; the command line has one.
_FOLLOWER: ContextVar[Callable[[float], None] | None] = ContextVar("_FOLLOWER", default=None)
_BOUNDS: ContextVar[tuple[float, float]] = ContextVar("_BOUNDS", default=(0.0, 1.0))


@contextmanager
def followed_by(show: Callable[[float], None]) -> Iterator[None]:
    """A context in which a function gets the progress of the fits of this thread."""
    token = _FOLLOWER.set(show)
    try:
        yield
    finally:
        _FOLLOWER.reset(token)


def advance(share: float) -> None:
    """Tell the follower, if there is one, how much of the part under way is done."""
    follower = _FOLLOWER.get()
    if follower is not None:
        first, last = _BOUNDS.get()
        follower(first + (last - first) * min(max(share, 0.0), 1.0))


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
                follower(first + (last - first) * done / total)

    return count
