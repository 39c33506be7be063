"""Repeated fits on random parts of the rows, in parallel, each with a seed of its own."""

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from typicality._arguments import check_whole
from typicality._compat import n_rows_of, safe_split
from typicality._typing import Places
from typicality.exceptions import RepetitionError

Value = TypeVar("Value")

_LARGEST_SEED = np.iinfo(np.int32).max
_FEWEST_ROWS = 4  # two in each half


# ---- repetitions ---------------------------------------------------------------------------------


def repeat(
    work: Callable[[int], Value], n_repeats: int, *, random_state: Any, n_jobs: int | None
) -> list[Value]:
    """What `work` returns for each of several seeds, which are drawn before any work starts.

    Raises
    ------
    RepetitionError
        A piece of work failed. The message names the repetition, its seed and the cause.
    """
    n_repeats = check_whole(n_repeats, "n_repeats", least=1)
    seeds = check_random_state(random_state).randint(_LARGEST_SEED, size=n_repeats).tolist()
    return run_parallel(
        [partial(work, seed) for seed in seeds],
        [f"Repetition {i:,} of {n_repeats:,} (seed {seed})" for i, seed in enumerate(seeds, 1)],
        n_jobs,
    )


def run_parallel(
    works: Sequence[Callable[[], Value]], names: Sequence[str], n_jobs: int | None
) -> list[Value]:
    """The values of pieces of work, in their order.

    Each runs on one thread, so that its value does not depend on how many run at the same time.
    """
    run = delayed(partial(_run_one, os.getpid()))
    tasks = [run(work, name) for work, name in zip(works, names, strict=True)]
    with threadpool_limits(1):
        return list(Parallel(n_jobs=n_jobs)(tasks))


def _run_one(parent: int, work: Callable[[], Value], name: str) -> Value:
    # Other processes need the limit, too. Setting it takes as long as a small fit.
    limit = nullcontext() if os.getpid() == parent else threadpool_limits(1)
    try:
        with limit:
            return work()
    except Exception as error:
        raise RepetitionError(f"{name} failed. {type(error).__name__}: {error}") from error


# ---- seeds and rows ------------------------------------------------------------------------------


def seeded_clone(estimator: Any, rng: np.random.RandomState) -> Any:
    """An unfitted copy; each `random_state` of None, its own or of a part of it, gets a seed."""
    seeds = {
        name: int(rng.randint(_LARGEST_SEED))
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and name.split("__")[-1] == "random_state"
    }
    return clone(estimator).set_params(**seeds)


def rows_of(estimator: Any, X: Any, rows: Places, *, trained_on: Places) -> Any:
    """Some rows of X, as the estimator takes them; of a square matrix also the columns."""
    return safe_split(estimator, X, None, rows, trained_on)[0]


def halves(estimator: Any, X: Any, rng: np.random.RandomState) -> tuple[Any, Any, Any, Any, Any]:
    """Two unfitted copies, the random half of the rows for each, and the second half for the first.

    The second half has one row more if their number is odd.
    """
    order = rng.permutation(n_rows_of(X))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    one, two = (seeded_clone(estimator, rng) for _ in range(2))
    rows_1 = rows_of(one, X, first, trained_on=first)
    rows_2 = rows_of(two, X, second, trained_on=second)
    return one, two, rows_1, rows_2, rows_of(one, X, second, trained_on=first)


# ---- checks --------------------------------------------------------------------------------------


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


def check_rows_to_split(X: Any, estimator: Any) -> Any:
    """Rows that can be taken by number; the estimator checks their values."""
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
    return X
