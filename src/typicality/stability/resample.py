"""The resampling engine: the same work on many parts of the rows, each with a seed of its own.

Every result of this package comes from here: :func:`attempt` runs one piece of work and keeps its
time, its warnings and its failure; :func:`run_parallel` runs many; :func:`repeat` draws a seed for
each of them.
"""

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from numbers import Integral
from threading import Lock, local
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import issparse
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, get_tags, indexable
from threadpoolctl import ThreadpoolController

from typicality._arguments import check_whole
from typicality._compat import n_rows_of, safe_split
from typicality._typing import Doubles, Places
from typicality.exceptions import RepetitionError, warn
from typicality.geometry import Features
from typicality.geometry.checks import check_magnitudes, check_rows, check_varying_rows

Value = TypeVar("Value")
Progress = Callable[[int, int, str], None]
Caught = tuple[type[Warning], str]

_LARGEST_SEED = np.iinfo(np.int32).max
_FEWEST_ROWS = 4  # two in each half


# ---- seeds and rows ------------------------------------------------------------------------------


def draw_seed(rng: np.random.RandomState) -> int:
    """A seed for something that is not to share the generator."""
    return int(rng.randint(_LARGEST_SEED))


def seed_of(random_state: Any) -> int:
    """A whole number as it is; else a seed drawn from the generator, which can be reported."""
    rng = check_random_state(random_state)
    return int(random_state) if isinstance(random_state, Integral) else draw_seed(rng)


def draw_rows(n_rows: int, size: int | None, random_state: Any) -> Places:
    """The numbers of randomly drawn rows, all at most, without replacement, in rising order."""
    return np.sort(check_random_state(random_state).permutation(n_rows)[:size])


def draw_subsamples(
    n_rows: int, n_repeats: int, *, share: float = 0.8, random_state: Any = None
) -> tuple[Places, ...]:
    """Row numbers of random subsamples, drawn without replacement, in increasing order.

    Parameters
    ----------
    n_rows : int
        The number of rows to draw from.
    n_repeats : int
        The number of subsamples.
    share : float, default=0.8
        The fraction of the rows in each subsample.
    random_state : int or RandomState, optional
        The seed.

    Returns
    -------
    tuple of arrays of int

    Examples
    --------
    >>> from typicality.stability import draw_subsamples
    >>> [len(rows) for rows in draw_subsamples(50, 3, random_state=0)]
    [40, 40, 40]
    """
    rng = check_random_state(random_state)
    size = max(1, round(share * n_rows))
    return tuple(draw_rows(n_rows, size, rng) for _ in range(n_repeats))


def seeded_clone(estimator: Any, seed: np.random.RandomState | int) -> Any:
    """An unfitted copy; each `random_state` that is None, its own or of a part of it, gets a seed.

    A generator gives each of them another seed, a number is the seed of all.
    """
    unseeded = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and name.split("__")[-1] == "random_state"
    ]
    seeds = {name: seed if isinstance(seed, int) else draw_seed(seed) for name in unseeded}
    return clone(estimator).set_params(**seeds)


def rows_of(estimator: Any, X: Any, rows: Places, *, trained_on: Places) -> Any:
    """Some rows of X, as the estimator takes them; of a square matrix also the columns."""
    return safe_split(estimator, X, None, rows, trained_on)[0]


def halves(estimator: Any, X: Any, rng: np.random.RandomState) -> tuple[Any, Any, Any, Any, Any]:
    """Two unfitted copies, the random half of the rows for each, and the second half for the first.

    The second half has one row more where their number is odd.
    """
    order = rng.permutation(n_rows_of(X))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    one, two = (seeded_clone(estimator, rng) for _ in range(2))
    rows_1 = rows_of(one, X, first, trained_on=first)
    rows_2 = rows_of(two, X, second, trained_on=second)
    return one, two, rows_1, rows_2, rows_of(one, X, second, trained_on=first)


def one_or_several(values: Any) -> tuple[Any, ...]:
    """A tuple of values, also where there is one alone."""
    is_one = isinstance(values, str) or not isinstance(values, Iterable)
    return (values,) if is_one else tuple(values)


