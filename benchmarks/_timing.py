"""Seconds, peak memory and processes of their own."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import psutil

__all__ = ["ResidentPeak", "best_of", "in_turn", "json_from", "resident_peak", "seconds"]

_PAUSE = 0.05  # seconds for idle threads of one contestant to go to sleep before the next
_INTERVAL = 0.0005  # seconds between two looks at the resident set

Act = Callable[[], object]


def seconds(act: Act) -> float:
    """Seconds of one run, by the clock."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def best_of(rounds: int, act: Act) -> float:
    """Seconds of the quickest of some runs."""
    return min(seconds(act) for _ in range(rounds))


def in_turn(acts: dict[str, Act], rounds: int) -> dict[str, list[float]]:
    """Seconds of each round; all take turns, so a busy moment of the machine hits all of them."""
    found: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(rounds):
        for name, act in acts.items():
            time.sleep(_PAUSE)
            found[name].append(seconds(act))
    return found


def json_from(*arguments: str) -> Any:
    """What Python prints for some arguments in a fresh process: the last line, read as JSON."""
    command = [sys.executable, "-W", "ignore", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def resident_peak() -> int:
    """The largest resident memory of this process so far, in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


class ResidentPeak:
    """A context in which a thread watches the resident set; `growth` is its highest rise.

    It is meant for a fresh process. (`ru_maxrss` is no use: a new process inherits the peak of the
    one that started it.)
    """

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._before = self.peak = 0

    @property
    def growth(self) -> int:
        """The highest rise so far, in bytes."""
        return max(0, self.peak - self._before)

    def __enter__(self) -> Self:
        self._thread.start()  # before the first look: its own stack does not count
        self._before = self._process.memory_info().rss
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.peak = max(self.peak, self._process.memory_info().rss)

    def _watch(self) -> None:
        while not self._done.wait(_INTERVAL):
            self.peak = max(self.peak, self._process.memory_info().rss)
