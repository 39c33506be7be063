"""Stability of outlier detection: do two halves of the rows agree on who is an outlier."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from typicality._arguments import check_choice
from typicality._compat import n_rows_of
from typicality._typing import Doubles
from typicality.exceptions import ClusteringWarning, warn
from typicality.metrics import jaccard_score
from typicality.stability import resample
from typicality.stability.results import standard_error, text_table

Score = str | Callable[[Any, Any], Any] | None

_TRANSFERS = ("threshold", "rank")


@dataclass(frozen=True, eq=False, repr=False)
class OutlierStability:
    """How well detectors fitted on two halves of the rows agree; see :func:`outlier_stability`.

    Parameters
    ----------
    rates : tuple of float
        The fractions of rejected rows.
    scores : array of shape (n_repeats, n_rates)
        The Jaccard indices, from 0 to 1.
    """

    rates: tuple[float, ...]
    scores: Doubles

    @property
    def mean(self) -> Doubles:
        """The mean score at each rate."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> Doubles:
        """The standard error of each mean; NaN for a single repetition.

        It includes only the random choice of halves. Other rows from the same source can change the
        mean more.
        """
        return np.asarray(standard_error(self.scores))

    def to_pandas(self) -> Any:
        """The mean and its standard error at each rate, as a pandas DataFrame."""
        import pandas as pd

        columns = {"mean": self.mean, "standard error": self.standard_error}
        return pd.DataFrame(columns, index=pd.Index(self.rates, name="rate"))

    def __repr__(self) -> str:
        numbers = zip(self.rates, self.mean, self.standard_error, strict=True)
        lines = [(f"{rate}", f"{mean:.3f}", f"{error:.3f}") for rate, mean, error in numbers]
        return text_table([("rate", "mean", "standard error"), *lines])


def outlier_stability(
    detector: Any,
    X: Any,
    *,
    rates: float | Sequence[float] = (0.01, 0.05, 0.1),
    rate_parameter: str | None = None,
    transfer: str = "threshold",
    score: Score = None,
    n_repeats: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OutlierStability:
    r"""How stable outliers are between random halves of the rows.

    The rows are split into two random halves :math:`X_1` and :math:`X_2`, and a copy of the
    detector is fitted on each. Then two sets of outliers in :math:`X_2` are compared. The first set
    are the m rows with the lowest scores by the detector of :math:`X_2`, where m is the rate times
    the number of rows in :math:`X_2`, at least 1. The second set are the rows of :math:`X_2` that
    the detector of :math:`X_1` rejects. The agreement of the two sets is their Jaccard index; 1 is
    perfect. This is repeated with new splits.

    Outliers are the rows with the lowest scores; `predict` of the detector is not used. So all
    detectors reject the same number of rows. Ties are broken at random.

    The same `random_state` gives the same splits for every detector and setting. So the scores of
    two results can be subtracted, repetition by repetition.

    A repetition costs two fits for all rates together; with `rate_parameter`, two fits per rate.

    Implements :cite:`filippone2010`, table II. Differs from the paper: the rate determines the
    number of rejected rows, not a one-class SVM. ``transfer="rank"`` is original to typicality.

    Parameters
    ----------
    detector : estimator
        A detector with `fit`, and with `score_samples` or `decision_function` (larger for more
        typical rows). Examples are detectors of typicality and scikit-learn (LocalOutlierFactor
        with ``novelty=True``), densities (KernelDensity), and pipelines that end in one.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The rows. With ``kernel="precomputed"``, the square matrix.
    rates : float or sequence of float, default=(0.01, 0.05, 0.1)
        The fractions of rows to reject, above 0 and at most 0.5.
    rate_parameter : str, optional
        A parameter of the detector that is set to each rate, for example "nu" of
        :class:`sklearn.svm.OneClassSVM`. Use it if the scores depend on this parameter.
    transfer : {"threshold", "rank"}, default="threshold"
        Which rows of :math:`X_2` the detector of :math:`X_1` rejects. "threshold", as in the paper:
        the rows with a score of at most the m-th lowest score in :math:`X_1`. "rank": the m rows of
        :math:`X_2` with the lowest scores. "rank" does not include the uncertainty of the
        threshold, which is large if few rows are rejected.
    score : str or callable, optional
        The name of the method that scores rows, or a function of the fitted detector and rows;
        larger is more typical. By default `score_samples`, or `decision_function` if the detector
        has no `score_samples`.
    n_repeats : int, default=100
        The number of splits.
    random_state : int, RandomState or None, default=None
        The seed of the splits, and of estimators whose own `random_state` is None. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        The number of repetitions that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.

    Returns
    -------
    OutlierStability
        The result, with `scores`, `mean`, `standard_error` and `to_pandas`.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import OneClusterPCM
    >>> from typicality.stability import outlier_stability
    >>> X = np.random.RandomState(0).normal(size=(200, 2))
    >>> result = outlier_stability(OneClusterPCM(sigma=2.0), X, n_repeats=10, random_state=0)
    >>> result.scores.shape
    (10, 3)
    """
    check_detector(detector, score)
    X = resample.check_rows_to_split(X, detector)
    rates = _check_rates(rates)
    if rate_parameter is not None:
        clone(detector).set_params(**{rate_parameter: rates[0]})  # refuses unknown names
    check_choice(transfer, "transfer", _TRANSFERS)
    work = partial(_split_once, detector, X, rates, rate_parameter, transfer, score)
    scores = resample.repeat(work, n_repeats, random_state=random_state, n_jobs=n_jobs)
    return OutlierStability(rates, np.array(scores))


def _split_once(
    detector: Any,
    X: Any,
    rates: tuple[float, ...],
    rate_parameter: str | None,
    transfer: str,
    score: Score,
    seed: int,
) -> list[float]:
    """The agreement at each rate, for one split."""
    rng = check_random_state(seed)
    one, two, rows_1, rows_2, unseen = resample.halves(detector, X, rng)
    agreements = []
    for number, rate in enumerate(rates):
        if rate_parameter is not None:
            one.set_params(**{rate_parameter: rate})
            two.set_params(**{rate_parameter: rate})
        if rate_parameter is not None or number == 0:
            one.fit(rows_1)
            two.fit(rows_2)
            training, transferred = scores_of(one, rows_1, score), scores_of(one, unseen, score)
            own = scores_of(two, rows_2, score)
        found = _lowest_rows(own, _n_rejected(rate, len(own)), rng)
        if transfer == "rank":
            said = _lowest_rows(transferred, _n_rejected(rate, len(own)), rng)
        else:
            nth = _n_rejected(rate, len(training)) - 1
            said = transferred <= np.partition(training, nth)[nth]
        agreements.append(jaccard_score(found, said))
    return agreements


def _n_rejected(rate: float, n_rows: int) -> int:
    """How many rows are rejected at a rate: at least one."""
    return max(1, round(rate * n_rows))


def scores_of(model: Any, rows: Any, score: Score) -> Doubles:
    """The scores of rows that are to be ranked, with a warning where all are equal."""
    scores = plain_scores(model, rows, score)
    if len(scores) > 1 and scores.min() == scores.max():
        warn(
            "All rows have the same score, so which of them are rejected is arbitrary.",
            "Check the parameters of the detector, e.g. the width of its kernel.",
            ClusteringWarning,
            "equal scores",
            score=float(scores[0]),
        )
    return scores


def plain_scores(model: Any, rows: Any, score: Score) -> Doubles:
    """The scores of rows, larger for rows that are more normal; NaN is refused."""
    if callable(score):
        given = score(model, rows)
    else:
        name = score or (
            "score_samples" if hasattr(model, "score_samples") else "decision_function"
        )
        given = getattr(model, name)(rows)
    scores = np.asarray(given, dtype=np.float64)
    n_rows = n_rows_of(rows)
    if scores.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"The scores of {n_rows} rows have shape {scores.shape}, expected ({n_rows},): "
            "one number for each row, larger for more normal rows. Use another score=."
        )
    scores = scores.ravel()
    if np.isnan(scores).any():
        raise ValueError(
            f"The detector gives NaN as the score of {np.isnan(scores).sum()} of "
            f"{len(scores)} rows, and such rows cannot be ranked."
        )
    return scores


