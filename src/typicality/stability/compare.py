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
    """What :func:`compare_methods` found out; printing it gives tables and findings.

    Parameters
    ----------
    n_rows, n_features : int
        The size of the data.
    rows : array of int
        The numbers of the rows that were compared: all, or a sample.
    seed : int
        The seed, also where none was given.
    rate : float
        The nominal rate of outliers.
    n_repeats : int
        The number of refits of each method.
    clusterers : tuple of ClustererResult
        The methods that make clusters.
    detectors : tuple of DetectorResult
        The methods that flag outliers.
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
        """The labels of the rows compared, by method; methods that failed have none."""
        return {r.name: r.labels for r in self.clusterers if r.labels is not None}

    @cached_property
    def flagged(self) -> dict[str, NDArray[np.bool_]]:
        """Which of the rows compared are outliers, by method."""
        return {r.name: r.flagged for r in self.detectors if r.flagged is not None}

    @cached_property
    def scores(self) -> dict[str, Doubles]:
        """The decisions on the rows compared, larger is more typical, by method."""
        return {r.name: r.scores for r in self.detectors if r.scores is not None}

    @cached_property
    def label_agreement(self) -> AgreementMatrix:
        """The adjusted Rand index of every two clusterers; -1 counts as a cluster of its own."""
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
        """Spearman's correlation of the scores of every two detectors."""
        return agreement_matrix(
            self.scores, agree=rank_agreement, measure="Spearman's rank correlation of the scores"
        )

    @cached_property
    def flag_agreement(self) -> AgreementMatrix:
        """The Jaccard index of the rows flagged by every two detectors."""
        return agreement_matrix(
            self.flagged, agree=jaccard_score, measure="Jaccard index of the rows flagged"
        )

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """What was measured, in sentences."""
        return (
            *wording.findings_on_clusters(self.clusterers, self.placed_agreement),
            *wording.findings_on_outliers(self.detectors, self.rank_agreement),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was run on what, in sentences."""
        return wording.notes_on_run(self)

    def to_pandas(self) -> Any:
        """A row for each method, as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame([result.to_dict() for result in self.results])

    def to_dict(self) -> dict[str, Any]:
        """All but labels, flags and scores, ready for JSON."""
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
    - *Reproducibility.* Each method is fitted again on `n_repeats` subsamples of 80 % of the rows,
      and every two of these fits are compared on the rows they share: adjusted Rand index, or
      Jaccard index of the rows flagged. The rows outside a subsample are the unseen rows.
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
        The number of refits that run in parallel, each in its own process; -1 for all cores.
    max_rows : int, default=10_000
        Of more rows a random sample of this size is compared. One-class SVM, whose cost grows with
        the square, is fitted on 10,000 of them at the most.
    progress : bool or callable, default=False
        True shows a bar on stderr; a callable is called as ``progress(done, total, words)`` before
        each step.

    Returns
    -------
    Comparison
        A method that fails has the reason in its row, and the others go on.

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
            f"contamination must be 'auto' or a share above 0 and at most 0.5; got {given!r}."
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
