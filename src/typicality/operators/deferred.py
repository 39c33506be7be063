"""Sums at any points that are prepared when they are first asked for."""

from collections.abc import Callable
from threading import Lock
from typing import Any, cast

from typicality.operators.base import Expansion, Floats


class Deferred:
    """An expansion that is made at the first use, or when the model is pickled.

    A fit that is only asked for its training rows never pays for it. Threads may ask at once.

    Parameters
    ----------
    make : callable
        Gives the expansion; forgotten once it has.
    """

    def __init__(self, make: Callable[[], Expansion]) -> None:
        self._make: Callable[[], Expansion] | None = make
        self._made: Expansion | None = None
        self._lock = Lock()

    @property
    def _sums(self) -> Expansion:
        with self._lock:
            if self._make is not None:
                self._made = self._make()
                self._make = None
        return cast(Expansion, self._made)

    def prepared(self) -> Expansion:
        """The expansion itself; what a file keeps of it."""
        return self._sums

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self._sums,)

    @property
    def rtol(self) -> float:
        return self._sums.rtol

    @property
    def n_bytes(self) -> int:
        return self._sums.n_bytes

    def error(self, sums: Floats) -> Floats | float:
        return self._sums.error(sums)

    def at(self, points: Floats) -> Floats:
        return self._sums.at(points)

    def complement_at(self, points: Floats) -> Floats:
        return self._sums.complement_at(points)


def _itself(sums: Expansion) -> Expansion:
    return sums
