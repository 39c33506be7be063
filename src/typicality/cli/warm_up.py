"""`typicality warm-up`: compile all code once, for this machine."""

from typing import Any

import click

from typicality.cli.options import Options, command, option, quiet

KERNELS = ("Gaussian", "Laplacian", "Cauchy")
# Estimators, and parameters with which their fits run different loops.
FITS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("AlphaCutClustering", {}),
    ("AlphaCutClustering", {"sigma": 1.0}),
    ("FuzzyCMeans", {"n_clusters": 2}),
    ("PossibilisticCMeans", {"n_clusters": 2}),
    ("PossibilisticCMeans", {"n_clusters": 2, "objective": "1993"}),
    ("SparseAdaptivePCM", {"n_clusters": 2}),
    ("EntropyCMeans", {"n_clusters": 2}),
)


@command
@option("--jobs -j N", "The number of processes. [default: all cores]", type=click.IntRange(1))
@quiet
def warm_up(options: Options) -> None:
    """Compile all code in advance, for this machine.

    The first fit of a large table compiles code for 5 to 20 seconds. Density-based clustering
    compiles for tables of any size. The code is stored in a cache. This command compiles the code
    of all methods now, in parallel processes, for example while a container is built. The
    environment variable NUMBA_CACHE_DIR names the folder of the cache.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from typicality._compat import effective_n_threads
    from typicality.cli.console import Terminal

    terminal = Terminal(quiet=bool(options.quiet))
    n_jobs = int(options.jobs or effective_n_threads())
    with (
        terminal.doing("Compiling"),
        ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool,
    ):
        sums = [pool.submit(run_sums, kernel) for kernel in KERNELS]
        fits = [pool.submit(run_fit, name, **parameters) for name, parameters in FITS]
        for task in sums + fits:
            task.result()
    terminal.say("All code is compiled.")


def run_fit(name: str, **parameters: Any) -> None:
    """Fit an estimator to a few rows of both precisions, with compiled code."""
    import typicality
    from typicality.compiled import small

    small._LONGEST = -1.0
    for dtype in ("f8", "f4"):
        rows = _rows().astype(dtype)
        getattr(typicality, name)(**parameters).fit(rows).predict(rows)


def run_sums(name: str) -> None:
    """Sums of a kernel over pairs of rows and at points, with compiled code."""
    import numpy as np

    from typicality import kernels
    from typicality.compiled import small
    from typicality.kernels.stationary import compiled_distances
    from typicality.sums import Dense, KernelColumns, Tiles
    from typicality.sums.tails import ExactTails

    small._LONGEST = -1.0
    rows, ones = _rows(), np.ones((200, 1))
    columns = KernelColumns(getattr(kernels, name)(1.0), rows)
    operator = Tiles(columns, single=True)
    operator.complement(ones)
    operator.expansion(ones).at(rows)
    Dense(columns, rows).complement(np.ones((200, 2)))
    ExactTails(columns, ones[:, 0], ones[:, 0], nearest=0.0).log_sums(rows)
    compiled_distances(rows, rows, "cityblock" if name == "Laplacian" else "sqeuclidean")


def _rows() -> Any:
    import numpy as np

    rows = np.random.default_rng(0).normal(size=(200, 2))
    rows[:100] += 8.0
    return rows