def _lowest_rows(scores: Doubles, n_lowest: int, rng: np.random.RandomState) -> NDArray[np.bool_]:
    """Flags of the rows with the lowest scores, so many exactly; ties are broken at random."""
    flags = np.zeros(len(scores), dtype=bool)
    # By the order of the rows, a detector without any scores to speak of would seem stable.
    flags[np.lexsort((rng.random_sample(len(scores)), scores))[:n_lowest]] = True
    return flags


def check_detector(detector: Any, score: Any) -> None:
    """An unfitted estimator that can score rows it was not fitted on."""
    resample.check_estimator(detector, "detector")
    if callable(score):
        return
    if score is not None and not isinstance(score, str):
        raise ValueError(
            "score must be the name of a method of the detector, or a function of the fitted "
            f"detector and rows; got {score!r}."
        )
    names = ["score_samples", "decision_function"] if score is None else [score]
    if not any(hasattr(detector, name) for name in names):
        remedy = (
            "Use a detector that has one, or pass score=, a function of the fitted "
            "detector and rows."
        )
        for name, value in detector.get_params(deep=True).items():
            if name.split("__")[-1] == "novelty" and value is False:
                remedy = f"Set {name}=True, so that it can score new rows."
        raise ValueError(
            f"{detector!r} has no {' and no '.join(names)} to score new rows with. {remedy}"
        )


def _check_rates(rates: Any) -> tuple[float, ...]:
    """One share of rows to reject, or several."""
    given = tuple(rates) if isinstance(rates, Iterable) and not isinstance(rates, str) else (rates,)
    for rate in given:
        if not is_share(rate):
            raise ValueError(
                "rates: every fraction of rows to reject must be above 0 and at most 0.5; got "
                f"{rate!r}."
            )
    if not given:
        raise ValueError("rates is empty. Pass at least one fraction of rows to reject, e.g. 0.05.")
    return tuple(map(float, given))


def is_share(rate: Any) -> bool:
    """Whether it is a number above 0 and at most 0.5."""
    return not isinstance(rate, bool) and isinstance(rate, Real) and 0 < float(rate) <= 0.5
