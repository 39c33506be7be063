"""All methods on the same rows, side by side."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from typicality._arguments import check_whole
from typicality._typing import Doubles, Places
from typicality.comparison.comparison import Comparison
from typicality.comparison.fitting import FirstFit, Task, first_fit, refit, result_of
from typicality.comparison.methods import chosen_methods
from typicality.comparison.results import ClustererResult, DetectorResult
from typicality.comparison.stability import draw_subsamples
from typicality.geometry import Features
from typicality.geometry.checks import (
    check_distinct_rows,
    check_magnitudes,
    check_rows,
    check_varying_rows,
)

Progress = Callable[[int, int, str], None]

_NOMINAL_RATE = 0.05
_FEWEST_ROWS = 10
_SHARE = 0.8
_LARGEST_SEED = 2**31
_SEEDS = 2**32


def compare_methods(
    X: ArrayLike,
    *,
    methods: Sequence[Any] | None = None,
    n_clusters: int | str = "auto",
    contamination: float | str = "auto",
    n_repeats: int = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
    max_rows: int = 10_000,
    progress: Progress | None = None,
) -> Comparison:
    """Our methods beside k-means, Gaussian mixtures, HDBSCAN and others, on your own rows.

    Every method is fitted with the defaults of its library. Measured are how much every two methods
    agree, how much refits of one method on subsamples agree, and the time of a fit; for detectors
    of outliers also the share of unseen rows they flag. No method is right because others agree
    with it: the words in `findings` say what was measured, and no more.

    - *Number of clusters.* Where a method must be told and `n_clusters` does not say, it is the one
      of 2 to 20 with the best silhouette (fcm, k-means) or of 1 to 20 with the smallest
      BIC (Gaussian mixture), chosen once, on at most 5,000 rows, and kept in refits. k-means and
      fcm therefore always divide the rows.
    - *Agreement.* Of clusterers the adjusted Rand index, where rows that belong nowhere count as a
      cluster of their own, and again on those rows alone that both put in a cluster; of detectors
      Spearman's correlation of the scores and the Jaccard index of the rows flagged.
    - *Stability.* Each method is fitted again on `n_repeats` subsamples of 80 % of the rows, and
      every two of these fits are compared on the rows they share: adjusted Rand index, or Jaccard
      index of the rows flagged. The rows that are not in a subsample are those unseen ones.
    - *Time.* Seconds to fit and to label or flag all rows that are compared. A fit before it is not
      counted: it may compile. The time to choose a number of clusters is given apart.

    Original to typicality.

    Parameters
    ----------
    X : array-like or dataframe of shape (n_samples, n_features)
        The rows, at least ten. They are not scaled: scale features that have different units.
    methods : sequence of str and estimators, optional
        The methods, all by default: "auto", "alpha-cut", "sequential", "fcm",
        "k-means", "gaussian mixture", "hdbscan" make clusters; "one-cluster", "one-class svm",
        "isolation forest", "local outlier factor" flag outliers. Or estimators of your own, which
        keep their parameters, but for a `random_state` of None.
    n_clusters : int or "auto", default="auto"
        The number of clusters for the methods that must be told.
    contamination : float or "auto", default="auto"
        The nominal rate of outliers for all detectors; "auto" is 0.05. It is not estimated.
    n_repeats : int, default=5
        The number of subsamples, 2 or more.
    random_state : int, RandomState or None, default=None
        The seed. The same seed gives the same numbers, seconds apart, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        The number of refits that run side by side, in processes of their own; -1 for all cores.
    max_rows : int, default=10_000
        Of more rows a random sample of this size is compared. One-class SVM, whose cost grows with
        the square, is fitted on 10,000 of them at the most.
    progress : callable, optional
        Called as ``progress(done, total, words)`` before each step.

    Returns
    -------
    Comparison
        A method that fails has the reason in its row, and the others go on.

    See Also
    --------
    shared_rows_agreement : The measure of stability, for any results.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from typicality.comparison import compare_methods
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> found = compare_methods(X, methods=["sequential", "k-means"], random_state=0)
    >>> found.label_agreement.between("sequential", "k-means")
    1.0
    """
    chosen = chosen_methods(methods)
    rate = _check_rate(contamination)
    n_repeats = check_whole(n_repeats, "n_repeats", least=2)
    max_rows = check_whole(max_rows, "max_rows", least=_FEWEST_ROWS)
    every_row = _check_rows(X)
    seed = _seed(random_state)
    rows = _sampled_rows(len(every_row), max_rows, seed)
    compared = every_row[rows]
    number = _check_n_clusters(n_clusters, compared)
    steps = _Steps(progress, len(chosen) * (1 + n_repeats))

    first = []
    for method in chosen:
        steps.next(f"Fitting {method.name}")
        told = number if method.number_parameter is not None else None
        first.append(first_fit(Task(method, told, rate, seed), compared))
    drawn = draw_subsamples(len(compared), n_repeats, share=_SHARE, random_state=seed)
    results = _with_refits(first, compared, drawn, n_jobs=n_jobs, steps=steps)
    clusterers = tuple(r for r in results if isinstance(r, ClustererResult))
    detectors = tuple(r for r in results if isinstance(r, DetectorResult))
    return Comparison(
        n_rows=len(every_row),
        n_features=every_row.shape[1],
        rows=rows,
        seed=seed,
        rate=rate,
        n_repeats=n_repeats,
        clusterers=clusterers,
        detectors=detectors,
    )


def _seed(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        check_random_state(random_state)
        return int(random_state)
    return int(check_random_state(random_state).randint(_LARGEST_SEED))


def _sampled_rows(n_rows: int, most: int, seed: int) -> Places:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(seed).permutation(n_rows)[:most])


class _Steps:
    """Tells the caller which step begins."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def next(self, words: str) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total, words)
        self._done += 1


