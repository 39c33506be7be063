"""Fits whose sums are computed in a given way, whatever the rows."""

from contextlib import contextmanager

import pytest

from typicality.sums import EXACT, Dense, Nufft, Tiles

WAYS = {
    "dense": lambda columns, rows, rtol: Dense(columns, rows),
    "blocked": lambda columns, rows, rtol: Dense(columns, rows, keep=False),
    "tiles": lambda columns, rows, rtol: Tiles(columns, single=rtol >= 1e-6),
    "truncated": lambda columns, rows, rtol: Tiles(columns, rtol=rtol),
    "nufft": lambda columns, rows, rtol: Nufft(columns, rtol=rtol),
}


@contextmanager
def summed_by(way):
    """A context in which operators of fits are those of a way; exact ones where rtol is 0."""

    def choose(columns, rows, tolerance=EXACT, *, device=None):
        exact = tolerance.absolute == 0.0 and way in ("truncated", "nufft")
        return WAYS["dense" if exact else way](columns, rows, tolerance.absolute)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typicality.spaces.gram.choose_operator", choose)
        patch.setattr("typicality.cluster._inputs.are_few", lambda columns: False)
        yield
