"""Peak memory of a run, seen from the operating system and from Python.

Neither view is enough alone. `tracemalloc` counts every NumPy array to the byte but not what
compiled code allocates for itself. The resident set has that, and also the stacks of new threads
and what the allocator keeps: it is an upper bound, in whole pages, and only in a fresh process.
(`ru_maxrss` is no use here: on Linux a new process inherits the peak of the one that started it.)
"""

import threading
import tracemalloc
from collections.abc import Callable
from typing import NamedTuple, Self

import psutil

__all__ = ["Memory", "ResidentPeak", "measure_memory"]

_INTERVAL = 0.0005  # seconds between two looks at the resident set


class Memory(NamedTuple):
    """Growth during a run, in bytes: the resident set, and what `tracemalloc` saw."""

    resident: int
    traced: int


class ResidentPeak:
    """A context in which a thread watches the resident set; `growth` is its highest rise."""

    def __init__(self, interval: float = _INTERVAL) -> None:
        self._interval = interval
        self._process = psutil.Process()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._before = self._peak = 0

    @property
    def growth(self) -> int:
        """The highest rise so far, in bytes."""
        return max(0, self._peak - self._before)

    @property
    def peak(self) -> int:
        """The largest resident set so far, imports and all, in bytes."""
        return self._peak

    def __enter__(self) -> Self:
        self._thread.start()  # before the first look: its own stack does not count
        self._before = self._resident()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._peak = max(self._peak, self._resident())

    def _watch(self) -> None:
        while not self._done.wait(self._interval):
            self._peak = max(self._peak, self._resident())

    def _resident(self) -> int:
        return self._process.memory_info().rss


def measure_memory(run: Callable[[], object]) -> Memory:
    """Run twice, watched by the system and then by Python; meant for a fresh process."""
    with ResidentPeak() as resident:
        run()
    tracemalloc.start()
    try:
        run()
        traced = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return Memory(resident.growth, traced)
