"""The stability of outlier detection over bandwidths and rates, and which of them to use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.svm import OneClassSVM

from typicality._arguments import check_choice, check_whole
from typicality._typing import Doubles
from typicality._words import enumerated
from typicality.bandwidth import bandwidth, median_distance, neighbour_distance
from typicality.cluster import OneClusterPCM
from typicality.stability import resample
from typicality.stability.outliers import (
    TRANSFERS,
    OutlierStability,
    check_rates,
    n_rejected,
    outlier_stability,
)
from typicality.stability.recommendation import Recommendation, recommend
from typicality.stability.results import as_json, text_table

OURS, SVM = "one-cluster", "one-class svm"

_FEWEST_ROWS = 20
_MOST_WITH_ERRORS = 3  # rates; more would not fit a line of eighty
_DIGITS = 4  # so many are printed, and typed again
_N_SIGMAS = 7
_APART = 1.1  # the rules count as one where they are closer than this


class NamedSigma(NamedTuple):
    """A bandwidth, and the rule it comes from; "" where it lies between those of rules."""

    sigma: float
    rule: str


@dataclass(frozen=True, eq=False, repr=False)
class OutlierStudy:
    """The stability of outliers for several bandwidths and rates; see :func:`outlier_study`.

    Print it for a table and the recommendation.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    seed : int
        The seed of the sample and the splits, even if none was given.
    sigmas : tuple of NamedSigma
        The bandwidths in increasing order, each with its rule.
    default_sigma : float
        The default bandwidth of :class:`~typicality.OneClusterPCM`.
    results : dict of str to tuple of OutlierStability
        For each detector, the result of each bandwidth. The detectors are "one-cluster" and, with
        ``compare=True``, "one-class svm".
    recommendation : Recommendation
        The recommended bandwidth and rate: `chosen`, `default`, `best`, and `sentences` that
        explain the choice.
    warnings : tuple of str
        Warnings about the measurements, and warnings of the fits.
    seconds : float
        The time of the whole study.
    """

    n_rows: int
    seed: int
    sigmas: tuple[NamedSigma, ...]
    default_sigma: float
    results: dict[str, tuple[OutlierStability, ...]]
    recommendation: Recommendation
    warnings: tuple[str, ...]
    seconds: float

    @property
    def n_split(self) -> int:
        """The number of rows that were split: all rows, or a sample."""
        return self.results[OURS][0].n_rows

    @property
    def n_repeats(self) -> int:
        """The number of splits."""
        return self.results[OURS][0].n_repeats

    @property
    def rates(self) -> tuple[float, ...]:
        """The fractions of flagged rows, in increasing order."""
        return self.results[OURS][0].rates

    @property
    def transfer(self) -> str:
        """How one half flags rows of the other."""
        return self.results[OURS][0].transfer

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per detector, bandwidth and rate: mean, standard error, quartiles."""
        rows = []
        for detector, results in self.results.items():
            for named, result in zip(self.sigmas, results, strict=True):
                summary = result.summary()
                rates = summary.pop(result.setting_name)
                for number, rate in enumerate(rates):
                    rows.append(
                        {
                            "detector": detector,
                            "sigma": named.sigma,
                            "rule": named.rule,
                            "rate": rate,
                            "n_flagged": n_rejected(rate, self.n_split - self.n_split // 2),
                            "n_repeats": result.n_repeats,
                            **{name.replace(" ", "_"): x[number] for name, x in summary.items()},
                        }
                    )
        return rows

    @property
    def score_table(self) -> list[dict[str, Any]]:
        """One row per single score."""
        return [
            {
                "detector": detector,
                "sigma": named.sigma,
                "rate": rate,
                "repeat": repeat,
                "jaccard": score,
            }
            for detector, results in self.results.items()
            for named, result in zip(self.sigmas, results, strict=True)
            for repeat, scores in enumerate(result.scores.tolist(), start=1)
            for rate, score in zip(self.rates, scores, strict=True)
        ]

    @property
    def shows_errors(self) -> bool:
        """Whether :meth:`cells` has standard errors; with many rates, they are left out."""
        return len(self.rates) <= _MOST_WITH_ERRORS

    def cells(self, detector: str = OURS) -> list[tuple[str, ...]]:
        """The means of a detector as text: a header, then one line per bandwidth."""
        prefix = "rate " if self.shows_errors else ""
        lines = [("sigma", "rule", *(f"{prefix}{rate:g}" for rate in self.rates))]
        for (sigma, rule), result in zip(self.sigmas, self.results[detector], strict=True):
            is_default = detector == OURS and sigma == self.default_sigma
            figures = [f"{mean:.2f}" for mean in result.mean]
            if self.shows_errors:
                pairs = zip(figures, result.standard_error, strict=True)
                figures = [f"{mean} ± {error:.2f}" for mean, error in pairs]
            lines.append((f"{sigma:.4g}", rule + ", default" * is_default, *figures))
        return lines

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.table)

    def to_dict(self) -> dict[str, Any]:
        """Everything except the single scores, as a dictionary for JSON."""
        advice = self.recommendation
        return as_json(
            seed=self.seed,
            n_rows=self.n_rows,
            n_split=self.n_split,
            n_repeats=self.n_repeats,
            transfer=self.transfer,
            settings=self.table,
            recommendation={
                "keeps_default": advice.keeps_default,
                "chosen": advice.chosen._asdict(),
                "default": advice.default._asdict(),
                "most_stable": advice.best._asdict(),
                "sentences": advice.sentences,
            },
            warnings=self.warnings,
            seconds=round(self.seconds, 3),
        )

    def __repr__(self) -> str:
        title = replace(self.results[OURS][0], estimator="outlier detection").title
        tables = [f"{name}\n{text_table(self.cells(name), left=1)}" for name in self.results]
        return "\n\n".join([title, *tables, "\n".join(self.recommendation.sentences)])


