"""Scores of new rows by large models, as they are and compressed."""

import pickle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from _blobs import blobs, named
from _exact_sums import exact_scores
from _report import Report, Verdict
from _score_errors import COLUMNS, ScoreErrors, errors_of_scores, verdict
from _stopwatch import best_of, timed
from typicality import OneClusterPCM

__all__ = ["show_scoring"]

_ROUNDS = 2
_N_COMPARED = 1_000  # new rows at which the promise of a compressed model is looked at

Doubles = NDArray[np.float64]


class Problem(NamedTuple):
    """A model, how much it is compressed, and how many new rows are scored by either."""

    n_rows: int
    n_features: int
    sigma: float
    rtol: float
    n_new: int
    n_new_whole: int  # by the model as it is: fewer where it is slow


_PROBLEMS = [
    Problem(1_000_000, 2, 0.5, 1e-6, 1_000_000, 1_000_000),
    Problem(50_000, 5, 2.0, 1e-4, 1_000_000, 100_000),
]
_PROBLEMS_QUICK = [
    Problem(5_000, 2, 0.5, 1e-6, 5_000, 5_000),
    Problem(5_000, 5, 2.0, 1e-4, 5_000, 2_000),
]


class Scored(NamedTuple):
    """Scores of some rows, the seconds they took, and the bytes of the model in a file."""

    scores: Doubles
    seconds: float
    n_bytes: int

    @property
    def cells(self) -> list[str]:
        """What the columns of a table show."""
        rate = len(self.scores) / self.seconds
        size = f"{self.n_bytes / 1e6:.3g}"
        return [f"{len(self.scores):,}", f"{self.seconds:.3g}", f"{rate:.3g}", size]


def show_scoring(quick: bool, report: Report) -> list[Verdict]:
    """Every problem, one table each."""
    verdicts: list[Verdict] = []
    for problem in _PROBLEMS_QUICK if quick else _PROBLEMS:
        verdicts += _show(problem, report)
    return verdicts


def _show(problem: Problem, report: Report) -> list[Verdict]:
    shape = (problem.n_rows, problem.n_features)
    report.progress(f"scoring by a model of {named(shape)}")
    X, new = blobs(*shape), blobs(problem.n_new, problem.n_features, seed=1)
    model = OneClusterPCM(sigma=problem.sigma).fit(X)
    compression = timed(lambda: model.compress(problem.rtol))
    small = compression.result
    whole = _score(model, new[: problem.n_new_whole])
    compressed = _score(small, new)
    errors = [
        errors_of_scores(model, X, new[: len(found.scores)], found.scores)
        for found in (whole, compressed)
    ]
    columns = ["model", "new rows", "seconds", "rows a second", "MB", *COLUMNS[1:-1]]
    rows = [
        ["as it is", *whole.cells, *errors[0].cells[1:-1]],
        [f"compress({problem.rtol:.0e})", *compressed.cells, *errors[1].cells[1:-1]],
    ]
    report.table(f"Scores of new rows by a model of {named(shape)}", columns, rows)
    report.line(
        f"sigma {problem.sigma}, plan_ {model.plan_.method}; compressed in "
        f"{compression.seconds:.3g} s. MB: of the model in a file. Errors of s are relative to s "
        "itself; what a compressed model promises is relative to the sum of all weights."
    )
    return [
        verdict([errors[0]], f"{named(shape)}, scores of new rows"),
        _promise(problem, model, X, new, compressed.scores),
        _smaller(problem, whole, compressed, errors[1]),
    ]


def _score(model: Any, rows: Doubles) -> Scored:
    found = best_of(_ROUNDS, lambda: model.score_samples(rows))
    return Scored(found.result, found.seconds, len(pickle.dumps(model)))


def _promise(problem: Problem, model: Any, X: Doubles, new: Doubles, scores: Doubles) -> Verdict:
    """Errors of s against the sum of all weights, at a sample and at the lowest."""
    order = np.argsort(scores)
    every = np.linspace(0, len(order) - 1, _N_COMPARED // 2).astype(np.intp)
    index = np.unique(np.concatenate([order[: _N_COMPARED // 2], order[every]]))
    exact = exact_scores(new[index], X, model.weights_, sigma=model.sigma_)
    error = float(np.abs(np.exp(scores[index]) - np.exp(exact.log_s)).max())
    shape = (problem.n_rows, problem.n_features)
    target = f"{named(shape)}: compress({problem.rtol:.0e}) keeps its promise"
    return Verdict(target, f"s is off by {error:.1e} at the most", (error <= problem.rtol,))


def _smaller(problem: Problem, whole: Scored, small: Scored, errors: ScoreErrors) -> Verdict:
    rates = [len(found.scores) / found.seconds for found in (small, whole)]
    shape = (problem.n_rows, problem.n_features)
    return Verdict(
        f"{named(shape)}: a compressed model is smaller and no slower",
        f"{whole.n_bytes / small.n_bytes:.0f} times smaller, {rates[0] / rates[1]:.1f} times the "
        f"speed, s of the lowest rows off by {errors.lowest:.0e} of itself",
        (small.n_bytes < whole.n_bytes, rates[0] >= rates[1]),
    )
