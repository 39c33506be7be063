"""Measure what a unit of each kind of work takes, for the choice between ways to sum kernels.

`make calibrate` writes the table that `typicality.operators` plans with. The expected seconds
of a fit follow from it, too. Everything is measured in one thread, in processor seconds. Seconds a
unit are the non-negative least squares of relative errors. How far the fit is off is printed: a
factor of two does no harm, the methods differ by more. Arguments are kinds of work: then only these
are measured. `benchmarks/expected_seconds.py` compares expected and measured seconds of fits.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product as iter_product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import random as sparse_random
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import typicality.operators
from _blobs import blobs
from _report import machine
from typicality import AlphaCutClustering, FuzzyCMeans
from typicality._sparse import SparseArray
from typicality.geometry.input_space import InputSpace, sweep_units
from typicality.kernels import Gaussian
from typicality.levelsets.scales import choice_units
from typicality.membership import Fuzzy
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
    return min(seconds_of(act) for _ in range(_ROUNDS))


def seconds_of(act: Callable[[], object]) -> float:
    """Processor seconds: other programs may run meanwhile."""
    start = time.process_time()
    act()
    return time.process_time() - start


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


# ---- sweeps, and trees of many scales -----------------------------------------------------------


def sweep_samples() -> list[Sample]:
    samples = []
    for n_rows, n_features, n_clusters in iter_product((20_000, 200_000), (2, 8, 32), (3, 20)):
        X = draw(n_rows, n_features)
        space = InputSpace(X)
        act = partial(space.sweep, Fuzzy(2.0), space.at(X[:n_clusters]))
        samples.append((sweep_units(n_rows, n_features, n_clusters), quickest(act)))
    return samples


def samples_around_sweeps() -> list[Sample]:
    """Fits of two iterations: these are mostly starts and labels."""
    samples = []
    for n_rows, n_features, n_clusters in iter_product((50_000, 300_000), (2, 8, 32), (3, 20)):
        X = blobs(n_rows, n_features)
        model = FuzzyCMeans(n_clusters, max_iter=2, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            took = quickest(partial(model.fit, X))
        samples.append((sweep_units(n_rows, n_features, n_clusters), took))
    return samples


def sparse_sweep_samples() -> list[Sample]:
    samples = []
    for n_rows, density, n_clusters in iter_product((5_000, 20_000), (0.002, 0.02), (3, 20)):
        X = SparseArray(sparse_random(n_rows, 2_000, density, format="csr", random_state=0))
        space = InputSpace(X)
        act = partial(space.sweep, Fuzzy(2.0), space.at(X[:n_clusters].toarray()))
        units = {"rows": float(n_rows), "values": float(X.nnz * n_clusters)}
        samples.append((units, quickest(act)))
    return samples


def alpha_cut_samples() -> list[Sample]:
    """Whole fits: these take minutes."""
    samples = []
    sizes = [
        (n_rows, n_features) for n_rows in (5_000, 20_000, 100_000) for n_features in (2, 5, 8)
    ]
    for n_rows, n_features in [*sizes, (400_000, 2), (20_000, 20)]:
        X = blobs(n_rows, n_features)
        AlphaCutClustering().fit(X[:3000])
        took = seconds_of(partial(AlphaCutClustering().fit, X))
        samples.append((choice_units(n_rows, n_features), took))
        print(f"  {n_rows:,} x {n_features}: {took:.2f} s", flush=True)
    return samples


def main() -> None:
    work: dict[str, Callable[[], list[Sample]]] = {
        name: partial(pair_samples, *case) for name, case in PAIR_WORK.items()
    }
    work |= {"nufft": fourier_samples, "nystroem": landmark_samples}
    work |= {
        "sweep": sweep_samples,
        "around sweeps": samples_around_sweeps,
        "sparse sweep": sparse_sweep_samples,
    }
    work |= {"alpha-cut": alpha_cut_samples}
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    with threadpool_limits(1):
        for name in sys.argv[1:] or work:
            print(name, flush=True)
            table["seconds"][name] = seconds_per_unit(work[name]())
            table["machines"][name] = next(iter(machine())).partition(";")[0]
    _TABLE.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    print(_TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
