"""Stability of outlier detection: do two halves of the rows agree on who is an outlier."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from typicality._arguments import check_choice, check_whole
from typicality._typing import Doubles
from typicality._words import counted, listed
from typicality.metrics import jaccard_score
from typicality.validation.detectors import (
    Score,
    check_detector,
    check_rates,
    check_rows_to_split,
    lowest_rows,
    rows_of,
    scores_of,
    seeded_clone,
)
from typicality.validation.repetitions import Progress, halves, repeat
from typicality.validation.results import RepeatedScores, words_of

TRANSFERS = ("threshold", "rank")


@dataclass(frozen=True, eq=False, repr=False)
class OutlierStability(RepeatedScores):
    """How well detectors fitted on two halves of the rows agree; see :func:`outlier_stability`.

    Parameters
    ----------
    estimator : str
        The detector in words.
    n_rows : int
        The number of rows that were split.
    scores : array of shape (n_repeats, n_rates)
        The Jaccard indices, from 0 to 1.
    rates : tuple of float
        The shares of rows rejected.
    transfer : str
        How outliers were transferred from one half to the other.
    """

    setting_name: ClassVar[str] = "rate"
    score_name: ClassVar[str] = "stability (Jaccard index)"

    rates: tuple[float, ...]
    transfer: str

    @property
    def settings(self) -> tuple[float, ...]:
        return self.rates

    @property
    def title(self) -> str:
        return (
            f"Stability of {self.estimator}: {counted(self.n_repeats, 'split')} of "
            f"{counted(self.n_rows, 'row')} in halves, transfer by {self.transfer}"
        )


class _Task(NamedTuple):
    """All that a repetition is told."""

    detector: Any
    X: Any
    n_rows: int
    rates: tuple[float, ...]
    rate_parameter: str | None
    transfer: str
    score: Score


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
    progress: bool | Progress = False,
) -> OutlierStability:
    r"""How much the outliers that a detector finds depend on the rows it was fitted on.

    The rows are split at random in two halves :math:`X_1` and :math:`X_2`, and a copy of the
    detector is fitted on each. Two sets of outliers of the second half are compared: :math:`z_2`,
    the m rows that the detector of :math:`X_2` ranks lowest, m being the rate times the number of
    its rows, rounded, and at least 1; and :math:`\phi(X_2)`, what the detector of :math:`X_1` says
    of the same rows, which it has not seen. Their agreement is the Jaccard index, 1 at best. That
    is repeated with fresh splits.

    Outliers are taken by rank, never by `predict` of the detector: so all detectors reject as many
    rows, and none is judged by a threshold that solver noise decides (as that of the one-class SVM
    is, on which its margin support vectors lie). Ties in rank are broken at random.

    The same `random_state` gives the same splits for every detector and setting, so scores of two
    results can be subtracted repetition by repetition. Results do not depend on `n_jobs`.

    It costs two fits a repetition for all rates together; with `rate_parameter`, for each.

    Implements :cite:`filippone2010`, table II. Differs from the paper: rejects as many rows as the
    rate says, instead of as many as a one-class SVM; ``transfer="rank"`` is ours.

    Parameters
    ----------
    detector : estimator
        Any detector with `fit` and with `score_samples` or `decision_function`, larger for rows
        that are more normal: of typicality, of scikit-learn (LocalOutlierFactor with
        ``novelty=True``), a density (KernelDensity), or a Pipeline that ends in one.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The rows; for detectors of square matrices (``kernel="precomputed"``) that matrix.
    rates : float or sequence of float, default=(0.01, 0.05, 0.1)
        The shares of rows to reject, above 0 and at most 0.5.
    rate_parameter : str, optional
        The parameter of the detector to set to each rate, e.g. "nu" of
        :class:`sklearn.svm.OneClassSVM`, where its scores depend on it.
    transfer : {"threshold", "rank"}, default="threshold"
        What the detector of :math:`X_1` rejects: "threshold", as in the paper, the rows that score
        no higher than its own m-th lowest row; "rank", its m lowest rows of :math:`X_2`. The
        latter leaves out how uncertain a threshold is, which for few rejected rows is most of it.
    score : str or callable, optional
        The name of the method that scores rows, or a function of the fitted detector and rows;
        larger is more normal. `score_samples`, else `decision_function`, when left out.
    n_repeats : int, default=100
        The number of splits.
    random_state : int, RandomState or None, default=None
        Seed of the splits, and of detectors whose own `random_state` is None.
    n_jobs : int or None, default=None
        How many repetitions run side by side; any joblib backend will do.
    progress : bool or callable, default=False
        True shows a bar on stderr; a callable is called as ``progress(done, total)``.

    Returns
    -------
    OutlierStability
        With `scores`, `mean`, `quartiles`, `standard_error`, `plot`, `to_pandas`.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import OneClusterPCM
    >>> from typicality.validation import outlier_stability
    >>> X = np.random.RandomState(0).normal(size=(200, 2))
    >>> result = outlier_stability(OneClusterPCM(sigma=2.0), X, n_repeats=10, random_state=0)
    >>> result.scores.shape
    (10, 3)
    """
    check_detector(detector, score)
    X, n_rows = check_rows_to_split(X, detector)
    rates = check_rates(rates)
    _check_parameter_name(detector, rate_parameter)
    check_choice(transfer, "transfer", TRANSFERS)
    n_repeats = check_whole(n_repeats, "n_repeats", least=1)
    task = _Task(detector, X, n_rows, rates, rate_parameter, transfer, score)
    scores = repeat(
        partial(_split_once, task),
        n_repeats,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    return OutlierStability(words_of(detector), n_rows, np.array(scores), rates, transfer)


class _Judgement(NamedTuple):
    """Scores of both halves by the detector of the first, and of the second by its own."""

    first_by_first: Doubles
    second_by_first: Doubles
    second_by_second: Doubles


def _split_once(task: _Task, seed: int) -> list[float]:
    """The agreement at each rate, for one split."""
    rng = check_random_state(seed)
    split = halves(task.n_rows, rng)
    detectors = [seeded_clone(task.detector, rng) for _ in split]
    if task.rate_parameter is None:
        judgement = _judge(task, split, detectors)
        return [_agreement(judgement, rate, task.transfer, rng) for rate in task.rates]
    agreements = []
    for rate in task.rates:
        for detector in detectors:
            detector.set_params(**{task.rate_parameter: rate})
        judgement = _judge(task, split, detectors)
        agreements.append(_agreement(judgement, rate, task.transfer, rng))
    return agreements


def _judge(task: _Task, split: Any, detectors: Any) -> _Judgement:
    (first, second), (one, two) = split, detectors
    rows_1 = rows_of(one, task.X, first, trained_on=first)
    rows_2 = rows_of(two, task.X, second, trained_on=second)
    unseen = rows_of(one, task.X, second, trained_on=first)
    one.fit(rows_1)
    two.fit(rows_2)
    return _Judgement(
        scores_of(one, rows_1, task.score),
        scores_of(one, unseen, task.score),
        scores_of(two, rows_2, task.score),
    )


def _agreement(
    judgement: _Judgement, rate: float, transfer: str, rng: np.random.RandomState
) -> float:
    """The Jaccard index of the outliers found in the second half, and of those transferred."""
    own, transferred, training = (
        judgement.second_by_second,
        judgement.second_by_first,
        judgement.first_by_first,
    )
    found = lowest_rows(own, n_rejected(rate, len(own)), rng)
    if transfer == "rank":
        said = lowest_rows(transferred, n_rejected(rate, len(own)), rng)
    else:
        nth = n_rejected(rate, len(training)) - 1
        said = transferred <= np.partition(training, nth)[nth]
    return jaccard_score(found, said)


def n_rejected(rate: float, n_rows: int) -> int:
    """How many rows are rejected at a rate: at least one."""
    return max(1, round(rate * n_rows))


def _check_parameter_name(estimator: Any, name: str | None) -> None:
    """None, or a parameter that the estimator has."""
    known = sorted(estimator.get_params(deep=True))
    if name is None or name in known:
        return
    near = get_close_matches(str(name), known, n=1, cutoff=0.5)
    near += [other for other in known if other.split("__")[-1] == name]
    hint = f"Did you mean {near[-1]!r}?" if near else f"It has {listed(known)}."
    raise ValueError(f"rate_parameter: {estimator!r} has no parameter {name!r}. {hint}")
