"""Our methods next to others on the same rows: agreement, reproducibility, time."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

from typicality._arguments import check_whole
from typicality._cached import cached_property
from typicality._typing import Doubles, Places
from typicality.geometry.checks import check_distinct_rows
from typicality.metrics import jaccard_score
from typicality.stability import resample, wording
from typicality.stability.agreement import (
    AgreementMatrix,
    agreement_matrix,
    placed_rows_agreement,
    rank_agreement,
)
from typicality.stability.methods import (
    FIT_ERRORS,
    ClustererResult,
    DetectorResult,
    Result,
    chosen_methods,
    first_fit,
    refit,
    with_refits,
)
from typicality.stability.outliers import is_share
from typicality.stability.results import text_table

_NOMINAL_RATE = 0.05
_FEWEST_ROWS = 10
_SHARE = 0.8
_SEEDS = 2**32


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of :func:`compare_methods`. Print it for tables and findings.

    Parameters
    ----------
    n_rows, n_features : int
        The size of the data.
    rows : array of int
        The numbers of the compared rows: all rows, or a sample.
    seed : int
        The seed, even if none was given.
    rate : float
        The nominal fraction of outliers.
    n_repeats : int
        The number of refits of each method.
    clusterers : tuple of ClustererResult
        The results of clusterers.
    detectors : tuple of DetectorResult
        The results of outlier detectors.
    """

    n_rows: int
    n_features: int
    rows: Places
    seed: int
    rate: float
    n_repeats: int
    clusterers: tuple[ClustererResult, ...]
    detectors: tuple[DetectorResult, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        """All methods, the clusterers first."""
        return (*self.clusterers, *self.detectors)

    @cached_property
    def labels(self) -> dict[str, NDArray[np.int64]]:
        """The labels of the compared rows, by method, without failed methods."""
        return {r.name: r.labels for r in self.clusterers if r.labels is not None}

    @cached_property
    def flagged(self) -> dict[str, NDArray[np.bool_]]:
        """Which of the compared rows are outliers, by method."""
        return {r.name: r.flagged for r in self.detectors if r.flagged is not None}

    @cached_property
    def scores(self) -> dict[str, Doubles]:
        """The scores of the compared rows, by method; larger is more typical."""
        return {r.name: r.scores for r in self.detectors if r.scores is not None}

    @cached_property
    def label_agreement(self) -> AgreementMatrix:
        """The adjusted Rand index of all pairs of clusterers; -1 is treated as a cluster."""
        return agreement_matrix(
            self.labels,
            agree=adjusted_rand_score,
            measure="adjusted Rand index, with unassigned rows as a cluster of their own",
        )

    @cached_property
    def placed_agreement(self) -> AgreementMatrix:
        """The adjusted Rand index on the rows that both clusterers put in a cluster."""
        return agreement_matrix(
            self.labels,
            agree=placed_rows_agreement,
            measure="adjusted Rand index on the rows that both methods assign to a cluster",
        )

    @cached_property
    def rank_agreement(self) -> AgreementMatrix:
        """Spearman's correlation of the scores of all pairs of detectors."""
        return agreement_matrix(
            self.scores, agree=rank_agreement, measure="Spearman's rank correlation of the scores"
        )

    @cached_property
    def flag_agreement(self) -> AgreementMatrix:
        """The Jaccard index of the flagged rows of all pairs of detectors."""
        return agreement_matrix(
            self.flagged, agree=jaccard_score, measure="Jaccard index of the rows flagged"
        )

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """The findings, as sentences."""
        return (
            *wording.findings_on_clusters(self.clusterers, self.placed_agreement),
            *wording.findings_on_outliers(self.detectors, self.rank_agreement),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was run on which data, as sentences."""
        return wording.notes_on_run(self)

    def to_pandas(self) -> Any:
        """One row per method, as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame([result.to_dict() for result in self.results])

    def to_dict(self) -> dict[str, Any]:
        """Everything except labels, flags and scores, as a dictionary for JSON."""
        matrices = ("label_agreement", "placed_agreement", "rank_agreement", "flag_agreement")
        return {
            "n_rows": self.n_rows,
            "n_compared": len(self.rows),
            "n_features": self.n_features,
            "seed": self.seed,
            "rate": self.rate,
            "n_repeats": self.n_repeats,
            "clusterers": [result.to_dict() for result in self.clusterers],
            "detectors": [result.to_dict() for result in self.detectors],
            **{name: getattr(self, name).to_dict() for name in matrices},
            "findings": list(self.findings),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        size = f"Comparison of {len(self.rows):,} rows, {self.n_features} features"
        tables = []
        if self.clusterers:
            tables.append(text_table(wording.clusterer_table(self.clusterers), left=0))
        if self.detectors:
            tables.append(text_table(wording.detector_table(self.detectors), left=0))
        sentences = "\n".join(f"- {sentence}" for sentence in self.findings)
        return "\n\n".join([size, *tables, sentences])


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
    progress: bool | resample.Progress = False,
) -> Comparison:
    """Compare methods of typicality with k-means, Gaussian mixtures, HDBSCAN and others.

    Every method is fitted with the default parameters of its library. Three things are measured:
    how much two methods agree, how much refits of one method on subsamples agree, and the time of a
    fit. For outlier detectors, the fraction of unseen rows that they flag is also measured.
    Agreement with other methods does not prove that a method is right.

    - *Number of clusters.* Some methods need the number of clusters. If `n_clusters` is "auto", fcm
      and k-means use the number from 2 to 20 with the best silhouette, so they always split the
      rows. A Gaussian mixture uses the number from 1 to 20 with the smallest BIC. The number is
      chosen once, on at most 5,000 rows, and kept in refits.
    - *Agreement.* For clusterers, the adjusted Rand index, with all unassigned rows as one more
      cluster; and the same index on the rows that both methods put in a cluster. For detectors,
      Spearman's correlation of the scores, and the Jaccard index of the flagged rows.
    - *Reproducibility.* Each method is fitted again on `n_repeats` subsamples of 80 % of the rows.
      All pairs of these fits are compared on the rows that they share, by the adjusted Rand index
      or the Jaccard index. The rows outside a subsample are the unseen rows.
    - *Time.* The seconds to fit, and to label or flag all compared rows. A first fit, which may
      compile code, is not included. The time to choose a number of clusters is given separately.

    Original to typicality.

    Parameters
    ----------
    X : array-like or dataframe of shape (n_samples, n_features)
        The rows, at least ten. They are not scaled, so scale features with different units first.
    methods : sequence of str and estimators, optional
        The methods. By default, all: the clusterers "auto", "alpha-cut", "sequential", "fcm",
        "k-means", "gaussian mixture" and "hdbscan", and the outlier detectors "one-cluster",
        "one-class svm", "isolation forest" and "local outlier factor". Estimators of your own keep
        their parameters, but a `random_state` of None is replaced by a seed.
    n_clusters : int or "auto", default="auto"
        The number of clusters for the methods that need it.
    contamination : float or "auto", default="auto"
        The nominal fraction of outliers for all detectors. "auto" is 0.05; it is not estimated.
    n_repeats : int, default=5
        The number of subsamples, at least 2.
    random_state : int, RandomState or None, default=None
        The seed. Pass an int for reproducible results (except for the seconds), with any `n_jobs`.
    n_jobs : int or None, default=None
        The number of refits that run in parallel, each in its own process; -1 for all cores.
    max_rows : int, default=10_000
        If there are more rows, a random sample of this size is compared. One-class SVM is fitted on
        at most 10,000 rows, because its time grows with their square.
    progress : bool or callable, default=False
        True shows a progress bar on stderr. A function is called as ``progress(done, total,
        words)``.

    Returns
    -------
    Comparison
        The result. If a method fails, the comparison continues, and the result has the reason.

    See Also
    --------
    shared_rows_agreement : The measure of reproducibility, for any results.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from typicality.stability import compare_methods
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> found = compare_methods(X, methods=["sequential", "k-means"], random_state=0)
    >>> found.label_agreement.between("sequential", "k-means")
    1.0
    """
    chosen = chosen_methods(methods)
    given: Any = contamination
    rate = _NOMINAL_RATE if isinstance(given, str) and given == "auto" else given
    if not is_share(rate):
        raise ValueError(
            f"contamination must be 'auto' or a fraction above 0 and at most 0.5; got {given!r}."
        )
    rate = float(rate)
    given = n_clusters
    number = None
    if not (isinstance(given, str) and given == "auto"):
        if isinstance(given, bool) or not isinstance(given, Integral) or given < 1:
            raise ValueError(
                f"n_clusters must be 'auto' or a whole number, 1 or more; got {given!r}."
            )
        number = int(given)
    n_repeats = check_whole(n_repeats, "n_repeats", least=2)
    max_rows = check_whole(max_rows, "max_rows", least=_FEWEST_ROWS)
    every_row = resample.check_numbers(
        X, _FEWEST_ROWS, what="a comparison", why="fits each method again on subsamples"
    )
    seed = resample.seed_of(random_state)
    rows = resample.draw_rows(len(every_row), max_rows, seed)
    compared = every_row[rows]
    check_distinct_rows(compared, None, number or 1)
    drawn = resample.draw_subsamples(len(compared), n_repeats, share=_SHARE, random_state=seed)
    n_steps, steps = len(chosen) * (1 + n_repeats), count()

    with resample.progress_reporter(progress, n_steps) as report:
        fitted = []
        for method in chosen:
            report(next(steps), n_steps, f"Fitting {method.name}")
            fitted.append(first_fit(method, compared, n_clusters=number, rate=rate, seed=seed))
        works = (
            partial(refit, method, compared, subsample, (seed + repeat) % _SEEDS)
            for method, result in fitted
            if result.failure is None
            for repeat, subsample in enumerate(drawn, 1)
        )
        results = [result for _, result in fitted]
        with resample.run_parallel(works, n_jobs, catch=FIT_ERRORS) as attempts:
            for place, result in enumerate(results):
                if result.failure is not None:
                    continue
                refits = []
                for repeat in range(1, n_repeats + 1):
                    words = f"Refitting {result.name}, {repeat} of {n_repeats}"
                    report(next(steps), n_steps, words)
                    refits.append(next(attempts))
                results[place] = with_refits(result, drawn, refits)
    return Comparison(
        n_rows=len(every_row),
        n_features=every_row.shape[1],
        rows=rows,
        seed=seed,
        rate=rate,
        n_repeats=n_repeats,
        clusterers=tuple(r for r in results if isinstance(r, ClustererResult)),
        detectors=tuple(r for r in results if isinstance(r, DetectorResult)),
    )
