"""Measure what a unit of each kind of work takes, for the choice between ways to sum kernels.

`make calibrate` writes the table that `typicality.operators` plans with. Everything is measured on
one core; seconds a unit are the non-negative least squares of relative errors. How far the fit is
off is printed: a factor of two does no harm, the methods differ by more.
"""

import json
import time
from collections.abc import Callable
from functools import partial
from itertools import product as iter_product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

import typicality.operators
from _report import machine
from typicality.kernels import Gaussian
from typicality.operators import Blocked, Dense, KernelColumns, Nufft, Nystroem, Tiles
from typicality.operators.base import CALIBRATION, Problem
from typicality.operators.nystroem import cost_units
from typicality.operators.tolerance import EXACT

_TABLE = Path(typicality.operators.__file__).parent / CALIBRATION
_ROUNDS = 3

Units = dict[str, float]
Sample = tuple[Units, float]  # units, and the seconds they took


def draw(n_rows: int, n_features: int) -> Any:
    return np.random.default_rng(0).normal(size=(n_rows, n_features))


def seconds_per_unit(samples: list[Sample]) -> Units:
    """The table entry of one kind of work."""
    names = list(samples[0][0])
    units = np.array([[each[name] for name in names] for each, _ in samples])
    seconds = np.array([took for _, took in samples])
    scale = units.max(axis=0)
    found, _ = nnls(units / scale / seconds[:, None], np.ones(len(seconds)))
    each = found / scale
    off = units @ each / seconds
    print(f"  predicted over measured: {off.min():.2f} to {off.max():.2f}")
    return {name: float(f"{value:.3g}") for name, value in zip(names, each, strict=True)}


def quickest(act: Callable[[], object]) -> float:
    """Seconds of the quickest of some rounds; the first one compiles and fills caches."""
    act()
    took = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        act()
        took.append(time.perf_counter() - start)
    return min(took)


# ---- pairs of rows ------------------------------------------------------------------------------

Product = Callable[[Any], Any]

Numbers = tuple[int, ...]


def _blocked(columns: KernelColumns) -> Product:
    return Blocked(columns, columns.training).complement


PAIR_WORK: dict[str, tuple[Numbers, Callable[[KernelColumns], Product]]] = {
    "numpy": ((2, 8, 15), _blocked),
    "numpy, many features": ((32, 128, 512), _blocked),
    "dense": ((2, 8, 32), lambda columns: Dense(columns, columns.training).complement),
    "tiles, single": ((2, 8, 32), lambda columns: Tiles(columns, single=True).complement),
    "tiles, double": ((2, 8, 32, 128), lambda columns: Tiles(columns, single=False).complement),
}


def pair_samples(numbers: Numbers, product: Callable[[KernelColumns], Product]) -> list[Sample]:
    """`numbers` are those of features."""
    samples = []
    for n_rows, n_features, n_columns in iter_product((2_000, 5_000), numbers, (1, 8)):
        columns = KernelColumns(Gaussian(np.sqrt(n_features)), draw(n_rows, n_features))
        problem = Problem(columns, columns.training, EXACT, 0, n_columns)
        act = partial(product(columns), np.ones((n_rows, n_columns)))
        samples.append((problem.pairs(), quickest(act)))
    return samples


# ---- approximations -----------------------------------------------------------------------------


def fourier_samples() -> list[Sample]:
    samples = []
    for n_rows, n_features, sigma, rtol in iter_product(
        (20_000, 200_000), (1, 2, 3), (1.0, 0.1), (1e-4, 1e-7, 1e-10)
    ):
        columns = KernelColumns(Gaussian(sigma), draw(n_rows, n_features))
        operator = Nufft(columns, rtol=rtol, memory=2**32)
        act = partial(operator.__matmul__, np.ones((n_rows, 1)))
        samples.append((operator.cost_units(), quickest(act)))
    return samples


def landmark_samples() -> list[Sample]:
    """Set-ups and products of several ranks, apart from one another."""
    samples = []
    for n_rows, n_features, rtol in iter_product((10_000, 40_000), (2, 5), (1e-2, 1e-4)):
        columns = KernelColumns(Gaussian(2.0 * np.sqrt(n_features)), draw(n_rows, n_features))
        operator = Nystroem(columns, rtol=rtol)
        units = cost_units(n_rows, n_features, operator.rank)
        setup = quickest(partial(Nystroem, columns, rtol=rtol))
        product = quickest(partial(operator.__matmul__, np.ones((n_rows, 1))))
        samples.append((units | {"product": 0.0}, setup))
        samples.append(({"kernel_values": 0.0, "flops": 0.0, "product": units["product"]}, product))
    return samples


def main() -> None:
    work = {name: partial(pair_samples, *case) for name, case in PAIR_WORK.items()}
    work |= {"nufft": fourier_samples, "nystroem": landmark_samples}
    seconds = {}
    with threadpool_limits(1):
        for name, samples in work.items():
            print(name, flush=True)
            seconds[name] = seconds_per_unit(samples())
    table = {"machine": next(iter(machine())), "seconds": seconds}
    _TABLE.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    print(_TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
