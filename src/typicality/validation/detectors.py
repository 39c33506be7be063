"""Detectors of any library: clones with seeds, their rows and their scores."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from typicality._compat import n_rows_of, safe_split
from typicality.exceptions import ClusteringWarning, warn
from typicality.validation.repetitions import draw_seed

Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Score = str | Callable[[Any, Any], Any] | None


def seeded_clone(estimator: Any, rng: np.random.RandomState, **parameters: Any) -> Any:
    """An unfitted copy; a `random_state` that is None, its own or of a part of it, gets a seed."""
    unseeded = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and name.split("__")[-1] == "random_state"
    ]
    seeds = {name: draw_seed(rng) for name in unseeded}
    return clone(estimator).set_params(**(seeds | parameters))


def rows_of(estimator: Any, X: Any, rows: Indices, *, trained_on: Indices) -> Any:
    """Some rows of X, as the estimator takes them; of a square matrix also the columns."""
    return safe_split(estimator, X, None, rows, trained_on)[0]


def scores_of(model: Any, rows: Any, score: Score) -> Doubles:
    """The scores of rows, larger for rows that are more normal; NaN is refused."""
    if callable(score):
        given = score(model, rows)
    else:
        name = score or ("score_samples" if hasattr(model, "score_samples") else _SECOND)
        given = getattr(model, name)(rows)
    scores = np.asarray(given, dtype=np.float64)
    n_rows = n_rows_of(rows)
    if scores.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"The scores of {n_rows} rows have shape {scores.shape}, expected ({n_rows},): one "
            "number for each row, larger for rows that are more normal. Take another score=."
        )
    scores = scores.ravel()
    if np.isnan(scores).any():
        raise ValueError(
            f"The detector gives NaN for {np.isnan(scores).sum()} of {len(scores)} rows, and rows "
            "without a score have no rank."
        )
    if len(scores) > 1 and scores.min() == scores.max():
        warn(
            "All rows have the same score, so which of them are rejected is arbitrary. Check the "
            "parameters of the detector, e.g. the width of its kernel.",
            ClusteringWarning,
        )
    return scores


_SECOND = "decision_function"


def lowest_rows(scores: Doubles, n_lowest: int, rng: np.random.RandomState) -> Flags:
    """Flags of the rows with the lowest scores, so many exactly; ties are broken at random."""
    flags = np.zeros(len(scores), dtype=bool)
    # By the order of the rows, a detector without any scores to speak of would seem stable.
    flags[np.lexsort((rng.random_sample(len(scores)), scores))[:n_lowest]] = True
    return flags
