"""`typicality warm-up`: compile all code once, for this machine."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from typicality.cli.options import Options, command, option


@command
@option("--jobs -j N", "The number of processes. [default: all cores]", type=click.IntRange(1))
@option("--quiet -q", "Print only errors.", is_flag=True)
def warm_up(options: Options) -> None:
    """Compile all code in advance, for this machine.

    Each method compiles its code at the first fit of a large table, density-based clustering of any
    table, which takes 5 to 20 seconds, and stores it in a cache. This command compiles the code
    of all methods now, in parallel processes, for example while a container is built. The
    environment variable NUMBA_CACHE_DIR names the folder of the cache.
    """
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context
    from time import perf_counter

    from typicality._compat import effective_n_threads
    from typicality.cli.console import Terminal

    terminal = Terminal(quiet=bool(options.quiet))
    n_jobs = int(options.jobs or effective_n_threads())
    begin, tasks = perf_counter(), all_tasks()
    with (
        terminal.counting("Compiling", len(tasks)) as show,
        ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool,
    ):
        futures = [pool.submit(_compile, task) for task in tasks]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            show(done)
    terminal.say(f"All code is compiled, in {perf_counter() - begin:.0f} s.")


def all_tasks() -> list[Callable[[], object]]:
    """Functions that run all compiled loops, those that take longest to compile first."""
    from typicality.kernels import Cauchy, Gaussian, Laplacian

    rules = ("Fuzzy", "Entropic", "Possibilistic1993", "Possibilistic1996", "SparsePossibilistic")
    return [
        *(partial(_sum, kernel(1.0)) for kernel in (Gaussian, Laplacian, Cauchy)),
        *(partial(_sweep, rule, dtype) for rule in (*rules, "Hard") for dtype in ("f8", "f4")),
        _cut,
        partial(_cut, sigma=1.0),
        _compare_partitions,
    ]


def _compile(task: Callable[[], object]) -> None:
    """Run a task with compiled code, however small it is."""
    from typicality.compiled import small

    small._LONGEST = -1.0
    task()


def _rows(n_features: int = 2) -> Any:
    import numpy as np

    rows = np.random.default_rng(0).normal(size=(200, n_features))
    rows[:100] += 8.0
    return rows


def _sum(kernel: Any) -> None:
    """Sums of a kernel over pairs of rows and at points, in both precisions."""
    import numpy as np

    from typicality.kernels.stationary import compiled_distances
    from typicality.operators import KernelColumns, Tiles
    from typicality.operators.tails import ExactTails

    rows, ones = _rows(), np.ones((200, 1))
    columns = KernelColumns(kernel, rows)
    operator = Tiles(columns, single=True)
    operator.complement(ones)
    operator.expansion(ones).at(rows)
    ExactTails(columns, ones[:, 0], ones[:, 0], nearest=0.0).log_sums(rows)
    if kernel.metric != "sqeuclidean" or type(kernel).__name__ == "Gaussian":
        compiled_distances(rows, rows, kernel.metric)


def _sweep(rule: str, dtype: str) -> None:
    """A sweep of a rule over all rows, its labels, and distances to them."""
    import numpy as np

    from typicality import membership
    from typicality.geometry.centroids import Centroids

    rows = _rows().astype(dtype)
    spread = {"eta": np.ones(2)} if "Possibilistic" in rule else {}
    weight = {"lam": 0.1} if rule in ("Entropic", "SparsePossibilistic") else {}
    made = getattr(membership, rule)(**spread, **weight)
    centroids = Centroids.at(rows[[0, -1]], rows.mean(axis=0))
    labels = np.empty(len(rows), np.int32)
    centroids.fold(made, rows, labels=labels)
    centroids.memberships(made, rows)
    centroids.sum_distances(rows, None, labels)


def _cut(sigma: float | str = "auto") -> None:
    from typicality import AlphaCutClustering

    AlphaCutClustering(sigma=sigma).fit(_rows()).predict(_rows())


def _compare_partitions() -> None:
    import numpy as np

    from typicality.metrics import generalized_rand_score

    soft = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    generalized_rand_score(soft, soft)
    generalized_rand_score(np.arange(200) % 2, soft)
