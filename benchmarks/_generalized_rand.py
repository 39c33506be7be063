"""One generalised Rand index, watched: `_generalized_rand.py MEASURE N_ROWS`.

It prints a line of JSON. It is meant for a fresh process: the peak of its memory is then that of
the measure.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from _load import watch_load
from _memory import ResidentPeak
from typicality.metrics import (
    adjusted_generalized_rand_score,
    generalized_rand_estimate,
    generalized_rand_score,
)

__all__ = ["MEASURES", "Measured", "draw"]

_N_CLUSTERS = 10
_WARM_ROWS = 1500  # compiles or loads all code
_INTERVAL = 0.005  # seconds between two looks at memory

Doubles = NDArray[np.float64]


class Measured(NamedTuple):
    """What a measure took, its value, and the share of the machine that others used.

    Seconds by the clock and of all processors together; bytes above the imports and in all.
    """

    seconds: float
    processor: float
    growth: int
    peak: int
    value: float
    foreign: float


class Partitions(NamedTuple):
    """Known classes, memberships that follow them, and memberships of another clustering."""

    labels: NDArray[np.intp]
    memberships: Doubles
    other: Doubles


def draw(n_rows: int) -> Partitions:
    """Ten classes; memberships that share half with the class, and half with chance."""
    rng = np.random.default_rng(0)
    labels = rng.integers(_N_CLUSTERS, size=n_rows)
    crisp = np.eye(_N_CLUSTERS)[labels]
    chance = partial(rng.dirichlet, np.full(_N_CLUSTERS, 0.3), n_rows)
    return Partitions(labels, 0.5 * crisp + 0.5 * chance(), 0.5 * crisp + 0.5 * chance())


def _estimate(reference: Any, memberships: Any) -> float:
    return generalized_rand_estimate(reference, memberships, random_state=0).score


MEASURES: dict[str, Callable[[Partitions], float]] = {
    "labels": lambda p: generalized_rand_score(p.labels, p.memberships),
    "labels, adjusted": lambda p: adjusted_generalized_rand_score(p.labels, p.memberships),
    "memberships": lambda p: generalized_rand_score(p.other, p.memberships),
    "memberships, adjusted": lambda p: adjusted_generalized_rand_score(p.other, p.memberships),
    "memberships, 1,000,000 pairs": lambda p: _estimate(p.other, p.memberships),
}


def _watch(name: str, n_rows: int) -> Measured:
    measure = MEASURES[name]
    measure(draw(_WARM_ROWS))
    with ResidentPeak(_INTERVAL) as resident, watch_load() as load:
        partitions = draw(n_rows)
        start, busy = time.perf_counter(), time.process_time()
        value = measure(partitions)
        seconds, processor = time.perf_counter() - start, time.process_time() - busy
    return Measured(seconds, processor, resident.growth, resident.peak, value, load.share)


def main(name: str, n_rows: str) -> None:
    print(json.dumps(_watch(name, int(n_rows))))


if __name__ == "__main__":
    main(*sys.argv[1:])
