"""Which transforms of finufft a fit makes, and how long a pair of the same takes alone."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any, NamedTuple

import finufft
import numpy as np
from numpy.typing import NDArray

__all__ = ["PairSeconds", "Transform", "recorded_transforms", "seconds_of_pair"]

_REAL = {"complex128": np.float64, "complex64": np.float32}
_PERIOD = 5.0  # radians that the rows fill; what is left of 2 pi keeps the tails apart

Doubles = NDArray[np.float64]


class Transform(NamedTuple):
    """Modes, tolerance and precision of a plan of finufft."""

    modes: tuple[int, ...]
    eps: float
    dtype: str

    @property
    def name(self) -> str:
        """Modes and tolerance."""
        return f"{' x '.join(map(str, self.modes))}, {self.eps:.0e}"


class PairSeconds(NamedTuple):
    """Seconds of a transform to modes and one back: as plain calls, and by plans that were kept."""

    calls: float
    kept: float


@contextmanager
def recorded_transforms() -> Iterator[Counter[Transform]]:
    """Count the transforms to modes and back that are done during the block."""
    done: Counter[Transform] = Counter()
    make, execute = finufft.Plan.__init__, finufft.Plan.execute

    def note_and_make(self: Any, *arguments: Any, **options: Any) -> None:
        self.made_with = signature(make).bind(self, *arguments, **options)
        self.made_with.apply_defaults()
        make(self, *arguments, **options)

    def count_and_execute(self: Any, *arguments: Any, **options: Any) -> Any:
        done[_transform(**self.made_with.arguments)] += 1
        return execute(self, *arguments, **options)

    finufft.Plan.__init__, finufft.Plan.execute = note_and_make, count_and_execute
    try:
        yield done
    finally:
        finufft.Plan.__init__, finufft.Plan.execute = make, execute


def _transform(n_modes_or_dim: Any, eps: float, dtype: Any, **_: Any) -> Transform:
    modes = tuple(int(n) for n in np.atleast_1d(n_modes_or_dim))
    return Transform(modes, float(eps), np.dtype(dtype).name)


def seconds_of_pair(X: Doubles, transform: Transform, *, rounds: int = 3) -> PairSeconds:
    """The best of some rounds with all rows and all threads, as finufft is by default."""
    low, high = X.min(axis=0), X.max(axis=0)
    spread = (X - low) / (high - low) * _PERIOD - _PERIOD / 2
    places = [column.astype(_REAL[transform.dtype]) for column in spread.T]
    weights = np.full(len(X), 1 / len(X), dtype=transform.dtype)
    plans = [_plan(kind, places, transform) for kind in (1, 2)]

    def kept() -> None:
        plans[1].execute(plans[0].execute(weights))

    def calls() -> None:
        modes = _plan(1, places, transform).execute(weights)
        _plan(2, places, transform).execute(modes)

    return PairSeconds(_best(calls, rounds), _best(kept, rounds))


def _plan(kind: int, places: list[NDArray[Any]], transform: Transform) -> Any:
    plan = finufft.Plan(kind, transform.modes, 1, transform.eps, dtype=transform.dtype)
    plan.setpts(*places)
    return plan


def _best(act: Callable[[], None], rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
