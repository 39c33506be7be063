"""How much of the machine other programs used: timings are worth as much as it was idle."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

__all__ = ["ForeignLoad", "watch_load"]


class ForeignLoad:
    """The share of all cores that neither idled nor worked for this process; set at the end."""

    share = float("nan")


@contextmanager
def watch_load() -> Iterator[ForeignLoad]:
    """Watch the machine during a block; children must live from its beginning to its end."""
    load = ForeignLoad()
    start, foreign = time.perf_counter(), _busy() - _own()
    yield load
    elapsed = (time.perf_counter() - start) * (psutil.cpu_count() or 1)
    load.share = max(0.0, _busy() - _own() - foreign) / elapsed


def _busy() -> float:
    times = psutil.cpu_times()
    return times.user + times.system + getattr(times, "steal", 0.0)


def _own() -> float:
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return sum(t.user + t.system for t in times)