def outlier_study(
    X: ArrayLike,
    *,
    sigmas: str | float | Sequence[str | float] = "auto",
    rates: float | Sequence[float] = (0.01, 0.05, 0.1),
    n_repeats: int = 20,
    transfer: str = "threshold",
    compare: bool = False,
    max_rows: int = 2_000,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | resample.Progress = False,
) -> OutlierStudy:
    """Find a bandwidth and a rate with which outliers are stable under resampling.

    The function measures :func:`outlier_stability` of :class:`~typicality.OneClusterPCM` for
    several bandwidths and rates, on the same random halves of the rows, and recommends a setting.
    On the command line, this is `typicality validate`.

    The default bandwidth is kept unless another bandwidth is more stable by at least 0.05, and by
    more than chance explains. The reason is that wide kernels are often more stable without finding
    outliers better. Rates above 0.05 (or above the nearest of `rates`) are never recommended,
    because larger rates are usually more stable. Settings that flag fewer than five rows of a half
    are never recommended instead of the default.

    The study costs two fits per bandwidth and repetition. `compare` adds two fits of a one-class
    SVM per bandwidth, rate and repetition.

    Original to typicality; the measure is that of :cite:`filippone2010`, table II.

    Parameters
    ----------
    X : array-like or dataframe of shape (n_samples, n_features)
        The rows, at least twenty. They are not scaled, so scale features with different units
        first.
    sigmas : "auto", float, str or sequence of float and str, default="auto"
        The bandwidths: numbers or names of rules (:func:`typicality.bandwidth.bandwidth`). "auto"
        uses seven bandwidths, from half the neighbour distance to the median distance of rows. The
        default of :class:`~typicality.OneClusterPCM` is always added.
    rates : float or sequence of float, default=(0.01, 0.05, 0.1)
        The fractions of rows to flag, above 0 and at most 0.5.
    n_repeats : int, default=20
        The number of splits, at least 2.
    transfer : {"threshold", "rank"}, default="threshold"
        As in :func:`outlier_stability`.
    compare : bool, default=False
        Whether to measure a one-class SVM with the same kernels on the same halves.
    max_rows : int, default=2_000
        If there are more rows, a random sample of this size is split. The bandwidths are always
        computed from all rows.
    random_state : int, RandomState or None, default=None
        The seed of the sample and the splits. Pass an int for reproducible results.
    n_jobs : int or None, default=None
        The number of repetitions that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.
    progress : bool or callable, default=False
        True shows a progress bar on stderr. A function is called as ``progress(done, total,
        words)``, where done and total are numbers of fits.

    Returns
    -------
    OutlierStudy
        The study, with `recommendation`, `table`, `results`, `default_sigma`, `warnings` and
        `to_pandas`.

    Raises
    ------
    RepetitionError
        A fit failed.

    See Also
    --------
    outlier_stability : The same measure for any detector.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality.stability import outlier_study
    >>> X = np.random.RandomState(0).normal(size=(200, 2))
    >>> study = outlier_study(X, sigmas=[0.3, 1.0], rates=0.1, n_repeats=5, random_state=0)
    >>> [(round(row["sigma"], 2), round(row["mean"], 2)) for row in study.table]
    [(0.3, 0.4), (0.82, 0.6), (1.0, 0.53)]
    >>> study.recommendation.keeps_default
    True
    """
    began = perf_counter()
    rows = resample.check_numbers(X, _FEWEST_ROWS, what="a study", why="splits them in halves")
    rates = tuple(sorted(set(check_rates(rates))))
    n_repeats = check_whole(n_repeats, "n_repeats", least=2)
    check_choice(transfer, "transfer", TRANSFERS)
    max_rows = check_whole(max_rows, "max_rows", least=_FEWEST_ROWS)
    seed = resample.seed_of(random_state)
    default = bandwidth("auto", rows)
    named = _chosen_sigmas(rows, sigmas, default)
    sample = rows
    if len(rows) > max_rows:
        sample = rows[np.random.RandomState(seed).permutation(len(rows))[:max_rows]]

    measure = partial(
        outlier_stability,
        X=sample,
        rates=rates,
        transfer=transfer,
        n_repeats=n_repeats,
        random_state=seed,  # one for all, so that all see the same halves
        n_jobs=n_jobs,
    )
    works: list[Any] = [
        (f"Fits of {OURS}", 2, partial(measure, OneClusterPCM(sigma=sigma))) for sigma, _ in named
    ]
    for sigma, _ in named if compare else ():
        work = partial(measure, OneClassSVM(gamma=0.5 / sigma**2), rate_parameter="nu")
        works.append((f"Fits of {SVM}", 2 * len(rates), work))
    found, caught = zip(*resample.repeat_each(works, n_repeats, progress), strict=True)
    results = {OURS: found[: len(named)]} | ({SVM: found[len(named) :]} if compare else {})
    warned: dict[str, list[str]] = {}  # sigmas, by warning
    for (sigma, _), of_one in zip(named * 2, caught, strict=False):
        for text in dict.fromkeys(text for _, text in of_one):
            warned.setdefault(text, []).append(f"{sigma:.4g}")
    n_flagged = [n_rejected(rate, len(sample) - len(sample) // 2) for rate in rates]
    recommendation = recommend(
        [sigma for sigma, _ in named],
        rates,
        np.array([result.scores for result in results[OURS]]),
        n_flagged=n_flagged,
        default_sigma=default,
    )
    return OutlierStudy(
        n_rows=len(rows),
        seed=seed,
        sigmas=named,
        default_sigma=default,
        results=results,
        recommendation=recommendation,
        warnings=(
            *recommendation.warnings,
            *(f"With sigma {enumerated(sigmas)}: {text}" for text, sigmas in warned.items()),
        ),
        seconds=perf_counter() - began,
    )


# ---- bandwidths worth comparing ------------------------------------------------------------------


def _chosen_sigmas(X: Doubles, sigmas: Any, default: float) -> tuple[NamedSigma, ...]:
    """The bandwidths that were asked for and the default one, in rising order."""
    wanted = [sigmas] if isinstance(sigmas, str | Real) else list(sigmas)
    if not wanted:
        raise ValueError("sigmas is empty. Pass at least one bandwidth, or 'auto'.")
    chosen = {default: "auto (M / 2)"}
    for one in wanted:
        if isinstance(one, str) and one == "auto":
            chosen |= dict(named_sigmas(X))
        elif isinstance(one, str):
            chosen.setdefault(rounded(bandwidth(one, X)), one)
        elif not isinstance(one, Real) or one < 0 or not 0 < float(one) * float(one) < np.inf:
            raise ValueError(
                f"sigmas: every bandwidth and its square must be above 0 and finite; got {one!r}."
            )
        elif one != rounded(default):  # the default, as it is printed
            chosen.setdefault(float(one), "")
    return tuple(NamedSigma(sigma, chosen[sigma]) for sigma in sorted(chosen))


def named_sigmas(X: Doubles) -> tuple[NamedSigma, ...]:
    """Bandwidths from h / 2 to M, with h the neighbour distance and M the median distance.

    Among them are those of the rules "knn" (h), "auto" (M / 2, what
    :class:`typicality.OneClusterPCM` takes by itself) and "median" (M). In many dimensions h comes
    near M: then they begin at M / 4. The widest gaps between them are halved until there are seven.
    All but that of "auto" have four digits.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows; they must not all be equal.

    Returns
    -------
    tuple of NamedSigma
        In rising order.
    """
    median, neighbour = median_distance(X), neighbour_distance(X)
    chosen = {median / 2: "auto (M / 2)", rounded(median): "median (M)"}
    if neighbour <= median / 2:
        chosen[rounded(neighbour / 2)] = "h / 2"
    else:
        chosen[rounded(median / 4)] = "M / 4"
    stands_apart = all(max(neighbour / s, s / neighbour) > _APART for s in chosen)
    if neighbour < median and stands_apart:
        chosen[rounded(neighbour)] = "knn (h)"
    while len(chosen) < _N_SIGMAS:
        logs = np.log(sorted(chosen))
        widest = int(np.argmax(np.diff(logs)))
        chosen[rounded(float(np.exp(logs[widest : widest + 2].mean())))] = ""
    return tuple(NamedSigma(sigma, chosen[sigma]) for sigma in sorted(chosen))


def rounded(sigma: float) -> float:
    """A bandwidth as it is printed and can be typed again."""
    return float(f"{sigma:.{_DIGITS}g}")
