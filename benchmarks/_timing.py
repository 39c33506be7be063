"""Time iterations of several programs side by side on a machine that may be busy."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

__all__ = ["Contestant", "Timing", "race", "timed"]

_PAUSE = 0.05  # seconds for the idle threads of one contestant to go to sleep before the next


@dataclass(frozen=True)
class Contestant:
    """A program that can run for a given number of iterations.

    Parameters
    ----------
    name : str
        What the tables call it.
    seconds : callable
        `seconds(n_iter)` runs so many iterations and says how long they took.
    short, long : int
        Two numbers of iterations. Their difference in time has no set-up in it.
    """

    name: str
    seconds: Callable[[int], float]
    short: int
    long: int


@dataclass
class Timing:
    """Times of a contestant over the rounds, short and long runs apart."""

    iterations: int
    short: list[float] = field(default_factory=list)
    long: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """Seconds an iteration from the quickest short and the quickest long run."""
        return (min(self.long) - min(self.short)) / self.iterations

    @property
    def median(self) -> float:
        """Seconds an iteration, the median over the rounds."""
        pairs = zip(self.short, self.long, strict=True)
        return median((long - short) / self.iterations for short, long in pairs)


def timed(run: Callable[[int], object]) -> Callable[[int], float]:
    """Wrap `run(n_iter)` so that it answers with the seconds it took."""

    def seconds(n_iter: int) -> float:
        start = time.perf_counter()
        run(n_iter)
        return time.perf_counter() - start

    return seconds


def race(contestants: list[Contestant], *, rounds: int) -> dict[str, Timing]:
    """Let all contestants run in turn, so many rounds; a first round warms up and is dropped."""
    timings = {c.name: Timing(c.long - c.short) for c in contestants}
    for contestant in contestants:
        contestant.seconds(contestant.short)
    for _ in range(rounds):
        for contestant in contestants:
            _take_turn(contestant, timings[contestant.name])
    return timings


def _take_turn(contestant: Contestant, timing: Timing) -> None:
    time.sleep(_PAUSE)
    timing.short.append(contestant.seconds(contestant.short))
    timing.long.append(contestant.seconds(contestant.long))
