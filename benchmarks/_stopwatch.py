"""Seconds of an act, and the best of several that take turns."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Timed", "best_of", "in_turn", "timed"]


class Timed(NamedTuple):
    """Seconds of the quickest run, and what it gave."""

    seconds: float
    result: Any


def timed(act: Callable[[], Any]) -> Timed:
    """Once."""
    start = time.perf_counter()
    result = act()
    return Timed(time.perf_counter() - start, result)


def best_of(rounds: int, act: Callable[[], Any]) -> Timed:
    """The quickest of some runs."""
    return min((timed(act) for _ in range(rounds)), key=_seconds_of)


def in_turn(acts: dict[str, Callable[[], Any]], rounds: int) -> dict[str, Timed]:
    """The quickest of some rounds in which all act in turn."""
    runs = [{name: timed(act) for name, act in acts.items()} for _ in range(rounds)]
    return {name: min((run[name] for run in runs), key=_seconds_of) for name in acts}


def _seconds_of(run: Timed) -> float:
    return run.seconds
