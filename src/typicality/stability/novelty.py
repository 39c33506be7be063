"""Accuracy of outlier detection where the truth is known: trained on normal rows alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_outlier_detector
from sklearn.utils import check_random_state

from typicality._arguments import check_same_length
from typicality._words import counted
from typicality.metrics import jaccard_score
from typicality.metrics.labels import check_flags
from typicality.stability import resample
from typicality.stability.outliers import Score, check_detector, check_rates, scores_of
from typicality.stability.results import RepeatedScores, words_of


@dataclass(frozen=True, eq=False, repr=False)
class NoveltyAccuracy(RepeatedScores):
    """The accuracy of outlier detection; the result of :func:`novelty_accuracy`.

    Parameters
    ----------
    estimator : str
        The detector, as text.
    n_rows : int
        The number of rows, with outliers.
    scores : array of shape (n_repeats, n_sizes)
        The Jaccard indices, from 0 to 1.
    sizes : tuple of int
        The numbers of training rows.
    n_outliers : int
        The number of outliers among the rows.
    rejection : str
        How rows were rejected, as text.
    """

    setting_name: ClassVar[str] = "training rows"
    score_name: ClassVar[str] = "accuracy (Jaccard index)"

    sizes: tuple[int, ...]
    n_outliers: int
    rejection: str

    @property
    def settings(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def title(self) -> str:
        return (
            f"Accuracy of {self.estimator}: {counted(self.n_outliers, 'outlier')} in "
            f"{counted(self.n_rows, 'row')}, rejection by {self.rejection}, "
            f"{counted(self.n_repeats, 'repetition')}"
        )


def novelty_accuracy(
    detector: Any,
    X: Any,
    is_outlier: ArrayLike,
    *,
    sizes: int | Sequence[int],
    rate: float | None = None,
    matched_to: Any = None,
    score: Score = None,
    n_repeats: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | resample.Progress = False,
) -> NoveltyAccuracy:
    """The accuracy of an outlier detector that is trained on normal rows only.

    In each repetition, the detector is fitted on a random sample of the normal rows. Then it
    accepts or rejects all other rows. The accuracy is the Jaccard index of the rejected rows and
    the true outliers; 1 is perfect.

    With `rate`, a row is rejected if its score is at most a threshold. The threshold is the
    quantile of the training scores at this rate, with linear interpolation. With `matched_to`, the
    rate of another detector is used. Without both, the detector decides by its own `predict`.

    The same `random_state` gives the same training rows for every detector. A larger training
    sample contains the smaller ones.

    Implements :cite:`filippone2010`, section V-B, the accuracy of figure 5. To repeat this figure,
    use :class:`~typicality.OneClusterPCM` with ``score="predict_typicality"``, and a one-class SVM
    as `matched_to`.

    Parameters
    ----------
    detector : estimator
        A detector with `fit`, and with `score_samples` or `decision_function`; without `rate` and
        `matched_to`, also with `predict`.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The rows, normal rows and outliers.
    is_outlier : array-like of shape (n_samples,)
        The truth: True for outliers, or -1 for outliers and +1 for normal rows.
    sizes : int or sequence of int
        The numbers of training rows.
    rate : float, optional
        The fraction of training rows with a score of at most the threshold.
    matched_to : estimator, optional
        A detector that is fitted on the same training rows. The rate is the fraction of these rows
        that its `predict` flags.
    score : str or callable, optional
        As in :func:`outlier_stability`.
    n_repeats : int, default=100
        The number of draws.
    random_state : int, RandomState or None, default=None
        The seed of the draws, and of estimators whose own `random_state` is None. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        The number of repetitions that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.
    progress : bool or callable, default=False
        True shows a progress bar on stderr. A function is called as ``progress(done, total,
        words)``.

    Returns
    -------
    NoveltyAccuracy
        The result, with `scores`, `mean`, `quartiles`, `standard_error`, `plot` and `to_pandas`.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import OneClusterPCM
    >>> from typicality.stability import novelty_accuracy
    >>> X = np.random.RandomState(0).normal(size=(120, 2))
    >>> X[100:] += 10.0
    >>> detector = OneClusterPCM(sigma=2.0)
    >>> truth = np.arange(120) >= 100
    >>> result = novelty_accuracy(
    ...     detector, X, truth, sizes=[20, 50], rate=0.05, n_repeats=10, random_state=0
    ... )
    >>> result.scores.shape
    (10, 2)
    """
    _check_judge(detector, rate, matched_to)
    check_detector(detector, score)
    X, n_rows = resample.check_rows_to_split(X, detector)
    truth = check_flags(is_outlier, "is_outlier")
    check_same_length(n_rows, "X", len(truth), "is_outlier")
    if not truth.any():
        raise ValueError("is_outlier is False for all rows. At least one row must be an outlier.")
    n_normal = int(np.count_nonzero(~truth))
    sizes = resample.one_or_several(sizes)
    for size in sizes:
        whole = isinstance(size, Integral) and not isinstance(size, bool)
        if not whole or not 2 <= size < n_normal:
            raise ValueError(
                f"sizes must be whole numbers from 2 to {n_normal - 1}: there are {n_normal} "
                f"normal rows, and at least one must be left for scoring; got {size!r}."
            )
    if not sizes:
        raise ValueError("sizes is empty. Pass at least one number of training rows.")
    sizes = tuple(map(int, sizes))
    work = partial(_train_once, detector, X, truth, sizes, rate, matched_to, score)
    scores = resample.repeat(
        work, n_repeats, random_state=random_state, n_jobs=n_jobs, progress=progress
    )
    rejection = "predict" if rate is None else f"a rate of {rate:g}"
    if matched_to is not None:
        rejection = f"the rate of {words_of(matched_to)}"
    return NoveltyAccuracy(
        words_of(detector), n_rows, np.array(scores), sizes, n_rows - n_normal, rejection
    )


def _train_once(
    detector: Any,
    X: Any,
    is_outlier: NDArray[np.bool_],
    sizes: tuple[int, ...],
    rate: float | None,
    matched_to: Any,
    score: Score,
    seed: int,
) -> list[float]:
    """The accuracy at each size, for one order of the normal rows."""
    rng = check_random_state(seed)
    order = rng.permutation(np.flatnonzero(~is_outlier))
    accuracies = []
    for size in sizes:
        training = np.sort(order[:size])
        others = np.delete(np.arange(len(is_outlier)), training)
        model = resample.seeded_clone(detector, rng)
        rows = resample.rows_of(model, X, training, trained_on=training)
        unseen = resample.rows_of(model, X, others, trained_on=training)
        model.fit(rows)
        if matched_to is not None:
            other = resample.seeded_clone(matched_to, rng)
            other_rows = resample.rows_of(other, X, training, trained_on=training)
            rate = float(np.mean(other.fit(other_rows).predict(other_rows) == -1))
        if rate is None:
            rejected = model.predict(unseen) == -1
        else:
            scores = scores_of(model, rows, score)
            # Logarithms of densities may be -inf, and there is no way half from there.
            method: Any = "linear" if np.isfinite(scores).all() else "lower"
            threshold = np.quantile(scores, rate, method=method)
            rejected = scores_of(model, unseen, score) <= threshold
        accuracies.append(jaccard_score(rejected, is_outlier[others]))
    return accuracies


def _check_judge(detector: Any, rate: Any, matched_to: Any) -> None:
    """A rate, or a detector to take it from, or a detector that decides itself; not two of them."""
    if rate is not None and matched_to is not None:
        raise ValueError(
            f"rate={rate!r} and matched_to={matched_to!r} both set how many rows to reject. "
            "Give only one of them."
        )
    if rate is not None:
        check_rates([rate], name="rate")
        return
    judge, name = (detector, "detector") if matched_to is None else (matched_to, "matched_to")
    resample.check_estimator(judge, name)
    if not (hasattr(judge, "predict") and is_outlier_detector(judge)):
        raise ValueError(f"{judge!r} has no predict to flag outliers with. Pass rate=.")