def _with_refits(
    first: Sequence[FirstFit],
    X: Doubles,
    drawn: Sequence[Places],
    *,
    n_jobs: int | None,
    steps: _Steps,
) -> list[ClustererResult | DetectorResult]:
    """Each method with its refits, which run side by side."""
    worked = [fit for fit in first if fit.fit.failure is None]
    outcomes = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(refit)(fit.task, X, rows, seed=(fit.task.seed + number) % _SEEDS)
        for fit in worked
        for number, rows in enumerate(drawn, 1)
    )
    results = []
    for fit in first:
        refits = []
        if fit.fit.failure is None:
            for number in range(len(drawn)):
                steps.next(f"Refitting {fit.task.method.name}, {number + 1} of {len(drawn)}")
                refits.append(next(outcomes))
        results.append(result_of(fit, drawn[: len(refits)], refits))
    return results


def _check_rate(contamination: Any) -> float:
    if isinstance(contamination, str) and contamination == "auto":
        return _NOMINAL_RATE
    is_number = isinstance(contamination, Real) and not isinstance(contamination, bool)
    if not is_number or not 0 < float(contamination) <= 0.5:
        raise ValueError(
            f"contamination must be 'auto' or a share above 0 and at most 0.5; got "
            f"{contamination!r}."
        )
    return float(contamination)


def _check_rows(X: Any) -> Doubles:
    """Rows of numbers that differ, not too much, and enough of them for refits on subsamples."""
    rows: Doubles = check_rows(BaseEstimator(), X, training=True, at_least=0).astype(
        np.float64, copy=False
    )
    if len(rows) < _FEWEST_ROWS:
        raise ValueError(
            f"X has {len(rows)} row(s), and a comparison needs at least {_FEWEST_ROWS}: it fits "
            "each method again on subsamples. Pass more rows."
        )
    check_varying_rows(rows, None)
    # HDBSCAN of scikit-learn never ends where squared distances overflow.
    check_magnitudes(Features.of(rows), rows.dtype)
    return rows


def _check_n_clusters(n_clusters: Any, rows: Doubles) -> int | None:
    """'auto', which is None here, or a number of clusters that the rows can have."""
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return None
    is_whole = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
    if not is_whole or n_clusters < 1:
        raise ValueError(
            f"n_clusters must be 'auto' or a whole number, 1 or more; got {n_clusters!r}."
        )
    check_distinct_rows(rows, None, int(n_clusters))
    return int(n_clusters)
