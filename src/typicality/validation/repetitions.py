"""The same piece of work many times over, each with a seed of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

__all__ = ["Progress", "repeat"]

Value = TypeVar("Value")
Progress = Callable[[int, int], None]

_LARGEST_SEED = np.iinfo(np.int32).max


def repeat(
    work: Callable[[int], Value],
    n_repeats: int,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> list[Value]:
    """What `work` returns for each of several seeds, which are drawn before any work starts.

    Each piece of work runs on one thread, so the values do not depend on how many run side by side.

    Parameters
    ----------
    work : callable
        Called with a seed; it and its values must be fit for another process.
    n_repeats : int
        How often.
    random_state : int, RandomState or None, default=None
        The seed of the seeds.
    n_jobs : int or None, default=None
        How many run side by side, in processes, or wherever the joblib backend has them.
    progress : bool or callable, default=False
        True shows a bar on stderr; a callable is called as ``progress(done, total)``.

    Returns
    -------
    list
        In the order of the seeds.
    """
    seeds = check_random_state(random_state).randint(_LARGEST_SEED, size=n_repeats)
    outcomes = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_on_one_thread)(work, int(seed)) for seed in seeds
    )
    with _shown(progress, n_repeats) as tell:
        values = []
        tell(0, n_repeats)
        for outcome in outcomes:
            values.append(outcome)
            tell(len(values), n_repeats)
    return values


def _on_one_thread(work: Callable[[int], Value], seed: int) -> Value:
    with threadpool_limits(1):
        return work(seed)


@contextmanager
def _shown(progress: bool | Progress, total: int) -> Iterator[Progress]:
    """A function to tell of progress with: the caller's, a bar's, or one that does nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, total: None
    else:
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("Repetitions", total=total)
            yield lambda done, total: bar.update(task, completed=done)
