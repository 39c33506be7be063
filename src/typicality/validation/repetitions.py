"""The same piece of work many times over, each with a seed of its own."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context, get_config
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController

from typicality._typing import Places
from typicality.exceptions import RepetitionError
from typicality.validation.hearing import Heard, hearing, tell_once

Value = TypeVar("Value")
Progress = Callable[[int, int], None]

_LARGEST_SEED = np.iinfo(np.int32).max


def draw_seed(rng: np.random.RandomState) -> int:
    """A seed for something that is not to share the generator."""
    return int(rng.randint(_LARGEST_SEED))


def halves(n_rows: int, rng: np.random.RandomState) -> tuple[Places, Places]:
    """The numbers of the rows of two random halves; the second has one more where n is odd."""
    order = rng.permutation(n_rows)
    return order[: n_rows // 2], order[n_rows // 2 :]


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
    What it warns of is told once all is done, each warning once, with the number of repetitions it
    came from (those that differ in numbers and names alone count as one).

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
        True shows a bar on stderr, where that is a terminal; a callable is called as
        ``progress(done, total)``.

    Returns
    -------
    list
        In the order of the seeds.

    Raises
    ------
    RepetitionError
        As soon as a piece of work fails. The rest is not done then, nor after an interrupt or an
        error of `progress`.
    """
    seeds = check_random_state(random_state).randint(_LARGEST_SEED, size=n_repeats).tolist()
    config = get_config()
    tasks = (
        delayed(_once)(work, seed, name=f"Repetition {number:,} of {n_repeats:,}", config=config)
        for number, seed in enumerate(seeds, start=1)
    )
    values, heard = [], []
    # Of the threads of BLAS there is one number for all threads of the process: set here, there is
    # nothing for repetitions in threads to change, and to restore too early or too late.
    with _one_thread(), shown(progress, n_repeats) as tell, _running(tasks, n_jobs) as outcomes:
        tell(0, n_repeats)
        for value, warned in outcomes:
            values.append(value)
            heard.append(warned)
            tell(len(values), n_repeats)
    tell_once(heard, n_repeats)
    return values


def _once(
    work: Callable[[int], Value], seed: int, *, name: str, config: dict[str, Any]
) -> tuple[Value, tuple[Heard, ...]]:
    """One repetition, the same in any process and thread, and what it warned of."""
    with _one_thread(), config_context(**config), hearing() as heard:
        try:
            value = work(seed)
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            raise RepetitionError(f"{name} (seed {seed}) failed. {cause}") from error
    return value, tuple(dict.fromkeys(heard))


@contextmanager
def _running(tasks: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """What tasks give, one by one; the block ends them all, however long a traceback is kept."""
    outcomes: Any = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    try:
        yield outcomes
    finally:
        with hearing():  # joblib counts what was not used
            outcomes.close()


def _one_thread() -> Any:
    # Looking for pools of threads takes as long as a small fit: it is done where there may be new
    # ones, which come with modules.
    return _thread_pools(len(sys.modules)).limit(limits=1)


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def shown(progress: bool | Progress, total: int) -> Iterator[Progress]:
    """A function to tell of progress with: the caller's, a bar's, or one that does nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, total: None
    else:
        from rich.console import Console
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("Repetitions", total=total)
            yield lambda done, total: bar.update(task, completed=done)