def check_estimator(estimator: Any, name: str) -> None:
    """An object, not a class, that can be fitted and cloned."""
    if isinstance(estimator, type):
        raise ValueError(
            f"{name} is the class {estimator.__name__}: pass an object, e.g. "
            f"{estimator.__name__}()."
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(
            f"{name} must be a scikit-learn estimator, with fit and get_params; got {estimator!r}."
        )


def check_rows_to_split(X: Any, estimator: Any) -> tuple[Any, int]:
    """Rows that can be taken by number, and how many; the estimator checks their values."""
    takes_matrix = get_tags(estimator).input_tags.pairwise
    (X,) = indexable(X if not takes_matrix or issparse(X) else np.asarray(X))
    if len(np.shape(X)) != 2:
        raise ValueError(
            f"X has shape {np.shape(X)}, expected (n_samples, n_features). Pass the data with one "
            "row per sample; X.reshape(-1, 1) makes a column of numbers."
        )
    n_rows = int(n_rows_of(X))
    if takes_matrix and np.shape(X) != (n_rows, n_rows):
        raise ValueError(
            f"X has shape {np.shape(X)}, but {estimator!r} takes a square matrix, with a "
            "row and a column for each sample. Pass such a matrix, or change the parameter "
            "(kernel=, metric=)."
        )
    if n_rows < _FEWEST_ROWS:
        raise ValueError(
            f"X has {n_rows} row(s) (n_samples={n_rows}), and at least {_FEWEST_ROWS} are needed "
            "to split them. Pass more rows."
        )
    return X, n_rows


def check_numbers(X: Any, at_least: int, *, what: str, why: str) -> Doubles:
    """Rows of numbers that differ, not too much, and enough of them for what is done with them."""
    rows: Doubles = check_rows(BaseEstimator(), X, training=True, at_least=0).astype(
        np.float64, copy=False
    )
    if len(rows) < at_least:
        raise ValueError(
            f"X has {len(rows)} row(s), and {what} needs at least {at_least}: it {why}. Pass more "
            "rows."
        )
    check_varying_rows(rows, None)
    # HDBSCAN of scikit-learn never ends where squared distances overflow.
    check_magnitudes(Features.of(rows), rows.dtype)
    return rows


# ---- one piece of work, and many in parallel -----------------------------------------------------


class Attempt(NamedTuple, Generic[Value]):
    """A piece of work: its value or why it failed, its time, and its warnings, each once."""

    value: Value | None = None
    failure: str | None = None
    seconds: float = 0.0
    warnings: tuple[Caught, ...] = ()


def attempt(
    work: Callable[[], Value], *, catch: tuple[type[Exception], ...] = ()
) -> Attempt[Value]:
    """Run a piece of work; the words of an error of the kinds in `catch` become its failure."""
    value, failure = None, None
    with capture_warnings() as caught:
        start = perf_counter()
        try:
            value = work()
        except catch as error:  # in words: not every error can go to another process
            failure = first_line(str(error)) or type(error).__name__
        seconds = perf_counter() - start
    return Attempt(value, failure, seconds, tuple(dict.fromkeys(caught)))


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


@contextmanager
def run_parallel(
    works: Iterable[Callable[[], Value]],
    n_jobs: int | None,
    *,
    catch: tuple[type[Exception], ...] = (),
) -> Iterator[Iterator[Attempt[Value]]]:
    """Attempts at pieces of work in parallel, in their order; leaving the block ends all of them.

    Each runs on one thread and with the scikit-learn configuration of the caller, so its value does
    not depend on how many run at the same time. Work and values must be fit for another process.
    """
    config = get_config()
    tasks = (delayed(_attempt_alone)(work, catch, config) for work in works)
    # The number of BLAS threads belongs to the whole process: set here, repetitions in threads have
    # nothing to change, and to restore too early or too late.
    with one_thread():
        attempts: Any = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        try:
            yield attempts
        finally:
            with capture_warnings():  # joblib warns of results that were not used
                attempts.close()


def _attempt_alone(work: Callable[[], Value], catch: Any, config: Any) -> Attempt[Value]:
    with one_thread(), config_context(**config):
        return attempt(work, catch=catch)


def one_thread() -> Any:
    """A context in which libraries compute on one thread."""
    # Looking for thread pools takes as long as a small fit: it is done again only where there may
    # be new ones, which come with modules.
    return _thread_pools(len(sys.modules)).limit(limits=1)


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()


def repeat(
    work: Callable[[int], Value],
    n_repeats: int,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> list[Value]:
    """What `work` returns for each of several seeds, which are drawn before any work starts.

    Warnings are given when all work is done: each once, with the number of repetitions it came
    from. Those that differ in numbers and names alone count as one.

    Parameters
    ----------
    work : callable
        Called with a seed; it and its values must be fit for another process.
    n_repeats : int
        How often.
    random_state : int, RandomState or None, default=None
        The seed of the seeds.
    n_jobs : int or None, default=None
        How many run in parallel, in processes, or wherever the joblib backend has them.
    progress : bool or callable, default=False
        True shows a bar on stderr, where that is a terminal; a callable is called as
        ``progress(done, total, words)``.

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
    n_repeats = check_whole(n_repeats, "n_repeats", least=1)
    seeds = check_random_state(random_state).randint(_LARGEST_SEED, size=n_repeats).tolist()
    works = (
        partial(_named_work, work, seed, f"Repetition {number:,} of {n_repeats:,} (seed {seed})")
        for number, seed in enumerate(seeds, start=1)
    )
    values: list[Any] = []
    caught = []
    with progress_reporter(progress, n_repeats) as report, run_parallel(works, n_jobs) as attempts:
        report(0, n_repeats, "Repetitions")
        for attempted in attempts:
            values.append(attempted.value)
            caught.append(attempted.warnings)
            report(len(values), n_repeats, "Repetitions")
    warn_once(caught, n_repeats)
    return values


def _named_work(work: Callable[[int], Value], seed: int, name: str) -> Value:
    """The work, with an error that names it."""
    try:
        return work(seed)
    except Exception as error:
        raise RepetitionError(f"{name} failed. {type(error).__name__}: {error}") from error


@contextmanager
def progress_reporter(progress: bool | Progress, total: int) -> Iterator[Progress]:
    """A function that reports progress: the caller's, that of a bar, or one that does nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, total, words: None
    else:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("", total=total)
            yield lambda done, total, words: bar.update(
                task, completed=done, description=escape(words)
            )


def repeat_each(
    works: Sequence[tuple[str, int, Callable[..., Value]]],
    n_repeats: int,
    progress: bool | Progress,
) -> list[tuple[Value, list[Caught]]]:
    """What several pieces of repeated work return and warn of; their progress is told as one.

    Each comes with words and with the number of steps that a repetition is, and is called with
    ``progress=``.
    """
    done, total = 0, n_repeats * sum(size for _, size, _ in works)
    found = []
    with progress_reporter(progress, total) as report:
        for words, size, work in works:
            part = _part_of_progress(report, done, total, words, size)
            with capture_warnings() as caught:
                found.append((work(progress=part), caught))
            done += n_repeats * size
    return found


def _part_of_progress(report: Progress, before: int, total: int, words: str, size: int) -> Progress:
    return lambda done, _, __: report(before + size * done, total, words)


# ---- warnings of many repetitions ----------------------------------------------------------------

_DETAIL = re.compile(r"'[^']*'|[-+]?\b\d+([.,]\d+)*(e[-+]?\d+)?", re.IGNORECASE)
_LISTED = re.compile(r"(\w* ?#)((,| and) \1)*( and # more)?")

# How warnings are shown belongs to the whole process. Repetitions may run in threads at the same
# time, and would restore each other's ways of showing: so the first to listen changes it for all,
# the last restores it, and what is caught goes to the thread that it comes from.
_changing = Lock()
_usual_way = ExitStack()
_n_listening = 0
_in_this_thread = local()


@contextmanager
def capture_warnings() -> Iterator[list[Caught]]:
    """A list of the warnings that this thread gives in the meantime, whatever the filters are."""
    global _n_listening
    outer = getattr(_in_this_thread, "caught", None)
    caught: list[Caught] = []
    _in_this_thread.caught = caught
    with _changing:
        if _n_listening == 0:
            _usual_way.enter_context(warnings.catch_warnings())
            warnings.simplefilter("always")
            warnings.showwarning = _keep_or_show(warnings.showwarning)
        _n_listening += 1
    try:
        yield caught
    finally:
        with _changing:
            _n_listening -= 1
            if _n_listening == 0:
                _usual_way.close()
        _in_this_thread.caught = outer


def _keep_or_show(show: Any) -> Any:
    def showwarning(message: Warning, category: type[Warning], *place: Any, **more: Any) -> None:
        caught = getattr(_in_this_thread, "caught", None)
        if caught is None:
            show(message, category, *place, **more)
        else:
            caught.append((category, str(message)))

    return showwarning


def warn_once(
    caught_in_each: Iterable[Iterable[Caught]], n_repeats: int, *, among: str = "repetitions"
) -> None:
    """Give each warning once, with the number of repetitions (or of others) it came from.

    Warnings that differ in numbers and names alone are one, given in the words of the first.
    """
    first: dict[Caught, str] = {}
    times: Counter[Caught] = Counter()
    for caught in caught_in_each:
        # The words alone: "Constant: feature 3, feature 5." is "Constant: feature #.".
        kinds = {
            (category, _LISTED.sub(r"\1", _DETAIL.sub("#", text))): text
            for category, text in reversed([*caught])
        }
        times.update(kinds.keys())
        first = kinds | first
    for (category, pattern), count in times.items():
        warn(f"{first[category, pattern]} (In {count:,} of {n_repeats:,} {among}.)", category)
