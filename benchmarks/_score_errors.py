"""How far scores are from exact ones, on rows that include the lowest."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from _exact_sums import exact_scores
from _report import Verdict

__all__ = [
    "COLUMNS",
    "LARGEST_ERROR",
    "ScoreErrors",
    "errors_of_fit",
    "errors_of_scores",
    "verdict",
]

LARGEST_ERROR = 1e-3
COLUMNS = ["rows checked", "error of s", "of the lowest", "out of order by", "of typicality"]
_LOWEST = 0.01  # the share of the rows that count as the lowest
_MOST_CHECKED = 1_000  # rows of each kind
_MOST_EVALUATIONS = 1e9  # for the rows of a kind: of larger models fewer are checked
_FEW_FEATURES = 3  # in more of them a tree has to look at most rows
_MOST_QUERIED = 5_000

Doubles = NDArray[np.float64]
Index = NDArray[np.intp]


class ScoreErrors(NamedTuple):
    """The largest relative errors, and the largest gap between two rows that are out of order.

    Parameters
    ----------
    n_rows : int
        How many rows were looked at.
    anywhere, lowest : float
        Of s, the exponential of a score: at all rows looked at, and at the lowest of them.
    disorder : float
        The largest relative gap between the exact s of two rows that were ranked the other way.
    typicality : float
        Of the typicality, but for a factor common to all rows; nan for new rows.
    """

    n_rows: int
    anywhere: float
    lowest: float
    disorder: float
    typicality: float = float("nan")

    @property
    def cells(self) -> list[str]:
        """What the columns of a table show."""
        errors = [f"{error:.1e}" for error in self[1:4]]
        typicality = "" if np.isnan(self.typicality) else f"{self.typicality:.1e}"
        return [f"{self.n_rows:,}", *errors, typicality]


def errors_of_fit(model: Any, X: Doubles) -> ScoreErrors:
    """Of training rows, scored without themselves, and of their typicalities."""
    scores = model.score_samples(X)
    checked = _checked(scores, X, X)
    exact = exact_scores(X[checked.index], X, model.weights_, sigma=model.sigma_)
    found, log_u = np.log(model.typicality_[checked.index]), 2 * exact.sums / model.eta_
    # The factor exp(-(1 + w' K w) / eta) would take all pairs of rows: it is left open.
    difference = (found - found.mean()) - (log_u - log_u.mean())
    errors = compare(scores[checked.index], exact.log_s, checked.n_lowest)
    return errors._replace(typicality=float(np.abs(np.expm1(difference)).max()))


def errors_of_scores(model: Any, X: Doubles, points: Doubles, scores: Doubles) -> ScoreErrors:
    """Of scores at new points by a model of the rows X."""
    checked = _checked(scores, X, points)
    exact = exact_scores(points[checked.index], X, model.weights_, sigma=model.sigma_)
    return compare(scores[checked.index], exact.log_s, checked.n_lowest)


def compare(found: Doubles, exact: Doubles, n_lowest: int) -> ScoreErrors:
    """Logarithms of s as found and as exact; the first `n_lowest` are the lowest."""
    relative = np.abs(np.expm1(found - exact))
    lowest = float(relative[:n_lowest].max())
    return ScoreErrors(len(found), float(relative.max()), lowest, _disorder(found, exact))


def _disorder(found: Doubles, exact: Doubles) -> float:
    """The largest relative gap of two rows that are ranked the other way round."""
    order = np.argsort(exact)
    exact, found = exact[order], found[order]
    highest_before = np.maximum.accumulate(found)
    # The first row that outranks row i by what was found is the farthest below it in truth.
    first = np.searchsorted(highest_before, found, side="right")
    gaps = exact - exact[np.minimum(first, np.arange(len(exact)))]
    return float(np.expm1(gaps.max()))


class _Checked(NamedTuple):
    """Which rows are looked at; the first of them are those with the lowest scores."""

    index: Index
    n_lowest: int


def _checked(scores: Doubles, X: Doubles, points: Doubles) -> _Checked:
    """The lowest by their scores, the loneliest, whatever their scores, and a sample."""
    rng = np.random.default_rng(0)
    n_each = int(min(_MOST_CHECKED, _MOST_EVALUATIONS / len(X), len(points)))
    n_lowest = min(n_each, int(np.ceil(_LOWEST * len(points))))
    lowest = np.argpartition(scores, n_lowest - 1)[:n_lowest]
    sample = rng.choice(len(points), n_each, replace=False)
    return _Checked(np.concatenate([lowest, _loneliest(X, points, n_lowest), sample]), n_lowest)


def _loneliest(X: Doubles, points: Doubles, number: int) -> Index:
    """The points farthest from any other row, among so many as a tree can look up in time."""
    n_queried = len(points) if X.shape[1] <= _FEW_FEATURES else min(_MOST_QUERIED, len(points))
    among = np.random.default_rng(1).permutation(len(points))[:n_queried]
    nearest = 2 if points is X else 1
    distances = KDTree(X).query(points[among], k=[nearest], workers=-1)[0][:, 0]
    return among[np.argpartition(-distances, number - 1)[:number]]


def verdict(errors: list[ScoreErrors], of: str) -> Verdict:
    """Whether all errors stay below the target, and no two rows are out of order by more."""
    largest = max(max(e.anywhere, e.lowest) for e in errors)
    disorder = max(e.disorder for e in errors)
    return Verdict(
        f"{of}: scores off by at most {LARGEST_ERROR:.0e}, ranks as exact but for rows as close",
        f"largest error {largest:.1e}, rows out of order {disorder:.1e} apart at the most",
        (largest <= LARGEST_ERROR, disorder <= LARGEST_ERROR),
    )
