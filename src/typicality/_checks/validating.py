"""What validation by splitting the rows is given."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_outlier_detector
from sklearn.utils import get_tags, indexable

from typicality._checks.partitions import check_flags, check_same_length
from typicality._compat import n_rows_of
from typicality._words import listed

FEWEST_ROWS = 4  # two in each half


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
    if n_rows < FEWEST_ROWS:
        raise ValueError(
            f"X has {n_rows} row(s) (n_samples={n_rows}), and halves of two rows need "
            f"{FEWEST_ROWS}. Pass more rows."
        )
    return X, n_rows


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


def check_estimator(estimator: Any, name: str) -> None:
    if isinstance(estimator, type):
        raise ValueError(
            f"{name} is the class {estimator.__name__}: pass an object, {estimator.__name__}()."
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(
            f"{name} must be a scikit-learn estimator, with fit and get_params; got {estimator!r}."
        )


def _remedy(detector: Any) -> str:
    parameters = detector.get_params(deep=True)
    novelty = [n for n, v in parameters.items() if n.split("__")[-1] == "novelty" and v is False]
    if novelty:
        return f" Set {novelty[0]}=True: it scores new rows then."
    return " Take a detector that has, or pass score=, a function of the fitted detector and rows."


def check_judge(detector: Any, rate: Any, matched_to: Any) -> None:
    """A rate, or a detector to take it from, or a detector that decides itself; not two of them."""
    if rate is not None and matched_to is not None:
        raise ValueError(
            f"rate={rate!r} and matched_to={matched_to!r} both say how many rows to reject. Give "
            "one of them."
        )
    if rate is not None:
        check_rates(rate, name="rate")
        return
    judge, name = (detector, "detector") if matched_to is None else (matched_to, "matched_to")
    check_estimator(judge, name)
    if not (hasattr(judge, "predict") and is_outlier_detector(judge)):
        raise ValueError(
            f"{judge!r} has no predict that says which rows to reject (-1). Pass rate=."
        )


def check_parameter_name(estimator: Any, name: str | None) -> None:
    """None, or a parameter that the estimator has."""
    known = sorted(estimator.get_params(deep=True))
    if name is None or name in known:
        return
    near = get_close_matches(str(name), known, n=1, cutoff=0.5)
    near += [other for other in known if other.split("__")[-1] == name]
    hint = f"Did you mean {near[-1]!r}?" if near else f"It has {listed(known)}."
    raise ValueError(f"rate_parameter: {estimator!r} has no parameter {name!r}. {hint}")


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


def check_truth(is_outlier: Any, n_rows: int) -> NDArray[np.bool_]:
    """A flag for each row, and one outlier at least."""
    truth = check_flags(is_outlier, "is_outlier")
    check_same_length(n_rows, "X", len(truth), "is_outlier")
    if not truth.any():
        raise ValueError("is_outlier is False for all rows: there is no outlier to be found.")
    return truth


def check_sizes(sizes: Any, n_normal: int) -> tuple[int, ...]:
    """One number of training rows or several, fewer than there are normal rows."""
    given = tuple(sizes) if isinstance(sizes, Iterable) and not isinstance(sizes, str) else (sizes,)
    for size in given:
        whole = isinstance(size, Integral) and not isinstance(size, bool)
        if not whole or not 2 <= size < n_normal:
            raise ValueError(
                f"sizes must be whole numbers from 2 to {n_normal - 1}: there are {n_normal} "
                f"normal rows, and one at least must be left to judge; got {size!r}."
            )
    if not given:
        raise ValueError("sizes is empty. Pass at least one number of training rows.")
    return tuple(int(size) for size in given)
