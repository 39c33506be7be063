"""Detectors of any library: clones with seeds, their rows and their scores."""

from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import get_tags, indexable

from typicality._compat import n_rows_of, safe_split
from typicality._typing import Doubles, Places
from typicality.exceptions import ClusteringWarning, warn
from typicality.validation.repetitions import draw_seed

Flags = NDArray[np.bool_]
Score = str | Callable[[Any, Any], Any] | None

_FEWEST_ROWS = 4  # two in each half


def seeded_clone(estimator: Any, rng: np.random.RandomState, **parameters: Any) -> Any:
    """An unfitted copy; a `random_state` that is None, its own or of a part of it, gets a seed."""
    unseeded = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and name.split("__")[-1] == "random_state"
    ]
    seeds = {name: draw_seed(rng) for name in unseeded}
    return clone(estimator).set_params(**(seeds | parameters))


def rows_of(estimator: Any, X: Any, rows: Places, *, trained_on: Places) -> Any:
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


def check_estimator(estimator: Any, name: str) -> None:
    """An object, not a class, that can be fitted and cloned."""
    if isinstance(estimator, type):
        raise ValueError(
            f"{name} is the class {estimator.__name__}: pass an object, {estimator.__name__}()."
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(
            f"{name} must be a scikit-learn estimator, with fit and get_params; got {estimator!r}."
        )


def check_detector(detector: Any, score: Any) -> None:
    """An unfitted estimator that can score rows it was not fitted on."""
    check_estimator(detector, "detector")
    if callable(score):
        return
    if score is not None and not isinstance(score, str):
        raise ValueError(
            "score must be the name of a method of the detector, or a function of the fitted "
            f"detector and rows; got {score!r}."
        )
    names = ["score_samples", "decision_function"] if score is None else [score]
    if not any(hasattr(detector, name) for name in names):
        raise ValueError(
            f"{detector!r} has no {' and no '.join(names)} to score new rows with."
            f"{_remedy(detector)}"
        )


def _remedy(detector: Any) -> str:
    parameters = detector.get_params(deep=True)
    novelty = [n for n, v in parameters.items() if n.split("__")[-1] == "novelty" and v is False]
    if novelty:
        return f" Set {novelty[0]}=True: it scores new rows then."
    return " Take a detector that has, or pass score=, a function of the fitted detector and rows."


def check_rows_to_split(X: Any, estimator: Any) -> tuple[Any, int]:
    """Rows that can be taken by number, and how many; what they hold, the estimator judges."""
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
            f"X has shape {np.shape(X)}, and {estimator!r} takes a square matrix, with a row and a "
            "column for each sample. Pass that, or change its parameter (kernel=, metric=)."
        )
    if n_rows < _FEWEST_ROWS:
        raise ValueError(
            f"X has {n_rows} row(s) (n_samples={n_rows}), and halves of two rows need "
            f"{_FEWEST_ROWS}. Pass more rows."
        )
    return X, n_rows


def check_rates(rates: Any, name: str = "rates") -> tuple[float, ...]:
    """One share of rows to reject, or several."""
    given = tuple(rates) if isinstance(rates, Iterable) and not isinstance(rates, str) else (rates,)
    for rate in given:
        is_number = isinstance(rate, Real) and not isinstance(rate, bool)
        if not is_number or not 0 < float(rate) <= 0.5:
            raise ValueError(
                f"{name}: a share of rows to reject must be above 0 and at most 0.5; got {rate!r}."
            )
    if not given:
        raise ValueError(f"{name} is empty. Pass at least one share of rows to reject, e.g. 0.05.")
    return tuple(float(rate) for rate in given)
