"""Measure what a unit of each kind of work takes, for the choice between ways to sum kernels.

`make calibrate` writes the table that `typicality.operators` plans with. Everything is measured on
one core; seconds a unit are the non-negative least squares of relative errors. How far the fit is
off is printed: a factor of two does no harm, the methods differ by more.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

import typicality.operators
from _report import machine
from _timing import best_of
from typicality.kernels import Gaussian
from typicality.operators import Dense, Evaluated, Nufft, Nystroem, Tiles, nufft, nystroem
from typicality.operators.blocked import Blocked
from typicality.operators.calibration import TABLE
from typicality.operators.methods import Problem
from typicality.operators.tolerance import EXACT

_TABLE = Path(typicality.operators.__file__).parent / TABLE
_N_PAIRS_ROWS = (3_000, 6_000)
_ROUNDS = 3

Sample = tuple[Any, float]  # units, and the seconds they took


def draw(n_rows: int, n_features: int) -> Any:
    return np.random.default_rng(0).normal(size=(n_rows, n_features))


def seconds_per_unit(samples: list[Sample]) -> dict[str, float]:
    """The table entry of one kind of work."""
    names = samples[0][0]._fields
    units = np.array([list(each) for each, _ in samples])
    seconds = np.array([took for _, took in samples])
    scale = units.max(axis=0)
    found, _ = nnls(units / scale / seconds[:, None], np.ones(len(seconds)))
    each = found / scale
    off = units @ each / seconds
    print(f"  predicted / measured: {off.min():.2f} to {off.max():.2f}")
    return {name: float(f"{value:.3g}") for name, value in zip(names, each, strict=True)}


def timed(act: Callable[[], object]) -> float:
    act()  # compile, and fill the caches
    return best_of(_ROUNDS, act)


# ---- pairs of rows ------------------------------------------------------------------------------


def pair_samples(product: Callable[[Evaluated], Callable[[Any], Any]]) -> list[Sample]:
    samples = []
    for n_rows in _N_PAIRS_ROWS:
        for n_features in (2, 8, 32):
            columns = Evaluated(Gaussian(np.sqrt(n_features)), draw(n_rows, n_features))
            multiply = product(columns)
            for n_columns in (1, 8):
                weights = np.ones((n_rows, n_columns))
                problem = Problem(columns, columns.training, EXACT, 0, n_columns)
                samples.append((problem.pairs(), timed(lambda: multiply(weights))))  # noqa: B023
    return samples


PAIR_WORK: dict[str, Callable[[Evaluated], Callable[[Any], Any]]] = {
    "numpy": lambda columns: Blocked(columns, columns.training).complement,
    "dense": lambda columns: Dense(columns, columns.training).complement,
    "tiles, single": lambda columns: Tiles(columns, rtol=0.0, skip=False, single=True).complement,
    "tiles, double": lambda columns: Tiles(columns, rtol=0.0, skip=False, single=False).complement,
}
