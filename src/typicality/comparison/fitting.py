"""One method on the rows: the timed fit, and the refits on subsamples."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from typicality._typing import Doubles, Places
from typicality.comparison.attempts import Attempt, attempt
from typicality.comparison.methods import Method
from typicality.comparison.numbers import CHOICE_ROWS, MOST_CLUSTERS, choose_number, labels_of
from typicality.comparison.results import ClustererResult, DetectorResult
from typicality.comparison.stability import Repeats, agreement_of_refits
from typicality.metrics import jaccard_score
from typicality.metrics.partitions import count_clusters

_WARM_UP_ROWS = 100


class Task(NamedTuple):
    """A method with all that it is told."""

    method: Method
    n_clusters: int | None
    rate: float
    seed: int

    def estimator(self, seed: int) -> Any:
        """A new estimator, ready to be fitted."""
        return self.method.configured(seed=seed, rate=self.rate, n_clusters=self.n_clusters)

    @property
    def words(self) -> str:
        """The estimator as Python writes it, on one line."""
        return " ".join(repr(self.estimator(self.seed)).split())


class Outcome(NamedTuple):
    """What a fit says about rows: `found` are labels, or flags of a detector."""

    found: NDArray[Any]
    scores: Doubles | None
    n_fitted: int
    held_out: float | None = None


class FirstFit(NamedTuple):
    """The fit on all rows, and how the number of clusters was chosen for it."""

    task: Task
    number_from: str
    seconds_choosing: float
    remarks: tuple[str, ...]
    fit: Attempt[Outcome]


def first_fit(task: Task, X: Doubles) -> FirstFit:
    """Choose the number of clusters where that is needed, and fit on all rows, timed."""
    method = task.method
    if method.number_rule is None or task.n_clusters is not None:
        given = method.number_parameter is not None
        return FirstFit(task, "given" if given else "found", 0.0, (), _timed(task, X))
    sample = _at_most(CHOICE_ROWS, X, task.seed)
    with threadpool_limits(1):  # small products of matrices lose more to threads than they win
        choice = attempt(lambda: choose_number(method, sample, seed=task.seed))
    if choice.value is None:
        failed: Attempt[Outcome] = Attempt(None, 0.0, (), choice.failure)
        return FirstFit(task, method.number_rule, choice.seconds, (), failed)
    task = task._replace(n_clusters=choice.value.n_clusters)
    remarks = _remarks_on_choice(*choice.value)
    return FirstFit(task, method.number_rule, choice.seconds, remarks, _timed(task, X))


def _timed(task: Task, X: Doubles) -> Attempt[Outcome]:
    """A fit after one that is not counted: that compiles code of ours, or loads that of others.

    Ours are fitted on the same rows before, because what is compiled depends on their number.
    """
    warm_up = X if task.method.compiles else X[:_WARM_UP_ROWS]
    attempt(lambda: _fitted(task, warm_up, task.seed))
    return attempt(lambda: _fitted(task, X, task.seed)[0])


def _remarks_on_choice(n_clusters: int, most: int) -> tuple[str, ...]:
    if n_clusters < most or most < MOST_CLUSTERS:
        return ()
    return (f"{most} clusters are the most that were tried; there may be more.",)


def refit(task: Task, X: Doubles, rows: Places, *, seed: int) -> Attempt[Outcome]:
    """Fit on some of the rows; a detector also judges the others.

    On one thread: then numbers do not depend on how many refits run side by side.
    """

    def work() -> Outcome:
        outcome, model = _fitted(task, X[rows], seed)
        unseen = np.setdiff1d(np.arange(len(X)), rows, assume_unique=True)
        if task.method.is_detector and len(unseen) and hasattr(model, "predict"):
            share = float(np.mean(model.predict(X[unseen]) == -1))
            outcome = outcome._replace(held_out=share)
        return outcome._replace(scores=None)

    with threadpool_limits(1):
        return attempt(work)


def _fitted(task: Task, X: Doubles, seed: int) -> tuple[Outcome, Any]:
    rows = _at_most(task.method.most_rows, X, seed)
    model = task.estimator(seed).fit(rows)
    if not task.method.is_detector:
        return Outcome(labels_of(model, X), None, len(rows)), model
    if hasattr(model, "negative_outlier_factor_"):
        # Local outlier factors of training rows leave the row out; score_samples would not.
        scores = np.asarray(model.negative_outlier_factor_) - model.offset_
    else:
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
    return Outcome(scores < 0, scores, len(rows)), model


def _at_most(most: int | None, X: Doubles, seed: int) -> Doubles:
    if most is None or len(X) <= most:
        return X
    drawn = np.random.RandomState(seed).permutation(len(X))[:most]
    rows: Doubles = X[np.sort(drawn)]
    return rows


def result_of(
    first: FirstFit, drawn: Sequence[Places], refits: Sequence[Attempt[Outcome]]
) -> ClustererResult | DetectorResult:
    """The fit and the refits of a method as one result."""
    pairs = zip(drawn, refits, strict=True)
    worked = [(rows, r.value) for rows, r in pairs if r.value is not None]
    remarks = (*first.remarks, *first.fit.warnings, *_remarks_on_refits(refits))
    make = _detector_result if first.task.method.is_detector else _clusterer_result
    return make(first, worked, remarks)


Worked = list[tuple[Places, Outcome]]


def _clusterer_result(first: FirstFit, worked: Worked, remarks: tuple[str, ...]) -> ClustererResult:
    found = [(rows, outcome.found) for rows, outcome in worked]
    return ClustererResult(
        name=first.task.method.name,
        estimator=first.task.words,
        labels=None if first.fit.value is None else first.fit.value.found,
        number_from=first.number_from,
        seconds=first.fit.seconds,
        seconds_choosing=first.seconds_choosing,
        stability=agreement_of_refits(found, measure=adjusted_rand_score),
        refit_n_clusters=tuple(count_clusters(labels) for _, labels in found),
        warnings=remarks,
        failure=first.fit.failure,
    )


def _detector_result(first: FirstFit, worked: Worked, remarks: tuple[str, ...]) -> DetectorResult:
    fit = first.fit.value
    found = [(rows, outcome.found) for rows, outcome in worked]
    shares = tuple(outcome.held_out for _, outcome in worked if outcome.held_out is not None)
    return DetectorResult(
        name=first.task.method.name,
        estimator=first.task.words,
        scores=None if fit is None else fit.scores,
        flagged=None if fit is None else fit.found,
        rate=None if first.task.method.rate_parameter is None else first.task.rate,
        n_fitted=0 if fit is None else fit.n_fitted,
        held_out=Repeats(shares) if shares else None,
        seconds=first.fit.seconds,
        stability=agreement_of_refits(found, measure=jaccard_score),
        warnings=remarks,
        failure=first.fit.failure,
    )


def _remarks_on_refits(refits: Sequence[Attempt[Outcome]]) -> tuple[str, ...]:
    failures = [r.failure for r in refits if r.failure is not None]
    if not failures:
        return ()
    return (f"{len(failures)} of {len(refits)} refits failed: {failures[0]}",)
